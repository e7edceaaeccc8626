"""Customers: who is invoiced, with whatever is known of them."""

from itertools import count
from typing import Any

import httpx
import pytest

from tests.api_server import ApiServer
from tests.builders.sales import paid, sent
from tests.partner import Business, Partner

_numbers = count(1)

COMPLETE = {
    "external_id": "cust-77",
    "reference_number": "R-1",
    "individual_name": "Maya Lindqvist",
    "company_name": "Blue Door Cafe Ltd",
    "email": "hello@bluedoor.cafe",
    "mobile_phone": "+447700900123",
    "office_phone": "+442079460123",
    "address_line1": "4 Quay Street",
    "address_line2": "Floor 2",
    "city": "Bristol",
    "state_county": "Avon",
    "postal_code": "BS1 4RW",
    "country": "GB",
    "address_string": "4 Quay Street, Bristol",
    "vat_number": "GB980780684",
    "notes": "Pays late.",
    "tax_exempt": True,
    "transaction_tags": ["wholesale", "south"],
    "payment_terms_days": 14,
    "credit_limit_cents": 500_000,
    "metadata": {"crm": [1, {"x": None}]},
}


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


def unique(**facts: Any) -> dict[str, Any]:
    return {"company_name": "Blue Door", "external_id": f"customer-{next(_numbers)}", **facts}


def change(business: Business, customer: dict[str, Any], **changes: Any) -> httpx.Response:
    return business.api.patch(f"customers/{customer['id']}/", json=changes)


class TestCreateCustomer:
    def test_keeps_and_shows_every_field(self, shop: Business) -> None:
        answer = shop.api.post("customers/", json=COMPLETE)
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in COMPLETE} == COMPLETE
        assert (made["type"], made["status"], made["display_name"]) == (
            "CustomerData", "ACTIVE", "Blue Door Cafe Ltd",
        )  # fmt: skip
        assert made["full_address"] == "4 Quay Street, Floor 2, BS1 4RW Bristol, Avon, GB"
        assert (made["is_active"], made["is_archived"], made["archived_at"]) == (True, False, None)
        assert made["credit_limit"] == 500_000
        assert (made["outstanding_balance"], made["warnings"]) == (0, [])
        assert shop.api.get(f"customers/{made['id']}/").json() == made

    def test_needs_one_name_of_the_two(self, shop: Business) -> None:
        person = shop.made("customers/", {"individual_name": "Maya"})
        assert (person["display_name"], person["company_name"]) == ("Maya", None)
        answer = shop.api.post("customers/", json={"email": "a@example.com"})
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["company_name"]

    @pytest.mark.parametrize("name", ["", " ", "\t", None])
    def test_a_blank_name_is_none(self, name: str | None, shop: Business) -> None:
        answer = shop.api.post("customers/", json={"company_name": name})
        assert answer.status_code == 400

    def test_of_a_known_external_id_answers_the_one_there_is_unchanged(
        self, shop: Business, api_server: ApiServer
    ) -> None:
        body = unique()
        first = shop.api.post("customers/", json=body)
        again = shop.api.post("customers/", json={**body, "company_name": "Other", "notes": "New"})
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        found = api_server.query(
            "SELECT count(*) FROM customer WHERE business_id = %s AND external_id = %s",
            shop.id, body["external_id"],
        )  # fmt: skip
        assert found == [(1,)]

    def test_of_a_known_external_id_answers_an_archived_one_as_it_is(self, shop: Business) -> None:
        made = shop.customer(external_id="gone")
        gone = shop.api.post(f"customers/{made['id']}/archive/").json()
        again = shop.api.post("customers/", json={"company_name": "X", "external_id": "gone"})
        assert (again.status_code, again.json()) == (200, gone)
        assert gone["status"] == "ARCHIVED"

    def test_may_have_an_external_id_that_another_business_uses(
        self, shop: Business, acme: Partner
    ) -> None:
        body = unique()
        ours, theirs = shop.made("customers/", body), acme.business().made("customers/", body)
        assert ours["id"] != theirs["id"]

    def test_without_an_external_id_may_be_there_twice(self, shop: Business) -> None:
        assert shop.customer()["id"] != shop.customer()["id"]

    def test_the_longer_name_of_the_credit_limit_wins(self, shop: Business) -> None:
        both = shop.made("customers/", unique(credit_limit=1, credit_limit_cents=2))
        assert (both["credit_limit"], both["credit_limit_cents"]) == (2, 2)
        short = shop.made("customers/", unique(credit_limit=1))
        assert (short["credit_limit"], short["credit_limit_cents"]) == (1, 1)

    def test_warns_of_numbers_that_look_wrong_and_takes_them(self, shop: Business) -> None:
        mistaken = {
            "mobile_phone": "none", "office_phone": "12", "vat_number": "GB1", "country": "gb",
        }  # fmt: skip
        made = shop.made("customers/", unique(**mistaken))
        named = {each["field"] for each in made["warnings"]}
        assert named == {"mobile_phone", "office_phone", "vat_number"}
        assert (made["mobile_phone"], made["country"]) == ("none", "GB")

    def test_of_a_malformed_address_of_electronic_mail_is_400(self, shop: Business) -> None:
        answer = shop.api.post("customers/", json=unique(email="nobody"))
        assert list(answer.json()["detail"]["field_errors"]) == ["email"]

    @pytest.mark.parametrize("metadata", [1, "text", [1], {"a": 1}, False, 1.5])
    def test_keeps_any_json_as_metadata(self, metadata: Any, shop: Business) -> None:
        assert shop.made("customers/", unique(metadata=metadata))["metadata"] == metadata

    def test_of_too_much_metadata_is_400(self, shop: Business) -> None:
        answer = shop.api.post("customers/", json=unique(metadata="x" * 16_400))
        assert list(answer.json()["detail"]["field_errors"]) == ["metadata"]

    def test_for_all_three_kinds_of_caller(self, shop: Business) -> None:
        for caller in (shop.api, shop.partner.api, shop.partner.key):
            answer = caller.post(f"{shop.base_url}/customers/", json=unique())
            assert answer.status_code == 201

    def test_with_the_key_of_another_body_is_422(self, shop: Business) -> None:
        headers = {"idempotency-key": f"customer-{next(_numbers)}"}
        first = shop.api.post("customers/", json=unique(), headers=headers)
        other = shop.api.post("customers/", json=unique(), headers=headers)
        assert (first.status_code, other.status_code) == (201, 422)

    def test_with_a_key_takes_the_same_body_in_another_spelling(self, shop: Business) -> None:
        headers = {
            "idempotency-key": f"customer-{next(_numbers)}",
            "content-type": "application/json",
        }
        for content in (
            b'{"company_name": "Blue Door", "payment_terms_days": 5}',
            b'{ "payment_terms_days":5,\n"company_name":"Blue\\u0020Door" }',
        ):
            answer = shop.api.post("customers/", content=content, headers=headers)
            assert answer.status_code == 201
        assert answer.headers["idempotent-replayed"] == "true"

    def test_a_key_of_one_business_is_free_for_another(self, shop: Business, acme: Partner) -> None:
        headers = {"idempotency-key": f"customer-{next(_numbers)}"}
        for business in (shop, acme.business()):
            answer = business.api.post("customers/", json=unique(), headers=headers)
            assert "idempotent-replayed" not in answer.headers


class TestUpdateCustomer:
    def test_changes_what_is_given_and_nothing_else(self, shop: Business) -> None:
        before = shop.made("customers/", {**COMPLETE, **unique()})
        changes = {
            "company_name": "Red Door", "payment_terms_days": 30, "metadata": [1],
            "transaction_tags": [], "tax_exempt": False, "country": "se", "credit_limit": 7,
        }  # fmt: skip
        answer = change(shop, before, **changes)
        assert answer.status_code == 200
        after = answer.json()
        told = {**changes, "country": "SE", "credit_limit_cents": 7, "display_name": "Red Door"}
        assert {name: after[name] for name in told} == told
        derived = {"updated_at", "full_address", "warnings"}
        kept = before.keys() - told.keys() - derived
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        assert after["updated_at"] > before["updated_at"]
        assert shop.api.get(f"customers/{before['id']}/").json() == after

    def test_clears_what_is_null(self, shop: Business) -> None:
        customer = shop.made("customers/", {**COMPLETE, **unique()})
        clearable = set(COMPLETE) - {"company_name", "tax_exempt", "transaction_tags"}
        after = change(shop, customer, **dict.fromkeys(clearable)).json()
        assert {name: after[name] for name in clearable} == dict.fromkeys(clearable)
        assert (after["full_address"], after["credit_limit"]) == (None, None)

    def test_that_changes_nothing_makes_no_new_version(self, shop: Business) -> None:
        customer = shop.made("customers/", {**COMPLETE, **unique()})
        answer = change(shop, customer, company_name=customer["company_name"])
        assert (answer.json(), answer.headers["ETag"]) == (customer, '"1"')

    def test_leaves_at_least_one_name(self, shop: Business) -> None:
        customer = shop.made("customers/", unique(individual_name="Maya"))
        assert change(shop, customer, company_name=None).json()["display_name"] == "Maya"
        answer = change(shop, customer, individual_name=None)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["company_name"]

    def test_to_an_external_id_that_is_taken_is_409(self, shop: Business) -> None:
        first, second = shop.made("customers/", unique()), shop.made("customers/", unique())
        answer = change(shop, second, external_id=first["external_id"], notes="Lost")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")
        assert answer.json()["detail"] == {name: first[name] for name in ("external_id", "id")}
        assert shop.api.get(f"customers/{second['id']}/").json() == second
        assert change(shop, second, external_id=second["external_id"]).status_code == 200
        assert change(shop, second, external_id=f"free-{next(_numbers)}").status_code == 200

    def test_with_nothing_in_it_changes_nothing_that_shows(self, shop: Business) -> None:
        customer = shop.customer()
        after = change(shop, customer).json()
        assert {**after, "updated_at": ""} == {**customer, "updated_at": ""}

    def test_of_a_version_that_somebody_else_changed_is_412(self, shop: Business) -> None:
        address = f"customers/{shop.customer()['id']}/"
        seen = {"if-match": shop.api.get(address).headers["etag"]}
        first = shop.api.patch(address, json={"notes": "First"}, headers=seen)
        second = shop.api.patch(address, json={"notes": "Second"}, headers=seen)
        assert (first.status_code, second.status_code) == (200, 412)
        assert second.json()["detail"]["current_etag"] == first.headers["etag"]
        assert shop.api.get(address).json()["notes"] == "First"

    def test_of_an_archived_one_is_possible(self, shop: Business) -> None:
        customer = shop.customer()
        shop.api.post(f"customers/{customer['id']}/archive/")
        after = change(shop, customer, notes="Gone").json()
        assert (after["notes"], after["is_archived"]) == ("Gone", True)

    def test_in_another_content_type_is_415(self, shop: Business) -> None:
        answer = shop.api.patch(f"customers/{shop.customer()['id']}/", data={"notes": "Form"})
        assert answer.status_code == 415


class TestArchiveCustomer:
    def move(self, shop: Business, customer: dict[str, Any], move: str) -> httpx.Response:
        return shop.api.post(f"customers/{customer['id']}/{move}/")

    @pytest.mark.parametrize("move", ["archive", "unarchive"])
    def test_answers_the_customer_as_it_is_then_and_again_without_a_change(
        self, move: str, shop: Business
    ) -> None:
        customer, archived = shop.customer(), move == "archive"
        if not archived:
            self.move(shop, customer, "archive")
        first, again = self.move(shop, customer, move), self.move(shop, customer, move)
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        told = first.json()
        assert (told["is_archived"], told["is_active"]) == (archived, not archived)
        assert told["status"] == ("ARCHIVED" if archived else "ACTIVE")
        assert (told["archived_at"] is not None) == archived

    def test_of_one_who_owes_something_is_409_until_it_is_paid(self, shop: Business) -> None:
        customer = shop.customer()
        invoice = sent(shop, customer, 5_000)
        answer = self.move(shop, customer, "archive")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "customer_has_balance")
        assert answer.json()["detail"] == {"outstanding_balance": 5_000}
        assert "paid, credited or written off" in answer.json()["message"]
        share = {"invoice_id": invoice["id"], "amount_cents": 5_000}
        paid(shop, customer, 5_000, allocations=[share])
        assert self.move(shop, customer, "archive").status_code == 200

    def test_takes_no_new_invoices_until_it_is_unarchived(self, shop: Business) -> None:
        customer = shop.customer()
        self.move(shop, customer, "archive")
        body = {"customer_id": customer["id"], "line_items": [{"quantity": 1, "unit_price": 1}]}
        refused = shop.api.post("invoices/", json=body)
        assert (refused.status_code, refused.json()["error_code"]) == (409, "customer_archived")
        self.move(shop, customer, "unarchive")
        assert shop.api.post("invoices/", json=body).status_code == 201


class TestGetCustomer:
    def test_shows_what_is_outstanding_on_sent_invoices(self, shop: Business) -> None:
        customer = shop.customer()
        address = f"customers/{customer['id']}/"
        shop.made(
            "invoices/",
            {"customer_id": customer["id"], "line_items": [{"quantity": 1, "unit_price": 700}]},
        )
        assert shop.api.get(address).json()["outstanding_balance"] == 0
        invoice = sent(shop, customer, 5_000)
        sent(shop, customer, 300)
        share = {"invoice_id": invoice["id"], "amount_cents": 1_000}
        paid(shop, customer, 2_000, allocations=[share])
        assert shop.api.get(address).json()["outstanding_balance"] == 4_300
        [row] = [
            each
            for each in shop.api.get("customers/?page_size=100").json()["results"]
            if each["id"] == customer["id"]
        ]
        assert row["outstanding_balance"] == 4_300

    def test_of_another_business_is_404(self, shop: Business, rival: Partner) -> None:
        theirs = rival.business().customer()
        answer = shop.api.get(f"customers/{theirs['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "customer_not_found")


class TestListCustomers:
    @pytest.fixture
    def crowd(self, acme: Partner) -> Business:
        business = acme.business()
        business.customer(external_id="k-1", company_name="Blue Door 100%", email="A@Example.com")
        person = {"external_id": "k-2", "individual_name": "maya", "notes": "likes_tea"}
        business.made("customers/", person)
        business.customer(external_id="K-3", company_name="Zeta", reference_number="R\\7")
        gone = business.customer(external_id="k-4", company_name="Old Door")
        business.api.post(f"customers/{gone['id']}/archive/")
        return business

    def found(self, business: Business, **filters: Any) -> list[str]:
        asked = {"sort": "created_at", **filters}
        shown = business.api.get("customers/", params=asked).json()
        assert shown["count"] == len(shown["results"])
        return [each["external_id"] for each in shown["results"]]

    def test_every_filter_finds_what_it_says(self, crowd: Business) -> None:
        for filters, expected in (
            ({}, ["k-1", "k-2", "K-3"]),
            ({"include_archived": "true"}, ["k-1", "k-2", "K-3", "k-4"]),
            ({"include_archived": "false"}, ["k-1", "k-2", "K-3"]),
            ({"status": "ACTIVE"}, ["k-1", "k-2", "K-3"]),
            ({"status": "ARCHIVED"}, ["k-4"]),
            ({"status": "ACTIVE", "include_archived": "true"}, ["k-1", "k-2", "K-3"]),
            ({"external_id": "k-3"}, []),
            ({"external_id": "K-3"}, ["K-3"]),
            ({"external_id_contains": "k-"}, ["k-1", "k-2", "K-3"]),
            ({"name": "maya"}, ["k-2"]),
            ({"name": "Maya"}, []),
            ({"name_contains": "DOOR"}, ["k-1"]),
            ({"name_contains": "%"}, ["k-1"]),
            ({"name_contains": "MAY"}, ["k-2"]),
            ({"email": "a@EXAMPLE.com"}, ["k-1"]),
            ({"email": "a@example"}, []),
            ({"search": "_"}, ["k-2"]),
            ({"search": "r\\"}, ["K-3"]),
            ({"search": "example.com"}, ["k-1"]),
            ({"search": "door", "include_archived": "true"}, ["k-1", "k-4"]),
            ({"search": "door", "email": "nobody@example.com"}, []),
        ):
            assert self.found(crowd, **filters) == expected, filters

    def test_sorts_by_the_name_that_is_shown_in_any_case(self, crowd: Business) -> None:
        assert self.found(crowd, sort="name") == ["k-1", "k-2", "K-3"]
        assert self.found(crowd, sort="-name") == ["K-3", "k-2", "k-1"]

    def test_next_and_previous_lead_through_the_pages(self, crowd: Business) -> None:
        first = crowd.api.get("customers/?page_size=2&sort=name").json()
        # Addresses relative to the host: what the caller names in its Host header is in no link.
        assert first["next"] == (
            f"/v1/platform/businesses/{crowd.id}/customers/?page_size=2&sort=name&page=2"
        )
        last = crowd.partner.api.get(first["next"]).json()
        assert [each["external_id"] for each in last["results"]] == ["K-3"]
        assert (last["next"], first["previous"]) == (None, None)
        assert crowd.partner.api.get(last["previous"]).json() == first

    def test_a_cursor_skips_nothing_when_rows_are_added(self, crowd: Business) -> None:
        first = crowd.api.get("customers/?page_size=2").json()
        crowd.customer(external_id="new")
        cursor = first["page_info"]["next_cursor"]
        rest = crowd.api.get("customers/", params={"page_size": 2, "cursor": cursor}).json()
        shown = [each["external_id"] for page in (first, rest) for each in page["results"]]
        assert shown == ["K-3", "k-2", "k-1"]
