"""Bank transactions are listed and read."""

from uuid import uuid4

import pytest

from tests.builders.trade import Record
from tests.partner import Business, Partner

LINES = "bank-transactions/"


@pytest.fixture(scope="module")
def statement(acme: Partner) -> tuple[Business, dict[str, Record]]:
    """Four lines of two bank accounts, by their external ids."""
    business = acme.business()
    current = business.made("bank-accounts/", {"display_name": "Current"})
    savings = business.made("bank-accounts/", {"display_name": "Savings"})
    told = [
        (current, "a", "2026-07-01", 1_000, "credit", {"description": "BLUE DOOR 100%"}),
        (current, "b", "2026-07-15", 250, "debit", {"counterparty_name": "Raw Coffee"}),
        (current, "c", "2026-07-15", 9_000, "credit", {"reference": "INV-000001"}),
        (savings, "d", "2026-08-01", 40, "credit", {}),
    ]
    for bank, name, day, amount, way, facts in told:
        line = {"external_id": name, "date": day, "amount_cents": amount, "direction": way, **facts}
        body = {"bank_account_id": bank["id"], "transactions": [line]}
        assert business.api.post(LINES, json=body).json()["imported"] == 1
    lines = business.api.get(LINES).json()["results"]
    return business, {each["external_id"]: each for each in lines}


class TestListBankTransactions:
    def test_the_latest_day_comes_first(
        self, statement: tuple[Business, dict[str, Record]]
    ) -> None:
        business, _ = statement
        found = business.api.get(LINES).json()
        assert [each["external_id"] for each in found["results"]] == ["d", "c", "b", "a"]
        assert found["count"] == 4

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ("direction=credit", "dca"),
            ("direction=debit", "b"),
            ("currency=GBP", "dcba"),
            ("currency=EUR", ""),
            ("is_reconciled=true", ""),
            ("is_reconciled=false", "dcba"),
            ("date_from=2026-07-15", "dcb"),
            ("date_to=2026-07-15", "cba"),
            ("date_from=2026-07-02&date_to=2026-07-31", "cb"),
            ("min_amount=1000", "ca"),
            ("max_amount=250", "db"),
            ("external_id=b", "b"),
            ("search=blue", "a"),
            ("search=100%25", "a"),
            ("search=raw", "b"),
            ("search=inv-0", "c"),
            ("search=nobody", ""),
            ("created_at_from=2199-01-01T00:00:00Z", ""),
            ("created_at_to=2199-01-01T00:00:00Z", "dcba"),
            ("updated_at_from=2199-01-01T00:00:00Z", ""),
            ("sort=date", "abcd"),
            ("sort=amount", "dbac"),
            ("sort=-amount", "cabd"),
            ("sort=created_at", "abcd"),
            ("sort=-created_at", "dcba"),
            ("page_size=2&page=2", "ba"),
        ],
    )
    def test_filters_choose_and_sort_orders(
        self, statement: tuple[Business, dict[str, Record]], asked: str, names: str
    ) -> None:
        business, _ = statement
        found = business.api.get(f"{LINES}?{asked}").json()["results"]
        assert [each["external_id"] for each in found] == list(names)

    def test_a_filter_by_bank_account_lists_its_lines_only(
        self, statement: tuple[Business, dict[str, Record]]
    ) -> None:
        business, lines = statement
        savings = lines["d"]["bank_account_id"]
        found = business.api.get(f"{LINES}?bank_account_id={savings}").json()["results"]
        assert [(each["external_id"], each["bank_account_name"]) for each in found] == [
            ("d", "Savings")
        ]
        assert business.api.get(f"{LINES}?bank_account_id={uuid4()}").json()["results"] == []

    def test_a_cursor_walks_on(self, statement: tuple[Business, dict[str, Record]]) -> None:
        business, _ = statement
        seen, cursor = "", ""
        for _ in range(4):
            page = business.api.get(f"{LINES}?page_size=1{cursor}").json()
            seen += "".join(each["external_id"] for each in page["results"])
            cursor = f"&cursor={page['page_info']['next_cursor']}"
        assert seen == "dcba"
        assert cursor.endswith("None")


class TestGetBankTransaction:
    def test_a_line_is_as_the_list_shows_it(
        self, statement: tuple[Business, dict[str, Record]]
    ) -> None:
        business, lines = statement
        for line in lines.values():
            assert business.api.get(f"{LINES}{line['id']}/").json() == line
