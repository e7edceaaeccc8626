"""A business in miniature whose money waits at a processor, and is paid out."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.bank import bank_postings, payout_changes
from accounting.bank.payout_changes import PaidOut
from accounting.bank.payouts import Money, Payout, listed
from accounting.books.ledger import Posted
from tests.accounting.trade import ROLES, Trade, account_id, amounts, posted_after, written

CLEARING = account_id("1150")


@dataclass
class Till(Trade):
    """A trade with payouts; what is paid comes by card."""

    payouts: dict[UUID, Payout] = field(default_factory=dict)

    def card(self, total: int = 100, fee: int = 0, **body: Any) -> UUID:
        means = {"payment_method": "credit_card", "payment_processor": "stripe"}
        return self.pay(total, **{**means, "processing_fee_cents": fee, **body})

    def give_back(self, amount: int = 20, fee: int = 0, **body: Any) -> UUID:
        """Pay money back by card that came to the bank and settled nothing."""
        refund = self.refund(self.pay(amount), amount)
        means = {"method": "credit_card", "processor": "stripe"}
        return self.pay_refund(refund, **{**means, "refund_processing_fee_cents": fee, **body})

    def pay_out(self, amount: int, *items: UUID, **body: Any) -> UUID:
        facts = {"processor": "stripe", "paid_out_amount_cents": amount, **self.named(items)}
        made = payout_changes.announce({**facts, **body}, self.money(), self.context())
        return self.take_paid_out(made)

    def update(self, id_: UUID, **body: Any) -> PaidOut:
        payout = self.payouts[id_]
        made = payout_changes.update(payout, body, self.held(payout, body), self.context())
        self.take_paid_out(made)
        return made

    def delete(self, id_: UUID) -> UUID:
        payout = self.payouts[id_]
        return self.take_paid_out(
            payout_changes.delete(payout, self.held(payout, {}), self.context())
        )

    def move(self, id_: UUID, status: str, **changes: Any) -> None:
        """Let a payment bounce, or come back, and its payout follow."""
        before = self.payments[id_]
        self.change(id_, status=status, **changes)
        after = self.payments[id_]
        if before.payout_id is not None and payout_changes.counts_otherwise(before, after):
            payout = self.payouts[before.payout_id]
            self.keep_payout(payout_changes.item_moved(payout, before, after, self.context()))

    def named(self, items: Iterable[UUID]) -> dict[str, list[UUID]]:
        """Name items as a body does."""
        chosen = list(items)
        return {
            "payment_ids": [each for each in chosen if each in self.payments],
            "refund_payment_ids": [each for each in chosen if each in self.refund_payments],
        }

    def money(self) -> dict[UUID, Money]:
        return {**self.payments, **self.refund_payments}

    def held(self, payout: Payout, body: dict[str, Any]) -> dict[UUID, Money]:
        """What a store would have locked for a payout."""
        payments, refunds = payout_changes.money_affected(payout, body)
        return {id_: each for id_, each in self.money().items() if id_ in payments | refunds}

    def take_paid_out(self, made: PaidOut) -> UUID:
        for each in made.moved:
            self.shelf(each)[each.id] = each
        return self.keep_payout(made.payout)

    def keep_payout(self, payout: Payout) -> UUID:
        """Post what a payout asks for, as a store does, and keep it."""
        entries = bank_postings.entries_for(payout, ROLES, self.context().lock_date)
        posted = posted_after(payout.posted, entries, self.identify)
        self.payouts[payout.id] = replace(payout, posted=posted)
        return payout.id

    def entries(self) -> list[Posted]:
        paid_out = [entry for each in self.payouts.values() for entry in each.posted]
        return [*super().entries(), *paid_out]

    def paid_out(self, id_: UUID) -> list[tuple[str, dict[str, int]]]:
        """What was posted for a payout, in the order of posting."""
        return [(written(each.entry_date), amounts(each)) for each in self.payouts[id_].posted]

    def on_clearing(self, id_: UUID, on: date) -> int:
        """What a payout and its items have left on the clearing account by the end of a day."""
        money = self.money()
        items = [money[each.money_id] for each in listed(self.payouts[id_])]
        return sum(
            line.amount
            for subject in (self.payouts[id_], *items)
            for entry in subject.posted
            for line in entry.lines
            if entry.entry_date <= on and line.account_id == CLEARING
        )


def held_by(till: Till, id_: UUID) -> UUID | None:
    """The payout that money belongs to."""
    return till.money()[id_].payout_id
