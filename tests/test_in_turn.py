"""A test for many cases in turn runs all of them, and names those that fail."""

import inspect

import pytest

from tests import in_turn


def odd(each: int, met: list[int]) -> None:
    met.append(each)
    assert each % 2


class TestInTurn:
    def test_each_case_is_met_and_those_that_fail_are_named(self) -> None:
        met: list[int] = []
        with pytest.raises(BaseExceptionGroup, match="2 of 4 cases fail") as failed:
            in_turn.in_turn("each", range(1, 5))(odd)(met=met)
        assert met == [1, 2, 3, 4]
        notes = [fault.__notes__ for fault in failed.value.exceptions]
        assert notes == [["In the case 2."], ["In the case 4."]]

    def test_where_none_fails_it_passes(self) -> None:
        in_turn.in_turn("each", (1, 3))(odd)(met=[])

    def test_pytest_gives_it_its_fixtures_and_no_case(self) -> None:
        assert [*inspect.signature(in_turn.in_turn("each", (1,))(odd)).parameters] == ["met"]

    def test_of_no_case_is_a_mistake(self) -> None:
        with pytest.raises(AssertionError):
            in_turn.in_turn("each", ())

    def test_only_those_are_met_that_a_run_asks_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(in_turn, "only", ["even", "3"])
        met: list[int] = []
        cases = [1, pytest.param(5, id="not even"), 3]
        in_turn.in_turn("each", cases)(odd)(met=met)
        assert met == [5, 3]
