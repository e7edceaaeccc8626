"""A part of the tests, repeated with another database."""

import os
import subprocess
import sys
from collections.abc import Iterable

TRADE = "tests/handlers/trade"
# Tests that use most of the product.
JOURNEYS = (
    "tests/journeys/test_first_invoice.py",
    "tests/journeys/test_receivables.py",
    "tests/journeys/test_payables.py",
)


def run_suite(paths: Iterable[str], left_out: Iterable[str], **environment: str) -> int:
    """Run the tests of some paths with two workers; return the exit code of pytest."""
    left_out = [f"--deselect={path}" for path in left_out]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *left_out, *paths]
    return subprocess.call(command, env={**os.environ, **environment, "MALLOC_ARENA_MAX": "2"})
