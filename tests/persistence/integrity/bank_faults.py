"""A business with a bank account, whose lines are linked with money in full, in part or not.

The faults to plant in it, each with the checks that find it.
"""

from collections.abc import Mapping

from tests.builders.bank import (
    BILL_PAYMENT,
    BOOKED,
    JOURNAL_ENTRY,
    PAYMENT,
    TRANSFER,
    VENDOR_REFUND_PAYMENT,
    Bank,
    open_account,
)
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid
from tests.builders.trade import SALES, Record
from tests.builders.vendor_refunds import agreed_refund
from tests.partner import Business
from tests.persistence.integrity.fault import Fault, called, change, coded, planted, role


def banked(shop: Business, baker: Record) -> None:
    """Match bank lines with money, in full and in part."""
    current, savings = (
        Bank(shop, open_account(shop, display_name=name)) for name in ("Current account", "Savings")
    )
    miller = shop.vendor(external_id="bank's miller")
    seen = paid(shop, baker, 1_000, external_id="seen", processing_fee_cents=20)
    coming = paid(shop, baker, 600, external_id="coming", status="processing")
    spent = bill_paid(shop, miller, 500, external_id="spent")
    refund = agreed_refund(shop, miller, 300)["vendor_refund_payments"][0]
    first, second, third, fourth, charges, mistaken, lost = (
        savings.line(amount, external_id=name)
        for name, amount in (
            *(("first", 700), ("second", 900), ("third", -500), ("fourth", 300)),
            *(("charges", -12), ("mistaken", -7), ("lost", 50)),
        )
    )
    savings.match(first, PAYMENT, seen)
    savings.match(second, PAYMENT, seen)
    savings.match(second, PAYMENT, coming, 400)
    savings.match(third, BILL_PAYMENT, spent)
    savings.match(fourth, VENDOR_REFUND_PAYMENT, refund)
    savings.categorize(charges, "6300")
    savings.categorize(mistaken, "6400")
    savings.uncategorize(mistaken)
    gone = paid(shop, baker, 60, external_id="gone", status="pending")
    savings.match(lost, PAYMENT, gone)
    SALES.change(shop, gone, status="failed")
    current.line(10, external_id="elsewhere")
    rounded(savings, baker)
    moved_between_accounts(shop)


def rounded(savings: Bank, baker: Record) -> None:
    """Match payments with lines of slightly smaller amounts, and fail one payment."""
    tolerate(savings.shop, 5)
    for name in ("short", "bounced short"):
        payment = paid(savings.shop, baker, 1_000, external_id=name)
        savings.match(savings.line(997, external_id=name), PAYMENT, payment)
    SALES.change(savings.shop, payment, status="failed")
    tolerate(savings.shop, 0)


def tolerate(shop: Business, cents: int) -> None:
    """Allow bank lines and their money to differ by an amount."""
    address = f"/v1/platform/businesses/{shop.id}/"
    answer = shop.partner.api.patch(address, json={"matching_tolerance_cents": cents})
    assert answer.status_code == 200, answer.text


def moved_between_accounts(shop: Business) -> None:
    """Post a loan and transfers between two accounts; close the statement of the first."""
    reserve, deposit = (
        Bank(shop, open_account(shop, display_name=name)) for name in ("Reserve", "Deposit")
    )
    lines = [debit(reserve.code, 90), credit("2500", 90)]
    body = {"entry_date": BOOKED, "reference": "lent", "lines": lines, "post": True}
    loan = shop.made(ENTRIES, body)
    reserve.match(reserve.line(90, external_id="lent"), JOURNAL_ENTRY, loan)
    out = reserve.line(-40, external_id="moved out")
    deposit.match(deposit.line(40, external_id="moved in"), TRANSFER, out)
    deposit.split(deposit.line(-8, external_id="in parts"), _6300=3, _6400=5)
    reserve.closed("2025-03-31", 50)
    reserve.reconcile("2025-04-30", 51)


def did(shop: Business, method: str, path: str, body: Record | None = None) -> None:
    """Send a change; check that it succeeds."""
    answer = shop.api.request(method, path, json=body)
    assert answer.status_code == 200, answer.text


def _of_line(name: str) -> str:
    return f"transaction_id = {called('bank_transaction', name)}"


_LINES, _LINKS, _POSTED = "bank_transactions_linked", "bank_links", "posted_as_desired"

BANK: Mapping[str, Fault] = {
    "a line counts more than its links": planted(
        "bank_transaction", "linked = linked + 1", "external_id = 'second'", _LINES
    ),
    "a link grows": planted("bank_link", "amount = amount + 1", _of_line("first"), _LINES, _LINKS),
    "a link ends and nobody knows": planted(
        "bank_link", "ended_at = linked_at", _of_line("third"), _LINES, _LINKS
    ),
    "a payment is linked with more than it brought": planted(
        "invoice_payment", "fee = fee + 100", "external_id = 'seen'", _LINKS, _POSTED
    ),
    "a payment counts less than its links": planted(
        "bill_payment", "linked = linked - 1", "external_id = 'spent'", _LINKS
    ),
    "a link names another kind of money": planted(
        "bank_link", "target_type = 'invoice_payment'", _of_line("third"), _LINKS
    ),
    "a link is with a line that goes the other way": planted(
        "bank_transaction", "direction = 'debit'", "external_id = 'fourth'", _LINKS
    ),
    "a line moves to another bank account": (
        change(
            "bank_transaction",
            "bank_account_id = (SELECT bank_account_id FROM bank_transaction"
            " WHERE business_id = %(b)s AND external_id = 'elsewhere')",
            "external_id = 'third'",
        ),
        {_LINKS},
    ),
    "money that never came keeps a link": planted(
        "bank_link", "ended_at = NULL", _of_line("lost"), _LINES, _LINKS
    ),
    "a line shows the return of money that never came back": planted(
        "bank_link", "back = true", _of_line("third"), _LINKS
    ),
    "a line was posted to another account": (
        change(
            "bank_transaction", f"category_account_id = {coded('6400')}", "external_id = 'charges'"
        ),
        {_POSTED},
    ),
    "a part of a line was posted to another account": (
        change(
            "bank_transaction",
            f"parts = jsonb_set(parts, '{{0,account_id}}', to_jsonb({coded('6000')}::text))",
            "external_id = 'in parts'",
        ),
        {_POSTED},
    ),
    "parts come to less than the line": planted(
        "bank_transaction", "parts = parts - 1", "external_id = 'in parts'", _LINES, _POSTED
    ),
    "a line shows more of an entry than that moves": planted(
        "bank_link", "amount = amount + 1", _of_line("lent"), _LINES, "bank_entries_linked"
    ),
    "a line shows an entry that goes the other way": planted(
        "bank_transaction", "direction = 'debit'", "external_id = 'lent'", "bank_entries_linked"
    ),
    "a transfer is of another amount": planted(
        "bank_transfer", "amount = amount + 1", "true", "bank_transfers", _POSTED
    ),
    "a transfer is dated elsewhere": planted(
        "bank_transfer", "moved_on = moved_on - 1", "true", "bank_transfers"
    ),
    "one line of a transfer is free": planted(
        "bank_link", "ended_at = linked_at", _of_line("moved in"), _LINES, "bank_transfers"
    ),
    "a transfer is taken back and its lines are not": planted(
        *("bank_transfer", "ended_at = created_at", "true"),
        *("bank_transfers", "event_records", _POSTED),
    ),
    "a closed statement closed with another balance": planted(
        "bank_reconciliation", "closing_balance = 51", "status = 'closed'", "bank_statements"
    ),
    "an open statement is older than a closed one": planted(
        "bank_reconciliation", "statement_date = '2025-03-30'", "status = 'open'", "bank_statements"
    ),
    "a line that was taken back counts as categorized": (
        change(
            "bank_transaction",
            f"categorized = 7, category_account_id = {coded('6400')}",
            "external_id = 'mistaken'",
        ),
        {_POSTED},
    ),
    "a line forgets what it was rounded by": planted(
        "bank_transaction", "rounding = 0", "external_id = 'short'", _LINES, _POSTED
    ),
    "a link was rounded by more": planted(
        "bank_link", "rounding = rounding - 1", _of_line("short"), _LINES
    ),
    "money stands on another account than its bank's": (
        change("bill_payment", f"money_account_id = {role('cash')}", "external_id = 'spent'"),
        {_LINKS, _POSTED},
    ),
}
