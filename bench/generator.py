"""The load on HTTP: wrk, a closed loop over kept-alive connections in one thread.

wrk takes 16 us of processor time a request at 16 clients, where a loop in Python (uvloop and a
parser in C) took 23: it shares two cores with what it measures. It has one thread, since its clock
starts when the last of its threads does: with one, the first is the last.
"""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("wrk.lua")
LATE_SECONDS = 30  # An answer that takes longer is lost.


@dataclass(frozen=True, slots=True)
class Load:
    """What was driven through one target in one go.

    `errors` are refusals and lost answers; `unanswered` is what was under way when the time was up.
    """

    answers: int
    seconds: float
    p50_ms: float
    p99_ms: float
    errors: int
    unanswered: int = 0

    @property
    def rate(self) -> float:
        """Operations a second that succeeded."""
        return self.answers / self.seconds


def find() -> str:
    """Find wrk; ends the program saying how to get it."""
    found = shutil.which("wrk")
    if found is None:
        raise SystemExit("wrk is needed: apt-get install wrk, or brew install wrk")
    return found


def save(requests: Sequence[bytes], file: Path) -> None:
    """Keep requests where wrk can read them."""
    file.write_bytes(b"".join(b"%d\n%b" % (len(each), each) for each in requests))


def drive(port: int, file: Path, *, first: int, clients: int, seconds: float) -> Load:
    """Send the requests of a file for some seconds, beginning with the one of that place."""
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
        clients,  # Each of them waits for an answer whenever the time is up.
    )
