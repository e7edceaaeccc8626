"""Existing values for cases, by the dictionaries of schemathesis.toml.

Schemathesis draws from the dictionaries in the phases fuzzing and stateful. This module does so,
from the same file, in the other two phases.
"""

import os
import tomllib
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

from tests.fuzz.seed import Seeds

CONFIG = Path("schemathesis.toml")
numbers = count()
SOWN = (TestPhase.EXAMPLES, TestPhase.COVERAGE)
# Records that all cases write to, by their names in paths: operations that close one get others.
LEFT_OPEN = {"business_id": "businesses", "vendor_id": "vendors"}


@cache
def seeds() -> Seeds:
    """Return the seeds of this run."""
    return Seeds.read(Path(os.environ["FUZZ_SEEDS"]))


@cache
def bindings(operation: str) -> dict[str, str]:
    """Return the dictionary of each value of an operation, by schemathesis.toml."""
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    bound = dict(config["parameters"])
    for each in config["operations"]:
        if operation in each["include-operation-id"]:
            bound |= each.get("parameters", {})
    return {place: binding["dictionary"] for place, binding in bound.items()}


def sow(operation: str, case: Any) -> None:
    """Put existing values into the valid parts of a case, other ones for each case.

    The business that all cases write to stays open, and so do its vendors.
    """
    if case.meta.phase.name in SOWN:
        fill_in(operation, case)
    pools = seeds().pools
    for name, left_open in LEFT_OPEN.items():
        pool = bindings(operation).get(f"path.{name}", left_open)
        if pool != left_open and case.path_parameters[name] in pools[left_open]:
            case.path_parameters[name] = pools[pool][0]


def fill_in(operation: str, case: Any) -> None:
    """Put a seeded value into each place that has a dictionary."""
    for place, pool in bindings(operation).items():
        location, _, name = place.partition(".")
        part = ParameterLocation(location)
        if is_valid(case, part):
            values = seeds().pools[pool]
            value = values[next(numbers) % len(values)]
            fill(getattr(case, part.container_name), name.replace("[*]", ".*").split("."), value)


def fill(node: Any, path: list[str], value: str) -> None:
    """Set the values at a path such as `allocations.*.invoice_id`, where it exists."""
    name, *rest = path
    if name == "*" and isinstance(node, list):
        if not rest:
            node[:] = [value] * len(node)
        for part in node if rest else ():
            fill(part, rest, value)
    elif isinstance(node, dict) and name in node:
        if rest:
            fill(node[name], rest, value)
        else:
            node[name] = value


def is_valid(case: Any, location: ParameterLocation) -> bool:
    """Return whether this part of a case should be valid."""
    part = case.meta.components.get(location)
    return part is None or part.mode.is_positive
