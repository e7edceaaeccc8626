"""Faults to plant in the books of `trading.traded`, each with the checks that find it."""

from collections.abc import Mapping

Fault = tuple[str, set[str]]

_ROLE = "(SELECT id FROM account WHERE business_id = %(b)s AND role = '{}')"
_BREWER = "(SELECT id FROM customer WHERE business_id = %(b)s AND external_id = 'brewer')"
# The second line of an invoice's entry, on an account that documents do not prove.
_SECOND = (
    "line_number = 2 AND entry_id = (SELECT id FROM journal_entry"
    " WHERE business_id = %(b)s AND sequence_number = 'JE-2026-000002')"
)


def _called(table: str, external_id: str) -> str:
    """The id of the row that the trade gave an id of its own."""
    return f"(SELECT id FROM {table} WHERE business_id = %(b)s AND external_id = '{external_id}')"


def _change(table: str, change: str, which: str) -> str:
    return f"UPDATE {table} SET {change} WHERE business_id = %(b)s AND {which}"


def _elsewhere(table: str, split: str, which: str) -> str:
    """Let the first part of a split stand on an account that is nobody's."""
    return _change(table, f"{split} = jsonb_set({split}, '{{0,0}}', to_jsonb(id::text))", which)


JOURNAL: Mapping[str, Fault] = {
    "a line is dropped": (
        f"DELETE FROM journal_line WHERE business_id = %(b)s AND {_SECOND}",
        {"trial_balance", "entries_balanced", "posted_as_desired"},
    ),
    "an amount is changed": (
        _change("journal_line", "credit = credit + 1", _SECOND),
        {"trial_balance", "entries_balanced", "posted_as_desired"},
    ),
    "an amount moves to another account": (
        _change(
            "journal_line",
            f"account_id = {_ROLE.format('accounts_payable')}",
            f"account_id = {_ROLE.format('accounts_receivable')}",
        ),
        {"receivables", "idle_control_accounts", "posted_as_desired"},
    ),
    "the last line of the journal is dated elsewhere": (
        "UPDATE journal_line SET entry_date = entry_date - 1"
        " WHERE id = (SELECT max(id::text)::uuid FROM journal_line WHERE business_id = %(b)s)",
        {"entries_balanced"},
    ),
    "an entry is deleted with its lines": (
        "WITH gone AS (DELETE FROM journal_entry WHERE business_id = %(b)s"
        " AND sequence_number = 'JE-2026-000002' RETURNING id)"
        " DELETE FROM journal_line l USING gone WHERE l.business_id = %(b)s"
        " AND l.entry_id = gone.id",
        {"entry_numbers", "receivables", "posted_as_desired"},
    ),
    "an entry takes a number out of turn": (
        _change(
            "journal_entry",
            "sequence_number = 'JE-2026-000999'",
            "sequence_number = 'JE-2026-000003'",
        ),
        {"entry_numbers"},
    ),
    "an entry takes a number in a form of its own": (
        _change(
            "journal_entry", "sequence_number = '2026/3'", "sequence_number = 'JE-2026-000003'"
        ),
        {"entry_numbers"},
    ),
    "the series of a year counts further than its entries": (
        _change("number_series", "last = last + 1", "series LIKE 'JE-%%'"),
        {"entry_numbers"},
    ),
    "an entry's source is nobody": (
        _change("journal_entry", "source_id = business_id", "sequence_number = 'JE-2026-000002'"),
        {"entry_sources", "posted_as_desired"},
    ),
    "an entry names another kind of source": (
        _change("journal_entry", "source_type = 'write_off'", "source_type = 'refund_payment'"),
        {"entry_sources", "clearing"},
    ),
    "a reversal takes back from another account": (
        _change(
            "journal_line",
            f"account_id = {_ROLE.format('suspense')}",
            f"account_id = {_ROLE.format('sales')} AND entry_id IN (SELECT id FROM journal_entry"
            " WHERE business_id = %(b)s AND reversal_of_id IS NOT NULL)",
        ),
        {"reversals_mirror", "posted_as_desired"},
    ),
}

INVOICES: Mapping[str, Fault] = {
    "the series of invoices lies behind them": (
        _change("number_series", "last = 3", "series = 'INV'"),
        {"invoice_numbers"},
    ),
    "an invoice claims more than was paid": (
        _change("invoice", "paid = paid + 1", "external_id = 'partly'"),
        {"invoice_settlement", "invoice_parts_settled", "receivables"},
    ),
    "an invoice claims more than was credited": (
        _change("invoice", "credited = credited + 1", "external_id = 'credited'"),
        {"invoice_settlement", "invoice_parts_settled", "receivables"},
    ),
    "an invoice claims more than was written off": (
        _change("invoice", "written_off = written_off + 1", "external_id = 'doubtful'"),
        {"invoice_settlement", "invoice_parts_settled", "receivables"},
    ),
    "an invoice claims more than was refunded": (
        _change("invoice", "refunded = refunded + 1", "external_id = 'given back'"),
        {"invoice_settlement", "invoice_parts_returned"},
    ),
    "an invoice forgets what is reserved": (
        _change("invoice", "reserved = 0", "external_id = 'waiting'"),
        {"invoice_settlement"},
    ),
    "an invoice forgets the day it was paid": (
        _change("invoice", "paid_on = NULL", "external_id = 'paid'"),
        {"invoice_settlement"},
    ),
    "an invoice costs more than its lines": (
        _change("invoice", "total_amount = total_amount + 1", "external_id = 'partly'"),
        {"invoice_totals", "receivables", "posted_as_desired"},
    ),
    "a line of an invoice goes to another account": (
        _change(
            "invoice",
            "lines = jsonb_set(lines, '{0,account_id}', to_jsonb(id::text))",
            "external_id = 'waiting'",
        ),
        {"posted_as_desired"},
    ),
    "more is settled of an account than the invoice put there": (
        _change(
            "invoice",
            "lines = jsonb_set(lines, '{0,account_id}', to_jsonb(id::text))",
            "external_id = 'paid'",
        ),
        {"invoice_parts_settled", "posted_as_desired"},
    ),
    "more is returned of a tax than the invoice charged": (
        _change(
            "invoice",
            "lines = jsonb_set(lines, '{0,taxes,0,1}', to_jsonb(id::text))",
            "external_id = 'given back'",
        ),
        {"invoice_parts_settled", "invoice_parts_returned", "posted_as_desired"},
    ),
    "what is settled of an invoice moves to another account": (
        _elsewhere("invoice", "settled", "external_id = 'paid'"),
        {"invoice_parts_settled"},
    ),
    "what is returned of an invoice moves to another account": (
        _elsewhere("invoice", "returned", "external_id = 'given back'"),
        {"invoice_parts_returned"},
    ),
    "a write-off grows": (
        _change("write_off", "amount = amount + 1", "external_id = 'lost'"),
        {"write_offs", "invoice_settlement", "posted_as_desired"},
    ),
    "a write-off settles another account": (
        _elsewhere("write_off", "split", "external_id = 'lost'"),
        {"invoice_parts_settled", "posted_as_desired"},
    ),
    "an invoice is a draft although some of it is written off": (
        _change("invoice", "state = 'draft', paid_on = NULL", "external_id = 'doubtful'"),
        {"write_offs", "receivables"},
    ),
}

PAYMENTS: Mapping[str, Fault] = {
    "a payment claims to have applied less": (
        _change(
            "invoice_payment",
            "allocated = allocated - 1, applied = applied - 1",
            "external_id = 'main'",
        ),
        {"payment_amounts", "prepayments"},
    ),
    "a payment is larger than what was posted": (
        _change("invoice_payment", "total = total + 1", "external_id = 'main'"),
        {"prepayments", "clearing", "posted_as_desired"},
    ),
    "a payment that bounced forgets what was refunded of it": (
        _change("invoice_payment", "allocated = 0, refunded = 0", "external_id = 'bounced'"),
        {"payment_amounts", "prepayments"},
    ),
    "a payment went back whole although some of it is refunded": (
        _change("invoice_payment", "status = 'refunded'", "external_id = 'bounced'"),
        {"payment_amounts"},
    ),
    "an allocation grows": (
        _change(
            "invoice_allocation",
            "amount = amount + 1",
            "end_on IS NULL AND jsonb_array_length(split) > 0",
        ),
        {"allocations", "invoice_settlement", "payment_amounts", "posted_as_desired"},
    ),
    "a pending payment's allocation was applied": (
        _change("invoice_payment", "status = 'completed'", "status = 'pending'"),
        {"allocations", "payment_amounts", "invoice_settlement"},
    ),
    "an allocation has another day than its invoice": (
        _change("invoice_allocation", "document_date = document_date - 1", "end_on IS NULL"),
        {"allocations"},
    ),
    "a payment belongs to another customer": (
        _change("invoice_payment", f"party_id = {_BREWER}", "external_id = 'main'"),
        {"allocations"},
    ),
}

CREDITS: Mapping[str, Fault] = {
    "the series of credits lies behind them": (
        _change("number_series", "last = 6", "series = 'CN'"),
        {"credit_numbers"},
    ),
    "a credit comes to more than its lines": (
        _change("customer_credit", "total_amount = total_amount + 1", "external_id = 'returned'"),
        {"credit_totals", "credits", "posted_as_desired"},
    ),
    "a credit claims to have applied more": (
        _change("customer_credit", "applied = applied + 1", "external_id = 'returned'"),
        {"credit_applied", "credit_parts_applied", "credits"},
    ),
    "what is used of a credit moves to another account": (
        _elsewhere("customer_credit", "settled", "external_id = 'returned'"),
        {"credit_parts_applied"},
    ),
    "an allocation uses another account of its credit": (
        _elsewhere("customer_credit_allocation", "own_split", "end_on IS NULL"),
        {"credit_parts_applied", "posted_as_desired"},
    ),
    "an allocation of a credit settles another account of the invoice": (
        _elsewhere("customer_credit_allocation", "split", "end_on IS NULL"),
        {"invoice_parts_settled", "posted_as_desired"},
    ),
    "an allocation of a credit grows": (
        _change("customer_credit_allocation", "amount = amount + 1", "end_on IS NULL"),
        {"credit_allocations", "credit_applied", "invoice_settlement", "posted_as_desired"},
    ),
    "an allocation of a credit has another day than its invoice": (
        _change(
            "customer_credit_allocation", "document_date = document_date - 1", "end_on IS NULL"
        ),
        {"credit_allocations"},
    ),
    "an ended allocation of a credit grows": (
        _change("customer_credit_allocation", "amount = amount + 1", "end_on IS NOT NULL"),
        {"credit_allocations"},
    ),
    "a credit belongs to another customer": (
        _change("customer_credit", f"party_id = {_BREWER}", "external_id = 'returned'"),
        {"credit_allocations"},
    ),
}

REFUNDS: Mapping[str, Fault] = {
    "a refund comes to more than it gives back": (
        _change("invoice_refund", "amount = amount + 1", "external_id = 'in steps'"),
        {"refund_amounts", "refunds"},
    ),
    "a refund claims that more is paid": (
        _change("invoice_refund", "paid = paid + 1", "external_id = 'in steps'"),
        {"refund_amounts", "refund_parts_paid", "refunds"},
    ),
    "a refund forgets when it completed": (
        _change("invoice_refund", "completed_at = NULL", "external_id = 'at once'"),
        {"refund_amounts"},
    ),
    "a refund completed when none of its payments did": (
        _change(
            "invoice_refund",
            "completed_at = completed_at + interval '1 day'",
            "external_id = 'at once'",
        ),
        {"refund_amounts"},
    ),
    "a cancelled refund still gives back": (
        _change(
            "invoice_refund_allocation",
            "end_on = NULL",
            f"refund_id = {_called('invoice_refund', 'unwanted')}",
        ),
        {"refund_amounts", "invoice_settlement", "invoice_parts_returned", "posted_as_desired"},
    ),
    "what is paid of a refund moves to another account": (
        _elsewhere("invoice_refund", "settled", "external_id = 'in steps'"),
        {"refund_parts_paid"},
    ),
    "a payment pays another account of its refund": (
        _elsewhere("invoice_refund_payment", "split", "external_id = 'step'"),
        {"refund_parts_paid", "posted_as_desired"},
    ),
    "a refund gives back of another account": (
        _elsewhere(
            "invoice_refund_allocation",
            "split",
            f"refund_id = {_called('invoice_refund', 'in steps')}",
        ),
        {"invoice_parts_returned", "refund_parts_paid", "posted_as_desired"},
    ),
    "a refund gives back more of an invoice": (
        _change(
            "invoice_refund_allocation",
            "amount = amount + 1",
            f"refund_id = {_called('invoice_refund', 'in steps')}",
        ),
        {"refund_allocations", "refund_amounts", "invoice_settlement", "posted_as_desired"},
    ),
    "a refund gives back more of a payment": (
        _change("invoice_refund_allocation", "amount = amount + 1", "payment_id IS NOT NULL"),
        {"refund_allocations", "refund_amounts", "payment_amounts", "posted_as_desired"},
    ),
    "a refund belongs to another customer": (
        _change("invoice_refund", f"party_id = {_BREWER}", "external_id = 'in steps'"),
        {"refund_allocations"},
    ),
    "a payment of a refund grows": (
        _change("invoice_refund_payment", "amount = amount + 1", "external_id = 'step'"),
        {"refund_payments", "refund_amounts", "clearing", "posted_as_desired"},
    ),
    "a payment of a refund has a state that nobody knows": (
        _change(
            "invoice_refund_payment",
            "status = 'lost', cancelled_at = NULL",
            "status = 'cancelled'",
        ),
        {"refund_payments"},
    ),
    "a payment of a refund cost more": (
        _change("invoice_refund_payment", "fee = fee + 1", "external_id = 'step'"),
        {"clearing", "posted_as_desired"},
    ),
}

PLANTED: Mapping[str, Fault] = {**JOURNAL, **INVOICES, **PAYMENTS, **CREDITS, **REFUNDS}
