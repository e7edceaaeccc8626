"""Statement lines posted directly to accounts."""

from dataclasses import replace

import pytest

from accounting.bank import bank_postings, bank_transactions
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import CategoryGiven
from accounting.books.accounts import BookAccounts
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from tests.accounting.bank.statements import SAVINGS, line, new_id, posted_by
from tests.accounting.samples import (
    NAMED,
    REFERENCED,
    ROLES,
    AccountReference,
    account,
    account_id,
    context_of,
    day,
    posted_after,
    refusal_of,
    refused,
)

NOW = context_of("15")


def part(code: str, amount: int | None = None, memo: str | None = None) -> CategoryGiven:
    return CategoryGiven(AccountReference("code", code), amount, memo)


def categorized(amount: int, *parts: CategoryGiven) -> BankTransaction:
    given = parts or (part("6300", memo="m"),)
    return bank_transactions.categorize(line(amount), given, REFERENCED, NOW)


class TestCategorize:
    @pytest.mark.parametrize(
        ("amount", "posted"), [(-12, {"6300": 12, "1110": -12}), (12, {"1110": 12, "6300": -12})]
    )
    def test_the_rest_of_a_line_is_posted(self, amount: int, posted: dict[str, int]) -> None:
        done = categorized(amount)
        [whole] = done.parts
        assert (done.categorized, whole.amount, whole.memo) == (12, 12, "m")
        assert posted_by(done) == [("12", posted)]
        [entry] = bank_postings.entries_for(done, ROLES, None)
        assert (entry.source_type, entry.source_id) == ("bank_transaction", done.id)

    def test_in_parts_each_has_its_account(self) -> None:
        done = categorized(-100, part("6300", 12), part("6000", 80), part("6300", 8))
        assert (done.categorized, len(done.parts)) == (100, 3)
        assert posted_by(done) == [("12", {"6300": 20, "6000": 80, "1110": -100})]

    def test_parts_with_different_tags_are_lines_of_their_own(self) -> None:
        van, north = replace(part("6000", 80), tags=("van",)), replace(part("6000", 5), tags=("n",))
        done = categorized(-100, van, north, part("6000", 7), part("6000", 8))
        entries = bank_postings.entries_for(done, ROLES, None)
        cost = account_id("6000")
        lines = {line.tags: line.amount for line in entries[0].lines if line.account_id == cost}
        assert lines == {("van",): 80, ("n",): 5, (): 15}
        undone = replace(done, posted=posted_after((), entries, new_id))
        [back] = bank_postings.entries_for(bank_transactions.uncategorize(undone, NOW), ROLES, None)
        lines = {line.tags: line.amount for line in back.lines if line.account_id == cost}
        assert lines == {("van",): -80, ("n",): -5, (): -15}

    def test_parts_add_up_to_what_links_have_left(self) -> None:
        given = [part("4500", 30), part("4600", 10)]
        done = bank_transactions.categorize(line(100, linked=60), given, REFERENCED, NOW)
        assert (done.categorized, bank_transactions.remaining(done)) == (40, 0)

    @pytest.mark.parametrize("amounts", [(30, 11), (30, 9), (40, 1), (41,)])
    def test_no_more_and_no_less(self, amounts: tuple[int, ...]) -> None:
        given = line(100, linked=60), [part("4500", amount) for amount in amounts], REFERENCED, NOW
        sums = {"splits_total_cents": sum(amounts), "remaining_amount_cents": 40}
        refusal = refusal_of(bank_transactions.categorize, *given)
        assert refusal == ("splits_mismatch", sums)

    def test_a_line_without_a_category_posts_nothing_and_stays_unchanged(self) -> None:
        plain = line(1, reconciled_through=day("31"))
        assert posted_by(plain) == []
        assert bank_transactions.uncategorize(plain, NOW) is plain

    def test_a_category_is_undone_by_a_linked_reversal(self) -> None:
        done = categorized(12, part("6300", 7), part("6000", 5))
        entries = bank_postings.entries_for(done, ROLES, None)
        done = replace(done, posted=posted_after((), entries, new_id))
        free = bank_transactions.uncategorize(done, NOW)
        assert (free.categorized, free.parts) == (0, ())
        [back] = bank_postings.entries_for(free, ROLES, None)
        assert back.reversal_of_id == done.posted[0].id
        assert posted_by(free) == [("12", {"1110": -12, "6300": 7, "6000": 5})]

    @pytest.mark.parametrize("through", ["12", "31"])
    def test_a_closed_statement_keeps_its_lines_as_they_are(self, through: str) -> None:
        held = line(9, reconciled_through=day(through))
        done = replace(categorized(9), reconciled_through=day(through))
        closed = ("bank_reconciled", {"statement_date": f"2026-01-{through}"})
        given = held, [part("6300")], REFERENCED, NOW
        assert refusal_of(bank_transactions.categorize, *given) == closed
        assert refusal_of(bank_transactions.uncategorize, done, NOW) == closed
        after = replace(done, reconciled_through=day("11"))
        assert bank_transactions.uncategorize(after, NOW).categorized == 0

    def test_invalid_categories_are_refused(self) -> None:
        own = account("1110")
        assert own.id == SAVINGS == account_id("1110")
        named = {**NAMED, AccountReference("code", "1110"): own}
        chart = TaxReferences(BookAccounts(ROLES, named), TaxCodes(()))
        for code, transaction, given, context in (
            ("bank_transaction_used_up", line(9, linked=9), part("6300"), NOW),
            ("same_account", line(9), part("1110"), NOW),
            ("reference_not_found", line(9), part("9999"), NOW),
            ("control_account", line(9), part("1200"), NOW),
            ("period_locked", line(9), part("6300"), context_of("15", lock="12")),
        ):
            refusal = refused(bank_transactions.categorize, transaction, [given], chart, context)
            assert refusal.code == code
