"""What a server and its PostgreSQL use: processor time, user and system together, and memory."""

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
                return self._seconds_now()

    def _seconds_now(self) -> float:
        own = self._root.cpu_times()
        used: float = own.user + own.system + own.children_user + own.children_system
        for child in self._root.children(recursive=True):
            times = child.cpu_times()
            used += times.user + times.system
        return used

    def memory_mb(self) -> float:
        """Return the memory held now; of what processes share, each its part (PSS).

        Where the system does not tell that (macOS), what is each one's own.
        """
        held = (
            process.memory_full_info()
            for process in (self._root, *self._root.children(recursive=True))
        )
        held_bytes: int = sum(getattr(each, "pss", each.uss) for each in held)
        return held_bytes / 1e6


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
