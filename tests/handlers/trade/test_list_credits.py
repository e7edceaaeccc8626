"""The lists of credits of both sides, and one of each: what is shown, filtered, sorted, paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.trade import NOBODY, PURCHASES, SALES, Record, Trade, read
from tests.clock import today
from tests.partner import Business, Partner

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = {"draft", "{opened}", "partially_applied", "applied", "void"}
Statuses = dict[str, Record]


@pytest.fixture(scope="class")
def every_status(request: pytest.FixtureRequest, own_shop: Business) -> Statuses:
    """One credit in every status, the oldest moment on the void one."""
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
    return {**made, "void": voided.json()}


def listed(own_shop: Business, trade: Trade, **asked: Any) -> list[Record]:
    answer = own_shop.api.get(trade.credits, params=asked)
    assert answer.status_code == 200, answer.text
    shown: list[Record] = answer.json()["results"]
    return shown


def found(own_shop: Business, trade: Trade, every_status: Statuses, **asked: Any) -> set[str]:
    """The statuses of what is listed, which are as many as the list counts."""
    names = {record["id"]: name for name, record in every_status.items()}
    answer = own_shop.api.get(trade.credits, params=asked)
    assert answer.status_code == 200, answer.text
    shown = {names[each["id"]] for each in answer.json()["results"]}
    assert answer.json()["count"] == len(shown)
    return shown


class Listing:
    """list_customer_credits and list_vendor_credits; what is in braces is a word of the trade."""

    def test_the_status_shown_is_the_status_filtered_by(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        shown = {each["id"]: each["status"] for each in listed(own_shop, trade)}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name in every_status:
            assert found(own_shop, trade, every_status, status=name) == {name}
        two = {"applied", "draft"}
        assert found(own_shop, trade, every_status, status=",".join(two)) == two
        every = ",".join(every_status)
        assert found(own_shop, trade, every_status, status=every) == every_status.keys()

    def test_a_list_shows_what_a_single_read_shows(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        for shown in listed(own_shop, trade):
            assert read(own_shop, trade.credits, shown) == shown
            assert shown["line_items"]

    @pytest.mark.parametrize(
        ("asked", "names"),
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
            ({"search": "nothing of it"}, set()),
            ({"updated_at_from": "2020-01-01T00:00:00Z", "status": "void"}, {"void"}),
            ({"status": "{opened},void", "search": "ann"}, {"void"}),
        ],
    )  # fmt: skip
    def test_filters_take_what_fits(
        self,
        own_shop: Business,
        trade: Trade,
        every_status: Statuses,
        asked: Record,
        names: set[str],
    ) -> None:
        wanted = {trade.named(name) for name in names}
        assert found(own_shop, trade, every_status, **trade.named(asked)) == wanted

    def test_its_own_number_is_searched_too(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        numbered = every_status.keys() - {"draft", "void"}
        series = f"{trade.credit_series}00000".lower()
        assert found(own_shop, trade, every_status, search=series) == numbered

    def test_filters_by_parties_and_source_document_select_credits(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        field = f"{trade.party}_id"
        own, other = (every_status[name][field] for name in ("draft", "void"))
        for ids, names in (
            (own, every_status.keys() - {"applied", "void"}),
            (f"{own},{other}", every_status.keys()),
            (f"{NOBODY},{other}", {"applied", "void"}),
        ):
            assert found(own_shop, trade, every_status, **{field: ids}) == names
        source = {trade.source: every_status[trade.opened][trade.source]}
        assert found(own_shop, trade, every_status, **source) == {trade.opened}
        # Settling a document is not coming from it.
        [settled] = every_status["applied"]["allocations"]
        source = {trade.source: settled[f"{trade.noun}_id"]}
        assert found(own_shop, trade, every_status, **source) == set()

    @pytest.mark.parametrize("sort", ["{moment}", "created_at", "total_amount", "{credit_number}"])
    def test_credits_are_sorted_by_the_named_field(
        self, own_shop: Business, trade: Trade, every_status: Statuses, sort: str
    ) -> None:
        sort = trade.named(sort)
        shown = listed(own_shop, trade, sort=sort)
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in shown]
        assert keys == sorted(keys)
        assert len(keys) == len(every_status)

    def test_the_latest_comes_first_and_drafts_last(
        self, own_shop: Business, trade: Trade, every_status: Statuses
    ) -> None:
        order = ("applied", "partially_applied", trade.opened, "void", "draft")
        shown = [each["id"] for each in listed(own_shop, trade)]
        assert shown == [every_status[name]["id"] for name in order]

    def test_a_released_application_is_not_shown(self, acme: Partner, trade: Trade) -> None:
        shop = acme.business()
        party = trade.somebody(shop)
        credit = trade.credit(shop, party, 9, trade.share(trade.open(shop, party), 9))
        shop.api.put(trade.of_credit(credit), json={"allocations": []})
        [shown] = listed(shop, trade)
        assert (shown["status"], shown["applied_amount"]) == (trade.opened, 0)
        assert shown["allocations"] == []


class TestListCustomerCredits(Listing):
    trade = SALES


class TestListVendorCredits(Listing):
    trade = PURCHASES


class Getting:
    """get_customer_credit and get_vendor_credit."""

    def test_an_application_shows_the_current_balance_of_its_document(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        document, left = trade.open(shop, party), f"{trade.noun}_outstanding_balance_cents"
        credit = trade.credit(shop, party, 300, trade.share(document, 300))
        assert credit["allocations"][0][left] == 700
        trade.pay(shop, party, 600, trade.part(document, 600))
        answer = shop.api.get(trade.of_credit(credit))
        [allocation] = answer.json()["allocations"]
        assert allocation[left] == 100
        # The credit itself did not change.
        assert answer.headers["etag"] == '"1"'
        assert answer.json()["updated_at"] == credit["updated_at"]


class TestGetCustomerCredit(Getting):
    trade = SALES


class TestGetVendorCredit(Getting):
    trade = PURCHASES
