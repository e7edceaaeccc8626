"""Debits and credits by account and period, on either basis, through a report filter.

Whole months come from the roll-up and from the entries that are not rolled up yet. The days at the
ends of a period come from the lines. For a report as known at a moment, later postings are
subtracted.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from enum import Enum
from functools import cache
from uuid import UUID

from accounting.books.periods import FirstAndLast, Period, month_end, pieces
from accounting.books.report_filter import AccountMovement, Basis, ReportFilter
from persistence.engine.sql import Answers, Fetch, Query, Row
from persistence.ledger.balances import LINES_OF_ENTRY, MONTH_SUMS, UNROLLED
from persistence.ledger.tags import ANY_TAG
from persistence.scope import Scope

# The lines of one account in some days, on each basis. A covering index serves them.
_DAYS = """SELECT debit, credit FROM <table>
        WHERE <table>.business_id = %(business_id)s AND account_id = account.id
          AND entry_date BETWEEN days.first AND days.last"""
_OF_LEDGER = _DAYS.replace("<table>", "journal_line")
_DAYS_OF = {
    Basis.ACCRUAL: _OF_LEDGER,
    Basis.CASH: f"{_OF_LEDGER} AND in_cash\n        UNION ALL\n        "
    + _DAYS.replace("<table>", "cash_line"),
}

_MONTHS = """
    SELECT account_month.account_id, span.place, {debits} AS debits, {credits} AS credits
    FROM unnest(
      %(month_places)s::int[], %(month_firsts)s::date[], %(month_lasts)s::date[]
    ) AS span (place, first, last)
    JOIN account_month ON account_month.business_id = %(business_id)s
      AND account_month.month BETWEEN span.first AND span.last
    UNION ALL
    SELECT unrolled.account_id, span.place, unrolled.debit, unrolled.credit
    FROM ({unrolled}) AS unrolled
    JOIN unnest(
      %(month_places)s::int[], %(month_firsts)s::date[], %(month_lasts)s::date[]
    ) AS span (place, first, last) ON unrolled.entry_date BETWEEN span.first AND span.last"""
# Sums are cast to bigint here. Otherwise UNION ALL would convert the other amounts to numeric.
_ENDS = """
    SELECT account.id, days.place, days.sign * lines.debits, days.sign * lines.credits
    FROM account
    CROSS JOIN unnest(
      %(day_places)s::int[], %(day_signs)s::int[], %(day_firsts)s::date[], %(day_lasts)s::date[]
    ) AS days (place, sign, first, last)
    CROSS JOIN LATERAL (
      SELECT sum(debit)::bigint AS debits, sum(credit)::bigint AS credits FROM (
        {days}
      ) AS line
    ) AS lines
    WHERE account.business_id = %(business_id)s AND lines.debits IS NOT NULL"""
# The ORDER BY makes PostgreSQL look up lines by entry: it cannot know how few entries there are.
# Most entries posted since have later days: only lines of the requested days are read.
# The + 0 keeps PostgreSQL from using the index on days: a period may have years of entries.
_LATER = """
    SELECT line.account_id, span.place, {sign} * line.debit, {sign} * line.credit
    FROM (
      SELECT id, entry_date FROM journal_entry
      WHERE journal_entry.business_id = %(business_id)s
        AND journal_entry.posted_at > %(known_at)s
        AND journal_entry.entry_date + 0 BETWEEN %(earliest)s AND %(latest)s
      ORDER BY journal_entry.posted_at
    ) AS entry
    JOIN unnest(%(places)s::int[], %(firsts)s::date[], %(lasts)s::date[])
      AS span (place, first, last) ON entry.entry_date BETWEEN span.first AND span.last
    CROSS JOIN LATERAL ({lines}) AS line{tagged}"""
# The lines of a tag, from a covering index: there is no roll-up by tag.
_TAGGED = """
    SELECT account.id AS account_id, span.place, {sign} * lines.debits AS debits,
           {sign} * lines.credits AS credits
    FROM account
    CROSS JOIN unnest(%(places)s::int[], %(firsts)s::date[], %(lasts)s::date[])
      AS span (place, first, last)
    CROSS JOIN LATERAL (
      SELECT sum(debit)::bigint AS debits, sum(credit)::bigint AS credits FROM tagged_line
      WHERE tagged_line.business_id = %(business_id)s AND tagged_line.tag = %(tag)s
        AND tagged_line.account_id = account.id AND {counts}
        AND tagged_line.entry_date BETWEEN span.first AND span.last
    ) AS lines
    WHERE account.business_id = %(business_id)s AND lines.debits IS NOT NULL"""
_TAGGED_LINE = """
    CROSS JOIN LATERAL (
      SELECT tag FROM tagged_line
      WHERE tagged_line.business_id = %(business_id)s AND tagged_line.tag = %(tag)s
        AND tagged_line.account_id = line.account_id
        AND tagged_line.entry_date = line.entry_date AND tagged_line.line_id = line.id
      LIMIT 1
    ) AS tagged"""
_ADDED = """
SELECT account_id, place, sum(debits)::bigint AS debits, sum(credits)::bigint AS credits
FROM ({amounts}
) AS amounts
GROUP BY account_id, place
HAVING sum(debits) <> 0 OR sum(credits) <> 0"""

_COUNTS = {Basis.ACCRUAL: "in_ledger", Basis.CASH: "in_cash"}


class LineSelection(Enum):
    """The lines that a report filter includes, by their tags."""

    ALL = 1
    TAGGED = 2
    UNTAGGED = 3

    @classmethod
    def by(cls, cut: ReportFilter) -> "LineSelection":
        """Return the lines that a report filter includes."""
        if cut.untagged:
            return cls.UNTAGGED
        return cls.ALL if cut.tag is None else cls.TAGGED


ByAccount = Mapping[UUID, tuple[AccountMovement, ...]]


class Movements:
    """The debits and credits of the accounts of one business."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def by_account(self, spans: Sequence[Period], cut: ReportFilter) -> Fetch[ByAccount]:
        """Add up the debits and credits of each account with postings, for each period.

        The movements are in the order of the periods. A period that begins at `date.min` includes
        all earlier postings.
        """
        counted = {
            "business_id": self.scope.business_id,
            "known_at": cut.known_at,
            "tag": ANY_TAG if cut.untagged else cut.tag,
        }
        text = _statement(cut.basis, LineSelection.by(cut), cut.known_at is not None)
        query = Query(text, {**counted, **_laid_out(spans)})

        def answer(answers: Answers) -> ByAccount:
            found: dict[UUID, list[AccountMovement]] = defaultdict(
                lambda: [AccountMovement()] * len(spans)
            )
            for row in answers[0]:
                found[row["account_id"]][row["place"]] = AccountMovement(
                    row["debits"], row["credits"]
                )
            return {account: tuple(moved) for account, moved in found.items()}

        return Fetch(self.scope.session, (query,), answer)


@cache
def _statement(basis: Basis, counted: LineSelection, known: bool) -> str:
    amounts = []
    if counted is not LineSelection.TAGGED:
        debits, credits_, *_ = (f"account_month.{name}" for name in MONTH_SUMS[basis])
        amounts.append(_MONTHS.format(debits=debits, credits=credits_, unrolled=UNROLLED[basis]))
        amounts.append(_ENDS.format(days=_DAYS_OF[basis]))
        if known:
            amounts.append(_LATER.format(sign=-1, lines=LINES_OF_ENTRY[basis], tagged=""))
    if counted is not LineSelection.ALL:
        # The untagged lines are all lines, less those with any tag.
        sign = 1 if counted is LineSelection.TAGGED else -1
        amounts.append(_TAGGED.format(sign=sign, counts=_COUNTS[basis]))
        if known:
            tagged = LINES_OF_ENTRY[basis]
            amounts.append(_LATER.format(sign=-sign, lines=tagged, tagged=_TAGGED_LINE))
    return _ADDED.format(amounts="\n    UNION ALL".join(amounts))


def _laid_out(spans: Sequence[Period]) -> Row:
    """Return the parameters with the months and days to add up for each period."""
    months: list[tuple[int, FirstAndLast]] = []
    days: list[tuple[int, int, FirstAndLast]] = []
    for place, span in enumerate(spans):
        parts = pieces(span)
        if parts.months is not None:
            first, last = parts.months
            months.append((place, (first, month_end(last))))
        days += [(place, 1, each) for each in parts.added]
        days += [(place, -1, each) for each in parts.taken]
    return {
        "places": list(range(len(spans))),
        "firsts": [span.first for span in spans],
        "lasts": [span.last for span in spans],
        "earliest": min((span.first for span in spans), default=date.max),
        "latest": max((span.last for span in spans), default=date.min),
        "month_places": [place for place, _ in months],
        "month_firsts": [first for _, (first, _) in months],
        "month_lasts": [last for _, (_, last) in months],
        "day_places": [place for place, *_ in days],
        "day_signs": [sign for _, sign, _ in days],
        "day_firsts": [first for *_, (first, _) in days],
        "day_lasts": [last for *_, (_, last) in days],
    }
