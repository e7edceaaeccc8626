"""A business in miniature: all that it posts and its ledger, driven day by day by the tests."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from uuid import UUID

import pytest

from accounting.books import ledger
from accounting.books.accounts import Account, AccountReference, BookAccounts
from accounting.books.businesses import Business
from accounting.books.chart import STARTING_CHART, Role
from accounting.books.context import Context
from accounting.books.ledger import Posted
from accounting.books.splits import Split
from accounting.errors import Refusal
from accounting.trade import (
    credit_changes,
    drawing_up,
    invoice_refund_changes,
    payment_changes,
    postings,
    write_offs,
)
from accounting.trade.credits import Credit
from accounting.trade.document_moves import open_document, void
from accounting.trade.documents import Document
from accounting.trade.parties import Party
from accounting.trade.payment_changes import Amended
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import Refund, RefundPayment
from accounting.trade.sides import RECEIVABLE, Side
from accounting.trade.write_offs import WriteOff

ACME = Party(id=UUID(int=9001), name="Acme Ltd", email="books@acme.test", external_id="acme")
OTHER = Party(id=UUID(int=9002), name="Other Ltd", external_id="other")
BORN = datetime(2026, 1, 1, tzinfo=UTC)


def account_id(code: str) -> UUID:
    return UUID(int=int(code))


def code_of(id_: UUID) -> str:
    return f"{id_.int:04d}"


def account(code: str, role: str | None = None, archived: bool = False) -> Account:
    return Account(
        id=account_id(code),
        version=1,
        created_at=BORN,
        updated_at=BORN,
        code=code,
        name=code,
        account_type="revenue",
        account_subtype="revenue",
        role=role,
        archived_at=BORN if archived else None,
    )


ROLES: Mapping[Role, UUID] = {
    each.role: account_id(each.code) for each in STARTING_CHART if each.role is not None
}
NAMED = {
    AccountReference("code", each.code): account(each.code, each.role) for each in STARTING_CHART
}
ACCOUNTS = BookAccounts(ROLES, NAMED)


def day(text: str) -> date:
    """Read '10' or '02-10' as a day of January or of another month of 2026."""
    month, _, number = text.rpartition("-")
    return date(2026, int(month or 1), int(number))


def moment(text: str) -> datetime:
    on = day(text)
    return datetime(on.year, on.month, on.day, 12, tzinfo=UTC)


def line(unit_price: int, **more: Any) -> dict[str, Any]:
    return {"unit_price": unit_price, **more}


def account_named(code: str) -> dict[str, str]:
    """Name an account as a body does."""
    return {"type": "AccountCode", "code": code}


def credit_line(
    amount: int, tax: int = 0, code: str | None = None, side: Side = RECEIVABLE
) -> dict[str, Any]:
    named = None if code is None else account_named(code)
    return {"amount": amount, "tax_amount_cents": tax or None, side.credit_account_field: named}


@dataclass
class Trade:
    """The books under test; `today` and `lock` move as a test says.

    What is called an invoice here is a bill on the other side.
    """

    today: str = "1"
    lock: str | None = None
    documents: dict[UUID, Document] = field(default_factory=dict)
    payments: dict[UUID, Payment] = field(default_factory=dict)
    write_offs: dict[UUID, WriteOff] = field(default_factory=dict)
    credits: dict[UUID, Credit] = field(default_factory=dict)
    refunds: dict[UUID, Any] = field(default_factory=dict)
    refund_payments: dict[UUID, Any] = field(default_factory=dict)
    fresh: "count[int]" = field(default_factory=lambda: count(10_000))
    side: Side = RECEIVABLE

    def identify(self) -> UUID:
        return UUID(int=next(self.fresh))

    def context(self) -> Context:
        lock_date = None if self.lock is None else day(self.lock)
        business = Business(UUID(int=1), "GB", "GBP", "accrual", date(2026, 12, 31), lock_date)
        return Context(business, moment(self.today), self.identify)

    def invoice(self, *lines: dict[str, Any] | int, party: Party = ACME, **body: Any) -> UUID:
        items = [line(each) if isinstance(each, int) else each for each in lines]
        facts = {"line_items": items, self.side.names.opened_at: moment(self.today), **body}
        drawn = drawing_up.draw_up(self.side, facts, party, ACCOUNTS, self.context())
        return self.keep(drawn)

    def replace(self, id_: UUID, *lines: dict[str, Any] | int, **body: Any) -> UUID:
        items = [line(each) if isinstance(each, int) else each for each in lines]
        before = self.documents[id_]
        facts = {"line_items": items, **body}
        drawn = drawing_up.redraw(self.side, before, facts, before.party, ACCOUNTS, self.context())
        return self.keep(drawn)

    def send(self, id_: UUID, at: str | None = None) -> UUID:
        sent_at = None if at is None else moment(at)
        return self.keep(open_document(self.side, self.documents[id_], sent_at, self.context()))

    def void(self, id_: UUID, at: str | None = None) -> UUID:
        voided_at = None if at is None else moment(at)
        return self.keep(void(self.side, self.documents[id_], voided_at, self.context()))

    def pay(self, total: int, *parts: tuple[UUID, int], party: Party = ACME, **body: Any) -> UUID:
        facts = {
            self.side.names.payment_total: total,
            "payment_date": day(self.today),
            "currency": "GBP",
            "payment_method": "bank_transfer",
            "allocations": allocations(*parts, side=self.side) or None,
            **body,
        }
        amended = payment_changes.record(self.side, facts, party, self.documents, self.context())
        return self.take(amended)

    def change(self, id_: UUID, whole: bool = False, **changes: Any) -> Amended:
        amended = payment_changes.amend(
            self.side,
            self.payments[id_],
            self.documents,
            changes,
            self.context(),
            whole=whole,
        )
        self.take(amended)
        return amended

    def cancel(self, id_: UUID) -> None:
        self.take(
            payment_changes.cancel(self.side, self.payments[id_], self.documents, self.context())
        )

    def take(self, amended: Amended) -> UUID:
        for each in amended.changed:
            self.put(each)
        assert amended.documents == self.documents
        return self.keep(amended.payment)

    def write_off(self, id_: UUID, amount: int | None = None, **body: Any) -> UUID:
        facts = body if amount is None else {"amount_cents": amount, **body}
        document, given_up = write_offs.write_off(
            self.side, self.documents[id_], facts, ACCOUNTS, self.context()
        )
        self.put(document)
        return self.keep(given_up)

    def reverse(self, id_: UUID) -> UUID:
        given_up = self.write_offs[id_]
        owed = self.documents[given_up.document_id]
        document, taken_back = write_offs.reverse(owed, given_up, self.context())
        self.put(document)
        return self.keep(taken_back)

    def credit(
        self,
        *lines: dict[str, Any] | int,
        to: Iterable[tuple[UUID, int]] = (),
        party: Party = ACME,
        **body: Any,
    ) -> UUID:
        items = [credit_line(each) if isinstance(each, int) else each for each in lines]
        facts = {
            "line_items": items,
            self.side.names.opened_at: moment(self.today),
            "allocations": uses(*to, side=self.side) or None,
        }
        credited = credit_changes.draw_up(
            self.side, {**facts, **body}, party, ACCOUNTS, self.documents, self.context()
        )
        return self.take_credited(credited)

    def apply(self, id_: UUID, *to: tuple[UUID, int], **body: Any) -> credit_changes.Credited:
        """Replace a credit with this list of allocations."""
        return self.change_credit(id_, allocations=uses(*to, side=self.side), **body)

    def change_credit(self, id_: UUID, **body: Any) -> credit_changes.Credited:
        credited = credit_changes.replaced(
            self.side, self.credits[id_], body, self.documents, self.context()
        )
        self.take_credited(credited)
        return credited

    def void_credit(self, id_: UUID, at: str | None = None) -> UUID:
        voided_at = None if at is None else moment(at)
        return self.keep(
            credit_changes.void(self.side, self.credits[id_], voided_at, self.context())
        )

    def take_credited(self, credited: credit_changes.Credited) -> UUID:
        for each in credited.changed:
            self.put(each)
        assert credited.documents == self.documents
        return self.keep(credited.credit)

    def refund(self, id_: UUID, amount: int | None = None, **body: Any) -> UUID:
        """Refund an invoice, or unapplied money of a payment."""
        facts = body if amount is None else {"amount_cents": amount, **body}
        target = self.documents.get(id_) or self.payments[id_]
        agreed = invoice_refund_changes.agree(facts, target, ROLES, self.context())
        self.put(agreed.target)
        if agreed.payment is not None:
            self.keep(agreed.payment)
        return self.keep(agreed.refund)

    def cancel_refund(self, id_: UUID) -> UUID:
        refund = self.refunds[id_]
        target_id = refund.allocations[0].target_id
        target: Any = self.documents.get(target_id) or self.payments[target_id]
        cancelled, after = invoice_refund_changes.cancel(refund, target, self.context())
        self.put(after)
        return self.keep(cancelled)

    def pay_refund(self, id_: UUID, amount: int | None = None, **body: Any) -> UUID:
        facts = body if amount is None else {"amount_cents": amount, **body}
        refund, payment = invoice_refund_changes.pay(self.refunds[id_], facts, self.context())
        self.keep(refund)
        return self.keep(payment)

    def cancel_refund_payment(self, id_: UUID) -> UUID:
        payment = self.refund_payments[id_]
        refund, cancelled = invoice_refund_changes.cancel_payment(
            self.refunds[payment.refund_id], payment, self.context()
        )
        self.keep(refund)
        return self.keep(cancelled)

    def shelf(self, subject: Subject) -> dict[UUID, Any]:
        """Where subjects of this kind are kept."""
        match subject:
            case Document():
                return self.documents
            case Payment():
                return self.payments
            case WriteOff():
                return self.write_offs
            case Credit():
                return self.credits
            case Refund():
                return self.refunds
            case RefundPayment():
                return self.refund_payments

    def subjects(self) -> list[Subject]:
        return [
            *self.documents.values(),
            *self.payments.values(),
            *self.write_offs.values(),
            *self.credits.values(),
            *self.refunds.values(),
            *self.refund_payments.values(),
        ]

    def keep(self, subject: Subject) -> UUID:
        """Post what a subject asks for, as a store does, and keep it."""
        lock_date = self.context().lock_date
        entries = postings.entries_for(self.side, subject, ROLES, lock_date)
        lines = [each for entry in entries for each in entry.lines]
        assert all(part for each in lines for _, part in each.split)
        assert all(lock_date is None or entry.entry_date > lock_date for entry in entries)
        posted = posted_after(subject.posted, entries, self.identify)
        self.put(subject)
        self.shelf(subject)[subject.id] = replace(subject, posted=posted)
        return subject.id

    def put(self, subject: Subject) -> None:
        """Keep a subject that changed: it says when."""
        before = self.shelf(subject).get(subject.id)
        assert before == subject or subject.updated_at == moment(self.today)
        self.shelf(subject)[subject.id] = subject

    def entries(self) -> list[Posted]:
        return [entry for subject in self.subjects() for entry in subject.posted]

    def posted(self, id_: UUID) -> tuple[Posted, ...]:
        """The entries of one subject, in the order of posting."""
        return next(each.posted for each in self.subjects() if each.id == id_)

    def balances(self) -> dict[str, int]:
        """Debits less credits by account code, without the zeros."""
        sums: Counter[str] = Counter()
        for entry in self.entries():
            for each in entry.lines:
                sums[code_of(each.account_id)] += each.amount
        return {code: amount for code, amount in sorted(sums.items()) if amount}

    def book(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """What was posted for one subject, in the order of posting."""
        return [(written(entry.entry_date), amounts(entry)) for entry in self.posted(id_)]


def refused(step: Any, *given: Any, **named: Any) -> Refusal:
    """What a step is refused with."""
    with pytest.raises(Refusal) as refusal:
        step(*given, **named)
    return refusal.value


def allocations(*parts: tuple[UUID, int], side: Side = RECEIVABLE) -> list[dict[str, Any]]:
    return [{side.names.document_id: id_, "amount_cents": amount} for id_, amount in parts]


def uses(*parts: tuple[UUID, int], side: Side = RECEIVABLE) -> list[dict[str, Any]]:
    """What a credit is used for, as its body says it."""
    return [{side.names.document_id: id_, "amount": amount} for id_, amount in parts]


def by_code(split: Split) -> dict[str, int]:
    return {code_of(id_): amount for id_, amount in split}


def written(on: date) -> str:
    return str(on.day) if on.month == 1 else f"{on.month}-{on.day}"


def amounts(entry: ledger.Entry) -> dict[str, int]:
    """The lines of an entry by account code, debits above zero."""
    sums: Counter[str] = Counter()
    for each in entry.lines:
        sums[code_of(each.account_id)] += each.amount
    return dict(sums)


def posted_after(
    before: tuple[Posted, ...], entries: list[ledger.Entry], identify: Any
) -> tuple[Posted, ...]:
    """Post entries as a store does: give them ids, and mark what they reverse."""
    reversed_ids = {entry.reversal_of_id for entry in entries}
    kept = [replace(each, reversed=each.reversed or each.id in reversed_ids) for each in before]
    new = [
        Posted(
            **{name: getattr(entry, name) for name in ledger.Entry.__dataclass_fields__},
            id=identify(),
        )
        for entry in entries
    ]
    return (*kept, *new)
