import subprocess
import sys

import pytest

LATER = {"sqlalchemy", "alembic", "psycopg", "connexion", "jwt", "cryptography"}
SERVING = "cli.main, cli.{}, server.process.startup"


class TestLoading:
    @pytest.mark.parametrize("command", ["partners", "demo.command"])
    def test_a_server_begins_without_what_only_its_workers_need(self, command: str) -> None:
        """Check that the master does not load slow modules, which would stay in its memory."""
        assert LATER.isdisjoint(loaded(SERVING.format(command)))


def loaded(modules: str) -> list[str]:
    text = f"import sys, {modules}; print(*(name for name, each in sys.modules.items() if each))"
    words = [sys.executable, "-W", "ignore", "-c", text]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
