"""The work in the usual style of the SQLAlchemy async ORM; FastAPI and Connexion call it.

As an expert would, it takes document numbers last.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, make_url, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import contains_eager

from tools.bench.peers import environment
from tools.bench.peers.environment import draw_line
from tools.bench.peers.statements import BANK, RECEIVABLE, SALES, TAX
from tools.bench.peers.tables import (
    Account,
    Allocation,
    Business,
    Counter,
    Customer,
    Entry,
    EntryLine,
    Invoice,
    InvoiceLine,
    Payment,
)


class RefusedRequest(Exception):
    """A request that cannot be executed."""


def sessions() -> async_sessionmaker[AsyncSession]:
    """Create the factory of ORM sessions over a pool."""
    url = make_url(environment.database_url()).set(drivername="postgresql+psycopg")
    engine = create_async_engine(url, pool_size=environment.POOL_SIZE, max_overflow=0)
    return async_sessionmaker(engine, expire_on_commit=False)


async def find_business(
    session: AsyncSession, partner_id: UUID, business_id: UUID
) -> Business | None:
    """Return a business that belongs to the partner, or None."""
    mine = select(Business).where(Business.id == business_id, Business.partner_id == partner_id)
    return (await session.execute(mine)).scalar_one_or_none()


_OWED = (
    select(func.coalesce(func.sum(Invoice.outstanding), 0))
    .where(
        Invoice.business_id == Customer.business_id,
        Invoice.customer_id == Customer.id,
        Invoice.outstanding > 0,
    )
    .correlate(Customer)
    .scalar_subquery()
)


async def read_customer(
    session: AsyncSession, business_id: UUID, customer_id: UUID
) -> dict[str, Any] | None:
    """Return a customer with its outstanding balance, or None."""
    wanted = select(Customer, _OWED).where(
        Customer.business_id == business_id, Customer.id == customer_id
    )
    row = (await session.execute(wanted)).one_or_none()
    if row is None:
        return None
    facts = {**vars(row[0]), "metadata": row[0].extra, "outstanding_balance": int(row[1])}
    return environment.show_customer(facts)


async def list_invoices(session: AsyncSession, business_id: UUID) -> dict[str, Any]:
    """Return twenty overdue invoices, and the number of all overdue ones."""
    overdue = (
        Invoice.business_id == business_id,
        Invoice.outstanding > 0,
        Invoice.due_at < datetime.now(UTC),
    )
    page = (
        select(Invoice)
        .join(Invoice.customer)
        .options(contains_eager(Invoice.customer))
        .where(*overdue)
        .order_by(Invoice.sent_at.desc(), Invoice.id.desc())
        .limit(20)
    )
    found = (await session.execute(page)).scalars().all()
    total = await session.scalar(select(func.count()).select_from(Invoice).where(*overdue))
    rows = [{**vars(each), "company_name": each.customer.company_name} for each in found]
    return {"results": [environment.show_invoice(row) for row in rows], "total": total}


async def show_report(session: AsyncSession, business_id: UUID) -> dict[str, Any]:
    """Return the balance of every account."""
    debits, credits_ = (
        func.coalesce(func.sum(column), 0) for column in (EntryLine.debit, EntryLine.credit)
    )
    posted = (EntryLine.business_id == Account.business_id) & (EntryLine.account_id == Account.id)
    wanted = (
        select(Account.code, Account.name, debits, credits_)
        .outerjoin(EntryLine, posted)
        .where(Account.business_id == business_id)
        .group_by(Account.id)
        .order_by(Account.code)
    )
    rows = await session.execute(wanted)
    return {
        "accounts": [environment.show_balance(row[0], row[1], *map(int, row[2:])) for row in rows]
    }


async def create_invoice(
    session: AsyncSession, business_id: UUID, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Create an invoice, number it and post it."""
    customer = await _find_customer(session, business_id, body["customer_id"])
    accounts = await _find_accounts(session, business_id, (RECEIVABLE, SALES, TAX))
    now, invoice_id, sent_at = datetime.now(UTC), uuid4(), body["sent_at"]
    drawn = [draw_line(item) for item in body["line_items"]]
    net, tax = sum(line.net for line in drawn), sum(line.tax for line in drawn)
    invoice = Invoice(
        id=invoice_id,
        business_id=business_id,
        customer_id=customer.id,
        number=await _take_number(session, business_id, "INV"),
        state="open",
        currency="GBP",
        sent_at=sent_at,
        due_at=sent_at + timedelta(days=14),
        subtotal=net,
        tax_total=tax,
        total_amount=net + tax,
        outstanding=net + tax,
        created_at=now,
        updated_at=now,
    )
    session.add(invoice)
    await session.flush()
    lines = [
        InvoiceLine(
            id=uuid4(),
            invoice_id=invoice_id,
            place=place,
            description=line.description,
            quantity=line.quantity,
            unit_price=line.unit_price,
            tax_rate=line.tax_rate,
            net=line.net,
            tax=line.tax,
        )
        for place, line in enumerate(drawn, start=1)
    ]
    session.add_all(lines)
    amounts = {RECEIVABLE: net + tax, SALES: -net, TAX: -tax}
    await _post(session, business_id, invoice_id, sent_at.date(), accounts, amounts)
    await session.commit()
    shown = [
        "id",
        "customer_id",
        "currency",
        "sent_at",
        "subtotal",
        "tax_total",
        "total_amount",
        "created_at",
        "updated_at",
    ]
    return {
        **{name: getattr(invoice, name) for name in shown},
        "customer_name": customer.company_name,
        "invoice_number": invoice.number,
        "status": "sent",
        "outstanding_balance": invoice.outstanding,
        "line_items": [
            {
                "id": line.id,
                "description": line.description,
                "quantity": line.quantity,
                "unit_price": line.unit_price,
                "tax_rate": line.tax_rate,
                "net": line.net,
                "tax": line.tax,
            }
            for line in lines
        ],
    }


async def create_payment(
    session: AsyncSession, business_id: UUID, body: Mapping[str, Any]
) -> dict[str, Any]:
    """Record a payment of one invoice and post it."""
    [share] = body["allocations"]
    mine = Invoice.business_id == business_id, Invoice.id == share["invoice_id"]
    found = await session.execute(select(Invoice).where(*mine).with_for_update())
    invoice = found.scalar_one_or_none()
    amount = share["amount_cents"]
    if invoice is None or invoice.customer_id != body["customer_id"]:
        raise RefusedRequest("no such invoice of this customer")
    if amount > min(invoice.outstanding, body["total_amount_cents"]):
        raise RefusedRequest("more than is outstanding")
    customer = await _find_customer(session, business_id, body["customer_id"])
    accounts = await _find_accounts(session, business_id, (BANK, RECEIVABLE))
    invoice.outstanding -= amount
    invoice.updated_at = now = datetime.now(UTC)
    payment = Payment(
        id=uuid4(),
        business_id=business_id,
        customer_id=customer.id,
        total=body["total_amount_cents"],
        currency=body["currency"],
        method=body["payment_method"],
        payment_date=body["payment_date"],
        created_at=now,
    )
    session.add(payment)
    await session.flush()
    session.add(Allocation(id=uuid4(), payment_id=payment.id, invoice_id=invoice.id, amount=amount))
    amounts = {BANK: amount, RECEIVABLE: -amount}
    await _post(session, business_id, payment.id, payment.payment_date, accounts, amounts)
    await session.commit()
    return {
        **body,
        "id": payment.id,
        "customer_name": customer.company_name,
        "status": "completed",
        "created_at": payment.created_at,
        "allocations": [
            {
                **share,
                "invoice_number": invoice.number,
                "outstanding_balance": invoice.outstanding,
            }
        ],
    }


async def _find_customer(session: AsyncSession, business_id: UUID, customer_id: UUID) -> Customer:
    mine = select(Customer).where(Customer.business_id == business_id, Customer.id == customer_id)
    found = (await session.execute(mine)).scalar_one_or_none()
    if found is None:
        raise RefusedRequest("no such customer")
    return found


async def _find_accounts(
    session: AsyncSession, business_id: UUID, codes: tuple[str, ...]
) -> dict[str, UUID]:
    wanted = select(Account.code, Account.id).where(
        Account.business_id == business_id, Account.code.in_(codes)
    )
    return {code: id_ for code, id_ in await session.execute(wanted)}


async def _take_number(session: AsyncSession, business_id: UUID, series: str) -> str:
    """Take the next number of a series; other transactions wait for it until the commit."""
    mine = Counter.business_id == business_id, Counter.series == series
    taken = update(Counter).where(*mine).values(last=Counter.last + 1).returning(Counter.last)
    return f"{series}-{(await session.execute(taken)).scalar_one()}"


async def _post(
    session: AsyncSession,
    business_id: UUID,
    source_id: UUID,
    entry_date: date,
    accounts: Mapping[str, UUID],
    amounts: Mapping[str, int],
) -> None:
    """Post an entry; `amounts` are by account code, positive for debits."""
    assert sum(amounts.values()) == 0, "an entry balances"
    entry = Entry(
        id=uuid4(),
        business_id=business_id,
        number=await _take_number(session, business_id, "JE"),
        entry_date=entry_date,
        description="Posted",
        source_id=source_id,
    )
    session.add(entry)
    await session.flush()
    session.add_all(
        EntryLine(
            id=uuid4(),
            business_id=business_id,
            entry_id=entry.id,
            account_id=accounts[code],
            entry_date=entry_date,
            debit=max(amount, 0),
            credit=max(-amount, 0),
        )
        for code, amount in amounts.items()
    )
