"""The process that answers scrapes of Prometheus, kept running by the master."""

from collections.abc import Callable
from pathlib import Path
from socket import socket

from server.config.settings import Settings
from server.process.uvicorn_adapter import ForkedProcess

END_SECONDS = 5.0


class MetricsProcess:
    """A process that answers scrapes, from the folder of the workers' counters."""

    def __init__(
        self, listener: socket, folder: Path, read: Callable[[], Settings], database_url: str
    ) -> None:
        self._told = (listener, folder, read, database_url)
        self._process: ForkedProcess | None = None

    def keep(self) -> None:
        """Start the process if it is not running."""
        if self._process is None or not self._process.is_alive():
            self.end()
            self._process = ForkedProcess(target=answer, args=self._told)
            self._process.start()

    def end(self) -> None:
        """End the process; a scrape in that moment waits for the next one."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(END_SECONDS)
            self._process.kill()
            self._process.join()
            self._process = None


def answer(*told: object) -> None:
    """Answer scrapes in that process; only it imports the module, not the master."""
    from server.telemetry.metrics_endpoint import answer_scrapes

    answer_scrapes(*told)  # type: ignore[arg-type]
