"""Classes of the cash flow statement, by account."""

from dataclasses import replace

import pytest

from accounting.books.accounts import Account
from accounting.books.cash_flow import cash_flow_class, refuse_class_of_profit
from accounting.books.chart import STARTING_CHART, Role, type_of
from accounting.errors import ValidationError
from tests.accounting.samples import account, refused


def of(code: str, subtype: str, role: str | None = None, behavior: str | None = None) -> Account:
    made = replace(account(code, role), account_type=type_of(subtype), account_subtype=subtype)
    return replace(made, balance_behavior=behavior)


BANK = of("1100", "current_assets", Role.BANK)


class TestCashFlowClass:
    @pytest.mark.parametrize(
        ("found", "expected"),
        [
            (of("1000", "current_assets", Role.CASH), "cash"),
            (BANK, "cash"),
            (of("1150", "current_assets", Role.PROCESSOR_CLEARING), "operating"),
            (of("2000", "current_liabilities", Role.ACCOUNTS_PAYABLE), "operating"),
            (of("1600", "non_current_assets"), "investing"),
            (of("1650", "non_current_assets", Role.ACCUMULATED_DEPRECIATION), "non_cash"),
            (of("1660", "non_current_assets", behavior="credit_positive"), "non_cash"),
            (of("1670", "non_current_assets", behavior="debit_positive"), "investing"),
            (of("1410", "current_assets", behavior="credit_positive"), "operating"),
            (of("2500", "non_current_liabilities"), "financing"),
            (of("3000", "share_capital"), "financing"),
            (of("3300", "retained_earnings", Role.RETAINED_EARNINGS), "financing"),
            (of("4000", "revenue"), None),
            (of("8000", "income_tax"), None),
        ],
    )
    def test_goes_by_role_and_then_by_subtype(self, found: Account, expected: str | None) -> None:
        assert cash_flow_class(found, (), ()) == expected

    def test_an_account_of_a_bank_account_and_its_children_are_cash(self) -> None:
        savings, pot = of("1510", "current_assets"), of("1511", "current_assets")
        banked = {savings.id}
        assert cash_flow_class(savings, (), banked) == "cash"
        assert cash_flow_class(pot, [savings], banked) == "cash"
        assert cash_flow_class(pot, [of("1512", "current_assets"), BANK], ()) == "cash"
        assert cash_flow_class(pot, [savings], ()) == "operating"

    def test_a_mapped_account_is_cash_unless_a_class_is_given(self) -> None:
        overdraft = of("2600", "non_current_liabilities")
        assert cash_flow_class(overdraft, (), {overdraft.id}) == "cash"
        assert cash_flow_class(replace(BANK, cash_flow="financing"), (), {BANK.id}) == "financing"

    def test_every_balance_sheet_account_of_the_first_chart_has_one(self) -> None:
        for each in STARTING_CHART:
            found = cash_flow_class(of(each.code, each.account_subtype, each.role), (), ())
            assert (found is None) == (each.account_type in ("revenue", "expense")), each.code

    def test_profit_and_loss_may_not_be_given_one(self) -> None:
        sales = of("4000", "revenue")
        refuse_class_of_profit(sales)
        refuse_class_of_profit(replace(BANK, cash_flow="operating"))
        refusal = refused(refuse_class_of_profit, replace(sales, cash_flow="operating"))
        assert isinstance(refusal, ValidationError)
