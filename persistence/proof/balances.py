"""Integrity checks of the monthly sums: on both bases and schemes they equal the lines."""

from persistence.ledger.month_sums import (
    ADDED_UP,
    EVERY_SUM,
    LINES,
    TAX_ADDED_UP,
    TAX_KEY,
    TAX_SUMS,
)

# The lines of the entries that the series counts as rolled up.
_ROLLED_UP = f"""
    FROM ({LINES}) AS line
    JOIN number_series s
      ON s.business_id = %(business_id)s AND s.series = line.series AND line.place <= s.rolled_up"""


def _differing(table: str, key: str, sums: tuple[str, ...], added_up: str, lines: str) -> str:
    """Return SQL with the stored and the computed sums of each key and month of a table."""
    nothing = ", ".join("0" for _ in sums)
    return f"""
  SELECT {key}, month, coalesce(kept.sums, ARRAY[{nothing}]) AS said,
         coalesce(added.sums, ARRAY[{nothing}]) AS found
  FROM (
    SELECT {key}, month, ARRAY[{", ".join(sums)}]::numeric[] AS sums
    FROM {table} WHERE business_id = %(business_id)s
  ) AS kept
  FULL JOIN (
    SELECT {key}, month, ARRAY[{added_up}]::numeric[] AS sums {lines}
    GROUP BY {key}, month
  ) AS added USING ({key}, month)"""


_OF_ACCOUNTS = _differing("account_month", "account_id", tuple(EVERY_SUM), ADDED_UP, _ROLLED_UP)
_OF_CODES = _differing(
    "tax_month", ", ".join(TAX_KEY), TAX_SUMS, TAX_ADDED_UP, f"{_ROLLED_UP} WHERE line.is_coded"
)
ROLL_UPS = f"""
SELECT coalesce(a.code, account_id::text) || ' in ' || to_char(month, 'YYYY-MM') AS name,
       bool_and(said = found) AS holds
FROM ({_OF_ACCOUNTS}) AS compared
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = account_id
GROUP BY 1
UNION ALL
SELECT concat_ws(
         ' ', coalesce(c.code, tax_code_id::text), trim_scale(tax_rate), tax_part, 'in',
         to_char(month, 'YYYY-MM')
       ),
       bool_and(said = found)
FROM ({_OF_CODES}) AS compared
LEFT JOIN tax_code c ON c.business_id = %(business_id)s AND c.id = tax_code_id
GROUP BY 1
UNION ALL
SELECT series || ', of which ' || coalesce(rolled_up, 0) || ' are rolled up',
       coalesce(rolled_up, 0) BETWEEN 0 AND last
FROM number_series WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'"""

CHECKS = {"roll_ups": ROLL_UPS}
