from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.ledger import (
    Days,
    Entry,
    Line,
    Movement,
    Part,
    PostedEntry,
    Source,
    after_lock,
    as_reversals,
    balance,
    days,
    difference,
    normal_sign,
)
from tests.accounting.samples import account_id, amounts, day, identifiers, posted_after

SOURCE = Source("test", UUID(int=77), "T-1", {"main": "thing of Acme", "fee": "fee of thing"})
CASH, SALES, TAX = account_id("1000"), account_id("4000"), account_id("2200")
DOCUMENT = UUID(int=88)


def wants(on: str, stream: str = "main", **by_code: int) -> list[Movement]:
    return [
        Movement(day(on), stream, account_id(code.removeprefix("a")), amount)
        for code, amount in by_code.items()
    ]


def post(entries: list[Entry], before: tuple[PostedEntry, ...] = ()) -> tuple[PostedEntry, ...]:
    return posted_after(before, entries, identifiers(500 + len(before)))


class TestLine:
    def test_a_line_has_one_side(self) -> None:
        assert (Line(CASH, 5).debit, Line(CASH, 5).credit) == (5, 0)
        assert (Line(CASH, -5).debit, Line(CASH, -5).credit) == (0, 5)

    @pytest.mark.parametrize(
        ("kind", "value"),
        [("asset", 70), ("expense", 70), ("liability", -70), ("equity", -70), ("revenue", -70)],
    )
    def test_each_type_is_positive_on_its_normal_side(self, kind: str, value: int) -> None:
        assert balance(kind, 100, 30) == value

    def test_a_contra_account_turns_its_sign(self) -> None:
        assert balance("asset", 0, 30, "credit_positive") == 30
        assert balance("revenue", 30, 0, "debit_positive") == 30
        assert normal_sign("asset") == 1


class TestLock:
    def test_days_inside_the_lock_count_as_the_day_after(self) -> None:
        assert after_lock(day("5"), day("31")) == day("02-01")
        assert after_lock(day("02-05"), day("31")) == day("02-05")
        assert after_lock(day("5"), None) == day("5")


class TestDifference:
    def test_a_first_posting_is_what_is_desired(self) -> None:
        (entry,) = difference(SOURCE, wants("5", a1000=-100, a4000=60, a2200=40), [], None)
        assert [line.amount for line in entry.lines] == [60, 40, -100]
        assert entry.description == "Thing of Acme"
        assert (entry.source_type, entry.source_id, entry.reference) == ("test", SOURCE.id, "T-1")

    def test_nothing_changed_posts_nothing(self) -> None:
        desired = wants("5", a1000=100, a4000=-100)
        assert difference(SOURCE, desired, post(difference(SOURCE, desired, [], None)), None) == []

    def test_only_what_changed_is_posted_on_the_other_side(self) -> None:
        posted = post(difference(SOURCE, wants("5", a1000=100, a4000=-80, a2200=-20), [], None))
        (entry,) = difference(SOURCE, wants("5", a1000=96, a4000=-80, a2200=-16), posted, None)
        assert amounts(entry) == {"1000": -4, "2200": 4}
        assert entry.description == "Change of thing of Acme"

    def test_streams_and_days_are_entries_of_their_own_in_order(self) -> None:
        desired = [
            *wants("9", a1000=1, a4000=-1),
            *wants("5", a1000=1, a4000=-1),
            *wants("5", "fee", a1000=-1, a4000=1),
        ]
        entries = difference(SOURCE, desired, [], None)
        assert [(entry.entry_date.day, entry.stream, entry.description) for entry in entries] == [
            (5, "main", "Thing of Acme"),
            (5, "fee", "Fee of thing"),
            (9, "main", "Change of thing of Acme"),
        ]

    def test_wanted_entries_that_cancel_out_before_posting_make_no_entry(self) -> None:
        brief = [*wants("5", a1000=10, a4000=-10), *wants("7", a1000=-10, a4000=10)]
        assert difference(SOURCE, brief, [], day("31")) == []
        assert len(difference(SOURCE, brief, [], None)) == 2

    def test_settled_documents_stay_apart(self) -> None:
        settled = [(DOCUMENT, ((Part(TAX), -10),)), (UUID(int=89), ((Part(TAX), -20),))]
        desired = [
            Movement(day("5"), "main", CASH, 30),
            Movement(day("5"), "main", SALES, -10, *settled[0]),
            Movement(day("5"), "main", SALES, -20, *settled[1]),
        ]
        (entry,) = difference(SOURCE, desired, [], None)
        assert [(line.settles, line.split) for line in entry.lines[1:]] == settled

    def test_an_amount_that_settles_other_accounts_is_taken_back_and_made_again(self) -> None:
        def settled(*split: tuple[Part, int]) -> list[Movement]:
            control = Movement(day("5"), "main", SALES, -10, DOCUMENT, split)
            return [Movement(day("5"), "main", CASH, 10), control]

        posted = post(difference(SOURCE, settled((Part(TAX), -7), (Part(CASH), -3)), [], None))
        (entry,) = difference(SOURCE, settled((Part(TAX), -6), (Part(CASH), -4)), posted, None)
        assert [(line.amount, line.split) for line in entry.lines] == [
            (1, ((Part(TAX), 1),)),
            (-1, ((Part(CASH), -1),)),
        ]

    def test_an_entry_that_does_not_balance_is_a_fault(self) -> None:
        with pytest.raises(ValueError, match="does not balance"):
            difference(SOURCE, wants("5", a1000=1), [], None)

    @given(
        st.lists(
            st.lists(st.tuples(st.integers(0, 40), st.integers(-50, 50)), min_size=1, max_size=5),
            min_size=1,
            max_size=5,
        ),
        st.none() | st.integers(0, 40),
    )
    def test_posted_comes_to_what_is_desired_after_any_changes(
        self, states: list[list[tuple[int, int]]], lock: int | None
    ) -> None:
        start = date(2026, 1, 1)
        lock_date = None if lock is None else start + timedelta(days=lock)
        posted: tuple[PostedEntry, ...] = ()
        for state in states:
            desired = [
                Movement(start + timedelta(days=on), "main", account, sign * amount)
                for on, amount in state
                for account, sign in ((CASH, 1), (SALES, -1))
            ]
            entries = difference(SOURCE, desired, posted, lock_date)
            assert all(sum(line.amount for line in entry.lines) == 0 for entry in entries)
            assert all(lock_date is None or entry.entry_date > lock_date for entry in entries)
            posted = post(entries, posted)
            cash = sum(amounts(entry).get("1000", 0) for entry in posted)
            assert cash == sum(amount for _, amount in state)
            assert difference(SOURCE, desired, posted, lock_date) == []


class TestAsReversals:
    def test_each_standing_entry_is_mirrored_with_its_split(self) -> None:
        split = ((Part(TAX), -10),)
        desired = [
            Movement(day("5"), "main", CASH, 10),
            Movement(day("5"), "main", SALES, -10, DOCUMENT, split),
        ]
        posted = post(difference(SOURCE, desired, [], None))
        back = [replace(move, on=day("9"), amount=-move.amount, split=()) for move in desired]
        back[1] = replace(back[1], split=((Part(TAX), 10),))
        entries = difference(SOURCE, [*desired, *back], posted, None)
        (reversal,) = as_reversals(entries, posted)
        assert reversal.reversal_of_id == posted[0].id
        assert reversal.entry_date == day("9")
        assert reversal.description == "Reversal of thing of Acme"
        assert [(line.amount, line.split) for line in reversal.lines] == [
            (-10, ()),
            (10, ((Part(TAX), 10),)),
        ]

    def test_a_reversed_entry_is_not_reversed_again(self) -> None:
        moves = wants("5", a1000=10, a4000=-10)
        posted = post(difference(SOURCE, moves, [], None))
        moves = [*moves, *wants("6", a1000=-10, a4000=10)]
        mirrored = as_reversals(difference(SOURCE, moves, posted, None), posted)
        posted = post(mirrored, posted)
        moves = [*moves, *wants("7", a1000=10, a4000=-10)]
        posted = post(difference(SOURCE, moves, posted, None), posted)
        moves = [*moves, *wants("8", a1000=-10, a4000=10)]
        (reversal,) = as_reversals(difference(SOURCE, moves, posted, None), posted)
        assert reversal.reversal_of_id == posted[2].id

    def test_an_entry_is_mirrored_once_and_on_the_later_day(self) -> None:
        first = wants("5", a1000=10, a4000=-10)
        posted = post(difference(SOURCE, first, [], None))
        moved = [*wants("7", a1000=10, a4000=-10), *wants("9", a1000=-10, a4000=10)]
        entries = as_reversals(difference(SOURCE, moved, posted, None), posted)
        assert [(each.entry_date.day, each.reversal_of_id) for each in entries] == [
            (5, None),
            (7, None),
            (9, posted[0].id),
        ]

    def test_an_amount_that_its_day_already_reversed_is_not_mirrored(self) -> None:
        """Reverse the 15 of the fifth; the 10 and the 5 of the seventh are reversed already."""
        posted: tuple[PostedEntry, ...] = ()
        whole = wants("5", a1000=15, a4000=-15)
        for desired in (wants("7", a1000=10, a4000=-10), wants("7", a1000=15, a4000=-15), whole):
            posted = post(difference(SOURCE, desired, posted, None), posted)
        moved = next(each for each in posted if each.entry_date == day("5"))
        entries = difference(SOURCE, [*whole, *wants("6", a1000=-15, a4000=15)], posted, None)
        (reversal,) = as_reversals(entries, posted)
        assert (reversal.entry_date, reversal.reversal_of_id) == (day("6"), moved.id)

    def test_nothing_is_mirrored_before_the_day_it_stands_on(self) -> None:
        """Reverse nothing on the sixth: a lock moved the correction to the ninth."""
        posted = post(difference(SOURCE, wants("5", a1000=10, a4000=-10), [], None))
        whole = wants("5", a1000=15, a4000=-15)
        posted = post(difference(SOURCE, whole, posted, day("8")), posted)
        entries = difference(SOURCE, [*whole, *wants("6", a1000=-15, a4000=15)], posted, None)
        assert as_reversals(entries, posted) == entries

    def test_any_other_difference_stays_plain(self) -> None:
        posted = post(difference(SOURCE, wants("5", a1000=10, a4000=-10), [], None))
        entries = difference(SOURCE, wants("5", a1000=4, a4000=-4), posted, None)
        assert as_reversals(entries, posted) == entries
        assert as_reversals(entries, []) == entries


class TestDays:
    @pytest.mark.parametrize(
        ("start", "end", "floor", "laid_out"),
        [
            ("5", None, "1", (day("5"), None)),
            ("5", None, "9", (day("9"), None)),
            ("5", "7", "5", (day("5"), day("7"))),
            ("5", "7", "6", (day("6"), day("7"))),
            ("5", "7", "10", (day("10"), day("10"))),
            ("5", "3", "1", (day("5"), day("5"))),
        ],
    )
    def test_a_span_begins_at_the_floor_and_ends_no_earlier(
        self, start: str, end: str | None, floor: str, laid_out: Days
    ) -> None:
        assert days(day(start), None if end is None else day(end), day(floor)) == laid_out
