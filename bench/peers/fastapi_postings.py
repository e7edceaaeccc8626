"""The money path as many would write it: an invoice and its payment, each with its entry.

An honest minimum of what ours does: numbers without gaps, entries that balance, and an amount that
is checked under the lock of its invoice. Numbers are taken last, as one who knows would do.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal
from uuid import UUID, uuid4

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from bench.peers.fastapi_doors import Owned, Session
from bench.peers.posting_tables import (
    Account,
    Allocation,
    Counter,
    Entry,
    EntryLine,
    InvoiceLine,
    Payment,
    SentInvoice,
)
from bench.peers.tables import Customer

RECEIVABLE, BANK, SALES, TAX = CODES = ("1100", "1000", "4000", "2200")
INVOICES, ENTRIES = SERIES = ("INV", "JE")
Cents = Annotated[int, Field(ge=1, le=99_999_999_999_999)]


class Sent(BaseModel):
    """What is sent has no other fields than these."""

    model_config = ConfigDict(extra="forbid")


class Line(Sent):
    """One thing sold."""

    description: Annotated[str, Field(max_length=500)]
    quantity: Annotated[Decimal, Field(gt=0)]
    unit_price: Cents
    tax_rate: Annotated[Decimal, Field(ge=0, le=100)]


class InvoiceIn(Sent):
    """An invoice to be sent at once."""

    customer_id: UUID
    sent_at: datetime
    line_items: Annotated[list[Line], Field(min_length=1)]


class LineOut(Line):
    """A line with what it comes to."""

    id: UUID
    net: int
    tax: int


class InvoiceOut(BaseModel):
    """An invoice as it is shown."""

    id: UUID
    customer_id: UUID
    customer_name: str | None
    invoice_number: str
    status: Literal["sent"]
    currency: str
    sent_at: datetime
    subtotal: int
    tax_total: int
    total_amount: int
    outstanding_balance: int
    line_items: list[LineOut]
    created_at: datetime
    updated_at: datetime


class Share(Sent):
    """What of a payment settles an invoice."""

    invoice_id: UUID
    amount_cents: Cents


class PaymentIn(Sent):
    """A payment that has come."""

    customer_id: UUID
    total_amount_cents: Cents
    payment_date: date
    currency: Literal["GBP"]
    payment_method: Literal["bank_transfer", "cash"]
    allocations: Annotated[list[Share], Field(min_length=1, max_length=1)]


class ShareOut(Share):
    """An allocation with its invoice as it is now."""

    invoice_number: str
    outstanding_balance: int


class PaymentOut(BaseModel):
    """A payment as it is shown."""

    id: UUID
    customer_id: UUID
    customer_name: str | None
    total_amount_cents: int
    payment_date: date
    currency: str
    payment_method: str
    status: Literal["completed"]
    allocations: list[ShareOut]
    created_at: datetime


router = APIRouter(prefix="/v1/platform/businesses/{business_id}/invoices")


@router.post("/", status_code=201)
async def create_invoice(business: Owned, body: InvoiceIn, session: Session) -> InvoiceOut:
    """Draw up an invoice, number it and post it."""
    customer = await find_customer(session, business.id, body.customer_id)
    accounts = await find_accounts(session, business.id)
    now, invoice_id = datetime.now(UTC), uuid4()
    lines = [
        draw_line(invoice_id, place, line) for place, line in enumerate(body.line_items, start=1)
    ]
    net, tax = sum(line.net for line in lines), sum(line.tax for line in lines)
    invoice = SentInvoice(
        id=invoice_id,
        business_id=business.id,
        party_id=customer.id,
        number=await take_number(session, business.id, INVOICES),
        sent_at=body.sent_at,
        currency="GBP",
        subtotal=net,
        tax_total=tax,
        total_amount=net + tax,
        outstanding=net + tax,
        created_at=now,
        updated_at=now,
    )
    session.add(invoice)
    await session.flush()
    session.add_all(lines)
    amounts = {RECEIVABLE: net + tax, SALES: -net, TAX: -tax}
    await post(session, business.id, invoice_id, body.sent_at.date(), accounts, amounts)
    await session.commit()
    return shape_invoice(invoice, lines, customer)


@router.post("/payments/", status_code=201)
async def create_payment(business: Owned, body: PaymentIn, session: Session) -> PaymentOut:
    """Record a payment of one invoice and post it."""
    [share] = body.allocations
    mine = SentInvoice.business_id == business.id, SentInvoice.id == share.invoice_id
    found = await session.execute(select(SentInvoice).where(*mine).with_for_update())
    invoice = found.scalar_one_or_none()
    if invoice is None or invoice.party_id != body.customer_id:
        raise HTTPException(422)
    if share.amount_cents > min(invoice.outstanding, body.total_amount_cents):
        raise HTTPException(422)
    customer = await find_customer(session, business.id, body.customer_id)
    accounts = await find_accounts(session, business.id)
    invoice.outstanding -= share.amount_cents
    invoice.updated_at = now = datetime.now(UTC)
    payment = Payment(
        id=uuid4(),
        business_id=business.id,
        party_id=customer.id,
        total=body.total_amount_cents,
        currency=body.currency,
        method=body.payment_method,
        payment_date=body.payment_date,
        created_at=now,
    )
    session.add(payment)
    await session.flush()
    session.add(
        Allocation(
            id=uuid4(), payment_id=payment.id, invoice_id=invoice.id, amount=share.amount_cents
        )
    )
    amounts = {BANK: payment.total, RECEIVABLE: -payment.total}
    await post(session, business.id, payment.id, payment.payment_date, accounts, amounts)
    await session.commit()
    return shape_payment(payment, share, invoice, customer)


async def find_customer(session: AsyncSession, business_id: UUID, id: UUID) -> Customer:
    """Find the customer that a body names, without what it owes."""
    mine = select(Customer).where(Customer.business_id == business_id, Customer.id == id)
    found = (await session.execute(mine)).scalar_one_or_none()
    if found is None:
        raise HTTPException(422)
    return found


async def find_accounts(session: AsyncSession, business_id: UUID) -> dict[str, UUID]:
    """Find the accounts that are posted to, by their codes."""
    wanted = select(Account.code, Account.id).where(
        Account.business_id == business_id, Account.code.in_(CODES)
    )
    return {code: id_ for code, id_ in await session.execute(wanted)}


async def take_number(session: AsyncSession, business_id: UUID, series: str) -> str:
    """Take the next number of a series; others wait for it until the commit."""
    mine = Counter.business_id == business_id, Counter.series == series
    taken = update(Counter).where(*mine).values(last=Counter.last + 1).returning(Counter.last)
    last = (await session.execute(taken)).scalar_one()
    return f"{series}-{last:06}"


async def post(
    session: AsyncSession,
    business_id: UUID,
    source_id: UUID,
    entry_date: date,
    accounts: Mapping[str, UUID],
    amounts: Mapping[str, int],
) -> None:
    """Write an entry of amounts by the codes of accounts, debits above zero."""
    assert sum(amounts.values()) == 0, "an entry balances"
    entry = Entry(
        id=uuid4(),
        business_id=business_id,
        number=await take_number(session, business_id, ENTRIES),
        entry_date=entry_date,
        description="Posted",
        source_id=source_id,
    )
    session.add(entry)
    await session.flush()
    session.add_all(
        EntryLine(
            id=uuid4(),
            entry_id=entry.id,
            account_id=accounts[code],
            entry_date=entry_date,
            debit=max(amount, 0),
            credit=max(-amount, 0),
        )
        for code, amount in amounts.items()
    )


def draw_line(invoice_id: UUID, place: int, line: Line) -> InvoiceLine:
    """Work a line out in cents."""
    net = _cents(line.quantity * line.unit_price)
    return InvoiceLine(
        id=uuid4(),
        invoice_id=invoice_id,
        place=place,
        description=line.description,
        quantity=line.quantity,
        unit_price=line.unit_price,
        tax_rate=line.tax_rate,
        net=net,
        tax=_cents(net * line.tax_rate / 100),
    )


def _cents(amount: Decimal) -> int:
    return int(amount.quantize(Decimal(1), ROUND_HALF_UP))


def shape_invoice(invoice: SentInvoice, lines: list[InvoiceLine], customer: Customer) -> InvoiceOut:
    """Show an invoice."""
    names = LineOut.model_fields
    return InvoiceOut(
        id=invoice.id,
        customer_id=invoice.party_id,
        customer_name=customer.company_name,
        invoice_number=invoice.number,
        status="sent",
        currency=invoice.currency,
        sent_at=invoice.sent_at,
        subtotal=invoice.subtotal,
        tax_total=invoice.tax_total,
        total_amount=invoice.total_amount,
        outstanding_balance=invoice.outstanding,
        line_items=[LineOut(**{name: getattr(line, name) for name in names}) for line in lines],
        created_at=invoice.created_at,
        updated_at=invoice.updated_at,
    )


def shape_payment(
    payment: Payment, share: Share, invoice: SentInvoice, customer: Customer
) -> PaymentOut:
    """Show a payment."""
    settled = ShareOut(
        invoice_id=share.invoice_id,
        amount_cents=share.amount_cents,
        invoice_number=invoice.number,
        outstanding_balance=invoice.outstanding,
    )
    return PaymentOut(
        id=payment.id,
        customer_id=payment.party_id,
        customer_name=customer.company_name,
        total_amount_cents=payment.total,
        payment_date=payment.payment_date,
        currency=payment.currency,
        payment_method=payment.method,
        status="completed",
        allocations=[settled],
        created_at=payment.created_at,
    )
