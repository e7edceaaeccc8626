"""One test that looks at many cases in turn, and names each at which it fails.

Each parameter of pytest's own is a test: every worker collects it, and three reports of it go to
the terminal. Where a case takes less than that, and changes nothing that the next one sees, they
are one test. `pytest tests/contract --only create_invoice` looks at the cases of that name alone.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]
Marker = Callable[[Test], Test]
only: list[str] = []  # Parts of the names of cases, as the run was told; empty for all.


def in_turn(
    names: str | tuple[str, ...], cases: Iterable[Any], *, ids: Callable[[Any], str] = str
) -> Marker:
    """Mark a test as `pytest.mark.parametrize` does; fixtures are made once for all its cases."""
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
    """The name of a case and its values; `pytest.param` may name it."""
    values = getattr(case, "values", None)
    if isinstance(values, tuple):
        return str(case.id or values), values
    return (ids(case), (case,)) if not isinstance(case, tuple) else (ids(case), case)


def chosen(found: list[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...]]]:
    """The cases that a run asks for."""
    return [case for case in found if not only or any(part in case[0] for part in only)]
