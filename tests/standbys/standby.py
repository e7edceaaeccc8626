"""A PostgreSQL that follows another one, and actions on both."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from libraries.embedded import identity, places, wire
from libraries.embedded.binaries import find_programs
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from tests.partner import PATIENCE_SECONDS, within
from tests.processes.server_process import children_of

EAGER = {"wal_retrieve_retry_interval": "200ms"}  # By default it looks for a primary every 5 s.
# Only processes are killed, so no fsync is needed; acknowledged commits are written anyway.
FOLLOWED = {**TEST_SETTINGS, **EAGER, "synchronous_commit": "on"}


def standby_of(primary: EmbeddedPostgres, home: Path, **settings: str) -> EmbeddedPostgres:
    """Copy a running primary; return a server that follows it once it is started."""
    home.mkdir(mode=0o700)
    programs = find_programs()
    runner = identity.choose_identity(home, programs)
    data = home / f"pg{programs.major}"
    url = primary.url("postgres")
    done = subprocess.run(
        runner.command("pg_basebackup", "-d", url, "-D", str(data), "-c", "fast", "--no-sync"),
        capture_output=True,
        text=True,
        check=False,
        **runner.options(),
    )
    assert done.returncode == 0, done.stderr
    (data / "standby.signal").touch()
    followed = make_conninfo(url, application_name="standby", dbname="")
    return EmbeddedPostgres(home, {"primary_conninfo": followed, **settings})


def promote(postgres: EmbeddedPostgres) -> None:
    """Turn a standby into a primary."""
    [data] = postgres.home.glob("pg*/")
    (data / "promote").touch()
    os.kill(first_process(postgres), signal.SIGUSR1)


def kill_outright(postgres: EmbeddedPostgres) -> None:
    """Send SIGKILL to all processes of a server; it is not started again."""
    first = first_process(postgres)
    for pid in (first, *children_of(first)):
        with suppress(ProcessLookupError):  # Each ends by itself when the first one is gone.
            os.kill(pid, signal.SIGKILL)


def first_process(postgres: EmbeddedPostgres) -> int:
    """Return the ID of the first process of a server."""
    pid = wire.listener_pid(places.socket_path(postgres.home))
    assert pid is not None
    return pid


def order(postgres: EmbeddedPostgres, *statements: str) -> None:
    """Execute statements on a server as its owner."""
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


def follows(primary: EmbeddedPostgres, what: str = "state = 'streaming'") -> bool:
    """Return whether a condition holds for the standby of a primary."""
    asked = f"SELECT FROM pg_stat_replication WHERE {what}"
    with psycopg.connect(primary.url("postgres"), autocommit=True) as owner:
        return owner.execute(asked.encode()).fetchone() is not None


def wait_until_followed(primary: EmbeddedPostgres, what: str = "state = 'streaming'") -> None:
    """Return when `follows` does so."""
    assert within(PATIENCE_SECONDS, lambda: follows(primary, what))


def wait_for_each_write(primary: EmbeddedPostgres) -> None:
    """Set the primary to acknowledge each commit only after the standby has it."""
    order(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    wait_until_followed(primary, "sync_state = 'sync'")


def either(*urls: str, **options: str) -> str:
    """Return an address with the hosts of several addresses, in their order."""
    parts = [conninfo_to_dict(url) for url in urls]
    asked: Mapping[str, str] = {
        "host": ",".join(str(part["host"]) for part in parts),
        "port": ",".join(str(part["port"]) for part in parts),
        **options,
    }
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"postgresql://{parts[0]['user']}@/{parts[0]['dbname']}?{query}"
