"""SQL of the chart of accounts: accounts with their sums, found by id, code or external id."""

from dataclasses import fields

from sqlalchemy import ARRAY, Text, any_, cast, or_, select

from accounting.books.accounts import Account
from persistence.engine.sql import compiled, given
from persistence.ledger.balances import TURNOVERS
from persistence.store import among, in_business
from persistence.tables import account

NAMES = tuple(item.name for item in fields(Account))
_SHOWN = ", ".join(f"account.{name}" for name in NAMES)

# A caller names an account by its id, code or external id; they are tried in this order.
_BY_REFERENCE = """
  SELECT id, parent_id FROM account
  WHERE account.business_id = %(business_id)s
    AND (id::text = lower(%(reference)s) OR code = %(reference)s OR external_id = %(reference)s)
  ORDER BY id::text = lower(%(reference)s) DESC, code = %(reference)s DESC LIMIT 1"""
_BY_EXTERNAL_ID = """
  SELECT id, parent_id FROM account
  WHERE account.business_id = %(business_id)s AND external_id = %(reference)s"""

_ABOVE = """above AS (
  SELECT account.id, account.parent_id FROM named
  JOIN account ON account.business_id = %(business_id)s AND account.id = named.parent_id
  UNION ALL
  SELECT account.id, account.parent_id FROM above
  JOIN account ON account.business_id = %(business_id)s AND account.id = above.parent_id
)"""


def _family(named: str) -> str:
    """Return the CTEs of an account's family: the account, its ancestors and its descendants.

    Sums are read only for the account and its descendants.
    """
    return f"""WITH RECURSIVE named AS ({named}
), {_ABOVE}, wanted AS (
  SELECT id FROM named
  UNION ALL
  SELECT account.id FROM wanted
  JOIN account ON account.business_id = %(business_id)s AND account.parent_id = wanted.id
), shown AS (
  SELECT id FROM wanted UNION ALL SELECT id FROM above
)"""


_WHOLE = """WITH wanted AS (
  SELECT id FROM account WHERE account.business_id = %(business_id)s
), named AS (SELECT NULL::uuid AS id), shown AS (SELECT id FROM wanted)"""
_CHOSEN = """WITH wanted AS (
  SELECT unnest(%(ids)s::uuid[]) AS id
), named AS (SELECT NULL::uuid AS id), shown AS (SELECT id FROM wanted)"""


def _states(chosen: str) -> str:
    return f"""{chosen}
SELECT {_SHOWN}, account.id IN (SELECT id FROM named) AS is_named,
       EXISTS (
         SELECT FROM bank_account
         WHERE bank_account.business_id = %(business_id)s AND bank_account.account_id = account.id
       ) AS banked,
       coalesce(turnover.debits, 0) AS debits, coalesce(turnover.credits, 0) AS credits,
       coalesce(turnover.debit_count, 0) AS debit_count,
       coalesce(turnover.credit_count, 0) AS credit_count,
       coalesce(turnover.period_debits, 0) AS period_debits,
       coalesce(turnover.period_credits, 0) AS period_credits,
       latest.entry_date AS last_entry_date, latest.reference AS last_entry_reference
FROM account
LEFT JOIN ({TURNOVERS}
) AS turnover ON turnover.account_id = account.id
LEFT JOIN LATERAL (
  SELECT line.entry_date, journal_entry.reference
  FROM (
    SELECT entry_date, entry_id FROM journal_line
    WHERE journal_line.business_id = %(business_id)s AND account_id = account.id
    ORDER BY entry_date DESC, id DESC LIMIT 1
  ) AS line
  JOIN journal_entry ON journal_entry.business_id = %(business_id)s
    AND journal_entry.id = line.entry_id
) AS latest ON true
WHERE account.business_id = %(business_id)s AND account.id IN (SELECT id FROM shown)
ORDER BY account.code, account.id"""


CHART = _states(_WHOLE)
BY_ID = _states(_CHOSEN)
FAMILY = _states(_family(_BY_REFERENCE))
FAMILY_BY_EXTERNAL_ID = _states(_family(_BY_EXTERNAL_ID))
# One account and its ancestors, without sums; the first row is the named account.
LINEAGE = f"""WITH RECURSIVE named AS ({_BY_REFERENCE}
), {_ABOVE}
SELECT {_SHOWN} FROM account
WHERE account.business_id = %(business_id)s
  AND account.id IN (SELECT id FROM named UNION ALL SELECT id FROM above)
ORDER BY account.id IN (SELECT id FROM named) DESC"""

ROLES = compiled(
    select(account.c.id, account.c.role).where(in_business(account), account.c.role.is_not(None))
)
_NAMED = or_(
    cast(account.c.id, Text) == any_(given("references", ARRAY(Text()))),
    account.c.code == any_(given("references", ARRAY(Text()))),
    account.c.external_id == any_(given("references", ARRAY(Text()))),
)
_READ_NAMED = select(*(account.c[n] for n in NAMES)).where(in_business(account), _NAMED)
READ_NAMED = compiled(_READ_NAMED)
# A shared lock prevents archiving until the posting is committed; other postings may hold it too.
HOLD_NAMED = compiled(_READ_NAMED.order_by(account.c.id).with_for_update(read=True, key_share=True))
# No posting may use an account while it is archived, so this lock is exclusive.
CLOSE = compiled(
    select(account.c.id).where(in_business(account), among(account.c.id)).with_for_update()
)
