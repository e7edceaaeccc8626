"""A test that runs for many cases in turn, and names each failing case.

Each parameter of pytest is a test of its own: every worker collects it, and reports it three times.
Short cases that do not change each other's data are one test instead. `pytest tests/contract --only
create_invoice` selects the cases of that name.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]
Marker = Callable[[Test], Test]
only: list[str] = []  # Parts of the names of selected cases; empty for all.


def in_turn(
    names: str | tuple[str, ...], cases: Iterable[Any], *, ids: Callable[[Any], str] = str
) -> Marker:
    """Mark a test as `pytest.mark.parametrize` does; all cases share their fixtures."""
    taken = [names] if isinstance(names, str) else [*names]
    found = [named(case, ids) for case in cases]
    assert found

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def each(*given: Any, **fixtures: Any) -> None:
            faults = []
            for name, values in chosen(found):
                try:
                    test(*given, **fixtures, **dict(zip(taken, values, strict=True)))
                except (Exception, pytest.fail.Exception) as fault:
                    fault.add_note(f"In the case {name}.")
                    faults.append(fault)
            if faults:
                raise BaseExceptionGroup(f"{len(faults)} of {len(found)} cases fail", faults)

        told = inspect.signature(test)
        kept = [each for each in told.parameters.values() if each.name not in taken]
        each.__signature__ = told.replace(parameters=kept)  # type: ignore[attr-defined]
        return each

    return decorate


def named(case: Any, ids: Callable[[Any], str]) -> tuple[str, tuple[Any, ...]]:
    """Return the name of a case and its values; `pytest.param` may set the name."""
    values = getattr(case, "values", None)
    if isinstance(values, tuple):
        return str(case.id or values), values
    return (ids(case), (case,)) if not isinstance(case, tuple) else (ids(case), case)


def chosen(found: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the cases that the run selects."""
    return [case for case in found if not only or any(part in case[0] for part in only)]
