"""list_accounts and get_account_hierarchy: the chart as a list and as a tree."""

from typing import Any

import pytest

from accounting.books.chart import STARTING_CHART, SUBTYPES
from tests.builders.journal_entries import ENTRIES, ON, credit, debit
from tests.builders.sales import invoice_body, paid, part
from tests.builders.trade import Record, line
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
IN_MARCH = {"period_year": 2025, "period_month": 3}


@pytest.fixture(scope="module")
def chart(acme: Partner) -> Business:
    """A business with sub-accounts, an archived account, and postings in two months of 2025."""
    shop = acme.business(fiscal_year_end="2000-03-31")
    buyer = shop.customer()
    for parent, code, name in (
        ("1100", "1100.1", "Savings"),
        ("1100.1", "1100.11", "Deep savings"),
        ("1100", "1100.2", "Old bank"),
        ("4000", "4000.1", "Coffee"),
    ):
        shop.made(f"{ACCOUNTS}{parent}/children/", {"code": code, "name": name})
    shop.api.patch(f"{ACCOUNTS}1100.1/", json={"external_id": "sav", "description": "Rainy DAYS"})
    shop.api.delete(f"{ACCOUNTS}1100.2/")
    coffee = line(700, account_identifier={"type": "AccountCode", "code": "4000.1"})
    body = invoice_body(buyer, coffee, line(300), sent_at="2025-03-31T23:59:59Z")
    march = shop.made("invoices/", body)
    shop.made("invoices/", invoice_body(buyer, line(50), sent_at="2025-04-01T00:00:00Z"))
    paid(shop, buyer, 1_000, part(march, 1_000), payment_date="2025-04-15")
    return shop


def listed(chart: Business, **asked: Any) -> dict[str, Record]:
    answer = chart.api.get(ACCOUNTS, params={"page_size": 100, **asked})
    assert answer.status_code == 200, answer.text
    return {each["code"]: each for each in answer.json()["results"]}


def walk(nodes: list[Record]) -> list[Record]:
    """Return every node of a tree, parents first."""
    return [each for node in nodes for each in (node, *walk(node["children"]))]


def account_in(tree: Record, code: str) -> Record:
    [node] = [node for node in walk(tree["hierarchy"]) if node["code"] == code]
    return node


class TestListAccounts:
    def test_the_list_is_flat_and_each_account_shows_its_children(self, chart: Business) -> None:
        found = listed(chart)
        assert len(found) == len(STARTING_CHART) + 3
        assert list(found) == sorted(found)
        bank = found["1100"]
        assert [each["code"] for each in bank["sub_accounts"]] == ["1100.1", "1100.2"]
        assert bank["sub_accounts"][0]["sub_accounts"] == [found["1100.11"]]
        assert found["1100.11"]["hierarchy_level"] == 2
        assert found["4000"]["rollup_balance"] == 1_050
        assert found["4000"]["current_balance"] == 350

    @pytest.mark.parametrize(
        ("asked", "codes"),
        [
            ({"account_type": "liability", "search": "vat"}, {"2200", "2230"}),
            ({"account_subtype": "non_current_assets"}, {"1600", "1650"}),
            ({"account_type": "asset", "account_subtype": "revenue"}, set()),
            ({"parent": "1100"}, {"1100.1"}),
            ({"parent": "1100", "include_archived": True}, {"1100.1", "1100.2"}),
            ({"parent": "sav"}, {"1100.11"}),
            ({"parent": "nothing"}, set()),
            ({"search": "SAVINGS"}, {"1100.1", "1100.11"}),
            ({"search": "rainy days"}, {"1100.1"}),
            ({"search": "old bank"}, set()),
            ({"search": "old bank", "include_archived": True}, {"1100.2"}),
            ({"include_zero_balance": False}, {"1100", "1200", "4000", "4000.1"}),
            ({"include_zero_balance": False, **IN_MARCH}, {"1200", "4000", "4000.1"}),
        ],
    )
    def test_filters_select_accounts(self, chart: Business, asked: Record, codes: set[str]) -> None:
        assert set(listed(chart, **asked)) == codes

    @pytest.mark.parametrize(
        ("asked", "receivable", "sales"),
        [
            (IN_MARCH, 1_000, 300),
            ({"period_year": 2025, "period_month": 4}, -950, 50),
            ({"date_from": "2025-04-01"}, -950, 50),
            ({"date_to": "2025-03-31"}, 1_000, 300),
            ({"date_from": "2025-03-31", "date_to": "2025-04-01"}, 1_050, 350),
            ({"date_from": "2025-05-01", "date_to": "2025-04-01"}, 0, 0),
            ({**IN_MARCH, "date_from": "2025-04-01"}, 1_000, 300),
            ({"period_year": 9999, "period_month": 12}, 0, 0),
        ],
    )
    def test_a_period_shows_its_movement(
        self, chart: Business, asked: Record, receivable: int, sales: int
    ) -> None:
        found = listed(chart, **asked)
        assert found["1200"]["period_balance"] == receivable
        assert found["4000"]["period_balance"] == sales
        assert found["4000"]["period_balance_formatted"] == f"£{sales / 100:.2f}"
        assert (found["1200"]["current_balance"], found["4000"]["current_balance"]) == (50, 350)

    @pytest.mark.parametrize("sort", ["code", "name", "created_at"])
    def test_accounts_are_sorted_by_a_field(self, chart: Business, sort: str) -> None:
        keys = [(each[sort], each["id"]) for each in listed(chart, sort=sort).values()]
        assert keys == sorted(keys)

    @pytest.mark.parametrize(
        ("given", "missing"),
        [("period_year=2025", "period_month"), ("period_month=3", "period_year")],
    )
    def test_a_period_has_a_year_and_a_month(
        self, chart: Business, given: str, missing: str
    ) -> None:
        answer = chart.api.get(f"{ACCOUNTS}?{given}")
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [missing]


class TestGetAccountHierarchy:
    def test_the_hierarchy_has_every_type_subtype_and_active_account(self, chart: Business) -> None:
        tree = chart.api.get(f"{ACCOUNTS}hierarchy/").json()
        subtypes = [
            (kind["account_type"], tuple(each["account_subtype"] for each in kind["children"]))
            for kind in tree["hierarchy"]
        ]
        assert subtypes == [*SUBTYPES.items()]
        assert {kind["account_subtype"] for kind in tree["hierarchy"]} == {None}
        assert (tree["currency"], tree["fiscal_year"]) == ("GBP", None)
        seen = [node["code"] for node in walk(tree["hierarchy"]) if node["code"] is not None]
        assert len(seen) == len(set(seen)) == tree["total_accounts"] == len(STARTING_CHART) + 3
        assert "1100.2" not in seen
        bank = account_in(tree, "1100")
        assert bank["current_balance"] == 1_000
        assert [each["code"] for each in bank["children"]] == ["1100.1"]

    def test_every_node_has_one_shape_and_adds_up_what_is_under_it(self, chart: Business) -> None:
        tree = chart.api.get(f"{ACCOUNTS}hierarchy/").json()["hierarchy"]
        nodes = walk(tree)
        assert len({tuple(sorted(node)) for node in nodes}) == 1
        groups = [node for node in nodes if node["code"] is None]
        assert {(node["id"], node["code"]) for node in groups} == {(None, None)}
        for node in groups:
            under = sum(child["rollup_balance"] for child in node["children"])
            assert node["rollup_balance"] == node["current_balance"] == under
        by_type = {node["account_type"]: node["rollup_balance"] for node in tree}
        assert by_type["asset"] != 0
        assert by_type["asset"] + by_type["expense"] == (
            by_type["liability"] + by_type["equity"] + by_type["revenue"]
        )

    def test_a_contra_account_subtracts_from_its_branch(self, acme: Partner) -> None:
        shop = acme.business()
        returns = {"code": "4100.1", "name": "By post", "balance_behavior": "debit_positive"}
        shop.made(f"{ACCOUNTS}4100/children/", returns)
        lines = [debit("4100.1", 300), credit("4000", 300)]
        shop.made(ENTRIES, {"entry_date": ON, "lines": lines, "post": True})
        tree = shop.api.get(f"{ACCOUNTS}hierarchy/").json()
        contra, above = account_in(tree, "4100.1"), account_in(tree, "4100")
        assert (contra["current_balance"], contra["rollup_balance"]) == (300, -300)
        assert (above["current_balance"], above["rollup_balance"]) == (0, -300)
        assert shop.api.get(f"{ACCOUNTS}4100.1/").json()["rollup_balance"] == -300

    @pytest.mark.parametrize(
        ("year", "receivable"), [(2024, 0), (2025, 1_000), (2026, 50), (1900, 0), (9999, 50)]
    )
    def test_a_fiscal_year_takes_in_what_came_before_its_end(
        self, chart: Business, year: int, receivable: int
    ) -> None:
        tree = chart.api.get(f"{ACCOUNTS}hierarchy/", params={"fiscal_year": year}).json()
        node = account_in(tree, "1200")
        assert (tree["fiscal_year"], node["current_balance"]) == (year, receivable)
        assert node["rollup_balance"] == receivable
