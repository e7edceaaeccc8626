"""The parts of CI, run in turn, each with its minutes and its share of twenty minutes.

It needs only Python: the first part installs the rest. Parts without Citus, PgBouncer or Chromium
report that these are missing.
"""

import subprocess
import sys
import time
from typing import Final, NamedTuple


class Part(NamedTuple):
    """Targets of the Makefile, and the minutes that they may take on two idle cores.

    Targets that wait, or use one core for a while, run two `at_once`.
    """

    name: str
    verbs: tuple[str, ...]
    minutes: int
    at_once: bool = False


PARTS: Final = (
    Part("install", ("install",), 1),
    # The longest come first.
    Part(
        "static checks, bare clone",
        ("types", "bare", "coverage", "contract", "lint", "rooms"),
        2,
        at_once=True,
    ),
    Part("tests", ("test",), 4),
    Part("operation", ("operation",), 4),
    Part("fuzz, plans of lists", ("fuzz", "plans"), 4, at_once=True),
    Part("cluster and pooler", ("cluster-quick", "pooler-quick"), 2, at_once=True),
    Part("clients and docs", ("clients", "docs", "browser"), 3, at_once=True),
)


def main() -> int:
    """Return 0, or the exit code of the first failing part; a slow part does not fail."""
    lines: list[str] = []
    for part in PARTS:
        begun = time.monotonic()
        how = ["--jobs=2"] if part.at_once else []
        code = subprocess.call(["make", "--no-print-directory", *how, *part.verbs])
        took = (time.monotonic() - begun) / 60
        over = "  over its share" if took > part.minutes else ""
        lines.append(f"{part.name:24}{took:6.1f} of {part.minutes} min{over}")
        if code != 0:
            lines.append(f"{part.name} failed.")
            break
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
