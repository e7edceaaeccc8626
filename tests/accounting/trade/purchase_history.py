"""Random histories of purchases and vendor refunds."""

from contextlib import suppress

from hypothesis import strategies as st

from accounting.errors import ApiError
from accounting.trade import credits, documents, refunds
from accounting.trade.commands import RefundItem
from accounting.trade.refunds import RefundAllocation
from tests.accounting.samples import day
from tests.accounting.trade.history import AMOUNTS, DAYS, FEES, History, Step, picked
from tests.accounting.trade.purchases import (
    BILL,
    CREDIT,
    PAYMENT,
    REFUNDED_CREDIT,
    Purchases,
    announced,
    returned,
)

BOTH = st.booleans()
MOVES = st.sampled_from(["completed", "completed", "failed", "processing", "pending", "cancelled"])


def as_item(allocation: RefundAllocation) -> RefundItem:
    """Return an allocation as a caller would request it."""
    target_id = None if allocation.kind == CREDIT else allocation.target_id
    return returned(allocation.kind, allocation.amount, target_id)


class PurchaseHistory(History):
    """A random history of bills, payments, credits and vendor refunds."""

    trade: Purchases
    given_up = ("6200", "6400")  # Accounts that no line uses.
    others = ("6000", "4500", "5100")

    def __init__(self, data: st.DataObject) -> None:
        super().__init__(data)
        self.trade.today = data.draw(DAYS, "today")
        for step in (self.document, self.document, self.pay_all, self.pay_all):
            with suppress(ApiError):
                step()

    def begun(self, lock: str | None) -> Purchases:
        return Purchases(lock=lock)

    def steps(self) -> list[Step]:
        trade, steps = self.trade, super().steps()
        if trade.documents:
            steps += [self.pay_all] * 3
        if trade.payments or trade.credits:
            steps += [self.agree] * 8
        if trade.refunds:
            steps += [self.move] * 6 + [self.allocate_anew] * 6 + [self.withdraw] * 2
        return steps

    def pay_all(self) -> None:
        """Pay the open amounts of some bills, and sometimes more or less."""
        left = {id_: documents.left(each) for id_, each in self.trade.documents.items()}
        parts = [each for each in sorted(left.items()) if each[1] and self.data.draw(BOTH)]
        total = sum(amount for _, amount in parts) + self.data.draw(st.sampled_from([0, 0, 300]))
        self.trade.pay(total, *parts, payment_date=day(self.data.draw(DAYS)))

    def take_everything_back(self) -> None:
        """Cancel, release and void everything, refunds first or last."""
        self.trade.today = self.data.draw(DAYS, "today")
        steps = [self.take_refunds_back, self.take_payments_back]
        if self.data.draw(st.booleans(), "refunds last"):
            steps.reverse()
        for step in steps:
            step()
        self.take_documents_back()

    def take_refunds_back(self) -> None:
        """Cancel all refunds, after releasing the credits that they created."""
        for id_ in picked(self.trade.refunds, lambda each: each.cancelled_at is None):
            live = refunds.live_allocations(self.trade.refunds[id_])
            kept = (as_item(each) for each in live if each.kind != REFUNDED_CREDIT)
            self.trade.allocate(id_, *kept)
        for id_, payment in list(self.trade.refund_payments.items()):
            if payment.status in ("completed", "processing"):
                self.trade.move(id_, "failed")
            if payment.status != "cancelled":
                self.trade.withdraw(id_)

    def take_payments_back(self) -> None:
        for id_, payment in list(self.trade.payments.items()):
            if payment.status in ("completed", "processing"):
                self.trade.change(id_, status="failed")
            if payment.status != "cancelled":
                self.trade.cancel(id_)

    def returns(self, total: int) -> list[RefundItem]:
        """Draw allocations of a refund, most of them valid; the rules refuse the others."""
        bills = {id_: each.paid - each.refunded for id_, each in self.trade.documents.items()}
        money = {
            id_: each.total - each.refunded
            for id_, each in self.trade.payments.items()
            if each.status == "completed"
        }
        whole = {id_: credits.unapplied(each) for id_, each in self.trade.credits.items()}
        chances = [(BILL, most, id_) for id_, most in sorted(bills.items())]
        chances += [(PAYMENT, most, id_) for id_, most in sorted(money.items())]
        chances += [(REFUNDED_CREDIT, most, id_) for id_, most in sorted(whole.items())]
        parts = []
        chances = self.data.draw(st.permutations(chances))
        for kind, limit, id_ in [*chances, (CREDIT, total // 3, None), (CREDIT, total // 3, None)]:
            most = min(limit, total)
            if most > 0 and self.data.draw(BOTH):
                amount = self.data.draw(st.just(most) | st.integers(1, most))
                total -= amount
                parts.append(returned(kind, amount, id_))
        return parts

    def agree(self) -> None:
        total = self.data.draw(AMOUNTS)
        parts = self.returns(total)
        cash = total - sum(each.amount for each in parts if each.kind == CREDIT)
        first = self.data.draw(st.integers(0, cash))
        amounts = self.data.draw(st.just([cash]) | st.just([first, cash - first]))
        self.trade.agree(
            total,
            *parts,
            refund_date=self.data.draw(st.none() | DAYS.map(day)),
            payments=announced(*amounts),
        )

    def move(self) -> None:
        facts = st.fixed_dictionaries(
            {},
            optional={
                "payment_date": DAYS.map(day),
                "fee": FEES,
                "method": st.sampled_from(["cash", "wire"]),
            },
        )
        id_ = self.some(self.trade.refund_payments)
        self.trade.move(id_, self.data.draw(MOVES), **self.data.draw(facts))

    def allocate_anew(self) -> None:
        payment = self.trade.refund_payments[self.some(self.trade.refund_payments)]
        refund = self.trade.refund_of(payment.refund_id)
        kept = [
            as_item(each)
            for each in refunds.live_allocations(refund)
            if self.data.draw(st.booleans(), "it stays")
        ]
        held = sum(each.amount for each in kept)
        parts = self.returns(refund.amount - held)
        self.trade.move(payment.id, allocations=(*kept, *parts))

    def withdraw(self) -> None:
        self.trade.withdraw(self.some(self.trade.refund_payments))
