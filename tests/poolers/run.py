"""`python -m tests.poolers.run [--quick]`: the tests repeated through PgBouncer.

Each server under test uses a PgBouncer in transaction mode, with a login that an administrator
created. The tests themselves connect directly.
"""

import argparse
import sys

from tests.poolers.pgbouncer import POOLED
from tests.poolers.programs import NEW, NotToBeHad, pgbouncer
from tests.suites import JOURNEYS, run_suite

QUICK = (*JOURNEYS, "tests/handlers/books/test_sandboxes.py")
WHOLE = ("tests/poolers", "tests/journeys", "tests/handlers", "tests/concurrency")
# Excluded tests, each with its reason.
LEFT_OUT = {
    "tests/handlers/platform/test_document_faults.py::TestLostDuringCommit": (
        "cuts the connections of a server that goes straight to PostgreSQL"
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Show through PgBouncer what is shown directly.")
    parser.add_argument("--quick", action="store_true", help="a part of the tests only")
    asked = parser.parse_args()
    try:
        pgbouncer(NEW)
    except NotToBeHad as error:
        sys.stdout.write(f"Nothing is shown through a pooler: {error}.\n")
        return 0
    paths = QUICK if asked.quick else WHOLE
    return run_suite(paths, LEFT_OUT, **{POOLED: "transaction"})


if __name__ == "__main__":
    sys.exit(main())
