"""docs/not-shown.md names a test for each choice; each of them is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(
    r"`([a-z_/]+\.py)::(\w+)::(\w+)`", (ROOT / "docs/not-shown.md").read_text(encoding="utf-8")
)


@cache
def defined_in(module: str) -> set[tuple[str, str]]:
    tree = ast.parse((ROOT / "tests" / module).read_text(encoding="utf-8"))
    return {
        (group.name, test.name)
        for group in ast.walk(tree)
        if isinstance(group, ast.ClassDef)
        for test in group.body
        if isinstance(test, ast.FunctionDef)
    }


class TestNotShown:
    @pytest.mark.parametrize(("module", "group", "test"), NAMED)
    def test_each_choice_is_pinned_by_a_test_that_exists(self, module, group, test):
        assert (group, test) in defined_in(module)

    def test_every_choice_names_one(self):
        rows = [
            line
            for line in (ROOT / "docs/not-shown.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| ") and not line.startswith(("| Gap", "|---"))
        ]
        assert len(rows) == len(NAMED) > 40
