"""Lists of credits of both sides, and single credits: fields, filters, order and pages."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.trade import NOBODY, PURCHASES, SALES, Record, Trade, read
from tests.clock import today
from tests.handlers.trade.named_records import NamedRecords
from tests.handlers.trade.side import Side
from tests.partner import Business, Partner

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = {"draft", "{opened}", "partially_applied", "applied", "void"}


@pytest.fixture(scope="class")
def credits(request: pytest.FixtureRequest, own_shop: Business) -> NamedRecords:
    """A credit in every status; the void one has the oldest time."""
    trade: Trade = request.cls.trade
    one = trade.somebody(own_shop, company_name="Tall Ship", external_id="tall-ship")
    other = own_shop.made(trade.parties, {"individual_name": "Ann Boat"})
    first, second = trade.open(own_shop, one, 900), trade.open(own_shop, other, 500)

    def credit(party: Record, total: int, moment: str, *shares: Record, **facts: Any) -> Record:
        return trade.credit(own_shop, party, total, *shares, **{trade.moment: moment}, **facts)

    shares = trade.share(first, 250), trade.share(second, 400)
    named = {"external_id": "fifty_%", trade.source: first["id"]}
    number = {trade.credit_number: "Nota/7"}
    draft = trade.credit_body(one, {"amount": 900}, memo="Harbour dues")
    made = {
        "draft": own_shop.made(trade.credits, draft),
        trade.opened: credit(one, 200, "2025-03-05T09:00:00Z", **named),
        "partially_applied": credit(one, 300, "2025-03-06T00:00:00Z", shares[0]),
        "applied": credit(other, 400, "2025-03-07T12:00:00+02:00", shares[1]),
        "void": credit(other, 400, "2025-03-04T00:00:00Z", **number),
    }
    voided = own_shop.api.post(trade.of_credit(made["void"], "void"))
    assert voided.status_code == 200, voided.text
    return NamedRecords(own_shop, trade.credits, {**made, "void": voided.json()})


class Listing:
    """list_customer_credits and list_vendor_credits; braces contain a word of the trade."""

    def test_the_status_shown_is_the_status_filtered_by(self, credits: NamedRecords) -> None:
        shown = {row["id"]: row["status"] for row in credits.rows()}
        assert shown == {record["id"]: name for name, record in credits.records.items()}
        for names in (*([name] for name in credits.records), ["applied", "draft"], credits.records):
            assert set(credits.names(status=",".join(names))) == set(names)

    def test_a_list_shows_what_a_single_read_shows(self, credits: NamedRecords) -> None:
        for row in credits.rows():
            assert read(credits.shop, credits.path, row) == row
            assert row["line_items"]

    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ({"{moment}_from": "2025-03-05T09:00:00Z"},
             {"{opened}", "partially_applied", "applied"}),
            ({"{moment}_from": "2025-03-05T09:00:01Z"}, {"partially_applied", "applied"}),
            ({"{moment}_to": "2025-03-05T09:00:00Z"}, {"void", "{opened}"}),
            ({"{moment}_to": "2025-03-05T08:59:59Z"}, {"void"}),
            ({"{moment}_from": "2025-03-07T10:00:00Z", "{moment}_to": "2025-03-07T10:00:00Z"},
             {"applied"}),
            ({"{moment}_from": "2000-01-01T00:00:00Z"}, STATUSES - {"draft"}),
            ({"{moment}_to": LATER}, STATUSES - {"draft"}),
            ({"external_id": "fifty_%"}, {"{opened}"}),
            ({"external_id": "fifty"}, set()),
            ({"{party}_external_id": "tall-ship"}, {"draft", "{opened}", "partially_applied"}),
            ({"{party}_external_id": "tall"}, set()),
            ({"search": "FTY_%"}, {"{opened}"}),
            ({"search": "fifty.%"}, set()),
            ({"search": "ota/7"}, {"void"}),
            ({"search": "harbour"}, {"draft"}),
            ({"search": "ALL SH"}, {"draft", "{opened}", "partially_applied"}),
            ({"search": "ann"}, {"applied", "void"}),
            ({"search": "no such text"}, set()),
            ({"updated_at_from": "2020-01-01T00:00:00Z", "status": "void"}, {"void"}),
            ({"status": "{opened},void", "search": "ann"}, {"void"}),
        ],
    )  # fmt: skip
    def test_filters_take_what_fits(
        self, credits: NamedRecords, trade: Trade, query: Record, names: set[str]
    ) -> None:
        expected = {trade.named(name) for name in names}
        assert set(credits.names(**trade.named(query))) == expected

    def test_its_own_number_is_searched_too(self, credits: NamedRecords, trade: Trade) -> None:
        series = f"{trade.credit_series}00000".lower()
        expected = credits.records.keys() - {"draft", "void"}
        assert set(credits.names(search=series)) == expected

    def test_filters_by_parties_and_source_document_select_credits(
        self, credits: NamedRecords, trade: Trade
    ) -> None:
        records = credits.records
        own, other = (records[name][f"{trade.party}_id"] for name in ("draft", "void"))
        for ids, names in (
            (own, records.keys() - {"applied", "void"}),
            (f"{own},{other}", records.keys()),
            (f"{NOBODY},{other}", {"applied", "void"}),
        ):
            assert set(credits.names(**{f"{trade.party}_id": ids})) == names
        source = records[trade.opened][trade.source]
        assert credits.names(**{trade.source: source}) == [trade.opened]
        # The document that a credit settles is not its source.
        [settled] = records["applied"]["allocations"]
        assert credits.names(**{trade.source: settled[f"{trade.noun}_id"]}) == []

    @pytest.mark.parametrize("sort", ["{moment}", "created_at", "total_amount", "{credit_number}"])
    def test_credits_are_sorted_by_the_named_field(
        self, credits: NamedRecords, trade: Trade, sort: str
    ) -> None:
        sort = trade.named(sort)
        shown = credits.rows(sort=sort)
        keys = [(row[sort] is not None, row[sort] or "", row["id"]) for row in shown]
        assert keys == sorted(keys)
        assert len(keys) == len(credits.records)

    def test_the_latest_comes_first_and_drafts_last(
        self, credits: NamedRecords, trade: Trade
    ) -> None:
        order = ["applied", "partially_applied", trade.opened, "void", "draft"]
        assert credits.names() == order

    def test_a_released_application_is_not_shown(self, acme: Partner, trade: Trade) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        credit = trade.credit(shop, party, 9, trade.share(trade.open(shop, party), 9))
        shop.api.put(trade.of_credit(credit), json={"allocations": []})
        [shown] = shop.api.get(trade.credits).json()["results"]
        assert (shown["status"], shown["applied_amount"]) == (trade.opened, 0)
        assert shown["allocations"] == []


class TestListCustomerCredits(Listing):
    trade = SALES


class TestListVendorCredits(Listing):
    trade = PURCHASES


class SingleRead:
    """get_customer_credit and get_vendor_credit."""

    def test_an_application_shows_the_current_balance_of_its_document(self, side: Side) -> None:
        document, left = side.open(), f"{side.trade.noun}_outstanding_balance_cents"
        credit = side.credit(300, side.trade.share(document, 300))
        assert credit["allocations"][0][left] == 700
        side.pay(600, side.trade.part(document, 600))
        answer = side.api.get(side.trade.of_credit(credit))
        [allocation] = answer.json()["allocations"]
        assert allocation[left] == 100
        # The credit itself did not change.
        assert answer.headers["etag"] == '"1"'
        assert answer.json()["updated_at"] == credit["updated_at"]


class TestGetCustomerCredit(SingleRead):
    trade = SALES


class TestGetVendorCredit(SingleRead):
    trade = PURCHASES
