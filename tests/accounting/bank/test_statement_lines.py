"""Lines of statements: their import, repeats and corrections."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.line_identities import Line, StoredLine, facts_of, identities
from accounting.bank.statement_accounts import StatementChoice
from accounting.bank.statement_lines import (
    DeletedLine,
    DuplicateLine,
    ImportTarget,
    KeptLines,
    OmittedLine,
    RejectedLine,
    SentLine,
    minor_units,
    sort_out,
)
from tests.accounting.bank.statements import bank_account
from tests.accounting.bank.statements import line as transaction
from tests.accounting.samples import context_of, day

CONTEXT = context_of("07-16", lock="12-31")
IBAN = "GB33BUKB20201555555555"
BANK = bank_account(iban=IBAN)
ALL = StatementChoice(frozenset())


def line(**facts: Any) -> Line:
    return Line(**{"booked_on": day("07-15"), "amount": 100, "direction": "credit", **facts})


def sorted_out(lines: list[SentLine], kept: KeptLines, choice: StatementChoice = ALL) -> list[Any]:
    target = ImportTarget(BANK, choice, "csv")
    return sort_out(lines, list(identities(lines)), kept, target, CONTEXT)


def fates(lines: list[SentLine], known: dict[str, StoredLine] | None = None) -> list[Any]:
    return sorted_out(lines, KeptLines(known or {}))


def stored(line: Line, id: int = 7) -> StoredLine:
    return StoredLine(UUID(int=id), facts_of(line))


def again(results: list[Any]) -> dict[str, StoredLine]:
    """Return the new lines of an import as they are stored."""
    return {
        each.external_id: StoredLine(each.id, (each.booked_on, each.amount, each.direction))
        for each in results
        if isinstance(each, BankTransaction)
    }


class TestMinorUnits:
    @pytest.mark.parametrize(
        ("amount", "exponent", "units"),
        [
            *(("12.50", 2, 1250), ("12.5", 2, 1250), ("12", 2, 1200), ("1500.00", 0, 1500)),
            ("0.00", 2, 0),
        ],
    )
    def test_an_amount_becomes_whole_units(self, amount: str, exponent: int, units: int) -> None:
        assert minor_units(Decimal(amount), exponent) == units

    @pytest.mark.parametrize(
        ("amount", "exponent", "why"),
        [
            ("1.005", 2, "more than 2 decimals"),
            ("0.5", 0, "more than 0 decimals"),
            ("99999999999.995", 2, "more than 2 decimals"),
            ("1000000000000", 2, "too large"),
        ],
    )
    def test_an_unusable_amount_is_refused(self, amount: str, exponent: int, why: str) -> None:
        with pytest.raises(ValueError, match=why):
            minor_units(Decimal(amount), exponent)


class TestSortOut:
    def test_a_new_line_is_kept(self) -> None:
        [kept] = fates([line(external_id="A", description="d", currency="GBP", account=IBAN)])
        assert isinstance(kept, BankTransaction)
        assert (kept.bank_account_id, kept.account_id) == (BANK.id, BANK.account_id)
        assert (kept.external_id, kept.amount, kept.direction) == ("A", 100, "credit")
        assert (kept.booked_on, kept.imported_at) == (day("07-15"), CONTEXT.now)
        assert (kept.linked, kept.categorized, kept.source_format) == (0, 0, "csv")

    def test_an_existing_or_repeated_line_is_skipped(self) -> None:
        known = line(external_id="A")
        assert fates([known], {"A": stored(known)}) == [DuplicateLine(UUID(int=7))]
        kept, repeat = fates([known, known])
        assert repeat == DuplicateLine(kept.id)

    @pytest.mark.parametrize(
        "change", [{"booked_on": day("08-15")}, {"amount": 101}, {"direction": "debit"}]
    )
    def test_a_known_id_on_another_day_or_amount_is_another_line(
        self, change: dict[str, Any]
    ) -> None:
        first = line(external_id="FEE")
        other = replace(first, **change)
        one, two = fates([first, other])
        assert (one.external_id, two.external_id[:4]) == ("FEE", "FEE-")
        [later] = fates([other], {"FEE": stored(first)})
        assert later.external_id == two.external_id
        known = again([one, two])
        assert fates([other, first], known) == [DuplicateLine(two.id), DuplicateLine(one.id)]

    def test_a_text_alone_makes_no_other_line_in_a_later_file(self) -> None:
        first = line(external_id="A", description="CARD")
        enriched = replace(first, description="CARD COFFEE SHOP")
        assert fates([enriched], {"A": stored(first)}) == [DuplicateLine(UUID(int=7))]
        month = replace(first, booked_on=day("08-15"))
        known = again(fates([first, month]))
        renamed = replace(month, description="CARD COFFEE SHOP")
        assert [type(each) for each in fates([renamed], known)] == [DuplicateLine]

    def test_different_texts_of_one_file_are_lines_of_their_own(self) -> None:
        batch = [line(external_id="B", description=text) for text in "xyz"]
        kept = fates([*batch])
        assert len({each.id for each in kept}) == 3
        known = again(kept)
        assert [each.id for each in fates([*batch], known)] == [each.id for each in kept[:3]]
        assert fates([batch[2]], known) == [DuplicateLine(kept[2].id)]

    def test_equal_lines_under_an_id_of_several_lines_count_each(self) -> None:
        coffee, tea = line(external_id="900"), line(external_id="900", amount=90)
        kept = fates([coffee, coffee, tea])
        assert len({each.id for each in kept if isinstance(each, BankTransaction)}) == 3
        repeated = fates([coffee, coffee, tea], again(kept))
        assert repeated == [DuplicateLine(each.id) for each in kept]

    @given(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 3), st.sampled_from("xy"))))
    def test_the_same_file_again_brings_nothing_new(self, told: list[tuple[str, int, str]]) -> None:
        lines: list[SentLine] = [
            line(external_id=id, amount=amount, description=text) for id, amount, text in told
        ]
        first = fates(lines)
        new = [each for each in first if isinstance(each, BankTransaction)]
        # If an id is on different lines, it makes no repeat of two equal ones.
        shared = {id for id, *_ in told if len({each for each in told if each[0] == id}) > 1}
        assert len(new) == sum(each[0] in shared for each in told) + len(
            {each for each in told if each[0] not in shared}
        )
        repeated = fates(lines, again(first))
        assert [each.id for each in repeated] == [each.id for each in first]
        assert all(isinstance(each, DuplicateLine) for each in repeated)

    @pytest.mark.parametrize(
        ("wrong", "code"),
        [
            (line(currency="EUR"), "currency_mismatch"),
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

    def test_a_line_of_the_days_of_a_closed_statement_comes_after_closing(self) -> None:
        closed = KeptLines({}, closed_through=day("07-14"))
        days = [day("07-13"), day("07-14"), day("07-15")]
        made = sorted_out([line(booked_on=on) for on in days], closed)
        assert [each.after_closing for each in made] == [True, True, False]
        assert [each.after_closing for each in fates([line()])] == [False]

    def test_an_existing_line_of_a_closed_statement_is_skipped(self) -> None:
        [name] = again(fates([line()]))
        kept = KeptLines({name: stored(line())}, closed_through=day("07-31"))
        assert sorted_out([line()], kept) == [DuplicateLine(UUID(int=7))]

    def test_lines_of_other_statements_are_refused_or_left_out(self) -> None:
        lines: list[SentLine] = [line(account=name) for name in ("own", "other", "third")]
        choice = StatementChoice(frozenset({"other"}), frozenset({"third"}))
        own, refused, left_out = sorted_out(lines, KeptLines({}), choice)
        assert isinstance(own, BankTransaction)
        assert (refused.code, left_out) == ("bank_account_mismatch", OmittedLine())


OLD = transaction(100, "15", external_id="A", account_id=BANK.account_id, version=1)


def corrected(old: BankTransaction, *lines: SentLine, closed: str | None = None) -> list[Any]:
    known = {"A": StoredLine(old.id, (old.booked_on, old.amount, old.direction))}
    kept = KeptLines(known, day(closed) if closed else None, {"A": old})
    return sorted_out(list(lines), kept)


class TestCorrections:
    def test_a_correction_replaces_the_line(self) -> None:
        [changed] = corrected(OLD, line(external_id="B", amount=90, corrects="A"))
        assert (changed.id, changed.version) == (OLD.id, 1)
        assert (changed.external_id, changed.amount) == ("B", 90)
        assert fates([line(external_id="B", amount=90, corrects="A")], again([changed])) == [
            DuplicateLine(OLD.id)
        ]

    def test_a_deletion_removes_the_line(self) -> None:
        assert corrected(OLD, line(external_id="B", corrects="A", deletes=True)) == [
            DeletedLine(OLD)
        ]
        assert fates([line(corrects="Z", deletes=True)]) == [DeletedLine(None)]

    def test_a_correction_of_an_unknown_line_is_a_new_line(self) -> None:
        [new] = fates([line(external_id="B", corrects="Z")])
        assert (new.version, new.external_id) == (0, "B")

    def test_a_line_that_its_own_file_corrects_is_left_out(self) -> None:
        first, second = line(external_id="A"), line(external_id="B", amount=90, corrects="A")
        left_out, new = fates([first, second])
        assert (left_out, new.amount) == (OmittedLine(), 90)
        again_left_out, repeat = fates([first, second], again([new]))
        assert (again_left_out, repeat) == (OmittedLine(), DuplicateLine(new.id))

    @pytest.mark.parametrize("deletes", [True, False])
    @pytest.mark.parametrize(
        ("old", "closed", "code"),
        [
            (replace(OLD, linked=40), None, "bank_transaction_used_up"),
            (replace(OLD, categorized=100), None, "bank_transaction_used_up"),
            (OLD, "07-15", "bank_reconciled"),
        ],
    )
    def test_a_line_in_use_is_not_corrected(
        self, old: BankTransaction, closed: str | None, code: str, deletes: bool
    ) -> None:
        [refused] = corrected(
            old, line(external_id="B", amount=90, corrects="A", deletes=deletes), closed=closed
        )
        assert refused.code == code

    @pytest.mark.parametrize(("on", "late"), [("07-15", True), ("07-16", False)])
    def test_a_line_after_closing_is_corrected(self, on: str, late: bool) -> None:
        old = replace(OLD, after_closing=True)
        changed = line(external_id="B", corrects="A", booked_on=day(on))
        [corrected_line] = corrected(old, changed, closed="07-15")
        assert (corrected_line.id, corrected_line.after_closing) == (OLD.id, late)
        [deleted] = corrected(old, replace(changed, deletes=True), closed="07-15")
        assert deleted == DeletedLine(old)

    def test_a_line_that_was_linked_once_is_replaced_but_not_deleted(self) -> None:
        known = {"A": StoredLine(OLD.id, (OLD.booked_on, OLD.amount, OLD.direction))}
        kept = KeptLines(known, None, {"A": OLD}, frozenset({OLD.id}))
        changed = line(external_id="B", amount=90, corrects="A")
        [refused] = sorted_out([replace(changed, deletes=True)], kept)
        assert refused.code == "bank_transaction_used_up"
        [replaced] = sorted_out([changed], kept)
        assert (replaced.id, replaced.amount) == (OLD.id, 90)
