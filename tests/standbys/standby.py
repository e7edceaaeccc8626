"""A second PostgreSQL that follows a first one, and what becomes of both."""

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
from tests.processes.serving import children_of

EAGER = {"wal_retrieve_retry_interval": "200ms"}  # Else it looks for a primary every 5 s.
# Only processes end, so that no disk is waited for; what is acknowledged is written all the same.
FOLLOWED = {**TEST_SETTINGS, **EAGER, "synchronous_commit": "on"}


def standby_of(primary: EmbeddedPostgres, home: Path, **settings: str) -> EmbeddedPostgres:
    """Copy a primary at work; what is returned follows it once it is started."""
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
    """Let a standby become a server like any other."""
    [data] = postgres.home.glob("pg*/")
    (data / "promote").touch()
    os.kill(first_process(postgres), signal.SIGUSR1)


def kill_outright(postgres: EmbeddedPostgres) -> None:
    """Let a server end at once, with all its processes; nobody starts it again."""
    first = first_process(postgres)
    for pid in (first, *children_of(first)):
        with suppress(ProcessLookupError):  # Each also ends by itself once the first has.
            os.kill(pid, signal.SIGKILL)


def first_process(postgres: EmbeddedPostgres) -> int:
    """The id of the process that started all others of a server."""
    pid = wire.listener_pid(places.socket_path(postgres.home))
    assert pid is not None
    return pid


def order(postgres: EmbeddedPostgres, *statements: str) -> None:
    """Tell a server something as its owner."""
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as owner:
        for statement in statements:
            owner.execute(statement.encode())


def follows(primary: EmbeddedPostgres, what: str = "state = 'streaming'") -> bool:
    """Whether something holds of the standby of a primary."""
    asked = f"SELECT FROM pg_stat_replication WHERE {what}"
    with psycopg.connect(primary.url("postgres"), autocommit=True) as owner:
        return owner.execute(asked.encode()).fetchone() is not None


def wait_until_followed(primary: EmbeddedPostgres, what: str = "state = 'streaming'") -> None:
    """Return when it does."""
    assert within(PATIENCE_SECONDS, lambda: follows(primary, what))


def wait_for_each_write(primary: EmbeddedPostgres) -> None:
    """From now on, let nothing be acknowledged before the standby has it, too."""
    order(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    wait_until_followed(primary, "sync_state = 'sync'")


def either(*urls: str, **options: str) -> str:
    """An address that names the servers of several, in their order."""
    parts = [conninfo_to_dict(url) for url in urls]
    asked: Mapping[str, str] = {
        "host": ",".join(str(part["host"]) for part in parts),
        "port": ",".join(str(part["port"]) for part in parts),
        **options,
    }
    query = "&".join(f"{name}={value}" for name, value in asked.items())
    return f"postgresql://{parts[0]['user']}@/{parts[0]['dbname']}?{query}"
