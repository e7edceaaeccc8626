"""Names of statement lines."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.bank.line_identities import Line, identities
from tests.accounting.samples import day


def line(**facts: Any) -> Line:
    return Line(**{"booked_on": day("07-15"), "amount": 100, "direction": "credit", **facts})


def names(*lines: Line) -> list[str]:
    return [identity.plain for identity in identities(lines) if identity]


class TestIdentities:
    def test_a_line_is_known_by_its_banks_id(self) -> None:
        assert names(line(external_id="A")) == ["A"]

    def test_equal_lines_without_an_id_are_numbered(self) -> None:
        first, second, other = names(line(), line(), line(amount=1))
        assert first.startswith("line-")
        assert (first[-2:], second) == ("-1", f"{first[:-1]}2")
        assert other != first

    def test_spaces_and_case_do_not_count(self) -> None:
        assert names(line(description="Blue  Door ")) == names(line(description="BLUE DOOR"))

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
        assert names(line()) != names(replace(line(), **change))

    @pytest.mark.parametrize("start", ["x" * 300, "x" * 250])
    def test_a_long_id_is_cut_and_told_apart(self, start: str) -> None:
        found = [
            name
            for identity in identities([line(external_id=start + end) for end in "ab"])
            if identity
            for name in identity.names()
        ]
        assert len(set(found)) == len(found)
        assert max(map(len, found)) <= 255

    @given(st.lists(st.sampled_from([1, 2, 3]), max_size=12))
    def test_identities_of_equal_statements_are_equal_and_unique(self, amounts: list[int]) -> None:
        lines = [line(amount=amount) for amount in amounts]
        assert names(*lines) == names(*lines)
        assert len(set(names(*lines))) == len(lines)
