"""Reports as files, their lines and their refusals."""

import pytest

from tests.builders.reports import booked, refused, report, table, worked_march
from tests.partner import Business, Partner

PROFIT, LEDGER = "reports/profit-and-loss", "reports/general-ledger"
MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
AT = {"as_of_date": "2026-03-31"}
REPORTS = [
    (PROFIT, MARCH),
    ("reports/balance-sheet", AT),
    ("reports/cash-flow", MARCH),
    ("reports/trial-balance", AT),
    (LEDGER, MARCH),
    ("reports/vat-summary", MARCH),
    ("insights/financial-summary", MARCH),
    ("insights/expense-breakdown", MARCH),
]
each_report = pytest.mark.parametrize(
    ("name", "days"), REPORTS, ids=[name.partition("/")[2] for name, _ in REPORTS]
)


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    shop = acme.business()
    worked_march(shop)
    return shop


class TestFile:
    @each_report
    def test_is_one_table_named_after_the_report_and_its_days(
        self, shop: Business, name: str, days: dict[str, str]
    ) -> None:
        rows = table(shop, name, **days)
        assert rows
        assert all(None not in row and None not in row.values() for row in rows)
        answer = shop.api.get(f"{name}/", params=days, headers={"Accept": "text/csv"})
        expected = "-".join([name.partition("/")[2], *days.values()])
        kept = answer.headers["content-disposition"]
        assert kept == f'attachment; filename="{expected}.csv"'

    @each_report
    @pytest.mark.parametrize(
        ("accept", "kind"),
        [
            ("application/json", "application/json"),
            ("*/*", "application/json"),
            ("image/png", "application/json"),
            ("text/csv, application/json;q=0.5", "text/csv; charset=utf-8"),
            ("text/csv;charset=utf-8", "text/csv; charset=utf-8"),
        ],
    )
    def test_is_answered_to_callers_that_prefer_it(
        self, shop: Business, name: str, days: dict[str, str], accept: str, kind: str
    ) -> None:
        answer = shop.api.get(f"{name}/", params=days, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert "Accept" in answer.headers.get_list("vary", split_commas=True)

    def test_of_a_statement_has_its_lines_its_totals_and_its_summary(self, shop: Business) -> None:
        rows = table(shop, PROFIT, **MARCH, interval="month", compare_to="previous_year")
        assert rows[0] == {
            "row": "line",
            "section": "revenue",
            "account_code": "4000",
            "account_name": "Sales",
            "value_cents": "100000",
            "2026-03-01/2026-03-31": "100000",
            "previous_cents": "0",
            "difference_cents": "100000",
        }
        found = {(row["row"], row["section"]): row["value_cents"] for row in rows}
        assert found["total", "operating_expenses"] == "5000"
        assert found["summary", "net_profit"] == "95000"

    def test_of_a_cash_flow_has_the_profit_that_it_begins_with(self, shop: Business) -> None:
        rows = table(shop, "reports/cash-flow", **MARCH)
        names = ("row", "section", "account_code")
        found = {tuple(row[name] for name in names): row["value_cents"] for row in rows}
        assert found["line", "working_capital_changes", "1200"] == "-70000"
        assert found["summary", "net_profit", ""] == "95000"
        assert found["summary", "net_change_in_cash", ""] == "90000"

    def test_of_tax_has_codes_and_boxes(self, shop: Business) -> None:
        rows = table(shop, "reports/vat-summary", **MARCH)
        [code] = [row for row in rows if row["row"] == "code"]
        names = ("code", "tax_rate", "net_cents", "output_cents")
        assert [code[name] for name in names] == ["S20", "20", "100000", "20000"]
        boxes = {row["code"]: row["amount_cents"] for row in rows if row["row"] == "box"}
        assert (boxes["1"], boxes["6"], len(boxes)) == ("20000", "100000", 9)

    def test_a_name_is_not_run_as_a_formula(self, acme: Partner) -> None:
        shop = acme.business()
        account = {"code": "6999", "name": "=1+1", "account_subtype": "operating_expenses"}
        shop.made("general-ledger/chart-of-accounts/", {**account, "account_type": "expense"})
        booked(shop, "2026-03-01", "6999", "1100", 5)
        rows = table(shop, PROFIT, **MARCH)
        assert [row["account_name"] for row in rows if row["account_code"]] == ["'=1+1"]

    def test_a_refusal_is_json(self, shop: Business) -> None:
        answer = shop.api.get(f"{PROFIT}/?basis=both", headers={"Accept": "text/csv"})
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")


class TestDetailLevel:
    def test_summary_leaves_lines_empty_and_sums_as_they_are(self, shop: Business) -> None:
        for name, days in REPORTS[:3]:
            whole = report(shop, name, **days)
            found = report(shop, name, **days, detail_level="summary")
            assert found["summary"] == whole["summary"]
            operating = found.get("operating_activities", {})
            sections = [
                each
                for each in (*found.values(), *operating.values())
                if isinstance(each, dict) and "line_items" in each
            ]
            assert sections
            assert {len(each["line_items"]) for each in sections} == {0}
            assert any(each["total_cents"] for each in sections)

    def test_a_file_then_has_no_lines(self, shop: Business) -> None:
        rows = table(shop, PROFIT, **MARCH, detail_level="summary")
        assert {row["row"] for row in rows} == {"total", "summary"}


class TestLinesOfTheGeneralLedger:
    @pytest.mark.parametrize("reference", ["1100", "id"])
    def test_are_those_of_one_account_page_by_page(self, shop: Business, reference: str) -> None:
        path = "general-ledger/chart-of-accounts/1100/"
        account = shop.api.get(path).json()["id"] if reference == "id" else reference
        first = report(shop, LEDGER, **MARCH, account=account, page_size=2)
        [row] = first["accounts"]
        assert (row["account_code"], row["closing_cents"]) == ("1100", 90_000)
        assert (first["total_debits_cents"], first["total_credits_cents"]) == (150_000, 60_000)
        info = first["lines"]["page_info"]
        assert (info["total_count"], info["total_pages"], info["current_page"]) == (3, 2, 1)
        cursor = info["next_cursor"]
        rest = report(shop, LEDGER, **MARCH, account=account, page_size=2, cursor=cursor)
        lines = [*first["lines"]["results"], *rest["lines"]["results"]]
        assert [(each["entry_date"], each["amount"]) for each in lines] == [
            ("2026-03-20", 50_000),
            ("2026-03-10", -60_000),
            ("2026-03-01", 100_000),
        ]
        assert rest["lines"]["page_info"]["next_cursor"] is None

    def test_are_only_those_of_the_days(self, shop: Business) -> None:
        days = {"start_date": "2026-03-10", "end_date": "2026-03-19"}
        found = report(shop, LEDGER, **days, account="1100")
        assert [each["entry_date"] for each in found["lines"]["results"]] == ["2026-03-10"]
        assert found["accounts"][0]["opening_cents"] == 100_000

    def test_of_an_unknown_account_are_404(self, shop: Business) -> None:
        answer = shop.api.get(f"{LEDGER}/?account=nothing")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "account_not_found")


class TestRefusals:
    @pytest.mark.parametrize("name", [name for name, days in REPORTS if "start_date" in days])
    def test_of_days_that_end_before_they_begin(self, shop: Business, name: str) -> None:
        backwards = {"start_date": "2026-03-02", "end_date": "2026-03-01"}
        assert list(refused(shop, name, **backwards)) == ["end_date"]

    def test_of_a_tag_beside_none(self, shop: Business) -> None:
        for name in (PROFIT, LEDGER, "insights/expense-breakdown"):
            assert list(refused(shop, name, tag="a", untagged=True)) == ["untagged"]

    def test_of_a_cursor_without_an_account(self, shop: Business) -> None:
        lines = report(shop, LEDGER, **MARCH, account="1100", page_size=1)["lines"]
        cursor = lines["page_info"]["next_cursor"]
        assert list(refused(shop, LEDGER, **MARCH, cursor=cursor)) == ["cursor"]

    def test_of_taxes_of_more_than_ten_years(self, shop: Business) -> None:
        days = {"start_date": "2010-01-01", "end_date": "2026-01-01"}
        assert list(refused(shop, "reports/vat-summary", **days)) == ["end_date"]
