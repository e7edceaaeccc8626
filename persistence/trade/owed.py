"""Outstanding amounts on a day, and party statements: one set of SQL for both sides.

The amount owed on a past day is the amount owed now, less the journal lines of later days. A report
for the end of last month therefore reads only this month's lines. A party statement instead reads
all lines of its party. All amounts are in base; few records have another currency.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, TypeVar
from uuid import UUID

from sqlalchemy import Table

from accounting.books.chart import Roles
from accounting.books.periods import Period
from accounting.trade.aging import OpenAmount, late_moments
from accounting.trade.party_statements import PartyStatement, StatementLine, statement
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from persistence import tables
from persistence.engine.sql import Answers, Fetch, Query, Row
from persistence.scope import Scope

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OwedSql:
    """The SQL of one side, built from its tables."""

    side: Side
    party: Table
    document: Table
    payment: Table
    credit: Table
    refund: Table
    write_off: Table

    @property
    def _later(self) -> str:
        """The net of lines after `as_of` (debits less credits), by account and document."""
        return """later AS MATERIALIZED (
  SELECT account_id, document_id, sum(debit - credit)::bigint AS net
  FROM journal_line
  WHERE journal_line.business_id = %(business_id)s
    AND journal_line.account_id = ANY(%(accounts)s::uuid[])
    AND journal_line.entry_date > %(as_of)s
  GROUP BY account_id, document_id
)"""

    @property
    def _foreign(self) -> str:
        """The base that is open of documents in a foreign currency, by their small index."""
        document = self.document.name
        return f"""in_base AS MATERIALIZED (
  SELECT id, base_total - base_settled AS base FROM {document}
  WHERE {document}.business_id = %(business_id)s AND outstanding > 0 AND base_total IS NOT NULL
)"""

    @property
    def aging(self) -> str:
        """The open amount of each party by bucket; unapplied amounts have no bucket.

        Amounts are summed before parties are joined. Otherwise PostgreSQL would sum again for each
        party, as long as it has no statistics about the rows of a newly imported business.
        """
        sign, party = self.side.sign, self.party.name
        document = self.document.name
        return f"""WITH {self._later}, {self._foreign}, summed AS MATERIALIZED (
  SELECT party_id, bucket, sum(amount)::bigint AS amount
  FROM (
    SELECT party_id, CASE
             WHEN amount < 0 OR due_at IS NULL THEN 0
             ELSE cardinality(%(late)s::timestamptz[])
               - width_bucket(due_at, %(late)s::timestamptz[])
           END AS bucket, amount
    FROM (
      SELECT party_id, due_at, coalesce(in_base.base, outstanding) AS amount
      FROM {document} LEFT JOIN in_base ON in_base.id = {document}.id
      WHERE {document}.business_id = %(business_id)s AND outstanding > 0
        AND {document}.id NOT IN (
          SELECT document_id FROM later WHERE account_id = %(control)s AND document_id IS NOT NULL)
      UNION ALL
      SELECT party_id, due_at, coalesce(in_base.base, outstanding) - {sign} * net
      FROM later
      JOIN {document} ON {document}.business_id = %(business_id)s AND {document}.id = document_id
      LEFT JOIN in_base ON in_base.id = document_id
      WHERE account_id = %(control)s
    ) AS open
    UNION ALL
    SELECT party_id, NULL, amount FROM ({self._unapplied_now}
      UNION ALL
      {self._later_party}
    ) AS unapplied
  ) AS amounts
  GROUP BY party_id, bucket
)
SELECT party_id, coalesce(company_name, individual_name) AS party_name, bucket, amount
FROM summed
JOIN {party} ON {party}.business_id = %(business_id)s AND {party}.id = party_id"""

    @property
    def _unapplied_now(self) -> str:
        """The unapplied payments and credits, as they are now.

        A payment that was refunded and is no longer completed has a negative amount.
        """
        payment, credit = self.payment.name, self.credit.name
        return f"""
    SELECT party_id, coalesce(base_total - base_allocated, total - allocated) AS amount
    FROM {payment}
    WHERE {payment}.business_id = %(business_id)s
      AND allocated < total AND status = 'completed'
    UNION ALL
    SELECT party_id, -coalesce(base_refunded, refunded) FROM {payment}
    WHERE {payment}.business_id = %(business_id)s
      AND status IN ('pending', 'processing', 'failed', 'cancelled', 'refunded') AND refunded > 0
    UNION ALL
    SELECT party_id, coalesce(base_total - base_used, total_amount - applied - refunded)
    FROM {credit}
    WHERE {credit}.business_id = %(business_id)s
      AND listed_status IN ('{self.side.opened_status}', 'partially_applied')"""

    @property
    def _later_party(self) -> str:
        """The later lines of payments, credits and refunds, by party; each has one of the three."""
        settling = [table.name for table in (self.payment, self.credit, self.refund)]
        joins = (
            f"""
    LEFT JOIN {name} ON {name}.business_id = %(business_id)s AND {name}.id = document_id"""
            for name in settling
        )
        parties = ", ".join(f"{name}.party_id" for name in settling)
        return f"""SELECT coalesce({parties}), {self.side.sign} * net
    FROM later{"".join(joins)}
    WHERE account_id <> %(control)s"""

    def _of_party(self, columns: str, until: str) -> str:
        """Build a select over one party's lines on the given accounts, with their entries.

        `until` is the condition on lines.
        """
        own = "\n    UNION ALL\n".join(
            f"""    SELECT id FROM {table.name}
    WHERE {table.name}.business_id = %(business_id)s AND {table.name}.party_id = %(party_id)s"""
            for table in (self.document, self.payment, self.credit, self.refund)
        )
        given_up, document = self.write_off.name, self.document.name
        return f"""SELECT {columns}
  FROM (
{own}
    UNION ALL
    SELECT {given_up}.id FROM {given_up}
    JOIN {document} ON {document}.business_id = %(business_id)s
      AND {document}.id = {given_up}.document_id
    WHERE {given_up}.business_id = %(business_id)s AND {document}.party_id = %(party_id)s
  ) AS source
  JOIN journal_entry ON journal_entry.business_id = %(business_id)s
    AND journal_entry.source_id = source.id
  JOIN journal_line ON journal_line.business_id = %(business_id)s
    AND journal_line.entry_id = journal_entry.id
    AND journal_line.account_id = ANY(%(accounts)s::uuid[])
  WHERE {until}"""

    @property
    def opening(self) -> str:
        """The amount owed before the first day, and the amount unapplied after the last."""
        sign = self.side.sign
        summed = f"""coalesce({sign} * sum(debit - credit) FILTER (
         WHERE account_id = %(control)s AND journal_line.entry_date < %(first)s), 0)::bigint
         AS opening,
       coalesce({-sign} * sum(debit - credit) FILTER (
         WHERE account_id <> %(control)s), 0)::bigint AS unapplied"""
        return self._of_party(summed, "journal_line.entry_date <= %(last)s")

    @property
    def lines(self) -> str:
        """The lines that changed the amount owed, by day."""
        columns = f"""journal_line.entry_date, journal_entry.id AS entry_id, sequence_number,
       source_type, source_id, journal_entry.reference, journal_entry.description, place,
       line_number, journal_line.document_id, {self.side.sign} * (debit - credit) AS amount"""
        within = """account_id = %(control)s
    AND journal_line.entry_date BETWEEN %(first)s AND %(last)s"""
        document = self.document.name
        return f"""WITH line AS MATERIALIZED ({self._of_party(columns, within)}
)
SELECT line.entry_date, entry_id, sequence_number, source_type, source_id, line.reference,
       line.description, document_id, {document}.number AS document_number, amount
FROM line
JOIN {document} ON {document}.business_id = %(business_id)s AND {document}.id = document_id
ORDER BY line.entry_date, place, line_number"""

    @property
    def documents_by_status(self) -> str:
        """The number of documents by status."""
        return _by_status(self.document)

    @property
    def credits_by_status(self) -> str:
        """The number of credits by status."""
        return _by_status(self.credit)

    @property
    def outstanding(self) -> str:
        """The amount that is outstanding now."""
        document = self.document.name
        return f"""WITH {self._foreign}
SELECT coalesce(sum(coalesce(in_base.base, outstanding)), 0)::bigint AS outstanding
FROM {document} LEFT JOIN in_base ON in_base.id = {document}.id
WHERE {document}.business_id = %(business_id)s AND outstanding > 0"""


def _by_status(table: Table) -> str:
    return f"""SELECT listed_status AS status, count(*) AS count FROM {table.name}
WHERE {table.name}.business_id = %(business_id)s GROUP BY listed_status"""


SALES = OwedSql(
    RECEIVABLE,
    party=tables.customer,
    document=tables.invoice,
    payment=tables.invoice_payment,
    credit=tables.customer_credit,
    refund=tables.invoice_refund,
    write_off=tables.write_off,
)
PURCHASES = OwedSql(
    PAYABLE,
    party=tables.vendor,
    document=tables.bill,
    payment=tables.bill_payment,
    credit=tables.vendor_credit,
    refund=tables.vendor_refund,
    write_off=tables.bill_write_off,
)


@dataclass(frozen=True, slots=True)
class OpenSummary:
    """The numbers of documents and credits by status, and the total outstanding amount."""

    documents: Mapping[str, int]
    credits: Mapping[str, int]
    outstanding: int


class OpenBalances:
    """Aging, party statements and totals of one side of one business."""

    sql: ClassVar[OwedSql]

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def aging(self, as_of: date, roles: Roles) -> Fetch[list[OpenAmount]]:
        """Compute the amounts that were open at the end of a day, by party and bucket.

        The time zone of the business must be known.
        """
        late = late_moments(as_of, self.scope.timezone)
        asked = {"as_of": as_of, "late": late, **self._accounts(roles)}
        return self._fetch(
            [self.sql.aging], asked, lambda answers: [OpenAmount(**row) for row in answers[0]]
        )

    def statement(self, party_id: UUID, days: Period, roles: Roles) -> Fetch[PartyStatement]:
        """Load the statement of one party for some days; call `pin_snapshot` first."""
        asked = {"party_id": party_id, "first": days.first, "last": days.last}

        def answer(answers: Answers) -> PartyStatement:
            [sums], lines = answers
            told = (StatementLine(**row) for row in lines)
            return statement(sums["opening"], told, sums["unapplied"])

        texts = [self.sql.opening, self.sql.lines]
        return self._fetch(texts, {**asked, **self._accounts(roles)}, answer)

    def standing(self) -> Fetch[OpenSummary]:
        """Count documents and credits by status; call `pin_snapshot` first."""
        texts = [self.sql.documents_by_status, self.sql.credits_by_status, self.sql.outstanding]

        def answer(answers: Answers) -> OpenSummary:
            documents, credits = (
                {row["status"]: row["count"] for row in rows} for rows in answers[:2]
            )
            return OpenSummary(documents, credits, answers[2][0]["outstanding"])

        return self._fetch(texts, {}, answer)

    def _accounts(self, roles: Roles) -> Row:
        """Return the parameters with the control account and the accounts of unapplied amounts."""
        side = self.sql.side
        control = roles[side.control]
        return {
            "control": control,
            "accounts": [control, roles[side.prepayments], roles[side.credits]],
        }

    def _fetch(self, texts: Sequence[str], asked: Row, answer: Callable[[Answers], T]) -> Fetch[T]:
        asked = {"business_id": self.scope.business_id, **asked}
        return Fetch(self.scope.session, tuple(Query(each, asked) for each in texts), answer)


class CustomerBalances(OpenBalances):
    """Accounts receivable."""

    sql = SALES


class VendorBalances(OpenBalances):
    """Accounts payable."""

    sql = PURCHASES
