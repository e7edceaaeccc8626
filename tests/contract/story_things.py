"""Makers of the records of a story, by the names of path parameters.

Other names are of records in a state that an operation needs.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from tests.builders.bank import PAYMENT, Bank, made_rule, open_account
from tests.builders.exchange_rates import put, table_body
from tests.builders.files import upload
from tests.builders.journal_entries import drafted, marked, posted, taxed
from tests.builders.openings import opened
from tests.builders.payouts import by_card, paid_out
from tests.builders.purchases import bill_paid
from tests.builders.revaluations import revalued
from tests.builders.sales import paid, refund_paid, refunded
from tests.builders.tax_codes import CODES, code_body
from tests.builders.tax_returns import RETURNS, filed, return_body
from tests.builders.trade import PURCHASES, SALES, SENT, Record, Trade
from tests.builders.vendor_refunds import agreed_refund

if TYPE_CHECKING:
    from tests.contract.valid_requests import Story

Maker = Callable[["Story"], Record]
ON = "2026-07-31"
BANK_BALANCE = {"account": "1100", "debit_amount": 5_000}


def at(name: str, story: "Story") -> Record:
    """Return a record of the story with only its ID."""
    return {"id": story.thing(name)}


def made_with(name: str, part: str, story: "Story") -> Record:
    """Return a record that is created together with another record of the story."""
    story.thing(name)
    return {"id": story.ids[part]}


def party_of(trade: Trade, story: "Story") -> Record:
    """Return the customer or vendor of the story."""
    return at(f"{trade.party}_id", story)


# ── Trade ──────────────────────────────────────────────────────────────────────────────────────


def make_part_paid(trade: Trade, total: int, story: "Story") -> Record:
    """Create a document of which two fifths are paid and can be refunded.

    Examples name it by its external id, too.
    """
    party = party_of(trade, story)
    document = trade.open(story.business, party, total, external_id="named in examples")
    trade.pay(story.business, party, total * 2 // 5, trade.part(document, total * 2 // 5))
    return document


def make_written_off(trade: Trade, story: "Story") -> Record:
    """Create a document that is written off in part."""
    document = trade.open(story.business, party_of(trade, story), 10_000)
    after = trade.write_off(story.business, document, amount_cents=2_000)
    story.ids[f"{trade.write_off_source}_id"] = after["write_offs"][0]["id"]
    return document


def make_payment(trade: Trade, story: "Story") -> Record:
    """Create a pending payment, which can be changed and cancelled."""
    part = trade.part(at(f"{trade.noun}_id", story), 1_000)
    return trade.pay(story.business, party_of(trade, story), 20_000, part, status="pending")


def makers_of(trade: Trade, total: int, credit: int, names: str) -> dict[str, Maker]:
    """Return the makers of one side, by these names."""
    makers: list[Maker] = [
        lambda story: trade.somebody(story.business, external_id="named in examples"),
        # It has no open amounts.
        lambda story: trade.somebody(story.business),
        partial(make_part_paid, trade, total),
        # It can be voided or written off.
        lambda story: trade.open(story.business, party_of(trade, story), 10_000),
        # It can be replaced, opened and deleted.
        lambda story: trade.draft(story.business, party_of(trade, story), 9_000),
        partial(make_written_off, trade),
        partial(made_with, names.split()[5], f"{trade.write_off_source}_id"),
        partial(make_payment, trade),
        # It is completed and settles nothing, so that it can be refunded.
        lambda story: trade.pay(story.business, party_of(trade, story), 5_000),
        lambda story: trade.credit(story.business, party_of(trade, story), credit),
    ]
    return dict(zip(names.split(), makers, strict=True))


def line_of(path: str, name: str, story: "Story") -> Record:
    """Return the first line of a document or credit."""
    answer = story.business.api.get(f"{path}{story.thing(name)}/")
    line: Record = answer.json()["line_items"][0]
    return line


def make_refund(story: "Story") -> Record:
    """Create a refund that is paid in part."""
    invoice = {"type": "Invoice", **at("invoice_id", story)}
    external_id = f"refund {len(story.ids)}"
    refund = refunded(story.business, invoice, amount_cents=8_000, external_id=external_id)
    facts = {"amount_cents": 1_000, "completed_at": "2026-07-10T09:00:00Z"}
    story.ids["refund_payment_id"] = refund_paid(story.business, refund, **facts)["id"]
    return refund


def make_unpaid_refund(story: "Story") -> Record:
    """Create a refund that can be cancelled."""
    invoice = {"type": "Invoice", **at("invoice_id", story)}
    return refunded(story.business, invoice, amount_cents=1_000)


def make_vendor_refund(story: "Story") -> Record:
    """Create a refund without allocations, of which no money has arrived."""
    refund = agreed_refund(story.business, party_of(PURCHASES, story), 7_200)
    story.ids["vendor_refund_payment_id"] = refund["vendor_refund_payments"][0]["id"]
    return refund


def make_payout(story: "Story") -> Record:
    """Create a payout of a card payment."""
    payment = by_card(story.business, party_of(SALES, story), 5_000)
    return paid_out(story.business, 4_900, payment, fee_cents=100)


def make_card_refund_payment(story: "Story") -> Record:
    """Create a refund payment by card, in no payout."""
    target = at("unapplied_id", story)
    refund = refunded(story.business, target, amount_cents=500, method="CREDIT_CARD")
    facts = {"completed_at": "2026-07-28T10:00:00Z", "external_id": f"by card {len(story.ids)}"}
    return refund_paid(story.business, refund, **facts)


# ── Books ──────────────────────────────────────────────────────────────────────────────────────


def make_opening(story: "Story") -> Record:
    """Create an opening on a day of its own, whose amounts are all open."""
    day = date(2020, 1, 1) + timedelta(days=len(story.ids))
    return opened(story.business, date=str(day), accounts=[BANK_BALANCE])


def owe_dollars(story: "Story") -> None:
    """Send an invoice in dollars, unless the business is archived, and set the rate of a day."""
    put(story.business, table_body("2026-06-30"))
    body = SALES.body(party_of(SALES, story), sent_at=SENT, currency="USD", exchange_rate=0.9)
    story.business.api.post(SALES.path, json=body)


def make_revaluation(story: "Story") -> Record:
    """Create a revaluation of the dollars of a new invoice."""
    return revalued(story.business, party_of(SALES, story), "2026-05-01")


def make_quiet_account(story: "Story") -> Record:
    """Create an account without entries, which can be archived."""
    kind = {"account_type": "expense", "account_subtype": "operating_expenses"}
    body = {"code": f"69{len(story.ids)}", "name": "Quiet", **kind}
    return story.business.made("general-ledger/chart-of-accounts/", body)


def make_document(story: "Story") -> Record:
    """Upload a file that is linked to no record."""
    answer = upload(story.business)
    assert answer.status_code == 201, answer.text
    made: Record = answer.json()
    return made


def find_journal_entry(story: "Story") -> Record:
    """Return an entry that the invoice posted."""
    story.thing("unpaid_id")
    found: Record = story.business.api.get("general-ledger/journal-entries/").json()["results"][0]
    return found


def make_draft_entry(story: "Story") -> Record:
    """Create an entry that can be replaced, approved and rejected."""
    return drafted(story.business, 450, entry_date=ON)


def make_tax_return(story: "Story") -> Record:
    """Create the draft return of a day of its own."""
    day = f"{1900 + len(story.ids)}-01-01"
    return story.business.made(RETURNS, return_body(start_date=day, end_date=day))


def make_busy_return(story: "Story") -> Record:
    """Create a return of several lines."""
    for day in range(1, 5):
        lines = (marked("4000", -100, "S20", "net"), marked("2200", -20, "S20", "output"))
        taxed(story.business, f"2026-05-0{day}", *lines)
    body = return_body(start_date="2026-05-01", end_date="2026-05-31")
    return story.business.made(RETURNS, body)


# ── Bank ───────────────────────────────────────────────────────────────────────────────────────


def make_bank_account(story: "Story") -> Record:
    return open_account(story.business, display_name="Current account")


def bank_of(story: "Story") -> Bank:
    """Return the first bank account."""
    return Bank(story.business, at("bank_account_id", story))


def bank_line(story: "Story", amount: int = 60_000) -> Record:
    """Import a line of money received."""
    return bank_of(story).line(amount, date="2026-07-15")


def make_linked_line(story: "Story") -> Record:
    """Import a line and link it with the payment."""
    target = at("bank_payment_id", story)
    linked = bank_of(story).match(bank_line(story, 100), PAYMENT, target)
    story.ids["link_id"] = linked["links"][0]["reconciliation_link_id"]
    return linked


def make_other_bank_account(story: "Story") -> Record:
    """Open a bank account for transfers and for statements.

    The first bank account uses the account of all payments.
    """
    story.thing("bank_account_id")
    return open_account(story.business)


def make_bank_rule(story: "Story") -> Record:
    """Create a rule that matches no line of the story."""
    return made_rule(story.business, f"nothing says this {len(story.ids)}")


def reconciled(story: "Story", bank_account_id: str, on: str) -> Record:
    """Return the closed statement of an account without lines."""
    return Bank(story.business, {"id": bank_account_id}).closed(on, 0)


def make_sandbox(story: "Story") -> Record:
    body = {"external_id": f"sandbox-of-{story.business.id}"}
    made: Record = story.partner.api.post("/v1/platform/sandboxes/", json=body).json()
    return made


def delete_webhook_endpoints(story: "Story") -> None:
    """Delete the endpoints of this business, and those of examples: a partner has 20 at most."""
    path = "/v1/platform/webhook-endpoints/"
    listed = story.partner.api.get(path, params={"page_size": 100}).json()["results"]
    for each in listed:
        if each["business_ids"] in ([story.business.id], None):
            assert story.partner.api.delete(f"{path}{each['id']}/").status_code == 200


def make_webhook_endpoint(story: "Story") -> Record:
    """Create an endpoint for events of this business."""
    # Nobody listens there, and a test of it is told so immediately.
    body = {"url": "http://127.0.0.1:1025/in", "business_ids": [story.business.id]}
    answer = story.partner.api.post("/v1/platform/webhook-endpoints/", json=body)
    assert answer.status_code == 201, answer.text
    made: Record = answer.json()
    return made


def make_webhook_delivery(story: "Story") -> Record:
    """Replay the events of this business to the endpoint, and return the first delivery."""
    path = f"/v1/platform/webhook-endpoints/{story.thing('webhook_endpoint_id')}/"
    body = {"business_id": story.business.id, "until": 20}
    assert story.partner.api.post(f"{path}replay/", json=body).status_code == 200
    made: Record = story.partner.api.get(f"{path}deliveries/").json()["results"][0]
    return made


MAKERS: Mapping[str, Maker] = {
    **makers_of(
        SALES,
        total=50_000,
        credit=4_000,
        names="customer_id quiet_id invoice_id unpaid_id draft_id written_off_id write_off_id"
        " payment_id unapplied_id credit_id",
    ),
    **makers_of(
        PURCHASES,
        total=500_000,
        credit=6_000,
        names="vendor_id quiet_vendor_id bill_id unpaid_bill_id draft_bill_id written_off_bill_id"
        " bill_write_off_id bill_payment_id unapplied_bill_payment_id vendor_credit_id",
    ),
    "draft_line_id": partial(line_of, SALES.path, "draft_id"),
    "draft_bill_line_id": partial(line_of, PURCHASES.path, "draft_bill_id"),
    "credit_line_id": partial(line_of, SALES.credits, "credit_id"),
    "vendor_credit_line_id": partial(line_of, PURCHASES.credits, "vendor_credit_id"),
    "sandbox_id": make_sandbox,
    "webhook_endpoint_id": make_webhook_endpoint,
    "spare_webhook_endpoint_id": make_webhook_endpoint,
    "webhook_delivery_id": make_webhook_delivery,
    "refund_id": make_refund,
    "refund_payment_id": partial(made_with, "refund_id", "refund_payment_id"),
    "unpaid_refund_id": make_unpaid_refund,
    "vendor_refund_id": make_vendor_refund,
    "vendor_refund_payment_id": partial(made_with, "vendor_refund_id", "vendor_refund_payment_id"),
    "payout_id": make_payout,
    "spare_payout_id": make_payout,
    # The processor holds its money; no payout has it.
    "card_payment_id": lambda story: by_card(story.business, party_of(SALES, story), 9_000),
    "card_refund_payment_id": make_card_refund_payment,
    # No posted line uses it.
    "tax_code_id": lambda story: story.business.made(CODES, code_body(f"V{len(story.ids)}")),
    "tax_return_id": make_tax_return,
    "filed_return_id": lambda story: filed(story.business, make_tax_return(story)),
    "busy_return_id": make_busy_return,
    "bank_account_id": make_bank_account,
    "bank_transaction_id": lambda story: bank_line(story, 60_000 + len(story.ids)),
    # The parts of an example add up to its amount, 600.00.
    "plain_line_id": bank_line,
    "bank_payment_id": lambda story: paid(story.business, party_of(SALES, story), 50_000),
    "returned_payment_id": lambda story: bill_paid(
        story.business, party_of(PURCHASES, story), 500_000
    ),
    "linked_line_id": make_linked_line,
    "categorized_line_id": lambda story: bank_of(story).categorize(bank_line(story, 850), "6300"),
    "link_id": partial(made_with, "linked_line_id", "link_id"),
    "other_bank_account_id": make_other_bank_account,
    "bank_rule_id": make_bank_rule,
    "spare_bank_rule_id": make_bank_rule,
    # It is the last one of its account, so that it can be reopened.
    "reconciliation_id": lambda story: reconciled(
        story, story.thing("other_bank_account_id"), "2026-06-30"
    ),
    "revaluation_id": make_revaluation,
    "spare_revaluation_id": make_revaluation,
    "opening_balance_id": make_opening,
    "spare_opening_id": make_opening,
    "document_id": make_document,
    "journal_entry_id": find_journal_entry,
    "draft_entry_id": make_draft_entry,
    "manual_entry_id": lambda story: posted(story.business, 450, entry_date=ON),
    "account_id": lambda story: {"id": story.accounts["6000"]},
    "quiet_account_id": make_quiet_account,
    "busy_account_id": lambda story: {"id": story.accounts["1200"]},
}
