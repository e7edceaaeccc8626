"""Leads cases to what is there, by the dictionaries of schemathesis.toml.

Schemathesis draws from the dictionaries while it fuzzes and walks links; the other two phases are
led by this module, from the same file.
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
# What others write into, by its name in a path: whatever closes one has others to close.
LEFT_OPEN = {"business_id": "businesses", "vendor_id": "vendors"}


@cache
def seeds() -> Seeds:
    """What the runner planted."""
    return Seeds.read(Path(os.environ["FUZZ_SEEDS"]))


@cache
def bindings(operation: str) -> dict[str, str]:
    """Which dictionary fills which value of an operation, by schemathesis.toml."""
    config = tomllib.loads(CONFIG.read_text("utf-8"))
    bound = dict(config["parameters"])
    for each in config["operations"]:
        if operation in each["include-operation-id"]:
            bound |= each.get("parameters", {})
    return {place: binding["dictionary"] for place, binding in bound.items()}


def sow(operation: str, case: Any) -> None:
    """Lead what is valid of a case to what is there, each case to another one.

    Whatever is learned from answers, the one business that all others write into stays open, and
    so do its vendors.
    """
    if case.meta.phase.name in SOWN:
        fill_in(operation, case)
    pools = seeds().pools
    for name, left_open in LEFT_OPEN.items():
        pool = bindings(operation).get(f"path.{name}", left_open)
        if pool != left_open and case.path_parameters[name] in pools[left_open]:
            case.path_parameters[name] = pools[pool][0]


def fill_in(operation: str, case: Any) -> None:
    """Put a planted value wherever a dictionary is bound to."""
    for place, pool in bindings(operation).items():
        location, _, name = place.partition(".")
        part = ParameterLocation(location)
        if is_valid(case, part):
            values = seeds().pools[pool]
            value = values[next(numbers) % len(values)]
            fill(getattr(case, part.container_name), name.replace("[*]", ".*").split("."), value)


def fill(node: Any, path: list[str], value: str) -> None:
    """Put a value where a path such as `allocations.*.invoice_id` leads, if something is there."""
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
    """Whether this part of a case is meant to be valid."""
    part = case.meta.components.get(location)
    return part is None or part.mode.is_positive
