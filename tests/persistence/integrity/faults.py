"""Faults to plant in the books of `traded_business.traded`, each with the checks that find it.

`audit_rows` finds each that changes a row under audit, and `event_records` each that adds or
deletes a row with events; they are not listed again.
"""

from collections.abc import Mapping

from tests.persistence.integrity.bank_faults import BANK
from tests.persistence.integrity.cash_faults import CASH, TAGS
from tests.persistence.integrity.event_faults import EVENTS
from tests.persistence.integrity.fault import BOUGHT, SOLD, Fault, change, planted, role
from tests.persistence.integrity.opening_faults import OPENINGS
from tests.persistence.integrity.payout_faults import PAYOUTS
from tests.persistence.integrity.period_faults import PERIODS
from tests.persistence.integrity.refund_faults import REFUNDS
from tests.persistence.integrity.tax_code_faults import TAX_CODES
from tests.persistence.integrity.tax_return_faults import TAX_RETURNS
from tests.persistence.integrity.trade_faults import credits_, documents, payments, write_offs
from tests.persistence.integrity.trail_faults import TRAIL

# The second line of an invoice's entry, on an account that documents do not prove.
# Faults in the first hundred entries of the year are in their months, too.
_SECOND = (
    "line_number = 2 AND entry_id = (SELECT id FROM journal_entry"
    " WHERE business_id = %(b)s AND sequence_number = 'JE-2025-000002')"
)


JOURNAL: Mapping[str, Fault] = {
    "a line is dropped": (
        f"DELETE FROM journal_line WHERE business_id = %(b)s AND {_SECOND}",
        {"trial_balance", "entries_balanced", "posted_as_desired", "roll_ups", "tax_returns"},
    ),
    "an amount is changed": (
        change("journal_line", "credit = credit + 1", _SECOND),
        {"trial_balance", "entries_balanced", "posted_as_desired", "roll_ups", "tax_returns"},
    ),
    "an amount moves to another account": (
        change(
            "journal_line",
            f"account_id = {role('accounts_payable')}",
            f"account_id = {role('accounts_receivable')}",
        ),
        {"receivables", "payables", "posted_as_desired", "roll_ups", "tagged_lines"},
    ),
    "the last line of the journal is dated elsewhere": (
        "UPDATE journal_line SET entry_date = entry_date - 1"
        " WHERE id = (SELECT max(id::text)::uuid FROM journal_line WHERE business_id = %(b)s)",
        {"entries_balanced"},
    ),
    "an entry is deleted with its lines": (
        "WITH gone AS (DELETE FROM journal_entry WHERE business_id = %(b)s"
        " AND sequence_number = 'JE-2025-000002' RETURNING id)"
        " DELETE FROM journal_line l USING gone WHERE l.business_id = %(b)s"
        " AND l.entry_id = gone.id",
        {"entry_numbers", "receivables", "posted_as_desired", "roll_ups", "tax_returns"},
    ),
    "an entry takes a number out of turn": (
        change(
            "journal_entry",
            "sequence_number = 'JE-2025-000999'",
            "sequence_number = 'JE-2025-000003'",
        ),
        {"entry_numbers", "roll_ups"},
    ),
    "an entry takes a number in a form of its own": (
        change("journal_entry", "sequence_number = '2025/3'", "sequence_number = 'JE-2025-000003'"),
        {"entry_numbers", "roll_ups"},
    ),
    "the series of a year counts further than its entries": planted(
        "number_series", "last = last + 1", "series LIKE 'JE-%%'", "entry_numbers"
    ),
    "an entry's source is nobody": (
        change("journal_entry", "source_id = business_id", "sequence_number = 'JE-2025-000002'"),
        {"entry_sources", "posted_as_desired", "cash_lines"},
    ),
    "an entry names another kind of source": (
        change("journal_entry", "source_type = 'write_off'", "source_type = 'refund_payment'"),
        {"entry_sources", "clearing", "cash_lines"},
    ),
    "a reversal takes back from another account": (
        change(
            "journal_line",
            f"account_id = {role('suspense')}",
            f"account_id = {role('sales')} AND entry_id IN (SELECT id FROM journal_entry"
            " WHERE business_id = %(b)s AND reversal_of_id IS NOT NULL)",
        ),
        {"reversals_mirror", "posted_as_desired"},
    ),
}

# Manual entries: 15.00 accrued, and 3.00 that wait.
_ACCRUED = "source_type = 'manual' AND reversal_of_id IS NULL AND reference IS DISTINCT FROM 'lent'"
_OF_ACCRUED = f"entry_id = (SELECT id FROM journal_entry WHERE business_id = %(b)s AND {_ACCRUED})"
_TAKEN_BACK = "source_type = 'manual' AND reversal_of_id IS NOT NULL"

MANUAL: Mapping[str, Fault] = {
    "a reversal by hand comes from itself": (
        change("journal_entry", "source_id = id", _TAKEN_BACK),
        {"manual_entries", "entry_sources", "reversals_mirror", "cash_lines"},
    ),
    "an entry by hand was made by the system": planted(
        "journal_entry", "created_by = 'system'", _ACCRUED, "manual_entries", "entry_lines"
    ),
    "a document's entry was made by hand": (
        change("journal_entry", "created_by = 'manual'", "sequence_number = 'JE-2025-000002'"),
        {"manual_entries"},
    ),
    "an entry by hand is on an account that documents prove": (
        change(
            "journal_line",
            f"account_id = {role('accounts_payable')}",
            "line_number = 2 AND entry_id = (SELECT id FROM journal_entry"
            f" WHERE business_id = %(b)s AND {_ACCRUED})",
        ),
        {"manual_entries", "entry_lines", "reversals_mirror", "payables", "roll_ups"},
    ),
    "an account in a currency has lines without one": (
        change("account", "currency = 'USD'", "code = '6000'"),
        {"currency_lines"},
    ),
    **{
        f"the {what} of a line by hand is changed": (
            change("journal_line", changed, f"{which} AND {_OF_ACCRUED}"),
            {"entry_lines"},
        )
        for what, which, changed in [
            ("text", "line_number = 1", "description = 'Rent, Marz'"),
            ("missing text", "line_number = 2", "description = ''"),
        ]
    },
    "the texts of lines by hand are exchanged": (
        change(
            "journal_line",
            "description = CASE line_number WHEN 2 THEN 'Rent, März' END",
            _OF_ACCRUED,
        ),
        {"entry_lines"},
    ),
    "the text of a line of a reversal is taken away": (
        change(
            "journal_line",
            "description = NULL",
            "description IS NOT NULL AND entry_id IN (SELECT id FROM journal_entry"
            f" WHERE business_id = %(b)s AND {_TAKEN_BACK})",
        ),
        {"entry_lines"},
    ),
    "a line of a document gets a text": (
        change("journal_line", "description = 'Other'", _SECOND),
        {"entry_lines"},
    ),
    "the digest of lines by hand is taken away": planted(
        "journal_entry", "lines_digest = NULL", _ACCRUED
    ),
    "a draft does not balance": planted(
        "journal_draft", "lines = jsonb_set(lines, '{0,amount}', '301')", "true", "drafts"
    ),
    "a draft has one line": planted(
        "journal_draft", "lines = lines - 1, total = 300", "true", "drafts"
    ),
    "a draft comes to something else": planted("journal_draft", "total = 299", "true", "drafts"),
    "a draft is on an account that documents prove": (
        change(
            "journal_draft",
            f"lines = jsonb_set(lines, '{{0,account_id}}', to_jsonb({role('accounts_payable')}))",
            "true",
        ),
        {"drafts"},
    ),
    "a draft is posted and still waits": (
        "UPDATE journal_draft SET id = (SELECT id FROM journal_entry WHERE business_id = %(b)s"
        f" AND {_ACCRUED}) WHERE business_id = %(b)s",
        {"drafts", "event_records"},
    ),
}

ROLL_UPS: Mapping[str, Fault] = {
    "a month says more than was posted": (
        "INSERT INTO account_month (business_id, account_id, month, debits, credits, debit_count,"
        f" credit_count) VALUES (%(b)s, {role('sales')}, '2025-03-01', 0, 1, 0, 1)"
        " ON CONFLICT (business_id, account_id, month)"
        " DO UPDATE SET credits = account_month.credits + 1",
        {"roll_ups"},
    ),
    "a month of tax says more than was posted": (
        "INSERT INTO tax_month (business_id, month, tax_code_id, tax_rate, tax_part, debits,"
        " credits, cash_debits, cash_credits) SELECT business_id, '2025-03-01', id, 20, 'net', 0,"
        " 1, 0, 0 FROM tax_code WHERE business_id = %(b)s AND code = 'S20'"
        " ON CONFLICT (business_id, month, tax_code_id, tax_rate, tax_part)"
        " DO UPDATE SET credits = tax_month.credits + 1",
        {"roll_ups"},
    ),
    "entries count as rolled up that are not": planted(
        "number_series", "rolled_up = last", "series = 'JE-2026'", "roll_ups"
    ),
}

PLANTED: Mapping[str, Fault] = {
    **ROLL_UPS,
    **CASH,
    **TAGS,
    **JOURNAL,
    **MANUAL,
    **{name: each for side in (SOLD, BOUGHT) for name, each in write_offs(side).items()},
    **{name: each for side in (SOLD, BOUGHT) for name, each in documents(side).items()},
    **{name: each for side in (SOLD, BOUGHT) for name, each in payments(side).items()},
    **{name: each for side in (SOLD, BOUGHT) for name, each in credits_(side).items()},
    **REFUNDS,
    **BANK,
    **PAYOUTS,
    **OPENINGS,
    **PERIODS,
    **TAX_CODES,
    **TAX_RETURNS,
    **TRAIL,
    **EVENTS,
}
