"""Display of the step in progress: with a running clock on a terminal, otherwise one line per step.

It uses only the standard library, so that the Makefile can show its own long steps before anything
is installed: `python cli/progress.py "What is done" command ...`.
"""

import shutil
import subprocess
import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

TICK_SECONDS = 0.2
CLEARED = "\r\x1b[K"


class Progress:
    """A display of one step at a time; `advance` adds the finished share of the step."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._ticks = self._stream.isatty()
        self._drawing = threading.Lock()
        self._step = ""
        self._share = ""
        self._began = 0.0
        self._ended = threading.Event()
        self._ended.set()

    def begin(self, step: str) -> None:
        """End the current step and begin the named one."""
        self.end()
        self._step, self._share, self._began = step, "", time.monotonic()
        if not self._ticks:
            self._write(f"{step} ...\n")
            return
        self._ended = threading.Event()
        threading.Thread(target=self._tick, args=(self._ended,), daemon=True).start()

    def advance(self, done: int, total: int) -> None:
        """Set the finished share of the step, which is shown as `done of total`."""
        self._share = f"{done} of {total}, "

    def note(self, line: str) -> None:
        """Write a line above the clock."""
        self._write(f"{CLEARED if self._ticks else ''}{line}\n")

    def end(self) -> None:
        """Stop the clock and keep its last line."""
        with self._drawing:
            if not self._ended.is_set():
                self._ended.set()
                self._write(f"{self._line()}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.end()

    def _tick(self, ended: threading.Event) -> None:
        while True:
            with self._drawing:
                if ended.is_set():
                    return
                # The cursor returns to column 1: output of another process overwrites the line.
                self._write(f"{self._line()}\r")
            ended.wait(TICK_SECONDS)

    def _line(self) -> str:
        seconds = int(time.monotonic() - self._began)
        text = f"{self._step} ... {self._share}{seconds} s"
        return CLEARED + text[: shutil.get_terminal_size().columns - 1]

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def main() -> int:
    """Run a command with a clock and return its exit code."""
    step, *command = sys.argv[1:]
    try:
        with Progress() as progress:
            progress.begin(step)
            return subprocess.call(command)
    except KeyboardInterrupt:  # The command received the signal too, and has ended.
        return 130


if __name__ == "__main__":
    sys.exit(main())
