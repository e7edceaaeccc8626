"""Businesses that a partner opens, updates, archives and unarchives."""

from datetime import timedelta
from itertools import count
from typing import Any

import httpx
import pytest

from accounting.books.businesses import COUNTRIES, CURRENCY_BY_COUNTRY, ENTITY_TYPES
from tests import clock
from tests.api_server import ApiServer
from tests.builders.sales import invoice_body
from tests.builders.trade import unwarned
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner

BUSINESSES = "/v1/platform/businesses/"
_numbers = count(1)

COMPLETE = {
    "legal_name": "Harbour Coffee Roasters Ltd",
    "name": "Harbour Coffee",
    "entity_type": "limited",
    "email": "accounts@harbour-coffee.co.uk",
    "phone_number": "+442079460123",
    "tin": "1234567890",
    "vat_number": "GB980780684",
    "company_number": "09876543",
    "country": "GB",
    "province": "Avon",
    "eu_nace_industry_code": "10.83",
    "base_currency": "GBP",
    "accounting_method": "cash",
    "fiscal_year_end": "2026-03-31",
    "coa_language": "en",
    "metadata": {"plan": "growth", "seats": [1, 2.5, None]},
}
MISTAKEN = {"phone_number": "call me", "vat_number": "GB123456789"}


def body(**facts: Any) -> dict[str, Any]:
    """Return a body of a business with the required fields."""
    needed = {
        "external_id": f"opened-{next(_numbers)}",
        "legal_name": "Harbour Coffee Ltd",
        "entity_type": "limited",
        "email": "books@harbour.example.com",
        "country": "GB",
    }
    merged = {**needed, **facts}
    return {name: value for name, value in merged.items() if value is not None}


def opened(partner: Partner, **facts: Any) -> dict[str, Any]:
    answer = partner.api.post(BUSINESSES, json=body(**facts))
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def change(business: Business, **changes: Any) -> httpx.Response:
    return business.partner.api.patch(f"{BUSINESSES}{business.id}/", json=changes)


@pytest.fixture
def business(acme: Partner) -> Business:
    return acme.business()


class TestCreateBusiness:
    def test_keeps_and_shows_every_field(self, acme: Partner) -> None:
        made = opened(acme, **COMPLETE)
        assert {name: made[name] for name in COMPLETE} == COMPLETE
        assert made["_meta"] == {"created": True, "matched_on": None}
        assert (made["is_active"], made["lock_date"], made["warnings"]) == (True, None, [])
        assert made["currency"] == "GBP"
        assert made["activation_at"] == made["created_at"] == made["updated_at"]
        del made["_meta"]
        assert acme.api.get(f"{BUSINESSES}{made['id']}/").json() == made

    def test_fills_in_what_was_left_out(self, acme: Partner) -> None:
        made = opened(acme, country=None)
        assert made["name"] == made["legal_name"]
        assert (made["country"], made["base_currency"]) == (None, "EUR")
        assert (made["accounting_method"], made["coa_language"]) == ("accrual", "en")
        assert made["fiscal_year_end"][5:] == "12-31"
        assert made["metadata"] == {}

    def test_of_a_known_external_id_answers_the_one_there_is_unchanged(
        self, acme: Partner, api_server: ApiServer
    ) -> None:
        first = opened(acme)
        known = {"external_id": first["external_id"]}
        again = acme.api.post(BUSINESSES, json=body(**known, legal_name="Other Ltd"))
        expected = {**first, "_meta": {"created": False, "matched_on": "external_id"}}
        assert (again.status_code, unwarned(again.json())) == (200, expected)
        text = "SELECT count(*) FROM business WHERE external_id = %s"
        assert api_server.query(text, first["external_id"]) == [(1,)]

    def test_may_have_an_external_id_that_another_partner_uses(
        self, acme: Partner, rival: Partner
    ) -> None:
        ours = opened(acme)
        theirs = opened(rival, external_id=ours["external_id"])
        assert theirs["id"] != ours["id"]

    @pytest.mark.parametrize("country", COUNTRIES)
    def test_in_each_country_has_its_currency_and_takes_either_case(
        self, country: str, acme: Partner
    ) -> None:
        entity_type = ENTITY_TYPES.get(country, ("anything",))[0]
        made = opened(acme, country=country.lower(), entity_type=entity_type.upper())
        assert (made["country"], made["entity_type"]) == (country, entity_type)
        assert made["base_currency"] == CURRENCY_BY_COUNTRY.get(country, "EUR")

    @pytest.mark.parametrize("country", ENTITY_TYPES)
    def test_of_a_wrong_legal_form_is_400_and_names_the_right_ones(
        self, country: str, acme: Partner
    ) -> None:
        answer = acme.api.post(BUSINESSES, json=body(country=country.lower(), entity_type="guild"))
        assert answer.status_code == 400
        [words] = answer.json()["detail"]["field_errors"]["entity_type"]
        assert all(each in words for each in ENTITY_TYPES[country])

    def test_in_another_currency_than_its_country_is_possible(self, acme: Partner) -> None:
        assert opened(acme, base_currency="USD")["currency"] == "USD"

    def test_warns_of_numbers_that_look_wrong_and_takes_them(self, acme: Partner) -> None:
        made = opened(acme, **MISTAKEN)
        assert {each["field"] for each in made["warnings"]} == set(MISTAKEN)
        assert {name: made[name] for name in MISTAKEN} == MISTAKEN

    @pytest.mark.parametrize("missing", ["external_id", "legal_name", "entity_type", "email"])
    def test_without_what_it_needs_is_400(self, missing: str, acme: Partner) -> None:
        answer = acme.api.post(BUSINESSES, json=body(**{missing: None}))
        assert answer.status_code == 400
        assert answer.json()["detail"]["field_errors"] == {missing: ["is required"]}

    def test_reports_all_faults(self, acme: Partner) -> None:
        answer = acme.api.post(BUSINESSES, json=body(email="nobody", country="XX", nope=1))
        assert answer.json()["detail"]["field_errors"].keys() == {"email", "country", "nope"}

    def test_starts_with_a_chart_in_its_language(self, acme: Partner) -> None:
        names = {}
        for language in ("en", "de", "nl", "fr", "es"):
            made = opened(acme, coa_language=language)
            address = f"{BUSINESSES}{made['id']}/general-ledger/chart-of-accounts/?page_size=100"
            chart = acme.api.get(address).json()["results"]
            names[language] = {each["code"]: each["name"] for each in chart}
        assert len({frozenset(chart) for chart in names.values()}) == 1
        assert len({chart["1100"] for chart in names.values()}) == 5

    def test_a_key_of_one_partner_is_free_for_another(self, acme: Partner, rival: Partner) -> None:
        headers = {"idempotency-key": f"shared-{next(_numbers)}"}
        ours = acme.api.post(BUSINESSES, json=body(), headers=headers)
        theirs = rival.api.post(BUSINESSES, json=body(), headers=headers)
        assert (ours.status_code, theirs.status_code) == (201, 201)


class TestUpdateBusiness:
    def test_changes_what_is_given_and_nothing_else(self, business: Business) -> None:
        fixed = ("country", "base_currency", "coa_language")
        changes = {name: value for name, value in COMPLETE.items() if name not in fixed}
        before = business.api.get("").json()
        answer = change(business, **changes, lock_date="2026-06-30")
        assert answer.status_code == 200
        after = answer.json()
        assert {name: after[name] for name in changes} == changes
        assert after["lock_date"] == "2026-06-30"
        assert after["updated_at"] > before["updated_at"]
        untouched = before.keys() - changes.keys() - {"lock_date", "updated_at"}
        assert [after[name] for name in untouched] == [before[name] for name in untouched]
        assert business.api.get("").json() == after

    def test_clears_what_is_null(self, business: Business) -> None:
        change(business, **{name: COMPLETE[name] for name in ("name", "tin", "phone_number")})
        after = change(business, name=None, tin=None, phone_number=None).json()
        assert (after["tin"], after["phone_number"]) == (None, None)
        assert after["name"] == after["legal_name"]

    @pytest.mark.parametrize("changes", [{}, {"legal_name": "Harbour Coffee Ltd"}])
    def test_that_changes_nothing_makes_no_new_version(
        self, business: Business, changes: dict[str, str]
    ) -> None:
        before = business.api.get("")
        answer = change(business, **changes)
        assert (answer.json(), answer.headers["ETag"]) == (before.json(), before.headers["ETag"])

    @pytest.mark.parametrize(
        ("name", "value"),
        [("external_id", "another"), ("country", "DE"), ("base_currency", "EUR")],
    )
    def test_of_what_is_fixed_is_422_when_it_differs(
        self, business: Business, name: str, value: str
    ) -> None:
        answer = change(business, **{name: value, "email": "new@harbour.example.com"})
        assert (answer.status_code, answer.json()["error_code"]) == (422, "immutable_field")
        assert answer.json()["detail"]["fields"] == [name]
        assert business.api.get("").json()["email"] == business.record["email"]

    def test_of_the_legal_form_asks_the_list_of_its_country(self, business: Business) -> None:
        assert change(business, entity_type="GmbH").status_code == 400
        assert change(business, entity_type="PLC").json()["entity_type"] == "plc"

    def test_of_the_lock_date_closes_the_books_up_to_that_day_and_opens_them_again(
        self, business: Business
    ) -> None:
        change(business, lock_date="2026-07-01")
        invoice = invoice_body(business.customer())
        late = business.api.post("invoices/", json={**invoice, "sent_at": "2026-07-01T23:59:59Z"})
        assert (late.status_code, late.json()["error_code"]) == (409, "period_locked")
        business.made("invoices/", {**invoice, "sent_at": "2026-07-02T00:00:00Z"})
        assert change(business, lock_date=None).json()["lock_date"] is None
        business.made("invoices/", {**invoice, "sent_at": "2026-07-01T23:59:59Z"})

    def test_of_an_archived_one_is_409(self, business: Business) -> None:
        business.partner.api.post(f"{BUSINESSES}{business.id}/archive/")
        answer = change(business, email="new@harbour.example.com")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")


class TestLockDate:
    def test_is_today_at_most(self, business: Business) -> None:
        answer = change(business, lock_date=str(clock.today() + timedelta(days=1)))
        assert answer.status_code == 422
        assert is_as_shown("LockDateInFuture", answer)
        assert change(business, lock_date=str(clock.today())).status_code == 200


class TestArchiveBusiness:
    @pytest.mark.parametrize(("move", "active"), [("archive", False), ("unarchive", True)])
    def test_answers_the_business_as_it_is_then_and_again_without_a_change(
        self, move: str, active: bool, business: Business
    ) -> None:
        partner = business.partner.api
        if active:
            partner.post(f"{BUSINESSES}{business.id}/archive/")
        first, again = (partner.post(f"{BUSINESSES}{business.id}/{move}/") for _ in range(2))
        assert (first.status_code, again.status_code) == (200, 200)
        assert first.json()["is_active"] is active
        assert first.headers["etag"] == again.headers["etag"]
        assert again.json() == first.json() == business.api.get("").json()

    def test_leaves_everything_to_be_read_and_written_to_again_afterwards(
        self, business: Business
    ) -> None:
        customer = business.customer()
        business.partner.api.post(f"{BUSINESSES}{business.id}/archive/")
        assert business.api.get(f"customers/{customer['id']}/").json() == customer
        refused = business.api.post("customers/", json={"company_name": "Late"})
        assert (refused.status_code, refused.json()["error_code"]) == (409, "business_archived")
        business.partner.api.post(f"{BUSINESSES}{business.id}/unarchive/")
        assert business.customer()["id"]


class TestMatchingTolerance:
    def test_is_none_unless_it_is_given(self, business: Business) -> None:
        assert business.api.get("").json()["matching_tolerance_cents"] == 0
        answer = change(business, matching_tolerance_cents=500)
        assert answer.json()["matching_tolerance_cents"] == 500
        assert business.api.get("").json() == answer.json()

    @pytest.mark.parametrize(
        ("country", "most"), [("GB", 500), ("IS", 5)], ids=["pence", "no minor unit"]
    )
    def test_is_at_most_five_in_the_currency(
        self, partner: Partner, country: str, most: int
    ) -> None:
        made = opened(partner, country=country, matching_tolerance_cents=most)
        assert made["matching_tolerance_cents"] == most
        more = {"matching_tolerance_cents": most + 1}
        for answer in (
            partner.api.patch(f"{BUSINESSES}{made['id']}/", json=more),
            partner.api.post(BUSINESSES, json=body(country=country, **more)),
        ):
            assert answer.status_code == 400
            assert list(answer.json()["detail"]["field_errors"]) == ["matching_tolerance_cents"]


class TestUnknownParties:
    def test_are_created_unless_they_are_refused(self, business: Business) -> None:
        assert business.api.get("").json()["unknown_parties"] == "create"
        answer = change(business, unknown_parties="refuse")
        assert answer.json()["unknown_parties"] == "refuse"
        assert business.api.get("").json() == answer.json()
        assert change(business, name="Other").json()["unknown_parties"] == "refuse"
        assert change(business, unknown_parties="create").json()["unknown_parties"] == "create"

    def test_are_decided_at_the_creation_and_listed(self, partner: Partner) -> None:
        for made in (opened(partner), opened(partner, unknown_parties="refuse")):
            listed = partner.api.get(BUSINESSES, params={"search": made["external_id"]}).json()
            [found] = [each for each in listed["results"] if each["id"] == made["id"]]
            assert found["unknown_parties"] == made["unknown_parties"]
        assert made["unknown_parties"] == "refuse"
