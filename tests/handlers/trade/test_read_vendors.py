"""Vendors as they are read: one by its id, and lists by filter, order and page."""

from typing import Any

import pytest

from tests.builders.purchases import BILLS, bill_body, bill_paid, part, received, vendor_credited
from tests.builders.trade import NOBODY
from tests.partner import Business, Partner


@pytest.fixture(scope="module")
def crowd(acme: Partner) -> Business:
    business = acme.business()
    business.vendor(external_id="k-1", company_name="Blue Beans 100%", individual_name="Ada")
    business.made("vendors/", {"external_id": "k-2", "individual_name": "maya"})
    zeta = business.vendor(external_id="K-3", company_name="Zeta", memo="beans")
    business.api.patch(f"vendors/{zeta['id']}/", json={"status": "BLOCKED"})
    gone = business.vendor(external_id="k_4", company_name="Old Beans")
    business.api.post(f"vendors/{gone['id']}/archive/")
    business.customer(external_id="k-5", company_name="Blue Beans 100%")
    return business


def found(business: Business, **filters: Any) -> list[str]:
    shown = business.api.get("vendors/", params={"sort": "created_at", **filters}).json()
    assert shown["count"] == len(shown["results"])
    return [each["external_id"] for each in shown["results"]]


class TestGetVendor:
    def test_is_possible_whatever_its_status(self, shop: Business) -> None:
        vendor = shop.vendor()
        archived = shop.api.post(f"vendors/{vendor['id']}/archive/").json()
        answer = shop.api.get(f"vendors/{vendor['id']}/")
        assert (answer.status_code, answer.json()) == (200, archived)
        assert answer.headers["etag"] == '"2"'

    def test_shows_what_is_outstanding_on_received_bills(self, shop: Business) -> None:
        vendor = shop.vendor(external_id="owed")
        address = f"vendors/{vendor['id']}/"
        shop.made(BILLS, bill_body(vendor))
        assert shop.api.get(address).json()["outstanding_balance"] == 0
        bill = received(shop, vendor, 5_000)
        received(shop, vendor, 300)
        bill_paid(shop, vendor, 2_000, part(bill, 1_000))
        vendor_credited(shop, vendor, 500)
        assert shop.api.get(address).json()["outstanding_balance"] == 4_300
        [listed] = shop.api.get("vendors/", params={"external_id": "owed"}).json()["results"]
        assert listed["outstanding_balance"] == 4_300

    def test_of_another_business_or_kind_or_of_none_is_404(
        self, shop: Business, acme: Partner, rival: Partner
    ) -> None:
        strangers = [acme.business().vendor(), rival.business().vendor(), shop.customer()]
        for id_ in (*(each["id"] for each in strangers), NOBODY):
            for answer in (
                shop.api.get(f"vendors/{id_}/"),
                shop.api.patch(f"vendors/{id_}/", json={"memo": "Mine"}),
                shop.api.post(f"vendors/{id_}/archive/"),
                shop.api.post(f"vendors/{id_}/unarchive/"),
            ):
                told = answer.status_code, answer.json()["error_code"]
                assert told == (404, "vendor_not_found")

    def test_of_a_malformed_id_is_400(self, shop: Business) -> None:
        assert shop.api.get("vendors/7/").status_code == 400


class TestListVendors:
    def test_every_filter_finds_what_it_says(self, crowd: Business) -> None:
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
            ({"name": "Blue Beans 100%"}, ["k-1"]),
            ({"name": "Blue"}, []),
            ({"name_contains": "BEANS"}, ["k-1"]),
            ({"name_contains": "beans", "include_archived": "true"}, ["k-1", "k_4"]),
            ({"name_contains": "%"}, ["k-1"]),
            ({"name_contains": "aD"}, ["k-1"]),
            ({"name_contains": "a", "external_id_contains": "2"}, ["k-2"]),
        ):
            assert found(crowd, **filters) == expected, filters

    @pytest.mark.parametrize("name", ["status", "email", "search", "country"])
    def test_there_are_no_other_filters(self, crowd: Business, name: str) -> None:
        answer = crowd.api.get("vendors/", params={name: "ACTIVE"})
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [name]

    def test_finds_by_when_they_were_made_and_changed(self, crowd: Business) -> None:
        rows = crowd.api.get("vendors/", params={"sort": "created_at"}).json()["results"]
        first, second, third = rows
        for filters, expected in (
            ({"created_at_gte": second["created_at"]}, ["k-2", "K-3"]),
            ({"created_at_lte": second["created_at"]}, ["k-1", "k-2"]),
            ({"updated_since": third["updated_at"]}, ["K-3"]),
            ({"updated_since": first["created_at"]}, ["k-1", "k-2", "K-3"]),
        ):
            assert found(crowd, **filters) == expected, filters

    def test_sorts_by_what_the_contract_names(self, crowd: Business) -> None:
        for sort, expected in (
            ("name", ["k-1", "k-2", "K-3"]),
            ("-name", ["K-3", "k-2", "k-1"]),
            ("created_at", ["k-1", "k-2", "K-3"]),
            ("-updated_at", ["K-3", "k-2", "k-1"]),
        ):
            assert found(crowd, sort=sort) == expected, sort
        newest_first = crowd.api.get("vendors/").json()["results"]
        assert [each["external_id"] for each in newest_first] == ["K-3", "k-2", "k-1"]

    def test_pages_by_number_and_by_cursor(self, crowd: Business) -> None:
        first = crowd.api.get("vendors/?page_size=2&sort=name").json()
        assert first["next"] == (
            f"/v1/platform/businesses/{crowd.id}/vendors/?page_size=2&sort=name&page=2"
        )
        last = crowd.partner.api.get(first["next"]).json()
        assert [each["external_id"] for each in last["results"]] == ["K-3"]
        assert crowd.partner.api.get(last["previous"]).json() == first
        asked = {"page_size": 2, "sort": "name", "cursor": first["page_info"]["next_cursor"]}
        by_cursor = crowd.api.get("vendors/", params=asked).json()
        assert by_cursor["results"] == last["results"]

    def test_a_cursor_of_customers_leads_nowhere(self, crowd: Business) -> None:
        crowd.customer()
        cursor = crowd.api.get("customers/?page_size=1").json()["page_info"]["next_cursor"]
        assert crowd.api.get("vendors/", params={"cursor": cursor}).status_code == 400
