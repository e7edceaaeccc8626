"""The gate of a fuzzing run: coverage, failures, the server's log and the books."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from persistence.engine.pool import make_pool
from persistence.integrity import checks

Report = dict[str, Any]
# A finding that a rule refused all cases of one round, such as a repeated key in each of
# the few cases of a phase. Whether it ever accepted one is judged over the whole run.
OF_ONE_ROUND = "validation_mismatch"


def judge_coverage(
    report: Report,
    operations: set[str],
    closed: set[str],
    left_out: Collection[str] = (),
) -> Iterator[str]:
    """Yield what was skipped, never accepted, or accepted although it is closed.

    `operations` and `closed` are labels, such as `GET /v1/platform/businesses/`. The caller of this
    run may not use the `closed` ones. `left_out` are phases that the run should not have.
    """
    tried, accepted = report["operations"]["tested"], accepted_cases(report)
    if tried != len(operations):
        yield f"{tried} of {len(operations)} operations were tried"
    for phase, outcome in report["phases"].items():
        if outcome["skip_reason"] and phase not in left_out:
            yield f"the phase {phase} was skipped: {outcome['skip_reason']}"
    for label in sorted(operations):
        if label not in closed and not accepted[label]:
            yield f"{label} was never accepted"
        if label in closed and accepted[label]:
            yield f"{label} is closed to this caller and was accepted {accepted[label]} times"
    for warning, labels in report["warnings"].items():
        if warning != OF_ONE_ROUND:
            yield from (f"{label}: {warning}" for label in sorted(set(labels) - closed))


def accepted_cases(report: Report) -> Counter[str]:
    """Return the number of accepted valid cases of each operation, of all phases together."""
    return Counter(
        {
            label: sum(rate["accepted"] for rate in phases.values())
            for label, phases in report["valid_rates"].items()
        }
    )


def judge_failures(report: Report) -> Iterator[str]:
    """Yield the failures that Schemathesis found."""
    for failure in report["failures"]:
        yield f"{failure['title']}: {', '.join(failure['operations'])}"
    for error in report["errors"]:
        yield f"Schemathesis: {error['title']}"


def judge_log(lines: Iterable[str]) -> Iterator[str]:
    """Yield every answer of 500 and above, and every other error of the server.

    Every line is a JSON object; any other line was written without the logger.
    """
    for line in lines:
        if not line.startswith("{"):
            yield f"the server wrote {line.strip()[:300]}"
            continue
        event = json.loads(line)
        if event.get("status", 0) >= 500 or event["level"] in ("error", "critical"):
            yield f"the server failed: {line.strip()[:2000]}"


async def judge_books(database_url: str) -> list[str]:
    """Return every failing proof of any business's books."""
    async with make_pool(database_url, size=1) as pool:
        return [
            f"the books of {business.name} ({business.id}): {check.name}: {check.first_offender}"
            for business in await checks.all_books(pool)
            for check in await checks.prove(pool, business, lambda _share: None)
            if not check.ok
        ]
