"""Links of bank lines with money in foreign currencies, by the examples of the design."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import bank_links, bank_matches, bank_postings
from accounting.bank.bank_links import EntryMoney, money_of
from accounting.bank.bank_matches import MatchResult, MatchTarget
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import LinkTransaction
from accounting.books.foreign import ForeignAmount, in_base
from accounting.books.manual_entries import ManualLine
from accounting.trade.payments import MoneyBank, Payment, chosen_bank
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.bank.foreign import (
    DOLLARS,
    OWN_ACCOUNTS,
    RATES,
    at,
    crown_line,
    dollar_line,
    own,
    rate,
)
from tests.accounting.bank.statements import line, new_id, posted_by, target
from tests.accounting.bank.test_entry_money import entry
from tests.accounting.samples import ROLES, account_id, amounts, posted_after, refusal_of, refused
from tests.accounting.trade.business import Trade


@pytest.fixture(params=[RECEIVABLE, PAYABLE], ids=["sales", "purchases"])
def trade(request: pytest.FixtureRequest) -> Trade:
    """The books of a side with rates; no bank account is in a foreign currency."""
    return Trade("12", side=request.param, rates=RATES)


def linked(trade: Trade, payment: UUID, transaction: BankTransaction, **facts: Any) -> MatchResult:
    """Match a line with a payment, and keep the changed payment."""
    command = LinkTransaction(target_type="any", target_id=payment, **facts)
    found = target(trade, payment)
    done = bank_matches.match(found, transaction, command, ROLES, trade.context())
    trade.documents.update((each.id, each) for each in done.moved)
    assert isinstance(done.target, Payment)
    trade.keep(done.target)
    return done


def unlinked(trade: Trade, done: MatchResult) -> BankTransaction:
    """Remove a match, and keep the payment that it frees."""
    found = target(trade, done.target.id)
    back = bank_matches.unmatch(found, done.transaction, done.link, trade.context())
    assert isinstance(back.target, Payment)
    trade.keep(back.target)
    return back.transaction


class TestBaseLine:
    def test_the_difference_is_exchange_of_the_line(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, fee=200, **at("0.95"))
        assert trade.balances()["1100"] == 9_310
        done = linked(trade, payment, line(9_280, "14"))
        assert posted_by(done.transaction) == [("14", {"7050": 30, "1110": -30})]
        [made] = bank_postings.entries_for(done.transaction, ROLES, None)
        assert {each.currency for each in made.lines} == {None}
        assert [each.about for each in made.lines if each.amount > 0] == [payment]
        assert made.description == "Exchange difference of bank transaction"
        assert trade.balances()["1110"] - 30 == 9_280
        assert remaining(done.transaction) == 0
        assert bank_links.rest(RECEIVABLE, trade.payments[payment]) == 0
        assert done.link.target_amount == ForeignAmount(9_800, 9_310, "USD")

    def test_a_vendor_is_paid_for_more_than_the_rate(self) -> None:
        trade = Trade("12", side=PAYABLE, rates=RATES)
        payment = trade.pay(10_000, fee=200, **at("0.95"))
        done = linked(trade, payment, line(-9_700))
        assert posted_by(done.transaction) == [("12", {"7050": 10, "1110": -10})]

    @pytest.mark.parametrize(
        ("amount", "posted"),
        [(9_400, [("12", {"1110": 90, "4650": -90})]), (9_310, [])],
    )
    def test_a_gain_or_nothing(self, amount: int, posted: list[Any]) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, fee=200, **at("0.95"))
        assert posted_by(linked(trade, payment, line(amount)).transaction) == posted

    def test_parts_show_their_shares_which_sum_to_what_the_money_moved(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(3, **at("0.5"))
        shown = [
            linked(trade, payment, line(1), target_amount=1).link.target_amount for _ in range(3)
        ]
        assert [in_base(each or 0) for each in shown] == [1, 1, 0]
        refusal = refused(linked, trade, payment, line(1))
        assert refusal.code == "link_exceeds_remaining"

    def test_unlinked_the_difference_goes_and_the_share_is_free(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.95"))
        done = linked(trade, payment, line(4_000), target_amount=4_000)
        entries = bank_postings.entries_for(done.transaction, ROLES, None)
        standing = replace(done.transaction, posted=posted_after((), entries, new_id))
        unused = unlinked(trade, replace(done, transaction=standing))
        assert (unused.linked, unused.exchanged) == (0, ())
        [back] = bank_postings.entries_for(unused, ROLES, None)
        assert (back.reversal_of_id, amounts(back)) == (
            standing.posted[0].id,
            {"1110": -200, "4650": 200},
        )
        assert (trade.payments[payment].linked, trade.balances()["1100"]) == (0, 9_500)
        again = linked(trade, payment, line(4_000))
        assert again.transaction.exchanged == ((payment, -5_500),)

    def test_one_line_shows_money_of_several_currencies(self) -> None:
        trade = Trade("12", rates=RATES)
        dollars, crowns = trade.pay(100, **at("0.9")), trade.pay(1_000, **at("0.1", "SEK"))
        done = linked(trade, dollars, line(200), amount=95)
        done = linked(trade, crowns, done.transaction, amount=90)
        assert done.transaction.exchanged == ((dollars, 5), (crowns, -10))
        assert posted_by(done.transaction) == [("12", {"1110": -5, "4650": -5, "7050": 10})]
        assert remaining(done.transaction) == 15

    def test_the_return_of_money_has_its_own_difference(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.95"))
        linked(trade, payment, line(9_500))
        trade.on("15")
        done = linked(trade, payment, line(-9_460, "15"), back=True)
        assert trade.payments[payment].status == "failed"
        assert posted_by(done.transaction) == [("15", {"1110": 40, "4650": -40})]
        assert trade.payments[payment].linked_back == ForeignAmount(10_000, 9_500, "USD")

    def test_money_that_came_twice_is_shown_twice(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.95"))
        linked(trade, payment, line(9_500))
        linked(trade.on("15"), payment, line(-9_500, "15"), back=True)
        trade.on("18").change(payment, status="completed")
        done = linked(trade, payment, line(9_500, "18"))
        assert done.link.difference == 0
        assert trade.payments[payment].linked == ForeignAmount(20_000, 19_000, "USD")

    def test_a_second_amount_is_only_for_another_currency(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.95"))
        refusal = refused(linked, trade, payment, dollar_line(10_000), target_amount=5_000)
        assert refusal.code == "validation_error"

    def test_the_return_of_money_that_is_on_its_way_again_is_shown_in_parts(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.95"))
        trade.on("15").change(payment, status="failed")
        trade.on("18").change(payment, status="pending")
        facts = {"back": True, "target_amount": 4_000}
        done = linked(trade, payment, line(-3_800, "15"), **facts)
        assert (done.link.difference, trade.payments[payment].status) == (0, "pending")

    def test_no_tolerance_applies(self) -> None:
        trade = Trade("12", rates=RATES)
        payment, context = trade.pay(10_000, **at("0.95")), trade.context()
        tolerant = replace(context, business=replace(context.business, matching_tolerance=5))
        command = LinkTransaction(target_type="any", target_id=payment)
        given = RECEIVABLE, line(9_499), trade.payments[payment], command, tolerant
        used, _, made = bank_links.link(*given)
        assert (made.rounding, used.rounding, made.difference) == (0, 0, -1)

    def test_limits_compare_own_amounts(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **at("0.5"))
        done = linked(trade, payment, line(9_000))
        assert (done.link.amount, done.link.of_target) == (9_000, 10_000)
        other = trade.pay(10_000, **at("0.5"))
        for facts in ({"target_amount": 10_001}, {"amount": 5_001}):
            refusal = refused(linked, trade, other, line(5_000), **facts)
            assert refusal.code == "link_exceeds_remaining"

    def test_money_on_its_way_is_shown_whole_and_completes(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, status="pending", **at("0.95"))
        refusal = refused(linked, trade, payment, line(4_000), target_amount=4_000)
        assert refusal.code == "item_not_completed"
        done = linked(trade, payment, line(9_600))
        assert trade.payments[payment].status == "completed"
        assert posted_by(done.transaction) == [("12", {"1110": 100, "4650": -100})]


class TestLinkedInBase:
    @pytest.mark.parametrize(
        "change",
        [{"total": 10_001}, {"worth": rate("0.96")}, {"fee": 1}],
        ids=["own", "rate", "fee"],
    )
    def test_what_a_base_line_shows_does_not_change(
        self, trade: Trade, change: dict[str, Any]
    ) -> None:
        payment = trade.pay(10_000, **at("0.95"))
        done = linked(trade, payment, line(trade.side.sign * 5_000), target_amount=5_000)
        code, detail = refusal_of(trade.change, payment, **change)
        assert (code, detail["linked_amount_cents"]) == ("linked_in_base", 5_000)
        trade.change(payment, note="Still the same.")
        unlinked(trade, replace(done, target=trade.payments[payment]))
        trade.change(payment, **change)

    def test_a_foreign_line_lets_the_rate_change(self) -> None:
        trade = Trade("12", rates=RATES, own_accounts=OWN_ACCOUNTS)
        payment = trade.pay(10_000, **at("0.95"))
        linked(trade, payment, dollar_line(10_000))
        trade.change(payment, worth=rate("0.96"))
        assert trade.balances() == {"1121": 9_600, "2100": -9_600}


class TestForeignLine:
    def test_it_shows_money_of_its_currency_without_a_difference(self) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, fee=200, **at("0.95"))
        done = linked(trade, payment, dollar_line(9_800))
        assert (done.link.amount, done.link.target_amount) == (9_800, None)
        assert posted_by(done.transaction) == []
        assert trade.balances() == {"1121": 9_310, "2100": -9_500, "6100": 190}

    def test_to_the_unit(self) -> None:
        trade = Trade("12", rates=RATES)
        payment, context = trade.pay(10_000, **at("0.95")), trade.context()
        tolerant = replace(context, business=replace(context.business, matching_tolerance=5))
        command = LinkTransaction(target_type="any", target_id=payment)
        given = RECEIVABLE, dollar_line(9_999), trade.payments[payment], command, tolerant
        used, held, made = bank_links.link(*given)
        assert (made.amount, used.rounding, held.linked) == (9_999, 0, 9_999)

    @pytest.mark.parametrize("facts", [{}, at("0.95")], ids=["base", "dollars"])
    def test_it_shows_no_money_of_another_currency(self, facts: Any) -> None:
        trade = Trade("12", rates=RATES)
        payment = trade.pay(10_000, **facts)
        assert refused(linked, trade, payment, crown_line(9_000)).code == "currency_mismatch"

    def test_a_written_entry_is_shown_by_its_own_amount(self) -> None:
        lines = (
            ManualLine(new_id(), DOLLARS, 9_000, currency="USD", currency_amount=10_000),
            ManualLine(new_id(), account_id("2500"), -9_000),
        )
        money = money_of(entry(lines=lines), DOLLARS, 0, "USD")
        assert money.amount == 10_000
        command = LinkTransaction(target_type="journal_entry", target_id=money.id)
        context = Trade("12", rates=RATES).context()
        found = MatchTarget(None, money)
        done = bank_matches.match(found, dollar_line(10_000), command, ROLES, context)
        assert (done.link.amount, remaining(done.transaction)) == (10_000, 0)
        assert isinstance(done.target, EntryMoney)


class TestAccountOfMoney:
    def test_foreign_money_takes_the_account_of_its_currency(self, trade: Trade) -> None:
        trade.own_accounts = OWN_ACCOUNTS
        payment = trade.pay(10_000, **at("0.95"))
        assert trade.balances()["1121"] == trade.side.sign * 9_500
        [made] = trade.posted(payment)
        assert own(made)["1121"] == ("USD", trade.side.sign * 10_000)
        trade.own_accounts = {}
        trade.change(payment, note="It keeps the account.")
        assert trade.payments[payment].own_account_id == DOLLARS

    def test_without_one_the_bank_has_its_own_amount(self, trade: Trade) -> None:
        payment = trade.pay(10_000, **at("0.95"))
        [made] = trade.posted(payment)
        assert own(made)["1100"] == ("USD", trade.side.sign * 10_000)

    def test_a_new_method_chooses_anew(self) -> None:
        trade = Trade("12", rates=RATES, own_accounts=OWN_ACCOUNTS)
        payment = trade.pay(10_000, method="cash", **at("0.95"))
        assert trade.balances() == {"1000": 9_500, "2100": -9_500}
        trade.change(payment, method="bank_transfer")
        assert trade.balances() == {"1121": 9_500, "2100": -9_500}
        trade.change(payment, method="credit_card")
        assert trade.balances() == {"1150": 9_500, "2100": -9_500}
        assert trade.payments[payment].own_account_id is None

    def test_a_refund_payment_takes_it_too(self) -> None:
        trade = Trade("12", rates=RATES, own_accounts=OWN_ACCOUNTS)
        refund = trade.refund(trade.pay(10_000, **at("0.95")), 4_000)
        paid = trade.pay_refund(refund, 4_000, worth=rate("0.98"))
        assert trade.book(paid) == [("12", {"2300": 3_800, "1121": -3_920, "7050": 120})]

    def test_base_money_has_none(self) -> None:
        trade = Trade("12", rates=RATES, own_accounts=OWN_ACCOUNTS)
        assert trade.payments[trade.pay(100)].own_account_id is None

    @pytest.mark.parametrize(("currency", "fits"), [(None, True), ("USD", True), ("SEK", False)])
    def test_a_named_account_is_of_the_currency_of_the_money_or_base(
        self, currency: str | None, fits: bool
    ) -> None:
        bank = MoneyBank(UUID(int=1), DOLLARS, currency=currency)
        given = bank.id, {bank.id: bank}, None, "USD"
        if fits:
            assert chosen_bank(*given) == bank
        else:
            refusal = refused(chosen_bank, *given)
            assert refusal.code == "bank_account_currency_mismatch"


class TestInPayout:
    def test_the_rate_of_money_in_a_payout_does_not_change(self) -> None:
        trade = CardSales("12", rates=RATES)
        payment = trade.card(10_000, **at("0.90"))
        trade.pay_out(10_000, payment, worth=rate("0.90"))
        code, detail = refusal_of(trade.change, payment, worth=rate("0.91"))
        assert (code, detail["fields"]) == ("in_payout", ["base_amount_cents"])
