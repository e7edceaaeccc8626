"""A house and the operator's desk over the same database."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.desk import Desk
from tests.house import Databases, House


@pytest.fixture(scope="module")
def premises(databases: Databases) -> Iterator[House]:
    with House(databases.clone(f"desk_{os.getpid()}")) as house:
        yield house


@pytest.fixture(scope="module")
def desk(premises: House, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("data"), premises.database_url)


@pytest.fixture
def bare_desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "data")
