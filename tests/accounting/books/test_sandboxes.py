from uuid import UUID

import pytest

from accounting.books.businesses import Sandbox, refuse_given_up, refuse_moving_back, refuse_taken
from accounting.errors import Conflict, RuleViolation


class TestClock:
    @pytest.mark.parametrize("wanted", [60, 61])
    def test_may_stay_or_go_ahead(self, wanted: int) -> None:
        refuse_moving_back(60, wanted)

    def test_a_clock_is_not_moved_back(self) -> None:
        with pytest.raises(RuleViolation) as refused:
            refuse_moving_back(60, 59)
        assert refused.value.code == "clock_moved_back"
        assert refused.value.detail == {"clock_seconds_ahead": 60}


class TestTaken:
    def test_by_a_sandbox_is_found_and_by_anything_else_refused(self) -> None:
        refuse_taken(Sandbox.OPEN, "mine", UUID(int=1))
        for found in (None, Sandbox.TEMPLATE, Sandbox.GIVEN_UP):
            with pytest.raises(Conflict) as refused:
                refuse_taken(found, "mine", UUID(int=1))
            assert refused.value.detail == {"external_id": "mine", "id": UUID(int=1)}


class TestGivenUp:
    @pytest.mark.parametrize("found", [None, Sandbox.OPEN])
    def test_a_real_business_and_a_sandbox_in_use_pass(self, found: Sandbox | None) -> None:
        refuse_given_up(found)

    def test_a_sandbox_that_was_given_up_is_refused(self) -> None:
        with pytest.raises(Conflict) as refused:
            refuse_given_up(Sandbox.GIVEN_UP)
        assert refused.value.code == "invalid_state_transition"
