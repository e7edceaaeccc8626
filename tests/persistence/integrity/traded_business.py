"""A business that has used every feature of the books."""

from typing import Any

from tests.builders.exchange_rates import table_set
from tests.builders.journal_entries import ENTRIES, credit, debit, entry_body
from tests.builders.revaluations import REVALUATIONS, revalued
from tests.builders.sales import REFUNDS as SALES_REFUNDS
from tests.builders.sales import refund_paid, refunded
from tests.builders.tax_returns import drawn_up, filed, superseding
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import (
    AGREED,
    agreed,
    agreed_in_parts,
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_credit,
    of_payment,
)
from tests.partner import Business
from tests.persistence.integrity.bank_faults import banked
from tests.persistence.integrity.opening_faults import open_books
from tests.persistence.integrity.payout_faults import LATER, cleared, did

CREDITED = {"amount": 3_333, "tax_amount_cents": 667}
TAXED = {"quantity": "1.5", "unit_price": 3_333, "tax_rate": 20, "discount_amount": 10}
MONTH_END = "2025-02-28"


def traded(shop: Business, *, settle: bool = True) -> Business:
    """Create records of every kind, most of them in more than one way; return the business.

    `settle` says whether its filed tax returns are settled.
    """
    baker = shop.customer(external_id="baker")
    shop.customer(external_id="brewer")
    trade_documents(shop, SALES, baker)
    write_off(shop, SALES, baker)
    trade_credits(shop, SALES, baker)
    pay_credit_out(shop, baker)
    refund_customer(shop, baker)
    miller = shop.vendor(external_id="miller")
    shop.vendor(external_id="brewer")
    trade_documents(shop, PURCHASES, miller)
    write_off(shop, PURCHASES, miller)
    trade_credits(shop, PURCHASES, miller)
    get_credit_in_cash(shop, miller)
    be_refunded(shop, miller)
    release_by_refunds(shop, miller)
    write_entries(shop)
    answer_again(shop)
    banked(shop, baker)
    cleared(shop, baker)
    open_books(shop, baker, miller)
    close_and_open(shop)
    declare(shop, settle=settle)
    revalue_dollars(shop, baker)
    table_set(shop, MONTH_END)
    table_set(shop, MONTH_END, rates={"USD": "1.0399"})
    return shop


def revalue_dollars(shop: Business, party: Record) -> None:
    """Create two revaluations of invoices and of money in dollars, and reverse the second."""
    shop.made("bank-accounts/", {"display_name": "Dollars", "currency": "USD"})
    SALES.pay(shop, party, 1_000, currency="USD", exchange_rate=0.9)
    revalued(shop, party, "2025-03-31")
    made = revalued(shop, party, "2025-03-31", 0.95)
    answer = shop.api.post(f"{REVALUATIONS}{made['id']}/reverse/")
    assert answer.status_code == 200, answer.text


def declare(shop: Business, *, settle: bool) -> None:
    """Create and file three returns on both schemes, one superseded; leave a draft."""
    first = filed(shop, drawn_up(shop, 1, "cash"), settle=settle)
    filed(shop, drawn_up(shop, 2, "accrual"), settle=settle)
    filed(shop, superseding(shop, first), settle=settle)
    filed(shop, drawn_up(shop, 3, "cash"), settle=settle)
    drawn_up(shop, 4, "accrual")


def trade_documents(shop: Business, trade: Trade, party: Record) -> None:
    """Open, void and pay documents; a payment fails, another is pending."""
    plain = {"total": 9_999, "additional_discount": 99}
    voided = trade.open(shop, party, external_id="voided", **plain)
    trade.open(shop, party, line_items=[TAXED, {"quantity": 3, "unit_price": 101}])
    shop.made(trade.path, trade.body(party, TAXED))
    undated = {} if trade is SALES else {"bill_date": None}
    trade.open(shop, party, 10_000, **{trade.number: f"{trade.series}000050"}, **undated)
    did(shop, "POST", trade.of(voided, "void"), {})
    settled, partly, waiting = (
        trade.open(shop, party, external_id=name, transaction_tags=["fair", "online"], **plain)
        for name in ("paid", "partly", "waiting")
    )
    fee = {"processing_fee_cents": 290} | ({"payment_method": "stripe"} if trade is SALES else {})
    parts = trade.part(settled, 9_900), trade.part(partly, 100)
    main = trade.pay(
        shop, party, 10_500, *parts, external_id="main", transaction_tags=["card"], **fee
    )
    trade.change(shop, main, transaction_tags=["online"])
    failed = trade.pay(shop, party, 500, trade.part(partly, 500))
    trade.change(shop, failed, status="failed")
    trade.pay(shop, party, 1_000, trade.part(waiting, 1_000), status="pending")


def trade_credits(shop: Business, trade: Trade, party: Record) -> None:
    """Apply a credit to two documents and release it from one; another is void, one a draft."""
    line = {"amount": 3_000, "tax_amount_cents": 600}
    first, second = (
        trade.open(shop, party, line_items=[TAXED], external_id=name)
        for name in ("credited", "spared")
    )
    shares = [trade.share(each, 900) for each in (first, second)]
    facts = {"line_items": [line], trade.moment: LATER, "tags": ["returned"]}
    applied = trade.credit(shop, party, 3_000, *shares, external_id="returned", **facts)
    kept = {"allocations": shares[:1], "tags": ["returned"]}
    did(shop, "PUT", trade.of_credit(applied), kept)
    number = {trade.credit_number: f"{trade.credit_series}000007"}
    mistaken = trade.credit(shop, party, 3_000, **facts, **number)
    did(shop, "POST", trade.of_credit(mistaken, "void"))
    shop.made(trade.credits, trade.credit_body(party, line))


def write_off(shop: Business, trade: Trade, party: Record) -> None:
    """Write off two parts of a document, and reverse one."""
    facts = {"external_id": "doubtful", "transaction_tags": ["fair"]}
    doubtful = trade.open(shop, party, line_items=[TAXED], **facts)
    trade.write_off(shop, doubtful, amount_cents=1_000, write_off_at=LATER, external_id="lost")
    written = trade.write_off(shop, doubtful, amount_cents=500)["write_offs"]
    [mistaken] = [each for each in written if each["external_id"] is None]
    did(shop, "DELETE", trade.of(doubtful, f"write-offs/{mistaken['id']}"))


def taxed_credit(shop: Business, trade: Trade, party: Record) -> Record:
    """Create a credit that settles a document in part."""
    document = trade.open(shop, party)
    facts = {"line_items": [CREDITED], "external_id": "paid out"}
    return trade.credit(shop, party, 0, trade.share(document, 700), **facts)


def pay_credit_out(shop: Business, baker: Record) -> None:
    """Pay a part of a credit out; cancel another refund of it."""
    credit = taxed_credit(shop, SALES, baker)
    refund = refunded(shop, credit, amount_cents=1_001, external_id="of a credit")
    refund_paid(shop, refund, amount_cents=333)
    unwanted = refunded(shop, credit, amount_cents=5)
    did(shop, "DELETE", f"{SALES_REFUNDS}{unwanted['id']}/")


def get_credit_in_cash(shop: Business, miller: Record) -> None:
    """Receive a vendor's credit in cash; another such refund is cancelled."""
    credit = taxed_credit(shop, PURCHASES, miller)
    payment = payment_of(shop, miller, 1_001, of_credit(credit, 1_001))
    changed(shop, payment, status="completed", payment_date=AGREED)
    cancelled(shop, payment_of(shop, miller, 5, of_credit(credit, 5)))


def refund_customer(shop: Business, baker: Record) -> None:
    """Refund an invoice in steps, cancel a refund, and refund a payment that bounces later."""
    facts = {"external_id": "given back", "transaction_tags": ["fair"]}
    invoice = SALES.open(shop, baker, line_items=[TAXED], **facts)
    owed = invoice["total_amount"]
    SALES.pay(shop, baker, owed + 400, SALES.part(invoice, owed), external_id="too much")
    refund = refunded(shop, invoice, amount_cents=3_333, external_id="in steps")
    fee = {"method": "STRIPE", "refund_processing_fee_cents": 30}
    refund_paid(
        shop, refund, amount_cents=1_111, external_id="step", transaction_tags=["card"], **fee
    )
    mistaken = refund_paid(shop, refund, amount_cents=1_000)
    path = f"{SALES_REFUNDS}{refund['id']}/payments/{mistaken['id']}/delete/"
    did(shop, "POST", path)
    unwanted = refunded(shop, invoice, amount_cents=500, external_id="unwanted")
    did(shop, "DELETE", f"{SALES_REFUNDS}{unwanted['id']}/")
    payment = SALES.pay(shop, baker, 700, external_id="bounced")
    refunded(shop, payment, amount_cents=300, external_id="at once", completed_at=LATER)
    SALES.change(shop, payment, status="failed")


def be_refunded(shop: Business, miller: Record) -> None:
    """Receive refunds of a bill in steps: one completed, one failed, one pending."""
    bill = PURCHASES.open(shop, miller, line_items=[TAXED], external_id="given back")
    total = bill["total_amount"]
    PURCHASES.pay(shop, miller, total + 400, PURCHASES.part(bill, total), external_id="too much")
    allocated = {"allocations": [of_bill(bill, 3_333)], "external_id": "in steps"}
    refund = agreed_in_parts(shop, miller, 5_000, 1_111, 1_000, 2_889, **allocated)
    came, went, _ = refund["vendor_refund_payments"]
    completed: dict[str, Any] = {"status": "completed", "payment_date": AGREED}
    changed(shop, came, processing_fee_cents=30, **completed)
    changed(shop, went, **completed)
    changed(shop, went, status="failed")
    cancelled(shop, payment_of(shop, miller, 500, of_bill(bill, 500), external_id="unwanted"))
    other = PURCHASES.open(shop, miller, line_items=[TAXED], transaction_tags=["fair"])
    PURCHASES.pay(shop, miller, total, PURCHASES.part(other, total))
    both = [of_bill(bill, 400), of_bill(other, 700)]
    of_both = agreed_in_parts(
        shop, miller, 1_200, 501, 699, allocations=both, external_id="of both"
    )
    changed(shop, of_both["vendor_refund_payments"][0], **completed)
    late = payment_of(shop, miller, 600, external_id="late")
    changed(shop, late, **completed)
    changed(shop, late, allocations=[of_bill(bill, 250)])
    payment = PURCHASES.pay(shop, miller, 700, external_id="bounced")
    coming = agreed(shop, miller, 300, of_payment(payment, 300), external_id="at once")["payment"]
    changed(shop, coming, **completed)
    PURCHASES.change(shop, payment, status="failed")


def release_by_refunds(shop: Business, miller: Record) -> None:
    """Keep a refund as a credit, and refund money that had settled bills."""
    bills = [PURCHASES.open(shop, miller) for _ in range(2)]
    parts = [PURCHASES.part(each, 1_000) for each in bills]
    source = PURCHASES.pay(shop, miller, 2_000, *parts, external_id="released")
    items = of_payment(source, 1_500), as_credit(800)
    cancelled(shop, payment_of(shop, miller, 2_300, *items))
    items = of_payment(source, 1_200), as_credit(800)
    payment_of(shop, miller, 2_000, *items, external_id="kept")


def payment_of(shop: Business, miller: Record, total: int, *items: Record, **facts: Any) -> Record:
    """Create a refund; return its payment."""
    refund = agreed_refund(shop, miller, total, allocations=list(items), **facts)
    [payment] = refund["vendor_refund_payments"]
    return payment


def write_entries(shop: Business) -> None:
    """Post an accrual at the end of a month, and reverse it; another entry waits."""
    accrued = [debit("6000", 1_500, description="Rent, März"), credit("2400", 1_500)]
    entry = shop.made(ENTRIES, entry_body(lines=accrued, entry_date=MONTH_END, post=True))
    shop.made(f"{ENTRIES}{entry['id']}/reverse/", {"entry_date": "2025-03-01"})
    lines = [debit("6400", 300), credit("1150", 300)]
    shop.made(ENTRIES, entry_body(entry_date=MONTH_END, lines=lines, created_by="ai"))


def answer_again(shop: Business) -> None:
    """Create a customer with a key, whose answer is stored."""
    key = {"Idempotency-Key": "once"}
    answer = shop.api.post("customers/", json={"company_name": "Café"}, headers=key)
    assert answer.status_code == 201, answer.text


def close_and_open(shop: Business) -> None:
    """Close February and open it again."""
    address = f"/v1/platform/businesses/{shop.id}/"
    for day in (MONTH_END, None):
        answer = shop.partner.api.patch(address, json={"lock_date": day})
        assert answer.status_code == 200, answer.text
