"""How each thing of a story is made, by the name that paths have for it.

Names that no path has are things in a state that some operation needs to find.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from tests.builders.journal_entries import marked, taxed
from tests.builders.openings import opened
from tests.builders.payouts import paid_out
from tests.builders.purchases import bill_paid, received, vendor_credited
from tests.builders.sales import credited, paid, refund_paid, refunded, sent, written_off
from tests.builders.tax_codes import code_body
from tests.builders.trade import PURCHASES
from tests.builders.vendor_refunds import agreed_refund

if TYPE_CHECKING:
    from tests.contract.valid_requests import Story

BANK_BALANCE = {"account": "1100", "debit_amount": 5_000}
PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n%%EOF\n"


def customer_of(story: "Story") -> dict[str, Any]:
    """The customer whom the story is about."""
    return {"id": story.thing("customer_id")}


def make_sandbox(story: "Story") -> str:
    """One of the partner's sandboxes."""
    body = {"external_id": f"sandbox-of-{story.business.id}"}
    return str(story.partner.api.post("/v1/platform/sandboxes/", json=body).json()["id"])


def make_customer(story: "Story") -> str:
    """A customer; the second one owes nothing and is owed nothing."""
    return str(story.business.customer()["id"])


def make_invoice(story: "Story") -> str:
    """One of 500.00, of which 200.00 are paid and can be refunded."""
    invoice = sent(story.business, customer_of(story), 50_000)
    share = {"invoice_id": invoice["id"], "amount_cents": 20_000}
    paid(story.business, customer_of(story), 20_000, allocations=[share])
    return str(invoice["id"])


def make_unpaid_invoice(story: "Story") -> str:
    """One that can be voided or written off."""
    return str(sent(story.business, customer_of(story), 10_000)["id"])


def make_draft(story: "Story") -> str:
    """An invoice that can be replaced, sent and deleted."""
    line = {"quantity": 1, "unit_price": 9_000}
    body = {"customer_id": story.thing("customer_id"), "line_items": [line]}
    return str(story.business.made("invoices/", body)["id"])


def make_written_off(story: "Story") -> str:
    """An invoice of which a part is written off."""
    invoice = sent(story.business, customer_of(story), 10_000)
    after = written_off(story.business, invoice, amount_cents=2_000)
    story.ids["write_off_id"] = after["write_offs"][0]["id"]
    return str(invoice["id"])


def make_write_off(story: "Story") -> str:
    """The write-off of that invoice."""
    story.thing("written_off_id")
    return story.ids["write_off_id"]


def make_payment(story: "Story") -> str:
    """One that is still pending, so that it can be changed and cancelled."""
    share = {"invoice_id": story.thing("invoice_id"), "amount_cents": 1_000}
    customer = customer_of(story)
    return str(paid(story.business, customer, 20_000, status="pending", allocations=[share])["id"])


def make_unapplied_payment(story: "Story") -> str:
    """A completed one that settles nothing, so that it can be refunded."""
    return str(paid(story.business, customer_of(story), 5_000)["id"])


def make_refund(story: "Story") -> str:
    """One of which a part is paid."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    refund = refunded(story.business, invoice, amount_cents=8_000)
    paid = refund_paid(story.business, refund, amount_cents=1_000)
    story.ids["refund_payment_id"] = paid["id"]
    return str(refund["id"])


def make_refund_payment(story: "Story") -> str:
    """The payment of that refund."""
    story.thing("refund_id")
    return story.ids["refund_payment_id"]


def make_unpaid_refund(story: "Story") -> str:
    """One that can be cancelled."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    return str(refunded(story.business, invoice, amount_cents=1_000)["id"])


def make_credit(story: "Story") -> str:
    """One that is sent and applied to nothing yet."""
    return str(credited(story.business, customer_of(story), 4_000)["id"])


def vendor_of(story: "Story") -> dict[str, Any]:
    """The vendor whom the story is about."""
    return {"id": story.thing("vendor_id")}


def make_vendor(story: "Story") -> str:
    """A vendor; the second one is owed nothing."""
    return str(story.business.vendor()["id"])


def make_bill(story: "Story") -> str:
    """One of 5,000.00, of which 2,000.00 are paid and can come back."""
    bill = received(story.business, vendor_of(story), 500_000)
    share = {"bill_id": bill["id"], "amount_cents": 200_000}
    bill_paid(story.business, vendor_of(story), 200_000, allocations=[share])
    return str(bill["id"])


def make_unpaid_bill(story: "Story") -> str:
    """One that can be voided."""
    return str(received(story.business, vendor_of(story), 10_000)["id"])


def make_written_off_bill(story: "Story") -> str:
    """A bill of which a part is written off."""
    bill = received(story.business, vendor_of(story), 10_000)
    after = PURCHASES.write_off(story.business, bill, amount_cents=2_000)
    story.ids["bill_write_off_id"] = after["write_offs"][0]["id"]
    return str(bill["id"])


def make_bill_write_off(story: "Story") -> str:
    """The write-off of that bill."""
    story.thing("written_off_bill_id")
    return story.ids["bill_write_off_id"]


def make_draft_bill(story: "Story") -> str:
    """A bill that can be replaced, received and deleted."""
    line = {"quantity": 1, "unit_price": 9_000}
    body = {"vendor_id": story.thing("vendor_id"), "line_items": [line]}
    return str(story.business.made("bills/", body)["id"])


def make_bill_payment(story: "Story") -> str:
    """One that is still pending, so that it can be changed and cancelled."""
    share = {"bill_id": story.thing("bill_id"), "amount_cents": 1_000}
    vendor = vendor_of(story)
    return str(
        bill_paid(story.business, vendor, 20_000, status="pending", allocations=[share])["id"]
    )


def make_unapplied_bill_payment(story: "Story") -> str:
    """A completed one that settles nothing, so that its money can come back."""
    return str(bill_paid(story.business, vendor_of(story), 5_000)["id"])


def make_vendor_credit(story: "Story") -> str:
    """One that is received and applied to nothing yet."""
    return str(vendor_credited(story.business, vendor_of(story), 6_000)["id"])


def make_vendor_refund(story: "Story") -> str:
    """One that is allocated to nothing yet, and of which nothing has come."""
    refund = agreed_refund(story.business, vendor_of(story), 7_200)
    story.ids["vendor_refund_payment_id"] = refund["vendor_refund_payments"][0]["id"]
    return str(refund["id"])


def make_vendor_refund_payment(story: "Story") -> str:
    """The payment of that refund, so that it can be changed and cancelled."""
    story.thing("vendor_refund_id")
    return story.ids["vendor_refund_payment_id"]


def make_payout(story: "Story") -> str:
    """One of a payment by card; the second one can be deleted."""
    card = {"payment_method": "credit_card", "payment_processor": "stripe"}
    payment = paid(story.business, customer_of(story), 5_000, **card)
    return str(paid_out(story.business, 4_900, payment_ids=[payment["id"]], fee_cents=100)["id"])


def make_card_payment(story: "Story") -> str:
    """A completed one whose money is with a processor, and in no payout."""
    card = {"payment_method": "credit_card", "payment_processor": "stripe"}
    return str(paid(story.business, customer_of(story), 9_000, **card)["id"])


def make_card_refund_payment(story: "Story") -> str:
    """One by card, in no payout."""
    payment = {"id": story.thing("unapplied_id")}
    at = {"method": "CREDIT_CARD", "completed_at": "2026-07-28T10:00:00Z"}
    refund = refunded(story.business, payment, amount_cents=500, **at)
    return str(refund["refund_payments"][0]["id"])


def make_opening(story: "Story") -> str:
    """An opening of the books on a day of its own, of which nothing is settled."""
    day = date(2020, 1, 1) + timedelta(days=len(story.ids))
    return str(opened(story.business, date=str(day), accounts=[BANK_BALANCE])["id"])


def make_document(story: "Story") -> str:
    """A file that is linked to nothing."""
    answer = story.business.api.post("documents/", files={"file": ("paper.pdf", PDF)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def find_journal_entry(story: "Story") -> str:
    """An entry that the invoice has posted."""
    story.thing("unpaid_id")
    entries = story.business.api.get("general-ledger/journal-entries/").json()
    return str(entries["results"][0]["id"])


def written_entry(story: "Story", **facts: Any) -> str:
    """An accrual that was written by hand."""
    lines = [{"account": "6000", "debit_amount": 450}, {"account": "2400", "credit_amount": 450}]
    body = {"entry_date": "2026-07-31", "lines": lines, **facts}
    return str(story.business.made("general-ledger/journal-entries/", body)["id"])


def make_draft_entry(story: "Story") -> str:
    """One that can be replaced, approved and rejected."""
    return written_entry(story)


def make_manual_entry(story: "Story") -> str:
    """One that is posted, so that it can be reversed."""
    return written_entry(story, post=True)


def make_bank_account(story: "Story") -> str:
    """One of its own."""
    body = {"display_name": "Current account", "currency": "GBP"}
    return str(story.business.made("bank-accounts/", body)["id"])


def make_tax_code(story: "Story") -> str:
    """One of its own, that no posted line names."""
    return str(story.business.made("tax-codes/", code_body(f"V{len(story.ids)}"))["id"])


def make_tax_return(story: "Story") -> str:
    """The draft of a month that no other has."""
    day = f"{1900 + len(story.ids)}-01-01"
    body = {"start_date": day, "end_date": day, "scheme": "accrual"}
    return str(story.business.made("tax-returns/", body)["id"])


def make_filed_return(story: "Story") -> str:
    """One that was filed."""
    draft = make_tax_return(story)
    answer = story.business.api.post(f"tax-returns/{draft}/file/")
    assert answer.status_code == 200, answer.text
    return draft


def make_busy_return(story: "Story") -> str:
    """One that several lines stand behind."""
    for day in range(1, 5):
        lines = (marked("4000", -100, "S20", "net"), marked("2200", -20, "S20", "output"))
        taxed(story.business, f"2026-05-0{day}", *lines)
    body = {"start_date": "2026-05-01", "end_date": "2026-05-31", "scheme": "accrual"}
    return str(story.business.made("tax-returns/", body)["id"])


def bank_line(story: "Story", amount: int = 60_000) -> dict[str, Any]:
    """A line of the bank account, of money that came in."""
    told = {"date": "2026-07-15", "amount_cents": amount, "direction": "credit"}
    body = {"bank_account_id": story.thing("bank_account_id"), "transactions": [told]}
    answer = story.business.api.post("bank-transactions/", json=body)
    assert answer.status_code == 200, answer.text
    line: dict[str, Any] = answer.json()["results"][0]
    return line


def make_bank_line(story: "Story") -> str:
    """One of which nothing is accounted for."""
    return str(bank_line(story, 60_000 + len(story.ids))["id"])


def make_plain_line(story: "Story") -> str:
    """One of just 600.00, so that the parts of an example add up to it."""
    told = {"date": "2026-07-15", "amount_cents": 60_000, "direction": "credit"}
    lines = [{**told, "reference": f"plain {len(story.ids)}"}]
    body = {"bank_account_id": story.thing("bank_account_id"), "transactions": lines}
    result = story.business.api.post("bank-transactions/", json=body).json()["results"][0]
    return str(result["id"])


def make_bank_payment(story: "Story") -> str:
    """A completed payment, that lines are linked with."""
    return str(paid(story.business, customer_of(story), 50_000)["id"])


def make_linked_line(story: "Story") -> str:
    """One that is linked with that payment."""
    line = bank_line(story, 100)
    body = {"target_type": "invoice_payment", "target_id": story.thing("bank_payment_id")}
    path = f"bank-transactions/{line['id']}/match/"
    linked = story.business.api.post(path, json=body).json()
    story.ids["link_id"] = linked["links"][0]["reconciliation_link_id"]
    return str(line["id"])


def make_categorized_line(story: "Story") -> str:
    """One that was posted straight to an account."""
    line = bank_line(story, 850)
    path = f"bank-transactions/{line['id']}/categorize/"
    assert story.business.api.post(path, json={"account": "6300"}).status_code == 200
    return str(line["id"])


def make_other_bank_account(story: "Story") -> str:
    """One that money is transferred to, and whose statements are reconciled.

    The first one stands on the account where all payments are.
    """
    story.thing("bank_account_id")
    body = {"display_name": "Savings", "currency": "GBP"}
    return str(story.business.made("bank-accounts/", body)["id"])


def make_bank_rule(story: "Story") -> str:
    """One that no line of the story fits; the second one can be deleted."""
    conditions = {"text": f"nothing says this {len(story.ids)}"}
    body = {"name": "Never", "conditions": conditions, "result": {"account": "6300"}}
    return str(story.business.made("bank-rules/", body)["id"])


def reconciled(story: "Story", bank_account_id: str, on: str) -> str:
    """A statement of an account on which nothing is: it closes."""
    path = f"bank-accounts/{bank_account_id}/reconciliations/"
    body = {"statement_date": on, "closing_balance_cents": 0}
    answer = story.business.api.post(path, json=body)
    assert answer.json()["status"] == "closed", answer.text
    return str(answer.json()["id"])


def make_reconciliation(story: "Story") -> str:
    """A closed statement of the other bank account, so that it can be reopened."""
    return reconciled(story, story.thing("other_bank_account_id"), "2026-06-30")


def find_link(story: "Story") -> str:
    """The link of that line."""
    story.thing("linked_line_id")
    return story.ids["link_id"]


MAKERS: Mapping[str, Callable[["Story"], str]] = {
    "customer_id": make_customer,
    "sandbox_id": make_sandbox,
    "quiet_id": make_customer,
    "invoice_id": make_invoice,
    "unpaid_id": make_unpaid_invoice,
    "draft_id": make_draft,
    "written_off_id": make_written_off,
    "write_off_id": make_write_off,
    "payment_id": make_payment,
    "unapplied_id": make_unapplied_payment,
    "refund_id": make_refund,
    "refund_payment_id": make_refund_payment,
    "unpaid_refund_id": make_unpaid_refund,
    "credit_id": make_credit,
    "vendor_id": make_vendor,
    "quiet_vendor_id": make_vendor,
    "bill_id": make_bill,
    "unpaid_bill_id": make_unpaid_bill,
    "written_off_bill_id": make_written_off_bill,
    "bill_write_off_id": make_bill_write_off,
    "draft_bill_id": make_draft_bill,
    "bill_payment_id": make_bill_payment,
    "unapplied_bill_payment_id": make_unapplied_bill_payment,
    "vendor_credit_id": make_vendor_credit,
    "vendor_refund_id": make_vendor_refund,
    "vendor_refund_payment_id": make_vendor_refund_payment,
    "payout_id": make_payout,
    "spare_payout_id": make_payout,
    "card_payment_id": make_card_payment,
    "card_refund_payment_id": make_card_refund_payment,
    "tax_code_id": make_tax_code,
    "tax_return_id": make_tax_return,
    "filed_return_id": make_filed_return,
    "busy_return_id": make_busy_return,
    "bank_account_id": make_bank_account,
    "bank_transaction_id": make_bank_line,
    "plain_line_id": make_plain_line,
    "bank_payment_id": make_bank_payment,
    "linked_line_id": make_linked_line,
    "categorized_line_id": make_categorized_line,
    "link_id": find_link,
    "other_bank_account_id": make_other_bank_account,
    "bank_rule_id": make_bank_rule,
    "spare_bank_rule_id": make_bank_rule,
    "reconciliation_id": make_reconciliation,
    "opening_balance_id": make_opening,
    "spare_opening_id": make_opening,
    "document_id": make_document,
    "journal_entry_id": find_journal_entry,
    "draft_entry_id": make_draft_entry,
    "manual_entry_id": make_manual_entry,
    "account_id": lambda story: story.accounts["6000"],
    "busy_account_id": lambda story: story.accounts["1200"],
}
