"""A business with a bank account: lines that are money, in parts, and lines that are not.

And the faults to plant in it, each with the checks that find it.
"""

from collections.abc import Mapping

from tests.builders.purchases import bill_paid
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.builders.vendor_refunds import agreed_refund
from tests.partner import Business
from tests.persistence.integrity.fault import Fault, called, change, role

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
    moved_between_accounts(shop)


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


def moved_between_accounts(shop: Business) -> None:
    """Lend and move money, in accounts of their own; the statement of the first one is closed."""
    reserve, deposit = (
        shop.made("bank-accounts/", {"display_name": name}) for name in ("Reserve", "Deposit")
    )
    lines = [
        {"account": reserve["account"]["code"], "debit_amount": 90},
        {"account": "2500", "credit_amount": 90},
    ]
    body = {"entry_date": BOOKED, "reference": "lent", "lines": lines, "post": True}
    loan = shop.made("general-ledger/journal-entries/", body)
    match(shop, line(shop, reserve, "lent", 90), "journal_entry", loan)
    out, come = line(shop, reserve, "moved out", -40), line(shop, deposit, "moved in", 40)
    match(shop, come, "transfer", out)
    parts = [{"account": "6300", "amount_cents": 3}, {"account": "6400", "amount_cents": 5}]
    ask(shop, line(shop, deposit, "in parts", -8), "categorize", {"splits": parts})
    path = f"bank-accounts/{reserve['id']}/reconciliations/"
    statement = {"statement_date": "2025-03-31", "closing_balance_cents": 50}
    assert shop.made(path, statement)["status"] == "closed"
    shop.made(path, {"statement_date": "2025-04-30", "closing_balance_cents": 51})


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
    "a part of a line was posted to another account": (
        change(
            "bank_transaction",
            "parts = jsonb_set(parts, '{0,account_id}', to_jsonb((SELECT id::text FROM account"
            " WHERE business_id = %(b)s AND code = '6000')))",
            "external_id = 'in parts'",
        ),
        {_POSTED},
    ),
    "parts come to less than the line": (
        change("bank_transaction", "parts = parts - 1", "external_id = 'in parts'"),
        {_LINES, _POSTED},
    ),
    "a line shows more of an entry than that moves": (
        change("bank_link", "amount = amount + 1", _of_line("lent")),
        {_LINES, "bank_entries_linked"},
    ),
    "a line shows an entry that goes the other way": (
        change("bank_transaction", "direction = 'debit'", "external_id = 'lent'"),
        {"bank_entries_linked"},
    ),
    "a transfer is of another amount": (
        change("bank_transfer", "amount = amount + 1", "true"),
        {"bank_transfers", _POSTED},
    ),
    "a transfer is dated elsewhere": (
        change("bank_transfer", "moved_on = moved_on - 1", "true"),
        {"bank_transfers"},
    ),
    "one line of a transfer is free": (
        change("bank_link", "ended_at = linked_at", _of_line("moved in")),
        {_LINES, "bank_transfers"},
    ),
    "a transfer is taken back and its lines are not": (
        change("bank_transfer", "ended_at = created_at", "true"),
        {"bank_transfers", _POSTED},
    ),
    "a closed statement closed with another balance": (
        change("bank_reconciliation", "closing_balance = 51", "status = 'closed'"),
        {"bank_statements"},
    ),
    "an open statement is older than a closed one": (
        change("bank_reconciliation", "statement_date = '2025-03-30'", "status = 'open'"),
        {"bank_statements"},
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
