"""The number of product files that each of four requests enters in a running server.

`python -m pytest tests/house/test_trace.py -s` prints them. The first call of each request does not
count, because it fills caches. Of the next two, the one with fewer files counts: background work of
the server may fall into a call.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.builders.sales import INVOICES, PAYMENTS, invoice_body, part, payment_body, sent
from tests.builders.trade import SENT as DAY_OF_TRADE
from tests.partner import Business

ROOT = Path(__file__).parents[2]
# The most product files that a request may enter. A change that needs more gives the reason.
# The three that need a day enter `time_zones.py`, since no other file may make one. A payment may
# have a receipt. A body may name records by external id, and a change makes events (four files).
# Scopes of stores and tenants of sessions have a file each. A posting reads its party's columns.
# An amount may be in a foreign currency: its rate, its base, and the columns of both (four files).
MOST = {"GET customer": 35, "POST invoice": 77, "POST payment": 77, "GET profit and loss": 45}


class Tracer:
    """A collector of the product files whose functions are called while it is on."""

    def __init__(self) -> None:
        self.files: list[str] | None = None

    def hook(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Record the file of a call; for `threading.setprofile`."""
        if event != "call" or self.files is None:
            return
        name = os.path.relpath(frame.f_code.co_filename, ROOT)
        if not name.startswith(("..", "tests", ".venv", "<")) and name not in self.files:
            self.files.append(name)

    @contextmanager
    def on(self) -> Iterator[list[str]]:
        """Collect files in the block."""
        self.files = found = []
        try:
            yield found
        finally:
            self.files = None


@pytest.fixture(scope="module")
def tracer() -> Iterator[Tracer]:
    tracer = Tracer()
    threading.setprofile(tracer.hook)
    yield tracer
    threading.setprofile(None)


@pytest.fixture(scope="module")
def shop(tracer: Tracer, databases: Any) -> Iterator[Business]:
    assert tracer.files is None
    with ApiServer(databases.clone(f"traced_{os.getpid()}")) as server:
        yield server.partner("Traced").business()


@pytest.mark.parametrize("name", MOST)
def test_a_request_enters_no_more_files_than_before(
    name: str, shop: Business, tracer: Tracer
) -> None:
    calls = {
        "GET customer": lambda: shop.api.get(f"customers/{buyer['id']}/"),
        "POST invoice": lambda: shop.api.post(
            INVOICES, json=invoice_body(buyer, sent_at=DAY_OF_TRADE)
        ),
        "POST payment": lambda: shop.api.post(PAYMENTS, json=paying()),
        "GET profit and loss": lambda: shop.api.get(
            "reports/profit-and-loss/?basis=cash&start_date=2025-01-01&end_date=2025-12-31"
        ),
    }
    buyer = shop.customer()
    invoices = [sent(shop, buyer) for _ in range(3)]

    def paying() -> dict[str, Any]:
        invoice = invoices.pop()
        return payment_body(buyer, allocations=[part(invoice, 100)])

    calls[name]()
    traces = []
    for _ in range(2):
        with tracer.on() as files:
            answer = calls[name]()
        assert answer.status_code in (200, 201), answer.text
        traces.append(files)
    files = min(traces, key=len)
    sys.stdout.write(f"\n{name}: {len(files)} files\n")
    if "TRACE" in os.environ:
        sys.stdout.write("\n".join(files) + "\n")
    assert len(files) <= MOST[name], files
