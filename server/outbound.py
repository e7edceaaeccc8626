"""The client for requests to hosts that partners have named."""

from libraries.outbound.client import Client
from server.config.settings import Settings


def make_client(settings: Settings) -> Client:
    """Create the client for hosts of strangers; in development it also reaches loopback."""
    return Client(loopback=settings.development, proxy=settings.webhook_proxy)
