"""A command on a terminal of its own: its screen and its keyboard."""

import os
import pty
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class Terminal:
    """A running command whose input and output are a terminal."""

    def __init__(self, words: Sequence[str | Path], environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            words,
            env={**environment, "TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, words: str) -> None:
        """Return when these words were shown."""
        while words not in self.shown:
            assert self._read(), f"{words!r} was never shown:\n{self.shown}"

    def type(self, text: str) -> None:
        """Write a line to the terminal."""
        os.write(self._ours, f"{text}\n".encode())

    def interrupt(self) -> None:
        """Send Ctrl-C: all processes of the command receive SIGINT."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        """Return the exit code when the command has ended and all output is read."""
        while self._read():
            pass
        return self.process.wait()

    def close(self) -> None:
        """Close the terminal and kill its command."""
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def _read(self) -> bool:
        try:
            piece = os.read(self._ours, 65_536)
        except OSError:  # No process has the other end open.
            return False
        self.shown += piece.decode(errors="replace")
        return bool(piece)


@contextmanager
def terminal(
    words: Sequence[str | Path], environment: Mapping[str, str] = os.environ
) -> Iterator[Terminal]:
    """Run a command on a terminal during a block."""
    opened = Terminal(words, environment)
    try:
        yield opened
    finally:
        opened.close()
