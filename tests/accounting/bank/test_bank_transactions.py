"""Lines of statements that are posted straight to an account."""

from dataclasses import replace

import pytest

from accounting.bank import bank_postings, bank_transactions
from accounting.bank.bank_transactions import BankTransaction
from tests.accounting.bank.statements import SAVINGS, line, new_id, posted_by
from tests.accounting.samples import (
    NAMED,
    ROLES,
    AccountReference,
    account,
    context_of,
    posted_after,
    refused,
)

CHARGES = NAMED[AccountReference("code", "6300")]
NOW = context_of("15")


def categorized(amount: int) -> BankTransaction:
    return bank_transactions.categorize(line(amount), CHARGES, "m", NOW)


class TestCategorize:
    @pytest.mark.parametrize(
        ("amount", "posted"),
        [(-12, {"6300": 12, "1110": -12}), (12, {"1110": 12, "6300": -12})],
    )
    def test_what_is_left_of_a_line_is_posted_on_its_day(
        self, amount: int, posted: dict[str, int]
    ) -> None:
        done = categorized(amount)
        assert (done.categorized, done.category_memo) == (12, "m")
        assert posted_by(done) == [("12", posted)]
        [entry] = bank_postings.entries_for(done, ROLES, None)
        assert (entry.source_type, entry.source_id) == ("bank_transaction", done.id)

    def test_nothing_is_posted_without_a_category(self) -> None:
        assert posted_by(line(12)) == []

    def test_it_is_taken_back_by_a_linked_reversal(self) -> None:
        done = categorized(12)
        entries = bank_postings.entries_for(done, ROLES, None)
        done = replace(done, posted=posted_after((), entries, new_id))
        free = bank_transactions.uncategorize(done, NOW)
        assert (free.categorized, free.category_account_id) == (0, None)
        [back] = bank_postings.entries_for(free, ROLES, None)
        assert back.reversal_of_id == done.posted[0].id
        assert posted_by(free) == [("12", {"1110": -12, "6300": 12})]

    def test_where_there_is_none_nothing_is_taken_back(self) -> None:
        plain = line(1)
        assert bank_transactions.uncategorize(plain, NOW) is plain

    def test_what_is_refused(self) -> None:
        own = account("1110")
        assert own.id == SAVINGS
        for code, transaction, named, context in (
            ("bank_transaction_used_up", line(9, linked=9), CHARGES, NOW),
            ("same_account", line(9), own, NOW),
            ("period_locked", line(9), CHARGES, context_of("15", lock="12")),
        ):
            refusal = refused(bank_transactions.categorize, transaction, named, None, context)
            assert refusal.code == code
