"""Balances by month, and the entries that are not rolled up yet.

Entries of a business and a year take their numbers under the lock of their series, which is held
until the commit. They therefore become visible in the order of their numbers. One number,
`number_series.rolled_up`, is the last entry that is rolled up into `account_month` and `tax_month`.
A balance is the sum of the months and of the lines of entries with higher numbers.

A posting advances the roll-up itself, once in STEP entries, while it holds the series. It never
waits for another posting's month rows, since a month belongs to one year (docs/decisions/0013).
"""

from datetime import date

from accounting.books.periods import Period, month_end
from accounting.books.report_filter import Basis
from accounting.opening.openings import OPENING
from accounting.tax.settlements import SETTLEMENT
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.sql import Query, Row
from persistence.scope import Scope

# Sums by month of the lines of a business: per account, and per tax code.


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
             AND journal_entry.source_type NOT IN ('{OPENING}', '{SETTLEMENT}') AS is_uncoded,
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


STEP = 100  # Entries of a year that are not rolled up yet; reading them costs 0.5 ms.
SERIES = "JE-"

# The lines of one entry on each basis, for a lateral join with `entry`. The cash basis has the
# lines that count as they are, and the cash lines that replace the others.
_OF_ENTRY = """
    SELECT account_id, entry_date, debit, credit, id FROM journal_line
    WHERE journal_line.business_id = %(business_id)s AND entry_id = entry.id"""
_IN_ORDER = "ORDER BY line_number"
LINES_OF_ENTRY = {
    Basis.ACCRUAL: f"{_OF_ENTRY} {_IN_ORDER}",
    Basis.CASH: f"""({_OF_ENTRY} AND in_cash {_IN_ORDER})
    UNION ALL
    (SELECT account_id, entry_date, debit, credit, id FROM cash_line
    WHERE cash_line.business_id = %(business_id)s AND entry_id = entry.id ORDER BY entry_id)""",
}

# The lines of entries that are not rolled up yet. Each ORDER BY follows an index and keeps
# PostgreSQL from joining all lines: it cannot know how few entries remain. GREATEST replaces
# COALESCE, which PostgreSQL does not treat as leakproof: under row-level security it would read
# all entries before it compares their places.
_UNROLLED = """
  SELECT line.account_id, line.entry_date, line.debit, line.credit
  FROM number_series
  CROSS JOIN LATERAL (
    SELECT journal_entry.id FROM journal_entry
    WHERE journal_entry.business_id = %(business_id)s
      AND journal_entry.series = number_series.series
      AND journal_entry.place > greatest(number_series.rolled_up, 0)
    ORDER BY journal_entry.place
  ) AS entry
  CROSS JOIN LATERAL (<lines>) AS line
  WHERE number_series.business_id = %(business_id)s AND number_series.series LIKE 'JE-%%'"""
UNROLLED = {basis: _UNROLLED.replace("<lines>", LINES_OF_ENTRY[basis]) for basis in Basis}

# The postings to the accounts in `wanted`: all-time, and within a period. The period's whole months
# come from the roll-up, the days at its ends from the lines.
TURNOVERS = f"""
  SELECT account_id, sum(debits)::bigint AS debits, sum(credits)::bigint AS credits,
         sum(debit_count)::bigint AS debit_count, sum(credit_count)::bigint AS credit_count,
         sum(period_debits)::bigint AS period_debits, sum(period_credits)::bigint AS period_credits
  FROM (
    SELECT account_id, debits, credits, debit_count, credit_count,
           CASE WHEN month BETWEEN %(months_first)s AND %(months_last)s THEN debits ELSE 0 END
             AS period_debits,
           CASE WHEN month BETWEEN %(months_first)s AND %(months_last)s THEN credits ELSE 0 END
             AS period_credits
    FROM account_month
    WHERE account_month.business_id = %(business_id)s AND account_id IN (SELECT id FROM wanted)
    UNION ALL
    SELECT account_id, debit, credit, (debit > 0)::int, (credit > 0)::int,
           CASE WHEN entry_date BETWEEN %(months_first)s AND %(months_last)s
             THEN debit ELSE 0 END,
           CASE WHEN entry_date BETWEEN %(months_first)s AND %(months_last)s
             THEN credit ELSE 0 END
    FROM ({UNROLLED[Basis.ACCRUAL]}) AS unrolled
    WHERE account_id IN (SELECT id FROM wanted)
    UNION ALL
    SELECT wanted.id, 0, 0, 0, 0, edges.debits, edges.credits
    FROM wanted
    CROSS JOIN unnest(%(edges_first)s::date[], %(edges_last)s::date[]) AS edge (first, last)
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(debit), 0) AS debits, coalesce(sum(credit), 0) AS credits
      FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND account_id = wanted.id
        AND entry_date BETWEEN edge.first AND edge.last
    ) AS edges
  ) AS turnovers
  GROUP BY account_id"""


def period_parameters(period: Period) -> Row:
    """Return the parameters of TURNOVERS for a period."""
    first, last = period.months or (date.max, date.min)  # Reversed, so that no month matches.
    return {
        "months_first": first,
        "months_last": month_end(last) if period.months else last,
        "edges_first": [first for first, _ in period.edges],
        "edges_last": [last for _, last in period.edges],
    }


# Runs after the rows of a posting, which holds the series by then: no other posting interferes.
ADVANCE = "SELECT * FROM advance_months(%(business_id)s, %(series)s, %(step)s)"


class Balances:
    """The roll-up of one business."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def advance(self, step: int = STEP) -> None:
        """Stage the roll-up of the years that this transaction posts to, if it may be due.

        It is due after every `step` entries of a year.
        The decision uses the number of waiting entries that this process saw last. Taking numbers
        updates it with the postings of other processes, which only the next posting considers.
        So a few more entries than the step may wait.
        """
        staging, business_id = self.scope.staging, self.scope.business_id
        if not staging.taken:
            return
        seen = self.scope.memory.not_rolled_up.get(business_id) or {}
        due = [
            name
            for name, amount in sorted(staging.taken.items())
            if name.startswith(SERIES) and seen.get(name, step) + amount >= step
        ]
        if due:
            told = {"business_id": business_id, "series": due, "step": step}
            staging.follow_with(Query(ADVANCE, told))
        staging.not_rolled_up = seen
        self.scope.memory.not_rolled_up.keep(business_id, seen)
