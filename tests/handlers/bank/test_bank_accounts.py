"""Bank accounts, each over its own account of the chart."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import NOBODY, Record
from tests.partner import Business, Partner

BANKS = "bank-accounts/"
ACCOUNTS = "general-ledger/chart-of-accounts/"
IBAN = "GB33BUKB20201555555555"


@pytest.fixture
def fresh(acme: Partner) -> Business:
    """A business without any bank account."""
    return acme.business()


def asset(business: Business, code: str, **facts: Any) -> Record:
    kind = {"account_type": "asset", "account_subtype": "current_assets", **facts}
    return business.made(ACCOUNTS, {"code": code, "name": f"Money {code}", **kind})


def ledger_account(business: Business, reference: str) -> Record:
    account: Record = business.api.get(f"{ACCOUNTS}{reference}/").json()
    return account


class TestCreateBankAccount:
    def test_the_first_bank_account_is_over_1100(self, fresh: Business) -> None:
        given = {
            "display_name": "Current account",
            "currency": "GBP",
            "iban": "GB33 BUKB 2020 1555 5555 55",
            "mask": "****5555",
            "institution_name": "First Quay Bank",
            "external_id": "current",
        }
        answer = fresh.api.post(BANKS, json=given)
        made = answer.json()
        assert answer.status_code == 201
        assert {name: made[name] for name in given} == {**given, "iban": IBAN}
        assert made["account"]["code"] == "1100"
        assert made["business_id"] == fresh.id
        assert answer.headers["location"].endswith(f"/{made['id']}/")
        read = fresh.api.get(f"{BANKS}{made['id']}/")
        assert (read.json(), read.headers["etag"]) == (made, '"1"')

    def test_the_account_of_the_chart_shows_the_bank(self, fresh: Business) -> None:
        facts = {"iban": IBAN, "institution_name": "First Quay Bank"}
        fresh.made(BANKS, {"display_name": "Current account", "mask": "****5555", **facts})
        account = ledger_account(fresh, "1100")
        shown = {**facts, "account_number_mask": "****5555", "name": "Business bank account"}
        assert {name: account[name] for name in shown} == shown

    def test_each_further_one_gets_an_account_under_it_with_the_next_free_code(
        self, fresh: Business
    ) -> None:
        asset(fresh, "1102")
        names = ["Current", "Savings", "Taxes"]
        made = [fresh.made(BANKS, {"display_name": name}) for name in names]
        assert [each["account"]["code"] for each in made] == ["1100", "1101", "1103"]
        assert [each["account"]["name"] for each in made[1:]] == ["Savings", "Taxes"]
        child = ledger_account(fresh, "1103")
        assert (child["parent_account_code"], child["account_type"]) == ("1100", "asset")

    def test_a_renamed_bank_account_of_the_chart_is_still_the_first(self, fresh: Business) -> None:
        fresh.api.patch(f"{ACCOUNTS}1100/", json={"code": "BANK"})
        made = [fresh.made(BANKS, {"display_name": name}) for name in ("One", "Two", "Three")]
        assert [each["account"]["code"] for each in made] == ["BANK", "BANK-1", "BANK-2"]

    @pytest.mark.parametrize("reference", ["id", "code", "external_id"])
    def test_a_bank_account_has_the_named_account_of_the_chart(
        self, shop: Business, reference: str
    ) -> None:
        account = asset(shop, f"11.{reference}", external_id=f"money-{reference}")
        made = shop.made(BANKS, {"display_name": "Named", "account": account[reference]})
        assert made["account"]["id"] == account["id"]

    def test_an_account_of_the_chart_keeps_absent_fields(self, shop: Business) -> None:
        account = asset(shop, "1190", institution_name="Old Bank", iban=IBAN)
        shop.made(BANKS, {"display_name": "Named", "account": "1190", "mask": "55"})
        after = ledger_account(shop, account["id"])
        assert (after["institution_name"], after["account_number_mask"]) == ("Old Bank", "55")

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"account": NOBODY}, 422, "reference_not_found"),
            ({"account": "nowhere"}, 422, "reference_not_found"),
            ({"account": "1200"}, 422, "control_account"),
            ({"account": "6000"}, 422, "account_type_mismatch"),
            ({"account": "2500"}, 422, "account_type_mismatch"),
            ({"account": "1150"}, 422, "account_type_mismatch"),
            ({"account": "1500"}, 409, "account_archived"),
            ({"currency": "EUR", "account": "1100"}, 422, "account_type_mismatch"),
        ],
    )
    def test_an_account_that_cannot_hold_money_is_refused(
        self, shop: Business, ledger: Ledger, facts: Record, status: int, code: str
    ) -> None:
        shop.api.delete(f"{ACCOUNTS}1500/")
        body = {"display_name": "No", **facts}
        assert ledger.refused("POST", BANKS, json=body) == (status, code)

    def test_an_account_has_one_bank_account(self, shop: Business) -> None:
        asset(shop, "1192")
        shop.made(BANKS, {"display_name": "First", "account": "1192"})
        answer = shop.api.post(BANKS, json={"display_name": "Second", "account": "1192"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "account_taken")
        assert answer.json()["detail"]["account_code"] == "1192"

    def test_a_wrong_iban_is_refused(self, shop: Business) -> None:
        answer = shop.api.post(BANKS, json={"display_name": "X", "iban": IBAN[:-1] + "6"})
        assert answer.status_code == 400
        assert answer.json()["detail"]["field_errors"] == {"iban": ["must be an IBAN"]}


class TestListBankAccounts:
    def test_bank_accounts_are_listed_in_order_of_creation(self, fresh: Business) -> None:
        made = [fresh.made(BANKS, {"display_name": name}) for name in ("B", "a", "C")]
        assert fresh.api.get(BANKS).json()["results"] == made
        by_name = fresh.api.get(f"{BANKS}?sort=-display_name").json()["results"]
        assert [each["display_name"] for each in by_name] == ["C", "B", "a"]

    def test_filters_select_bank_accounts(self, fresh: Business) -> None:
        quay = {"institution_name": "First Quay Bank", "iban": IBAN, "external_id": "q"}
        fresh.made(BANKS, {"display_name": "Current", **quay})
        fresh.made(BANKS, {"display_name": "Savings", "mask": "99_1"})
        for query, names in {
            "external_id=q": ["Current"],
            "search=QUAY": ["Current"],
            "search=buKB": ["Current"],
            "search=99_": ["Savings"],
            "search=sav": ["Savings"],
            "currency=GBP": ["Current", "Savings"],
            "currency=EUR": [],
        }.items():
            found = fresh.api.get(f"{BANKS}?{query}").json()["results"]
            assert [each["display_name"] for each in found] == names, query

    def test_a_bank_account_is_active_while_its_account_is(self, fresh: Business) -> None:
        _, savings = (fresh.made(BANKS, {"display_name": name}) for name in ("Current", "Savings"))
        assert fresh.api.delete(f"{ACCOUNTS}{savings['account']['code']}/").status_code == 200
        for asked, names in {"": ["Current", "Savings"], "true": ["Current"]}.items():
            found = fresh.api.get(BANKS, params={"is_active": asked} if asked else {}).json()
            assert [each["display_name"] for each in found["results"]] == names
        [archived] = fresh.api.get(f"{BANKS}?is_active=false").json()["results"]
        assert archived == {**savings, "is_active": False}
        assert savings["is_active"] is True


class TestGetBankAccount:
    def test_a_bank_account_cannot_be_deleted_or_replaced(self, shop: Business) -> None:
        made = shop.made(BANKS, {"display_name": "Stays"})
        for method in ("DELETE", "PUT"):
            answer = shop.api.request(method, f"{BANKS}{made['id']}/")
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, PATCH")


class TestUpdateBankAccount:
    def test_an_update_changes_the_bank_account_and_its_account_of_the_chart(
        self, fresh: Business
    ) -> None:
        facts = {"iban": IBAN, "mask": "55", "institution_name": "Quay", "external_id": "one"}
        made = fresh.made(BANKS, {"display_name": "Current", **facts})
        change = {"display_name": "Main", "iban": None, "mask": "66", "external_id": "two"}
        answer = fresh.api.patch(f"{BANKS}{made['id']}/", json=change)
        after = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert {name: after[name] for name in change} == change
        assert after["institution_name"] == "Quay"
        account = ledger_account(fresh, "1100")
        assert (account["iban"], account["account_number_mask"]) == (None, "66")
        assert fresh.api.get(f"{BANKS}{made['id']}/").json() == after

    def test_an_equal_update_changes_nothing(self, fresh: Business) -> None:
        made = fresh.made(BANKS, {"display_name": "Current"})
        answer = fresh.api.patch(f"{BANKS}{made['id']}/", json={"display_name": "Current"})
        assert (answer.json(), answer.headers["etag"]) == (made, '"1"')

    def test_a_taken_external_id_is_refused(self, fresh: Business) -> None:
        fresh.made(BANKS, {"display_name": "One", "external_id": "one"})
        two = fresh.made(BANKS, {"display_name": "Two", "external_id": "two"})
        answer = fresh.api.patch(f"{BANKS}{two['id']}/", json={"external_id": "one"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")

    @pytest.mark.parametrize("fixed", ["account", "currency"])
    def test_its_account_of_the_chart_and_its_currency_are_no_fields_of_it(
        self, fresh: Business, fixed: str
    ) -> None:
        made = fresh.made(BANKS, {"display_name": "Current"})
        answer = fresh.api.patch(f"{BANKS}{made['id']}/", json={fixed: "GBP"})
        assert answer.status_code == 400
