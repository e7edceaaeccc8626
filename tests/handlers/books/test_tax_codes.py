"""Tax codes of a business: its initial codes, the created ones, and their list."""

import pytest

from accounting.books.businesses import COUNTRIES, ENTITY_TYPES
from accounting.tax.starting_codes import starting_codes
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import Record
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
        entity_type = ENTITY_TYPES.get(country, ("company",))[0]
        business = acme.business(country=country, entity_type=entity_type)
        found = codes_of(business)
        expected = starting_codes(country)
        assert list(found) == sorted(each.code for each in expected)
        for each in expected:
            shown = found[each.code]
            names = ("name", "direction", "treatment")
            assert [shown[name] for name in names] == [getattr(each, name) for name in names]
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
        past = {"valid_from": "2020-01-01", "valid_to": "2024-12-31"}
        given = code_body(
            "V-17.5",
            direction="purchases",
            treatment="reduced",
            rates=[
                {"rate": "17.5", "recoverable_percent": 50, **past},
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

    def test_codes_are_unique_letter_by_letter(self, acme: Partner) -> None:
        shop = acme.business()
        shop.made(CODES, code_body("s20"))
        answer = shop.api.post(CODES, json=code_body("S20"))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_tax_code")
        assert answer.json()["detail"] == {"id": codes_of(shop)["S20"]["id"]}

    def test_an_inconsistent_code_is_refused(self, shop: Business, ledger: Ledger) -> None:
        with ledger.untouched():
            answer = shop.api.post(CODES, json=code_body("NO", treatment="acquisition"))
        assert answer.status_code == 400
        faults = answer.json()["detail"]["field_errors"]
        assert faults == {"treatment": ["cannot be acquisition on sales"]}

    def test_an_archived_account_is_refused(self, shop: Business, ledger: Ledger) -> None:
        shop.api.delete(f"{ACCOUNTS}1500/")
        refused = ledger.refused("POST", CODES, json=code_body("NO", tax_account="1500"))
        assert refused == (409, "account_archived")


class TestListTaxCodes:
    def test_archived_codes_are_listed_on_request(self, full: Business) -> None:
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
