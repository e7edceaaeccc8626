"""The journal ranges of consecutive returns, and of any history of returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.numbers import journal_series
from accounting.tax import cash_schemes, returns
from accounting.tax.commands import CreateTaxReturn, FileTaxReturn, Scheme
from accounting.tax.return_figures import Figures
from accounting.tax.returns import JournalRange, ReturnStatus, TaxReturn
from tests.accounting.samples import context_of, identifiers, refused

NOTHING = Figures(boxes=(), codes=(), late=(), uncoded=())
new_id = identifiers()
NOW = context_of("12-31", None, new_id)


def drawn_up(start: str, end: str, scheme: Scheme = Scheme.ACCRUAL) -> TaxReturn:
    first, last = (date.fromisoformat(f"2026-{day}") for day in (start, end))
    command = CreateTaxReturn(start_date=first, end_date=last, scheme=scheme)
    return returns.created(command, NOW)


def members(
    draft: TaxReturn, others: Sequence[TaxReturn], reached: Sequence[str] = ("JE-2026",)
) -> tuple[JournalRange, ...]:
    return returns.members(draft, others, reached)


def file(draft: TaxReturn, others: Sequence[TaxReturn], **reached: int) -> TaxReturn:
    numbers = {f"JE-{year[1:]}": number for year, number in reached.items()}
    having = (members(draft, others, [*numbers]), NOTHING)
    return returns.filed(draft, FileTaxReturn(), having, numbers, NOW)


def as_tuples(slices: Sequence[JournalRange]) -> list[tuple[str, str, int, int | None, bool]]:
    return [
        (each.first.isoformat()[5:], each.last.isoformat()[5:], each.after, each.upto, each.late)
        for each in slices
    ]


FIRST = file(drawn_up("01-01", "03-31"), [], y2026=40)
SECOND = file(drawn_up("04-01", "06-30"), [FIRST], y2026=90)
ONLY_SECOND = file(drawn_up("04-01", "06-30"), [], y2026=90)


class TestMembers:
    def test_the_first_return_has_its_days(self) -> None:
        assert as_tuples(FIRST.slices) == [("01-01", "03-31", 0, 40, False)]

    @pytest.mark.parametrize(
        ("start", "end", "others", "late"),
        [
            ("04-01", "06-30", [FIRST], [("01-01", "03-31", 40, None, True)]),
            ("07-01", "09-30", [FIRST, SECOND], [("01-01", "06-30", 90, None, True)]),
            ("01-01", "03-31", [ONLY_SECOND], []),
        ],
    )
    def test_a_draft_has_its_days_after_what_is_late_of_earlier_returns(
        self, start: str, end: str, others: list[TaxReturn], late: list[Any]
    ) -> None:
        own = (start, end, 0, None, False)
        assert as_tuples(members(drawn_up(start, end), others)) == [*late, own]

    def test_a_draft_has_the_late_entries_of_filed_days(self) -> None:
        draft = drawn_up("03-01", "04-30")
        assert as_tuples(members(draft, [FIRST])) == [
            ("01-01", "02-28", 40, None, True),
            ("03-01", "03-31", 40, None, False),
            ("04-01", "04-30", 0, None, False),
        ]

    def test_a_year_has_a_slice_of_its_own(self) -> None:
        first, last = date(2025, 12, 1), date(2026, 1, 31)
        command = CreateTaxReturn(start_date=first, end_date=last, scheme=Scheme.CASH)
        draft = returns.created(command, NOW)
        slices = file(draft, [], y2025=7, y2026=0).slices
        assert as_tuples(slices) == [("12-01", "12-31", 0, 7, False)]
        assert [each.series for each in members(draft, [])] == ["JE-2025", "JE-2026"]

    def test_a_superseding_return_has_the_old_members_and_its_own_late_ones(self) -> None:
        draft = returns.superseding(FIRST, "Forgotten", NOW)
        assert as_tuples(members(draft, [FIRST, SECOND])) == [
            ("01-01", "03-31", 0, 40, False),
            ("01-01", "03-31", 90, None, True),
        ]


class TestMembersOnAnotherScheme:
    CASH = file(drawn_up("01-01", "03-31", Scheme.CASH), [], y2026=40)

    def test_accrual_after_cash_has_a_transition(self) -> None:
        draft = drawn_up("04-01", "06-30")
        before, moved, late, own = members(draft, [self.CASH], ["JE-2027", "JE-2026", "JE-2024"])
        assert (before.first, before.last) == (date(2024, 1, 1), date(2024, 12, 31))
        assert as_tuples([moved, late, own]) == [
            ("01-01", "03-31", 0, None, False),
            ("01-01", "03-31", 40, None, True),
            ("04-01", "06-30", 0, None, False),
        ]
        assert (moved.change, late.change, own.change) == (date(2026, 4, 1), None, None)
        assert (late.scheme, own.scheme) == (Scheme.CASH, Scheme.ACCRUAL)

    def test_only_the_first_return_after_the_change_has_a_transition(self) -> None:
        second = file(drawn_up("04-01", "06-30"), [self.CASH], y2026=90)
        third = members(drawn_up("07-01", "09-30"), [self.CASH, second])
        assert [each.change for each in third] == [None, None]
        assert {each.scheme for each in third} == {Scheme.ACCRUAL}

    def test_cash_has_late_what_accrual_left_on_accrual(self) -> None:
        late, own = members(drawn_up("04-01", "06-30", Scheme.CASH), [FIRST])
        assert (late.scheme, own.scheme) == (Scheme.ACCRUAL, Scheme.CASH)

    def test_a_superseding_return_keeps_its_transition(self) -> None:
        second = file(drawn_up("04-01", "06-30"), [self.CASH], y2026=90)
        draft = returns.superseding(second, "Forgotten", NOW)
        assert members(draft, [self.CASH, second])[:3] == second.slices

    def test_late_entries_on_cash_are_on_accrual_after_the_change(self) -> None:
        second = file(drawn_up("04-01", "06-30"), [self.CASH], y2026=90)
        draft = returns.superseding(self.CASH, "Forgotten", NOW)
        old, late = members(draft, [self.CASH, second])
        assert (old.scheme, late.scheme) == (Scheme.CASH, Scheme.ACCRUAL)
        assert late.after == 90


class TestLeftOut:
    def test_days_left_out_are_on_the_scheme_of_the_following_return(self) -> None:
        later = file(drawn_up("07-01", "09-30", Scheme.CASH), [FIRST], y2026=90)
        assert list(returns.left_out([later, FIRST])) == [
            JournalRange(first=date.min, last=date(2025, 12, 31), scheme=Scheme.ACCRUAL),
            JournalRange(first=date(2026, 4, 1), last=date(2026, 6, 30), scheme=Scheme.CASH),
        ]

    def test_before_a_change_to_accrual_they_are_on_cash(self) -> None:
        first = file(drawn_up("01-01", "03-31", Scheme.CASH), [], y2026=40)
        later = file(drawn_up("07-01", "09-30"), [first], y2026=90)
        assert [each.scheme for each in returns.left_out([first, later])] == [Scheme.CASH] * 2

    def test_returns_that_follow_upon_one_another_leave_only_what_is_before(self) -> None:
        again = returns.superseding(SECOND, "Forgotten", NOW)
        [before] = returns.left_out([FIRST, SECOND, again])
        assert before.last == date(2025, 12, 31)

    def test_the_first_and_the_last_day_there_is_are_days_too(self) -> None:
        every = replace(FIRST, start_date=date.min, end_date=date.max)
        assert list(returns.left_out([every])) == []


class TestRefuseFiling:
    @pytest.mark.parametrize("scheme", Scheme)
    def test_a_following_return_may_be_on_either_scheme(self, scheme: Scheme) -> None:
        returns.refuse_filing(drawn_up("07-01", "09-30", scheme), [FIRST, SECOND], NOW)

    @pytest.mark.parametrize("before", Scheme)
    def test_days_left_out_are_on_the_scheme_of_what_follows(self, before: Scheme) -> None:
        later = file(drawn_up("07-01", "09-30", before), [], y2026=90)
        returns.refuse_filing(drawn_up("04-01", "06-30", before), [FIRST, later], NOW)
        [other] = set(Scheme) - {before}
        draft = drawn_up("04-01", "06-30", other)
        refusal = refused(returns.refuse_filing, draft, [FIRST, later], NOW)
        assert refusal.code == "tax_scheme_changed"

    def test_days_left_out_before_a_change_to_accrual_are_on_cash(self) -> None:
        first = file(drawn_up("01-01", "03-31", Scheme.CASH), [], y2026=40)
        later = file(drawn_up("07-01", "09-30"), [first], y2026=90)
        returns.refuse_filing(drawn_up("04-01", "06-30", Scheme.CASH), [first, later], NOW)
        refusal = refused(returns.refuse_filing, drawn_up("04-01", "06-30"), [first, later], NOW)
        assert refusal.code == "tax_scheme_changed"

    @pytest.mark.parametrize("scheme", Scheme)
    def test_a_superseding_return_may_have_the_same_days(self, scheme: Scheme) -> None:
        later = file(drawn_up("04-01", "06-30", scheme), [FIRST], y2026=90)
        returns.refuse_filing(returns.superseding(FIRST, "x", NOW), [FIRST, later], NOW)

    @pytest.mark.parametrize(
        ("draft", "code"),
        [(drawn_up("03-31", "04-30"), "return_overlaps"), (FIRST, "invalid_state_transition")],
    )
    def test_an_invalid_filing_is_refused(self, draft: TaxReturn, code: str) -> None:
        assert refused(returns.refuse_filing, draft, [FIRST], NOW).code == code

    def test_a_period_is_over_on_its_last_day(self) -> None:
        draft = drawn_up("10-01", "12-31")
        returns.refuse_filing(draft, [FIRST, SECOND], NOW)
        early = context_of("12-30", None, new_id)
        assert refused(returns.refuse_filing, draft, [], early).code == "tax_period_not_over"


class TestMoves:
    def test_only_a_filed_return_is_superseded_and_only_a_draft_deleted(self) -> None:
        draft = drawn_up("01-01", "03-31")
        for each in (draft, returns.superseded(FIRST, NOW)):
            assert refused(returns.superseding, each, "x", NOW).code == "invalid_state_transition"
        returns.refuse_deleting(draft)
        assert refused(returns.refuse_deleting, FIRST).code == "invalid_state_transition"

    @pytest.mark.parametrize(
        ("lock", "day"), [(None, "03-31"), ("02-28", "03-31"), ("06-30", "06-30")]
    )
    def test_a_lock_never_goes_back(self, lock: str | None, day: str) -> None:
        context = context_of("12-31", lock, new_id)
        assert returns.locked_to(FIRST, context) == date.fromisoformat(f"2026-{day}")

    def test_days_are_in_order(self) -> None:
        assert refused(drawn_up, "03-31", "03-30").code == "validation_error"


# ── Any history ────────────────────────────────────────────────────────────────────────────────


@dataclass
class Books:
    """Entries by day and number, and the filed returns."""

    entries: list[tuple[date, int]] = field(default_factory=list)
    returns: list[TaxReturn] = field(default_factory=list)

    def post(self, on: date) -> None:
        number = sum(journal_series(each) == journal_series(on) for each, _ in self.entries)
        self.entries.append((on, number + 1))

    def reached(self) -> dict[str, int]:
        numbers: dict[str, int] = {}
        for on, number in self.entries:
            numbers[journal_series(on)] = max(numbers.get(journal_series(on), 0), number)
        return numbers

    def file(self, draft: TaxReturn) -> None:
        having = (members(draft, self.returns, [*self.reached()]), NOTHING)
        done = returns.filed(draft, FileTaxReturn(), having, self.reached(), NOW)
        self.returns = [
            returns.superseded(each, NOW) if each.id == draft.supersedes_id else each
            for each in self.returns
        ]
        self.returns.append(done)

    def of(self, slices: Sequence[JournalRange]) -> list[tuple[date, int]]:
        """Return the entries in ranges; an entry repeats for each range that contains it."""
        return [
            entry
            for each in cash_schemes.ordinary(slices)
            for entry in self.entries
            if each.first <= entry[0] <= each.last
            and each.after < entry[1] <= (each.upto or len(self.entries))
        ]


BEGINNING = date(2025, 11, 1)
DAYS = st.integers(0, 200).map(lambda ahead: BEGINNING + timedelta(days=ahead))


@given(st.data())
def test_any_history_has_each_entry_in_one_return_at_most(data: st.DataObject) -> None:
    """Check that each entry is in at most one return, and that no entry of a filed day is lost."""
    books = Books()
    for _ in range(data.draw(st.integers(1, 15), "steps")):
        for on in data.draw(st.lists(DAYS, max_size=4), "posted"):
            books.post(on)
        filed = [each for each in books.returns if each.status is ReturnStatus.FILED]
        if filed and data.draw(st.booleans(), "supersede"):
            books.file(returns.superseding(data.draw(st.sampled_from(filed)), "x", NOW))
            continue
        first, last = sorted((data.draw(DAYS), data.draw(DAYS)))
        scheme = data.draw(st.sampled_from(Scheme))
        command = CreateTaxReturn(start_date=first, end_date=last, scheme=scheme)
        if all(each.end_date < first or last < each.start_date for each in filed):
            books.file(returns.created(command, NOW))
    filed = [each for each in books.returns if each.status is ReturnStatus.FILED]
    taken = [entry for each in filed for entry in books.of(each.slices)]
    assert len(taken) == len(set(taken))
    after = max((each.end_date for each in filed), default=BEGINNING) + timedelta(days=1)
    draft = drawn_up("01-01", "01-01")
    closing = replace(draft, start_date=after, end_date=after + timedelta(days=1))
    rest = books.of(members(closing, books.returns))
    days = [(each.start_date, each.end_date) for each in filed]
    covered = {e for e in books.entries if any(first <= e[0] <= last for first, last in days)}
    assert covered <= {*taken, *rest}
    assert not set(taken) & set(rest)
