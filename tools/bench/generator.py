"""The generator of HTTP load: wrk, a closed loop over kept-alive connections in one thread.

wrk takes 16 us of processor time per request at 16 clients; a loop in Python (uvloop and a parser
in C) took 23. That matters because it shares two cores with the server that it measures. It has one
thread, since its clock starts when its last thread starts.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("wrk.lua")
LATE_SECONDS = 30  # An answer that takes longer counts as lost.


@dataclass(frozen=True, slots=True)
class Load:
    """The result of one drive of a target.

    `errors` are error responses and lost answers; `unanswered` are requests that were in progress
    at the end.
    """

    answers: int
    seconds: float
    p50_ms: float
    p99_ms: float
    errors: int
    unanswered: int = 0

    @property
    def rate(self) -> float:
        """The number of successful operations per second."""
        return self.answers / self.seconds


def find() -> str:
    """Return the path of wrk; exit with installation advice if it is missing."""
    found = shutil.which("wrk")
    if found is None:
        raise SystemExit("wrk is needed: apt-get install wrk, or brew install wrk")
    return found


def save(requests: Sequence[bytes], file: Path) -> None:
    """Save requests in the format that `wrk.lua` reads."""
    file.write_bytes(b"".join(b"%d\n%b" % (len(each), each) for each in requests))


def drive(port: int, file: Path, *, first: int, clients: int, seconds: float) -> Load:
    """Send the requests of a file for some seconds, starting at the index `first`."""
    words = [find(), "-t1", f"-c{clients}", f"-d{seconds:g}s", f"--timeout={LATE_SECONDS}s"]
    address = f"http://127.0.0.1:{port}/"
    done = subprocess.run(
        [*words, "-s", str(SCRIPT), address, "--", str(file), str(first)],
        check=True,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout.splitlines()[-1])
    refused = told["refused"]
    return Load(
        told["answers"] - refused,
        told["seconds"],
        told["p50_ms"],
        told["p99_ms"],
        refused + told["lost"],
        clients,  # Each client waits for an answer at the end.
    )
