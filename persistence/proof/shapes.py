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


def part_of(row: str, first: int = 0) -> str:
    """What tells one part from another: its account, and what it says of tax, of a JSON row."""
    told = (f"{row}->>{place}" for place in (first, 2, 3, 4))
    return f"concat_ws(' ', {', '.join(told)})"


def net_of(line: str) -> str:
    """What tells the part that the net of a line is."""
    coded = f"CASE WHEN {line}->>'tax_code_id' IS NOT NULL THEN"
    return (
        f"concat_ws(' ', {line}->>'account_id', {line}->>'tax_code_id',"
        f" {coded} {line}->>'tax_rate' END, {coded} 'net' END)"
    )


# Only what is withheld lies below zero.
_WITHIN = """CASE WHEN right(part, 9) = ' withheld' THEN kept BETWEEN whole AND 0
                               ELSE kept BETWEEN 0 AND whole END"""


def by_part(table: str, name: str, *, kept: str, sums_to: str, parts: str, taken: str) -> str:
    """Amounts that rows of a table keep by part, against the rows that took them.

    `kept` is the column, which sums to `sums_to`; `parts` reads what there is to take and `taken`
    what was taken, as (id, part, amount). Nothing gives more than the part, or passes zero.
    """
    return f"""
SELECT {name} AS name,
       coalesce(kept.amount, 0) = {sums_to} AND coalesce(kept.agrees, true) AS holds
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
    """The live splits of a table laid out as (id, part, amount), by what they are taken from."""
    return f"""
      SELECT {holder} AS id, {part_of("share")} AS part, (share->>1)::bigint AS amount
      FROM {table}, jsonb_array_elements({split}) AS share
      WHERE business_id = %(business_id)s AND {live}"""


def sum_of(split: str) -> str:
    """What the split of one row sums to; null where it has none."""
    return (
        "LATERAL (SELECT sum((share->>1)::bigint) AS amount"
        f" FROM jsonb_array_elements({split}) AS share)"
    )
