"""The master process: it checks the contract, binds the port and keeps the workers alive."""

from functools import partial
from pathlib import Path

import openapi_spec_validator
import structlog
import uvicorn
from uvicorn.supervisors import Multiprocess

from server import logs
from server.contract import parse, read_source
from server.protocol import GuardedProtocol
from server.settings import Settings
from server.worker import build

DRAIN_SECONDS = 30


def serve(settings: Settings, database_url: str, postgres_home: Path | None) -> None:
    """Serve until a signal says stop; requests under way are finished first.

    Raises what openapi-spec-validator raises where the contract is not valid.
    """
    logs.configure()
    log = structlog.get_logger("accounting.server")
    openapi_spec_validator.validate(parse(read_source()))
    for warning in settings.warnings:
        log.warning(warning)
    config = uvicorn.Config(
        partial(build, settings, database_url, postgres_home),
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        loop="uvloop",
        http=GuardedProtocol,
        ws="none",
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="warning",
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )
    sockets = [config.bind_socket()]
    log.info("serving", host=settings.host, port=settings.port, workers=settings.workers)
    Multiprocess(config, sockets=sockets).run()
