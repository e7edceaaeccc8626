"""Each choice in docs/not-shown.md names an existing test."""

import re
from pathlib import Path

from tests.contract.mentions import known_tests

ROOT = Path(__file__).parents[2]
NAMED = re.findall(
    r"`([a-z0-9_/]+\.py)::(\w+)::(\w+)`", (ROOT / "docs/not-shown.md").read_text(encoding="utf-8")
)


class TestNotShown:
    def test_each_choice_is_pinned_by_a_test_that_exists(self) -> None:
        named = [f"{module}::{group}::{test}" for module, group, test in NAMED]
        assert [each for each in named if each not in known_tests()] == []

    def test_every_choice_names_one(self) -> None:
        rows = [
            line
            for line in (ROOT / "docs/not-shown.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| ") and not line.startswith(("| Gap", "|---"))
        ]
        assert len(rows) == len(NAMED) > 40
