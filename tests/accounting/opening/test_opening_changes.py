"""An opening is created and reversed as a whole; its postings."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from accounting.opening import openings
from accounting.opening.opening_changes import account_references, open_books, reverse
from accounting.opening.openings import OpenedBooks, OpenedWith, status
from accounting.trade import postings
from accounting.trade.allocation import Allocation
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.opening.samples import KNOWN, ON, TODAY, all_opened, balance, command, opened
from tests.accounting.samples import (
    ROLES,
    account_id,
    amounts,
    code_of,
    context_of,
    day,
    identifiers,
    posted_after,
    refused,
)


def posted(made: OpenedBooks) -> list[tuple[str, Any, dict[str, int]]]:
    """Return the source, the day and the amounts of each entry of an opening."""
    entries = openings.entries_for(made.opening, ROLES, None)
    for side, mine in ((RECEIVABLE, made.sales), (PAYABLE, made.purchases)):
        for each in (*mine.documents, *mine.credits, *mine.payments):
            entries += postings.entries_for(side, each, ROLES, None)
    return [(entry.source_type, entry.entry_date, amounts(entry)) for entry in entries]


def with_money_used(made: OpenedBooks) -> OpenedBooks:
    [money] = made.sales.payments
    share = Allocation(account_id("1"), account_id("2"), 5, ON)
    used = replace(made.sales, payments=(replace(money, allocations=(share,)),))
    return replace(made, sales=used)


class TestOpenBooks:
    def test_all_of_it_is_posted_on_the_day_of_the_opening(self) -> None:
        assert posted(all_opened()) == [
            ("opening_balance", ON, {"1100": 500, "3000": -100, "3290": -400}),
            ("invoice", ON, {"1200": 120, "3290": -120}),
            ("customer_credit", ON, {"3290": 20, "2250": -20}),
            ("payment", ON, {"3290": 7, "2100": -7}),
            ("bill", ON, {"3290": 80, "2000": -80}),
            ("vendor_credit", ON, {"1260": 8, "3290": -8}),
            ("bill_payment", ON, {"1250": 3, "3290": -3}),
        ]

    def test_balances_of_one_account_are_added_up(self) -> None:
        made = opened(balance("1100", 70), balance("1100", -20))
        assert made.opening.stated == {account_id("1100"): 50}
        assert posted(opened()) == []

    def test_the_control_accounts_are_looked_up_beside_those_that_are_named(self) -> None:
        found = account_references(command(balance("1100", 70)), ROLES)
        ids = sorted(code_of(each.value) for each in found if each.kind == "id")
        assert ids == ["1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300"]

    def test_not_within_the_lock(self) -> None:
        fault = refused(open_books, command(), KNOWN, context_of(TODAY, lock="31"))
        assert fault.code == "period_locked"

    def test_a_total_larger_than_the_books_hold_is_refused(self) -> None:
        most = 99_999_999_999_999
        fault = refused(opened, balance("1000", most), balance("1100", most))
        assert fault.code == "amount_too_large"


class TestReverse:
    def test_all_of_it_is_taken_back_on_a_day(self) -> None:
        made = reverse(all_opened(), day("2-5"), context_of(TODAY))
        assert status(made.opening) == "reversed"
        sums: Counter[str] = Counter()
        for _, _, lines in posted(made):
            sums.update(lines)
        assert set(sums.values()) == {0}
        assert {on for _, on, _ in posted(made)} == {ON, day("2-5")}
        sales = made.sales
        [invoice], [credit], [money] = sales.documents, sales.credits, sales.payments
        assert (invoice.state, credit.state, money.status) == ("void", "void", "cancelled")

    def test_posted_entries_get_linked_reversals(self) -> None:
        made = all_opened().opening
        stood = posted_after((), openings.entries_for(made, ROLES, None), identifiers(1))
        before = OpenedBooks(replace(made, posted=stood), OpenedWith(), OpenedWith())
        after = reverse(before, None, context_of(TODAY)).opening
        [mirror] = openings.entries_for(after, ROLES, None)
        assert (mirror.reversal_of_id, mirror.entry_date) == (stood[0].id, day(TODAY))
        assert amounts(mirror) == {"1100": -500, "3000": 100, "3290": 400}

    def test_the_day_is_that_of_the_business(self) -> None:
        late = context_of("2-5T23:30", timezone="Europe/Amsterdam")
        for on, expected in ((None, day("2-6")), (day("2-5"), day("2-5"))):
            made = reverse(all_opened(), on, late)
            assert {at for _, at, _ in posted(made)} == {ON, expected}
            assert made.sales.documents[0].voided_on == expected

    def test_never_before_its_own_day(self) -> None:
        assert posted(reverse(all_opened(), day("5"), context_of(TODAY))) == []

    def test_not_twice_and_not_on_a_locked_day(self) -> None:
        made = reverse(all_opened(), None, context_of(TODAY))
        fault = refused(reverse, made, None, context_of(TODAY))
        assert fault.code == "invalid_state_transition"
        fault = refused(reverse, all_opened(), day("31"), context_of(TODAY, lock="31"))
        assert fault.code == "period_locked"

    def test_not_while_something_is_used(self) -> None:
        fault = refused(reverse, with_money_used(all_opened()), None, context_of(TODAY))
        assert fault.code == "opening_balance_settled"
        assert list(fault.detail) == ["payment_ids"]

    @pytest.mark.parametrize("name", ["paid", "reserved", "credited", "written_off", "refunded"])
    def test_a_reversal_is_refused_while_a_document_is_settled(self, name: str) -> None:
        made = all_opened()
        [bill] = made.purchases.documents
        moved = replace(made.purchases, documents=(replace(bill, **{name: 1}),))
        fault = refused(reverse, replace(made, purchases=moved), None, context_of(TODAY))
        assert fault.detail == {"bill_ids": [str(bill.id)]}
