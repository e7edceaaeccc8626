"""SQL that adds up the amounts of a tax return from the journal, by tax code."""

from collections.abc import Sequence

from accounting.books.chart import Role, Roles
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.returns import JournalRange
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.sql import Row
from persistence.tax.document_schemes import (
    MOVES,
    OWNER,
    POSTED_COUNTS,
    SETTLED_COUNTS,
    about,
    parameters,
)
from persistence.tax.slice_lines import BESIDE_MONTHS, MONTHS, lines, lines_of_all

# The accounts of opening lines with parts, and the accounts of settlement lines.
OPENED_ON = [Role.OPENING_BALANCE_EQUITY]
SETTLED_ON = [
    role for side in (RECEIVABLE, PAYABLE) for role in (side.control, side.credits, side.refunds)
]

# Qualified names: subqueries within the conditions have columns of the same names.
_COLUMNS = {
    "source": "line.source_type",
    "source_id": "line.source_id",
    "settles_id": "line.settles_id",
    "day": "line.entry_date",
    "place": "line.place",
    "scheme": "line.scheme",
    "change": "line.change",
}
_IS_MARKED = "tax_code_id = ANY(%(codes)s::uuid[])"
_SETTLES = "account_id = ANY(%(settled_on)s::uuid[]) AND split <> '[]'"
# The marked lines that count: not those of documents whose code counts when settled.
_COUNTS_ITSELF = (
    "(tax_code_id = ANY(%(when_posted)s::uuid[]) OR source_type <> ALL(%(documents)s::text[]))"
)
_COUNTS_AS_SETTLED = "source_type = ANY(%(settlements)s::text[])"
_IS_UNCODED = "account_id = ANY(%(accounts)s::uuid[]) AND tax_code_id IS NULL"
# The sums of a code by month: posted amounts if it counts when posted, else settled amounts.
_OF_MONTHS = """
  SELECT tax_month.tax_code_id AS code_id, tax_month.tax_rate AS rate, tax_month.tax_part AS part,
         NULL::uuid AS on_account, slice.late,
         CASE WHEN counted.itself THEN debits ELSE cash_debits END AS debit,
         CASE WHEN counted.itself THEN credits ELSE cash_credits END AS credit
  FROM <months>
  JOIN tax_month ON tax_month.business_id = %(business_id)s
    AND tax_month.month BETWEEN slice.first AND slice.last
  CROSS JOIN LATERAL (
    SELECT tax_month.tax_code_id = ANY(%(when_posted)s::uuid[]) AS itself
  ) AS counted
  WHERE tax_month.tax_code_id = ANY(%(codes)s::uuid[])""".replace("<months>", MONTHS)
# Lines that are tax parts themselves. `_SETTLED` below has the parts that lines settle.
_MARKED = f"""
  SELECT tax_code_id AS code_id, tax_rate AS rate, tax_part AS part, account_id AS on_account, late,
         sign * debit AS debit, sign * credit AS credit
  FROM (<lines>) AS line
  WHERE {_COUNTS_ITSELF}"""
# Settlement lines and opening lines with parts; the latter settle nothing.
_OF_ALL_SPLITS = lines("""account_id = ANY(%(settled_on)s::uuid[] || %(opened_on)s::uuid[])
        AND split <> '[]'""")
_SETTLED = f"""
  SELECT (share->>2)::uuid, (share->>3)::numeric, share->>4, (share->>0)::uuid, late,
         sign * greatest((share->>1)::bigint, 0), sign * greatest(-(share->>1)::bigint, 0)
  FROM (<lines>) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  WHERE {_COUNTS_AS_SETTLED} AND (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""


def _owner(subject: str) -> str:
    return about(OWNER, {**_COLUMNS, "id": subject})


# OFFSET 0 evaluates the condition once for each line.
_COUNTING = f"""
    SELECT line.* FROM ({_OF_ALL_SPLITS}) AS line
    WHERE {about(SETTLED_COUNTS, _COLUMNS)} OFFSET 0"""
# The settlement lines of a transition (also write-offs), and opening lines: these have no mark, but
# their split has the parts.
_SUBJECT = "coalesce(line.settles_id, line.source_id)"
_MOVING = f"""
    SELECT line.*, {_owner(_SUBJECT)} AS owner_id,
           CASE WHEN line.settles_id IS NULL THEN 1 ELSE -1 END AS way
    FROM ({_OF_ALL_SPLITS}) AS line
    WHERE line.source_type = ANY(CASE WHEN line.settles_id IS NULL THEN %(documents)s::text[]
        ELSE %(settlements)s::text[] || %(write_offs)s::text[] END)
      AND {about(MOVES, {**_COLUMNS, "id": _SUBJECT})} OFFSET 0"""


# Both selects again, for the case that the scheme depends on the document of each line.
_MARKED_LINES = _MARKED.replace("<lines>", lines(_IS_MARKED))
_MARKED_BY_SCHEME = f"{_MARKED_LINES} OR {about(POSTED_COUNTS, _COLUMNS)}"
_SETTLED_BY_SCHEME = f"""
  SELECT (share->>2)::uuid, (share->>3)::numeric, share->>4, (share->>0)::uuid, late,
         greatest(amount, 0), greatest(-amount, 0)
  FROM ({_COUNTING}) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  CROSS JOIN LATERAL (
    SELECT CASE WHEN source_type = ANY(%(write_offs)s) THEN -1 ELSE 1 END
           * (share->>1)::bigint AS amount
  ) AS signed
  WHERE (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""
# Amounts without a tax code on tax accounts; the parameter `accounts` names the accounts.
_UNCODED_IN_MONTHS = f"""
    SELECT account_month.account_id, uncoded AS amount
    FROM {MONTHS}
    JOIN account_month ON account_month.business_id = %(business_id)s
      AND account_month.month BETWEEN slice.first AND slice.last
    WHERE account_month.account_id = ANY(%(accounts)s::uuid[])"""


def _added(begin: str, coded: list[str], uncoded: list[str]) -> str:
    """Build the statement that adds up amounts by code, rate and part, or else by account."""
    return f"""{begin}
SELECT code_id, trim_scale(rate)::text AS rate, part, late, NULL::uuid AS account_id,
       NULL AS account_code, NULL AS account_name,
       sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
FROM ({" UNION ALL ".join(coded)}) AS line
GROUP BY code_id, rate, part, late
HAVING sum(debit) <> 0 OR sum(credit) <> 0
UNION ALL
SELECT NULL, NULL, NULL, NULL, account.id, account.code, account.name, moved.amount, 0
FROM (
  SELECT account_id, sum(amount)::bigint AS amount
  FROM ({" UNION ALL ".join(uncoded)}) AS amounts
  GROUP BY account_id
) AS moved
JOIN account ON account.business_id = %(business_id)s AND account.id = moved.account_id
WHERE moved.amount <> 0
ORDER BY account_code, account_id, code_id, rate, part, late"""


def _in_months(which: Sequence[str], more: Sequence[str]) -> str:
    """Build the statement that reads months, and the lines beside them.

    These lines match `which` or are marked or uncoded lines; `more` are further selects.
    """
    marked = f"{_IS_MARKED} AND {_COUNTS_ITSELF}"
    every = " OR ".join(f"({each})" for each in (marked, _IS_UNCODED, *which))
    return _added(
        BESIDE_MONTHS.replace("<which>", every),
        [_OF_MONTHS, _MARKED.replace("<lines>", lines_of_all(_IS_MARKED)), *more],
        [_UNCODED_IN_MONTHS, _UNCODED.replace("<lines>", lines_of_all(_IS_UNCODED))],
    )


_UNCODED = "SELECT account_id, sign * (debit - credit) AS amount FROM (<lines>) AS line"

WHEN_POSTED = _in_months([], [])
BOTH = _in_months(
    [f"{_SETTLES} AND {_COUNTS_AS_SETTLED}"],
    [_SETTLED.replace("<lines>", lines_of_all(_SETTLES))],
)
BY_SCHEME = _added(
    "",
    [_MARKED_BY_SCHEME, _SETTLED_BY_SCHEME],
    [_UNCODED.replace("<lines>", lines(_IS_UNCODED))],
)

# The unsettled amounts before a change of scheme: those of documents less the settled amounts.
_UNSETTLED_PARTS = f"""
  SELECT {_owner("line.source_id")} AS owner_id, tax_code_id AS code_id,
         tax_rate AS rate, tax_part AS part, account_id AS on_account, debit - credit AS amount
  FROM ({lines("tax_code_id = ANY(%(when_settled)s::uuid[])")}) AS line
  WHERE source_type = ANY(%(documents)s::text[]) AND source_type <> ALL(%(write_offs)s::text[])
    AND {about(MOVES, {**_COLUMNS, "id": "line.source_id"})}
  UNION ALL
  SELECT owner_id, (share->>2)::uuid, (share->>3)::numeric, share->>4, (share->>0)::uuid,
         way * (share->>1)::bigint
  FROM ({_MOVING}) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  WHERE (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""
UNSETTLED = f"""
SELECT owner_id, code_id, trim_scale(rate)::text AS rate, part, sum(amount)::bigint AS amount
FROM ({_UNSETTLED_PARTS}
) AS amounts
GROUP BY owner_id, code_id, rate, part
HAVING sum(amount) <> 0
ORDER BY owner_id, code_id, rate, part"""


# The tax that a return declares, by code and by the account it is on; debits above zero.
def _declared(*coded: str) -> str:
    return f"""
SELECT code_id, on_account, sum(debit - credit)::bigint AS amount
FROM ({" UNION ALL ".join(coded)}) AS line
WHERE part = ANY(%(taxes)s::text[])
GROUP BY code_id, on_account
HAVING sum(debit - credit) <> 0"""


DECLARED_WHEN_POSTED = _declared(_MARKED_LINES)
DECLARED_BOTH = _declared(_MARKED_LINES, _SETTLED.replace("<lines>", lines(_SETTLES)))
DECLARED_BY_SCHEME = _declared(_MARKED_BY_SCHEME, _SETTLED_BY_SCHEME)
DECLARED_UNSETTLED = _declared(
    f"SELECT code_id, part, on_account, amount AS debit, 0 AS credit"
    f" FROM ({_UNSETTLED_PARTS}) AS amounts"
)

# The balances of accounts at the end of a day, from a covering index.
HELD = """
SELECT account_id, sum(debit - credit)::bigint AS net
FROM journal_line
WHERE journal_line.business_id = %(business_id)s AND account_id = ANY(%(accounts)s::uuid[])
  AND entry_date <= %(end_date)s
GROUP BY account_id"""

REACHED = """
SELECT series, last FROM number_series
WHERE number_series.business_id = %(business_id)s AND series LIKE 'JE-%%'"""


def counting(counted: CountedCodes, roles: Roles, declared: Sequence[JournalRange]) -> Row:
    """Return the parameters that determine when amounts count."""
    return {
        **parameters(declared),
        "codes": [*counted.when_posted, *counted.when_settled],
        "when_posted": list(counted.when_posted),
        "when_settled": list(counted.when_settled),
        "settled_on": [roles[role] for role in SETTLED_ON],
        "opened_on": [roles[role] for role in OPENED_ON],
    }
