"""Bank accounts and the account of the chart that each represents."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.bank.bank_accounts import (
    ChartInUse,
    facts,
    ledger_account_for,
    named_ledger_account,
)
from accounting.bank.commands import BankAccountDetails
from accounting.books.accounts import Account, BookAccounts
from accounting.books.chart import Role
from tests.accounting.bank.foreign import RATES, at
from tests.accounting.samples import ACCOUNTS, account, account_id, context_of, named, refused
from tests.accounting.trade.business import Trade, line

NOW = context_of("12")
BANK = replace(account("1100", Role.BANK), account_type="asset", account_subtype="current_assets")
UNUSED = replace(BANK, id=account_id("1121"), code="1121", role=None)
NOTHING_TAKEN = ChartInUse([BANK, UNUSED], {})


class TestFacts:
    def test_an_iban_has_one_spelling(self) -> None:
        assert facts(BankAccountDetails(iban="gb33 bukb-2020")) == {"iban": "GB33BUKB2020"}

    def test_null_and_absent_facts_stay_null_and_absent(self) -> None:
        assert facts(BankAccountDetails(iban=None)) == {"iban": None}
        assert facts(BankAccountDetails(mask="5")) == {"mask": "5"}


class TestLedgerAccountFor:
    def test_a_foreign_one_is_a_new_child_of_the_bank(self) -> None:
        made = ledger_account_for("Dollars", NOTHING_TAKEN, NOW, "USD")
        assert (made.parent_id, made.currency, made.code) == (BANK.id, "USD", "1101")

    @pytest.mark.parametrize("currency", [None, "GBP"])
    def test_one_in_base_is_the_bank_itself(self, currency: str | None) -> None:
        assert ledger_account_for("Current", NOTHING_TAKEN, NOW, currency) is BANK


def chosen(known: Account, currency: str | None, **facts: Any) -> Account:
    reference = named(known.code)
    assert reference is not None
    return named_ledger_account(reference, known, NOTHING_TAKEN, NOW, currency, **facts)


class TestNamedLedgerAccount:
    def test_one_without_lines_is_of_the_currency_from_now_on(self) -> None:
        assert chosen(UNUSED, "USD").currency == "USD"
        assert chosen(UNUSED, "GBP").currency is None
        refusal = refused(chosen, UNUSED, "USD", is_named=True)
        assert refusal.code == "account_in_use"

    def test_one_of_the_currency_may_have_lines(self) -> None:
        dollars = replace(UNUSED, currency="USD")
        assert chosen(dollars, "USD", is_named=True) is dollars

    @pytest.mark.parametrize("currency", [None, "GBP", "SEK"])
    def test_one_of_another_currency_is_refused(self, currency: str | None) -> None:
        dollars = replace(UNUSED, currency="USD")
        assert refused(chosen, dollars, currency).code == "currency_mismatch"

    def test_the_bank_itself_stays_in_base(self) -> None:
        assert refused(chosen, BANK, "USD").code == "account_type_mismatch"


class TestLinesOfDocuments:
    def test_an_account_takes_only_amounts_of_its_currency(self) -> None:
        dollars, reference = replace(UNUSED, currency="USD"), named("1121")
        assert reference is not None
        chart = BookAccounts(ACCOUNTS.roles, {**ACCOUNTS.named, reference: dollars})
        trade = TradeWith("12", rates=RATES)
        trade.chart = chart
        for worth in ({}, at("0.1", "SEK")):
            refusal = refused(trade.document, line(100, account=reference), **worth)
            assert refusal.code == "currency_mismatch"
        assert trade.document(line(100, account=reference), **at("0.9"))


class TradeWith(Trade):
    """Books with a chart of their own."""

    chart: BookAccounts = ACCOUNTS

    @property
    def referenced(self) -> Any:
        return replace(super().referenced, accounts=self.chart)
