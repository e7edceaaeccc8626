"""How each thing of a story is made, by the name that paths have for it.

Names that no path has are things in a state that some operation needs to find.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tests.builders.bank import PAYMENT, Bank, made_rule, open_account
from tests.builders.files import upload
from tests.builders.journal_entries import drafted, marked, posted, taxed
from tests.builders.openings import opened
from tests.builders.payouts import by_card, paid_out
from tests.builders.sales import paid, refund_paid, refunded
from tests.builders.tax_codes import CODES, code_body
from tests.builders.tax_returns import RETURNS, filed, return_body
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import agreed_refund

if TYPE_CHECKING:
    from tests.contract.valid_requests import Story

BANK_BALANCE = {"account": "1100", "debit_amount": 5_000}


def party_of(trade: Trade, story: "Story") -> Record:
    """The customer or vendor whom the story is about."""
    return {"id": story.thing(f"{trade.party}_id")}


def make_sandbox(story: "Story") -> str:
    """One of the partner's sandboxes."""
    body = {"external_id": f"sandbox-of-{story.business.id}"}
    return str(story.partner.api.post("/v1/platform/sandboxes/", json=body).json()["id"])


def make_party(trade: Trade, story: "Story") -> str:
    """A customer or vendor; the second one has no open amounts."""
    return str(trade.somebody(story.business)["id"])


def make_part_paid(trade: Trade, total: int, story: "Story") -> str:
    """A document of which two fifths are paid and can be refunded."""
    party = party_of(trade, story)
    document = trade.open(story.business, party, total)
    paid = total * 2 // 5
    trade.pay(story.business, party, paid, trade.part(document, paid))
    return str(document["id"])


def make_unpaid(trade: Trade, story: "Story") -> str:
    """A document that can be voided or written off."""
    return str(trade.open(story.business, party_of(trade, story), 10_000)["id"])


def make_draft(trade: Trade, story: "Story") -> str:
    """A document that can be replaced, opened and deleted."""
    return str(trade.draft(story.business, party_of(trade, story), 9_000)["id"])


def make_written_off(trade: Trade, story: "Story") -> str:
    """A document of which a part is written off."""
    document = trade.open(story.business, party_of(trade, story), 10_000)
    after = trade.write_off(story.business, document, amount_cents=2_000)
    story.ids[f"{trade.write_off_source}_id"] = after["write_offs"][0]["id"]
    return str(document["id"])


def made_with(thing: str, part: str, story: "Story") -> str:
    """An object that is made with another object of the story."""
    story.thing(thing)
    return story.ids[part]


def make_payment(trade: Trade, story: "Story") -> str:
    """One that is still pending, so that it can be changed and cancelled."""
    part = trade.part({"id": story.thing(f"{trade.noun}_id")}, 1_000)
    party = party_of(trade, story)
    return str(trade.pay(story.business, party, 20_000, part, status="pending")["id"])


def make_unapplied_payment(trade: Trade, story: "Story") -> str:
    """A completed one that settles nothing, so that it can be refunded."""
    return str(trade.pay(story.business, party_of(trade, story), 5_000)["id"])


def make_credit(trade: Trade, amount: int, story: "Story") -> str:
    """One that is opened and applied to nothing yet."""
    return str(trade.credit(story.business, party_of(trade, story), amount)["id"])


def make_refund(story: "Story") -> str:
    """One of which a part is paid."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    refund = refunded(story.business, invoice, amount_cents=8_000)
    paid = refund_paid(story.business, refund, amount_cents=1_000)
    story.ids["refund_payment_id"] = paid["id"]
    return str(refund["id"])


def make_unpaid_refund(story: "Story") -> str:
    """One that can be cancelled."""
    invoice = {"type": "Invoice", "id": story.thing("invoice_id")}
    return str(refunded(story.business, invoice, amount_cents=1_000)["id"])


def make_vendor_refund(story: "Story") -> str:
    """One that is allocated to nothing yet, and of which nothing has come."""
    refund = agreed_refund(story.business, party_of(PURCHASES, story), 7_200)
    story.ids["vendor_refund_payment_id"] = refund["vendor_refund_payments"][0]["id"]
    return str(refund["id"])


def make_payout(story: "Story") -> str:
    """One of a payment by card; the second one can be deleted."""
    payment = by_card(story.business, party_of(SALES, story), 5_000)
    return str(paid_out(story.business, 4_900, payment, fee_cents=100)["id"])


def make_card_payment(story: "Story") -> str:
    """A completed one whose money is with a processor, and in no payout."""
    return str(by_card(story.business, party_of(SALES, story), 9_000)["id"])


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
    answer = upload(story.business)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def find_journal_entry(story: "Story") -> str:
    """An entry that the invoice has posted."""
    story.thing("unpaid_id")
    entries = story.business.api.get("general-ledger/journal-entries/").json()
    return str(entries["results"][0]["id"])


def make_draft_entry(story: "Story") -> str:
    """One that can be replaced, approved and rejected."""
    return str(drafted(story.business, 450, entry_date="2026-07-31")["id"])


def make_manual_entry(story: "Story") -> str:
    """One that is posted, so that it can be reversed."""
    return str(posted(story.business, 450, entry_date="2026-07-31")["id"])


def make_bank_account(story: "Story") -> str:
    """One of its own."""
    return str(open_account(story.business, display_name="Current account")["id"])


def make_tax_code(story: "Story") -> str:
    """One of its own, that no posted line names."""
    return str(story.business.made(CODES, code_body(f"V{len(story.ids)}"))["id"])


def make_tax_return(story: "Story") -> str:
    """The draft of a month that no other has."""
    day = f"{1900 + len(story.ids)}-01-01"
    return str(story.business.made(RETURNS, return_body(start_date=day, end_date=day))["id"])


def make_filed_return(story: "Story") -> str:
    """One that was filed."""
    return str(filed(story.business, {"id": make_tax_return(story)})["id"])


def make_busy_return(story: "Story") -> str:
    """One that several lines stand behind."""
    for day in range(1, 5):
        lines = (marked("4000", -100, "S20", "net"), marked("2200", -20, "S20", "output"))
        taxed(story.business, f"2026-05-0{day}", *lines)
    body = return_body(start_date="2026-05-01", end_date="2026-05-31")
    return str(story.business.made(RETURNS, body)["id"])


def bank_of(story: "Story") -> Bank:
    """The first bank account."""
    return Bank(story.business, {"id": story.thing("bank_account_id")})


def bank_line(story: "Story", amount: int = 60_000) -> Record:
    """A line of the bank account, of money that came in."""
    return bank_of(story).line(amount, date="2026-07-15")


def make_bank_line(story: "Story") -> str:
    """One of which nothing is accounted for."""
    return str(bank_line(story, 60_000 + len(story.ids))["id"])


def make_plain_line(story: "Story") -> str:
    """One of just 600.00, so that the parts of an example add up to it."""
    return str(bank_line(story)["id"])


def make_bank_payment(story: "Story") -> str:
    """A completed payment, that lines are linked with."""
    return str(paid(story.business, party_of(SALES, story), 50_000)["id"])


def make_linked_line(story: "Story") -> str:
    """One that is linked with that payment."""
    target = {"id": story.thing("bank_payment_id")}
    linked = bank_of(story).match(bank_line(story, 100), PAYMENT, target)
    story.ids["link_id"] = linked["links"][0]["reconciliation_link_id"]
    return str(linked["id"])


def make_categorized_line(story: "Story") -> str:
    """One that was posted straight to an account."""
    return str(bank_of(story).categorize(bank_line(story, 850), "6300")["id"])


def make_other_bank_account(story: "Story") -> str:
    """One that money is transferred to, and whose statements are reconciled.

    The first one stands on the account where all payments are.
    """
    story.thing("bank_account_id")
    return str(open_account(story.business)["id"])


def make_bank_rule(story: "Story") -> str:
    """One that no line of the story fits; the second one can be deleted."""
    return str(made_rule(story.business, f"nothing says this {len(story.ids)}")["id"])


def reconciled(story: "Story", bank_account_id: str, on: str) -> str:
    """A statement of an account on which nothing is: it closes."""
    return str(Bank(story.business, {"id": bank_account_id}).closed(on, 0)["id"])


def make_reconciliation(story: "Story") -> str:
    """A closed statement of the other bank account, so that it can be reopened."""
    return reconciled(story, story.thing("other_bank_account_id"), "2026-06-30")


MAKERS: Mapping[str, Callable[["Story"], str]] = {
    "customer_id": partial(make_party, SALES),
    "sandbox_id": make_sandbox,
    "quiet_id": partial(make_party, SALES),
    "invoice_id": partial(make_part_paid, SALES, 50_000),
    "unpaid_id": partial(make_unpaid, SALES),
    "draft_id": partial(make_draft, SALES),
    "written_off_id": partial(make_written_off, SALES),
    "write_off_id": partial(made_with, "written_off_id", "write_off_id"),
    "payment_id": partial(make_payment, SALES),
    "unapplied_id": partial(make_unapplied_payment, SALES),
    "refund_id": make_refund,
    "refund_payment_id": partial(made_with, "refund_id", "refund_payment_id"),
    "unpaid_refund_id": make_unpaid_refund,
    "credit_id": partial(make_credit, SALES, 4_000),
    "vendor_id": partial(make_party, PURCHASES),
    "quiet_vendor_id": partial(make_party, PURCHASES),
    "bill_id": partial(make_part_paid, PURCHASES, 500_000),
    "unpaid_bill_id": partial(make_unpaid, PURCHASES),
    "written_off_bill_id": partial(make_written_off, PURCHASES),
    "bill_write_off_id": partial(made_with, "written_off_bill_id", "bill_write_off_id"),
    "draft_bill_id": partial(make_draft, PURCHASES),
    "bill_payment_id": partial(make_payment, PURCHASES),
    "unapplied_bill_payment_id": partial(make_unapplied_payment, PURCHASES),
    "vendor_credit_id": partial(make_credit, PURCHASES, 6_000),
    "vendor_refund_id": make_vendor_refund,
    "vendor_refund_payment_id": partial(made_with, "vendor_refund_id", "vendor_refund_payment_id"),
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
    "link_id": partial(made_with, "linked_line_id", "link_id"),
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
