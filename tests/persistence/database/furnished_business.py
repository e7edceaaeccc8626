"""A business with a record of every kind."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from persistence.engine.pool import make_pool
from persistence.integrity.seals import seal
from persistence.ledger.rebuild import rebuild
from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import PAYMENT, Bank, made_rule, open_account
from tests.builders.exchange_rates import table_set
from tests.builders.files import upload
from tests.builders.journal_entries import credit, debit, drafted, posted
from tests.builders.openings import (
    DAY,
    OPENINGS,
    open_bill,
    open_invoice,
    open_vendor_credit,
    opened,
    prepaid,
)
from tests.builders.payouts import paid_out
from tests.builders.purchases import (
    bill_body,
    bill_paid,
    received,
    share,
    vendor_credited,
)
from tests.builders.purchases import part as bought_part
from tests.builders.revaluations import revalued
from tests.builders.sales import (
    credit_body,
    credited,
    invoice_body,
    paid,
    part,
    refund_paid,
    refunded,
    sent,
    written_off,
)
from tests.builders.sales import share as sold_share
from tests.builders.tax_codes import CODES, code_body
from tests.builders.tax_returns import RETURNS, return_body
from tests.builders.trade import PAID, PURCHASES, SALES, SENT, Record, line
from tests.builders.vendor_refunds import (
    agreed_refund,
    of_bill,
    of_credit,
    of_payment,
    whole_refund_body,
)
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
PDF = ("same.pdf", b"%PDF-1.4 same", "application/pdf")


@dataclass(frozen=True)
class Side:
    """A business and the ids of its records."""

    shop: Business
    ledger: Ledger
    ids: dict[str, str]


def furnish(api_server: ApiServer, partner: Partner) -> Side:
    shop = partner.business()
    ledger = Ledger(api_server, shop)
    buyer = shop.customer(external_id="same", company_name="The same name")
    same = {"external_id": "same", "memo": "same", "transaction_tags": ["same"]}
    invoice = sent(shop, buyer, 100, invoice_number="SAME-1", **same)
    payment = paid(
        shop, buyer, 60, part(invoice, 40), external_id="same", note="same", status="pending"
    )
    account = shop.made(
        f"{ACCOUNTS}1100/children/", {"code": "same", "name": "same", "external_id": "same-id"}
    )
    card = paid(shop, buyer, 20, payment_method="credit_card")
    ids = {
        "customer": buyer["id"],
        "invoice": invoice["id"],
        "draft": SALES.draft(shop, buyer)["id"],
        "payment": payment["id"],
        "account": account["id"],
        "tax_return": shop.made(RETURNS, return_body())["id"],
        "tax_code": shop.made(CODES, code_body("same", tax_account="2400"))["id"],
        "revaluation": revalued(shop, buyer, "2025-03-31")["id"],
        "exchange_rates": table_set(shop, "2026-07-31")["id"],
        **bought(shop),
        **given_up(shop, buyer, invoice),
        **given_back(shop, paid(shop, buyer, 20)),
        "payout": paid_out(shop, 20, card, external_id="same", memo="same")["id"],
        **at_bank(shop, paid(shop, buyer, 20)),
        "opening": opened(shop, invoices=[open_invoice(buyer, 30)])["id"],
        "document": filed(shop, buyer),
        "entry": ledger.entries()[0].id,
        "draft_entry": drafted(shop, lines=[debit("same", 7), credit("2400", 7)])["id"],
        "manual_entry": posted(shop)["id"],
    }
    taxed = {"line_items": [line(50, tax_code="S20")]}
    shop.made("invoices/", invoice_body(buyer, sent_at=SENT) | taxed)
    look_after(api_server, shop)
    return Side(shop, ledger, ids)


def look_after(api_server: ApiServer, shop: Business) -> None:
    """Roll up the balances by month, as after a hundred entries; seal the trail."""

    async def looked_after() -> None:
        async with make_pool(api_server.database_url, size=1) as pool:
            await rebuild(pool, UUID(shop.id))
            await seal(pool, UUID(shop.id))

    asyncio.run(looked_after())


def bought(shop: Business) -> dict[str, str]:
    """Receive a bill, pay a part of it, and return a part as a credit and as money."""
    vendor = shop.vendor(external_id="same", company_name="The same name")
    same = {"external_id": "same", "memo": "same"}
    bill = received(shop, vendor, 100, bill_number="SAME-1", vendor_bill_number="SAME", **same)
    outlay = bill_paid(shop, vendor, 60, bought_part(bill, 40), status="pending", **same)
    bill_paid(shop, vendor, 20, bought_part(bill, 20), status="completed")
    claim = agreed_refund(shop, vendor, 9, allocations=[of_bill(bill, 5)], **same)
    [income] = claim["vendor_refund_payments"]
    credit = vendor_credited(
        shop, vendor, 30, share(bill, 5), source_bill_id=bill["id"], vendor_credit_number="SAME-1",
        **same,
    )  # fmt: skip
    [waived] = PURCHASES.write_off(shop, bill, amount_cents=3, **same)["write_offs"]
    return {
        "vendor": vendor["id"],
        "bill": bill["id"],
        "waived": waived["id"],
        "drafted": PURCHASES.draft(shop, vendor)["id"],
        "outlay": outlay["id"],
        "return": credit["id"],
        "claim": claim["id"],
        "income": income["id"],
    }


def given_up(shop: Business, customer: Record, invoice: Record) -> dict[str, str]:
    """Write off a part of the invoice, and apply a credit to another one."""
    same = {"external_id": "same"}
    [write_off] = written_off(shop, invoice, amount_cents=10, memo="same", **same)["write_offs"]
    facts = {"credit_note_number": "SAME-1", "source_invoice_id": invoice["id"], **same}
    credit = credited(shop, customer, 30, sold_share(invoice, 5), sent_at=SENT, **facts)
    return {"write_off": write_off["id"], "credit": credit["id"]}


def given_back(shop: Business, payment: Record) -> dict[str, str]:
    """Refund unapplied money, and pay a part of the refund."""
    refund = refunded(shop, payment, external_id="same")
    at = f"{PAID}T00:00:00Z"
    part = refund_paid(shop, refund, amount_cents=5, completed_at=at, external_id="same")
    return {"settled": payment["id"], "refund": refund["id"], "refund_payment": part["id"]}


def at_bank(shop: Business, payment: Record) -> dict[str, str]:
    """Match a bank line with a part of a payment, and transfer another part of the line."""
    bank = Bank(shop, open_account(shop, display_name="same", external_id="same"))
    line = bank.line(50, external_id="same", date=PAID)
    [link] = bank.match(line, PAYMENT, payment)["links"]
    savings = Bank(shop, open_account(shop, display_name="savings"))
    conditions = {"text": "same", "bank_account_id": savings.account["id"]}
    ids = {
        "at_bank": payment["id"],
        "bank_account": bank.account["id"],
        "bank_line": line["id"],
        "bank_link": link["reconciliation_link_id"],
        "savings": savings.account["id"],
        "bank_rule": made_rule(shop, "same", conditions=conditions)["id"],
        "statement": savings.closed("2024-12-31", 0)["id"],
    }
    bank.transfer(line, savings, amount_cents=5)
    return ids


def filed(shop: Business, customer: Record) -> str:
    """Store a document of the customer; return its id."""
    answer = upload(shop, PDF[1], PDF[0], linked_type="customer", linked_id=customer["id"])
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def foreign_bodies(here: Side, there: Side) -> list[tuple[str, str, Record]]:
    """Return requests that name another business's record in ways that no example shows."""
    theirs = there.ids
    account = {"type": "AccountId", "id": theirs["account"]}
    customer, vendor = {"id": here.ids["customer"]}, {"id": here.ids["vendor"]}
    foreign_customer, foreign_vendor = {"id": theirs["customer"]}, {"id": theirs["vendor"]}
    of_account = line(account_identifier=account)
    taxed = line(sales_taxes=[{"amount": 1, "tax_account": account}])
    credited = {"amount": 1, "revenue_account_identifier": account}
    asset = {"account_type": "asset", "account_subtype": "current_assets"}
    child = {"code": "n", "name": "n", **asset, "parent_id": theirs["account"]}
    payout = {"processor": "stripe", "paid_out_amount_cents": 1}
    adjustment = {"type": "adjustment", "amount_cents": 1, "account": theirs["account"]}
    chargeback = {"type": "chargeback", "amount_cents": -1, "payment_id": theirs["settled"]}
    given_up = {"amount_cents": 1, "destination_account": account}
    claims = of_payment({"id": theirs["outlay"]}, 1), of_credit({"id": theirs["return"]}, 1)
    openings: list[Record] = [
        {"bills": [open_bill(foreign_vendor, 1)]},
        {"vendor_credits": [open_vendor_credit(foreign_vendor, 1)]},
        {"prepayments": [prepaid(foreign_vendor, 1, "vendor")]},
    ]
    return [
        ("POST", "invoices/", invoice_body(customer, of_account)),
        ("POST", "invoices/", invoice_body(customer, taxed)),
        ("PUT", f"invoices/{here.ids['draft']}/", invoice_body(foreign_customer)),
        ("POST", f"invoices/{here.ids['invoice']}/write-offs/", given_up),
        ("POST", "customer-credits/", credit_body(customer, credited)),
        ("POST", "bills/", bill_body(vendor, of_account)),
        ("PUT", f"bills/{here.ids['drafted']}/", bill_body(foreign_vendor)),
        ("POST", f"bills/{here.ids['bill']}/write-offs/", given_up),
        *(("POST", "vendor-refunds/", whole_refund_body(vendor, 1, each)) for each in claims),
        ("POST", "bank-accounts/", {"display_name": "n", "account": theirs["account"]}),
        ("POST", ACCOUNTS, child),
        ("POST", "payouts/", {**payout, "other_items": [adjustment]}),
        ("POST", "payouts/", {**payout, "other_items": [chargeback]}),
        *(("POST", OPENINGS, {"date": DAY, **each}) for each in openings),
    ]
