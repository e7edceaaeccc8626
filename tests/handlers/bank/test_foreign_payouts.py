"""Payouts of foreign money: items at their own base, all else at the rate of the payout.

The example is that of the rules, in pounds: USD 97.00 worth 87.30 and 48.50 worth 46.56 come as
137.00.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import PAYOUT, Bank, left, matching, open_account
from tests.builders.exchange_rates import table_set
from tests.builders.payouts import (
    AT,
    ON,
    PAYMENTS,
    PAYOUTS,
    by_card,
    moved,
    paid_out,
    payout_body,
    read,
    upserted,
)
from tests.builders.sales import paid, refunded
from tests.builders.trade import Record
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
GAINS, LOSSES = "4650", "7050"
CLEARING = "1150"
_CLEARING = """
SELECT coalesce(sum(l.currency_amount), 0)::bigint, coalesce(sum(l.debit - l.credit), 0)::bigint
FROM journal_line l
JOIN account a ON a.business_id = l.business_id AND a.id = l.account_id
WHERE l.business_id = %(business)s AND a.code = '1150' AND l.currency = 'USD'
"""


@pytest.fixture(scope="module", autouse=True)
def rates(shop: Business) -> None:
    """Set the table of the day of payouts: a dollar is 0.90."""
    table_set(shop, ON, reference_currency="USD", rates={"GBP": "0.9"})


@pytest.fixture(scope="module")
def pounds(shop: Business, current: Bank) -> Bank:
    return Bank(shop, open_account(shop))


@dataclass(frozen=True)
class Abroad:
    """A business with a bank account in dollars."""

    shop: Business
    ledger: Ledger
    dollars: Bank


@pytest.fixture
def abroad(api_server: ApiServer, shop: Business) -> Iterator[Abroad]:
    """Open a business of its own, whose books are proved at the end."""
    other = shop.partner.business()
    dollars = Bank(other, open_account(other, currency="USD"))
    yield Abroad(other, Ledger(api_server, other), dollars)
    Ledger(api_server, other).audit()


def card(shop: Business, buyer: Record, total: int, rate: float, fee: int = 0) -> Record:
    """Record a card payment in dollars."""
    return by_card(shop, buyer, total, fee, currency="USD", exchange_rate=rate)


def two_cards(shop: Business, buyer: Record) -> tuple[Record, Record]:
    """Record the two items of the example."""
    return card(shop, buyer, 10_000, 0.9, 300), card(shop, buyer, 5_000, 0.96, 150)


def example(shop: Business, *cards: Record, **facts: Any) -> Record:
    return paid_out(shop, 14_550, *cards, **{"base_amount_cents": 13_700, **facts})


def clearing(ledger: Ledger) -> tuple[int, int]:
    """Return the own and the base balance of dollars on clearing."""
    [(own, base)] = ledger.ask(_CLEARING)
    return own, base


def amounts(payout: Record) -> tuple[Any, ...]:
    names = ("currency", "paid_out_amount_cents", "base_amount_cents", "exchange_rate")
    return tuple(payout[name] for name in names)


class TestCreatePayout:
    def test_items_leave_clearing_at_their_own_base(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = clearing(ledger)
        payout = example(shop, *two_cards(shop, buyer))
        assert amounts(payout) == ("USD", 14_550, 13_700, 0.941580756014)
        assert (payout["fee_cents"], payout["amount_variance_cents"]) == (450, 0)
        assert payout["gross_payments_amount_cents"] == 15_000
        posted = {"1100": 13_700, CLEARING: -13_386, GAINS: -314}
        assert ledger.postings(payout) == [(ON, posted)]
        assert clearing(ledger) == before
        assert read(shop, payout) == payout

    def test_all_else_converts_at_its_rate(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        items = [
            {"type": "chargeback", "amount_cents": -1_000},
            {"type": "dispute_fee", "amount_cents": -1_200, "tax_code": "P20"},
            {"type": "adjustment", "amount_cents": 100, "account": "4600"},
        ]
        facts = {"fee_cents": 300, "additional_refunds_amount_cents": 500, "other_items": items}
        before = clearing(ledger)
        given = {**facts, "exchange_rate": 0.95}
        payout = paid_out(shop, 6_900, card(shop, buyer, 10_000, 0.9), **given)
        costs = {"6100": 285 + 950, "1300": 190, "4100": 475, "6150": 950}
        # What stays is the variance of -2.00, worth 1.90.
        posted = {"1100": 6_555, **costs, "4600": -95, CLEARING: -9_000 + 190, GAINS: -500}
        assert ledger.postings(payout) == [(ON, posted)]
        assert payout["amount_variance_cents"] == -200
        own, base = before
        assert clearing(ledger) == (own + 200, base + 190)

    def test_without_a_rate_it_has_that_of_the_table(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payout = paid_out(shop, 10_000, card(shop, buyer, 10_000, 0.98))
        assert amounts(payout) == ("USD", 10_000, 9_000, 0.9)
        posted = {"1100": 9_000, LOSSES: 800, CLEARING: -9_800}
        assert ledger.postings(payout) == [(ON, posted)]

    def test_nothing_paid_out_has_a_rate(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        item = card(shop, buyer, 100, 0.9)
        body = payout_body(0, item, fee_cents=100)
        fault = ledger.refused("POST", PAYOUTS, json={**body, "base_amount_cents": 5})
        assert fault == (422, "exchange_rate_mismatch")
        payout = shop.made(PAYOUTS, {**body, "exchange_rate": 0.95})
        assert amounts(payout) == ("USD", 0, 0, 0.95)
        assert ledger.postings(payout) == [(ON, {"6100": 95, CLEARING: -90, GAINS: -5})]

    def test_money_that_the_processor_takes(self, shop: Business, ledger: Ledger) -> None:
        payout = paid_out(shop, -1_000, currency="USD", fee_cents=1_000, base_amount_cents=-900)
        assert amounts(payout) == ("USD", -1_000, -900, 0.9)
        assert ledger.postings(payout) == [(ON, {"6100": 900, "1100": -900})]

    def test_a_refund_is_taken_off_at_its_own_base(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        bought = paid(shop, buyer, 2_000, currency="USD", exchange_rate=0.9)
        means = {"method": "CREDIT_CARD", "processor": "Stripe", "exchange_rate": 0.98}
        at = "2025-03-20T10:00:00Z"
        [back] = refunded(shop, bought, completed_at=at, **means)["refund_payments"]
        assert back["base_amount_cents"] == 1_960
        item = card(shop, buyer, 10_000, 0.9)
        payout = paid_out(shop, 8_000, item, back, exchange_rate=0.95)
        assert payout["total_refunds_amount_cents"] == 2_000
        posted = {"1100": 7_600, CLEARING: -9_000 + 1_960, GAINS: -560}
        assert ledger.postings(payout) == [(ON, posted)]

    def test_it_is_paid_to_the_oldest_account_of_its_currency(self, abroad: Abroad) -> None:
        shop, dollars = abroad.shop, abroad.dollars
        payout = example(shop, *two_cards(shop, shop.customer()))
        posted = {dollars.code: 13_700, CLEARING: -13_386, GAINS: -314}
        assert abroad.ledger.postings(payout) == [(ON, posted)]
        assert left(dollars.match(dollars.line(14_551), PAYOUT, payout)) == (14_550, 0, 1)
        assert read(shop, payout)["reconciliation_status"] == "fully_reconciled"

    def test_it_may_name_an_account_in_base(self, abroad: Abroad) -> None:
        pounds = Bank(abroad.shop, open_account(abroad.shop))
        facts = {"currency": "USD", "exchange_rate": 1, "bank_account_id": pounds.account["id"]}
        payout = paid_out(abroad.shop, 5, **facts)
        assert abroad.ledger.postings(payout) == [(ON, {pounds.code: 5, CLEARING: -5})]

    def test_an_adjustment_may_be_on_an_account_of_its_currency(self, abroad: Abroad) -> None:
        other = Bank(abroad.shop, open_account(abroad.shop, currency="USD"))
        item = {"type": "adjustment", "amount_cents": 100, "account": other.code}
        facts = {"currency": "USD", "exchange_rate": 0.95, "other_items": [item]}
        payout = paid_out(abroad.shop, 100, **facts)
        posted = {abroad.dollars.code: 95, other.code: -95}
        assert abroad.ledger.postings(payout) == [(ON, posted)]

    def test_unfit_currencies_and_rates_are_refused(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        item, other = card(shop, buyer, 100, 0.9), by_card(shop, buyer)
        kronor = open_account(shop, currency="SEK")["id"]
        whole = payout_body(100, item)
        for facts, code in (
            (payout_body(200, item, other), "currency_mismatch"),
            ({**whole, "currency": "GBP"}, "currency_mismatch"),
            ({**whole, "currency": "SEK", "exchange_rate": 1}, "currency_mismatch"),
            (payout_body(100, other, currency="USD"), "currency_mismatch"),
            ({**whole, "bank_account_id": kronor}, "bank_account_currency_mismatch"),
            ({**whole, "exchange_rate": 0.9, "base_amount_cents": 91}, "exchange_rate_mismatch"),
            ({**whole, "completed_at": "2025-05-01T06:00:00Z"}, "exchange_rate_missing"),
            (payout_body(100, other, exchange_rate=0.9), "exchange_rate_not_needed"),
        ):
            assert ledger.refused("POST", PAYOUTS, json=facts) == (422, code), facts


class TestUpdateOfPayouts:
    def test_a_corrected_base_moves_only_exchange(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        cards, known = two_cards(shop, buyer), {"external_id": "base"}
        payout = example(shop, *cards, **known)
        after = upserted(shop, payout_body(14_550, *cards, **known, base_amount_cents=13_800))
        assert amounts(after) == ("USD", 14_550, 13_800, 0.948453608247)
        assert ledger.postings(payout)[1:] == [(ON, {"1100": 100, GAINS: -100})]

    def test_a_changed_amount_keeps_the_rate(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        item, known = card(shop, buyer, 10_000, 0.9), {"external_id": "amount"}
        payout = paid_out(shop, 10_000, item, **known, exchange_rate=0.95)
        after = upserted(shop, payout_body(9_000, item, **known))
        assert amounts(after) == ("USD", 9_000, 8_550, 0.95)
        # What stays is worth the rate of the payout, so exchange does not change.
        assert ledger.postings(payout)[1:] == [(ON, {CLEARING: 950, "1100": -950})]

    def test_an_equal_update_changes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        cards = two_cards(shop, buyer)
        made = example(shop, *cards, external_id="same")
        shown = {name: made[name] for name in ("exchange_rate", "base_amount_cents", "currency")}
        with ledger.untouched():
            for given in ({}, shown):
                body = payout_body(14_550, *cards, external_id="same", **given)
                assert upserted(shop, body) == made

    def test_an_item_that_leaves_takes_its_base(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first, second = two_cards(shop, buyer)
        payout = example(shop, first, second, external_id="leaves")
        after = upserted(shop, payout_body(14_550, first, external_id="leaves"))
        assert (after["payment_count"], after["amount_variance_cents"]) == (1, 5_000)
        # The fee of 1.50 and what was paid out too much, 50.00, have the rate of the payout.
        change = {"6100": 141, CLEARING: 4_656 - 4_708, GAINS: -89}
        assert ledger.postings(payout)[1:] == [(ON, change)]

    def test_its_currency_stays(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        paid_out(shop, 100, card(shop, buyer, 100, 0.9), external_id="stays")
        body = payout_body(100, external_id="stays", currency="SEK", exchange_rate=1)
        assert ledger.refused("POST", PAYOUTS, json=body) == (422, "immutable_field")

    def test_a_failed_or_deleted_one_is_taken_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before, cards = clearing(ledger), two_cards(shop, buyer)
        own, base = before
        payout = example(shop, *cards, external_id="back")
        upserted(shop, payout_body(14_550, *cards, external_id="back", status="failed"))
        posted = {"1100": -13_700, CLEARING: 13_386, GAINS: 314}
        assert ledger.postings(payout)[1:] == [(TODAY, posted)]
        assert clearing(ledger) == (own + 14_550, base + 13_386)
        again = example(shop, *cards)
        assert shop.api.delete(f"{PAYOUTS}{again['id']}/").status_code == 200
        assert clearing(ledger) == (own + 14_550, base + 13_386)


class TestItemsThatBounce:
    def test_an_item_is_taken_out_on_its_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        own, base = clearing(ledger)
        first, second = two_cards(shop, buyer)
        payout = example(shop, first, second)
        moved(shop, second, "failed")
        assert ledger.postings(payout)[1:] == [(TODAY, {"6100": 141, CLEARING: -52, GAINS: -89})]
        assert clearing(ledger) == (own - 5_000, base - 4_708)
        assert read(shop, payout)["amount_variance_cents"] == 5_000
        moved(shop, second, "completed")
        assert ledger.postings(payout)[2:] == [(TODAY, {GAINS: 89, CLEARING: 52, "6100": -141})]
        assert clearing(ledger) == (own, base)

    def test_an_item_keeps_its_base(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        item = card(shop, buyer, 100, 0.9)
        paid_out(shop, 100, item)
        for changes in ({"exchange_rate": 0.91}, {"base_amount_cents": 91}):
            fault = ledger.refused("PATCH", f"{PAYMENTS}{item['id']}/", json=changes)
            assert fault == (409, "in_payout")


class TestMatchBankTransaction:
    def test_a_line_in_base_shows_a_payout_with_a_difference(
        self, shop: Business, ledger: Ledger, buyer: Record, pounds: Bank
    ) -> None:
        payout = example(shop, *two_cards(shop, buyer), external_id="shown")
        first, line = pounds.line(1_000), pounds.line(12_650)
        pounds.done(first, "match", {**matching(PAYOUT, payout), "target_amount_cents": 1_000})
        assert read(shop, payout)["reconciliation_status"] == "partially_reconciled"
        # USD 10.00 are worth 9.42, and the rest 127.58.
        assert ledger.postings(first) == [("2025-03-12", {pounds.code: 58, GAINS: -58})]
        pounds.match(line, PAYOUT, payout)
        assert ledger.postings(line) == [("2025-03-12", {LOSSES: 108, pounds.code: -108})]
        assert read(shop, payout)["reconciliation_status"] == "fully_reconciled"
        body = payout_body(14_550, external_id="shown", base_amount_cents=13_650)
        assert ledger.refused("POST", PAYOUTS, json=body) == (409, "payout_reconciled")
        with ledger.moving() as moves:
            pounds.unmatch(line)
        assert moves == {pounds.code: 108, LOSSES: -108}

    def test_a_pending_one_is_paid_at_its_own_rate(
        self, shop: Business, ledger: Ledger, buyer: Record, pounds: Bank
    ) -> None:
        payout = example(shop, *two_cards(shop, buyer), status="pending")
        assert ledger.postings(payout) == []
        line = pounds.line(13_710, date="2025-04-01")
        part = {**matching(PAYOUT, payout), "target_amount_cents": 14_000}
        with ledger.untouched():
            assert pounds.refused(line, "match", part) == (409, "item_not_completed")
        pounds.match(line, PAYOUT, payout)
        posted = {pounds.code: 13_700, CLEARING: -13_386, GAINS: -314}
        assert ledger.postings(payout) == [(ON, posted)]
        assert ledger.postings(line) == [("2025-04-01", {pounds.code: 10, GAINS: -10})]
        shown = read(shop, payout)
        assert (shown["status"], shown["completed_at"]) == ("paid", AT)
