"""The process that answers scrapes, as the master looks after it."""

from collections.abc import Callable
from pathlib import Path
from socket import socket

from server.settings import Settings
from server.uvicorn_seam import ForkedProcess

END_SECONDS = 5.0


class Scraping:
    """Keeps one such process alive; it gets the listener and the folder of the workers' counts."""

    def __init__(
        self, listener: socket, folder: Path, read: Callable[[], Settings], database_url: str
    ) -> None:
        self._told = (listener, folder, read, database_url)
        self._process: ForkedProcess | None = None

    def keep(self) -> None:
        """Start it where there is none, or none any more."""
        if self._process is None or not self._process.is_alive():
            self.end()
            self._process = ForkedProcess(target=answer, args=self._told)
            self._process.start()

    def end(self) -> None:
        """End it; whoever comes meanwhile waits for the next one."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(END_SECONDS)
            self._process.kill()
            self._process.join()
            self._process = None


def answer(*told: object) -> None:
    """Be that process; the master loads none of this."""
    from server.watching.scraped import answer_scrapes

    answer_scrapes(*told)  # type: ignore[arg-type]
