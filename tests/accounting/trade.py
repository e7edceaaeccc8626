"""A business in miniature: its documents, payments and ledger, driven day by day by the tests."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from itertools import count
from typing import Any
from uuid import UUID

from accounting import drawing, ledger, postings, settling
from accounting.accounts import Account, AccountReference, BookAccounts
from accounting.businesses import Business
from accounting.chart import STARTING_CHART, Role
from accounting.documents import Document, open_document, void
from accounting.ledger import Posted
from accounting.occasion import Occasion
from accounting.parties import Party
from accounting.payments import Payment
from accounting.sides import RECEIVABLE

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
    return {"quantity": 1, "unit_price": unit_price, **more}


@dataclass
class Trade:
    """The books under test; `today` and `lock` move as a test says."""

    today: str = "1"
    lock: str | None = None
    documents: dict[UUID, Document] = field(default_factory=dict)
    payments: dict[UUID, Payment] = field(default_factory=dict)
    fresh: count = field(default_factory=lambda: count(10_000))

    def identify(self) -> UUID:
        return UUID(int=next(self.fresh))

    def occasion(self) -> Occasion:
        lock_date = None if self.lock is None else day(self.lock)
        business = Business(UUID(int=1), "GB", "GBP", "accrual", date(2026, 12, 31), lock_date)
        return Occasion(business, moment(self.today), self.identify)

    def invoice(self, *lines: dict[str, Any] | int, party: Party = ACME, **body: Any) -> UUID:
        items = [line(each) if isinstance(each, int) else each for each in lines]
        facts = {"line_items": items, "sent_at": moment(self.today), **body}
        drawn = drawing.draw_up(RECEIVABLE, facts, party, ACCOUNTS, self.occasion())
        return self.keep(drawn)

    def replace(self, id_: UUID, *lines: dict[str, Any] | int, **body: Any) -> UUID:
        items = [line(each) if isinstance(each, int) else each for each in lines]
        before = self.documents[id_]
        facts = {"line_items": items, **body}
        drawn = drawing.redraw(RECEIVABLE, before, facts, before.party, ACCOUNTS, self.occasion())
        return self.keep(drawn)

    def send(self, id_: UUID, at: str | None = None) -> UUID:
        sent_at = None if at is None else moment(at)
        return self.keep(open_document(RECEIVABLE, self.documents[id_], sent_at, self.occasion()))

    def void(self, id_: UUID, at: str | None = None) -> UUID:
        voided_at = None if at is None else moment(at)
        return self.keep(void(RECEIVABLE, self.documents[id_], voided_at, self.occasion()))

    def pay(self, total: int, *parts: tuple[UUID, int], party: Party = ACME, **body: Any) -> UUID:
        facts = {
            "total_amount_cents": total,
            "payment_date": day(self.today),
            "currency": "GBP",
            "payment_method": "bank_transfer",
            "allocations": allocations(*parts),
            **body,
        }
        amended = settling.receive(RECEIVABLE, facts, party, self.documents, self.occasion())
        return self.take(amended)

    def change(self, id_: UUID, whole: bool = False, **changes: Any) -> settling.Amended:
        amended = settling.amend(
            RECEIVABLE,
            self.payments[id_],
            self.documents,
            changes,
            self.occasion(),
            whole=whole,
        )
        self.take(amended)
        return amended

    def cancel(self, id_: UUID) -> None:
        self.take(settling.cancel(RECEIVABLE, self.payments[id_], self.documents, self.occasion()))

    def take(self, amended: settling.Amended) -> UUID:
        self.documents.update((each.id, each) for each in amended.changed)
        return self.keep(amended.payment)

    def keep(self, subject: Document | Payment) -> UUID:
        lock_date = self.occasion().lock_date
        entries = postings.entries_for(RECEIVABLE, subject, ROLES, lock_date)
        assert all(lock_date is None or entry.entry_date > lock_date for entry in entries)
        posted = posted_after(subject.posted, entries, self.identify)
        if isinstance(subject, Document):
            self.documents[subject.id] = replace(subject, posted=posted)
        else:
            self.payments[subject.id] = replace(subject, posted=posted)
        return subject.id

    def entries(self) -> list[Posted]:
        subjects = [*self.documents.values(), *self.payments.values()]
        return [entry for subject in subjects for entry in subject.posted]

    def balances(self) -> dict[str, int]:
        """Debits less credits by account code, without the zeros."""
        sums: Counter[str] = Counter()
        for entry in self.entries():
            for each in entry.lines:
                sums[code_of(each.account_id)] += each.amount
        return {code: amount for code, amount in sorted(sums.items()) if amount}

    def book(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """What was posted for one document or payment, in the order of posting."""
        subject = self.documents.get(id_) or self.payments[id_]
        return [(written(entry.entry_date), amounts(entry)) for entry in subject.posted]


def allocations(*parts: tuple[UUID, int]) -> list[dict[str, Any]]:
    return [{"invoice_id": id_, "amount_cents": amount} for id_, amount in parts]


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
