"""The memory that a worker keeps after it has answered requests."""

from pathlib import Path
from typing import Any

from tests.partner import Business
from tests.processes.server_process import Server

WARM_UP, ROUNDS = 160, 100
MOST_KEPT_KB = 500  # For 500 requests: a kilobyte for each is too much.

CUSTOMER = {"company_name": "Corner Bakery"}
LINE = {"description": "Bread", "quantity": 1, "unit_price": 1000}


def private_kilobytes(pid: int) -> int:
    """Return the memory of a process that it does not share with its parent."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    [found] = [line.split()[1] for line in lines if line.startswith("Private_Dirty:")]
    return int(found)


def trade(business: Business, customer_id: Any) -> None:
    """Send five requests: a write, a read, a list, a refused write, and a page."""
    invoice = {"customer_id": customer_id, "sent_at": "2025-01-31T12:00:00Z", "line_items": [LINE]}
    made = business.api.post("invoices/", json=invoice)
    assert made.status_code == 201
    assert business.api.get(f"invoices/{made.json()['id']}/").status_code == 200
    assert business.api.get("invoices/?status=issued").status_code == 200
    refused = business.api.post("invoices/", json={"line_items": [{"unknown": 1}] * 100})
    assert refused.status_code == 400
    assert business.api.get(f"{business.partner.url}/openapi.json").status_code == 200


class TestMaster:
    def test_it_holds_nothing_that_has_read_its_command_line(self, lived_in: Path) -> None:
        with Server(lived_in, "--development", "--workers", "1") as server:
            words = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().split(b"\0")
            maps = Path(f"/proc/{server.process.pid}/maps").read_text()
        assert b"cli.server_start" in words
        assert "pydantic" not in maps


class TestWorker:
    def test_it_keeps_nothing_of_what_it_has_answered(self, lived_in: Path) -> None:
        with Server(lived_in, "--development", "--workers", "1") as server:
            [worker] = server.wait_for_workers(1)
            business = server.partner().business()
            customer_id = business.api.post("customers/", json=CUSTOMER).json()["id"]
            for _ in range(WARM_UP):
                trade(business, customer_id)
            before = private_kilobytes(worker)
            for _ in range(ROUNDS):
                trade(business, customer_id)
            kept = private_kilobytes(worker) - before
        assert kept < MOST_KEPT_KB
