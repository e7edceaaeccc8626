"""The shapes that several checks of the books share; each is a statement of rows (name, holds)."""

from collections.abc import Iterable


def quoted(words: Iterable[str]) -> str:
    """Words as they stand in a list of a statement."""
    return ", ".join(f"'{word}'" for word in sorted(words))


def verdict(examined: str) -> str:
    """Turn rows of (name, holds) into how many were looked at and the first that does not hold."""
    return (
        "SELECT count(*) AS checked,"
        " min(coalesce(name, 'nameless')) FILTER (WHERE holds IS NOT TRUE) AS first_offender"
        f" FROM ({examined}) AS examined"
    )


def behind_series(table: str, series: str) -> str:
    """Numbers that callers gave leave gaps; none in the series' own form may lie ahead of it."""
    return f"""
SELECT t.number AS name,
       substr(t.number, {len(series) + 2})::bigint <= coalesce(s.last, 0) AS holds
FROM {table} t
LEFT JOIN number_series s ON s.business_id = %(business_id)s AND s.series = '{series}'
WHERE t.business_id = %(business_id)s
  AND t.number ~ '^{series}-([0-9]{{6}}|[1-9][0-9]{{6,11}})$'"""


def by_account(table: str, name: str, *, kept: str, sums_to: str, parts: str, taken: str) -> str:
    """Amounts that rows of a table keep by account, against the rows that took them.

    `kept` is the column, which sums to `sums_to`; `parts` reads what there is to take and `taken`
    what was taken, as (id, account, amount). No account gives more than its part, or less than 0.
    """
    return f"""
SELECT {name} AS name,
       coalesce(kept.amount, 0) = {sums_to} AND coalesce(kept.agrees, true) AS holds
FROM {table} t
LEFT JOIN (
  SELECT id, sum(kept) AS amount,
         bool_and(kept = taken AND kept BETWEEN 0 AND part) AS agrees
  FROM (
    SELECT id, account, sum(part) AS part, sum(kept) AS kept, sum(taken) AS taken
    FROM (
      SELECT id, account, amount AS part, 0 AS kept, 0 AS taken FROM ({parts}) AS parts
      UNION ALL
      SELECT id, share->>0, 0, (share->>1)::bigint, 0
      FROM {table}, jsonb_array_elements({kept}) AS share WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, account, 0, 0, amount FROM ({taken}) AS taken
    ) AS amounts
    GROUP BY id, account
  ) AS accounts
  GROUP BY id
) AS kept ON kept.id = t.id
WHERE t.business_id = %(business_id)s"""


def shares(table: str, holder: str, split: str, live: str) -> str:
    """The live splits of a table laid out as (id, account, amount), by what they are taken from."""
    return f"""
      SELECT {holder} AS id, share->>0 AS account, (share->>1)::bigint AS amount
      FROM {table}, jsonb_array_elements({split}) AS share
      WHERE business_id = %(business_id)s AND {live}"""


def sum_of(split: str) -> str:
    """What the split of one row sums to; null where it has none."""
    return (
        "LATERAL (SELECT sum((share->>1)::bigint) AS amount"
        f" FROM jsonb_array_elements({split}) AS share)"
    )
