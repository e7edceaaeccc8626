"""Workers of a killed master: they end with it, and a live one keeps the server running."""

import os
import signal
import socket
import time
from pathlib import Path

from libraries.embedded import reaper
from libraries.embedded.users import hold, leave_with_parent

MASTER = Path(__file__).parent / "embedded_master.py"


def alive(pid):
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # It has just ended.
        return False
    return state not in "ZX"


def is_free(port):
    """Return whether nothing listens on a port, so that a server can bind it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError:
            return False
        return True


class TestLeaveWithParent:
    def test_a_killed_master_leaves_no_worker_no_port_and_no_server(self, home, processes, within):
        master, report = processes(MASTER, home, "leave", 2)
        assert not is_free(report["port"])
        assert all(alive(worker) for worker in report["workers"])
        os.kill(master.pid, signal.SIGKILL)
        assert within(lambda: is_free(report["port"]))
        assert within(lambda: not any(alive(worker) for worker in report["workers"]))
        assert within(lambda: reaper.is_down(home))

    def test_everything_killed_at_once_leaves_no_server(self, home, processes, within):
        master, report = processes(MASTER, home, "leave", 2)
        os.killpg(master.pid, signal.SIGKILL)
        assert within(lambda: is_free(report["port"]))
        assert within(lambda: reaper.is_down(home))

    def test_a_killed_worker_takes_nothing_with_it(self, home, processes, ask):
        master, report = processes(MASTER, home, "leave", 2)
        os.kill(report["workers"][0], signal.SIGKILL)
        time.sleep(0.5)
        assert alive(master.pid)
        assert alive(report["workers"][1])
        assert ask(report["url"], "SELECT 1") == (1,)

    def test_a_process_without_such_a_parent_stays(self):
        leave_with_parent()


class TestHold:
    def test_the_server_stays_as_long_as_one_worker_lives(self, home, processes, ask, within):
        master, report = processes(MASTER, home, "stay", 1)
        os.kill(master.pid, signal.SIGKILL)
        time.sleep(0.7)
        assert ask(report["url"], "SELECT 1") == (1,)
        os.kill(report["workers"][0], signal.SIGKILL)
        assert within(lambda: reaper.is_down(home))

    def test_a_hold_given_back_counts_no_more(self, home, processes, within):
        master, _ = processes(MASTER, home, "leave", 0)
        with hold(home) as mine:
            os.kill(master.pid, signal.SIGKILL)
            time.sleep(0.3)
            assert not reaper.is_down(home)
            mine.release()
            assert within(lambda: reaper.is_down(home))
