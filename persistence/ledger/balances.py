"""Balances by month, and the entries that are not in them yet.

Entries of a business and a year take their numbers under the lock of their series, which is held
until the commit: they become visible in the order of their numbers. So one number says what is
rolled up, into `account_month` and `tax_month` at once, `number_series.rolled_up`, and a balance is
the sum of the months and of the lines whose entries are numbered above it. The roll-up advances in
a posting itself, once in STEP entries, while the posting holds the series; nobody waits for a
month's row on top of that, since a month belongs to one year (docs/decisions/0013).
"""

from datetime import date

from accounting.books.cuts import Basis
from accounting.books.periods import Period, month_end
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row

STEP = 100  # Entries of a year that may wait; reading them costs half a millisecond.
SERIES = "JE-"

# The lines of one entry on each basis, as part of a statement that has the entry beside it. On cash
# they are those that stay, and what stands in the place of the others.
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

# The lines of entries that are not rolled up yet. Each ORDER BY keeps PostgreSQL from joining all
# lines there are: it cannot know how few entries wait, and these follow an index. GREATEST stands
# for COALESCE, of which PostgreSQL does not know that it keeps secrets: behind row security it
# would look at all entries before it compares their places.
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

# What was posted to the accounts in `wanted`: ever, and within a period. The period's whole months
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
    """What TURNOVERS is told of a period."""
    first, last = period.months or (date.max, date.min)  # Backwards: no month lies in there.
    return {
        "months_first": first,
        "months_last": month_end(last) if period.months else last,
        "edges_first": [first for first, _ in period.edges],
        "edges_last": [last for _, last in period.edges],
    }


# Follows the rows of a posting, which holds the series by then: nobody else moves them meanwhile.
ADVANCE = "SELECT * FROM advance_months(%(business_id)s, %(series)s, %(step)s)"


class Balances:
    """The roll-up of one business; it advances once in `step` entries of a year."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.step = STEP

    def advance(self) -> None:
        """Have the years that this transaction posts to rolled up, where that may be due.

        It goes by what this process saw last. What others have posted since it sees as it takes its
        numbers, and the next posting is sent for it: a few entries more than the step may wait.
        """
        staging, business_id = self.scope.staging, self.scope.business_id
        if not staging.taken:
            return
        seen = self.scope.memory.not_rolled_up.get(business_id) or {}
        due = [
            name
            for name, amount in sorted(staging.taken.items())
            if name.startswith(SERIES) and seen.get(name, self.step) + amount >= self.step
        ]
        if due:
            told = {"business_id": business_id, "series": due, "step": self.step}
            staging.follow_with(Query(ADVANCE, told))
        staging.not_rolled_up = seen
        self.scope.memory.not_rolled_up.keep(business_id, seen)
