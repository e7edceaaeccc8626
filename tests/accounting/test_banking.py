"""Which line of a statement is which money: linked, found in full, lost, posted to an account."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import bank_links, bank_matches, bank_postings, bank_transactions
from accounting.bank.bank_links import Wanted
from accounting.bank.bank_matches import MatchTarget
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import Payout
from accounting.trade.sides import PAYABLE, RECEIVABLE
from accounting.trade.vendor_refund_changes import Refunded
from tests.accounting.purchases import Purchases
from tests.accounting.trade import (
    BORN,
    NAMED,
    ROLES,
    AccountReference,
    Trade,
    account,
    account_id,
    code_of,
    day,
    posted_after,
    refused,
)

SAVINGS = account_id("1110")


def line(trade: Trade, amount: int, on: str = "12", **facts: Any) -> BankTransaction:
    """A line of the savings account; above zero it comes in."""
    return BankTransaction(
        **{
            "id": trade.identify(),
            "version": 1,
            "created_at": BORN,
            "updated_at": BORN,
            "bank_account_id": UUID(int=1),
            "account_id": SAVINGS,
            "external_id": "line",
            "booked_on": day(on),
            "amount": abs(amount),
            "direction": "credit" if amount > 0 else "debit",
            "currency": "GBP",
            "imported_at": BORN,
            "source_format": "json",
            **facts,
        }
    )


def payout(trade: Trade, paid_out: int, **facts: Any) -> Payout:
    return Payout(
        **{
            "id": trade.identify(),
            "version": 1,
            "created_at": BORN,
            "updated_at": BORN,
            "external_id": None,
            "processor": "stripe",
            "paid_out": paid_out,
            "fee": 0,
            "additional_refunds": 0,
            "currency": "GBP",
            "status": "pending",
            "completed_at": None,
            **facts,
        }
    )


def found(trade: Trade, payment: UUID) -> MatchTarget:
    return MatchTarget(trade.side, trade.payments[payment], trade.documents)


def match(
    trade: Trade, transaction: BankTransaction, target: MatchTarget, amount: int | None = None
) -> bank_matches.MatchResult:
    wanted = Wanted("invoice_payment", amount)
    return bank_matches.match(target, transaction, wanted, ROLES, trade.context())


def matched(
    trade: Trade, payment: UUID, transaction: BankTransaction, amount: int | None = None
) -> bank_matches.MatchResult:
    """Match a line with a payment, and keep what that does to the payment."""
    done = match(trade, transaction, found(trade, payment), amount)
    trade.documents.update((each.id, each) for each in done.moved)
    trade.keep(done.target)
    return done


class TestLink:
    def test_a_payment_of_100_less_a_fee_of_2_is_98(self) -> None:
        trade = Trade()
        payment = trade.pay(100, processing_fee_cents=2)
        done = matched(trade, payment, line(trade, 100))
        assert (done.link.amount, bank_transactions.remaining(done.transaction)) == (98, 2)
        assert bank_links.rest(RECEIVABLE, trade.payments[payment]) == 0

    def test_a_payment_to_a_vendor_is_what_it_is_and_its_fee(self) -> None:
        trade = Purchases()
        payment = trade.pay(100, processing_fee_cents=2)
        assert bank_links.movable(PAYABLE, trade.payments[payment]) == -102
        assert matched(trade, payment, line(trade, -150)).link.amount == 102

    def test_the_money_stands_on_the_account_of_its_bank_from_its_own_day_on(self) -> None:
        trade = Trade("10")
        payment = trade.pay(100, processing_fee_cents=2)
        trade.today = "20"
        matched(trade, payment, line(trade, 50))
        assert trade.balances() == {"1110": 98, "2100": -100, "6100": 2}
        assert {on for on, _ in trade.book(payment)} == {"10"}

    def test_inside_the_lock_it_moves_on_the_day_after(self) -> None:
        trade = Trade("10")
        payment = trade.pay(100)
        trade.today, trade.lock = "20", "15"
        matched(trade, payment, line(trade, 50))
        assert trade.book(payment)[-1] == ("16", {"1100": -100, "1110": 100})

    def test_in_parts_on_both_sides(self) -> None:
        trade = Trade()
        first, second = trade.pay(60), trade.pay(98)
        one = matched(trade, first, line(trade, 100))
        one = matched(trade, second, one.transaction)
        assert (one.link.amount, one.transaction.linked) == (40, 100)
        two = matched(trade, second, line(trade, 100))
        assert (two.link.amount, trade.payments[second].linked) == (58, 98)

    @pytest.mark.parametrize(("amount", "asked"), [(100, 61), (60, 61), (100, 0)])
    def test_no_more_than_is_left_on_either_side(self, amount: int, asked: int) -> None:
        trade = Trade()
        payment = trade.pay(60)
        error = refused(match, trade, line(trade, amount), found(trade, payment), asked)
        assert error.code == "link_exceeds_remaining"

    def test_what_is_refused(self) -> None:
        trade = Trade()
        good = trade.payments[trade.pay(60)]
        cases = {
            "in_payout": (replace(good, payout_id=UUID(int=5)), line(trade, 60)),
            "item_not_completed": (replace(good, status="failed"), line(trade, 60)),
            "link_direction_mismatch": (good, line(trade, -60)),
            "bank_account_mismatch": (
                replace(good, linked=1, money_account_id=account_id("1100")),
                line(trade, 60),
            ),
            "link_exceeds_remaining": (good, line(trade, 60, categorized=60)),
        }
        for code, (payment, transaction) in cases.items():
            assert refused(match, trade, transaction, MatchTarget(RECEIVABLE, payment)).code == code

    def test_a_payout_of_nothing_is_linked_with_nothing(self) -> None:
        trade = Trade()
        error = refused(match, trade, line(trade, 60), MatchTarget(None, payout(trade, 0)))
        assert error.code == "link_exceeds_remaining"

    def test_a_payout_that_was_taken_back_goes_out(self) -> None:
        trade = Trade()
        done = match(trade, line(trade, -60), MatchTarget(None, payout(trade, -90)))
        assert (done.link.amount, bank_links.rest(None, done.target)) == (60, 30)


class TestMatch:
    def test_what_was_on_its_way_has_come_with_its_last_line(self) -> None:
        trade = Trade("10")
        invoice = trade.invoice(100)
        payment = trade.pay(100, (invoice, 100), status="pending")
        assert matched(trade, payment, line(trade, 60)).moved == ()
        assert (trade.payments[payment].status, trade.book(payment)) == ("pending", [])
        matched(trade, payment, line(trade, 60))
        assert trade.payments[payment].status == "completed"
        assert trade.documents[invoice].paid == 100
        assert trade.balances() == {"1110": 100, "4000": -100}

    def test_a_payout_is_paid_on_the_day_of_the_line(self) -> None:
        trade = Trade("20")
        done = match(trade, line(trade, 90, "12"), MatchTarget(None, payout(trade, 90)))
        assert isinstance(done.target, Payout)
        assert (done.target.status, str(done.target.completed_at)) == (
            "paid",
            "2026-01-12 00:00:00+00:00",
        )
        [(on, amounts)] = posted_by(done.target)
        assert (on, amounts) == ("2026-01-12", {"1110": 90, "1150": -90})

    def test_a_payout_with_a_day_keeps_it(self) -> None:
        trade = Trade("20")
        coming = payout(trade, 90, completed_at=BORN)
        done = match(trade, line(trade, 90), MatchTarget(None, coming))
        assert isinstance(done.target, Payout)
        assert done.target.completed_at == BORN
        trade.lock = "5"
        error = refused(match, trade, line(trade, 90), MatchTarget(None, coming))
        assert error.code == "period_locked"

    @pytest.mark.parametrize(("given_day", "on"), [(None, "12"), ("11", "11")])
    def test_money_of_a_vendor_has_come_on_its_day_or_on_that_of_the_line(
        self, given_day: str | None, on: str
    ) -> None:
        trade = Purchases("5")
        refund = trade.agree(80)
        [payment] = trade.payments_of(refund)
        if given_day is not None:
            trade.move(payment.id, payment_date=day(given_day))
        trade.today = "20"
        before = trade.refunded(refund)
        target = MatchTarget(PAYABLE, before.payment(payment.id), refunded=before)
        done = match(trade, line(trade, 80), target)
        assert [type(each).__name__ for each in done.subjects] == [
            "VendorRefund",
            "VendorRefundPayment",
        ]
        come = done.subjects[1]
        assert (come.status, come.payment_date, come.money_account_id) == (
            "completed",
            day(on),
            SAVINGS,
        )
        trade.take_refunded(Refunded(done.subjects[0], (come,), before.affected))
        assert trade.balances() == {"1110": 80, "1900": -80}


class TestUnmatch:
    def test_with_the_last_link_the_money_is_back_on_its_method(self) -> None:
        trade = Trade("10")
        payment = trade.pay(100)
        first, second = (matched(trade, payment, line(trade, 50)) for _ in range(2))
        for each, expected in ((first, {"1110": 100}), (second, {"1100": 100})):
            done = bank_matches.unmatch(
                found(trade, payment), each.transaction, each.link, trade.context()
            )
            assert (done.transaction.linked, done.link.ended_at) == (0, trade.context().now)
            trade.keep(done.target)
            assert trade.balances() == {**expected, "2100": -100}
        assert trade.payments[payment].status == "completed"


class TestHeldTo:
    def test_money_that_bounces_loses_its_links_and_its_bank(self) -> None:
        trade = Trade("10")
        payment = trade.pay(100)
        matched(trade, payment, line(trade, 100))
        trade.today = "15"
        trade.change(payment, status="failed")
        bounced = trade.payments[payment]
        assert (bounced.linked, bounced.money_account_id) == (0, None)
        assert trade.balances() == {}

    def test_less_than_is_linked_is_never_left(self) -> None:
        trade = Trade()
        payment = trade.pay(100, processing_fee_cents=2)
        matched(trade, payment, line(trade, 97))
        for changes in ({"processing_fee_cents": 4}, {"total_amount_cents": 98}):
            error = refused(trade.change, payment, **changes)
            assert error.code == "link_exceeds_remaining"
            assert error.detail == {"linked_amount_cents": 97, "amount_cents": 96}
        trade.change(payment, processing_fee_cents=3)


class TestCategorize:
    def charges(self, code: str = "6300") -> Any:
        return NAMED[AccountReference("code", code)]

    def test_12_that_went_out_for_charges_are_12_on_charges(self) -> None:
        trade = Trade()
        done = bank_transactions.categorize(line(trade, -12), self.charges(), "m", trade.context())
        assert (done.categorized, done.category_memo) == (12, "m")
        assert posted_by(done) == [("2026-01-12", {"6300": 12, "1110": -12})]

    def test_it_is_taken_back_by_a_linked_reversal(self) -> None:
        trade = Trade()
        done = bank_transactions.categorize(
            line(trade, 12), self.charges("4600"), None, trade.context()
        )
        entries = bank_postings.entries_for(done, ROLES, None)
        done = replace(done, posted=posted_after((), entries, trade.identify))
        free = bank_transactions.uncategorize(done, trade.context())
        assert (free.categorized, free.category_account_id) == (0, None)
        [back] = bank_postings.entries_for(free, ROLES, None)
        assert back.reversal_of_id == done.posted[0].id
        assert bank_transactions.uncategorize(line(trade, 1), trade.context()).categorized == 0

    def test_what_is_refused(self) -> None:
        trade, own = Trade(), account("1110")
        cases = {
            "bank_transaction_used_up": (line(trade, 9, linked=9), self.charges()),
            "same_account": (line(trade, 9), own),
        }
        for code, (transaction, named) in cases.items():
            error = refused(bank_transactions.categorize, transaction, named, None, trade.context())
            assert error.code == code
        trade.lock = "12"
        error = refused(
            bank_transactions.categorize, line(trade, 9), self.charges(), None, trade.context()
        )
        assert error.code == "period_locked"


def posted_by(subject: Any) -> list[tuple[str, dict[str, int]]]:
    """What something of no side posts: the day and the amounts of each entry."""
    return [
        (str(entry.entry_date), {code_of(each.account_id): each.amount for each in entry.lines})
        for entry in bank_postings.entries_for(subject, ROLES, None)
    ]
