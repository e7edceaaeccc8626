"""The gate of the fuzzer is shown what it must refuse, and one run that it must let pass."""

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


def findings(given: dict[str, Any], closed: frozenset[str] = frozenset()) -> list[str]:
    return list(gate.judge_coverage(given, {READ, WRITE}, set(closed)))


class TestJudgeCoverage:
    def test_lets_a_run_pass_in_which_everything_was_accepted(self) -> None:
        assert findings(report()) == []

    def test_names_an_operation_that_was_never_accepted(self) -> None:
        assert findings(report(valid_rates=rates(read=1, write=0))) == [
            f"{WRITE} was never accepted"
        ]

    def test_names_an_operation_that_no_valid_case_reached(self) -> None:
        assert findings(report(valid_rates=rates(read=1))) == [f"{WRITE} was never accepted"]

    def test_counts_the_operations_that_were_tried(self) -> None:
        assert findings(report(operations={"tested": 1})) == ["1 of 2 operations were tried"]

    def test_names_a_phase_that_was_skipped(self) -> None:
        phases = {"stateful": {"status": "skip", "skip_reason": "nothing to test"}}
        assert findings(report(phases=phases)) == [
            "the phase stateful was skipped: nothing to test"
        ]

    def test_lets_a_phase_be_skipped_that_the_run_is_not_meant_to_have(self) -> None:
        phases = {"coverage": {"status": "skip", "skip_reason": "disabled"}}
        given = report(phases=phases, valid_rates=rates(read=1, write=1))
        assert list(gate.judge_coverage(given, {READ, WRITE}, set(), {"coverage"})) == []

    @pytest.mark.parametrize("warning", ["missing_test_data", "missing_auth", "rate_limited"])
    def test_names_a_warning_with_its_operation(self, warning: str) -> None:
        assert findings(report(warnings={warning: [READ]})) == [f"{READ}: {warning}"]

    def test_lets_one_round_of_refusals_pass_where_others_were_accepted(self) -> None:
        assert findings(report(warnings={"validation_mismatch": [WRITE]})) == []

    def test_lets_an_operation_be_refused_that_is_closed_to_the_caller(self) -> None:
        given = report(valid_rates=rates(read=1), warnings={"missing_auth": [WRITE]})
        assert findings(given, frozenset({WRITE})) == []

    def test_names_an_operation_that_is_closed_and_was_accepted(self) -> None:
        given = report(valid_rates=rates(read=1, write=2))
        assert findings(given, frozenset({WRITE})) == [
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
