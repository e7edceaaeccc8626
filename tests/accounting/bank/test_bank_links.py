"""Links between statement lines and money, and the linked amounts."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounting.bank import bank_links, bank_transactions
from accounting.bank.bank_matches import MatchTarget
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.bank.statements import line, match, matched, payout, target
from tests.accounting.samples import account_id, refused
from tests.accounting.trade.purchases import Purchases


class TestLink:
    def test_a_payment_of_100_less_a_fee_of_2_is_98(self, trade: CardSales) -> None:
        payment = trade.pay(100, fee=2)
        done = matched(trade, payment, line(100))
        assert (done.link.amount, bank_transactions.remaining(done.transaction)) == (98, 2)
        assert bank_links.rest(RECEIVABLE, trade.payments[payment]) == 0

    def test_a_payment_to_a_vendor_is_what_it_is_and_its_fee(self) -> None:
        trade = Purchases()
        payment = trade.pay(100, fee=2)
        assert bank_links.movable(PAYABLE, trade.payments[payment]) == -102
        assert matched(trade, payment, line(-150)).link.amount == 102

    def test_linked_money_is_on_the_account_of_its_bank_on_its_day(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100, fee=2)
        trade.today = "20"
        matched(trade, payment, line(50))
        assert trade.balances() == {"1110": 98, "2100": -100, "6100": 2}
        assert {on for on, _ in trade.book(payment)} == {"10"}

    def test_inside_the_lock_it_moves_on_the_day_after(self, trade: CardSales) -> None:
        payment = trade.on("10").pay(100)
        trade.today, trade.lock = "20", "15"
        matched(trade, payment, line(50))
        assert trade.book(payment)[-1] == ("16", {"1100": -100, "1110": 100})

    def test_in_parts_on_both_sides(self, trade: CardSales) -> None:
        first, second = trade.pay(60), trade.pay(98)
        one = matched(trade, first, line(100))
        one = matched(trade, second, one.transaction)
        assert (one.link.amount, one.transaction.linked) == (40, 100)
        two = matched(trade, second, line(100))
        assert (two.link.amount, trade.payments[second].linked) == (58, 98)

    @pytest.mark.parametrize(("amount", "asked"), [(100, 61), (60, 61), (100, 0)])
    def test_a_link_over_a_rest_is_refused(self, trade: CardSales, amount: int, asked: int) -> None:
        payment = trade.pay(60)
        refusal = refused(match, trade, line(amount), target(trade, payment), asked)
        assert refusal.code == "link_exceeds_remaining"

    def test_invalid_links_are_refused(self, trade: CardSales) -> None:
        good = trade.payments[trade.pay(60)]
        elsewhere = replace(good, linked=1, money_account_id=account_id("1100"))
        cases = {
            "in_payout": (replace(good, payout_id=UUID(int=5)), line(60)),
            "item_not_completed": (replace(good, status="failed"), line(60)),
            "link_direction_mismatch": (good, line(-60)),
            "bank_account_mismatch": (elsewhere, line(60)),
            "link_exceeds_remaining": (good, line(60, categorized=60)),
        }
        for code, (payment, transaction) in cases.items():
            assert refused(match, trade, transaction, MatchTarget(RECEIVABLE, payment)).code == code

    @pytest.mark.parametrize(
        ("amount", "paid_out", "words"),
        [
            (60, -90, "The bank transaction brings money in, but the target takes money out."),
            (-60, 90, "The bank transaction takes money out, but the target brings money in."),
        ],
    )
    def test_money_of_the_other_direction_is_refused(
        self, trade: CardSales, amount: int, paid_out: int, words: str
    ) -> None:
        refusal = refused(match, trade, line(amount), MatchTarget(None, payout(paid_out)))
        assert (refusal.code, refusal.message) == ("link_direction_mismatch", words)

    def test_a_payout_below_zero_goes_out_and_a_payout_of_zero_not(self, trade: CardSales) -> None:
        done = match(trade, line(-60), MatchTarget(None, payout(-90)))
        assert (done.link.amount, bank_links.rest(None, done.target)) == (60, 30)
        refusal = refused(match, trade, line(60), MatchTarget(None, payout(0)))
        assert refusal.code == "link_exceeds_remaining"
