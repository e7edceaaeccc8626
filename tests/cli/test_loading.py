import subprocess
import sys

LOADED = "import sys, cli.main, server.process.serving; print('sqlalchemy' in sys.modules)"


class TestLoading:
    def test_a_server_begins_without_what_only_its_workers_need(self) -> None:
        """They take longest to load, so that whatever is loaded before them delays all."""
        words = [sys.executable, "-W", "ignore", "-c", LOADED]
        assert subprocess.run(words, check=True, capture_output=True).stdout == b"False\n"
