"""The scheme of each document when returns are on both schemes."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from accounting.tax import cash_schemes, returns
from accounting.tax.commands import CreateTaxReturn, Scheme
from accounting.tax.returns import JournalRange, TaxReturn
from tests.accounting.samples import context_of, identifiers

ACCRUAL, CASH = Scheme.ACCRUAL, Scheme.CASH
NOW = context_of("12-31", None, identifiers())


def piece(
    months: tuple[int, int], numbers: tuple[int, int | None], scheme: Scheme, **facts: object
) -> JournalRange:
    first, last = date(2026, months[0], 1), date(2026, months[1], 28)
    after, upto = numbers
    return JournalRange(first=first, last=last, after=after, upto=upto, scheme=scheme, **facts)  # type: ignore[arg-type] # Late, change.


def drawn_up(scheme: Scheme, *slices: JournalRange) -> TaxReturn:
    """Create a return from January to September."""
    command = CreateTaxReturn(
        start_date=date(2026, 1, 1), end_date=date(2026, 9, 30), scheme=scheme
    )
    return replace(returns.created(command, NOW), slices=slices)


def before(scheme: Scheme) -> JournalRange:
    """Return the range of all days before 2026."""
    return JournalRange(first=date.min, last=date(2025, 12, 31), scheme=scheme)


class TestDeclared:
    def test_a_return_wholly_on_its_own_scheme_declares_no_other(self) -> None:
        own = [piece((1, 3), (0, 40), CASH), piece((4, 6), (0, None), CASH)]
        assert cash_schemes.declared(drawn_up(CASH, *own), []) == ()

    def test_late_entries_alone_are_declared_on_the_other_scheme(self) -> None:
        own = [piece((1, 3), (0, None), ACCRUAL, late=True)]
        said = (before(CASH), piece((1, 3), (0, None), ACCRUAL))
        assert cash_schemes.declared(drawn_up(CASH, *own), []) == said

    def test_numbers_on_one_scheme_are_put_together(self) -> None:
        own = [
            piece((1, 3), (0, 40), ACCRUAL),
            piece((4, 6), (0, None), CASH),
            piece((1, 3), (40, 90), ACCRUAL, late=True),
            piece((1, 3), (90, None), ACCRUAL, late=True),
        ]
        assert cash_schemes.declared(drawn_up(CASH, *own), []) == (
            before(CASH),
            piece((1, 3), (0, None), ACCRUAL),
            piece((4, 6), (0, None), CASH),
        )

    def test_numbers_on_different_schemes_stay_apart(self) -> None:
        own = [piece((1, 3), (40, 90), ACCRUAL, late=True), piece((1, 3), (0, 40), CASH)]
        assert cash_schemes.declared(drawn_up(CASH, *own), []) == (
            before(CASH),
            piece((1, 3), (0, 40), CASH),
            piece((1, 3), (40, 90), ACCRUAL),
        )

    def test_transitions_stand_behind_the_earliest_first(self) -> None:
        early, late = (
            piece((1, month), (0, 9), ACCRUAL, change=date(2026, month + 1, 1)) for month in (3, 6)
        )
        own = [late, piece((1, 3), (0, 9), CASH), early]
        assert cash_schemes.declared(drawn_up(ACCRUAL, *own), []) == (
            before(CASH), piece((1, 3), (0, 9), CASH), early, late
        )  # fmt: skip
        assert cash_schemes.transition(own) == (late, early)
        assert cash_schemes.ordinary(own) == (own[1],)


QUARTERS = st.sampled_from([(1, 3), (2, 2), (4, 6), (5, 9)])


@given(st.lists(st.tuples(QUARTERS, st.sampled_from(Scheme), st.integers(1, 30)), max_size=6))
def test_entries_are_on_the_scheme_of_slices(
    drawn: list[tuple[tuple[int, int], Scheme, int]],
) -> None:
    own, reached = [], 0
    for months, scheme, more in drawn:
        own.append(piece(months, (reached, reached + more), scheme))
        reached += more
    said = cash_schemes.declared(drawn_up(CASH, *own), [])
    on_one = all(each.scheme is CASH for each in own)
    for month in range(1, 10):
        for number in range(1, reached + 1):
            day = date(2026, month, 2)
            known, told = (
                {
                    each.scheme
                    for each in slices
                    if each.first <= day <= each.last and each.after < number <= (each.upto or 0)
                }
                for slices in (own, said)
            )
            assert on_one or told == known
