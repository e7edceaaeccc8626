"""`python -m tests.contract.specification_table` writes docs/specification-coverage.md.

A row is a name in the specification (`specified.toml`), its description in the contract, and a
test. Where `specified.toml` names no test, a test that mentions the name is chosen. A test that the
page already names stays, so that new tests do not change the page.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.contract.document import follow, named
from tests.contract.mentions import find, known_tests, of_operation
from tests.contract.specified import (
    SpecificationError,
    description,
    lacking,
    lines_of,
    operation_at,
    property_of,
    schema,
    specified,
)
from tests.contract.specified_limits import Limit, limits

TABLE = Path(__file__).parents[2] / "docs/specification-coverage.md"
LIMITS = "contract/test_specified_limits.py::TestLimit::test_is_reached_and_not_passed"
EVERY_LIST = {
    "page": "contract/test_lists.py::TestPages::test_show_every_item_once_however_they_are_walked",
    "page_size": "contract/test_lists.py::TestPages::test_have_twenty_items_unless_told_otherwise",
    "sort": "contract/test_lists.py::TestOrder::test_descending_is_ascending_backwards",
}
HEADING = """\
# What the specification names, and the tests that show it

Written by `make specification`; a change belongs into `tests/contract/specified.toml`, where a new
row is one line or one word. Sections are those of the specification, names those of the contract;
`B` stands for `/v1/platform/businesses/{business_id}/`. Tests lie below `tests/`.
"""
CHAPTERS = {
    "operations": ("Operations", "Operation", "What it does"),
    "fields": ("Fields", "Field", "What it is"),
    "values": ("Values", "Enum", "Values"),
    "filters": ("Filters", "Parameter", "What it does"),
    "limits": ("Limits", "Field", "Limit"),
    "rules": ("Rules", "Rule", ""),
}
Seen = tuple[str, list[str]]


@dataclass(frozen=True)
class SpecifiedName:
    """A name in the specification.

    `look` returns its description in the contract and its tests, the best first. It raises
    SpecificationError where the contract does not have the name.
    """

    chapter: str
    section: str
    name: str
    look: Callable[[], Seen]

    @property
    def key(self) -> str:
        """Return the key of the row in the pinned tests and in the earlier page."""
        return f"{self.chapter} {self.section} {self.name}"


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    named: SpecifiedName
    text: str
    test: str

    def __str__(self) -> str:
        cells = [self.named.section, self.named.name, self.text, f"`{self.test}`"]
        return f"| {' | '.join(cell for cell in cells if cell)} |"


# ── Names of the specification ─────────────────────────────────────────────────────────────────


def everything() -> Iterator[SpecifiedName]:
    """Yield every name in the specification, chapter by chapter."""
    for section, line in kept("operations"):
        yield SpecifiedName("operations", section, f"`{line}`", partial(of_line, line))
    for group in specified()["fields"]:
        for name in group["names"].split():
            look = partial(of_field, group["schema"], name, group["tests"])
            yield SpecifiedName("fields", group["section"], f"{group['title']}: `{name}`", look)
    for section, line in kept("values"):
        names, _, test = line.partition(" | ")
        name, _, values = names.partition(": ")
        yield SpecifiedName(
            "values", section, f"`{name}`", partial(of_values, name, values.split(), test)
        )
    for section, line in kept("filters"):
        operation, _, names = line.partition(": ")
        for name in names.split():
            look = partial(of_filter, operation, name)
            yield SpecifiedName("filters", section, f"`{operation}`: `{name}`", look)
    for limit in limits():
        yield SpecifiedName("limits", "8", limit.name, partial(of_limit, limit))
    for section, line in kept("rules"):
        text, _, test = line.partition(" | ")
        yield SpecifiedName("rules", section, text, partial(of_rule, test))


def kept(chapter: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a chapter, each with its section."""
    for line in lines_of(chapter):
        section, _, row = line.partition(" ")
        yield section, row


def of_line(line: str) -> Seen:
    operation = operation_at(line)
    text = f"`{operation.name}`: {operation.node['summary']}"
    return text, [each.name for each in of_operation(operation.name)]


def of_field(of: str, name: str, modules: list[str]) -> Seen:
    node = property_of(schema(of), name)
    return description(node), [each.name for each in find(modules, name)]


def of_values(name: str, values: list[str], test: str) -> Seen:
    if unknown := lacking(name, values):
        raise SpecificationError(f"the contract lacks {', '.join(unknown)}")
    return ", ".join(f"`{value}`" for value in values), [test]


def of_filter(operation: str, name: str) -> Seen:
    takes = {each["name"]: each for each in named(operation).parameters}
    if name not in takes:
        raise SpecificationError("the contract has no such parameter")
    mentioning = [each.name for each in of_operation(operation) if name in each.said]
    return description(follow(takes[name])), [EVERY_LIST.get(name, ""), *mentioning]


def of_limit(limit: Limit) -> Seen:
    limit.check()
    return f"{limit.keyword} {limit.value}", [LIMITS]


def of_rule(test: str) -> Seen:
    return "", [test]


# ── The page ───────────────────────────────────────────────────────────────────────────────────


def table(page: str) -> str:
    """Return the page, with the tests that an earlier page names.

    Raises SpecificationError with all errors.
    """
    before, pinned = named_before(page), specified()["pinned"]
    rows, faults = [], []
    for each in everything():
        try:
            text, tests = each.look()
            rows.append(Row(each, text, chosen(each.key, tests, before, pinned)))
        except SpecificationError as error:
            faults.append(f"{each.key}: {error}")
    faults += [f"{key}: pinned, and no row" for key in pinned.keys() - {r.named.key for r in rows}]
    if faults:
        raise SpecificationError("\n".join(sorted(faults)))
    return written(rows)


def chosen(key: str, tests: list[str], before: Mapping[str, str], pinned: Mapping[str, str]) -> str:
    """Return the test of a row: the pinned one, that of the earlier page, or the best."""
    if key in pinned:
        tests = [pinned[key]]
    there = [test for test in tests if is_there(test)]
    if not there:
        told = ", ".join(filter(None, tests))
        raise SpecificationError(f"no test {told}" if told else "no test mentions it")
    return before[key] if before.get(key) in there else there[0]


def is_there(test: str) -> bool:
    """Return whether a test or a class of tests exists."""
    return test in known_tests() or any(name.startswith(f"{test}::") for name in known_tests())


def written(rows: list[Row]) -> str:
    parts = [HEADING]
    for chapter, heads in CHAPTERS.items():
        listed = [str(row) for row in rows if row.named.chapter == chapter]
        names = ["Section", *filter(None, heads[1:]), "Shown by"]
        parts.append(f"## {heads[0]}\n\n{len(listed)} rows.\n")
        parts.append(f"| {' | '.join(names)} |\n{'|---' * len(names)}|")
        parts.append("\n".join(listed) + "\n")
    return "\n".join(parts)


def named_before(page: str) -> dict[str, str]:
    """Return the test that each row of a page names."""
    chapters = {heads[0]: chapter for chapter, heads in CHAPTERS.items()}
    found: dict[str, str] = {}
    chapter = ""
    for line in page.splitlines():
        if line.startswith("## "):
            chapter = chapters.get(line.removeprefix("## "), "")
        cells = re.split(r"(?<!\\) ?\| ?", line)[1:-1]
        if len(cells) >= 3:
            found[f"{chapter} {cells[0]} {cells[1]}"] = cells[-1].strip("`")
    return found


def main() -> int:
    page = TABLE.read_text("utf-8") if TABLE.exists() else ""
    try:
        TABLE.write_text(table(page), "utf-8")
    except SpecificationError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
