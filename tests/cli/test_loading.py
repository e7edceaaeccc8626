import subprocess
import sys

import pytest

LOADED = "import sys, cli.main, cli.{}, server.process.serving; print('sqlalchemy' in sys.modules)"


class TestLoading:
    @pytest.mark.parametrize("command", ["partners", "demo.command"])
    def test_a_server_begins_without_what_only_its_workers_need(self, command: str) -> None:
        """They take longest to load, so that whatever is loaded before them delays all."""
        words = [sys.executable, "-W", "ignore", "-c", LOADED.format(command)]
        assert subprocess.run(words, check=True, capture_output=True).stdout == b"False\n"
