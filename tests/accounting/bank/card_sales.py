"""A small business whose card payments reach the bank through payouts of a processor."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.bank import bank_postings, payout_changes
from accounting.bank.commands import SavePayout
from accounting.bank.payout_changes import PaidOut
from accounting.bank.payouts import Money, Payout, listed
from accounting.books.ledger import PostedEntry
from tests.accounting.samples import REFERENCED, ROLES, account_id, amounts, posted_after, written
from tests.accounting.trade.business import Trade

CLEARING = account_id("1150")


@dataclass
class CardSales(Trade):
    """Sales by card, with payouts."""

    payouts: dict[UUID, Payout] = field(default_factory=dict)

    def card(self, total: int = 100, fee: int = 0, **facts: Any) -> UUID:
        means = {"method": "credit_card", "processor": "stripe"}
        return self.pay(total, **{**means, "fee": fee, **facts})

    def give_back(self, amount: int = 20, fee: int = 0) -> UUID:
        """Refund by card a payment that came to the bank and settled nothing."""
        refund = self.refund(self.pay(amount), amount)
        return self.pay_refund(refund, method="credit_card", processor="stripe", fee=fee)

    def pay_out(self, paid_out: int, *money: UUID, **facts: Any) -> UUID:
        command = SavePayout(
            **{"processor": "stripe", "paid_out": paid_out, **self.listing(money), **facts}
        )
        made = payout_changes.announce(command, self.money(), REFERENCED, self.context())
        return self.take_paid_out(made)

    def update(self, id_: UUID, **facts: Any) -> PaidOut:
        """Change a payout; each call names its processor and its amount again."""
        payout = self.payouts[id_]
        command = SavePayout(
            **{"processor": payout.processor, "paid_out": payout.paid_out, **facts}
        )
        held = self.held(payout, command)
        made = payout_changes.update(payout, command, held, REFERENCED, self.context())
        self.take_paid_out(made)
        return made

    def delete(self, id_: UUID) -> UUID:
        payout = self.payouts[id_]
        return self.take_paid_out(payout_changes.delete(payout, self.held(payout), self.context()))

    def move(self, id_: UUID, status: str, **changes: Any) -> None:
        """Change the status of a payment, and update its payout."""
        before = self.payments[id_]
        self.change(id_, status=status, **changes)
        after = self.payments[id_]
        if before.payout_id is not None and payout_changes.counts_otherwise(before, after):
            payout = self.payouts[before.payout_id]
            self.keep_payout(payout_changes.item_moved(payout, before, after, self.context()))

    def listing(self, money: Iterable[UUID]) -> dict[str, tuple[UUID, ...]]:
        """Return the fields by which a payout lists payments and refund payments."""
        chosen = tuple(money)
        return {
            "payment_ids": tuple(each for each in chosen if each in self.payments),
            "refund_payment_ids": tuple(each for each in chosen if each in self.refund_payments),
        }

    def money(self) -> dict[UUID, Money]:
        return {**self.payments, **self.refund_payments}

    def held(self, payout: Payout, command: SavePayout | None = None) -> dict[UUID, Money]:
        """Return the money that a store would lock for a payout."""
        payments, refunds = payout_changes.money_affected(payout, command)
        return {id_: each for id_, each in self.money().items() if id_ in payments | refunds}

    def take_paid_out(self, made: PaidOut) -> UUID:
        for each in made.moved:
            self.subjects_like(each)[each.id] = each
        return self.keep_payout(made.payout)

    def keep_payout(self, payout: Payout) -> UUID:
        """Post the entries of a payout, as a store does, and keep its next version."""
        entries = bank_postings.entries_for(payout, ROLES, self.context().lock_date)
        posted = posted_after(payout.posted, entries, self.identify)
        self.payouts[payout.id] = replace(payout, posted=posted, version=payout.version + 1)
        return payout.id

    def entries(self) -> list[PostedEntry]:
        paid_out = [entry for each in self.payouts.values() for entry in each.posted]
        return [*super().entries(), *paid_out]

    def paid_out(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """Return the postings of a payout, in the order of posting."""
        return [(written(each.entry_date), amounts(each)) for each in self.payouts[id_].posted]

    def payout_of(self, id_: UUID) -> UUID | None:
        return self.money()[id_].payout_id

    def on_clearing(self, id_: UUID, on: date) -> int:
        """Return the clearing balance of a payout and its items at the end of a day."""
        money = self.money()
        items = [money[each.money_id] for each in listed(self.payouts[id_])]
        return sum(
            line.amount
            for subject in (self.payouts[id_], *items)
            for entry in subject.posted
            for line in entry.lines
            if entry.entry_date <= on and line.account_id == CLEARING
        )
