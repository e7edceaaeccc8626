"""`python -m tests.cluster.run FOLDER [--quick]`: tests of one machine, repeated on three.

FOLDER has a program `cluster` that starts a Citus cluster and prints its address; it is not part of
the project. The operator's commands migrate, distribute, fill and check a database of the cluster.
Then tests run on such databases, and each statement that they send is explained (explaining.py).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.databases import CLUSTER
from tests.suites import JOURNEYS, TRADE, run_suite

SHARDS = 4  # Of each table: enough to detect a statement that goes to all.
ACCOUNTING = str(Path(sys.executable).with_name("accounting"))
COMMANDS = (("migrate",), ("distribute",), ("demo",), ("check-books",))
QUICK = (
    "tests/cluster",
    *JOURNEYS,
    f"{TRADE}/test_create_payment.py",
    f"{TRADE}/test_create_credit.py",
    f"{TRADE}/test_derived_statuses.py",  # All kinds of settlement.
    f"{TRADE}/test_list_parties.py",
    "tests/handlers/books/test_list_accounts.py",
    "tests/handlers/books/test_sandboxes.py",
    "tests/concurrency/test_money_races.py::TestPaymentsOfOneInvoice",  # With readers.
)
RACES = tuple(
    f"tests/concurrency/test_{kind}_races.py"
    for kind in ("bank", "entry", "money", "payout", "vendor_refund")
)
WHOLE = ("tests/cluster", "tests/journeys", "tests/handlers", *RACES)
# Tests that need a single machine, each with its reason. Races that are not listed above lock rows
# without their business, which a cluster refuses.
LEFT_OUT = {
    "tests/handlers/books/test_integrity.py": "spoils rows with the triggers of one machine off",
    "tests/handlers/platform/test_document_faults.py::TestLostDuringCommit": (
        "cuts connections through a Unix socket, and a cluster is reached by TCP"
    ),
}


def main() -> int:
    asked = arguments()
    program = asked.folder / "cluster"
    if not program.exists():
        sys.stdout.write(
            f"There is no Citus in {asked.folder}: nothing is shown on a cluster."
            " CITUS=folder names another.\n"
        )
        return 0
    with tempfile.TemporaryDirectory() as folder, started(program, Path(folder) / "cluster") as url:
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "ACCOUNTING_DATA_DIR": str(Path(folder) / "data"),
        }
        for command in COMMANDS:
            sys.stdout.write(f"accounting {' '.join(command)}\n")
            sys.stdout.flush()
            code = subprocess.call([ACCOUNTING, *command], env=environment)
            if code:
                return code
        return run_suite(QUICK if asked.quick else WHOLE, LEFT_OUT, **{CLUSTER: url})


@contextmanager
def started(program: Path, folder: Path) -> Iterator[str]:
    """Start a fresh cluster during a block; yield its address."""
    call = [sys.executable, str(program)]
    try:
        begun = [*call, "start", str(folder), "--shards", str(SHARDS)]
        told = subprocess.run(begun, check=True, stdout=subprocess.PIPE).stdout
        url: str = json.loads(told)["database_url"]
        yield url
    finally:
        subprocess.call([*call, "stop", str(folder)])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Show on a cluster what is shown on one machine.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--quick", action="store_true", help="a part of the tests only")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
