"""What must hold at the bank: lines and money agree on their links, and nothing is linked twice.

That money stands on the account of its bank account is proved with all else that posts.
"""

from persistence.proof.sides import BOTH

_ALIVE = "status IN ('pending', 'processing', 'completed') AND payout_id IS NULL"


def _money() -> str:
    """All money that lines are linked with, by what it moves: above zero where it comes in."""
    selects = ["SELECT 'payout' AS type, id, linked, money_account_id, paid_out AS moves,"]
    selects[0] += " status IN ('pending', 'processing', 'paid') AS alive FROM payout"
    for tables in BOTH:
        comes, goes = f"{tables.side.sign} * total - fee", f"{-tables.side.sign} * amount - fee"
        selects += [
            f"SELECT '{table}', id, linked, money_account_id, {moves}, {_ALIVE} FROM {table}"
            for table, moves in ((tables.payment, comes), (tables.refund_payment, goes))
        ]
    return " UNION ALL ".join(
        f"{each} WHERE business_id = %(business_id)s AND linked <> 0" for each in selects
    )


LINES = """
SELECT t.id::text AS name,
       t.linked = coalesce(links.amount, 0) AND t.rounding = coalesce(links.rounding, 0)
       AND t.linked + t.categorized <= t.amount AS holds
FROM bank_transaction t
LEFT JOIN (
  SELECT transaction_id, sum(amount + rounding) AS amount, sum(rounding) AS rounding
  FROM bank_link
  WHERE business_id = %(business_id)s AND ended_at IS NULL GROUP BY transaction_id
) AS links ON links.transaction_id = t.id
WHERE t.business_id = %(business_id)s"""

# What lines show of it is no more than it moves, the same way, and at one bank account, where it
# stands.
MONEY = f"""
SELECT coalesce(money.type, shown.type) || ' ' || coalesce(money.id, shown.id) AS name,
       money.alive AND money.linked = shown.amount AND shown.amount <= abs(money.moves)
       AND shown.ways = ARRAY[sign(money.moves)::int]
       AND shown.accounts = ARRAY[money.money_account_id] AS holds
FROM ({_money()}) AS money
FULL JOIN (
  SELECT l.target_type AS type, l.target_id AS id, sum(l.amount) AS amount,
         array_agg(DISTINCT CASE t.direction WHEN 'credit' THEN 1 ELSE -1 END) AS ways,
         array_agg(DISTINCT a.account_id) AS accounts
  FROM bank_link l
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = l.transaction_id
  JOIN bank_account a ON a.business_id = %(business_id)s AND a.id = t.bank_account_id
  WHERE l.business_id = %(business_id)s AND l.ended_at IS NULL
  GROUP BY l.target_type, l.target_id
) AS shown ON shown.type = money.type AND shown.id = money.id"""

CHECKS = {"bank_transactions_linked": LINES, "bank_links": MONEY}
