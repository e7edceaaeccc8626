"""The entry of an opening, and whether stated balances agree with the open documents."""

import pytest

from accounting.opening.commands import OpenWithSide
from accounting.opening.openings import (
    accounts_shown,
    balances,
    refuse_untied,
    status,
    ties,
    totals,
)
from tests.accounting.opening.samples import ACCOUNTS, MILLER, all_opened, balance, opened, owed
from tests.accounting.samples import ROLES, account_id, code_of, refused

INVOICE = OpenWithSide(documents=(owed(900),))
BILL = OpenWithSide(documents=(owed(40, MILLER),))


def tie_amounts(opening: object) -> list[tuple[str, int | None, int, int]]:
    return [
        (tie.account.code, tie.stated, tie.documented, tie.difference)
        for tie in ties(opening, ACCOUNTS, ROLES)
    ]


class TestTies:
    def test_stated_balances_are_compared_with_the_sums_of_documents(self) -> None:
        made = opened(balance("1200", 1_000), balance("2000", -40), sales=INVOICE, purchases=BILL)
        assert tie_amounts(made.opening) == [("1200", 1_000, 900, 100), ("2000", 40, 40, 0)]

    def test_an_account_is_named_or_held_by_documents(self) -> None:
        assert tie_amounts(opened(sales=INVOICE).opening) == [("1200", None, 900, 0)]
        made = opened(balance("1200", 5), balance("1200", -5))
        assert tie_amounts(made.opening) == [("1200", 0, 0, 0)]

    def test_each_kind_has_its_account(self) -> None:
        assert [(code, held) for code, _, held, _ in tie_amounts(all_opened().opening)] == [
            *[("1200", 120), ("1250", 3), ("1260", 8)],
            *[("2000", 80), ("2100", 7), ("2250", 20)],
        ]


class TestTotals:
    def test_the_difference_of_debits_and_credits_is_reported_as_equity(self) -> None:
        made = opened(balance("1100", 100), balance("2500", -90), sales=INVOICE)
        total = totals(made.opening, ROLES)
        assert (total.debits, total.credits, total.difference) == (1_000, 90, 910)
        assert total.equity == 910

    def test_a_stated_opening_balance_equity_is_counted_and_not_posted(self) -> None:
        made = opened(balance("1100", 100), balance("3290", -60))
        total = totals(made.opening, ROLES)
        assert (total.debits, total.credits, total.equity) == (100, 60, 100)
        assert balances(made.opening, ROLES) == {account_id("1100"): 100}

    def test_accounts_shown_are_named_or_hold_documents(self) -> None:
        made = opened(balance("1100", 100), sales=INVOICE)
        shown = accounts_shown(made.opening, ROLES)
        assert sorted(code_of(each.value) for each in shown) == ["1100", "1200"]


class TestRefuseUntied:
    def test_an_open_opening_that_ties_passes(self) -> None:
        opening = all_opened().opening
        assert status(opening) == "open"
        refuse_untied(opening, ties(opening, ACCOUNTS, ROLES), ROLES)

    @pytest.mark.parametrize("stated", [899, 901])
    def test_balances_that_do_not_tie_name_all_control_accounts(self, stated: int) -> None:
        made = opened(balance("1200", stated), sales=INVOICE, purchases=BILL).opening
        fault = refused(refuse_untied, made, ties(made, ACCOUNTS, ROLES), ROLES)
        assert fault.code == "opening_does_not_tie"
        named = [each["account_code"] for each in fault.detail["control_accounts"]]
        assert named == ["1200", "2000"]
        assert fault.detail["control_accounts"][0]["difference_cents"] == stated - 900
        assert fault.detail["difference_cents"] == stated - 40
