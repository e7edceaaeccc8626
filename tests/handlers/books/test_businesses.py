"""Businesses: opened by a partner, kept up, archived and brought back."""

from datetime import timedelta
from itertools import count
from typing import Any

import httpx
import pytest

from accounting.books.businesses import COUNTRIES, CURRENCY_BY_COUNTRY, ENTITY_TYPES
from tests import clock
from tests.api_server import ApiServer
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
    """What a business needs at least."""
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
        assert acme.api.get(f"{BUSINESSES}{made['id']}/").json() == {
            name: value for name, value in made.items() if name != "_meta"
        }

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
        again = acme.api.post(
            BUSINESSES, json=body(external_id=first["external_id"], legal_name="Other Ltd")
        )
        assert again.status_code == 200
        expected = {**first, "_meta": {"created": False, "matched_on": "external_id"}}
        assert again.json() == expected
        found = api_server.query(
            "SELECT count(*) FROM business WHERE external_id = %s", first["external_id"]
        )
        assert found == [(1,)]

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

    @pytest.mark.parametrize("country", ["FR", "IT", None])
    def test_takes_any_legal_form_where_there_is_no_list(
        self, country: str | None, acme: Partner
    ) -> None:
        assert opened(acme, country=country, entity_type="Guild")["entity_type"] == "guild"

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

    def test_tells_all_faults_at_once(self, acme: Partner) -> None:
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

    def test_by_a_key_works_too_and_by_a_business_token_is_403(
        self, acme: Partner, business: Business
    ) -> None:
        assert acme.key.post(BUSINESSES, json=body()).status_code == 201
        answer = business.api.post(f"{acme.url}{BUSINESSES}", json=body())
        assert answer.status_code == 403

    def test_with_the_key_of_another_body_is_422(self, acme: Partner) -> None:
        headers = {"idempotency-key": f"open-{next(_numbers)}"}
        first = acme.api.post(BUSINESSES, json=body(), headers=headers)
        other = acme.api.post(BUSINESSES, json=body(), headers=headers)
        assert (first.status_code, other.status_code) == (201, 422)

    def test_a_key_of_one_partner_is_free_for_another(self, acme: Partner, rival: Partner) -> None:
        headers = {"idempotency-key": f"shared-{next(_numbers)}"}
        ours = acme.api.post(BUSINESSES, json=body(), headers=headers)
        theirs = rival.api.post(BUSINESSES, json=body(), headers=headers)
        assert (ours.status_code, theirs.status_code) == (201, 201)


class TestGetBusiness:
    def test_reads_it_for_all_three_kinds_of_caller(self, business: Business) -> None:
        address = f"{business.partner.url}{BUSINESSES}{business.id}/"
        callers = (business.api, business.partner.api, business.partner.key)
        answers = [caller.get(address) for caller in callers]
        assert [answer.json()["id"] for answer in answers] == [business.id] * 3
        assert len({answer.headers["etag"] for answer in answers}) == 1

    def test_of_another_partner_is_404_and_by_a_token_of_another_business_403(
        self, business: Business, rival: Partner
    ) -> None:
        answer = rival.api.get(f"{BUSINESSES}{business.id}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "business_not_found")
        stranger = rival.business().api.get(f"{rival.url}{BUSINESSES}{business.id}/")
        assert (stranger.status_code, stranger.json()["error_code"]) == (403, "permission_denied")


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
        assert {name: after[name] for name in untouched} == {
            name: before[name] for name in untouched
        }
        assert business.api.get("").json() == after

    def test_clears_what_is_null(self, business: Business) -> None:
        change(business, **{name: COMPLETE[name] for name in ("name", "tin", "phone_number")})
        after = change(business, name=None, tin=None, phone_number=None).json()
        assert (after["tin"], after["phone_number"]) == (None, None)
        assert after["name"] == after["legal_name"]

    def test_that_changes_nothing_makes_no_new_version(self, business: Business) -> None:
        before = business.api.get("")
        answer = change(business, legal_name=before.json()["legal_name"])
        assert (answer.json(), answer.headers["ETag"]) == (before.json(), before.headers["ETag"])

    def test_of_what_is_fixed_is_422_when_it_differs(self, business: Business) -> None:
        for name, value in (
            ("external_id", "another"), ("country", "DE"), ("base_currency", "EUR"),
        ):  # fmt: skip
            answer = change(business, **{name: value, "email": "new@harbour.example.com"})
            assert (answer.status_code, answer.json()["error_code"]) == (422, "immutable_field")
            assert answer.json()["detail"]["fields"] == [name]
        assert business.api.get("").json()["email"] == business.record["email"]

    def test_takes_what_is_fixed_when_it_is_the_same(self, business: Business) -> None:
        same = {name: business.record[name] for name in ("external_id", "country", "base_currency")}
        assert change(business, **same, country=same.pop("country").lower()).status_code == 200

    def test_of_the_legal_form_asks_the_list_of_its_country(self, business: Business) -> None:
        assert change(business, entity_type="GmbH").status_code == 400
        assert change(business, entity_type="PLC").json()["entity_type"] == "plc"

    def test_with_nothing_in_it_changes_nothing_that_shows(self, business: Business) -> None:
        before = business.api.get("").json()
        after = change(business).json()
        assert {**after, "updated_at": ""} == {**before, "updated_at": ""}

    def test_of_the_lock_date_closes_the_books_up_to_that_day_and_opens_them_again(
        self, business: Business
    ) -> None:
        customer = business.customer()
        change(business, lock_date="2026-07-01")
        line = {"quantity": 1, "unit_price": 100}
        invoice = {"customer_id": customer["id"], "line_items": [line]}
        late = business.api.post("invoices/", json={**invoice, "sent_at": "2026-07-01T23:59:59Z"})
        assert (late.status_code, late.json()["error_code"]) == (409, "period_locked")
        business.made("invoices/", {**invoice, "sent_at": "2026-07-02T00:00:00Z"})
        assert change(business, lock_date=None).json()["lock_date"] is None
        business.made("invoices/", {**invoice, "sent_at": "2026-07-01T23:59:59Z"})

    def test_of_an_archived_one_is_409(self, business: Business) -> None:
        business.partner.api.post(f"{BUSINESSES}{business.id}/archive/")
        answer = change(business, email="new@harbour.example.com")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")

    def test_of_another_partner_is_404(self, business: Business, rival: Partner) -> None:
        answer = rival.api.patch(f"{BUSINESSES}{business.id}/", json={"name": "Stolen"})
        assert (answer.status_code, answer.json()["error_code"]) == (404, "business_not_found")

    def test_in_another_content_type_is_415(self, business: Business) -> None:
        answer = business.partner.api.patch(f"{BUSINESSES}{business.id}/", data={"name": "Form"})
        assert answer.status_code == 415

    def test_of_a_version_that_somebody_else_changed_is_412(self, business: Business) -> None:
        seen = business.api.get("").headers["etag"]
        ours = {"if-match": seen}
        address = f"{BUSINESSES}{business.id}/"
        first = business.partner.api.patch(address, json={"name": "First"}, headers=ours)
        second = business.partner.api.patch(address, json={"name": "Second"}, headers=ours)
        assert (first.status_code, second.status_code) == (200, 412)
        assert first.headers["etag"] != seen
        assert business.api.get("").json()["name"] == "First"


class TestLockDate:
    def test_is_today_at_most(self, acme: Partner) -> None:
        business = acme.business()
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
        first = partner.post(f"{BUSINESSES}{business.id}/{move}/")
        again = partner.post(f"{BUSINESSES}{business.id}/{move}/")
        assert (first.status_code, again.status_code) == (200, 200)
        assert first.json()["is_active"] is again.json()["is_active"] is active
        assert first.headers["etag"] == again.headers["etag"]
        assert again.json() == first.json() == business.api.get("").json()

    @pytest.mark.parametrize("move", ["archive", "unarchive"])
    def test_of_another_partner_is_404(self, move: str, business: Business, rival: Partner) -> None:
        answer = rival.api.post(f"{BUSINESSES}{business.id}/{move}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "business_not_found")

    @pytest.mark.parametrize("move", ["archive", "unarchive"])
    def test_by_the_business_itself_is_403(self, move: str, business: Business) -> None:
        assert business.api.post(f"{move}/").status_code == 403

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
