"""Integrity checks of opening balances and of the documents that belong to them."""

from accounting.books.chart import Role
from accounting.books.ledger import TaxPart
from persistence.integrity.definitions import BOTH, SideTables


def _items(tables: SideTables) -> str:
    """Return SQL for the documents, credits and payments of openings; `stands` if still valid."""
    side, live = tables.side, "state <> 'void'"
    kinds = (
        (tables.document, side.control, side.sign, "total_amount", "opened_on", live),
        (tables.credit, side.credits, -side.sign, "total_amount", "opened_on", live),
        (
            tables.payment,
            side.prepayments,
            -side.sign,
            "total",
            "(completions->0->>0)::date",
            "status = 'completed'",
        ),
    )
    return " UNION ALL ".join(
        f"SELECT opening_id, '{role}' AS role, {sign} * {amount} AS amount, {on} AS opened_on,"
        f" {stands} AS stands FROM {table}"
        " WHERE business_id = %(business_id)s AND opening_id IS NOT NULL"
        for table, role, sign, amount, on, stands in kinds
    )


_ALL = " UNION ALL ".join(_items(tables) for tables in BOTH)

# All documents of an opening have its day, and are valid exactly as long as it is.
ITEMS = f"""
SELECT 'opening of ' || o.opened_on AS name,
       coalesce(bool_and(i.opened_on = o.opened_on AND i.stands = (o.reversed_at IS NULL)), true)
         AS holds
FROM opening_balance o LEFT JOIN ({_ALL}) AS i ON i.opening_id = o.id
WHERE o.business_id = %(business_id)s
GROUP BY o.id, o.opened_on"""

# Per control account, the documents sum to the control total of the opening, and an entered balance
# of the account equals it.
TIES = f"""
SELECT 'opening of ' || o.opened_on || ', ' || said.role AS name,
       said.amount = coalesce(came.amount, 0)
       AND coalesce((o.stated->>a.id::text)::bigint, said.amount) = said.amount AS holds
FROM opening_balance o
CROSS JOIN LATERAL (
  SELECT key AS role, value::text::bigint AS amount FROM jsonb_each(o.documented)
) AS said
JOIN account a ON a.business_id = %(business_id)s AND a.role = said.role
LEFT JOIN (
  SELECT opening_id, role, sum(amount) AS amount FROM ({_ALL}) AS i GROUP BY opening_id, role
) AS came ON came.opening_id = o.id AND came.role = said.role
WHERE o.business_id = %(business_id)s"""

# All lines of the documents are on opening balance equity or are opened against it, and their taxes
# have the tax code of the line. Taxes of credits are on equity as well, and taxes that are not
# recovered on the account of the line. Others have the account from which a refund takes them.
LINES = " UNION ALL ".join(
    f"""
SELECT coalesce(d.number, d.id::text) AS name,
       bool_and(a.id IS NOT NULL AND NOT EXISTS (
         SELECT FROM jsonb_array_elements(item->'taxes') AS tax
         WHERE tax->>2 IS DISTINCT FROM item->>'tax_code_id'
            OR CASE WHEN tax->>4 = '{TaxPart.BLOCKED}' THEN tax->>1 <> item->>'account_id'
               ELSE {on_equity} AND tax->>1 <> a.id::text END
       )) AS holds
FROM {table} d CROSS JOIN LATERAL jsonb_array_elements(d.lines) AS item
LEFT JOIN account a ON a.business_id = %(business_id)s
  AND a.id = coalesce(item->>'opened_against', item->>'account_id')::uuid
  AND a.role = '{Role.OPENING_BALANCE_EQUITY}'
WHERE d.business_id = %(business_id)s AND d.opening_id IS NOT NULL
GROUP BY d.id, d.number"""
    for tables in BOTH
    for table, on_equity in ((tables.document, "false"), (tables.credit, "true"))
)

CHECKS = {"opening_items": ITEMS, "opening_ties": TIES, "opening_lines": LINES}
