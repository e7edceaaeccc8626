"""`compose.yaml` without containers: its logins, its commands, its health check."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import yaml

from libraries.embedded.postgres import EmbeddedPostgres
from tests.command_line import CommandLine
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port
from tests.processes.server_process import Server, secrets

GIVEN = {
    "OWNER_PASSWORD": "0wner",
    "SERVER_PASSWORD": "s3rver",
    "ACCOUNTING_SECRET_KEYS": secrets(),
}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Return the file with its variables replaced, as Compose does."""
    source = Path(__file__).parents[2].joinpath("compose.yaml").read_text(encoding="utf-8")
    text = re.sub(
        r"\$\{(\w+)(?::([?-])([^}]*))?\}",
        lambda found: GIVEN.get(found[1], found[3]) if found[2] == "-" else GIVEN[found[1]],
        source,
    )
    read: dict[str, Any] = yaml.safe_load(text)
    return read


@pytest.fixture
def postgres(fresh_folder: Path, compose: dict[str, Any]) -> Iterator[EmbeddedPostgres]:
    """A server as its image creates it: an owner and a database, then the configured logins."""
    told = compose["services"]["database"]["environment"]
    with EmbeddedPostgres(fresh_folder / "postgres") as postgres:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {told['POSTGRES_USER']} SUPERUSER LOGIN")
            connection.execute(f"CREATE DATABASE {told['POSTGRES_DB']}")
        with psycopg.connect(postgres.url(told["POSTGRES_DB"])) as connection:
            connection.execute(compose["configs"]["logins"]["content"])
        yield postgres


def settings(service: dict[str, Any], postgres: EmbeddedPostgres) -> dict[str, str]:
    """Return the environment of a service, with the address of this database."""
    place = postgres.url().partition("@")[2]
    return {
        name: value.replace("@database/accounting", f"@{place}")
        for name, value in service["environment"].items()
    }


class TestCompose:
    def test_it_migrates_and_serves_with_a_login_that_may_not_rewrite(
        self, fresh_folder: Path, compose: dict[str, Any], postgres: EmbeddedPostgres
    ) -> None:
        migrate, serve = compose["services"]["migrate"], compose["services"]["server"]
        CommandLine(fresh_folder).did(*migrate["command"], **settings(migrate, postgres))
        verb, *words = serve["command"]
        assert verb == "serve"
        where, metrics = settings(serve, postgres), str(free_port())
        port = where["ACCOUNTING_METRICS_PORT"]
        assert f"127.0.0.1:{port}:{port}" in serve["ports"]
        where["ACCOUNTING_METRICS_PORT"] = metrics
        with Server(fresh_folder, *words, **where) as server:
            *_, code = serve["healthcheck"]["test"]
            asked = [sys.executable, "-c", code.replace(":8000/", f":{server.port}/")]
            assert within(PATIENCE_SECONDS, lambda: server.serves)
            assert subprocess.run(asked, check=False).returncode == 0
            told = httpx.get(f"http://127.0.0.1:{metrics}/metrics").text
            assert "accounting_database_up 1.0" in told
            # Plain HTTP, without a proxy's header.
            assert server.get("/v1/platform/businesses/").status_code == 403
        assert server.process.returncode == 0
        url = settings(serve, postgres)["DATABASE_URL"]
        with (
            psycopg.connect(url) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("UPDATE journal_line SET debit = 0")
