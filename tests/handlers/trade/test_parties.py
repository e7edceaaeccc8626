"""Customers and vendors: created and changed with all their fields."""

from dataclasses import replace
from itertools import count
from typing import Any

import httpx
import pytest

from tests.builders.files import in_json
from tests.builders.trade import PURCHASES, SALES, Record, unwarned
from tests.handlers.trade.side import Side

_numbers = count(1)

STATUSES = ("ACTIVE", "INACTIVE", "BLOCKED")
OF_BOTH = {
    "external_id": "party-77",
    "individual_name": "Maya Lindqvist",
    "company_name": "Tall Ship Ltd",
    "email": "hello@tallship.example.com",
    "mobile_phone": "+447911123456",
    "office_phone": "+442079460123",
    "address_string": "4 Quay Street, Bristol",
    "country": "GB",
    "vat_number": "GB980780684",
    "transaction_tags": ["wholesale", "south"],
    "payment_terms_days": 14,
    "metadata": {"crm": [1, {"x": None}]},
}
COMPLETE = {
    "customer": {
        **OF_BOTH,
        "reference_number": "R-1",
        "address_line1": "4 Quay Street",
        "address_line2": "Floor 2",
        "city": "Bristol",
        "state_county": "Avon",
        "postal_code": "BS1 4RW",
        "notes": "Pays late.",
        "tax_exempt": True,
        "credit_limit_cents": 500_000,
    },
    "vendor": {**OF_BOTH, "memo": "Delivers on Mondays."},
}
# Further fields of a response, derived from those fields.
DERIVED: dict[str, Record] = {
    "customer": {
        "full_address": "4 Quay Street, Floor 2, BS1 4RW Bristol, Avon, GB",
        "credit_limit": 500_000,
    },
    "vendor": {},
}
# The fields that only one side can change, and their values in the response.
CHANGES: dict[str, Record] = {
    "customer": {"tax_exempt": False, "country": "se", "credit_limit": 7},
    "vendor": {"memo": None, "status": "INACTIVE"},
}
CHANGED: dict[str, Record] = {
    "customer": {
        **{"tax_exempt": False, "country": "SE", "credit_limit": 7, "credit_limit_cents": 7},
        "full_address": "4 Quay Street, Floor 2, BS1 4RW Bristol, Avon, SE",
        "warnings": [{"field": "vat_number", "message": "fails the check of its country"}],
    },
    "vendor": {**CHANGES["vendor"], "is_active": False},
}


def unique(**facts: Any) -> Record:
    return {"company_name": "Tall Ship", "external_id": f"party-of-{next(_numbers)}", **facts}


def complete(side: Side) -> Record:
    return side.made(side.trade.parties, {**COMPLETE[side.trade.party], **unique()})


def change(side: Side, party: Record, **changes: Any) -> httpx.Response:
    return side.api.patch(side.trade.of_party(party), json=changes)


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def faults(answer: httpx.Response) -> list[str]:
    """Return the faulty fields of a malformed body."""
    assert answer.status_code == 400, answer.text
    return list(answer.json()["detail"]["field_errors"])


class Creation:
    """create_customer and create_vendor."""

    def test_keeps_and_shows_every_field(self, side: Side) -> None:
        given = COMPLETE[side.trade.party]
        answer = side.api.post(side.trade.parties, json=given)
        assert answer.status_code == 201
        made = answer.json()
        expected = {**given, **DERIVED[side.trade.party], "display_name": "Tall Ship Ltd"}
        assert {name: made[name] for name in expected} == expected
        assert (made["type"], made["status"]) == (f"{side.trade.party.title()}Data", "ACTIVE")
        assert (made["is_active"], made["is_archived"], made["archived_at"]) == (True, False, None)
        assert (made["outstanding_balance"], made["warnings"], made["documents"]) == (0, [], [])
        assert made["created_at"] == made["updated_at"]
        assert side.api.get(side.trade.of_party(made)).json() == made

    def test_needs_one_name_of_the_two(self, side: Side) -> None:
        person = side.made(side.trade.parties, {"individual_name": "Maya"})
        assert (person["display_name"], person["company_name"]) == ("Maya", None)
        for blank in ({}, *({"company_name": name} for name in ("", " ", "\t", None))):
            answer = side.api.post(side.trade.parties, json={"email": "a@example.com", **blank})
            assert faults(answer) == ["company_name"]

    def test_metadata_over_its_size_is_400(self, side: Side) -> None:
        answer = side.api.post(side.trade.parties, json=unique(metadata="x" * 16_400))
        assert faults(answer) == ["metadata"]

    @pytest.mark.parametrize("status", ["ACTIVE", "ARCHIVED"])
    def test_of_a_known_external_id_answers_the_one_there_is_as_it_is(
        self, side: Side, status: str
    ) -> None:
        body = unique()
        there = side.made(side.trade.parties, body)
        if status == "ARCHIVED":
            there = side.api.post(side.trade.of_party(there, "archive")).json()
        other = {**body, "company_name": "Other", "email": "new@example.com"}
        with side.ledger.untouched():
            again = side.api.post(side.trade.parties, json=other)
        assert (again.status_code, unwarned(again.json())) == (200, there)
        assert there["status"] == status

    def test_may_have_an_external_id_that_the_other_side_uses(self, side: Side) -> None:
        body = unique()
        made, other = (
            side.made(each.parties, body) for each in (side.trade, side.trade.other_side)
        )
        assert made["id"] != other["id"]

    def test_without_an_external_id_may_be_there_twice(self, side: Side) -> None:
        assert side.somebody()["id"] != side.somebody()["id"]

    def test_warns_of_numbers_that_look_wrong_and_takes_them(self, side: Side) -> None:
        # No country issues a number like the last one.
        for mistaken in (
            {"mobile_phone": "none", "office_phone": "12", "vat_number": "GB1"},
            {"mobile_phone": "+15550100"},
        ):
            made = side.made(side.trade.parties, unique(**mistaken, country="gb"))
            assert {each["field"] for each in made["warnings"]} == mistaken.keys()
            assert (made["mobile_phone"], made["country"]) == (mistaken["mobile_phone"], "GB")

    def test_with_the_code_of_no_country_is_refused_and_named(self, side: Side) -> None:
        for country, hint in (("uk", "did you mean GB?"), ("XX", "is not a country code")):
            answer = side.api.post(side.trade.parties, json=unique(country=country))
            assert answer.status_code == 400
            [message] = answer.json()["detail"]["field_errors"]["country"]
            assert hint in message

    @pytest.mark.parametrize("metadata", [1, "text", [1], {"a": 1}, False, 1.5, None])
    def test_keeps_any_json_as_metadata(self, side: Side, metadata: Any) -> None:
        made = side.made(side.trade.parties, unique(metadata=metadata))
        assert made["metadata"] == metadata


class TestCreateCustomer(Creation):
    trade = SALES

    def test_the_longer_name_of_the_credit_limit_wins(self, side: Side) -> None:
        for given, limit in (
            ({"credit_limit": 1, "credit_limit_cents": 2}, 2),
            ({"credit_limit": 1}, 1),
        ):
            made = side.made(side.trade.parties, unique(**given))
            assert (made["credit_limit"], made["credit_limit_cents"]) == (limit, limit)

    def test_with_a_key_takes_the_same_body_in_another_spelling(self, side: Side) -> None:
        headers = {"idempotency-key": "spelled", "content-type": "application/json"}
        for content in (
            b'{"company_name": "Blue Door", "payment_terms_days": 5}',
            b'{ "payment_terms_days":5,\n"company_name":"Blue\\u0020Door" }',
        ):
            answer = side.api.post("customers/", content=content, headers=headers)
            assert answer.status_code == 201
        assert answer.headers["idempotent-replayed"] == "true"


class TestCreateVendor(Creation):
    trade = PURCHASES


class Update:
    """update_customer and update_vendor; `lasting` cannot be cleared, `same` is sent again."""

    lasting: tuple[str, ...]
    same: tuple[str, ...]

    def test_changes_what_is_given_and_nothing_else(self, side: Side) -> None:
        before = complete(side)
        changes = {
            **{"company_name": "Red Door", "payment_terms_days": 30},
            **{"metadata": [1], "transaction_tags": []},
        }
        answer = change(side, before, **changes, **CHANGES[side.trade.party])
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        after = answer.json()
        expected = {**changes, "display_name": "Red Door", **CHANGED[side.trade.party]}
        assert {name: after[name] for name in expected} == expected
        kept = before.keys() - expected.keys() - {"updated_at"}
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        assert after["updated_at"] > before["updated_at"]
        assert side.api.get(side.trade.of_party(before)).json() == after

    def test_clears_what_is_null(self, side: Side) -> None:
        lasting = {"company_name", "transaction_tags", *self.lasting}
        clearable = COMPLETE[side.trade.party].keys() - lasting
        after = change(side, complete(side), **dict.fromkeys(clearable)).json()
        cleared = clearable | DERIVED[side.trade.party].keys()
        assert {name: after[name] for name in cleared} == dict.fromkeys(cleared)

    def test_that_changes_nothing_makes_no_new_version(self, side: Side) -> None:
        made = complete(side)
        for same in ({}, {name: made[name] for name in self.same}):
            answer = change(side, made, **same)
            assert (answer.json(), answer.headers["ETag"]) == (made, '"1"')

    def test_leaves_at_least_one_name(self, side: Side) -> None:
        made = side.made(side.trade.parties, unique(individual_name="Maya"))
        assert change(side, made, company_name=None).json()["display_name"] == "Maya"
        assert faults(change(side, made, individual_name=None)) == ["company_name"]

    def test_to_an_external_id_that_is_taken_is_409(self, side: Side) -> None:
        first, second = (side.made(side.trade.parties, unique()) for _ in range(2))
        taken = {"external_id": first["external_id"]}
        answer = change(side, second, **taken, email="lost@example.com")
        assert refused(answer) == (409, "duplicate_external_id")
        assert answer.json()["detail"] == {**taken, "id": first["id"]}
        assert side.api.get(side.trade.of_party(second)).json() == second
        for free in (second["external_id"], f"free-{next(_numbers)}"):
            assert change(side, second, external_id=free).status_code == 200

    def test_of_an_archived_one_is_possible(self, side: Side) -> None:
        gone = side.somebody()
        side.api.post(side.trade.of_party(gone, "archive"))
        after = change(side, gone, address_string="Gone").json()
        assert (after["address_string"], after["is_archived"]) == ("Gone", True)


class TestUpdateCustomer(Update):
    trade = SALES
    lasting = ("tax_exempt",)
    same = ("company_name",)


class TestUpdateVendor(Update):
    trade = PURCHASES
    lasting = ("country", "vat_number")
    same = ("company_name", "status")

    @pytest.mark.parametrize("field", ["country", "document", "vat_number"])
    def test_takes_nothing_that_is_for_creation_alone(self, side: Side, field: str) -> None:
        given = in_json() if field == "document" else "GB"
        answer = change(side, side.somebody(), **{field: given})
        assert faults(answer) == [field]

    @pytest.mark.parametrize("status", STATUSES)
    @pytest.mark.parametrize("before", STATUSES)
    def test_moves_the_status_from_any_to_any(self, side: Side, before: str, status: str) -> None:
        vendor = change(side, side.somebody(), status=before).json()
        answer = change(side, vendor, status=status)
        after = answer.json()
        assert (answer.status_code, after["status"]) == (200, status)
        assert (after["is_active"], after["is_archived"]) == (status == "ACTIVE", False)
        assert (after == vendor) == (status == before)

    def test_is_not_how_one_is_archived(self, side: Side) -> None:
        assert faults(change(side, side.somebody(), status="ARCHIVED")) == ["status"]

    @pytest.mark.parametrize("status", STATUSES)
    def test_of_the_status_of_an_archived_one_is_409(self, side: Side, status: str) -> None:
        vendor = side.somebody()
        archived = side.api.post(side.trade.of_party(vendor, "archive")).json()
        answer = change(side, vendor, status=status, memo="Lost")
        assert refused(answer) == (409, "invalid_state_transition")
        states = {"current_state": "ARCHIVED", "allowed_next_states": ["ACTIVE"]}
        assert answer.json()["detail"] == states
        assert side.api.get(side.trade.of_party(vendor)).json() == archived


class InsideAnotherObject:
    @pytest.mark.parametrize(
        "names",
        [
            {"company_name": "Tall Ship Ltd", "individual_name": "Maya Lindqvist"},
            {"individual_name": "Maya Lindqvist"},
        ],
    )
    def test_shows_every_name_that_it_has(self, side: Side, names: Record) -> None:
        name = names.get("company_name") or names["individual_name"]
        given = {
            "external_id": f"named-{next(_numbers)}",
            "email": "hello@ship.example.com",
            **names,
        }
        party = side.made(side.trade.parties, given)
        expected = {"company_name": None, "name": name, "display_name": name, **given}
        expected["id"] = party["id"]
        side = replace(side, counterparty=party)
        document = side.open()
        for record in (document, side.read(document), side.pay(100), side.credit(100)):
            assert record[side.trade.party] == expected
        listed = side.api.get(
            side.trade.path, params={f"{side.trade.party}_id": party["id"]}
        ).json()
        assert [each[side.trade.party] for each in listed["results"]] == [expected]


class TestCustomerInsideAnotherObject(InsideAnotherObject):
    trade = SALES


class TestVendorInsideAnotherObject(InsideAnotherObject):
    trade = PURCHASES
