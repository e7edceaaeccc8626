"""A business with a bank account: lines that are money, in parts, and lines that are not.

And the faults to plant in it, each with the checks that find it.
"""

from collections.abc import Mapping

from tests.builders.purchases import bill_paid
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.builders.vendor_refunds import agreed_refund
from tests.partner import Business
from tests.persistence.planting import Fault, called, change, role

BOOKED = "2025-03-12"


def banked(shop: Business, baker: Record) -> None:
    """See at the bank what has come and gone: all of it, a part of it, and no more."""
    current, savings = (
        shop.made("bank-accounts/", {"display_name": name, "currency": "GBP"})
        for name in ("Current account", "Savings")
    )
    miller = shop.vendor(external_id="bank's miller")
    seen = paid(shop, baker, 1_000, external_id="seen", processing_fee_cents=20)
    coming = paid(shop, baker, 600, external_id="coming", status="processing")
    spent = bill_paid(shop, miller, 500, external_id="spent")
    refund = agreed_refund(shop, miller, 300)["vendor_refund_payments"][0]
    lines = {
        name: line(shop, savings, name, amount)
        for name, amount in (
            *(("first", 700), ("second", 900), ("third", -500), ("fourth", 300)),
            *(("charges", -12), ("mistaken", -7), ("lost", 50)),
        )
    }
    match(shop, lines["first"], "invoice_payment", seen)
    match(shop, lines["second"], "invoice_payment", seen)
    match(shop, lines["second"], "invoice_payment", coming, amount_cents=400)
    match(shop, lines["third"], "bill_payment", spent)
    match(shop, lines["fourth"], "vendor_refund_payment", refund)
    ask(shop, lines["charges"], "categorize", {"account": "6300"})
    ask(shop, lines["mistaken"], "categorize", {"account": "6400"})
    ask(shop, lines["mistaken"], "uncategorize")
    gone = paid(shop, baker, 50, external_id="gone")
    match(shop, lines["lost"], "invoice_payment", gone)
    did(shop, "PATCH", f"invoices/payments/{gone['id']}/", {"status": "failed"})
    line(shop, current, "elsewhere", 10)
    rounded(shop, savings, baker)


def rounded(shop: Business, savings: Record, baker: Record) -> None:
    """See money at the bank that is a little less than it was said to be, and let it bounce."""
    tolerate(shop, 5)
    for name in ("short", "bounced short"):
        payment = paid(shop, baker, 1_000, external_id=name)
        match(shop, line(shop, savings, name, 997), "invoice_payment", payment)
    did(shop, "PATCH", f"invoices/payments/{payment['id']}/", {"status": "failed"})
    tolerate(shop, 0)


def tolerate(shop: Business, cents: int) -> None:
    """Let bank lines and what they are matched with differ by so much."""
    address = f"/v1/platform/businesses/{shop.id}/"
    answer = shop.partner.api.patch(address, json={"matching_tolerance_cents": cents})
    assert answer.status_code == 200, answer.text


def line(shop: Business, account: Record, name: str, amount: int) -> Record:
    """Import one line; above zero it comes in."""
    told = {
        "external_id": name,
        "date": BOOKED,
        "amount_cents": abs(amount),
        "direction": "credit" if amount > 0 else "debit",
    }
    body = {"bank_account_id": account["id"], "transactions": [told]}
    answer = shop.api.post("bank-transactions/", json=body)
    assert answer.status_code == 200, answer.text
    result: Record = answer.json()["results"][0]
    return result


def match(shop: Business, of: Record, kind: str, target: Record, **facts: int) -> None:
    """Link a line with its money."""
    ask(shop, of, "match", {"target_type": kind, "target_id": target["id"], **facts})


def did(shop: Business, method: str, path: str, body: Record | None = None) -> None:
    """Change something that is there."""
    answer = shop.api.request(method, path, json=body)
    assert answer.status_code == 200, answer.text


def ask(shop: Business, of: Record, what: str, body: Record | None = None) -> None:
    """Ask for something of a line."""
    did(shop, "POST", f"bank-transactions/{of['id']}/{what}/", body)


def _of_line(name: str) -> str:
    return f"transaction_id = {called('bank_transaction', name)}"


_LINES, _LINKS, _POSTED = "bank_transactions_linked", "bank_links", "posted_as_desired"

BANK: Mapping[str, Fault] = {
    "a line counts more than its links": (
        change("bank_transaction", "linked = linked + 1", "external_id = 'second'"),
        {_LINES},
    ),
    "a link grows": (
        change("bank_link", "amount = amount + 1", _of_line("first")),
        {_LINES, _LINKS},
    ),
    "a link ends and nobody knows": (
        change("bank_link", "ended_at = linked_at", _of_line("third")),
        {_LINES, _LINKS},
    ),
    "a payment is linked with more than it brought": (
        change("invoice_payment", "fee = fee + 100", "external_id = 'seen'"),
        {_LINKS, _POSTED},
    ),
    "a payment counts less than its links": (
        change("bill_payment", "linked = linked - 1", "external_id = 'spent'"),
        {_LINKS},
    ),
    "a link names another kind of money": (
        change("bank_link", "target_type = 'invoice_payment'", _of_line("third")),
        {_LINKS},
    ),
    "a link is with a line that goes the other way": (
        change("bank_transaction", "direction = 'debit'", "external_id = 'fourth'"),
        {_LINKS},
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
    "money that bounced keeps a link": (
        change("bank_link", "ended_at = NULL", _of_line("lost")),
        {_LINES, _LINKS},
    ),
    "a line was posted to another account": (
        change(
            "bank_transaction",
            "category_account_id = (SELECT id FROM account"
            " WHERE business_id = %(b)s AND code = '6400')",
            "external_id = 'charges'",
        ),
        {_POSTED},
    ),
    "a line that was taken back counts as categorized": (
        change(
            "bank_transaction",
            "categorized = 7, category_account_id = (SELECT id FROM account"
            " WHERE business_id = %(b)s AND code = '6400')",
            "external_id = 'mistaken'",
        ),
        {_POSTED},
    ),
    "a line forgets what it was rounded by": (
        change("bank_transaction", "rounding = 0", "external_id = 'short'"),
        {_LINES, _POSTED},
    ),
    "a link was rounded by more": (
        change("bank_link", "rounding = rounding - 1", _of_line("short")),
        {_LINES},
    ),
    "money stands on another account than its bank's": (
        change(
            "bill_payment",
            f"money_account_id = {role('cash')}",
            "external_id = 'spent'",
        ),
        {_LINKS, _POSTED},
    ),
}
