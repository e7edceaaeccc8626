"""The lists of payments of either side: what they show, how they are filtered and sorted."""

from typing import Any

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade
from tests.partner import Business

OWN: dict[Trade, dict[str, Record]] = {
    SALES: {
        "other": {"payment_method": "stripe", "processor_reference": "ch_12%"},
        "waiting": {"bank_reference": "B-9", "references": {"e2e": 'RF"18%'}},
    },
    PURCHASES: {"other": {"check_number": "C-77"}, "waiting": {}},
}
"""What one side alone says of some of them."""
NAMES = {"early", "whole", "half", "other", "waiting", "gone"}
Payments = dict[str, Record]


@pytest.fixture(scope="class")
def payments(request: pytest.FixtureRequest, own_shop: Business) -> Payments:
    """A few payments, each told apart by something else."""
    trade: Trade = request.cls.trade
    one = trade.somebody(own_shop, company_name="Tall Ship")
    other = trade.somebody(own_shop, individual_name="Ann Bo")
    document = trade.open(own_shop, one, 1_000)

    def paid(party: Record, total: int, settled: int = 0, **facts: Any) -> Record:
        parts = [trade.part(document, settled)] if settled else []
        return trade.pay(own_shop, party, total, *parts, **facts)

    half = {trade.note: "Half of it", "payment_reference": "Run 7"}
    return {
        "gone": paid(other, 700, status="failed", payment_date="2025-04-05"),
        "early": paid(one, 650, payment_date="2025-01-05", payment_method="cash"),
        "whole": paid(one, 300, 300, external_id="w-1"),
        "half": paid(one, 400, 200, **half),
        "other": paid(other, 500, **OWN[trade]["other"]),
        "waiting": paid(one, 600, 50, status="pending", **OWN[trade]["waiting"]),
    }


def found(own_shop: Business, trade: Trade, payments: Payments, **asked: Any) -> set[str]:
    """The names of the payments in a list."""
    answer = own_shop.api.get(trade.payments, params=asked)
    assert answer.status_code == 200, answer.text
    ids = [each["id"] for each in answer.json()["results"]]
    assert answer.json()["count"] == len(ids)
    return {name for name, payment in payments.items() if payment["id"] in ids}


class Listing:
    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, NAMES),
            ({"payment_date_from": "2025-03-11"}, {"gone"}),
            ({"payment_date_to": "2025-01-05"}, {"early"}),
            ({"payment_date_from": PAID, "payment_date_to": PAID, "max_amount": 399}, {"whole"}),
            ({"min_amount": 600, "max_amount": 600}, {"waiting"}),
            ({"payment_method": "cash"}, {"early"}),
            ({"status": "failed"}, {"gone"}),
            ({"is_fully_allocated": True}, {"whole"}),
            ({"is_fully_allocated": False}, NAMES - {"whole"}),
            ({"is_fully_allocated": False, "status": "pending"}, {"waiting"}),
            ({"external_id": "w-1"}, {"whole"}),
            ({"external_id": "w"}, set()),
            ({"search": "HALF OF"}, {"half"}),
            ({"search": "W-1"}, {"whole"}),
            ({"search": "run 7"}, {"half"}),
            ({"search": "tall"}, {"early", "whole", "half", "waiting"}),
            ({"search": "ann"}, {"other", "gone"}),
        ],
    )
    def test_filters_select_payments(
        self, own_shop: Business, trade: Trade, payments: Payments, asked: Record, names: set[str]
    ) -> None:
        assert found(own_shop, trade, payments, **asked) == names

    def test_filters_by_document_and_party_select_payments(
        self, own_shop: Business, trade: Trade, payments: Payments
    ) -> None:
        document, party = f"{trade.noun}_id", f"{trade.party}_id"
        of_document = {document: payments["whole"]["allocations"][0][document]}
        assert found(own_shop, trade, payments, **of_document) == {"whole", "half", "waiting"}
        of_party = {party: payments["other"][party]}
        assert found(own_shop, trade, payments, **of_party) == {"other", "gone"}

    def test_a_payment_in_the_list_is_the_payment_itself(
        self, own_shop: Business, trade: Trade, payments: Payments
    ) -> None:
        for shown in own_shop.api.get(trade.payments).json()["results"]:
            assert shown == own_shop.api.get(trade.of_payment(shown)).json()

    @pytest.mark.parametrize("sort", ["payment_date", "amount", "created_at"])
    def test_payments_are_sorted_by_the_named_field(
        self, own_shop: Business, trade: Trade, payments: Payments, sort: str
    ) -> None:
        rows = own_shop.api.get(trade.payments, params={"sort": sort}).json()["results"]
        keys = [each[trade.total if sort == "amount" else sort] for each in rows]
        assert (len(keys), keys) == (len(NAMES), sorted(keys))

    def test_the_latest_payment_comes_first(
        self, own_shop: Business, trade: Trade, payments: Payments
    ) -> None:
        results = own_shop.api.get(trade.payments).json()["results"]
        ends = results[0]["id"], results[-1]["id"]
        assert ends == (payments["gone"]["id"], payments["early"]["id"])


class TestListInvoicePayments(Listing):
    trade = SALES

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({"processor": "STRIPE"}, {"other"}),
            ({"status": "refunded"}, set()),
            ({"search": "ch_12%"}, {"other"}),
            ({"search": "b-9"}, {"waiting"}),
            ({"search": 'rf"18%'}, {"waiting"}),
            ({"search": "e2e"}, set()),
        ],
    )
    def test_filters_of_invoice_payments_select_payments(
        self, own_shop: Business, payments: Payments, asked: Record, names: set[str]
    ) -> None:
        assert found(own_shop, SALES, payments, **asked) == names


class TestListBillPayments(Listing):
    trade = PURCHASES

    def test_a_search_finds_check_numbers(self, own_shop: Business, payments: Payments) -> None:
        assert found(own_shop, PURCHASES, payments, search="c-7") == {"other"}
