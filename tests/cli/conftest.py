"""A server and a command line over the same database."""

from pathlib import Path

import pytest

from tests.api_server import ApiServer
from tests.command_line import CommandLine


@pytest.fixture(scope="module")
def command_line(own_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("data"), own_server.database_url)


@pytest.fixture
def bare_command_line(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "data")
