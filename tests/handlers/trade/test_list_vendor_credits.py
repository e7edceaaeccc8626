"""list_vendor_credits and get_vendor_credit: what is shown, filtered, sorted and paged."""

from datetime import timedelta
from typing import Any

import pytest

from tests.builders.purchases import CREDITS, received, share, vendor_credit_body, vendor_credited
from tests.builders.trade import NOBODY, Record, read
from tests.clock import today
from tests.partner import Business

LATER = f"{today() + timedelta(days=40)}T00:00:00Z"
STATUSES = ("draft", "received", "partially_applied", "applied", "void")


@pytest.fixture(scope="module")
def every_status(drawer: Business) -> dict[str, Record]:
    """One credit in every status."""
    vendor = drawer.vendor(company_name="Tall Ship", external_id="tall-ship")
    other = drawer.vendor(company_name="Small Boat")
    bill = received(drawer, vendor, 1_000)
    named = {"source_bill_id": bill["id"]}
    made = {
        "draft": drawer.made(CREDITS, vendor_credit_body(vendor, memo="Harbour dues")),
        "received": vendor_credited(drawer, other, 200, external_id="fifty_five%"),
        "partially_applied": vendor_credited(drawer, vendor, 300, share(bill, 10), **named),
        "applied": vendor_credited(drawer, vendor, 400, share(bill, 400)),
        "void": vendor_credited(drawer, vendor, 500, vendor_credit_number="Theirs-5"),
    }
    drawer.api.post(f"{CREDITS}{made['void']['id']}/void/")
    return {**made, "bill": bill}


def found(drawer: Business, records: dict[str, Record], **asked: Any) -> set[str]:
    answer = drawer.api.get(CREDITS, params=asked)
    assert answer.status_code == 200, answer.text
    names = {records[name]["id"]: name for name in STATUSES}
    assert answer.json()["count"] == len(answer.json()["results"])
    return {names[each["id"]] for each in answer.json()["results"]}


class TestListVendorCredits:
    def test_the_status_shown_is_the_status_filtered_by(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        for name in STATUSES:
            assert found(drawer, every_status, status=name) == {name}
            assert read(drawer, CREDITS, every_status[name])["status"] == name
        assert found(drawer, every_status, status=",".join(STATUSES)) == set(STATUSES)

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, set(STATUSES)),
            ({"vendor_external_id": "tall-ship"}, set(STATUSES) - {"received"}),
            ({"vendor_id": NOBODY}, set()),
            ({"source_bill_id": NOBODY}, set()),
            ({"external_id": "fifty_five%"}, {"received"}),
            ({"received_at_start": "2000-01-01T00:00:00Z"}, set(STATUSES) - {"draft"}),
            ({"received_at_start": "2025-03-05T09:00:01Z"}, set()),
            ({"received_at_end": "2025-03-05T09:00:00Z"}, set(STATUSES) - {"draft"}),
            ({"search": "small"}, {"received"}),
            ({"search": "harbour"}, {"draft"}),
            ({"search": "THEIRS-"}, {"void"}),
            ({"created_at_gte": LATER}, set()),
            ({"created_at_lte": LATER}, set(STATUSES)),
            ({"updated_since": LATER}, set()),
        ],
    )
    def test_it_filters(
        self,
        drawer: Business,
        every_status: dict[str, Record],
        asked: Record,
        names: set[str],
    ) -> None:
        assert found(drawer, every_status, **asked) == names

    def test_it_finds_those_of_vendors_and_of_a_bill(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        bill, other = every_status["bill"], every_status["received"]["vendor_id"]
        assert found(drawer, every_status, vendor_id=other) == {"received"}
        both = f"{other},{bill['vendor_id']}"
        assert found(drawer, every_status, vendor_id=both) == set(STATUSES)
        assert found(drawer, every_status, source_bill_id=bill["id"]) == {"partially_applied"}

    @pytest.mark.parametrize(
        "sort", ["received_at", "created_at", "total_amount", "vendor_credit_number"]
    )
    @pytest.mark.parametrize("down", [False, True])
    def test_cursors_walk_every_sort_in_the_order_of_the_whole_list(
        self, drawer: Business, every_status: dict[str, Record], sort: str, down: bool
    ) -> None:
        asked = {"sort": ("-" if down else "") + sort}
        whole = drawer.api.get(CREDITS, params=asked).json()["results"]
        keys = [(each[sort] is not None, each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        first = drawer.api.get(CREDITS, params={**asked, "page_size": 3}).json()
        cursor = first["page_info"]["next_cursor"]
        page = {**asked, "page_size": 3, "cursor": cursor}
        rest = drawer.api.get(CREDITS, params=page).json()
        assert [*first["results"], *rest["results"]] == whole

    def test_a_list_shows_what_a_single_one_shows(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        for shown in drawer.api.get(CREDITS).json()["results"]:
            assert shown == read(drawer, CREDITS, shown)

    @pytest.mark.parametrize(
        "asked",
        ["status=sent", "status=", "sort=sent_at", "customer_id=x", "credit_note_number=x"],
    )
    def test_it_refuses_what_it_does_not_know(self, drawer: Business, asked: str) -> None:
        assert drawer.api.get(f"{CREDITS}?{asked}").status_code == 400


class TestGetVendorCredit:
    def test_its_etag_is_its_version(
        self, drawer: Business, every_status: dict[str, Record]
    ) -> None:
        answer = drawer.api.get(f"{CREDITS}{every_status['void']['id']}/")
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
