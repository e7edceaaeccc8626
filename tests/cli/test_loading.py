import subprocess
import sys

import pytest

LATER = {"sqlalchemy", "alembic", "psycopg", "connexion", "jwt", "cryptography"}
LOADED = "import sys, cli.main, cli.{}, server.process.serving; print(*sys.modules)"


class TestLoading:
    @pytest.mark.parametrize("command", ["partners", "demo.command"])
    def test_a_server_begins_without_what_only_its_workers_need(self, command: str) -> None:
        """They take longest to load, and would stay in the memory of the master."""
        words = [sys.executable, "-W", "ignore", "-c", LOADED.format(command)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        assert LATER.isdisjoint(done.stdout.split())
