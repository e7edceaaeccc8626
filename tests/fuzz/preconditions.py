"""Preconditions in the books that most valid requests fulfil, so that they are not refused.

Most requests use one currency, new names, amounts that are available, and records of one
customer or vendor.
"""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import partial
from typing import Any

from tests.builders.trade import PURCHASES, SALES, Trade
from tests.fuzz.dictionaries import numbers, seeds
from tests.fuzz.pools import CREDIT, PAYMENT

Body = dict[str, Any]

LONGEST = {
    **{"external_id": 255, "code": 50, "invoice_number": 100, "credit_note_number": 100},
    **{"bill_number": 100, "vendor_bill_number": 100, "vendor_credit_number": 100},
}
CURRENCY = "GBP"
RATED = ("EUR", "USD", "SEK", "NOK", "DKK", "ISK", "MYR", "SGD")
IN_BASE = ("base_amount_cents", "base_outstanding_cents", "target_amount_cents")
FOREIGN = ("exchange_rate", "document_amount_cents", "currency", "currency_amount")
BOUGHT = ("bills", "vendor_credits")


def lead(name: str, case: Any) -> None:
    """Change a case of an operation so that the books allow it."""
    tie_names(case.body)
    if name in MOSTLY:
        MOSTLY[name](case, case.body)


def tie_names(body: Body) -> None:
    """Set a currency that the books know, and names that no record has."""
    take_currency(body)
    for name, longest in LONGEST.items():
        if body.get(name):
            number = str(next(numbers))
            body[name] = body[name][: longest - len(number)] + number


def take_currency(body: Body) -> None:
    """Set the common currency without a rate; in every fifth body with a rate, dollars at 0.80."""
    in_dollars = "exchange_rate" in body and next(numbers) % 5 == 0
    leave_out(body, *IN_BASE, *(() if in_dollars else ("exchange_rate",)))
    if in_dollars:
        body["exchange_rate"] = "0.8"
    if "currency" in body:
        body["currency"] = "USD" if in_dollars else CURRENCY
    for items in body.values():
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict):
                leave_out(item, *IN_BASE, *FOREIGN)


def revalue_past(_case: Any, body: Body) -> None:
    """Set a day that is over, and a rate for every foreign currency."""
    body["date"] = str(date(2026, 1, 1) + timedelta(days=next(numbers) % 300))
    body["rates"] = dict.fromkeys(RATED, "0.5")


def change_few_lines(_case: Any, body: Body) -> None:
    """Remove changes of lines in most cases: no dictionary has the lines of a document."""
    if next(numbers) % 4:
        leave_out(body, "line_items")


def keep_identity(_case: Any, body: Body) -> None:
    """Remove the fields that cannot change."""
    leave_out(body, "external_id", "country", "base_currency")


def keep_kind(_case: Any, body: Body) -> None:
    """Set the kind of an account to that of its parent, an expense."""
    if "parent_id" in body:
        body |= {"account_type": "expense", "account_subtype": "operating_expenses"}
        leave_out(body, "cash_flow")  # Only accounts of the balance sheet have it.


def take_kind(_case: Any, body: Body) -> None:
    """Remove the kind of an account, which is that of its parent."""
    leave_out(body, "account_type", "account_subtype", "cash_flow")


def open_before(_case: Any, body: Body) -> None:
    """Open the books on a day of its own, with small, older amounts, each of one party.

    The tax details add up to the open amount.
    """
    body["date"] = str(date(2030, 1, 1) + timedelta(days=next(numbers) % 60_000))
    for name in ("invoices", "bills", "customer_credits", "vendor_credits", "prepayments"):
        for item in body.get(name, ()):
            tie_names(item)
            for party in ("customer", "vendor"):
                if f"{party}_id" in item:
                    leave_out(item, f"{party}_external_id")
            days = {each: "2024-11-03" for each in ("issue_date", "bill_date", "payment_date")}
            days |= {each: "2024-11-03T00:00:00Z" for each in ("sent_at", "received_at")}
            item.update({each: day for each, day in days.items() if each in item})
            for amount in ("outstanding_amount_cents", "unapplied_amount_cents"):
                if amount in item:
                    item[amount] = 1 + item[amount] % 100_000
                    say_all_by_code(item, item[amount], "P20" if name in BOUGHT else "S20")


def say_all_by_code(item: Body, amount: int, tax_code: str) -> None:
    """Replace tax details by those of one code for the whole amount."""
    if "tax" in item:
        tax = amount // 6
        item["tax"] = [{"tax_code": tax_code, "net_cents": amount - tax, "tax_cents": tax}]


# ── Both sides of trade ────────────────────────────────────────────────────────────────────────


def name_party_once(trade: Trade, _case: Any, body: Body) -> None:
    """Remove the second name of a customer or vendor, because both would have to agree."""
    if f"{trade.party}_id" in body:
        leave_out(body, f"{trade.party}_external_id")


def allocate_little(trade: Trade, case: Any, body: Body) -> None:
    """Allocate a payment to a document of its party with a larger open amount."""
    name_party_once(trade, case, body)
    place = place_of_party(trade, body)
    payment = (case.path_parameters or {}).get(f"{PAYMENT[trade]}_id")
    if payment is not None:
        leave_out(body, f"{trade.party}_id")
        place = place_in(f"{PAYMENT[trade]}s", payment)
    if body.get("allocations"):
        amount = 1 + body["allocations"][0]["amount_cents"] % 50
        body["allocations"] = shares(trade, place, {"amount_cents": amount})


def apply_little(trade: Trade, case: Any, body: Body) -> None:
    """Apply an open credit to a document of its party with a larger open amount, and no draft."""
    name_party_once(trade, case, body)
    credit = (case.path_parameters or {}).get(f"{CREDIT[trade]}_id")
    if credit is None:
        place, is_open = place_of_party(trade, body), trade.moment in body
    else:
        place = place_in(f"{trade.opened}_{CREDIT[trade]}s", credit)
        is_open = place is not None
        if is_open:
            leave_out(body, trade.moment)
    if "allocations" in body:
        some = is_open and body["allocations"]
        body["allocations"] = shares(trade, place, {"amount": 1}) if some else []
    for line in body.get("line_items", ()):
        line["amount"] = 1 + line["amount"] % 100_000


def shares(trade: Trade, place: int | None, amount: Body) -> list[Body]:
    """Return an amount for a document of the party at a place; nothing if the place is None."""
    if place is None:
        return []
    owed = seeds().pools[f"owed_{trade.noun}s"]
    return [{f"{trade.noun}_id": owed[place % len(owed)], **amount}]


def place_of_party(trade: Trade, body: Body) -> int | None:
    """Return the place of the party of a body in its pool, by ID or external ID."""
    place = place_in(f"{trade.party}s", body.get(f"{trade.party}_id"))
    word = body.get(f"{trade.party}_external_id")
    return place if place is not None else place_in(f"{trade.party}_words", word)


def void_now(_case: Any, body: Body) -> None:
    """Remove the time of voiding, which must not precede that of opening."""
    leave_out(body, "voided_at")


# ── Sales ──────────────────────────────────────────────────────────────────────────────────────


def refund_little(_case: Any, body: Body) -> None:
    """Refund a small part of a paid invoice."""
    keep_small(None, body)
    paid = seeds().pools["paid_invoices"]
    if body.get("invoice_id", paid[0]) not in paid:
        body["invoice_id"] = paid[body["amount_cents"] % len(paid)]
    leave_out(body, "refund_processing_fee_cents")


def pay_out_little(_case: Any, body: Body) -> None:
    """Pay out small amounts of waiting payments; every second external ID is a known one."""
    body["processor"] = "other"
    for name in ("paid_out_amount_cents", "fee_cents", "additional_refunds_amount_cents"):
        if name in body:
            body[name] %= 100_000
    number = next(numbers)
    for name, pool in ITEMS.items():
        if body.get(name):
            waiting = seeds().pools[pool]
            body[name] = [waiting[number % len(waiting)]]
    if "external_id" in body and number % 2:
        known = seeds().pools["payout_words"]
        body["external_id"] = known[number % len(known)]
        leave_out(body, *ITEMS)


# ── Bank ───────────────────────────────────────────────────────────────────────────────────────


def link_little(_case: Any, body: Body) -> None:
    """Match a small part of a line with a payment that has a large open amount."""
    seen = seeds().pools["seen_payments"]
    body["target_type"] = "invoice_payment"
    body["target_id"] = seen[next(numbers) % len(seen)]
    body["amount_cents"] = 1
    leave_out(body, "bank_account_id")


def name_what_is_there(_case: Any, body: Body) -> None:
    """Set an existing account and a text that matches no line."""
    if "result" in body:
        body["result"] = {"account": "6300"}
    if "conditions" in body:
        body["conditions"] = {"text": f"nothing says this {next(numbers)}"}


def stay_open(_case: Any, body: Body) -> None:
    """Set a statement after the closed ones that differs from the ledger, so that it stays open."""
    body["statement_date"] = "2026-05-31"
    body["closing_balance_cents"] = 1


def unlink_its_own(case: Any, body: Body) -> None:
    """Set the link of the line."""
    place = place_in("linked_lines", case.path_parameters["bank_transaction_id"])
    if place is not None:
        body["reconciliation_link_id"] = seeds().pools["links"][place]


# ── Purchases ──────────────────────────────────────────────────────────────────────────────────


def change_bill_payment(case: Any, body: Body) -> None:
    """Change the status between failed and completed; a failed payment settles nothing."""
    allocate_little(PURCHASES, case, body)
    bounce(body)
    if "status" in body:
        leave_out(body, "allocations", "amount_cents")


# The names of the amount of a vendor refund; of two, the first counts.
TOTALS = ("total_amount_cents", "total_refunded_amount", "total_refunded_amount_cents")


def agree_little(_case: Any, body: Body) -> None:
    """Refund a small part of what the vendor was paid; payments add up to its money."""
    total = next(name for name in TOTALS if name in body)
    body[total] = 1_000 + body[total] % 100_000
    place = place_in("vendors", body.get("vendor_id"))  # Else it names the vendor by external id.
    if "allocations" in body:
        body["allocations"] = parts(place, body["allocations"])
    given = body.get("allocations", ())
    credited = (each for each in given if each["allocation_type"] == "credit")
    cash = body[total] - sum(each["amount_cents"] for each in credited)
    if "payments" in body:
        body["payments"] = [{**body["payments"][0], "amount_cents": cash}]
    for each in (body, *body.get("payments", ())):
        keep_fee_small(each)


def change_refund_payment(case: Any, body: Body) -> None:
    """Change the status between failed and completed, and no credits."""
    place = place_in("vendor_refund_payments", case.path_parameters["vendor_refund_payment_id"])
    if "allocations" in body:
        wanted = [each for each in body["allocations"] if each["allocation_type"] != "credit"]
        body["allocations"] = parts(place, wanted)
    keep_fee_small(body)
    bounce(body)


def parts(place: int | None, wanted: list[Body]) -> list[Body]:
    """Return at most one small allocation of each type, all of the vendor at a place."""
    if place is None:
        return [
            {**each, "amount_cents": 10} for each in wanted if each["allocation_type"] == "credit"
        ]
    found = {each["allocation_type"]: {**each, "amount_cents": 10} for each in wanted}
    for kind, name, pool in (
        ("bill", "bill_id", "paid_bills"),
        ("payment", "bill_payment_id", "unapplied_bill_payments"),
        ("vendor_credit", "vendor_credit_id", "received_vendor_credits"),
    ):
        if kind in found:
            targets = seeds().pools[pool]
            found[kind][name] = targets[place % len(targets)]
    return list(found.values())


def bounce(body: Body) -> None:
    """Replace a status by one that any payment may enter and leave."""
    if "status" in body:
        body["status"] = "failed" if body["status"] in ("failed", "cancelled") else "completed"


# ── Entries by hand ────────────────────────────────────────────────────────────────────────────


def balance_lines(_case: Any, body: Body) -> None:
    """Set a small debit on each line, and their sum as credit on the last one."""
    lines = body["lines"]
    for line in lines:
        leave_out(line, "debit_amount", "credit_amount")
        line["debit_amount"] = 1
    leave_out(lines[-1], "debit_amount")
    lines[-1]["credit_amount"] = len(lines) - 1


# ── Documents ──────────────────────────────────────────────────────────────────────────────────


def link_to_its_kind(_case: Any, body: Body) -> None:
    """Link a document to an existing record of its kind."""
    if "linked_type" in body:
        pool = seeds().pools[LINKED[body["linked_type"]]]
        body["linked_id"] = pool[next(numbers) % len(pool)]


# ── Helpers ────────────────────────────────────────────────────────────────────────────────────


def keep_small(_case: Any, body: Body) -> None:
    """Set an amount that is always available."""
    body["amount_cents"] = 1 + body.get("amount_cents", 0) % 50


def keep_fee_small(body: Body) -> None:
    if "processing_fee_cents" in body:
        body["processing_fee_cents"] %= 50


def place_in(pool: str, value: str | None) -> int | None:
    values = seeds().pools[pool]
    return values.index(value) if value in values else None


def leave_out(body: Body, *names: str) -> None:
    for name in names:
        body.pop(name, None)


ITEMS = {"payment_ids": "card_payments", "refund_payment_ids": "card_refund_payments"}
LINKED = {
    "customer": "customers",
    "invoice": "invoices",
    "invoice_refund": "refunds",
    "customer_credit": "credits",
    "vendor": "vendors",
    "bill": "bills",
    "vendor_credit": "vendor_credits",
    "vendor_refund": "vendor_refunds",
    "invoice_payment": "payments",
    "bill_payment": "bill_payments",
    "bank_transaction": "bank_transactions",
    "journal_entry": "journal_entries",
}
MOSTLY: Mapping[str, Callable[[Any, Body], None]] = {
    "update_business": keep_identity,
    "create_account": keep_kind,
    "create_child_account": take_kind,
    "create_invoice": partial(name_party_once, SALES),
    "replace_invoice": partial(name_party_once, SALES),
    "create_invoice_payment": partial(allocate_little, SALES),
    "replace_invoice_payment": partial(allocate_little, SALES),
    "update_invoice": change_few_lines,
    "update_bill": change_few_lines,
    "update_customer_credit": change_few_lines,
    "update_vendor_credit": change_few_lines,
    "update_invoice_payment": partial(allocate_little, SALES),
    "write_off_invoice": keep_small,
    "write_off_bill": keep_small,
    "create_invoice_refund": refund_little,
    "create_invoice_refund_payment": refund_little,
    "create_customer_credit": partial(apply_little, SALES),
    "replace_customer_credit": partial(apply_little, SALES),
    "void_customer_credit": void_now,
    "create_payout": pay_out_little,
    "match_bank_transaction": link_little,
    "unmatch_bank_transaction": unlink_its_own,
    "create_bank_rule": name_what_is_there,
    "update_bank_rule": name_what_is_there,
    "create_bank_reconciliation": stay_open,
    "create_bill": partial(name_party_once, PURCHASES),
    "replace_bill": partial(name_party_once, PURCHASES),
    "create_bill_payment": partial(allocate_little, PURCHASES),
    "update_bill_payment": change_bill_payment,
    "create_vendor_credit": partial(apply_little, PURCHASES),
    "replace_vendor_credit": partial(apply_little, PURCHASES),
    "void_vendor_credit": void_now,
    "create_vendor_refund": agree_little,
    "create_vendor_refund_payment": agree_little,
    "update_vendor_refund_payment": change_refund_payment,
    "create_opening_balance": open_before,
    "create_revaluation": revalue_past,
    "create_document": link_to_its_kind,
    "create_journal_entry": balance_lines,
    "replace_journal_entry": balance_lines,
}
