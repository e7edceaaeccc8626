"""Manual entries whose lines have own amounts beside their base; the books are in GBP."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.books import manual_entries
from accounting.books.accounts import Account, AccountReference
from accounting.books.commands import EntryLineGiven, WriteEntry
from accounting.books.manual_entries import ManualEntry
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import MarkedByHand
from tests.accounting.samples import account, account_id, code_of, context_of, day, refusal_of

DOLLARS = replace(account("1101"), currency="USD")
CODES = MarkedByHand(TaxCodes(()))


def named(*accounts: Account) -> dict[AccountReference, Account]:
    """Return accounts by each of their references."""
    by_code = {AccountReference("any", each.code): each for each in accounts}
    return {**by_code, **{AccountReference("id", each.id): each for each in accounts}}


NAMED = named(DOLLARS, account("1150"), account("3000"))


def write(*lines: tuple[str, int, str | None, int | None]) -> ManualEntry:
    """Write an entry of lines: account, base amount, currency and own amount."""
    given = tuple(
        EntryLineGiven(
            AccountReference("any", code), amount, currency=currency, currency_amount=own
        )
        for code, amount, currency, own in lines
    )
    command = WriteEntry(entry_date=day("5"), lines=given, post=True)
    return manual_entries.write(command, NAMED, CODES, context_of("10"))


def both(entry: ManualEntry) -> list[tuple[str, int, str | None, int | None]]:
    return [
        (code_of(each.account_id), each.amount, each.currency, each.currency_amount)
        for each in entry.lines
    ]


CAPITAL = ("3000", -9_000, None, None)


class TestLine:
    def test_on_an_account_with_a_currency_it_has_both_amounts(self) -> None:
        entry = write(("1101", 9_000, "USD", 10_000), CAPITAL)
        assert both(entry) == [("1101", 9_000, "USD", 10_000), CAPITAL]
        assert entry.total == 9_000

    def test_the_currency_is_that_of_its_account_by_default(self) -> None:
        [line, _] = both(write(("1101", 9_000, None, 10_000), CAPITAL))
        assert line == ("1101", 9_000, "USD", 10_000)

    def test_only_the_base_may_change(self) -> None:
        [line, _] = both(write(("1101", 9_000, "USD", 0), CAPITAL))
        assert line == ("1101", 9_000, "USD", 0)

    def test_on_any_other_account_a_foreign_currency_may_be_given(self) -> None:
        [line, _] = both(write(("1150", 9_000, "SEK", 110_000), CAPITAL))
        assert line == ("1150", 9_000, "SEK", 110_000)

    @pytest.mark.parametrize(
        ("line", "code", "field"),
        [
            (("1101", 9_000, None, None), "currency_amount_required", "currency_amount"),
            (("1101", 9_000, "USD", None), "currency_amount_required", "currency_amount"),
            (("1150", 9_000, "SEK", None), "currency_amount_required", "currency_amount"),
            (("1101", 9_000, "SEK", 110_000), "currency_mismatch", "currency"),
            (("1101", 9_000, "GBP", 9_000), "currency_mismatch", "currency"),
            (("1150", 9_000, "GBP", 9_000), "currency_mismatch", "currency"),
            (("1150", 9_000, None, 9_000), "currency_mismatch", "currency"),
            (("1101", 9_000, "USD", -10_000), "currency_amount_invalid", "currency_amount"),
        ],
    )
    def test_an_invalid_one_is_refused_with_its_place(
        self, line: Any, code: str, field: str
    ) -> None:
        found, detail = refusal_of(write, CAPITAL, line)
        assert (found, detail["field"], detail["item"]) == (code, field, "lines.1")


def test_a_reversal_negates_both_amounts() -> None:
    entry = replace(write(("1101", 9_000, "USD", 10_000), CAPITAL), sequence_number="JE-1")
    mirror = manual_entries.reverse(entry, None, context_of("10"))
    assert both(mirror) == [("1101", -9_000, "USD", -10_000), ("3000", 9_000, None, None)]


def test_an_approval_checks_a_currency_that_the_account_has_since() -> None:
    draft = replace(write(("1150", 9_000, None, None), CAPITAL), status="draft")
    since = {**NAMED, **named(replace(account("1150"), currency="USD"))}
    code, detail = refusal_of(manual_entries.approve, draft, since, CODES, context_of("10"))
    assert (code, detail["item"]) == ("currency_amount_required", "lines.0")
    assert draft.lines[0].account_id == account_id("1150")
    approved = manual_entries.approve(draft, NAMED, CODES, context_of("10"))
    assert approved.lines == draft.lines
