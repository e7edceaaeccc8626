"""A history that is killed halfway: `python -m tools.clients.tests.histories COUNT` measures one.

The program of `journeys/history.py` is killed after it has brought half of its invoices. A second
run finishes them. Each must exist once, and the feed must have one event of each.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final
from uuid import UUID

from libraries.embedded.postgres import EmbeddedPostgres
from tests.api_server import ApiServer, Databases
from tools.clients.tests.generators import JOURNEYS, ClientError
from tools.clients.tests.sdk import PYTHON

FEW: Final = 1_500
# By then the next batch is on its way.
IN_FLIGHT_SECONDS: Final = 0.2
KEPT_BY: Final = ("-", "state")
COUNTED: Final = """
SELECT count(*), count(DISTINCT external_id) FROM invoice WHERE business_id = %s
"""
EVENTS: Final = """
SELECT count(*) FILTER (WHERE type = 'invoice.created'), count(*) - max(sequence) FROM event
WHERE business_id = %s
"""


def hold(api_server: ApiServer, count: int = FEW) -> str:
    """Send a history with and without a state file, with a kill in each; return the rate.

    Raises ClientError where an invoice is missing or there is one twice.
    """
    rates = [bring(api_server, count, keeper) for keeper in KEPT_BY]
    return f"{min(rates):,.0f} a second"


def bring(api_server: ApiServer, count: int, keeper: str) -> float:
    """Send a history with a kill in the middle; return its items a second."""
    partner = api_server.partner("History")
    business = partner.business()
    with tempfile.TemporaryDirectory() as folder:
        state = keeper if keeper == "-" else str(Path(folder) / keeper)
        called = (partner.url, str(partner.partner_id), partner.api_key, business.id)
        words = (sys.executable, str(JOURNEYS / "history.py"), *called, str(count), state)
        begun = time.monotonic()
        run(words, until=count // 2)
        done = run(words)
        took = time.monotonic() - begun
    compare(api_server, UUID(business.id), count)
    return done / took


def run(words: tuple[str, ...], until: int | None = None) -> int:
    """Run the program, and kill it when it has done so many items; return how many it has done.

    Raises ClientError if it reports a failure, or ends otherwise than it should.
    """
    environment = {"PYTHONPATH": str(PYTHON.folder.resolve())}
    done = 0
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.strip().isdecimal():
                process.kill()
                raise ClientError(line)
            done = int(line)
            if until is not None and done >= until:
                time.sleep(IN_FLIGHT_SECONDS)
                process.kill()
                break
    if process.returncode != (0 if until is None else -9):
        raise ClientError(f"The program has ended with {process.returncode} after {done} items.")
    return done


def compare(api_server: ApiServer, business_id: UUID, count: int) -> None:
    """Raise ClientError unless each invoice and its event exists once, without a gap."""
    [found] = api_server.query(COUNTED, business_id)
    [events] = api_server.query(EVENTS, business_id)
    if found != (count, count) or events != (count, 0):
        raise ClientError(f"{count} invoices were brought; there are {found}, and events {events}")


def main(count: int) -> None:
    """Print the rate of a history, on a PostgreSQL with the settings of one in use."""
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as postgres,
        ApiServer(Databases(postgres).clone("history")) as api_server,
    ):
        sys.stdout.write(f"{count} invoices: {hold(api_server, count)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
