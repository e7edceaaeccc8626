"""Statements of a bank account: compared with the ledger, closed and reopened."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import JOURNAL_ENTRY, PAYMENT, Bank, open_account
from tests.builders.reports import booked
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.partner import Business


@pytest.fixture
def bank(shop: Business, current: Bank) -> Bank:
    """A new bank account for each test: a closed statement stays closed."""
    return Bank(shop, open_account(shop))


def wrote(bank: Bank, amount: int, on: str) -> Record:
    return booked(bank.shop, on, bank.code, "2500", amount)


def differences(statement: Record) -> dict[str, int]:
    """Return the difference of a statement and its parts, without zeros."""
    names = ("difference", "lines_without_money", "money_without_lines", "unexplained")
    return {name: statement[f"{name}_cents"] for name in names if statement[f"{name}_cents"]}


class TestCreateBankReconciliation:
    def test_a_statement_closes_where_bank_and_books_agree(self, bank: Bank) -> None:
        bank.match(bank.line(500), JOURNAL_ENTRY, wrote(bank, 500, "2025-03-10"))
        bank.categorize(bank.line(-12), "6300")
        body = {"statement_date": "2025-03-31", "closing_balance_cents": 488}
        answer = bank.shop.api.post(bank.statements, json=body)
        statement = answer.json()
        assert (answer.status_code, statement["status"], differences(statement)) == (
            201,
            "closed",
            {},
        )
        assert statement["opening_balance_cents"] == 0
        assert statement["ledger_balance_cents"] == statement["closing_balance_cents"] == 488
        assert statement["closed_at"] == statement["updated_at"] == statement["created_at"]
        path = f"{bank.statements}{statement['id']}/"
        assert bank.shop.api.get(path).json() == statement

    def test_a_statement_with_a_difference_explains_it_and_stays_open(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        loan = wrote(bank, 500, "2025-03-10")
        bank.match(bank.line(300), JOURNAL_ENTRY, loan)
        strange = bank.line(70, date="2025-03-20", description="WHO IS IT")
        late = bank.line(40, date="2025-03-31")
        bank.match(late, PAYMENT, paid(shop, buyer, 40, payment_date="2025-04-02"))
        statement = bank.reconcile("2025-03-31", 420)
        assert statement["status"] == "open"
        assert statement["closed_at"] is None
        assert differences(statement) == {
            "difference": -80,
            "lines_without_money": 70,
            "money_without_lines": 160,
            "unexplained": 10,
        }
        [shown] = statement["lines_without_money"]
        assert shown == {
            "bank_transaction_id": strange["id"],
            "date": "2025-03-20",
            "description": "WHO IS IT",
            "amount_cents": 70,
        }
        rest, later = statement["money_without_lines"]
        assert rest == {
            "source_type": "manual",
            "source_id": loan["id"],
            "date": "2025-03-10",
            "amount_cents": 200,
        }
        # A line has it in March, the ledger in April.
        shown = (later["source_type"], later["date"], later["amount_cents"])
        assert shown == ("payment", "2025-03-31", -40)

    def test_money_on_its_way_between_accounts_waits_for_its_line(
        self, shop: Business, bank: Bank
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

    def test_a_repeated_statement_replaces_the_open_one(self, bank: Bank) -> None:
        line = bank.line(80)
        first = bank.reconcile("2025-03-31", 80)
        assert differences(first) == {"difference": 80, "lines_without_money": 80}
        bank.categorize(line, "4500")
        body = {"statement_date": "2025-03-30", "closing_balance_cents": 80}
        answer = bank.shop.api.post(bank.statements, json=body)
        again = answer.json()
        assert (answer.status_code, again["status"]) == (200, "closed")
        assert (again["id"], again["statement_date"]) == (first["id"], "2025-03-30")

    def test_a_statement_begins_where_the_previous_one_ended(self, bank: Bank) -> None:
        bank.categorize(bank.line(80), "4500")
        bank.closed("2025-03-31", 80)
        bank.categorize(bank.line(20, date="2025-04-05"), "4500")
        bank.line(5, date="2025-04-06")
        april = bank.reconcile("2025-04-30", 110)
        assert (april["opening_balance_cents"], april["ledger_balance_cents"]) == (80, 100)
        assert differences(april) == {"difference": 10, "lines_without_money": 5, "unexplained": 5}

    def test_dates_rise(self, ledger: Ledger, bank: Bank) -> None:
        bank.closed("2025-03-31", 0)
        for on in ("2025-03-31", "2025-03-30"):
            body = {"statement_date": on, "closing_balance_cents": 0}
            refused = ledger.refused("POST", bank.statements, json=body)
            assert refused == (409, "bank_reconciled")

    def test_all_lines_are_counted_and_the_first_hundred_are_shown(self, bank: Bank) -> None:
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
    def test_the_newest_comes_first(self, bank: Bank) -> None:
        march, april = bank.closed("2025-03-31", 0), bank.closed("2025-04-30", 0)
        may = bank.reconcile("2025-05-31", 1)

        def listed(**query: str) -> list[str]:
            found = bank.shop.api.get(bank.statements, params=query).json()["results"]
            return [each["id"] for each in found]

        assert listed() == [may["id"], april["id"], march["id"]]
        assert listed(status="open") == [may["id"]]
        assert listed(statement_date_to="2025-04-29") == [march["id"]]
        later = listed(sort="statement_date", statement_date_from="2025-04-01")
        assert later == [april["id"], may["id"]]


class TestGetBankReconciliation:
    def test_an_open_statement_is_compared_with_the_current_ledger(self, bank: Bank) -> None:
        line = bank.line(80)
        path = f"{bank.statements}{bank.reconcile('2025-03-31', 80)['id']}/"
        bank.categorize(line, "4500")
        shown = bank.shop.api.get(path).json()
        assert (shown["status"], differences(shown)) == ("open", {})

    def test_a_statement_is_found_under_its_own_account_only(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        other = Bank(shop, open_account(shop))
        path = f"{other.statements}{bank.closed('2025-03-31', 0)['id']}/"
        for method, address in (("GET", path), ("POST", f"{path}reopen/")):
            refused = ledger.refused(method, address)
            assert refused == (404, "bank_reconciliation_not_found")


class TestReopenBankReconciliation:
    def test_lines_of_a_reopened_statement_can_be_changed(self, bank: Bank) -> None:
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
        # The later one is open, so this is the newest closed one; the open one is discarded.
        bank.reopen(april)
        assert bank.reopen(march)["status"] == "open"

    def test_a_later_one_that_is_open_is_dropped(self, ledger: Ledger, bank: Bank) -> None:
        march = bank.closed("2025-03-31", 0)
        april = bank.reconcile("2025-04-30", 1)
        bank.reopen(march)
        refused = ledger.refused("GET", f"{bank.statements}{april['id']}/")
        assert refused == (404, "bank_reconciliation_not_found")
        assert bank.closed("2025-04-30", 0)["id"] == march["id"]
