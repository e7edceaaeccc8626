"""Tax codes: every business starts with those of its country, and makes, reads and lists them."""

import pytest

from accounting.books.businesses import COUNTRIES
from accounting.tax.starting_codes import starting_codes
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import NOBODY, Record
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in

ACCOUNTS = "general-ledger/chart-of-accounts/"
ALWAYS = {"recoverable_percent": 100, "valid_from": None, "valid_to": None}


@pytest.fixture(scope="module")
def full(acme: Partner) -> Business:
    """A business with an archived code."""
    shop = acme.business()
    gone = shop.made(CODES, code_body("GONE", name="Archived 100%"))
    shop.api.delete(f"{CODES}{gone['id']}/")
    return shop


class TestCreateBusiness:
    @pytest.mark.parametrize("country", COUNTRIES)
    def test_a_business_starts_with_the_codes_of_its_country(
        self, acme: Partner, api_server: ApiServer, country: str
    ) -> None:
        form = {"GB": "limited", "DE": "gmbh", "NL": "bv", "ES": "sl", "BE": "bv"}
        asian = {"MY": "sdn_bhd", "SG": "pte_ltd"}
        entity_type = {**form, **asian}.get(country, "company")
        business = acme.business(country=country, entity_type=entity_type)
        found = codes_of(business)
        expected = starting_codes(country)
        assert list(found) == sorted(each.code for each in expected)
        for each in expected:
            shown = found[each.code]
            assert (shown["name"], shown["direction"], shown["treatment"]) == (
                *(each.name, each.direction, each.treatment),
            )
            assert [rate["rate"] for rate in shown["rates"]] == [
                float(rate.rate) for rate in each.rates
            ]
            assert shown["boxes"] == {part: list(boxes) for part, boxes in each.boxes.items()}
        assert faults_in(api_server, business) == set()

    def test_each_has_the_account_of_its_kind(self, acme: Partner) -> None:
        found = codes_of(acme.business(country="ES", entity_type="sl"))
        accounts = {code: found[code]["tax_account"]["code"] for code in ("S21", "P21")}
        assert accounts == {"S21": "2200", "P21": "1300"}
        assert found["SW15"]["tax_account"]["name"] == "Withholding tax recoverable"
        assert found["PW15"]["tax_account"]["code"] == "2210"

    def test_a_business_without_a_country_starts_without_tax_codes(self, acme: Partner) -> None:
        body = {
            "external_id": "nowhere",
            "legal_name": "Nowhere",
            "entity_type": "company",
            "email": "books@nowhere.example.com",
        }
        opened = acme.api.post("/v1/platform/businesses/", json=body).json()
        assert codes_of(Business(acme, opened)) == {}


class TestCreateTaxCode:
    def test_a_code_shows_all_given_fields(self, shop: Business) -> None:
        given = code_body(
            "V-17.5",
            direction="purchases",
            treatment="reduced",
            rates=[
                {
                    "rate": "17.5",
                    "recoverable_percent": 50,
                    "valid_from": "2020-01-01",
                    "valid_to": "2024-12-31",
                },
                {"rate": 18.1234, "valid_from": "2025-01-01"},
            ],
            tax_account="2400",
            boxes={"net": ["7"], "input": ["4", "4a"], "output": []},
        )
        answer = shop.api.post(CODES, json=given)
        made = answer.json()
        assert answer.status_code == 201
        assert answer.headers["location"].endswith(f"/{made['id']}/")
        shown = ("code", "name", "direction", "treatment")
        assert {name: made[name] for name in shown} == {name: given[name] for name in shown}
        assert made["rates"] == [
            {**given["rates"][0], "rate": 17.5},
            {**ALWAYS, "rate": 18.1234, "valid_from": "2025-01-01"},
        ]
        assert made["current_rate"] == made["rates"][1]
        assert made["tax_account"]["code"] == "2400"
        assert made["boxes"] == {"net": ["7"], "input": ["4", "4a"]}
        assert (made["is_default"], made["is_active"], made["archived_at"]) == (False, True, None)
        read = shop.api.get(f"{CODES}{made['id']}/")
        assert (read.json(), read.headers["etag"]) == (made, '"1"')

    @pytest.mark.parametrize(
        ("direction", "treatment", "account"),
        [
            ("sales", "reduced", "2200"),
            ("purchases", "import_postponed", "1300"),
            ("sales", "withholding", "1310"),
            ("purchases", "withholding", "2210"),
        ],
    )
    def test_its_tax_stands_on_the_account_of_its_kind(
        self, shop: Business, direction: str, treatment: str, account: str
    ) -> None:
        body = code_body(f"{direction}.{treatment}", direction=direction, treatment=treatment)
        assert shop.made(CODES, body)["tax_account"]["code"] == account

    def test_a_code_with_past_rates_only_has_no_current_rate(self, shop: Business) -> None:
        over = [{"rate": 17.5, "valid_to": "2010-12-31"}]
        assert shop.made(CODES, code_body("OLD", rates=over))["current_rate"] is None

    def test_the_new_default_takes_the_place_of_the_old_one(self, acme: Partner) -> None:
        shop = acme.business()
        before = codes_of(shop)
        new = shop.made(CODES, code_body("S20B", is_default=True))
        after = codes_of(shop)
        assert {code for code, each in after.items() if each["is_default"]} == {"S20B", "P20"}
        assert after["S20"]["updated_at"] == new["created_at"]
        assert after["P20"] == before["P20"]

    @pytest.mark.parametrize("code", ["S20", "s20"])
    def test_codes_are_unique_letter_by_letter(self, acme: Partner, code: str) -> None:
        shop = acme.business()
        answer = shop.api.post(CODES, json=code_body(code))
        if code == "s20":
            assert answer.status_code == 201
            return
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_tax_code")
        assert answer.json()["detail"] == {"id": codes_of(shop)["S20"]["id"]}

    @pytest.mark.parametrize(
        ("facts", "faults"),
        [
            ({"treatment": "acquisition"}, {"treatment": ["cannot be acquisition on sales"]}),
            ({"treatment": "zero"}, {"rates.0.rate": ["must be 0 for zero on sales"]}),
            (
                {"treatment": "withholding", "is_default": True},
                {"is_default": ["must be false for the treatment withholding"]},
            ),
            (
                {"rates": [{"rate": 1, "valid_from": "2026-01-02", "valid_to": "2026-01-01"}]},
                {"rates.0.valid_to": ["must not be before valid_from"]},
            ),
            (
                {"rates": [{"rate": 1, "valid_to": "2026-01-02"}, {"rate": 2}]},
                {"rates.1.valid_from": ["must not overlap rates.0"]},
            ),
        ],
    )
    def test_an_inconsistent_code_is_refused(
        self, shop: Business, ledger: Ledger, facts: Record, faults: Record
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(CODES, json=code_body("NO", **facts))
        assert answer.status_code == 400
        assert answer.json()["detail"]["field_errors"] == faults

    @pytest.mark.parametrize(
        ("account", "code"),
        [(NOBODY, "reference_not_found"), ("1200", "control_account")],
    )
    def test_an_account_that_may_not_be_given_is_refused(
        self, shop: Business, ledger: Ledger, account: str, code: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(CODES, json=code_body("NO", tax_account=account))
        assert (answer.status_code, answer.json()["error_code"]) == (422, code)

    def test_an_archived_account_is_refused(self, shop: Business, ledger: Ledger) -> None:
        kind = {"account_type": "liability", "account_subtype": "current_liabilities"}
        shop.made(ACCOUNTS, {"code": "2290", "name": "Gone", **kind})
        shop.api.delete(f"{ACCOUNTS}2290/")
        with ledger.untouched():
            answer = shop.api.post(CODES, json=code_body("NO", tax_account="2290"))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "account_archived")


class TestListTaxCodes:
    def test_archived_ones_are_listed_where_they_are_asked_for(self, full: Business) -> None:
        active, every = codes_of(full), codes_of(full, include_archived=True)
        assert set(every) - set(active) == {"GONE"}
        assert set(codes_of(full, is_active=False)) == {"GONE"}
        assert codes_of(full, is_active=True) == active

    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ({"treatment": "acquisition"}, ["PG0", "PG20", "PG5"]),
            ({"direction": "sales", "treatment": "zero"}, ["S0", "SG", "SX"]),
            ({"search": "northern"}, ["PG0", "PG20", "PG5", "SG"]),
            ({"search": "pi"}, ["PI20", "PI5"]),
            ({"search": "100%", "include_archived": True}, ["GONE"]),
        ],
    )
    def test_filters_select_codes(self, full: Business, asked: Record, found: list[str]) -> None:
        assert list(codes_of(full, **asked)) == found

    def test_codes_are_sorted_by_code_or_creation(self, full: Business) -> None:
        assert list(codes_of(full)) == sorted(codes_of(full))
        assert list(codes_of(full, sort="-code")) == sorted(codes_of(full), reverse=True)
        newest = next(iter(codes_of(full, sort="-created_at", include_archived=True)))
        assert newest == "GONE"


class TestGetTaxCode:
    def test_an_unknown_one_is_not_found(self, shop: Business) -> None:
        answer = shop.api.get(f"{CODES}{NOBODY}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "tax_code_not_found")

    def test_that_of_another_business_is_not_found(self, shop: Business, acme: Partner) -> None:
        other = codes_of(acme.business())["S20"]
        answer = shop.api.get(f"{CODES}{other['id']}/")
        assert answer.json()["error_code"] == "tax_code_not_found"
