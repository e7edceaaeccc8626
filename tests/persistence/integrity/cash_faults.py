"""Faults to plant in cash lines, each with the checks that find it."""

from collections.abc import Mapping

from tests.persistence.integrity.fault import Fault, change, planted, role

_PART = "id = (SELECT min(id::text)::uuid FROM cash_line WHERE business_id = %(b)s)"
_MONEY = (
    "line_number = 1 AND entry_id = (SELECT min(id::text)::uuid FROM journal_entry"
    " WHERE business_id = %(b)s AND source_type = 'payment' AND stream = 'main')"
)
_OWN = (
    "entry_id = (SELECT min(id::text)::uuid FROM journal_entry"
    " WHERE business_id = %(b)s AND source_type = '{source}')"
)

CASH: Mapping[str, Fault] = {
    "a part is dropped": (
        f"DELETE FROM cash_line WHERE business_id = %(b)s AND {_PART}",
        {"tagged_lines", "cash_lines", "cash_balanced", "roll_ups"},
    ),
    "a part is more than what is settled of it": (
        change("cash_line", "debit = debit * 2, credit = credit * 2", _PART),
        {"tagged_lines", "cash_lines", "cash_balanced", "roll_ups"},
    ),
    "a part stands on another account": (
        change("cash_line", f"account_id = {role('suspense')}", _PART),
        {"tagged_lines", "cash_lines", "roll_ups"},
    ),
    "a part stands on another day": planted(
        "cash_line", "entry_date = entry_date + 40", _PART, "tagged_lines", "cash_lines", "roll_ups"
    ),
    "a part is of another document": planted(
        "cash_line", "document_id = entry_id", _PART, "tagged_lines", "cash_lines"
    ),
    "a part has lost its line": planted("cash_line", "line_id = id", _PART, "cash_lines"),
    "money does not count on cash": (
        change("journal_line", "in_cash = false", _MONEY),
        {"tagged_lines", "cash_lines", "cash_balanced", "roll_ups"},
    ),
    "a server of before has posted a line": (
        change("journal_line", "in_cash = NULL, document_id = NULL", _MONEY),
        {"tagged_lines", "cash_lines", "cash_balanced", "roll_ups"},
    ),
    "an invoice counts on cash": planted(
        "journal_line", "in_cash = true", _OWN.format(source="invoice"), "cash_lines", "roll_ups"
    ),
    "a line is about another document": planted(
        "journal_line",
        "document_id = entry_id",
        _MONEY,
        *("tagged_lines", "cash_lines", "posted_as_desired"),
    ),
    "a write-off is about itself": (
        change("journal_line", "document_id = entry_id", _OWN.format(source="write_off")),
        {"tagged_lines", "cash_lines"},
    ),
    "a month says less than came on cash": (
        change(
            "account_month",
            "cash_debits = cash_debits + 1",
            f"cash_debit_count > 0 AND account_id = {role('bank')} AND month = '2025-03-01'",
        ),
        {"roll_ups"},
    ),
}

_TAGGED = (
    "line_id = (SELECT min(line_id::text)::uuid FROM tagged_line"
    " WHERE business_id = %(b)s AND tag <> '') AND tag {tag} ''"
)

TAGS: Mapping[str, Fault] = {
    "a line is not found by its tag": (
        "DELETE FROM tagged_line WHERE business_id = %(b)s AND " + _TAGGED.format(tag="<>"),
        {"tagged_lines"},
    ),
    "a line counts as one without tags": (
        "DELETE FROM tagged_line WHERE business_id = %(b)s AND " + _TAGGED.format(tag="="),
        {"tagged_lines"},
    ),
    "a tag comes to more than its documents": (
        change("tagged_line", "debit = debit * 2, credit = credit * 2", _TAGGED.format(tag="<>")),
        {"tagged_lines"},
    ),
    "a line of one tag counts as one of two": planted(
        "tagged_line", "has_several = NOT has_several", _TAGGED.format(tag="="), "tagged_lines"
    ),
    "a line has a tag that its document has lost": planted(
        "tagged_line", "tag = 'lost ' || tag", _TAGGED.format(tag="<>"), "tagged_lines"
    ),
    "a document has a tag that its lines have not": planted(
        "invoice", "transaction_tags = '[\"lost\"]'", "external_id = 'partly'", "tagged_lines"
    ),
}
