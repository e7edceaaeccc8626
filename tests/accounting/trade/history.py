"""Random histories of a small business."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from accounting.absent import ABSENT, Absent
from accounting.errors import ApiError
from accounting.trade import credits, documents, invoice_refund_changes, payments, refunds
from accounting.trade.payments import STATUSES
from tests.accounting.samples import day, moment, named
from tests.accounting.trade.business import Trade, credit_line, items, line

DAYS = st.sampled_from(["2", "5", "9", "14", "20", "28", "02-03", "02-14"])
MOMENTS = DAYS.map(moment)
AMOUNTS = st.integers(1, 1_500)
METHODS = st.sampled_from(["bank_transfer", "cash", "stripe", "credit_card", "check"])
LOCKS = st.none() | st.sampled_from(["1", "4", "31"])
ACCOUNTS = st.sampled_from([None, "4500", "2200"])
FEES = st.integers(0, 20)
MOST_DOCUMENTS = 4

Step = Callable[[], object]


def picked(subjects: dict[UUID, Any], fits: Callable[[Any], bool]) -> list[UUID]:
    return [id_ for id_, each in subjects.items() if fits(each)]


def refundable(targets: dict[UUID, Any]) -> dict[UUID, Any]:
    return {id_: each for id_, each in targets.items() if invoice_refund_changes.refundable(each)}


LINES = st.lists(
    st.builds(
        line,
        st.integers(1, 900),
        tax_rate=st.sampled_from([None, "20", "5.5"]),
        account=ACCOUNTS.map(named),
    ),
    min_size=1,
    max_size=3,
)
CREDIT_LINES = st.lists(
    st.builds(credit_line, st.integers(1, 500), st.integers(0, 90), ACCOUNTS),
    min_size=1,
    max_size=3,
)


class History:
    """A random history of either side; a refused step leaves the books unchanged.

    Half of the histories have a fixed lock, and half move it.
    """

    trade: Trade
    given_up: tuple[str | None, ...]
    others: tuple[str, ...]

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.locks_move = data.draw(st.booleans(), "the lock moves")
        self.trade = self.begun(data.draw(LOCKS, "lock"))

    def begun(self, lock: str | None) -> Trade:
        """Create the books of a new history."""
        return Trade(lock=lock)

    def step(self) -> None:
        self.trade.today = self.data.draw(DAYS, "today")
        with suppress(ApiError):
            self.data.draw(st.sampled_from(self.steps()), "step")()

    def steps(self) -> list[Step]:
        """Return the possible next steps; a likely step is repeated."""
        trade = self.trade
        steps: list[Step] = [self.pay, self.credit]
        if len(trade.documents) < MOST_DOCUMENTS:
            steps += [self.document, self.document, self.draft]
        if self.locks_move:
            steps += [self.move_lock]
        if trade.documents:
            steps += [self.pay, self.pay, self.replace, self.void]
        if trade.payments:
            steps += [self.allocate, self.set_status, self.correct] * 2
        if trade.documents:
            steps += [self.write_off, self.recode, self.recode]
        if trade.write_offs:
            steps += [self.reverse]
        if trade.credits:
            steps += [self.apply, self.apply, self.void_credit, self.recode_credit]
        return steps

    def some(self, subjects: dict[UUID, Any]) -> UUID:
        return self.data.draw(st.sampled_from(sorted(subjects)))

    def up_to(self, most: int) -> int | Absent:
        """Draw an amount: the whole, a part, or sometimes too much."""
        return self.data.draw(st.just(ABSENT) | st.just(most) | st.integers(1, max(most, 0) + 1))

    def parts(self, total: int, held: dict[UUID, int] | None = None) -> list[tuple[UUID, int]]:
        """Draw allocations, most of them valid; the rules refuse the others."""
        held, rest = dict(held or {}), total
        parts = []
        for id_, document in sorted(self.trade.documents.items()):
            most = min(rest, documents.left(document) + held.get(id_, 0))
            closed = document.state != "open" and self.data.draw(st.integers(0, 9)) > 0
            if most > 0 and not closed and self.data.draw(st.integers(0, 3)):
                amount = self.data.draw(st.just(held.get(id_, most)) | st.integers(1, most + 1))
                rest -= amount
                parts.append((id_, amount))
        return parts

    def document(self) -> None:
        dated: dict[str, Any] = {
            name: self.data.draw(st.none() | DAYS.map(day))
            for name in ("issue_date", "delivery_date")
        }
        self.trade.document(
            *self.data.draw(LINES),
            additional_discount=self.data.draw(st.integers(0, 50)),
            opened_at=self.data.draw(MOMENTS),
            **dated,
        )

    def draft(self) -> None:
        self.trade.document(*self.data.draw(LINES), opened_at=None)

    def replace(self) -> None:
        id_ = self.some(self.trade.documents)
        opened_at = self.data.draw(st.none() | MOMENTS)
        self.trade.replace(id_, *self.data.draw(LINES), opened_at=opened_at)

    def recode(self) -> None:
        self.put_lines_elsewhere(self.some(self.trade.documents))

    def recode_credit(self) -> None:
        self.put_lines_elsewhere(self.some(self.trade.credits))

    def put_lines_elsewhere(self, id_: UUID) -> None:
        places = range(len(self.trade.target(id_).lines))
        chosen = self.data.draw(st.sets(st.sampled_from(places), min_size=1))
        others = st.sampled_from(self.others)
        self.trade.recode(id_, {place: self.data.draw(others) for place in chosen})

    def void(self) -> None:
        self.trade.void(self.some(self.trade.documents), self.data.draw(st.none() | DAYS))

    def pay(self) -> None:
        total = self.data.draw(AMOUNTS)
        self.trade.pay(
            total,
            *self.parts(total),
            payment_date=day(self.data.draw(DAYS)),
            method=self.data.draw(METHODS),
            fee=self.data.draw(FEES),
            status=self.data.draw(st.sampled_from(STATUSES[:3])),
        )

    def allocate(self) -> None:
        payment = self.trade.payments[self.some(self.trade.payments)]
        held = {each.document_id: each.amount for each in payments.live_allocations(payment)}
        parts = self.parts(payment.total - payment.refunded, held)
        self.trade.change(payment.id, allocations=items(*parts))

    def set_status(self) -> None:
        status = self.data.draw(st.sampled_from(STATUSES))
        self.trade.change(self.some(self.trade.payments), status=status)

    def correct(self) -> None:
        changes: dict[str, Any] = self.data.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "total": AMOUNTS,
                    "payment_date": DAYS.map(day),
                    "method": METHODS,
                    "fee": FEES,
                    "status": st.sampled_from(STATUSES),
                    "allocations": st.just(()),
                },
            )
        )
        self.trade.change(self.some(self.trade.payments), **changes)

    def credit(self) -> None:
        lines = self.data.draw(CREDIT_LINES)
        total = sum(each.amount + each.tax_amount for each in lines)
        at = self.data.draw(st.none() | MOMENTS)
        self.trade.credit(*lines, to=self.parts(total) if at else (), opened_at=at)

    def apply(self) -> None:
        credit = self.trade.credits[self.some(self.trade.credits)]
        held = {each.document_id: each.amount for each in credits.live_allocations(credit)}
        at = self.data.draw(MOMENTS) if credit.state == "draft" else None
        total = credit.total_amount - credit.refunded
        self.trade.apply(credit.id, *self.parts(total, held), opened_at=at)

    def void_credit(self) -> None:
        self.trade.void_credit(self.some(self.trade.credits), self.data.draw(st.none() | DAYS))

    def write_off(self) -> None:
        id_ = self.some(self.trade.documents)
        amount = self.up_to(documents.left(self.trade.documents[id_]))
        self.trade.write_off(
            id_,
            amount,
            write_off_at=self.data.draw(st.none() | MOMENTS),
            account=self.data.draw(st.sampled_from(self.given_up).map(named)),
        )

    def reverse(self) -> None:
        self.trade.reverse(self.some(self.trade.write_offs))

    def move_lock(self) -> None:
        self.trade.lock = self.data.draw(LOCKS, "lock")

    def take_documents_back(self) -> None:
        """Void credits and documents, and reverse write-offs, once no money is on them."""
        trade = self.trade
        for id_ in picked(trade.credits, lambda each: each.state == "open"):
            trade.apply(id_)
            trade.void_credit(id_)
        for id_ in picked(trade.write_offs, lambda each: each.reversed_at is None):
            trade.reverse(id_)
        for id_ in picked(trade.documents, lambda each: each.state == "open"):
            trade.void(id_)


class Sales(History):
    """A random history of sales, payments, credits and refunds."""

    given_up = (None, "6000")
    others = ("4000", "4500", "2200")

    def steps(self) -> list[Step]:
        trade, steps = self.trade, super().steps()
        if trade.documents:
            steps += [self.refund_invoice] * (9 if refundable(trade.documents) else 1)
        if trade.payments:
            steps += [self.refund_payment] * (3 if refundable(trade.payments) else 1)
        if trade.credits:
            steps += [self.refund_credit] * (3 if refundable(trade.credits) else 1)
        if trade.refunds:
            steps += [self.pay_refund] * 4 + [self.cancel_refund]
        if trade.refund_payments:
            steps += [self.cancel_refund_payment]
        return steps

    def take_everything_back(self) -> None:
        """Cancel, release, reverse and void everything; no rule prevents it in this order."""
        trade = self.trade
        trade.today = self.data.draw(DAYS, "today")
        for id_ in picked(trade.refund_payments, lambda each: each.status == "completed"):
            trade.cancel_refund_payment(id_)
        for id_ in picked(trade.payments, lambda each: each.status != "cancelled"):
            trade.change(id_, status="cancelled")
        for id_ in picked(trade.refunds, lambda each: each.cancelled_at is None):
            trade.cancel_refund(id_)
        self.take_documents_back()

    def refund_invoice(self) -> None:
        self.refund(self.trade.documents)

    def refund_payment(self) -> None:
        self.refund(self.trade.payments)

    def refund_credit(self) -> None:
        self.refund(self.trade.credits)

    def refund(self, targets: dict[UUID, Any]) -> None:
        id_ = self.some(refundable(targets) or targets)
        self.trade.refund(
            id_,
            self.up_to(invoice_refund_changes.refundable(targets[id_])),
            completed_at=self.data.draw(st.none() | MOMENTS),
            method=self.data.draw(METHODS),
            fee=self.data.draw(FEES),
        )

    def cancel_refund(self) -> None:
        self.trade.cancel_refund(self.some(self.trade.refunds))

    def pay_refund(self) -> None:
        owed = {id_: each for id_, each in self.trade.refunds.items() if refunds.rest(each)}
        id_ = self.some(owed or self.trade.refunds)
        self.trade.pay_refund(
            id_,
            self.up_to(refunds.rest(self.trade.refunds[id_])),
            completed_at=self.data.draw(st.none() | MOMENTS),
        )

    def cancel_refund_payment(self) -> None:
        self.trade.cancel_refund_payment(self.some(self.trade.refund_payments))
