"""Processor time (user and system) and memory of a server and its PostgreSQL."""

from contextlib import suppress
from pathlib import Path

import psutil


class Meter:
    """A meter of one process and its descendants, including ended ones."""

    def __init__(self, root: psutil.Process) -> None:
        self._root = root

    def seconds(self) -> float:
        """Return the processor seconds used since the processes began."""
        while True:
            # A process that ends meanwhile has added its time to its parent: read again.
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
        """Return the memory in use in MB; of shared memory each process counts its share (PSS).

        On macOS, which does not report it, only the memory of each process alone counts (USS).
        """
        held = (
            process.memory_full_info()
            for process in (self._root, *self._root.children(recursive=True))
        )
        held_bytes: int = sum(getattr(each, "pss", each.uss) for each in held)
        return held_bytes / 1e6


def of_process(process_id: int) -> Meter:
    """Return the meter of the server that was started as this process."""
    return Meter(psutil.Process(process_id))


def of_postgres(home: Path) -> Meter:
    """Return the meter of the PostgreSQL below a folder; raises LookupError if none runs."""
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "-D" in words and any(word.startswith(str(home)) for word in words):
            return Meter(process)
    raise LookupError(f"no PostgreSQL runs on {home}")
