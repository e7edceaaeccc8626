"""The requests of every case as bytes; all servers have the same paths and bodies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

import orjson

from tools.bench.cases import CREATE, LIST, PAGE, PAY, PLAIN, READ, REPORT, TOTAL, Case

MOST = 20_000  # The most different requests of a case; then they are repeated.


@dataclass(frozen=True, slots=True)
class Tenant:
    """A business of one server: its token, customers, and unpaid invoices with their customers."""

    id: UUID
    token: str
    customers: Sequence[UUID]
    unpaid: Sequence[tuple[UUID, UUID]] = ()
    cursor: str = ""  # The cursor of the page of invoices that is read.

    @property
    def path(self) -> str:
        return f"/v1/platform/businesses/{self.id}"


def write(case: Case, tenants: Sequence[Tenant]) -> list[bytes]:
    """Return the requests of a case, which alternate between businesses."""
    sources = [_requests(case, each) for each in tenants]
    turns = zip(*(islice(source, MOST // len(tenants)) for source in sources), strict=False)
    return [request for turn in turns for request in turn]


def _requests(case: Case, tenant: Tenant) -> Iterator[bytes]:
    if case == CREATE:
        for place in range(MOST):
            customer = tenant.customers[place % len(tenant.customers)]
            yield post(f"{tenant.path}/invoices/", tenant.token, invoice(customer, place))
    elif case == PAY:
        for invoice_id, customer in tenant.unpaid:
            body = payment(invoice_id, customer)
            yield post(f"{tenant.path}/invoices/payments/", tenant.token, body)
    else:
        for address in _addresses(case, tenant):
            yield get(f"{tenant.path}/{address}", tenant.token)


def _addresses(case: Case, tenant: Tenant) -> list[str]:
    """Return the paths that are read in a case, below the path of the business."""
    if case == READ:
        return [f"customers/{customer}/" for customer in tenant.customers]
    overdue = "invoices/?status=overdue&page_size=20"
    cursor = f"&cursor={tenant.cursor}" if tenant.cursor else ""
    address = {
        LIST: overdue,
        TOTAL: overdue,
        PLAIN: f"{overdue}&count=false",
        PAGE: f"invoices/?page_size=20&count=false{cursor}",
        REPORT: "general-ledger/chart-of-accounts/hierarchy/",
    }
    return [address[case]]


def invoice(customer_id: UUID, place: int) -> dict[str, Any]:
    """Return an invoice of two lines with one tax rate, sent on one of 336 days of a year."""
    month, day = place % 12 + 1, place // 12 % 28 + 1
    return {
        "customer_id": str(customer_id),
        "sent_at": f"2025-{month:02}-{day:02}T09:00:00Z",
        "line_items": [
            {"description": what, "quantity": quantity, "unit_price": price, "tax_rate": 20}
            for what, quantity, price in (
                ("Espresso beans, 1 kg", 3, 1850),
                ("Oat milk, case", 2, 1420 + place % 100),
            )
        ],
    }


def payment(invoice_id: UUID, customer_id: UUID) -> dict[str, Any]:
    """Return a payment of a small part of an invoice, which can be repeated many times."""
    return {
        "customer_id": str(customer_id),
        "total_amount_cents": 100,
        "payment_date": "2026-01-15",
        "currency": "GBP",
        "payment_method": "bank_transfer",
        "allocations": [{"invoice_id": str(invoice_id), "amount_cents": 100}],
    }


def get(path: str, token: str) -> bytes:
    """Return a GET request."""
    return _head("GET", path, token) + b"\r\n"


def post(path: str, token: str, body: dict[str, Any]) -> bytes:
    """Return a POST request with a JSON body."""
    sent = orjson.dumps(body)
    length = f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
    return _head("POST", path, token) + length.encode() + sent


def _head(method: str, path: str, token: str) -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Accept: application/json",
        "User-Agent: bench",
        f"Authorization: Bearer {token}",
    ]
    return "".join(f"{line}\r\n" for line in lines).encode()
