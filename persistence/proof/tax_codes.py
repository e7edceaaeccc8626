"""Integrity check of tax codes: one default per direction, and rates without overlap."""

from accounting.books.chart import CONTROL_ROLES
from persistence.proof.shapes import quoted

TAX_CODES = f"""
SELECT c.code AS name,
       a.id IS NOT NULL AND coalesce(a.role, '') NOT IN ({quoted(CONTROL_ROLES)})
       AND rate.many > 0 AND rate.fit
       AND NOT (c.is_default AND EXISTS (
         SELECT FROM tax_code other
         WHERE other.business_id = %(business_id)s AND other.id <> c.id AND other.is_default
           AND other.direction = c.direction
       )) AS holds
FROM tax_code c
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = c.tax_account_id,
LATERAL (
  SELECT count(*) AS many, bool_and(percent AND forward AND behind) AS fit
  FROM (
    SELECT (period->>'rate')::numeric BETWEEN 0 AND 100
             AND (period->>'recoverable_percent')::numeric BETWEEN 0 AND 100 AS percent,
           coalesce(period->>'valid_to' >= period->>'valid_from', true) AS forward,
           place = 1 OR coalesce(
             lag(period->>'valid_to') OVER (ORDER BY place) < period->>'valid_from', false
           ) AS behind
    FROM jsonb_array_elements(c.rates) WITH ORDINALITY AS periods (period, place)
  ) AS periods
) AS rate
WHERE c.business_id = %(business_id)s"""

CHECKS = {"tax_codes": TAX_CODES}
