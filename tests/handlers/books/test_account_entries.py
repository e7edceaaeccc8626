"""list_account_entries: the lines of an account, each with the balance after it."""

from typing import Any

import pytest

from tests.builders.journal_entries import ENTRIES
from tests.builders.sales import paid, part, sent
from tests.builders.trade import Record, line, read
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"


def entries_of(code: str) -> str:
    return f"{ACCOUNTS}{code}/entries/"


def on_account(code: str, amount: int) -> Record:
    return line(amount, account_identifier={"type": "AccountCode", "code": code})


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    """A business that sold on four days, the last of them first, and was paid for one sale."""
    shop = acme.business()
    buyer = shop.customer()
    invoices = [
        sent(shop, buyer, amount, sent_at=f"{on}T09:00:00Z", invoice_number=f"N-{amount}")
        for on, amount in (
            ("2025-05-02", 4_000),
            ("2025-03-31", 100),
            ("2025-04-01", 200),
            ("2025-04-01", 300),
            ("2024-12-31", 50),
        )
    ]
    paid(shop, buyer, 150, part(invoices[3], 150), payment_date="2025-04-20", external_id="pay-150")
    return shop


def listed(shop: Business, code: str, **asked: Any) -> list[Record]:
    answer = shop.api.get(entries_of(code), params=asked)
    assert answer.status_code == 200, answer.text
    found: list[Record] = answer.json()["results"]
    return found


RUNNING = [
    ("2025-05-02", 4_000, 4_500),
    ("2025-04-20", -150, 500),
    ("2025-04-01", 300, 650),
    ("2025-04-01", 200, 350),
    ("2025-03-31", 100, 150),
    ("2024-12-31", 50, 50),
]


def balances_of(found: list[Record]) -> list[tuple[str, int, int]]:
    return [(each["entry_date"], each["amount"], each["running_balance"]) for each in found]


class TestListAccountEntries:
    def test_the_latest_comes_first_with_the_balance_after_it(self, shop: Business) -> None:
        found = listed(shop, "1200")
        assert balances_of(found) == RUNNING
        account = shop.api.get(f"{ACCOUNTS}1200/").json()
        assert found[0]["running_balance"] == account["current_balance"]
        assert balances_of(listed(shop, "1200", sort="entry_date")) == RUNNING[::-1]

    def test_amounts_are_positive_on_the_natural_side(self, shop: Business) -> None:
        sales = [(on, amount) for on, amount, _ in RUNNING if amount > 0]
        found = listed(shop, "4000")
        assert [(each["entry_date"], each["amount"]) for each in found] == sales
        assert {each["debit_amount"] for each in found} == {0}
        assert [each["credit_amount"] for each in found] == [amount for _, amount in sales]
        assert [each["running_balance"] for each in found] == [4_650, 650, 350, 150, 50]

    def test_a_contra_account_shows_its_own_side(self, acme: Partner) -> None:
        shop = acme.business()
        turned = {"code": "4009", "name": "Turned", "balance_behavior": "debit_positive"}
        shop.made(f"{ACCOUNTS}4000/children/", turned)
        sent(shop, shop.customer(), line_items=[on_account("4009", 70)])
        [entry] = listed(shop, "4009")
        assert (entry["amount"], entry["running_balance"], entry["credit_amount"]) == (-70, -70, 70)

    def test_each_line_shows_the_fields_of_its_entry(self, shop: Business) -> None:
        [_, payment, invoice, *_] = listed(shop, "1200")
        for shown, kind, reference in (
            (invoice, "invoice", "N-300"),
            (payment, "payment", "pay-150"),
        ):
            entry = read(shop, ENTRIES, {"id": shown["journal_entry_id"]})
            of_entry = ("sequence_number", "entry_date", "reference", "source_type", "source_id")
            same = (*of_entry, "posted_at", "created_at")
            assert {name: shown[name] for name in same} == {name: entry[name] for name in same}
            assert (shown["source_type"], shown["reference"]) == (kind, reference)
            assert shown["description"]
            [line_] = [each for each in entry["lines"] if each["id"] == shown["id"]]
            assert line_["account_code"] == "1200"
            for name in ("debit_amount", "credit_amount"):
                assert line_[name] == shown[name]

    @pytest.mark.parametrize(
        ("asked", "shown"),
        [
            ({"date_from": "2025-04-01"}, slice(0, 4)),
            ({"date_to": "2025-04-01"}, slice(2, 6)),
            ({"date_from": "2025-04-01", "date_to": "2025-04-30"}, slice(1, 4)),
            ({"date_from": "2025-03-01", "date_to": "2025-03-31"}, slice(4, 5)),
            ({"date_from": "2025-04-02", "date_to": "2025-04-01"}, slice(0, 0)),
        ],
    )
    def test_entries_outside_the_filter_count_in_the_running_balance(
        self, shop: Business, asked: Record, shown: slice
    ) -> None:
        assert balances_of(listed(shop, "1200", **asked)) == RUNNING[shown]

    def test_gaps_between_the_lines_shown_count_too(self, shop: Business) -> None:
        created = sorted(each["created_at"] for each in listed(shop, "1200"))
        second = listed(shop, "1200", created_at_from=created[1], created_at_to=created[1])
        assert balances_of(second) == [("2025-03-31", 100, 150)]
        late = listed(shop, "1200", created_at_from=created[4])
        assert balances_of(late) == [RUNNING[1], RUNNING[5]]

    @pytest.mark.parametrize("sort", ["entry_date", "-entry_date"])
    def test_every_page_shows_the_same_balances(self, shop: Business, sort: str) -> None:
        by_cursor: list[Record] = []
        by_number: list[Record] = []
        cursor: Record = {}
        for number in (1, 2, 3):
            query: Record = {"sort": sort, "page_size": 2}
            by_number += listed(shop, "1200", page=number, **query)
            answer = shop.api.get(entries_of("1200"), params={**query, **cursor}).json()
            by_cursor += answer["results"]
            cursor = {"cursor": answer["page_info"]["next_cursor"]}
        assert by_cursor == by_number == listed(shop, "1200", sort=sort)

    def test_a_line_posted_between_two_pages_is_in_the_second(self, acme: Partner) -> None:
        shop = acme.business()
        buyer = shop.customer()
        for month in (1, 2, 3):
            sent(shop, buyer, 10, sent_at=f"2025-0{month}-01T00:00:00Z")
        first = shop.api.get(entries_of("1200"), params={"page_size": 1}).json()
        sent(shop, buyer, 7, sent_at="2024-06-01T00:00:00Z")
        cursor = first["page_info"]["next_cursor"]
        second = listed(shop, "1200", page_size=10, cursor=cursor)
        assert [each["running_balance"] for each in second] == [27, 17, 7]

    def test_an_account_is_named_by_id_code_or_external_id(self, shop: Business) -> None:
        shop.api.patch(f"{ACCOUNTS}1200/", json={"external_id": "owed"})
        id_ = shop.api.get(f"{ACCOUNTS}1200/").json()["id"]
        assert listed(shop, id_) == listed(shop, id_.upper()) == listed(shop, "owed")
        assert listed(shop, "owed") == listed(shop, "1200")

    def test_lines_of_accounts_under_it_are_not_its_own(self, acme: Partner) -> None:
        shop = acme.business()
        shop.made(f"{ACCOUNTS}4000/children/", {"code": "4001", "name": "Coffee"})
        sent(shop, shop.customer(), line_items=[on_account("4001", 70)])
        assert listed(shop, "4000") == []
        assert [each["amount"] for each in listed(shop, "4001")] == [70]
