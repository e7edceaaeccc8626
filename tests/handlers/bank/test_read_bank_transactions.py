"""Lists and reads of bank transactions."""

import pytest

from tests.builders.trade import Record
from tests.partner import Business, Partner

LINES = "bank-transactions/"
Statement = tuple[Business, dict[str, Record]]


@pytest.fixture(scope="module")
def statement(acme: Partner) -> Statement:
    """The four lines of two bank accounts, by their external ids."""
    business = acme.business()
    current = business.made("bank-accounts/", {"display_name": "Current"})
    savings = business.made("bank-accounts/", {"display_name": "Savings"})
    facts_of = [
        (current, "a", "2026-07-01", 1_000, "credit", {"description": "BLUE DOOR 100%"}),
        (current, "b", "2026-07-15", 250, "debit", {"counterparty_name": "Raw Coffee"}),
        (current, "c", "2026-07-15", 9_000, "credit", {"reference": "INV-000001"}),
        (savings, "d", "2026-08-01", 40, "credit", {}),
    ]
    for bank, name, day, amount, way, facts in facts_of:
        line = {"external_id": name, "date": day, "amount_cents": amount, "direction": way, **facts}
        body = {"bank_account_id": bank["id"], "transactions": [line]}
        assert business.api.post(LINES, json=body).json()["imported"] == 1
    lines = business.api.get(LINES).json()["results"]
    return business, {each["external_id"]: each for each in lines}


class TestListBankTransactions:
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            ("", "dcba"),
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
            ("sort=date", "abcd"),
            ("sort=amount", "dbac"),
            ("sort=created_at", "abcd"),
        ],
    )
    def test_filters_select_lines_and_sorts_order_them(
        self, statement: Statement, query: str, names: str
    ) -> None:
        business, _ = statement
        found = business.api.get(f"{LINES}?{query}").json()["results"]
        assert [each["external_id"] for each in found] == list(names)

    def test_a_filter_by_bank_account_lists_its_lines_only(self, statement: Statement) -> None:
        business, lines = statement
        savings = lines["d"]["bank_account_id"]
        found = business.api.get(f"{LINES}?bank_account_id={savings}").json()["results"]
        shown = [(each["external_id"], each["bank_account_name"]) for each in found]
        assert shown == [("d", "Savings")]


class TestGetBankTransaction:
    def test_a_line_is_as_the_list_shows_it(self, statement: Statement) -> None:
        business, lines = statement
        for line in lines.values():
            assert business.api.get(f"{LINES}{line['id']}/").json() == line
