"""Judges a fuzzing run by more than its failures: was everything tried, and did the books hold?"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from persistence.engine.pool import make_pool
from persistence.integrity import checks

Report = dict[str, Any]
# Told of an operation that refused all of one round by a rule, such as a repeated key in each of
# the few cases of a phase. Whether it ever accepted one is judged over the whole run.
OF_ONE_ROUND = "validation_mismatch"


def judge_coverage(
    report: Report,
    operations: set[str],
    closed: set[str],
    left_out: Collection[str] = (),
) -> Iterator[str]:
    """Name what was left out, what was never accepted, and what was accepted but is closed.

    `operations` and `closed` are labels, such as `GET /v1/platform/businesses/`; `closed` are those
    that the caller of this run may not use. `left_out` are phases that it is not meant to have.
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
    """How many valid cases of each operation were accepted, all phases together."""
    return Counter(
        {
            label: sum(rate["accepted"] for rate in phases.values())
            for label, phases in report["valid_rates"].items()
        }
    )


def judge_failures(report: Report) -> Iterator[str]:
    """Name what Schemathesis found."""
    for failure in report["failures"]:
        yield f"{failure['title']}: {', '.join(failure['operations'])}"
    for error in report["errors"]:
        yield f"Schemathesis: {error['title']}"


def judge_log(lines: Iterable[str]) -> Iterator[str]:
    """Name every answer of 500 and above, and whatever else went wrong in the server.

    Every line is a JSON object; one that is not was written past the log.
    """
    for line in lines:
        if not line.startswith("{"):
            yield f"the server wrote {line.strip()[:300]}"
            continue
        event = json.loads(line)
        if event.get("status", 0) >= 500 or event["level"] in ("error", "critical"):
            yield f"the server failed: {line.strip()[:2000]}"


async def judge_books(database_url: str) -> list[str]:
    """Name every proof of any business's books that fails."""
    async with make_pool(database_url, size=1) as pool:
        return [
            f"the books of {business.name} ({business.id}): {check.name}: {check.first_offender}"
            for business in await checks.all_books(pool)
            for check in await checks.prove(pool, business, lambda _share: None)
            if not check.ok
        ]
