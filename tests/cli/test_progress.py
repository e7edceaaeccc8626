"""The elapsed time beside a long step."""

import subprocess
import sys
from pathlib import Path

from tests.terminal import terminal

PROGRESS = Path(__file__).parents[2] / "cli" / "progress.py"
CLEARED = "\r\x1b[K"


def words(*command: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(PROGRESS), "Waiting for it", *command]


class TestClock:
    def test_a_terminal_sees_it_run(self) -> None:
        with terminal(words("sh", "-c", "sleep 2.2; exit 3")) as opened:
            assert opened.end() == 3
        drawn = opened.shown.split(CLEARED)
        assert drawn[1] == "Waiting for it ... 0 s\r"
        assert "Waiting for it ... 1 s\r" in drawn
        assert drawn[-1].startswith("Waiting for it ... ")
        assert drawn[-1].endswith(" s\r\n")

    def test_what_the_command_says_stands_in_a_line_of_its_own(self) -> None:
        with terminal(words("sh", "-c", "sleep 0.5; echo careful; sleep 0.5")) as opened:
            assert opened.end() == 0
        assert f"s\rcareful\r\n{CLEARED}Waiting" in opened.shown

    def test_a_long_step_is_cut_to_the_width_of_the_terminal(self) -> None:
        with terminal([*words()[:4], "long " * 80, "true"]) as opened:
            assert opened.end() == 0
        assert max(len(line.strip("\r\n")) for line in opened.shown.split(CLEARED)) < 80

    def test_elsewhere_it_is_named_once(self) -> None:
        done = subprocess.run(
            words("sh", "-c", "sleep 0.5; echo said; exit 4"), capture_output=True, check=False
        )
        assert (done.returncode, done.stdout) == (4, b"said\n")
        assert done.stderr == b"Waiting for it ...\n"

    def test_ctrl_c_ends_both(self) -> None:
        with terminal(words("sleep", "60")) as opened:
            opened.wait_for("0 s")
            opened.interrupt()
            assert opened.end() == 130
        assert "Traceback" not in opened.shown
