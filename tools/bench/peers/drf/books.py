"""Invoices and payments, each with its entry. Document numbers are taken last."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F
from rest_framework.exceptions import ValidationError

from tools.bench.peers.drf.models import (
    Account,
    Allocation,
    Counter,
    Customer,
    Entry,
    EntryLine,
    Invoice,
    InvoiceLine,
    Payment,
)
from tools.bench.peers.drf.serializers import InvoiceSerializer, PaymentSerializer
from tools.bench.peers.environment import draw_line
from tools.bench.peers.statements import BANK, RECEIVABLE, SALES, TAX


def create_invoice(business_id: UUID, body: Mapping[str, Any]) -> dict[str, Any]:
    """Create an invoice, number it and post it."""
    customer = _find_customer(business_id, body["customer_id"])
    accounts = _find_accounts(business_id, (RECEIVABLE, SALES, TAX))
    now, sent_at = datetime.now(UTC), body["sent_at"]
    drawn = [draw_line(item) for item in body["line_items"]]
    net, tax = sum(line.net for line in drawn), sum(line.tax for line in drawn)
    invoice = Invoice.objects.create(
        business_id=business_id,
        customer_id=customer.id,
        number=_take_number(business_id, "INV"),
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
    InvoiceLine.objects.bulk_create(
        InvoiceLine(
            invoice=invoice,
            place=place,
            description=line.description,
            quantity=line.quantity,
            unit_price=line.unit_price,
            tax_rate=line.tax_rate,
            net=line.net,
            tax=line.tax,
        )
        for place, line in enumerate(drawn, start=1)
    )
    amounts = {RECEIVABLE: net + tax, SALES: -net, TAX: -tax}
    _post(business_id, invoice.id, sent_at.date(), accounts, amounts)
    invoice.customer_name, invoice.line_items = customer.company_name, drawn
    shown: dict[str, Any] = InvoiceSerializer(invoice).data
    return shown


def create_payment(business_id: UUID, body: Mapping[str, Any]) -> dict[str, Any]:
    """Record a payment of one invoice and post it."""
    [share] = body["allocations"]
    mine = Invoice.objects.select_for_update().filter(business_id=business_id)
    invoice = mine.filter(id=share["invoice_id"], customer_id=body["customer_id"]).first()
    amount = share["amount_cents"]
    if invoice is None or amount > min(invoice.outstanding, body["total_amount_cents"]):
        raise ValidationError({"allocations": "not owed"})
    customer = _find_customer(business_id, body["customer_id"])
    accounts = _find_accounts(business_id, (BANK, RECEIVABLE))
    now = invoice.updated_at = datetime.now(UTC)
    invoice.outstanding -= amount
    invoice.save(update_fields=["outstanding", "updated_at"])
    payment = Payment.objects.create(
        business_id=business_id,
        customer_id=customer.id,
        total=body["total_amount_cents"],
        currency=body["currency"],
        method=body["payment_method"],
        payment_date=body["payment_date"],
        created_at=now,
    )
    Allocation.objects.create(payment=payment, invoice=invoice, amount=amount)
    amounts = {BANK: amount, RECEIVABLE: -amount}
    _post(business_id, payment.id, body["payment_date"], accounts, amounts)
    settled = {
        **share,
        "invoice_number": invoice.number,
        "outstanding_balance": invoice.outstanding,
    }
    facts = {"id": payment.id, "created_at": now, "status": "completed"}
    named = {"customer_name": customer.company_name, "allocations": [settled]}
    shown: dict[str, Any] = PaymentSerializer({**body, **facts, **named}).data
    return shown


def _find_customer(business_id: UUID, customer_id: UUID) -> Customer:
    found = Customer.objects.filter(business_id=business_id, id=customer_id).first()
    if found is None:
        raise ValidationError({"customer_id": "no such customer"})
    return found


def _find_accounts(business_id: UUID, codes: tuple[str, ...]) -> dict[str, UUID]:
    wanted = Account.objects.filter(business_id=business_id, code__in=codes)
    return dict(wanted.values_list("code", "id"))


def _take_number(business_id: UUID, series: str) -> str:
    """Take the next number of a series; other transactions wait for it until the commit."""
    mine = Counter.objects.filter(business_id=business_id, series=series)
    mine.update(last=F("last") + 1)
    return f"{series}-{mine.values_list('last', flat=True).get()}"


def _post(
    business_id: UUID,
    source_id: UUID,
    entry_date: date,
    accounts: Mapping[str, UUID],
    amounts: Mapping[str, int],
) -> None:
    """Post an entry; `amounts` are by account code, positive for debits."""
    entry = Entry.objects.create(
        business_id=business_id,
        number=_take_number(business_id, "JE"),
        entry_date=entry_date,
        description="Posted",
        source_id=source_id,
    )
    EntryLine.objects.bulk_create(
        EntryLine(
            business_id=business_id,
            entry=entry,
            account_id=accounts[code],
            entry_date=entry_date,
            debit=max(amount, 0),
            credit=max(-amount, 0),
        )
        for code, amount in amounts.items()
    )
