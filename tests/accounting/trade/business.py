"""A small business with its ledger, which the tests drive day by day."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

import pytest

from accounting.absent import ABSENT, Absent
from accounting.books.businesses import Context
from accounting.books.chart import Role
from accounting.books.exchange_rates import KnownRates
from accounting.books.ledger import PostedEntry
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from accounting.trade import (
    credit_changes,
    credits,
    document_changes,
    documents,
    invoice_refund_changes,
    payment_changes,
    postings,
    recoded,
    refunds,
    write_offs,
)
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import (
    AgreeRefund,
    ChangeDocument,
    ChangeLine,
    ChangePayment,
    CreditLineGiven,
    DocumentLine,
    OpenDocument,
    PaymentDetails,
    PayRefund,
    RecordPayment,
    ReplaceCredit,
    TaxGiven,
    WriteCredit,
    WriteDocument,
    WriteOffDocument,
)
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.parties import Party, PartyNamed
from accounting.trade.payment_changes import AmendedPayment
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from accounting.trade.recoded import Dependents
from accounting.trade.refunds import Refund, RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from accounting.trade.write_offs import WriteOff
from tests.accounting.samples import (
    ACCOUNTS,
    ACME,
    ROLES,
    amounts,
    code_of,
    context_of,
    day,
    identifiers,
    moment,
    named,
    posted_after,
    written,
)

BOTH_SIDES = pytest.mark.parametrize("side", [RECEIVABLE, PAYABLE], ids=["sales", "purchases"])
ROLES_OF_A_SIDE = (
    *("control", "prepayments", "credits", "line_default", "credit_line_default", "tax", "fee"),
)


def code_on(side: Side, code: str) -> str:
    """Return the code of a refusal, or the side's own code where sides differ."""
    maker = getattr(side.refusals, code, None)
    return code if maker is None else maker().code


def line(
    unit_price: int | Decimal, quantity: Any = 1, tax_rate: Any = None, **facts: Any
) -> DocumentLine:
    """Create a line of a document; a quantity or a rate is anything that Decimal accepts."""
    return DocumentLine(
        place="",
        quantity=Decimal(quantity),
        unit_price=unit_price,
        tax_rate=None if tax_rate is None else Decimal(tax_rate),
        **facts,
    )


TAXED = line(8_333, taxes=(TaxGiven(1_667),))


def placed(lines: Iterable[Any]) -> tuple[Any, ...]:
    """Number the lines of a document."""
    return tuple(replace(each, place=f"lines.{place}") for place, each in enumerate(lines))


def document_lines(lines: Iterable[DocumentLine | int]) -> tuple[DocumentLine, ...]:
    """Create lines of a document; a number is the price of a line."""
    return placed(line(each) if isinstance(each, int) else each for each in lines)


def credit_line(
    amount: int, tax: int | None = None, code: str | None = None, **facts: Any
) -> CreditLineGiven:
    return CreditLineGiven(place="", amount=amount, tax_amount=tax, account=named(code), **facts)


def items(*parts: tuple[UUID, int]) -> tuple[AllocationItem, ...]:
    """Create numbered items that allocate money or a credit."""
    return tuple(
        AllocationItem(id_, amount, place=f"items.{place}.id")
        for place, (id_, amount) in enumerate(parts)
    )


def item(id_: UUID, amount: int, on: str | None = None) -> AllocationItem:
    """Create an item of a list, with the day from which it applies."""
    return AllocationItem(id_, amount, place="items.0.id", on=None if on is None else day(on))


def with_details(details: type, facts: dict[str, Any]) -> dict[str, Any]:
    """Move descriptive facts into the details of their command."""
    names = {each.name for each in fields(details)}
    described = {name: fact for name, fact in facts.items() if name in names}
    others = {name: fact for name, fact in facts.items() if name not in names}
    return {"details": details(**described), **others}


@dataclass
class Trade:
    """The books under test; a test moves `today` and `lock`.

    Keyword arguments are fields of the command; `loaded` is the party that the command names.
    """

    today: str = "1"
    lock: str | None = None
    documents: dict[UUID, Document] = field(default_factory=dict)
    payments: dict[UUID, Payment] = field(default_factory=dict)
    write_offs: dict[UUID, WriteOff] = field(default_factory=dict)
    credits: dict[UUID, Credit] = field(default_factory=dict)
    refunds: dict[UUID, Any] = field(default_factory=dict)
    refund_payments: dict[UUID, Any] = field(default_factory=dict)
    identify: Callable[[], UUID] = field(default_factory=identifiers)
    side: Side = RECEIVABLE
    timezone: str = "UTC"
    codes: TaxCodes = field(default_factory=lambda: TaxCodes(()))
    rates: KnownRates = field(default_factory=KnownRates)
    own_accounts: Mapping[str, UUID] = field(default_factory=dict)

    def on(self, today: str, lock: str | None = None) -> Self:
        """Move today, and the lock where it is given."""
        self.today, self.lock = today, lock or self.lock
        return self

    @property
    def referenced(self) -> TaxReferences:
        return TaxReferences(ACCOUNTS, self.codes)

    def dated(self, on: str) -> dict[str, Any]:
        """Return the field that dates a document in the books."""
        return {"issue_date": day(on)}

    def context(self) -> Context:
        context = context_of(self.today, self.lock, self.identify, self.timezone)
        return replace(context, rates=self.rates, own_accounts=self.own_accounts)

    def document(self, *lines: DocumentLine | int, loaded: Party = ACME, **facts: Any) -> UUID:
        """Create an invoice or a bill; it is opened today by default."""
        facts = {"party": PartyNamed(loaded.id), "opened_at": moment(self.today), **facts}
        command = WriteDocument(lines=document_lines(lines), **facts)
        given = self.side, command, loaded, self.referenced, self.context()
        return self.keep(document_changes.create(*given))

    def replace(
        self, id_: UUID, *lines: DocumentLine | int, loaded: Party | None = None, **facts: Any
    ) -> UUID:
        before = self.documents[id_]
        party = loaded or before.party
        facts = {"party": PartyNamed(party.id), "lines": document_lines(lines), **facts}
        command = WriteDocument(**facts)
        given = self.side, before, command, party, self.referenced, self.context()
        return self.keep(document_changes.replaced(*given))

    def recode(self, id_: UUID, accounts: Mapping[int, str], **facts: Any) -> UUID:
        """Put lines of a document or credit, by their places, on other accounts."""
        target = self.target(id_)
        lines = tuple(
            ChangeLine(id=target.lines[place].id, place=f"lines.{place}", account=named(code))
            for place, code in accounts.items()
        )
        command, context = ChangeDocument(lines=lines, **facts), self.context()
        held = Dependents(
            payments=tuple(self.payments.values()),
            credits=tuple(self.credits.values()),
            write_offs=tuple(each for each in self.write_offs.values() if each.document_id == id_),
            refunds=tuple(self.refunds.values()),
            refund_payments=tuple(self.refund_payments.values()),
        )
        given = command, ACCOUNTS, context
        if id_ in self.credits:
            revised = credit_changes.revised(self.side, target, *given)
            after, others = recoded.recode_credit(target, revised, held, context)
        else:
            after = document_changes.revised(self.side, target, *given)
            after, others = recoded.recode_document(self.side, target, after, held, ROLES, context)
        for each in others:
            self.keep(each)
        return self.keep(after)

    def open(self, id_: UUID, at: str | None = None, **facts: Any) -> UUID:
        command = OpenDocument(None if at is None else moment(at), **facts)
        given = self.side, self.documents[id_], command, self.referenced, self.context()
        return self.keep(document_changes.open_document(*given))

    def void(self, id_: UUID, at: str | None = None) -> UUID:
        voided_at = None if at is None else moment(at)
        given = self.side, self.documents[id_], voided_at, self.context()
        return self.keep(document_changes.void(*given))

    def paid(self, *lines: DocumentLine | int, **facts: Any) -> UUID:
        """Create a document paid in full today, by default the worked example; return its id."""
        return self.paid_document(*(lines or [TAXED]), **facts)[0]

    def paid_document(self, *lines: DocumentLine | int, **facts: Any) -> tuple[UUID, UUID]:
        """Create a document and the payment that settles it; return both ids."""
        document = self.document(*lines, **facts)
        total = self.documents[document].total_amount
        return document, self.pay(total, (document, total))

    def pay(self, total: int, *parts: tuple[UUID, int], loaded: Party = ACME, **facts: Any) -> UUID:
        facts = {
            "party": PartyNamed(loaded.id),
            "total": total,
            "payment_date": day(self.today),
            "method": "bank_transfer",
            "allocations": items(*parts),
            **facts,
        }
        command = RecordPayment(**with_details(PaymentDetails, facts))
        given = self.side, command, loaded, self.documents, self.context()
        return self.take(payment_changes.record(*given))

    def change(self, id_: UUID, **facts: Any) -> AmendedPayment:
        command = ChangePayment(**with_details(PaymentDetails, facts))
        given = self.side, self.payments[id_], self.documents, command, self.context()
        amended = payment_changes.amend(*given)
        self.take(amended)
        return amended

    def cancel(self, id_: UUID) -> None:
        given = self.side, self.payments[id_], self.documents, self.context()
        self.take(payment_changes.cancel(*given))

    def take(self, amended: AmendedPayment) -> UUID:
        for each in amended.changed:
            self.put(each)
        assert amended.documents == self.documents
        return self.keep(amended.payment)

    def write_off(self, id_: UUID, amount: int | Absent = ABSENT, **facts: Any) -> UUID:
        command = WriteOffDocument(amount=amount, **facts)
        given = self.side, self.documents[id_], command, ACCOUNTS, self.context()
        document, write_off = write_offs.write_off(*given)
        self.put(document)
        return self.keep(write_off)

    def reverse(self, id_: UUID) -> UUID:
        write_off = self.write_offs[id_]
        owed = self.documents[write_off.document_id]
        document, taken_back = write_offs.reverse(owed, write_off, self.context())
        self.put(document)
        return self.keep(taken_back)

    def credit(
        self,
        *lines: CreditLineGiven | int,
        to: Iterable[tuple[UUID, int]] = (),
        loaded: Party = ACME,
        **facts: Any,
    ) -> UUID:
        facts = {"party": PartyNamed(loaded.id), "opened_at": moment(self.today), **facts}
        given_lines = placed(credit_line(e) if isinstance(e, int) else e for e in lines)
        command = WriteCredit(lines=given_lines, allocations=items(*to), **facts)
        given = self.side, command, loaded, self.referenced, self.documents, self.context()
        return self.take_credited(credit_changes.create(*given))

    def apply(self, id_: UUID, *to: tuple[UUID, int], **facts: Any) -> credit_changes.AmendedCredit:
        """Replace the allocations of a credit."""
        return self.change_credit(id_, allocations=items(*to), **facts)

    def change_credit(self, id_: UUID, **facts: Any) -> credit_changes.AmendedCredit:
        before, command = self.credits[id_], ReplaceCredit(**facts)
        given = self.side, before, command, self.referenced, self.documents, self.context()
        credited = credit_changes.replaced(*given)
        self.take_credited(credited)
        return credited

    def void_credit(self, id_: UUID, at: str | None = None) -> UUID:
        voided_at = None if at is None else moment(at)
        given = self.side, self.credits[id_], voided_at, self.documents, self.context()
        return self.take_credited(credit_changes.void(*given))

    def take_credited(self, credited: credit_changes.AmendedCredit) -> UUID:
        for each in credited.changed:
            self.put(each)
        assert credited.documents == self.documents
        return self.keep(credited.credit)

    def refund(self, id_: UUID, amount: int | Absent = ABSENT, **facts: Any) -> UUID:
        """Refund an invoice, unapplied money of a payment, or a credit."""
        target = self.target(id_)
        command = AgreeRefund(amount=amount, **facts)
        agreed = invoice_refund_changes.agree(command, target, ROLES, self.context())
        self.put(agreed.target)
        if agreed.payment is not None:
            self.keep(agreed.payment)
        return self.keep(agreed.refund)

    def target(self, id_: UUID) -> Any:
        """Return the document, payment or credit with an id."""
        return {**self.documents, **self.payments, **self.credits}[id_]

    def cancel_refund(self, id_: UUID) -> UUID:
        refund = self.refunds[id_]
        target = self.target(refund.allocations[0].target_id)
        cancelled, after = invoice_refund_changes.cancel(refund, target, self.context())
        self.put(after)
        return self.keep(cancelled)

    def pay_refund(self, id_: UUID, amount: int | Absent = ABSENT, **facts: Any) -> UUID:
        command = PayRefund(amount=amount, **facts)
        refund, payment = invoice_refund_changes.pay(self.refunds[id_], command, self.context())
        self.keep(refund)
        return self.keep(payment)

    def cancel_refund_payment(self, id_: UUID, on: str | None = None) -> UUID:
        payment, status_date = self.refund_payments[id_], None if on is None else day(on)
        given = self.refunds[payment.refund_id], payment, status_date, self.context()
        refund, cancelled = invoice_refund_changes.cancel_payment(*given)
        self.keep(refund)
        return self.keep(cancelled)

    def status(self, id_: UUID) -> str:
        """Return the status of a document, a credit or a refund as the API shows it."""
        if id_ in self.documents:
            return documents.status(self.side, self.documents[id_], self.context())
        if id_ in self.credits:
            return credits.status(self.side, self.credits[id_])
        return refunds.invoice_refund_status(self.refunds[id_])

    def kinds(self) -> dict[Any, dict[UUID, Any]]:
        """Return all subjects by id, by kind."""
        return {
            Document: self.documents,
            Payment: self.payments,
            WriteOff: self.write_offs,
            Credit: self.credits,
            Refund: self.refunds,
            RefundPayment: self.refund_payments,
        }

    def subjects_like(self, subject: Subject) -> dict[UUID, Any]:
        """Return all subjects of the same kind, by id."""
        return next(all_ for kind, all_ in self.kinds().items() if isinstance(subject, kind))

    def subjects(self) -> list[Subject]:
        return [each for kind in self.kinds().values() for each in kind.values()]

    def keep(self, subject: Subject) -> UUID:
        """Post the entries of a subject, as a store does, and keep it."""
        lock_date = self.context().lock_date
        entries = postings.entries_for(self.side, subject, ROLES, lock_date)
        lines = [each for entry in entries for each in entry.lines]
        assert all(part for each in lines for _, part in each.split)
        assert all(lock_date is None or entry.entry_date > lock_date for entry in entries)
        posted = posted_after(subject.posted, entries, self.identify)
        self.put(subject)
        self.subjects_like(subject)[subject.id] = replace(subject, posted=posted)
        return subject.id

    def put(self, subject: Subject) -> None:
        """Keep a changed subject, with the time of its change."""
        before = self.subjects_like(subject).get(subject.id)
        assert before == subject or subject.updated_at == moment(self.today)
        self.subjects_like(subject)[subject.id] = subject

    def entries(self) -> list[PostedEntry]:
        return [entry for subject in self.subjects() for entry in subject.posted]

    def posted(self, id_: UUID) -> tuple[PostedEntry, ...]:
        """Return the entries of a subject, in the order of posting."""
        return next(each.posted for each in self.subjects() if each.id == id_)

    def balances(self) -> dict[str, int]:
        """Return debits less credits by account code, without zeros."""
        sums: Counter[str] = Counter()
        for entry in self.entries():
            for each in entry.lines:
                sums[code_of(each.account_id)] += each.amount
        return {code: amount for code, amount in sorted(sums.items()) if amount}

    def book(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """Return the day and the amounts of each entry of a subject, in the order of posting."""
        return [(written(entry.entry_date), amounts(entry)) for entry in self.posted(id_)]

    def booked(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """Return the entries by role; an amount is positive where sales debit."""
        words = {code_of(ROLES[getattr(self.side, name)]): name for name in ROLES_OF_A_SIDE}
        words |= {code_of(ROLES[Role.BANK]): "bank", code_of(ROLES[Role.CASH]): "cash"}
        return [
            (on, {words[code]: self.side.sign * amount for code, amount in entry.items()})
            for on, entry in self.book(id_)
        ]
