"""Statements that are held against the ledger: what explains a difference, and when they close."""

from uuid import uuid4

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import JOURNAL_ENTRY, PAYMENT, Bank, open_account
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.partner import Business


@pytest.fixture(scope="module", autouse=True)
def current(shop: Business) -> Bank:
    """The chart's own account, on which money stands that no line shows; it is never closed."""
    return Bank(shop, open_account(shop, display_name="Current account"))


@pytest.fixture
def bank(shop: Business, current: Bank) -> Bank:
    """An account of its own for each test: what is closed stays."""
    return Bank(shop, open_account(shop))


def wrote(bank: Bank, amount: int, on: str) -> Record:
    lines = [debit(bank.code, amount), credit("2500", amount)]
    return bank.shop.made(ENTRIES, {"entry_date": on, "lines": lines, "post": True})


def told(statement: Record) -> dict[str, int]:
    """What a statement says of its difference, in short."""
    names = ("difference", "lines_without_money", "money_without_lines", "unexplained")
    return {name: statement[f"{name}_cents"] for name in names if statement[f"{name}_cents"]}


class TestCreateBankReconciliation:
    def test_a_statement_closes_where_bank_and_books_agree(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        bank.match(bank.line(500), JOURNAL_ENTRY, wrote(bank, 500, "2025-03-10"))
        bank.categorize(bank.line(-12), "6300")
        answer = bank.shop.api.post(
            bank.statements, json={"statement_date": "2025-03-31", "closing_balance_cents": 488}
        )
        statement = answer.json()
        assert (answer.status_code, statement["status"], told(statement)) == (201, "closed", {})
        assert statement["opening_balance_cents"] == 0
        assert statement["ledger_balance_cents"] == statement["closing_balance_cents"] == 488
        assert statement["closed_at"] == statement["updated_at"] == statement["created_at"]
        path = f"{bank.statements}{statement['id']}/"
        assert bank.shop.api.get(path).json() == statement

    def test_with_a_difference_it_says_what_explains_it_and_stays_open(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        loan = wrote(bank, 500, "2025-03-10")
        bank.match(bank.line(300), JOURNAL_ENTRY, loan)
        strange = bank.line(70, date="2025-03-20", description="WHO IS IT")
        late = bank.line(40, date="2025-03-31")
        bank.match(late, PAYMENT, paid(shop, buyer, 40, payment_date="2025-04-02"))
        statement = bank.reconcile("2025-03-31", 420)
        assert statement["status"] == "open"
        assert statement["closed_at"] is None
        assert told(statement) == {
            "difference": -80,
            "lines_without_money": 70,
            "money_without_lines": 160,
            "unexplained": 10,
        }
        assert statement["lines_without_money"] == [
            {
                "bank_transaction_id": strange["id"],
                "date": "2025-03-20",
                "description": "WHO IS IT",
                "amount_cents": 70,
            }
        ]
        rest, later = statement["money_without_lines"]
        assert rest == {
            "source_type": "manual",
            "source_id": loan["id"],
            "date": "2025-03-10",
            "amount_cents": 200,
        }
        # A line shows it in March, and the ledger has it in April.
        assert (later["source_type"], later["date"], later["amount_cents"]) == (
            "payment",
            "2025-03-31",
            -40,
        )

    def test_money_on_its_way_between_accounts_waits_for_its_line(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        savings = Bank(shop, open_account(shop))
        out = bank.line(-90)
        [link] = bank.transfer(out, savings)["links"]
        [waits] = savings.reconcile("2025-03-31", 0)["money_without_lines"]
        assert waits == {
            "source_type": "bank_transfer",
            "source_id": link["target_id"],
            "date": out["date"],
            "amount_cents": 90,
        }
        assert bank.closed("2025-03-31", -90)

    def test_sent_again_it_takes_the_place_of_the_open_one(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(80)
        first = bank.reconcile("2025-03-31", 80)
        assert told(first) == {"difference": 80, "lines_without_money": 80}
        bank.categorize(line, "4500")
        body = {"statement_date": "2025-03-30", "closing_balance_cents": 80}
        answer = bank.shop.api.post(bank.statements, json=body)
        assert (answer.status_code, answer.json()["status"]) == (200, "closed")
        assert (answer.json()["id"], answer.json()["statement_date"]) == (
            first["id"],
            "2025-03-30",
        )

    def test_the_next_one_begins_where_the_one_before_ended(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        bank.categorize(bank.line(80), "4500")
        bank.closed("2025-03-31", 80)
        bank.categorize(bank.line(20, date="2025-04-05"), "4500")
        bank.line(5, date="2025-04-06")
        april = bank.reconcile("2025-04-30", 110)
        assert (april["opening_balance_cents"], april["ledger_balance_cents"]) == (80, 100)
        assert told(april) == {"difference": 10, "lines_without_money": 5, "unexplained": 5}

    def test_dates_rise(self, ledger: Ledger, bank: Bank) -> None:
        bank.closed("2025-03-31", 0)
        for on in ("2025-03-31", "2025-03-30"):
            body = {"statement_date": on, "closing_balance_cents": 0}
            refused = ledger.refused("POST", bank.statements, json=body)
            assert refused == (409, "bank_reconciled")

    def test_a_statement_of_a_future_day_is_refused(self, ledger: Ledger, bank: Bank) -> None:
        body = {"statement_date": "2199-12-31", "closing_balance_cents": 0}
        refused = ledger.refused("POST", bank.statements, json=body)
        assert refused == (422, "statement_date_in_future")

    def test_an_account_that_is_not_there_has_none(self, ledger: Ledger) -> None:
        body = {"statement_date": "2025-03-31", "closing_balance_cents": 0}
        path = f"bank-accounts/{uuid4()}/reconciliations/"
        assert ledger.refused("POST", path, json=body) == (404, "bank_account_not_found")
        assert ledger.refused("GET", path) == (404, "bank_account_not_found")

    def test_many_are_counted_and_the_first_are_told(self, ledger: Ledger, bank: Bank) -> None:
        lines = [
            {"date": "2025-03-12", "amount_cents": 1 + n, "direction": "debit"} for n in range(105)
        ]
        body = {"bank_account_id": bank.account["id"], "transactions": lines}
        assert bank.shop.api.post("bank-transactions/", json=body).status_code == 200
        statement = bank.reconcile("2025-03-31", -5_565)
        assert len(statement["lines_without_money"]) == 100
        assert statement["lines_without_money_count"] == 105
        assert statement["lines_without_money_cents"] == -5_565


class TestListBankReconciliations:
    def test_the_newest_comes_first(self, ledger: Ledger, bank: Bank) -> None:
        march, april = bank.closed("2025-03-31", 0), bank.closed("2025-04-30", 0)
        may = bank.reconcile("2025-05-31", 1)

        def listed(**query: str) -> list[str]:
            found = bank.shop.api.get(bank.statements, params=query).json()["results"]
            return [each["id"] for each in found]

        assert listed() == [may["id"], april["id"], march["id"]]
        assert listed(status="open") == [may["id"]]
        assert listed(statement_date_to="2025-04-29") == [march["id"]]
        assert listed(sort="statement_date", statement_date_from="2025-04-01") == [
            april["id"],
            may["id"],
        ]


class TestGetBankReconciliation:
    def test_an_open_one_is_compared_as_things_are_now(self, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(80)
        path = f"{bank.statements}{bank.reconcile('2025-03-31', 80)['id']}/"
        bank.categorize(line, "4500")
        shown = bank.shop.api.get(path).json()
        assert (shown["status"], told(shown)) == ("open", {})

    def test_a_statement_is_found_under_its_own_account_only(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        statement = bank.closed("2025-03-31", 0)
        other = Bank(shop, open_account(shop))
        for path in (f"{other.statements}{statement['id']}/", f"{bank.statements}{uuid4()}/"):
            assert ledger.refused("GET", path) == (404, "bank_reconciliation_not_found")
            assert ledger.refused("POST", f"{path}reopen/") == (
                404,
                "bank_reconciliation_not_found",
            )


class TestReopenBankReconciliation:
    def test_lines_of_a_reopened_statement_can_be_changed(self, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(80)
        bank.categorize(line, "4500")
        statement = bank.closed("2025-03-31", 80)
        assert bank.refused(line, "uncategorize") == (409, "bank_reconciled")
        opened = bank.reopen(statement)
        assert (opened["status"], opened["closed_at"]) == ("open", None)
        assert opened["reopened_at"] == opened["updated_at"]
        bank.uncategorize(line)
        bank.categorize(line, "4600")
        again = bank.closed("2025-03-31", 80)
        assert (again["id"], again["reopened_at"]) == (statement["id"], opened["reopened_at"])

    def test_only_the_newest(self, ledger: Ledger, bank: Bank) -> None:
        march = bank.closed("2025-03-31", 0)
        april = bank.closed("2025-04-30", 0)
        refused = ledger.refused("POST", f"{bank.statements}{march['id']}/reopen/")
        assert refused == (409, "bank_reconciled")
        # With the later one open, it is the newest that is closed; the open one gives way.
        bank.reopen(april)
        assert bank.reopen(march)["status"] == "open"

    def test_a_later_one_that_is_open_is_dropped(self, ledger: Ledger, bank: Bank) -> None:
        march = bank.closed("2025-03-31", 0)
        april = bank.reconcile("2025-04-30", 1)
        bank.reopen(march)
        refused = ledger.refused("GET", f"{bank.statements}{april['id']}/")
        assert refused == (404, "bank_reconciliation_not_found")
        assert bank.closed("2025-04-30", 0)["id"] == march["id"]

    def test_an_open_one_stays_as_it_is(self, ledger: Ledger, bank: Bank) -> None:
        statement = bank.reconcile("2025-03-31", 1)
        with ledger.untouched():
            assert bank.reopen(statement) == statement

    def test_an_old_version_is_refused(self, ledger: Ledger, bank: Bank) -> None:
        statement = bank.closed("2025-03-31", 0)
        path = f"{bank.statements}{statement['id']}/"
        seen = {"If-Match": bank.shop.api.get(path).headers["ETag"]}
        bank.reopen(statement)
        bank.closed("2025-03-31", 0)
        with ledger.untouched():
            answer = bank.shop.api.post(f"{path}reopen/", headers=seen)
        assert answer.status_code == 412

    def test_the_trail_tells_of_it(self, api_server: ApiServer, ledger: Ledger, bank: Bank) -> None:
        statement = bank.closed("2025-03-31", 0)
        bank.reopen(statement)
        records = bank.shop.api.get("audit/", params={"object_id": statement["id"]}).json()
        told = [(each["object_type"], each["action"]) for each in records["results"]]
        assert told == [
            ("bank_reconciliation", "reopen_bank_reconciliation"),
            ("bank_reconciliation", "create_bank_reconciliation"),
        ]
