"""Lines of statements: their identity, and their import."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.statement_lines import (
    DuplicateLine,
    KeptLines,
    Line,
    RejectedLine,
    identities,
    minor_units,
    sort_out,
)
from tests.accounting.bank.statements import bank_account
from tests.accounting.samples import context_of, day

CONTEXT = context_of("07-16", lock="12-31")
IBAN = "GB33BUKB20201555555555"
BANK = bank_account(iban=IBAN)


def line(**facts: Any) -> Line:
    return Line(**{"booked_on": day("07-15"), "amount": 100, "direction": "credit", **facts})


def sorted_out(
    lines: list[Line | RejectedLine], kept: KeptLines, bank: BankAccount = BANK
) -> list[Any]:
    return sort_out(lines, identities(lines, unique_ids=True), kept, bank, "csv", CONTEXT)


def fates(lines: list[Line | RejectedLine], known: dict[str, UUID] | None = None) -> list[Any]:
    return sorted_out(lines, KeptLines(known or {}))


class TestMinorUnits:
    @pytest.mark.parametrize(
        ("amount", "exponent", "units"),
        [("12.50", 2, 1250), ("12.5", 2, 1250), ("12", 2, 1200), ("1500.00", 0, 1500)],
    )
    def test_an_amount_becomes_whole_units(self, amount: str, exponent: int, units: int) -> None:
        assert minor_units(Decimal(amount), exponent) == units

    @pytest.mark.parametrize(
        ("amount", "exponent", "why"),
        [
            ("0", 2, "zero"),
            ("0.00", 2, "zero"),
            ("1.005", 2, "more than 2 decimals"),
            ("0.5", 0, "more than 0 decimals"),
            ("99999999999.995", 2, "more than 2 decimals"),
            ("1000000000000", 2, "too large"),
        ],
    )
    def test_an_unusable_amount_is_refused(self, amount: str, exponent: int, why: str) -> None:
        with pytest.raises(ValueError, match=why):
            minor_units(Decimal(amount), exponent)


class TestIdentities:
    def test_a_line_is_known_by_its_banks_id(self) -> None:
        assert identities([line(external_id="A")], unique_ids=True) == ["A"]
        twice = [line(external_id="B"), line(external_id="B")]
        assert identities(twice, unique_ids=False) == ["B", "B"]

    def test_an_id_of_a_batch_is_told_apart_by_what_its_lines_say(self) -> None:
        batch = [line(external_id="B"), line(external_id="B", amount=5), line(external_id="B")]
        assert identities(batch, unique_ids=True) == ["B", "B", "B"]
        first, second, again = identities(batch, unique_ids=False)
        assert first == again != second

    def test_equal_lines_without_an_id_are_numbered(self) -> None:
        first, second, other = identities([line(), line(), line(amount=1)], unique_ids=True)
        assert first.startswith("line-")
        assert (first[-2:], second) == ("-1", f"{first[:-1]}2")
        assert other != first

    def test_spaces_and_case_do_not_count(self) -> None:
        one, other = line(description="Blue  Door "), line(description="BLUE DOOR")
        assert identities([one], unique_ids=True) == identities([other], unique_ids=True)

    @pytest.mark.parametrize(
        "change",
        [
            {"booked_on": day("07-16")},
            {"amount": 101},
            {"direction": "debit"},
            {"description": "x"},
            {"counterparty_name": "x"},
            {"reference": "x"},
        ],
    )
    def test_everything_that_a_line_says_counts(self, change: dict[str, Any]) -> None:
        plain, changed = line(), replace(line(), **change)
        assert identities([plain], unique_ids=True) != identities([changed], unique_ids=True)

    def test_a_long_id_is_cut_and_told_apart(self) -> None:
        long = [line(external_id="x" * 300 + end) for end in "ab"]
        first, second = identities(long, unique_ids=True)
        assert first != second
        assert max(len(name) for name in (first, second)) <= 255

    @given(st.lists(st.sampled_from([1, 2, 3]), max_size=12))
    def test_identities_of_equal_statements_are_equal_and_unique(self, amounts: list[int]) -> None:
        lines = [line(amount=amount) for amount in amounts]
        names = identities(lines, unique_ids=True)
        assert identities(list(lines), unique_ids=True) == names
        assert len(set(names)) == len(names)


class TestSortOut:
    def test_a_new_line_is_kept(self) -> None:
        [kept] = fates([line(external_id="A", description="d", currency="GBP", iban=IBAN)])
        assert isinstance(kept, BankTransaction)
        assert (kept.bank_account_id, kept.account_id) == (BANK.id, BANK.account_id)
        assert (kept.external_id, kept.amount, kept.direction) == ("A", 100, "credit")
        assert (kept.booked_on, kept.imported_at) == (day("07-15"), CONTEXT.now)
        assert (kept.linked, kept.categorized, kept.source_format) == (0, 0, "csv")

    def test_an_existing_or_repeated_line_is_skipped(self) -> None:
        there = {"A": UUID(int=7)}
        assert fates([line(external_id="A")], there) == [DuplicateLine(UUID(int=7))]
        kept, again = fates([line(external_id="A"), line(external_id="A")])
        assert again == DuplicateLine(kept.id)

    @pytest.mark.parametrize(
        ("wrong", "code"),
        [
            (line(currency="EUR"), "currency_mismatch"),
            (line(iban="NL91ABNA0417164300"), "bank_account_mismatch"),
            (line(booked_on=date(1899, 12, 31)), "validation_error"),
            (line(booked_on=date(2200, 1, 1)), "validation_error"),
            (RejectedLine("validation_error", "The date is not valid."), "validation_error"),
        ],
    )
    def test_a_wrong_one_fails_alone(self, wrong: Line | RejectedLine, code: str) -> None:
        good, failed, after = fates([line(external_id="A"), wrong, line(external_id="B")])
        assert isinstance(failed, RejectedLine)
        assert failed.code == code
        assert isinstance(good, BankTransaction)
        assert isinstance(after, BankTransaction)

    def test_a_line_of_a_closed_statement_is_rejected(self) -> None:
        closed = KeptLines({}, closed_through=day("07-14"))
        late, good = sorted_out([line(booked_on=day("07-14")), line()], closed)
        assert isinstance(late, RejectedLine)
        assert (late.code, isinstance(good, BankTransaction)) == ("bank_reconciled", True)

    def test_an_existing_line_of_a_closed_statement_is_skipped(self) -> None:
        [name] = identities([line()], unique_ids=True)
        kept = KeptLines({name: UUID(int=7)}, closed_through=day("07-31"))
        assert sorted_out([line()], kept) == [DuplicateLine(UUID(int=7))]

    def test_a_bank_account_without_an_iban_takes_any(self) -> None:
        lines: list[Line | RejectedLine] = [line(iban="NL91ABNA0417164300")]
        [kept] = sorted_out(lines, KeptLines({}), replace(BANK, iban=None))
        assert isinstance(kept, BankTransaction)
