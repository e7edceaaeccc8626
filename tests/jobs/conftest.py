"""Fixtures of background work."""

from collections.abc import Iterator

import pytest

from tests.api_server import ApiServer
from tests.partner import Business, Partner


@pytest.fixture
def shop(partner: Partner) -> Business:
    return partner.business()


@pytest.fixture
def no_endpoints(own_server: ApiServer) -> Iterator[None]:
    """Remove all webhook endpoints, before and after a test."""

    def clear() -> None:
        for table in ("secret", "health", "endpoint", "delivery", "feed"):
            own_server.watcher.execute(f"DELETE FROM webhook_{table}")

    clear()
    yield
    clear()
