"""The published contract, and the pages written from it."""

from typing import Any

import pytest

from server.contract.document import parse, read_source
from server.contract.published import published
from server.docs.reference.site import site


@pytest.fixture(scope="package")
def contract() -> dict[str, Any]:
    document: dict[str, Any] = parse(published(read_source()))
    return document


@pytest.fixture(scope="package")
def files(contract: dict[str, Any]) -> dict[str, str]:
    return site(contract)
