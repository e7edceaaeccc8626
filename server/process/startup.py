"""`serve`: it binds the port and runs the master process.

The master imports little before it starts its workers, because these take longest to load.
"""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import structlog
from uvicorn import Config

from persistence.files.blobs import refuse_unwritable
from server.config.settings import Settings, reader
from server.process.connections import bound_readers
from server.process.database import Begin, Database, GivenUp, database_of
from server.process.delivery_process import deliver_beside_workers
from server.process.kept_process import KeptProcess
from server.process.master import CannotServe, Master, Preparation
from server.process.metrics_process import answer
from server.process.uvicorn_adapter import FORKS
from server.process.worker import build
from server.telemetry import logs

DRAIN_SECONDS = 30
TAKEN = "the port is in use; name another one with --port, or with PORT= for make"
PORT_SECONDS = 5.0  # The workers of a killed master hold its port until they have ended.
LOOK_SECONDS = 0.1
HUNG_SECONDS = 15  # A worker that loads on a busy machine answers late and must not be killed.


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Callbacks of a server's start.

    `begin` is called at each step. `fill` gets the address of the database and may write to it
    before it is served. `when_serving` is called when the first worker answers.
    """

    begin: Begin
    fill: Callable[[str, GivenUp], None]
    when_serving: Callable[[], None]


def serve(settings: Settings, start: Start | None = None) -> None:
    """Serve until a stop signal; requests in progress are finished first.

    Raises CannotServe, UnusableFileStore, EmbeddedError, UnsafeDatabase or UnusableDatabase.
    """
    logs.configure(settings.log_format, settings.log_level)
    logs.adopt()
    log = structlog.get_logger("accounting.server")
    for warning in settings.warnings:
        log.warning(warning)
    # Python started with -c would import modules of the current folder before installed ones.
    os.environ["PYTHONSAFEPATH"] = "1"
    database = database_of(settings)
    waiting, held_back = FORKS.Pipe(duplex=False)
    leaving, staying = FORKS.Pipe(duplex=False)
    read = reader(settings)
    start = start or Start(begin=log.info, fill=lambda *_: None, when_serving=lambda: None)
    preparing = Preparation(
        probe=database.probe,
        work=partial(prepare, settings, database, start),
        held_back=held_back,
        staying=staying,
        leaving_seconds=settings.leaving_seconds,
        when_serving=start.when_serving,
        read_settings=read,
        pages_folder=settings.pages_folder,
    )
    with scraped(settings, database) as scraping:
        beside = [*scraping, KeptProcess(deliver_beside_workers, read, database.url)]
        application = partial(build, read, database.url, database.home, waiting, leaving)
        config = configured(settings, application)
        # A stop signal may come as soon as the port is taken: the master starts to handle it here.
        with listen(settings.host, settings.port) as listener:
            bound_readers(listener)
            Master(config, [listener], database, preparing, beside).run()


def configured(settings: Settings, application: Callable[[], object]) -> Config:
    """Return the configuration of uvicorn for an application that each worker builds."""
    return Config(
        application,
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop="server.process.connections:ServingLoop",
        http="server.process.protocol:GuardedProtocol",
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_config=None,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_worker_healthcheck=HUNG_SECONDS,
    )


def prepare(settings: Settings, database: Database, start: Start, given_up: GivenUp) -> None:
    """Prepare the database and the file store; return early when the start is given up."""
    database.prepare(given_up, start.begin)
    if given_up():
        return
    refuse_unwritable(settings.documents)
    start.fill(database.url, given_up)
    if not given_up():
        start.begin("Starting the server")


@contextmanager
def scraped(settings: Settings, database: Database) -> Iterator[list[KeptProcess]]:
    """Bind the port of metrics and create the folder of counters; nothing where metrics are off."""
    if settings.metrics_at is None:
        yield []
        return
    taken = "the port is in use; name another one in ACCOUNTING_METRICS_PORT"
    with (
        listen(*settings.metrics_at, taken) as listener,
        TemporaryDirectory(prefix="accounting-metrics-") as folder,
    ):
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # The library of all workers reads it.
        yield [KeptProcess(answer, listener, Path(folder), reader(settings), database.url)]


def listen(
    host: str, port: int, taken: str = TAKEN, seconds: float = PORT_SECONDS
) -> socket.socket:
    """Bind a port before any process is started; wait up to `seconds` until it is free.

    Raises CannotServe where that fails.
    """
    deadline = time.monotonic() + seconds
    told = False
    while True:
        try:
            return bind(host, port)
        except OSError as error:
            in_use = error.errno == errno.EADDRINUSE
            if not in_use or time.monotonic() > deadline:
                why = taken if in_use else error.strerror
                raise CannotServe(f"Cannot listen on {host} port {port}: {why}.") from error
        if not told:
            structlog.get_logger("accounting.server").warning("waiting_for_port", port=port)
        told = True
        time.sleep(LOOK_SECONDS)


def bind(host: str, port: int) -> socket.socket:
    """Bind a port, on both versions of IP where the address allows it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    return socket.create_server((host, port), family=family, dualstack_ipv6=both)
