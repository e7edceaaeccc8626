"""The server under test, with its own database and port."""

import asyncio
import fcntl
import gc
import shutil
import socket
import tempfile
import threading
import time
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, LiteralString, Self
from uuid import UUID

import psycopg
import uvicorn

from access import api_keys
from access.master_secrets import MasterSecret
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.outbound.client import Client
from libraries.outbound.resolver import system_lookup
from persistence.database import rights
from persistence.database.distribution import is_distributed
from persistence.database.migrate import migrate
from persistence.engine import connections, pool, replica, transaction
from persistence.files.blobs import Folder
from persistence.partners import partners, sandboxes
from server.app import create_app
from server.clock import Clock
from server.config.settings import Settings
from server.process.protocol import GuardedProtocol
from server.telemetry.request_watch import Watch
from tests import clock
from tests.partner import PATIENCE_SECONDS, Business, Partner
from tests.poolers.pgbouncer import served_url
from tests.prover import Prover

SECRET = MasterSecret("test", bytes(range(32)))

# A busy machine may pause for longer than the limits of requests, so tests use long ones. A test of
# a limit sets it.
pool.CONNECT_SECONDS = transaction.WAIT_FOR_KEY_SECONDS = PATIENCE_SECONDS
replica.ANSWER_SECONDS = PATIENCE_SECONDS
connections.LIMITS.update(
    {
        limit: f"{PATIENCE_SECONDS:.0f}s"
        for limit in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
    }
)


# The owner of the schema, as an operator creates it: forced row security applies to it, and to what
# the database does with its owner's rights.
OWNER = "house_owner"


def as_owner(database_url: str) -> str:
    """Return the address of a database for its owner."""
    return database_url.replace("//accounting@", f"//{OWNER}@")


def look_up(host: str) -> list[str]:
    """Resolve the hosts of examples to a public address, and others as the system does."""
    return ["93.184.215.14"] if host.endswith(".example.com") else system_lookup(host)


class Databases:
    """Databases of a run: migrated once into a template, and cloned for each use."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self.postgres = postgres
        with (postgres.home / "template.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
                made = connection.execute(
                    "SELECT 1 FROM pg_database WHERE datname = 'template_ready'"
                ).fetchone()
                if made is None:
                    postgres.create_database("template")
                    connection.execute(f"CREATE ROLE {OWNER} LOGIN")
                    connection.execute(rights.script(OWNER, OWNER).encode())
                    connection.execute(f"ALTER DATABASE template OWNER TO {OWNER}")
                    migrate(as_owner(postgres.url("template")))
                    connection.execute("ALTER DATABASE template RENAME TO template_ready")

    def clone(self, name: str) -> str:
        """Return the address of a fresh migrated database."""
        with (self.postgres.home / "template.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with psycopg.connect(self.postgres.url("postgres"), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
                connection.execute(
                    f"CREATE DATABASE {name} TEMPLATE template_ready STRATEGY file_copy"
                )
        return self.postgres.url(name)


class ApiServer:
    """A server over one database; in development mode, to serve plain HTTP on loopback."""

    def __init__(
        self,
        database_url: str,
        *,
        clock: Clock = clock.now,
        watch: Watch | None = None,
        **changes: Any,
    ) -> None:
        self.database_url = database_url
        self.clock = clock
        self.folder = Path(tempfile.mkdtemp(prefix="documents-"))
        self.settings = settings(**{"documents": Folder(self.folder), **changes})
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.partners: list[Partner] = []
        self.counted: tuple[list[Any], dict[str, tuple[int, int]]] = ([], {})
        config = uvicorn.Config(
            create_app(
                self.settings,
                served_url(database_url),
                durable=False,
                clock=clock,
                watch=watch,
                outbound=Client(loopback=True, lookup=look_up),
            ),
            http=GuardedProtocol,
            ws="none",
            lifespan="on",
            proxy_headers=False,
            server_header=False,
            access_log=False,
            log_config=None,
            # A connection that closes while its client sends looks like a lost answer. By default
            # it closes after 5 s, and a busy machine may pause for as long.
            timeout_keep_alive=30,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, args=([self.listener],), daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.server.started:
            assert self.thread.is_alive(), "the server failed to start"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for partner in self.partners:
            for client in partner.clients:
                client.close()
        for kept in ("watcher", "prover"):
            if kept in self.__dict__:
                getattr(self, kept).close()
        self.server.should_exit = True
        self.thread.join(timeout=PATIENCE_SECONDS)
        self.listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        del self.server
        gc.collect()  # An application has cycles, and is as large as ten thousand tests.

    def partner(self, name: str) -> Partner:
        """Create a partner as the command line does."""
        key = api_keys.make_key("test")

        async def create() -> Any:
            async with pool.make_pool(self.database_url, size=1) as connections:
                sealed = api_keys.seal_key(key.text)
                return await partners.create_partner(
                    connections, name, key.key_id, sealed, self.clock()
                )

        partner = Partner(self.url, asyncio.run(create()), key.text)
        self.partners.append(partner)
        return partner

    def prepare_sandboxes(self) -> Business:
        """Create the template of sandboxes, a business with only a chart of accounts; return it."""
        business = self.partner("Template of sandboxes").business(name="Tidewater Roasters")

        async def make() -> None:
            async with pool.make_pool(self.database_url, size=1) as connections:
                await sandboxes.make_template(connections, UUID(business.id))

        asyncio.run(make())
        return business

    def query(self, text: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Execute a statement as the database's superuser, without row security."""
        return self.watcher.execute(text, parameters).fetchall()

    def stored(self) -> dict[str, tuple[int, int]]:
        """Return for each table the number of its rows, and how often they were changed."""
        seen = self.watcher.execute(self.seeing).fetchall()
        if seen != self.counted[0]:  # Without a new commit the counts are the same.
            rows = self.watcher.execute(self.counting)
            self.counted = seen, {table: (count, versions) for table, count, versions in rows}
        return self.counted[1]

    @cached_property
    def watcher(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A permanent connection: opening one costs more than most queries."""
        return psycopg.connect(self.database_url, autocommit=True)

    @cached_property
    def prover(self) -> Prover:
        """A prover of the books with its own connection, which saves half of the time."""
        return Prover(self.database_url)

    @cached_property
    def seeing(self) -> LiteralString:
        """The query for the visible commits; each machine of a cluster commits on its own."""
        if is_distributed(self.watcher):
            return (
                "SELECT pg_current_snapshot()::text UNION ALL"
                " SELECT result FROM run_command_on_workers('SELECT pg_current_snapshot()')"
                " ORDER BY 1"
            )
        return "SELECT pg_current_snapshot()::text"

    @cached_property
    def counting(self) -> str:
        """The query for all stored rows, except those that reads write.

        These are the request counts of the workers, and the placements of events.
        """
        tables = self.query(
            "SELECT c.relname, bool_or(a.attname = 'version') FROM pg_class c"
            " JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace"
            " AND c.relname NOT IN ('request_count', 'unplaced_event', 'event_placement')"
            " GROUP BY 1 ORDER BY 1"
        )
        return " UNION ALL ".join(
            f"SELECT '{table}', count(*), {'coalesce(sum(version), 0)' if versioned else '0'}"
            f" FROM {table}"
            for table, versioned in tables
        )


def settings(**changes: Any) -> Settings:
    """Return the settings of a development server for tests."""
    values: dict[str, Any] = {
        "database_url": None,
        "admin_database_url": None,
        "data_dir": Path("/nonexistent"),
        "documents": Folder(Path("/nonexistent/documents")),
        "log_format": "json",
        "log_level": "info",
        "public_url": "",
        "answer_seconds": PATIENCE_SECONDS,
        "connections_per_address": 0,
        "leaving_seconds": 0,
        "requests_per_minute_partner": 10_000_000,  # No test reaches the limit by accident.
        "requests_per_minute_business": 10_000_000,
        "database_connections": 32,  # A business writes over eight, which some races need.
        "read_database_url": None,
        "read_lag_seconds": 10,
        "upkeep_seconds": 0,
        "slow_seconds": 1.0,
        "metrics_at": None,
        "traced": False,
        "host": "127.0.0.1",
        "port": 0,
        "workers": 1,
        "development": True,
        "tls_cert": None,
        "tls_key": None,
        "secrets": (SECRET,),
        "allowed_origins": frozenset(),
        "forwarded_allow": (),
        "webhook_proxy": None,
        "warnings": (),
    }
    return Settings(**{**values, **changes})
