"""Banking: a payout of a payment processor, and its line on the bank statement."""

from functools import partial
from typing import Final

from tools.verify.journeys.facts import LATER, LATER_MOMENT, payment
from tools.verify.story import Story, same

CARD: Final = {"payment_method": "credit_card", "payment_processor": "stripe"}


def reconcile(story: Story) -> None:
    """Record a card payment and its payout, and match the payout with a bank line."""
    check, books = partial(story.check, "bank"), story.books
    with check("a payout settles a payment by card without a variance"):
        customer = books.post("customers/", {"company_name": "Card Payer Ltd"})
        paid = books.post("invoices/payments/", payment(customer["id"], 20_000, **CARD))
        told = {"processor": "stripe", "paid_out_amount_cents": 19_700, "fee_cents": 300}
        items = {"completed_at": LATER_MOMENT, "payment_ids": [paid["payment"]["id"]]}
        payout = books.post("payouts/", {**told, **items})
        same("expected_net_amount_cents", payout["expected_net_amount_cents"], 19_700)
        same("amount_variance_cents", payout["amount_variance_cents"], 0)
    with check("a line of a statement is imported once, however often it is sent"):
        account = books.post("bank-accounts/", {"display_name": "Current account"})
        line = {
            "date": LATER,
            "amount_cents": 19_700,
            "direction": "credit",
            "description": "STRIPE PAYOUT",
        }
        sent = {"bank_account_id": account["id"], "transactions": [line]}
        first = books.post("bank-transactions/", sent, expected=200)
        same("imported", first["imported"], 1)
        again = books.post("bank-transactions/", sent, expected=200)
        same("skipped", (again["imported"], again["skipped"]), (0, 1))
    with check("the line is matched with the payout, and both say so"):
        [kept] = books.walk("bank-transactions/")
        target = {"target_type": "payout", "target_id": payout["id"]}
        done = books.post(f"bank-transactions/{kept['id']}/match/", target, expected=200)
        same("is_reconciled", done["is_reconciled"], True)
        seen = books.get(f"payouts/{payout['id']}/")
        same("reconciliation_status", seen["reconciliation_status"], "fully_reconciled")
