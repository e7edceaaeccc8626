"""The raw peer, written by hand: Starlette, SQL in pipelines, orjson, and nothing unnecessary."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import orjson
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tools.bench.peers import environment
from tools.bench.peers import statements as sql
from tools.bench.peers.environment import draw_line

Pool = AsyncConnectionPool[AsyncConnection[DictRow]]
BASE = "/v1/platform/businesses/{business_id:uuid}"


def create_app() -> Starlette:
    """Build the application; the pool rolls back a transaction that a handler leaves open."""
    routes = [
        Route(f"{BASE}/customers/{{customer_id:uuid}}/", read_customer),
        Route(f"{BASE}/invoices/", list_invoices),
        Route(f"{BASE}/invoices/", create_invoice, methods=["POST"]),
        Route(f"{BASE}/invoices/payments/", create_payment, methods=["POST"]),
        Route(f"{BASE}/general-ledger/chart-of-accounts/hierarchy/", show_report),
    ]
    app = Starlette(routes=routes, lifespan=_lifespan)
    app.state.key = environment.secret()
    return app


@asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    async with AsyncConnectionPool(
        environment.database_url(),
        connection_class=AsyncConnection[DictRow],
        kwargs={"row_factory": dict_row, "autocommit": True, "prepare_threshold": 0},
        min_size=environment.POOL_SIZE,
    ) as pool:
        app.state.pool = pool
        yield


async def read_customer(request: Request) -> Response:
    """Return a customer with its outstanding balance."""
    told = {**_admit(request), "customer_id": request.path_params["customer_id"]}
    async with _pool(request).connection() as connection:
        row = await (await connection.execute(sql.READ, told)).fetchone()
    if row is None:
        raise HTTPException(404)
    return _answer(environment.show_customer(row))


async def list_invoices(request: Request) -> Response:
    """Return twenty overdue invoices, and the number of all overdue ones."""
    told = _admit(request)
    async with _pool(request).connection() as connection:
        rows, counted = await _send(connection, (sql.LIST, sql.COUNT), told)
    return _answer({"results": [environment.show_invoice(row) for row in rows], **counted[0]})


async def show_report(request: Request) -> Response:
    """Return the balance of every account."""
    told = _admit(request)
    async with _pool(request).connection() as connection:
        rows = await (await connection.execute(sql.REPORT, told)).fetchall()
    return _answer({"accounts": [environment.show_balance(*row.values()) for row in rows]})


async def create_invoice(request: Request) -> Response:
    """Create an invoice, number it and post it."""
    told, body = _admit(request), orjson.loads(await request.body())
    sent_at = datetime.fromisoformat(body["sent_at"])
    lines = [draw_line(item) for item in body["line_items"]]
    net, tax = sum(line.net for line in lines), sum(line.tax for line in lines)
    invoice_id = uuid4()
    told |= {
        "customer_id": UUID(body["customer_id"]),
        "codes": [sql.RECEIVABLE, sql.SALES, sql.TAX],
        "invoice_id": invoice_id,
        "sent_at": sent_at,
        "net": net,
        "tax": tax,
        "descriptions": [line.description for line in lines],
        "quantities": [line.quantity for line in lines],
        "prices": [line.unit_price for line in lines],
        "rates": [line.tax_rate for line in lines],
        "nets": [line.net for line in lines],
        "taxes": [line.tax for line in lines],
        "entry_id": uuid4(),
        "entry_date": sent_at.date(),
        "source_id": invoice_id,
        "debits": [net + tax, 0, 0],
        "credits": [0, net, tax],
    }
    async with _pool(request).connection() as connection:
        facts = await _checked(connection, sql.CREATE_CHECKS, told)
        told |= facts | await _rows(connection, sql.CREATE_NUMBERS, told)
        await _send(connection, (*sql.CREATE_ROWS, "COMMIT"), told)
    shown = {
        "id": invoice_id,
        "customer_id": told["customer_id"],
        "customer_name": facts["company_name"],
        "invoice_number": told["invoice_number"],
        "status": "sent",
        "currency": "GBP",
        "sent_at": sent_at,
        "subtotal": net,
        "tax_total": tax,
        "total_amount": net + tax,
        "outstanding_balance": net + tax,
        "line_items": [
            {**item, "net": line.net, "tax": line.tax}
            for item, line in zip(body["line_items"], lines, strict=True)
        ],
    }
    return _answer(shown, 201)


async def create_payment(request: Request) -> Response:
    """Record a payment of one invoice and post it."""
    told, body = _admit(request), orjson.loads(await request.body())
    [share] = body["allocations"]
    amount, payment_id = int(share["amount_cents"]), uuid4()
    told |= {
        "customer_id": UUID(body["customer_id"]),
        "codes": [sql.BANK, sql.RECEIVABLE],
        "invoice_id": UUID(share["invoice_id"]),
        "amount": amount,
        "payment_id": payment_id,
        "entry_id": uuid4(),
        "entry_date": datetime.fromisoformat(body["payment_date"]).date(),
        "source_id": payment_id,
        "debits": [amount, 0],
        "credits": [0, amount],
    }
    async with _pool(request).connection() as connection:
        facts = await _checked(connection, sql.PAY_CHECKS, told)
        if not 0 < amount <= min(facts["outstanding"], body["total_amount_cents"]):
            raise HTTPException(422)
        told |= facts | await _rows(connection, sql.PAY_NUMBERS, told)
        await _send(connection, (*sql.PAY_ROWS, "COMMIT"), told)
    settled = {
        **share,
        "invoice_number": facts["number"],
        "outstanding_balance": facts["outstanding"] - amount,
    }
    shown = {
        **body,
        "id": payment_id,
        "customer_name": facts["company_name"],
        "status": "completed",
        "allocations": [settled],
    }
    return _answer(shown, 201)


async def _checked(
    connection: AsyncConnection[DictRow], checks: Sequence[str], told: Mapping[str, Any]
) -> dict[str, Any]:
    """Begin a transaction and run the checks before any write; each check finds one row."""
    facts = await _rows(connection, ("BEGIN", *checks), told)
    if facts["archived_at"] is not None:
        raise HTTPException(409)
    return facts


async def _rows(
    connection: AsyncConnection[DictRow], texts: Sequence[str], told: Mapping[str, Any]
) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for rows in await _send(connection, texts, told):
        if not rows:
            raise HTTPException(422)
        facts |= rows[0]
    return facts


async def _send(
    connection: AsyncConnection[DictRow], texts: Sequence[str], told: Mapping[str, Any]
) -> list[list[DictRow]]:
    """Send statements in one round trip; return the rows of those that return any."""
    async with connection.pipeline():
        cursors = [await connection.execute(text, told) for text in texts]
    return [await cursor.fetchall() for cursor in cursors if cursor.description]


def _admit(request: Request) -> dict[str, Any]:
    """Check the token against the path; return the ids of the business and the partner."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    caller = environment.read(token, request.app.state.key) if scheme == "Bearer" else None
    if caller is None:
        raise HTTPException(401)
    if caller.business_id != request.path_params["business_id"]:
        raise HTTPException(403)
    return {"business_id": caller.business_id, "partner_id": caller.partner_id}


def _pool(request: Request) -> Pool:
    pool: Pool = request.app.state.pool
    return pool


def _answer(value: Any, status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")
