"""SQL that several checks of the books share; a check is a statement of rows (name, holds)."""

from collections.abc import Iterable
from dataclasses import dataclass

from accounting.trade.sides import PAYABLE, RECEIVABLE, Side


def quoted(words: Iterable[str]) -> str:
    """Return words as a list of SQL literals, in sorted order."""
    return ", ".join(f"'{word}'" for word in sorted(words))


def verdict(examined: str) -> str:
    """Return SQL that turns rows of (name, holds) into their number and the first fault."""
    return (
        "SELECT count(*) AS checked,"
        " min(coalesce(name, 'nameless')) FILTER (WHERE holds IS NOT TRUE) AS first_offender"
        f" FROM ({examined}) AS examined"
    )


def behind_series(table: str, series: str) -> str:
    """Return a check that no number in the form of the series is ahead of the series.

    Gaps are allowed, since callers may choose numbers.
    """
    return f"""
SELECT t.number AS name,
       substr(t.number, {len(series) + 2})::bigint <= coalesce(s.last, 0) AS holds
FROM {table} t
LEFT JOIN number_series s ON s.business_id = %(business_id)s AND s.series = '{series}'
WHERE t.business_id = %(business_id)s
  AND t.number ~ '^{series}-([0-9]{{6}}|[1-9][0-9]{{6,11}})$'"""


def part_of(row: str, first: int = 0) -> str:
    """Return SQL for the key of a part in a JSON row: its account and its tax mark."""
    told = (f"{row}->>{place}" for place in (first, 2, 3, 4))
    return f"concat_ws(' ', {', '.join(told)})"


def net_of(line: str) -> str:
    """Return SQL for the key of the net part of a JSON line."""
    coded = f"CASE WHEN {line}->>'tax_code_id' IS NOT NULL THEN"
    return (
        f"concat_ws(' ', {line}->>'account_id', {line}->>'tax_code_id',"
        f" {coded} {line}->>'tax_rate' END, {coded} 'net' END)"
    )


# Withheld tax is below zero, and so may the parts of lines below zero be.
_WITHIN = "kept BETWEEN least(whole, 0) AND greatest(whole, 0)"


def by_part(
    table: str, name: str, *, kept: str, sums_to: str, parts: str, taken: str, also: str = "true"
) -> str:
    """Return a check of the amounts by part in a column against the rows that used them.

    The column `kept` sums to `sums_to`. `parts` selects the whole amounts and `taken` the used
    ones, as (id, part, amount). No more than the whole part is used, and no amount changes sign.
    `also` is a further condition.
    """
    return f"""
SELECT {name} AS name,
       coalesce(kept.amount, 0) = {sums_to} AND coalesce(kept.agrees, true) AND {also} AS holds
FROM {table} t
LEFT JOIN (
  SELECT id, sum(kept) AS amount,
         bool_and(kept = taken AND {_WITHIN}) AS agrees
  FROM (
    SELECT id, part, sum(whole) AS whole, sum(kept) AS kept, sum(taken) AS taken
    FROM (
      SELECT id, part, amount AS whole, 0 AS kept, 0 AS taken FROM ({parts}) AS parts
      UNION ALL
      SELECT id, {part_of("share")}, 0, (share->>1)::bigint, 0
      FROM {table}, jsonb_array_elements({kept}) AS share WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, part, 0, 0, amount FROM ({taken}) AS taken
    ) AS amounts
    GROUP BY id, part
  ) AS parts
  GROUP BY id
) AS kept ON kept.id = t.id
WHERE t.business_id = %(business_id)s"""


def shares(table: str, holder: str, split: str, live: str) -> str:
    """Return SQL for the live splits of a table as (id, part, amount); `holder` is the id."""
    return f"""
      SELECT {holder} AS id, {part_of("share")} AS part, (share->>1)::bigint AS amount
      FROM {table}, jsonb_array_elements({split}) AS share
      WHERE business_id = %(business_id)s AND {live}"""


def bases(table: str, holder: str, split: str, live: str) -> str:
    """Return SQL for the base of the live foreign splits of a table as (id, base)."""
    return f"""
      SELECT {holder} AS id, sum((share->5->>0)::bigint) AS base
      FROM {table}, jsonb_array_elements({split}) AS share
      WHERE business_id = %(business_id)s AND {live} AND share->5 IS NOT NULL
      GROUP BY {holder}"""


def sum_of(split: str) -> str:
    """Return SQL for the sum of the split of one row; null if there is none."""
    return (
        "LATERAL (SELECT sum((share->>1)::bigint) AS amount"
        f" FROM jsonb_array_elements({split}) AS share)"
    )


# Table names of each side of trade, and name prefixes of its checks.


@dataclass(frozen=True, slots=True, kw_only=True)
class SideTables:
    """The table names of one side.

    `payments`, `credits` and `refunds` are the prefixes of the names of their checks, as the table
    of the document is for documents. With `refunds_paid_later`, refunds are allocated and paid
    after they are agreed, and parts of them may be kept as credits.
    """

    side: Side
    document: str
    payment: str
    allocation: str
    credit: str
    refund: str
    refund_allocation: str
    refund_payment: str
    write_off: str
    payments: str = ""
    credits: str = "credit"
    refunds: str = "refund"
    refunds_paid_later: bool = False

    @property
    def credit_allocation(self) -> str:
        """The table of allocations of credits to documents."""
        return f"{self.credit}_allocation"


SALES = SideTables(
    side=RECEIVABLE,
    document="invoice",
    payment="invoice_payment",
    allocation="invoice_allocation",
    credit="customer_credit",
    refund="invoice_refund",
    refund_allocation="invoice_refund_allocation",
    refund_payment="invoice_refund_payment",
    write_off="write_off",
)
PURCHASES = SideTables(
    side=PAYABLE,
    document="bill",
    payment="bill_payment",
    allocation="bill_allocation",
    credit="vendor_credit",
    refund="vendor_refund",
    refund_allocation="vendor_refund_allocation",
    refund_payment="vendor_refund_payment",
    write_off="bill_write_off",
    payments="bill_",
    credits="vendor_credit",
    refunds="vendor_refund",
    refunds_paid_later=True,
)
BOTH = (SALES, PURCHASES)
