"""`serve`: bind the port and hand over to the master process.

The master imports little before its workers are under way: they take longest to load.
"""

import multiprocessing
import socket
from functools import partial

import structlog
import uvicorn

from server import logs
from server.process.database import database_of
from server.process.master import CannotServe, Master
from server.process.worker import build
from server.settings import Settings

DRAIN_SECONDS = 30
HUNG_SECONDS = 15  # A worker that loads on a busy machine answers late, and must not be killed.


def serve(settings: Settings) -> None:
    """Serve until a signal says stop; requests under way are finished first.

    Raises CannotServe, EmbeddedError, UnsafeDatabase or UnusableDatabase.
    """
    logs.configure(settings.log_format)
    logs.adopt()
    log = structlog.get_logger("accounting.server")
    for warning in settings.warnings:
        log.warning(warning)
    database = database_of(settings)
    waiting, held_back = multiprocessing.get_context("spawn").Pipe(duplex=False)
    config = uvicorn.Config(
        partial(build, settings, database.url, database.home, waiting),
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop="uvloop",
        http="server.protocol:GuardedProtocol",
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
    with listen(settings.host, settings.port) as door:
        Master(config, [door], database=database, held_back=held_back).run()


def listen(host: str, port: int) -> socket.socket:
    """Take the port, before anything else is started; raises CannotServe where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        return socket.create_server((host, port), family=family, dualstack_ipv6=both)
    except OSError as error:
        raise CannotServe(f"Cannot listen on {host} port {port}: {error.strerror}.") from error
