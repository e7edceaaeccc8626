"""Vendors: who is bought from, with whatever is known of them."""

from itertools import count
from typing import Any

import httpx
import pytest

from tests.api_server import ApiServer
from tests.builders.files import PDF, XML, follow, in_json, names, records, upload
from tests.builders.purchases import bill_paid, part, received
from tests.partner import Business, Partner

_numbers = count(1)

STATUSES = ("ACTIVE", "INACTIVE", "BLOCKED")
COMPLETE = {
    "external_id": "vend-77",
    "individual_name": "Tomas Abara",
    "company_name": "Raw Coffee Traders Ltd",
    "email": "sales@rawcoffee.example.com",
    "mobile_phone": "+447700900123",
    "office_phone": "+442079460123",
    "address_string": "9 Dock Road, Bristol",
    "memo": "Delivers on Mondays.",
    "transaction_tags": ["beans", "south"],
    "country": "GB",
    "vat_number": "GB980780684",
    "payment_terms_days": 30,
    "metadata": {"erp": [1, {"x": None}]},
}
CREATE_ONLY = {"country", "vat_number", "document"}


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


def unique(**facts: Any) -> dict[str, Any]:
    return {"company_name": "Raw Coffee", "external_id": f"vendor-{next(_numbers)}", **facts}


def change(business: Business, vendor: dict[str, Any], **changes: Any) -> httpx.Response:
    return business.api.patch(f"vendors/{vendor['id']}/", json=changes)


def move(business: Business, vendor: dict[str, Any], word: str) -> httpx.Response:
    return business.api.post(f"vendors/{vendor['id']}/{word}/")


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


class TestCreateVendor:
    def test_keeps_and_shows_every_field(self, shop: Business) -> None:
        answer = shop.api.post("vendors/", json=COMPLETE)
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in COMPLETE} == COMPLETE
        assert (made["type"], made["status"], made["display_name"]) == (
            "VendorData", "ACTIVE", "Raw Coffee Traders Ltd",
        )  # fmt: skip
        assert (made["is_active"], made["is_archived"], made["archived_at"]) == (True, False, None)
        assert (made["outstanding_balance"], made["warnings"], made["documents"]) == (0, [], [])
        assert made["created_at"] == made["updated_at"]
        assert shop.api.get(f"vendors/{made['id']}/").json() == made

    def test_needs_one_name_of_the_two(self, shop: Business) -> None:
        person = shop.made("vendors/", {"individual_name": "Tomas"})
        assert (person["display_name"], person["company_name"]) == ("Tomas", None)
        answer = shop.api.post("vendors/", json={"email": "a@example.com"})
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["company_name"]

    @pytest.mark.parametrize("name", ["", " ", "\t", None])
    def test_a_blank_name_is_none(self, name: str | None, shop: Business) -> None:
        assert shop.api.post("vendors/", json={"company_name": name}).status_code == 400

    @pytest.mark.parametrize(
        "facts",
        [
            {"external_id": "x" * 256},
            {"individual_name": "x" * 256},
            {"company_name": "x" * 256},
            {"email": f"{'x' * 243}@example.com"},
            {"email": "nobody"},
            {"country": "GBR"},
            {"country": "G1"},
            {"metadata": "x" * 16_400},
        ],
    )
    def test_of_a_value_out_of_bounds_is_400(self, shop: Business, facts: dict[str, Any]) -> None:
        answer = shop.api.post("vendors/", json=unique(**facts))
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == list(facts)

    @pytest.mark.parametrize(
        "field", ["status", "id", "outstanding_balance", "notes", "tax_exempt"]
    )
    def test_takes_no_other_field(self, shop: Business, field: str) -> None:
        answer = shop.api.post("vendors/", json=unique(**{field: "ACTIVE"}))
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    def test_of_a_known_external_id_answers_the_one_there_is_unchanged(
        self, shop: Business, api_server: ApiServer
    ) -> None:
        body = unique()
        first = shop.api.post("vendors/", json=body)
        again = shop.api.post("vendors/", json={**body, "company_name": "Other", "memo": "New"})
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        found = api_server.query(
            "SELECT count(*) FROM vendor WHERE business_id = %s AND external_id = %s",
            shop.id, body["external_id"],
        )  # fmt: skip
        assert found == [(1,)]

    def test_of_a_known_external_id_answers_an_archived_one_as_it_is(self, shop: Business) -> None:
        body = unique()
        made = shop.made("vendors/", body)
        archived = move(shop, made, "archive").json()
        again = shop.api.post("vendors/", json=body)
        assert (again.status_code, again.json()) == (200, archived)

    def test_may_have_an_external_id_that_another_business_or_a_customer_uses(
        self, shop: Business, acme: Partner
    ) -> None:
        body = unique()
        ours, theirs = shop.made("vendors/", body), acme.business().made("vendors/", body)
        customer = shop.customer(external_id=body["external_id"])
        assert len({ours["id"], theirs["id"], customer["id"]}) == 3

    def test_without_an_external_id_may_be_there_twice(self, shop: Business) -> None:
        assert shop.vendor()["id"] != shop.vendor()["id"]

    def test_warns_of_numbers_that_look_wrong_and_takes_them(self, shop: Business) -> None:
        mistaken = {
            "mobile_phone": "none", "office_phone": "12", "vat_number": "GB1", "country": "gb",
        }  # fmt: skip
        made = shop.made("vendors/", unique(**mistaken))
        named = {each["field"] for each in made["warnings"]}
        assert named == {"mobile_phone", "office_phone", "vat_number"}
        assert (made["mobile_phone"], made["country"]) == ("none", "GB")

    @pytest.mark.parametrize("metadata", [1, "text", [1], {"a": 1}, False, 1.5, None])
    def test_keeps_any_json_as_metadata(self, metadata: Any, shop: Business) -> None:
        assert shop.made("vendors/", unique(metadata=metadata))["metadata"] == metadata

    def test_for_all_three_kinds_of_caller(self, shop: Business) -> None:
        for caller in (shop.api, shop.partner.api, shop.partner.key):
            answer = caller.post(f"{shop.base_url}/vendors/", json=unique())
            assert answer.status_code == 201

    def test_with_a_key_answers_the_same_again_and_refuses_another_body(
        self, shop: Business
    ) -> None:
        headers, body = {"idempotency-key": f"vendor-{next(_numbers)}"}, unique()
        first = shop.api.post("vendors/", json=body, headers=headers)
        again = shop.api.post("vendors/", json=body, headers=headers)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"
        other = shop.api.post("vendors/", json=unique(), headers=headers)
        assert refused(other) == (422, "idempotency_key_reused")

    def test_posts_nothing_and_so_has_no_preview(self, shop: Business) -> None:
        answer = shop.api.post("vendors/?preview=true", json=unique())
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["preview"]

    def test_in_an_archived_business_is_409(self, acme: Partner) -> None:
        closed = acme.business()
        vendor = closed.vendor()
        closed.partner.api.post(f"/v1/platform/businesses/{closed.id}/archive/")
        for answer in (
            closed.api.post("vendors/", json=unique()),
            change(closed, vendor, memo="Late"),
            move(closed, vendor, "archive"),
            move(closed, vendor, "unarchive"),
        ):
            assert refused(answer) == (409, "business_archived")
        assert closed.api.get(f"vendors/{vendor['id']}/").json() == vendor


class TestDocumentsOfVendors:
    def test_a_vendor_comes_with_its_document(self, shop: Business) -> None:
        sent = in_json(XML, "terms.xml", upload_source="mail", tags=["x"], metadata={"a": 1})
        made = shop.made("vendors/", unique(document=sent))
        [document] = made["documents"]
        assert (document["file_name"], document["mime_type"]) == ("terms.xml", "application/xml")
        assert follow(shop, document["url"]).content == XML
        whole = shop.api.get(f"documents/{document['document_id']}/").json()
        assert (whole["linked_type"], whole["linked_id"]) == ("vendor", made["id"])
        assert (whole["document_type"], whole["upload_source"]) == ("vendor_document", "mail")
        assert (whole["tags"], whole["metadata"]) == (["x"], {"a": 1})

    def test_a_type_that_is_given_is_kept(self, shop: Business) -> None:
        made = shop.made("vendors/", unique(document=in_json(document_type="contract")))
        address = f"documents/{made['documents'][0]['document_id']}/"
        assert shop.api.get(address).json()["document_type"] == "contract"

    def test_every_single_answer_shows_all_of_them_the_newest_first(self, shop: Business) -> None:
        made = shop.made("vendors/", unique(document=in_json(PDF, "1.pdf")))
        assert upload(shop, PDF, "2.pdf", linked_type="vendor", linked_id=made["id"]).is_success
        for answer in (
            shop.api.get(f"vendors/{made['id']}/"),
            change(shop, made, memo="New"),
            move(shop, made, "archive"),
            move(shop, made, "unarchive"),
        ):
            assert [each["file_name"] for each in answer.json()["documents"]] == ["2.pdf", "1.pdf"]

    def test_a_list_shows_those_of_each_vendor_the_newest_first(self, acme: Partner) -> None:
        shop = acme.business()
        paper = shop.made("vendors/", unique(document=in_json(PDF, "1.pdf")))
        assert upload(shop, PDF, "2.pdf", linked_type="vendor", linked_id=paper["id"]).is_success
        other = shop.made("vendors/", unique(document=in_json(XML, "terms.xml")))
        none = shop.made("vendors/", unique())
        listed = shop.api.get("vendors/", params={"sort": "created_at"}).json()["results"]
        assert [each["id"] for each in listed] == [paper["id"], other["id"], none["id"]]
        shown = [[each["file_name"] for each in vendor["documents"]] for vendor in listed]
        assert shown == [["2.pdf", "1.pdf"], ["terms.xml"], []]
        assert follow(shop, listed[1]["documents"][0]["url"]).content == XML
        assert {**listed[1], "documents": other["documents"]} == other

    def test_an_empty_list_asks_for_none(self, shop: Business) -> None:
        asked = {"external_id": "nobody has this"}
        assert shop.api.get("vendors/", params=asked).json()["results"] == []

    def test_a_known_external_id_keeps_no_second_one(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        body = unique(document=in_json())
        first = shop.made("vendors/", body)
        before = names(api_server, shop), records(api_server, shop)
        again = shop.api.post("vendors/", json=body)
        assert again.status_code == 200
        shown = [
            [each["document_id"] for each in one["documents"]] for one in (first, again.json())
        ]
        assert shown[0] == shown[1]
        assert (names(api_server, shop), records(api_server, shop)) == before

    def test_another_kind_of_file_is_415_and_nothing_is_kept(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        before = names(api_server, shop)
        body = unique(document=in_json(b"MZ" + bytes(9)))
        assert refused(shop.api.post("vendors/", json=body)) == (415, "unsupported_media_type")
        assert names(api_server, shop) == before
        asked = {"external_id": body["external_id"], "include_archived": True}
        assert shop.api.get("vendors/", params=asked).json()["results"] == []


class TestUpdateVendor:
    def test_changes_what_is_given_and_nothing_else(self, shop: Business) -> None:
        before = shop.made("vendors/", {**COMPLETE, **unique()})
        changes = {
            "company_name": "Red Beans", "payment_terms_days": 7, "metadata": [1],
            "transaction_tags": [], "memo": None, "status": "INACTIVE",
        }  # fmt: skip
        answer = change(shop, before, **changes)
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        after = answer.json()
        told = {**changes, "display_name": "Red Beans", "is_active": False}
        assert {name: after[name] for name in told} == told
        kept = before.keys() - told.keys() - {"updated_at"}
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        assert after["updated_at"] > before["updated_at"]
        assert shop.api.get(f"vendors/{before['id']}/").json() == after

    def test_clears_what_is_null(self, shop: Business) -> None:
        vendor = shop.made("vendors/", {**COMPLETE, **unique()})
        clearable = set(COMPLETE) - CREATE_ONLY - {"company_name", "transaction_tags"}
        after = change(shop, vendor, **dict.fromkeys(clearable)).json()
        assert {name: after[name] for name in clearable} == dict.fromkeys(clearable)

    @pytest.mark.parametrize("field", sorted(CREATE_ONLY))
    def test_takes_nothing_that_is_for_creation_alone(self, shop: Business, field: str) -> None:
        given = in_json() if field == "document" else "GB"
        answer = change(shop, shop.vendor(), **{field: given})
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    @pytest.mark.parametrize("status", STATUSES)
    @pytest.mark.parametrize("before", STATUSES)
    def test_moves_the_status_from_any_to_any(
        self, shop: Business, before: str, status: str
    ) -> None:
        vendor = shop.vendor()
        vendor = change(shop, vendor, status=before).json()
        answer = change(shop, vendor, status=status)
        after = answer.json()
        assert (answer.status_code, after["status"]) == (200, status)
        assert (after["is_active"], after["is_archived"]) == (status == "ACTIVE", False)
        assert (after == vendor) == (status == before)

    @pytest.mark.parametrize("status", ["ARCHIVED", "active", "", None])
    def test_sets_no_other_status(self, shop: Business, status: str | None) -> None:
        answer = change(shop, shop.vendor(), status=status)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["status"]

    @pytest.mark.parametrize("status", STATUSES)
    def test_of_the_status_of_an_archived_one_is_409(self, shop: Business, status: str) -> None:
        vendor = shop.vendor()
        archived = move(shop, vendor, "archive").json()
        answer = change(shop, vendor, status=status, memo="Lost")
        assert refused(answer) == (409, "invalid_state_transition")
        told = {"current_state": "ARCHIVED", "allowed_next_states": ["ACTIVE"]}
        assert answer.json()["detail"] == told
        assert shop.api.get(f"vendors/{vendor['id']}/").json() == archived

    def test_of_an_archived_one_is_possible_but_for_its_status(self, shop: Business) -> None:
        vendor = shop.vendor()
        move(shop, vendor, "archive")
        after = change(shop, vendor, memo="Gone").json()
        assert (after["memo"], after["is_archived"]) == ("Gone", True)

    def test_that_changes_nothing_makes_no_new_version(self, shop: Business) -> None:
        vendor = shop.made("vendors/", {**COMPLETE, **unique()})
        for same in ({}, {"company_name": vendor["company_name"], "status": "ACTIVE"}):
            answer = change(shop, vendor, **same)
            assert (answer.json(), answer.headers["ETag"]) == (vendor, '"1"')

    def test_leaves_at_least_one_name(self, shop: Business) -> None:
        vendor = shop.made("vendors/", unique(individual_name="Tomas"))
        assert change(shop, vendor, company_name=None).json()["display_name"] == "Tomas"
        answer = change(shop, vendor, individual_name=None)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["company_name"]

    def test_to_an_external_id_that_is_taken_is_409(self, shop: Business) -> None:
        first, second = shop.made("vendors/", unique()), shop.made("vendors/", unique())
        answer = change(shop, second, external_id=first["external_id"], memo="Lost")
        assert refused(answer) == (409, "duplicate_external_id")
        assert shop.api.get(f"vendors/{second['id']}/").json() == second
        assert change(shop, second, external_id=second["external_id"]).status_code == 200
        assert change(shop, second, external_id=f"free-{next(_numbers)}").status_code == 200

    def test_of_a_version_that_somebody_else_changed_is_412(self, shop: Business) -> None:
        address = f"vendors/{shop.vendor()['id']}/"
        seen = {"if-match": shop.api.get(address).headers["etag"]}
        first = shop.api.patch(address, json={"memo": "First"}, headers=seen)
        assert first.status_code == 200
        for late in (
            shop.api.patch(address, json={"memo": "Second"}, headers=seen),
            shop.api.post(f"{address}archive/", headers=seen),
            shop.api.post(f"{address}unarchive/", headers=seen),
        ):
            assert refused(late) == (412, "precondition_failed")
            assert late.json()["detail"]["current_etag"] == first.headers["etag"]
        assert shop.api.get(address).json() == first.json()
        now = {"if-match": first.headers["etag"]}
        assert shop.api.post(f"{address}archive/", headers=now).status_code == 200

    def test_in_another_content_type_is_415(self, shop: Business) -> None:
        answer = shop.api.patch(f"vendors/{shop.vendor()['id']}/", data={"memo": "Form"})
        assert answer.status_code == 415


class TestArchiveVendor:
    @pytest.mark.parametrize("word", ["archive", "unarchive"])
    def test_answers_the_vendor_as_it_is_then_and_again_without_a_change(
        self, word: str, shop: Business
    ) -> None:
        vendor, archived = shop.vendor(), word == "archive"
        if not archived:
            move(shop, vendor, "archive")
        first, again = move(shop, vendor, word), move(shop, vendor, word)
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        told = first.json()
        assert (told["is_archived"], told["is_active"]) == (archived, not archived)
        assert told["status"] == ("ARCHIVED" if archived else "ACTIVE")
        assert (told["archived_at"] is not None) == archived
        assert told["updated_at"] > vendor["updated_at"]

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_a_vendor_of_any_status_is_archived_and_comes_back_active(
        self, shop: Business, status: str
    ) -> None:
        vendor = change(shop, shop.vendor(), status=status).json()
        left = move(shop, vendor, "unarchive")
        assert (left.status_code, left.json()) == (200, vendor)
        assert move(shop, vendor, "archive").json()["status"] == "ARCHIVED"
        assert move(shop, vendor, "unarchive").json()["status"] == "ACTIVE"

    def test_of_one_that_is_owed_something_is_409_until_it_is_paid(self, shop: Business) -> None:
        vendor = shop.vendor()
        bill = received(shop, vendor, 5_000)
        answer = move(shop, vendor, "archive")
        assert refused(answer) == (409, "vendor_has_balance")
        assert answer.json()["detail"] == {"outstanding_balance": 5_000}
        bill_paid(shop, vendor, 5_000, part(bill, 5_000))
        assert move(shop, vendor, "archive").status_code == 200

    @pytest.mark.parametrize("word", ["archive", "unarchive"])
    def test_posts_nothing_and_so_has_no_preview(self, shop: Business, word: str) -> None:
        answer = shop.api.post(f"vendors/{shop.vendor()['id']}/{word}/?preview=true")
        assert answer.status_code == 400
