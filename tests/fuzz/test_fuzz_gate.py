"""The gate refuses each kind of finding and passes a run without any."""

import json
from typing import Any

import pytest

from tests.fuzz import gate

READ, WRITE = "GET /v1/things/", "POST /v1/things/"
LOGGED = {"event": "request", "level": "info", "status": 200}


def report(**changes: Any) -> dict[str, Any]:
    rate = {"accepted": 3, "unreachable": 1, "conflicts": 0, "rejected": 2}
    return {
        "operations": {"tested": 2},
        "phases": {"coverage": {"status": "success", "skip_reason": None}},
        "valid_rates": {READ: {"coverage": rate}, WRITE: {"coverage": rate}},
        "warnings": {"missing_test_data": [], "missing_auth": []},
        "failures": [],
        "errors": [],
        **changes,
    }


def rates(**accepted: int) -> dict[str, Any]:
    return {
        label: {"fuzzing": {"accepted": accepted[name], "rejected": 9}}
        for name, label in (("read", READ), ("write", WRITE))
        if name in accepted
    }


SKIPPED = {"coverage": {"status": "skip", "skip_reason": "nothing to test"}}


class TestJudgeCoverage:
    @pytest.mark.parametrize(
        ("changes", "finding"),
        [
            ({"valid_rates": rates(read=1, write=0)}, f"{WRITE} was never accepted"),
            ({"valid_rates": rates(read=1)}, f"{WRITE} was never accepted"),
            ({"operations": {"tested": 1}}, "1 of 2 operations were tried"),
            ({"phases": SKIPPED}, "the phase coverage was skipped: nothing to test"),
            ({"warnings": {"missing_test_data": [READ]}}, f"{READ}: missing_test_data"),
            ({"warnings": {"missing_auth": [READ]}}, f"{READ}: missing_auth"),
            ({"warnings": {"rate_limited": [READ]}}, f"{READ}: rate_limited"),
        ],
    )
    def test_names_each_fault(self, changes: dict[str, Any], finding: str) -> None:
        assert list(gate.judge_coverage(report(**changes), {READ, WRITE}, set())) == [finding]

    @pytest.mark.parametrize(
        ("changes", "closed", "left_out"),
        [
            ({}, set(), set()),
            ({"phases": SKIPPED}, set(), {"coverage"}),
            ({"warnings": {"validation_mismatch": [WRITE]}}, set(), set()),
            (
                {"valid_rates": rates(read=1), "warnings": {"missing_auth": [WRITE]}},
                {WRITE},
                set(),
            ),
        ],
        ids=["a whole run", "a phase left out", "one round of refusals", "a closed operation"],
    )
    def test_names_nothing_else(
        self, changes: dict[str, Any], closed: set[str], left_out: set[str]
    ) -> None:
        assert list(gate.judge_coverage(report(**changes), {READ, WRITE}, closed, left_out)) == []

    def test_names_an_operation_that_is_closed_and_was_accepted(self) -> None:
        given = report(valid_rates=rates(read=1, write=2))
        assert list(gate.judge_coverage(given, {READ, WRITE}, {WRITE})) == [
            f"{WRITE} is closed to this caller and was accepted 2 times"
        ]


class TestJudgeFailures:
    def test_names_a_failure_with_its_operations(self) -> None:
        failure = {"title": "Server error", "operations": [READ, WRITE]}
        given = report(failures=[failure], errors=[{"title": "Runtime Error"}])
        assert list(gate.judge_failures(given)) == [
            f"Server error: {READ}, {WRITE}",
            "Schemathesis: Runtime Error",
        ]


class TestJudgeLog:
    def test_lets_answers_below_500_pass(self) -> None:
        lines = [json.dumps({**LOGGED, "status": status}) for status in (200, 404, 499)]
        assert list(gate.judge_log(lines)) == []

    @pytest.mark.parametrize("change", [{"status": 503}, {"status": 500}, {"level": "error"}])
    def test_names_what_failed_in_the_server(self, change: dict[str, Any]) -> None:
        [finding] = gate.judge_log([json.dumps({**LOGGED, **change})])
        assert finding.startswith("the server failed: ")

    def test_names_what_was_written_past_the_log(self) -> None:
        assert list(gate.judge_log(["Traceback (most recent call last):"])) == [
            "the server wrote Traceback (most recent call last):"
        ]
