"""A process beside the workers, kept running by the master."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress

from server.process.uvicorn_adapter import ForkedProcess

END_SECONDS = 5.0
UNKNOWN = 255  # The exit code of a process whose fork server has died; it may still run.


class KeptProcess:
    """A process that calls a function; when it dies, the master starts it again."""

    def __init__(self, target: Callable[..., None], *told: object) -> None:
        self._target = target
        self._told = told
        self._process: ForkedProcess | None = None

    def keep(self) -> None:
        """Start the process if it is not running."""
        if self._process is None or not self._process.is_alive():
            self.end()
            self._process = ForkedProcess(target=self._target, args=self._told)
            self._process.start()

    def terminate(self) -> None:
        """Send the process a signal to end; it may take up to five seconds."""
        if self._process is not None:
            self._process.terminate()

    def end(self) -> None:
        """End the process, and kill it after five seconds."""
        if self._process is not None:
            self._process.terminate()
            self._process.join(END_SECONDS)
            self._process.kill()
            self._process.join()
            pid = self._process.pid
            if self._process.exitcode == UNKNOWN and pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process = None
