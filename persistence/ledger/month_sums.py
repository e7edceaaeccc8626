"""Sums by month of the lines of a business: per account, and per tax code.

Both roll up the same entries (`persistence.ledger.balances`). The months of an account have sums on
both bases, and the sum of lines without a tax code. The months of a tax code, by rate and part,
have sums on both schemes: amounts that count when posted, and amounts that count when paid if the
scheme covers the code. Opening entries are in no tax return, so the tax sums exclude them.
"""

from accounting.books.cuts import Basis
from accounting.opening.opening_postings import OPENING
from accounting.trade.sides import PAYABLE, RECEIVABLE

SIDES = (RECEIVABLE, PAYABLE)
# Entries of these sources count on the cash scheme only once they are settled,
DOCUMENTS = [
    source
    for side in SIDES
    for source in (
        side.document_source,
        side.credit_source,
        side.refund_source,
        side.write_off_source,
    )
]
# on the day of entries of these sources, whose lines have the split of the settled parts. A
# write-off settles a document, too, but pays nothing.
SETTLEMENTS = [
    source
    for side in SIDES
    for source in (side.payment_source, side.credit_source, side.refund_payment_source)
]

# The columns of an account's months on each basis: debits and credits, and the numbers of lines.
# `uncoded` is the sum of lines without a tax code, debits less credits. It is kept for every
# account, since each may become a tax account.
MONTH_SUMS = {
    Basis.ACCRUAL: ("debits", "credits", "debit_count", "credit_count"),
    Basis.CASH: ("cash_debits", "cash_credits", "cash_debit_count", "cash_credit_count"),
}
UNCODED = "uncoded"
EVERY_SUM = [*(name for names in MONTH_SUMS.values() for name in names), UNCODED]
# The columns of a tax code's months on each scheme.
TAX_SUMS = ("debits", "credits", "cash_debits", "cash_credits")
TAX_KEY = ("tax_code_id", "tax_rate", "tax_part")


def _listed(sources: list[str]) -> str:
    return ", ".join(f"'{source}'" for source in sources)


# All lines of a business, once each, with the place of their entry, and with the bases and schemes
# on which they count.
LINES = f"""
    SELECT line.business_id, line.account_id, line.tax_code_id, line.tax_rate, line.tax_part,
           date_trunc('month', line.entry_date::timestamp)::date AS month,
           line.debit, line.credit, journal_entry.series, journal_entry.place,
           line.in_ledger, line.in_cash,
           line.in_ledger AND line.tax_code_id IS NULL
             AND journal_entry.source_type <> '{OPENING}' AS is_uncoded,
           line.tax_code_id IS NOT NULL AND journal_entry.source_type <> '{OPENING}' AS is_coded,
           CASE WHEN line.in_ledger THEN journal_entry.source_type NOT IN ({_listed(DOCUMENTS)})
             ELSE journal_entry.source_type IN ({_listed(SETTLEMENTS)}) END AS in_cash_scheme
    FROM (
      SELECT business_id, entry_id, account_id, entry_date, debit, credit, tax_code_id, tax_rate,
             tax_part, true AS in_ledger, coalesce(in_cash, false) AS in_cash
      FROM journal_line WHERE journal_line.business_id = %(business_id)s
      UNION ALL
      SELECT business_id, entry_id, account_id, entry_date, debit, credit, tax_code_id, tax_rate,
             tax_part, false, true
      FROM cash_line WHERE cash_line.business_id = %(business_id)s
    ) AS line
    JOIN journal_entry
      ON journal_entry.business_id = %(business_id)s AND journal_entry.id = line.entry_id
    WHERE journal_entry.business_id = %(business_id)s"""
# The sums of the lines of one account and month,
ADDED_UP = ", ".join(
    [
        f"""coalesce(sum(line.debit) FILTER (WHERE {counts}), 0),
       coalesce(sum(line.credit) FILTER (WHERE {counts}), 0),
       count(*) FILTER (WHERE line.debit > 0 AND {counts}),
       count(*) FILTER (WHERE line.credit > 0 AND {counts})"""
        for counts in ("in_ledger", "in_cash")
    ]
    + ["coalesce(sum(line.debit - line.credit) FILTER (WHERE is_uncoded), 0)"]
)
# and of the lines with a tax code, of one code, rate, part and month.
TAX_ADDED_UP = ", ".join(
    f"coalesce(sum(line.{side}) FILTER (WHERE {counts}), 0)"
    for counts in ("in_ledger", "in_cash_scheme")
    for side in ("debit", "credit")
)
