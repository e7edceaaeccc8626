"""The prerequisites of an operator: two logins, and the programs in the pages."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from tests.processes.conftest import fresh_folder

__all__ = ["fresh_folder"]

LOGINS = """
CREATE ROLE owner LOGIN CREATEROLE;
CREATE ROLE server LOGIN;
CREATE ROLE archivist LOGIN REPLICATION;
CREATE DATABASE accounting OWNER owner;
"""


@pytest.fixture
def cluster(fresh_folder: Path) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL as a provider delivers it: an owner that is no superuser, and a login."""
    with EmbeddedPostgres(fresh_folder / "cluster") as postgres:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            for statement in LOGINS.strip().split("\n"):
                connection.execute(statement.encode())
        yield postgres
