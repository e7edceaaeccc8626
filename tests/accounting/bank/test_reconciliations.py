"""Reconciliation with a statement: differences, closing and reopening."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.bank import reconciliations
from accounting.bank.commands import ReconcileStatement
from accounting.bank.reconciliations import (
    AccountStatements,
    Comparison,
    Explanation,
    Reconciliation,
    UnmatchedItems,
)
from tests.accounting.bank.statements import bank_account
from tests.accounting.samples import context_of, day, refusal_of, refused

NOW = context_of("31")
NOTHING = UnmatchedItems(0, 0, ())
EMPTY = AccountStatements(None, None)
BANK = bank_account()


def taken(on: str, balance: int = 600, standing: AccountStatements = EMPTY) -> Reconciliation:
    return reconciliations.take(BANK, standing, ReconcileStatement(day(on), balance), NOW)


def compared(ledger: int, lines: int = 600, opening: int = 0) -> Comparison:
    explanation = Explanation(ledger, lines, UnmatchedItems(480, 1, ()), NOTHING)
    return Comparison(taken("20"), opening, explanation)


def closed(on: str) -> Reconciliation:
    return replace(taken(on), status="closed", closed_at=NOW.now)


class TestTake:
    def test_a_new_one_is_open(self) -> None:
        statement = taken("20")
        assert (statement.status, statement.statement_date) == ("open", day("20"))
        assert (statement.account_id, statement.closing_balance) == (BANK.account_id, 600)

    def test_the_open_one_is_taken_on_with_another_day(self) -> None:
        first = taken("20")
        again = taken("25", 700, AccountStatements(first, closed("10")))
        assert (again.id, again.statement_date) == (first.id, day("25"))
        assert again.closing_balance == 700

    def test_dates_rise(self) -> None:
        for on in ("10", "9"):
            refusal = refused(taken, on, 600, AccountStatements(None, closed("10")))
            assert refusal.code == "bank_reconciled"
            assert refusal.detail == {"statement_date": "2026-01-10"}

    def test_a_statement_of_a_future_day_is_refused(self) -> None:
        assert taken("31").statement_date == day("31")
        assert refused(taken, "02-01").code == "statement_date_in_future"


class TestClose:
    @pytest.mark.parametrize(
        ("ledger", "status", "at"),
        [(599, "open", None), (600, "closed", NOW.now), (601, "open", None)],
    )
    def test_a_statement_without_difference_closes(self, ledger: int, status: str, at: Any) -> None:
        done = reconciliations.close(compared(ledger), NOW).statement
        assert (done.status, done.closed_at) == (status, at)

    def test_the_difference_is_explained_by_lines_and_opening(self) -> None:
        found = compared(120, lines=550, opening=20)
        assert (found.difference, found.unexplained) == (480, 30)


class TestReopen:
    def test_the_newest_is_opened(self) -> None:
        newest = closed("20")
        done = reconciliations.reopen(newest, AccountStatements(taken("25"), newest), NOW)
        assert (done.status, done.closed_at, done.reopened_at) == ("open", None, NOW.now)

    def test_no_other_statement_is_opened(self) -> None:
        standing = AccountStatements(None, closed("20"))
        newest = {"statement_date": "2026-01-20"}
        refusal = refusal_of(reconciliations.reopen, closed("10"), standing, NOW)
        assert refusal == ("bank_reconciled", newest)
        statement = taken("20")
        standing = AccountStatements(statement, None)
        assert reconciliations.reopen(statement, standing, NOW) is statement
