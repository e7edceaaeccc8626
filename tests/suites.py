"""Runs a part of the tests once more, over another database than they have by themselves."""

import os
import subprocess
import sys
from collections.abc import Iterable

TRADE = "tests/handlers/trade"
# What most of the product takes part in.
JOURNEYS = (
    "tests/journeys/test_first_invoice.py",
    "tests/journeys/test_receivables.py",
    "tests/journeys/test_payables.py",
)


def run_suite(paths: Iterable[str], left_out: Iterable[str], **environment: str) -> int:
    """Run the tests of some paths by two workers, and return what pytest returns."""
    left_out = [f"--deselect={path}" for path in left_out]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *left_out, *paths]
    return subprocess.call(command, env={**os.environ, **environment, "MALLOC_ARENA_MAX": "2"})
