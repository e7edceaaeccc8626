"""Lists of customers and vendors, and single ones: fields, filters, order and pages."""

from typing import Any

import pytest

from tests.builders.sales import REFUNDS as SALES_REFUNDS
from tests.builders.sales import refunded
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed_refund
from tests.builders.vendor_refunds import REFUNDS as VENDOR_REFUNDS
from tests.handlers.trade.side import Side
from tests.partner import Business, Partner

# Fields of one side alone, of the third and the second party of the crowd.
OWN: dict[str, tuple[Record, Record]] = {
    "customer": ({"reference_number": "R\\7"}, {"notes": "likes_tea"}),
    "vendor": ({"memo": "door", "status": "BLOCKED"}, {"memo": "100%"}),
}


@pytest.fixture(scope="class")
def crowd(request: pytest.FixtureRequest, acme: Partner) -> Business:
    """A business with three active parties, an archived one, and one of the other side."""
    trade: Trade = request.cls.trade
    business = acme.business()
    first = {"company_name": "Blue Door 100%", "individual_name": "Ada"}
    trade.somebody(business, external_id="k-1", email="A@Example.com", **first)
    person = {"external_id": "k-2", "individual_name": "maya"}
    second = business.made(trade.parties, person)
    third = trade.somebody(business, external_id="K-3", company_name="amber")
    for party, facts in zip((third, second), OWN[trade.party], strict=True):
        business.api.patch(trade.of_party(party), json=facts)
    gone = trade.somebody(business, external_id="k_4", company_name="Old Door")
    business.api.post(trade.of_party(gone, "archive"))
    trade.other_side.somebody(business, external_id="k-5", **first)
    return business


def external_ids(business: Business, trade: Trade, **filters: Any) -> list[str]:
    query = {"sort": "created_at", **filters}
    shown = business.api.get(trade.parties, params=query).json()
    assert shown["count"] == len(shown["results"])
    return [each["external_id"] for each in shown["results"]]


class Listing:
    """list_customers and list_vendors."""

    def test_every_filter_finds_what_it_says(self, crowd: Business, trade: Trade) -> None:
        for filters, expected in (
            ({}, ["k-1", "k-2", "K-3"]),
            ({"include_archived": "true"}, ["k-1", "k-2", "K-3", "k_4"]),
            ({"include_archived": "false"}, ["k-1", "k-2", "K-3"]),
            ({"external_id": "k-3"}, []),
            ({"external_id": "K-3"}, ["K-3"]),
            ({"external_id": "k_4"}, []),
            ({"external_id": "k_4", "include_archived": "true"}, ["k_4"]),
            ({"external_id_contains": "k-"}, ["k-1", "k-2", "K-3"]),
            ({"external_id_contains": "K-3"}, ["K-3"]),
            ({"external_id_contains": "_", "include_archived": "true"}, ["k_4"]),
            ({"name": "maya"}, ["k-2"]),
            ({"name": "Maya"}, []),
            ({"name": "Ada"}, ["k-1"]),
            ({"name": "Blue Door 100%"}, ["k-1"]),
            ({"name": "Blue"}, []),
            ({"name_contains": "DOOR"}, ["k-1"]),
            ({"name_contains": "door", "include_archived": "true"}, ["k-1", "k_4"]),
            ({"name_contains": "%"}, ["k-1"]),
            ({"name_contains": "MAY"}, ["k-2"]),
            ({"name_contains": "aD"}, ["k-1"]),
            ({"name_contains": "a", "external_id_contains": "2"}, ["k-2"]),
            ({"status": "ARCHIVED"}, ["k_4"]),
            ({"email": "a@EXAMPLE.com"}, ["k-1"]),
            ({"email": "a@example"}, []),
            ({"search": "example.com"}, ["k-1"]),
            ({"search": "MAYA"}, ["k-2"]),
            ({"search": "k-3"}, ["K-3"]),
            ({"search": "door", "email": "nobody@example.com"}, []),
        ):
            assert external_ids(crowd, trade, **filters) == expected, filters

    def test_sorts_by_what_it_says_and_names_in_any_case(
        self, crowd: Business, trade: Trade
    ) -> None:
        for sort, expected in (
            ("name", ["K-3", "k-1", "k-2"]),
            ("-name", ["k-2", "k-1", "K-3"]),
            ("created_at", ["k-1", "k-2", "K-3"]),
            ("-updated_at", ["k-2", "K-3", "k-1"]),
        ):
            assert external_ids(crowd, trade, sort=sort) == expected, sort
        newest_first = crowd.api.get(trade.parties).json()["results"]
        assert [each["external_id"] for each in newest_first] == ["K-3", "k-2", "k-1"]

    def test_a_cursor_skips_nothing_when_rows_are_added(self, acme: Partner, trade: Trade) -> None:
        business = acme.business()
        made = [trade.somebody(business)["id"] for _ in range(3)]
        first = business.api.get(f"{trade.parties}?page_size=2").json()
        trade.somebody(business)
        query = {"page_size": 2, "cursor": first["page_info"]["next_cursor"]}
        rest = business.api.get(trade.parties, params=query).json()
        shown = [each["id"] for page in (first, rest) for each in page["results"]]
        assert shown == made[::-1]


class TestListCustomers(Listing):
    trade = SALES

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"status": "ACTIVE"}, ["k-1", "k-2", "K-3"]),
            ({"status": "ACTIVE", "include_archived": "true"}, ["k-1", "k-2", "K-3"]),
            ({"search": "_"}, ["k-2"]),
            ({"search": "r\\"}, ["K-3"]),
            ({"search": "door", "include_archived": "true"}, ["k-1", "k_4"]),
        ],
    )
    def test_finds_by_status_and_in_its_own_texts(
        self, crowd: Business, filters: Record, expected: list[str]
    ) -> None:
        assert external_ids(crowd, SALES, **filters) == expected


class TestListVendors(Listing):
    trade = PURCHASES

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"status": "ACTIVE"}, ["k-1", "k-2"]),
            ({"status": "BLOCKED"}, ["K-3"]),
            ({"status": "BLOCKED", "include_archived": "true"}, ["K-3"]),
            ({"status": "INACTIVE"}, []),
            ({"search": "100%"}, ["k-1", "k-2"]),
            ({"search": "door", "include_archived": "true"}, ["k-1", "K-3", "k_4"]),
        ],
    )
    def test_finds_by_status_and_in_its_own_texts(
        self, crowd: Business, filters: Record, expected: list[str]
    ) -> None:
        assert external_ids(crowd, PURCHASES, **filters) == expected


@pytest.mark.parametrize("trade", [SALES, PURCHASES], ids=["sales", "purchases"])
def test_an_external_id_selects_the_records_of_its_party(trade: Trade, acme: Partner) -> None:
    shop = acme.business()
    lists = [trade.path, trade.payments, trade.credits]
    for external_id in ("ours", "theirs"):
        party = trade.somebody(shop, external_id=external_id)
        trade.open(shop, party)
        trade.credit(shop, party, 500)
        payment = trade.pay(shop, party, 2_000)
        if trade.sells:
            refunded(shop, payment)
        else:
            agreed_refund(shop, party, 700)
    lists += [SALES_REFUNDS] if trade.sells else [VENDOR_REFUNDS, REFUND_PAYMENTS]
    for path in lists:
        answer = shop.api.get(path, params={f"{trade.party}_external_id": "ours"}).json()
        every = shop.api.get(path).json()
        assert (answer["count"], every["count"]) == (1, 2), path


class SingleRead:
    """get_customer and get_vendor."""

    def test_is_possible_whatever_its_status(self, side: Side) -> None:
        made = side.somebody()
        archived = side.api.post(side.trade.of_party(made, "archive")).json()
        answer = side.api.get(side.trade.of_party(made))
        assert (answer.status_code, answer.json()) == (200, archived)
        assert answer.headers["etag"] == '"2"'

    def test_shows_what_is_outstanding_on_open_documents(self, side: Side) -> None:
        side = side.with_new_party(external_id="owed")
        path = side.trade.of_party(side.counterparty)
        side.draft()
        assert side.api.get(path).json()["outstanding_balance"] == 0
        document = side.open(5_000)
        side.open(300)
        side.pay(2_000, side.trade.part(document, 1_000))
        side.credit(500)
        assert side.api.get(path).json()["outstanding_balance"] == 4_300
        [listed] = side.api.get(side.trade.parties, params={"external_id": "owed"}).json()[
            "results"
        ]
        assert listed["outstanding_balance"] == 4_300


class TestGetCustomer(SingleRead):
    trade = SALES


class TestGetVendor(SingleRead):
    trade = PURCHASES
