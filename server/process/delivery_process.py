"""The process that delivers webhooks: beside the workers of a server, or alone.

The master imports this module, which imports what it needs only in the process itself.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Final

from server.config.settings import Settings

if TYPE_CHECKING:
    from jobs.deliveries import DeliveryCounts

CONNECTIONS: Final = 4


def deliver_beside_workers(read: Callable[[], Settings], database_url: str) -> None:
    """Deliver until a signal ends this process or its parent is gone."""
    from libraries.embedded import users
    from server.telemetry import logs

    users.leave_with_parent()
    settings = read()
    logs.configure(settings.log_format, settings.log_level)
    deliver(settings, database_url, counts_of(settings))


def deliver(settings: Settings, database_url: str, counts: "DeliveryCounts") -> None:
    """Deliver webhooks until SIGTERM or SIGINT; what is being sent then has three seconds.

    Raises UnsafeDatabase or UnusableDatabase.
    """
    import structlog
    import uvloop

    from access.webhook_secrets import SecretVault
    from jobs.deliveries import Deliverer
    from persistence.engine.pool import make_pool
    from server.outbound import make_client

    log = structlog.get_logger("accounting.webhooks")

    async def work() -> None:
        stopping = asyncio.Event()
        for each in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(each, stopping.set)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        async with make_pool(database_url, size=CONNECTIONS) as pool:
            with closing(make_client(settings)) as client:
                deliverer = Deliverer(pool, client, SecretVault(settings.secrets), counts)
                log.info("delivering", pid=os.getpid())
                await deliverer.run(stopping)
        log.info("delivered", pid=os.getpid())

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())


def counts_of(settings: Settings) -> "DeliveryCounts":
    """Return the counters of the process; their library is loaded only if metrics are served."""
    from server.telemetry.request_watch import NoDeliveryCounts

    if settings.metrics_at is None:
        return NoDeliveryCounts()
    from server.telemetry.metrics import PrometheusDeliveryCounts

    return PrometheusDeliveryCounts()
