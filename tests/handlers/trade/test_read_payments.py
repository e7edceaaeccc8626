"""Lists of payments of either side: fields, filters and order."""

from typing import Any

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade, read
from tests.handlers.trade.named_records import NamedRecords
from tests.partner import Business

OWN: dict[Trade, dict[str, Record]] = {
    SALES: {
        "other": {"payment_method": "stripe", "processor_reference": "ch_12%"},
        "waiting": {"bank_reference": "B-9", "references": {"e2e": 'RF"18%'}},
    },
    PURCHASES: {"other": {"check_number": "C-77"}, "waiting": {}},
}
"""Fields of one side alone, by payment."""
NAMES = {"early", "whole", "half", "other", "waiting", "gone"}


@pytest.fixture(scope="class")
def payments(request: pytest.FixtureRequest, own_shop: Business) -> NamedRecords:
    """A few payments, each with a distinct property."""
    trade: Trade = request.cls.trade
    one = trade.somebody(own_shop, company_name="Tall Ship")
    other = trade.somebody(own_shop, individual_name="Ann Bo")
    document = trade.open(own_shop, one, 1_000)

    def paid(party: Record, total: int, settled: int = 0, **facts: Any) -> Record:
        parts = [trade.part(document, settled)] if settled else []
        return trade.pay(own_shop, party, total, *parts, **facts)

    half = {trade.note: "Half of it", "payment_reference": "Run 7"}
    made = {
        "gone": paid(other, 700, status="failed", payment_date="2025-04-05"),
        "early": paid(one, 650, payment_date="2025-01-05", payment_method="cash"),
        "whole": paid(one, 300, 300, external_id="w-1"),
        "half": paid(one, 400, 200, **half),
        "other": paid(other, 500, **OWN[trade]["other"]),
        "waiting": paid(one, 600, 50, status="pending", **OWN[trade]["waiting"]),
    }
    return NamedRecords(own_shop, trade.payments, made)


class Listing:
    @pytest.mark.parametrize(
        ("query", "names"),
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
        self, payments: NamedRecords, query: Record, names: set[str]
    ) -> None:
        assert set(payments.names(**query)) == names

    def test_filters_by_document_and_party_select_payments(
        self, payments: NamedRecords, trade: Trade
    ) -> None:
        document, party = f"{trade.noun}_id", f"{trade.party}_id"
        settled = payments.records["whole"]["allocations"][0][document]
        assert set(payments.names(**{document: settled})) == {"whole", "half", "waiting"}
        other = payments.records["other"][party]
        assert set(payments.names(**{party: other})) == {"other", "gone"}

    def test_a_payment_in_the_list_is_the_payment_itself(self, payments: NamedRecords) -> None:
        for row in payments.rows():
            assert row == read(payments.shop, payments.path, row)

    @pytest.mark.parametrize("sort", ["payment_date", "amount", "created_at"])
    def test_payments_are_sorted_by_the_named_field(
        self, payments: NamedRecords, trade: Trade, sort: str
    ) -> None:
        field = trade.total if sort == "amount" else sort
        keys = [row[field] for row in payments.rows(sort=sort)]
        assert (len(keys), keys) == (len(NAMES), sorted(keys))

    def test_the_latest_payment_comes_first(self, payments: NamedRecords) -> None:
        first, *_, last = payments.names()
        assert (first, last) == ("gone", "early")


class TestListInvoicePayments(Listing):
    trade = SALES

    @pytest.mark.parametrize(
        ("query", "names"),
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
        self, payments: NamedRecords, query: Record, names: set[str]
    ) -> None:
        assert set(payments.names(**query)) == names


class TestListBillPayments(Listing):
    trade = PURCHASES

    def test_a_search_finds_check_numbers(self, payments: NamedRecords) -> None:
        assert payments.names(search="c-7") == ["other"]
