"""Comparison of two trees: operations, contract without texts, and SQL statements.

Run `python -m pytest -p tests.house.same tests/handlers` in each tree with SQL_TEXTS set to a file,
which then has every SQL text of the tests. `python -m tests.house.same ROOT ROOT` compares the
contracts, and `... --sql FILE FILE` the texts. It prints each difference.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

TEXTS: Final = frozenset(
    {"description", "summary", "title", "message", "detail", "when", "do", "x-gap"}
    | {"x-pattern-message"}
)
_SENT: Final[set[str]] = set()


def pytest_configure(config: pytest.Config) -> None:
    """Record every SQL text that the pipeline prepares."""
    from persistence.engine import pipeline

    numbered = pipeline.numbered

    def recorded(text: str) -> tuple[bytes, tuple[str, ...]]:
        _SENT.add(text)
        return numbered(text)

    pipeline.numbered = recorded  # type: ignore[assignment]


def pytest_sessionfinish() -> None:
    """Add the recorded texts to the file that SQL_TEXTS names."""
    path = Path(os.environ["SQL_TEXTS"])
    known = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps(sorted({*known, *_SENT}), indent=1))


def without_texts(node: Any) -> Any:
    """Return a part of the contract without its texts for people."""
    if isinstance(node, dict):
        return {
            name: without_texts(value)
            for name, value in node.items()
            if name not in TEXTS or not (isinstance(value, str) or _is_of_texts(value))
        }
    return [without_texts(each) for each in node] if isinstance(node, list) else node


def _is_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """Yield the places at which two values differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(each for each in after if each not in before)]:
            yield from differences(before.get(name), after.get(name), f"{where}/{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{where}/{place}")
    elif before != after:
        yield f"{where}: {str(before)[:100]} | {str(after)[:100]}"


def main(arguments: Sequence[str]) -> int:
    """Print the differences of two trees or two files of SQL texts; return 1 if there is one."""
    if arguments[0] == "--sql":
        before, after = ({*json.loads(Path(each).read_text())} for each in arguments[1:])
        found = [*(f"only before: {each}" for each in sorted(before - after))]
        found += [f"only after: {each}" for each in sorted(after - before)]
    else:
        one, other = (
            without_texts(yaml.safe_load((Path(root) / "openapi/accounting.yaml").read_bytes()))
            for root in arguments
        )
        found = list(differences(one, other))
    sys.stdout.write("".join(f"{each}\n" for each in found) + f"{len(found)} differences\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
