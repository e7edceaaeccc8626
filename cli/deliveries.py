"""`accounting deliver`: a process that only delivers webhooks."""

from server.config import settings
from server.process.delivery_process import deliver
from server.telemetry.request_watch import NoDeliveryCounts


def deliver_webhooks(*, development: bool) -> None:
    """Deliver the webhooks of a database until a signal."""
    from cli.databases import ready
    from server.telemetry import logs

    loaded = settings.load(development=development)
    logs.configure(loaded.log_format, loaded.log_level)
    with ready(loaded) as database:
        deliver(loaded, database.url, NoDeliveryCounts())
