"""How much processor time a server and its PostgreSQL have used, user and system together."""

from contextlib import suppress
from pathlib import Path

import psutil


class Meter:
    """One process and everything below it, living and dead."""

    def __init__(self, root: psutil.Process) -> None:
        self._root = root

    def seconds(self) -> float:
        """Return the processor seconds used since the processes began."""
        while True:
            # One that ends while it is looked at has left its time with its parent: look again.
            with suppress(psutil.NoSuchProcess):
                return self._now()

    def _now(self) -> float:
        own = self._root.cpu_times()
        used: float = own.user + own.system + own.children_user + own.children_system
        for child in self._root.children(recursive=True):
            times = child.cpu_times()
            used += times.user + times.system
        return used


def of_process(process_id: int) -> Meter:
    """Measure the server that was started as this process."""
    return Meter(psutil.Process(process_id))


def of_postgres(home: Path) -> Meter:
    """Measure the embedded PostgreSQL below a folder."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "-D" in words and any(word.startswith(str(home)) for word in words):
            return Meter(process)
    raise LookupError(f"no PostgreSQL runs on {home}")
