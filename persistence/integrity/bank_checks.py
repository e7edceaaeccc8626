"""Integrity checks of the bank: links, transfers and reconciled statements.

Lines and payments agree on their links, no amount is linked twice, and the ledger has the closing
balances of reconciled statements. `posting.py` checks the postings to the bank accounts.
"""

from accounting.books.chart import CLEARED_BY_PROCESSOR, Role
from accounting.books.manual_entries import SOURCE
from persistence.integrity.definitions import BOTH, quoted

_PAYOUTS = """
  SELECT 'payout' AS type, id, false AS back, linked, money_account_id, paid_out AS moves,
         (status IN ('pending', 'processing', 'paid'))::integer AS times
  FROM payout WHERE business_id = %(business_id)s AND linked <> 0"""
_STANDING = {
    False: "status IN ('pending', 'processing', 'completed')",
    True: "status = 'completed'",
}


def _money() -> str:
    """Return SQL for all payments and payouts with links, in each direction of the links.

    `moves` is above zero for money in, and `times` is the number of such movements.
    """
    selects = [_PAYOUTS]
    for tables in BOTH:
        comes, goes = f"{tables.side.sign} * total - fee", f"{-tables.side.sign} * amount - fee"
        selects += [
            _linked(table, moves, linked, back=back)
            for table, moves in ((tables.payment, comes), (tables.refund_payment, goes))
            for linked, back in (("linked", False), ("linked_back", True))
        ]
    return " UNION ALL ".join(selects)


def _linked(table: str, moves: str, linked: str, *, back: bool) -> str:
    return f"""SELECT '{table}', id, {back}, {linked}, money_account_id,
       {"-1" if back else "1"} * ({moves}),
       CASE WHEN payout_id IS NULL
         THEN times_returned(completions) + ({_STANDING[back]})::integer ELSE 0 END
  FROM {table} WHERE business_id = %(business_id)s AND {linked} <> 0"""


# The parts of a line sum to its categorized amount. A line with a single part may have it in its
# two category columns instead.
LINES = """
SELECT t.id::text AS name,
       t.linked = coalesce(links.amount, 0) AND t.rounding = coalesce(links.rounding, 0)
       AND t.linked + t.categorized <= t.amount
       AND (t.parts IS NULL OR parts.amount = t.categorized AND parts.fit)
       AND (t.rule_id IS NULL OR t.categorized > 0) AS holds
FROM bank_transaction t
CROSS JOIN LATERAL (
  SELECT coalesce(sum((part->>'amount')::bigint), 0) AS amount,
         coalesce(bool_and((part->>'amount')::bigint > 0 AND a.id IS NOT NULL), true)
         AND t.category_account_id IS NULL AS fit
  FROM jsonb_array_elements(t.parts) AS part
  LEFT JOIN account a
    ON a.business_id = %(business_id)s AND a.id = (part->>'account_id')::uuid
) AS parts
LEFT JOIN (
  SELECT transaction_id, sum(amount + rounding) AS amount, sum(rounding) AS rounding
  FROM bank_link
  WHERE business_id = %(business_id)s AND ended_at IS NULL GROUP BY transaction_id
) AS links ON links.transaction_id = t.id
WHERE t.business_id = %(business_id)s"""

# The lines linked with a payment show at most its amount for each time that it moved, in its
# direction, and at its own bank account only. The lines linked with its return likewise. A line in
# base shows another amount of foreign money than it has itself.
MONEY = f"""
SELECT coalesce(money.type, shown.type) || ' ' || coalesce(money.id, shown.id) AS name,
       money.linked = shown.amount AND shown.amount <= abs(money.moves) * money.times
       AND shown.ways = ARRAY[sign(money.moves)::int]
       AND shown.accounts = ARRAY[money.money_account_id] AS holds
FROM ({_money()}) AS money
FULL JOIN (
  SELECT l.target_type AS type, l.target_id AS id, l.back,
         sum(coalesce((l.target_amount->>0)::bigint, l.amount)) AS amount,
         array_agg(DISTINCT CASE t.direction WHEN 'credit' THEN 1 ELSE -1 END) AS ways,
         array_agg(DISTINCT a.account_id) AS accounts
  FROM bank_link l
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = l.transaction_id
  JOIN bank_account a ON a.business_id = %(business_id)s AND a.id = t.bank_account_id
  WHERE l.business_id = %(business_id)s AND l.ended_at IS NULL
    AND l.target_type NOT IN ('journal_entry', 'transfer')
  GROUP BY l.target_type, l.target_id, l.back
) AS shown ON shown.type = money.type AND shown.id = money.id AND shown.back = money.back"""

# The amount of a line in the currency of its account.
_OWN = "CASE WHEN a.currency IS NULL THEN l.debit - l.credit ELSE l.currency_amount END"

# The lines linked with a manual entry show at most the amount it moves on the account of their
# bank account, in the same direction.
ENTRIES = f"""
SELECT 'journal_entry ' || shown.id AS name,
       entry.source_type = '{SOURCE}' AND shown.amount <= abs(moved.amount)
       AND shown.ways = ARRAY[sign(moved.amount)::int] AS holds
FROM (
  SELECT l.target_id AS id, a.account_id, sum(l.amount) AS amount,
         array_agg(DISTINCT CASE t.direction WHEN 'credit' THEN 1 ELSE -1 END) AS ways
  FROM bank_link l
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = l.transaction_id
  JOIN bank_account a ON a.business_id = %(business_id)s AND a.id = t.bank_account_id
  WHERE l.business_id = %(business_id)s AND l.ended_at IS NULL
    AND l.target_type = 'journal_entry'
  GROUP BY l.target_id, a.account_id
) AS shown
LEFT JOIN journal_entry entry
  ON entry.business_id = %(business_id)s AND entry.id = shown.id
CROSS JOIN LATERAL (
  SELECT coalesce(sum({_OWN}), 0) AS amount FROM journal_line l
  JOIN account a ON a.business_id = %(business_id)s AND a.id = l.account_id
  WHERE l.business_id = %(business_id)s AND l.entry_id = shown.id
    AND l.account_id = shown.account_id
) AS moved"""

# A live transfer is linked with exactly its own lines, which have its amount, accounts and
# directions. Its date is that of the earlier line. An ended transfer has no links.
TRANSFERS = """
SELECT 'transfer ' || coalesce(f.id, links.id) AS name,
       f.id IS NOT NULL
       AND coalesce(links.lines, '{}') = CASE WHEN f.ended_at IS NULL
         THEN array_remove(ARRAY[f.out_transaction_id, f.in_transaction_id], NULL)
         ELSE '{}' END
       AND (f.ended_at IS NOT NULL OR (
         links.amounts IN (ARRAY[f.amount], ARRAY[
           least(f.amount, coalesce(f.arrived, f.amount)),
           greatest(f.amount, coalesce(f.arrived, f.amount))])
         AND links.first = f.moved_on AND links.fit
       )) AS holds
FROM (SELECT * FROM bank_transfer WHERE business_id = %(business_id)s) AS f
FULL JOIN (
  SELECT l.target_id AS id,
         array_agg(l.transaction_id ORDER BY t.direction DESC) AS lines,
         array_agg(DISTINCT l.amount) AS amounts, min(t.booked_on) AS first,
         bool_and(a.account_id = CASE t.direction
             WHEN 'credit' THEN of.to_account_id ELSE of.from_account_id END
           AND l.amount = CASE t.direction
             WHEN 'credit' THEN coalesce(of.arrived, of.amount) ELSE of.amount END) AS fit
  FROM bank_link l
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = l.transaction_id
  JOIN bank_account a ON a.business_id = %(business_id)s AND a.id = t.bank_account_id
  LEFT JOIN bank_transfer of ON of.business_id = %(business_id)s AND of.id = l.target_id
  WHERE l.business_id = %(business_id)s AND l.ended_at IS NULL AND l.target_type = 'transfer'
  GROUP BY l.target_id
) AS links ON links.id = f.id"""

# The ledger has the closing balance of each closed statement. An open statement is the newest of
# its account, and the only open one.
STATEMENTS = f"""
SELECT 'statement of ' || r.statement_date || ' ' || r.id AS name,
       r.account_id = a.account_id AND CASE r.status
         WHEN 'closed' THEN r.closing_balance = (
           SELECT coalesce(sum({_OWN}), 0) FROM journal_line l
           JOIN account a ON a.business_id = %(business_id)s AND a.id = l.account_id
           WHERE l.business_id = %(business_id)s AND l.account_id = r.account_id
             AND l.entry_date <= r.statement_date
         )
         ELSE NOT EXISTS (
           SELECT FROM bank_reconciliation other
           WHERE other.business_id = %(business_id)s
             AND other.bank_account_id = r.bank_account_id AND other.id <> r.id
             AND (other.status = 'open' OR other.statement_date >= r.statement_date)
         )
       END AS holds
FROM bank_reconciliation r
JOIN bank_account a ON a.business_id = %(business_id)s AND a.id = r.bank_account_id
WHERE r.business_id = %(business_id)s"""

BANK_CHECKS = {
    "bank_transactions_linked": LINES,
    "bank_links": MONEY,
    "bank_entries_linked": ENTRIES,
    "bank_transfers": TRANSFERS,
    "bank_statements": STATEMENTS,
}


# Integrity checks of payouts: amounts, items and variances; no payment is in two payouts.


# Customer money that the processor holds before a payout, unless a bank line shows it, or it names
# a bank account.
WITH_PROCESSOR = (
    f"(processor <> '' OR method IN ({quoted(CLEARED_BY_PROCESSOR)}))"
    " AND money_account_id IS NULL AND bank_account_id IS NULL"
)
_FEES = """LATERAL (SELECT coalesce(sum((step->>1)::bigint), 0) AS amount
           FROM jsonb_array_elements(p.fee_steps) AS step) AS fees"""
_OTHER = """LATERAL (SELECT coalesce(sum((item->>'amount')::bigint), 0) AS amount
           FROM jsonb_array_elements(p.other_items) AS item) AS other"""

# What the items of a foreign payout moved in base, and what is missing at the rate of the payout.
_NET = """LATERAL (SELECT coalesce(sum((step->2->>2)::bigint), 0) AS base
           FROM jsonb_array_elements(p.fee_steps) AS step) AS net"""
_MISSING = """p.gross_payments - p.total_refunds - p.additional_refunds - p.fee + other.amount
         - p.paid_out"""
_IN_BASE = f"round(({_MISSING}) * p.rate_base / p.rate_own)::bigint - net.base"

# A live payout has the amounts of its completed items. One that is not live keeps its last amounts.
AMOUNTS = f"""
SELECT p.id::text AS name,
       p.gross_payments = coalesce(items.payments, 0)
       AND p.total_refunds = coalesce(items.refunds, 0)
       AND fees.amount = coalesce(items.fees, 0) AS holds
FROM payout p
LEFT JOIN (
  SELECT i.payout_id, sum(m.total) AS payments, sum(r.amount) AS refunds,
         coalesce(sum(m.fee), 0) + coalesce(sum(r.fee), 0) AS fees
  FROM payout_item i
  LEFT JOIN invoice_payment m
    ON m.business_id = %(business_id)s AND m.id = i.payment_id AND m.status = 'completed'
  LEFT JOIN invoice_refund_payment r
    ON r.business_id = %(business_id)s AND r.id = i.refund_payment_id AND r.status = 'completed'
  WHERE i.business_id = %(business_id)s AND i.listed
  GROUP BY i.payout_id
) AS items ON items.payout_id = p.id,
{_FEES}
WHERE p.business_id = %(business_id)s AND p.status IN ('pending', 'processing', 'paid')"""

# The items that a live payout lists refer to it and are with the processor, and every payment that
# refers to a payout is listed by it. Payments of vendors are in no payout.
ITEMS = f"""
SELECT coalesce(held.id, listed.id)::text AS name,
       held.with_processor AND held.payout_id IS NOT DISTINCT FROM listed.payout_id AS holds
FROM (
  SELECT id, payout_id, {WITH_PROCESSOR} AS with_processor FROM invoice_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, {WITH_PROCESSOR} FROM invoice_refund_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, false FROM bill_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, false FROM vendor_refund_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
) AS held
FULL JOIN (
  SELECT coalesce(i.payment_id, i.refund_payment_id) AS id, i.payout_id
  FROM payout_item i
  JOIN payout p ON p.business_id = %(business_id)s AND p.id = i.payout_id
  WHERE i.business_id = %(business_id)s AND i.listed
    AND p.status IN ('pending', 'processing', 'paid')
) AS listed ON listed.id = held.id"""

# A paid payout and its items leave on the clearing account what should have been paid out and was
# not. Any other payout leaves the balance unchanged.
VARIANCES = f"""
SELECT p.id::text AS name,
       coalesce(posted.amount, 0) = CASE WHEN p.status <> 'paid' THEN 0
         WHEN p.base_total IS NOT NULL THEN {_IN_BASE}
         ELSE {_MISSING} - (p.gross_payments - p.total_refunds - fees.amount) END AS holds
FROM payout p
LEFT JOIN (
  SELECT e.source_id, sum(l.debit - l.credit) AS amount
  FROM journal_entry e
  JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id
  JOIN account a ON a.business_id = %(business_id)s AND a.id = l.account_id
  WHERE e.business_id = %(business_id)s AND e.source_type = 'payout'
    AND a.role = '{Role.PROCESSOR_CLEARING}'
  GROUP BY e.source_id
) AS posted ON posted.source_id = p.id,
{_FEES},
{_NET},
{_OTHER}
WHERE p.business_id = %(business_id)s"""

PAYOUTS_CHECKS = {"payout_amounts": AMOUNTS, "payout_items": ITEMS, "payout_variances": VARIANCES}

# The effect of paid payouts on the clearing account; the fees of their items were deducted before.
TAKEN = f"""
        SELECT CASE WHEN p.base_total IS NOT NULL THEN {_IN_BASE}
          ELSE fees.amount + other.amount - p.paid_out - p.fee - p.additional_refunds END
        FROM payout p,
        {_FEES},
        {_NET},
        {_OTHER}
        WHERE p.business_id = %(business_id)s AND p.status = 'paid'"""
