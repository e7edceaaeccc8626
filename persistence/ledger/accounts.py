"""The stored chart of accounts, with balances computed from the journal."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import ARRAY, Text, any_, cast, or_, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from accounting.books.accounts import Account, AccountReference
from accounting.books.chart import Role
from accounting.books.ledger import balance
from accounting.books.periods import EVER, Period
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.ledger.balances import TURNOVERS, period_parameters
from persistence.store import Record, Store, among, in_business, not_found
from persistence.tables import account

# SQL of the chart of accounts: accounts with their sums, found by id, code or external id.


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
       latest.entry_date AS last_entry_date, latest.reference AS last_entry_reference,
       CASE WHEN account.currency IS NOT NULL THEN (
         SELECT coalesce(sum(currency_amount), 0)::bigint FROM journal_line
         WHERE journal_line.business_id = %(business_id)s AND account_id = account.id
       ) END AS currency_debits
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


# Whether lines, drafts, payouts, tax codes or bank rules name an account. Some are in JSON.
_DRAFTS = "\n  UNION ALL ".join(
    f"""SELECT 1 FROM {name}
  WHERE {name}.business_id = %(business_id)s AND {condition}
    AND {lines}::text LIKE '%%' || %(id)s::text || '%%'"""
    for name, lines, condition in (
        *((name, "lines", "state = 'draft'") for name in ("invoice", "bill")),
        *((name, "lines", "state = 'draft'") for name in ("customer_credit", "vendor_credit")),
        ("journal_draft", "lines", "status = 'draft'"),
        ("payout", "other_items", "deleted_at IS NULL"),
    )
)
IS_NAMED = f"""
SELECT EXISTS (
  SELECT 1 FROM journal_line
  WHERE journal_line.business_id = %(business_id)s AND account_id = %(id)s
  UNION ALL SELECT 1 FROM tax_code
  WHERE tax_code.business_id = %(business_id)s AND tax_account_id = %(id)s
  UNION ALL SELECT 1 FROM bank_rule
  WHERE bank_rule.business_id = %(business_id)s AND account_id = %(id)s AND deleted_at IS NULL
  UNION ALL {_DRAFTS}
) AS named"""
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
CODES = """
SELECT coa_language, ARRAY(
  SELECT code FROM account WHERE account.business_id = %(business_id)s
) AS codes
FROM business WHERE id = %(business_id)s"""
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


@dataclass(frozen=True, slots=True)
class AccountState(Record):
    """An account with its turnovers in minor units, all-time and within the requested period.

    `banked`: a bank account is connected to it. `currency_debits` are the debits less the credits
    of an account with a currency, in that currency.
    """

    account: Account
    banked: bool
    debits: int
    credits: int
    debit_count: int
    credit_count: int
    period_debits: int
    period_credits: int
    last_entry_date: date | None
    last_entry_reference: str | None
    currency_debits: int | None = None

    @property
    def stored(self) -> Account:
        return self.account

    @classmethod
    def untouched(cls, account: Account, *, banked: bool = False) -> "AccountState":
        """Return the state of an account with all turnovers 0, as for a new account."""
        return cls(account, banked, 0, 0, 0, 0, 0, 0, None, None)

    @property
    def balance(self) -> int:
        """The balance of all postings, positive on the account's normal side."""
        return self._balance(self.debits, self.credits)

    @property
    def currency_balance(self) -> int:
        """The balance in the account's own currency, positive on its normal side."""
        own = self.currency_debits
        return self.balance if own is None else self._balance(own, 0)

    @property
    def movement(self) -> int:
        """The balance of the period's postings, positive on the account's normal side."""
        return self._balance(self.period_debits, self.period_credits)

    def _balance(self, debits: int, credits_: int) -> int:
        kind, behavior = self.account.account_type, self.account.balance_behavior
        return balance(kind, debits, credits_, behavior)


@dataclass(frozen=True, slots=True)
class Family:
    """An account with its ancestors and descendants; the ancestors have no sums."""

    one: AccountState
    states: tuple[AccountState, ...]


KNOWN_ROLES = frozenset(each.value for each in Role)


class AccountStore(Store[AccountState]):
    """The chart of one business."""

    table: ClassVar = account
    noun: ClassVar = "account"
    rank: ClassVar = 0

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids), **period_parameters(EVER)}),)

    def assemble(self, answers: Answers) -> list[AccountState]:
        return [_state(row) for row in answers[0]]

    def chart(self, period: Period = EVER) -> Fetch[list[AccountState]]:
        """Load all accounts, ordered by code, with their movement within the period."""
        query = Query(CHART, period_parameters(period))
        return self.fetch((query,), lambda answers: self.seen(self.assemble(answers)))

    def family(self, reference: str) -> Fetch[Family]:
        """Load the family of an account named by id, code or external id; raises NotFound."""

        def answer(answers: Answers) -> Family:
            found = self._family_of(answers[0])
            if found is None:
                raise not_found(self.noun)
            return found

        return self.fetch((self._family(FAMILY, reference),), answer)

    def family_of_external_id(self, external_id: str) -> Fetch[Family | None]:
        """Load the family of the account with an external id, or None."""
        query = self._family(FAMILY_BY_EXTERNAL_ID, external_id)
        return self.fetch((query,), lambda answers: self._family_of(answers[0]))

    def lock_family(self, id: UUID, *, closing: bool) -> Fetch[Family]:
        """Lock an account, then load its family.

        With `closing`, also wait until postings that hold the account have ended. Raises NotFound,
        and Stale if If-Match names an older version.
        """
        self.scope.note_locks(self.rank, [id])

        def answer(answers: Answers) -> Family:
            found = self._family_of(answers[1])
            if found is None:
                raise not_found(self.noun)
            self.scope.check_precondition(found.one)
            return found

        lock = Query(CLOSE, {"ids": [id]}) if closing else self._locking([id])
        return self.fetch((lock, self._family(FAMILY, str(id))), answer)

    def lineage(self, reference: str, *, hold: bool = False) -> Fetch[tuple[Account, ...]]:
        """Load an account named by id, code or external id, and its ancestors, or an empty tuple.

        With `hold`, a shared lock prevents its archiving until the transaction ends.
        """
        held = (Query(HOLD_NAMED, {"references": [reference, reference.lower()]}),) if hold else ()
        return self.fetch(
            (*held, Query(LINEAGE, {"reference": reference})),
            lambda answers: tuple(Account(**row) for row in answers[-1]),
        )

    def is_named(self, id: UUID) -> Fetch[bool]:
        """Return whether lines, drafts, payouts, tax codes or bank rules name an account."""
        query = Query(IS_NAMED, {"id": id})
        return self.fetch((query,), lambda answers: bool(answers[0][0]["named"]))

    def roles(self) -> Fetch[dict[Role, UUID]]:
        """Load the account of each role; roles added by a later release are ignored."""

        def answer(answers: Answers) -> dict[Role, UUID]:
            known = [row for row in answers[0] if row["role"] in KNOWN_ROLES]
            return {Role(row["role"]): row["id"] for row in known}

        return self.fetch((Query(ROLES, {}),), answer)

    def codes_and_language(self) -> Fetch[tuple[frozenset[str], str]]:
        """Load the codes of all accounts, and the language of the chart."""

        def answer(answers: Answers) -> tuple[frozenset[str], str]:
            [row] = answers[0]
            return frozenset(row["codes"]), row["coa_language"]

        return self.fetch((Query(CODES, {}),), answer)

    def named(
        self, references: Collection[AccountReference], *, hold: bool = True
    ) -> Fetch[dict[AccountReference, Account]]:
        """Load the accounts a caller names; unknown ones are left out.

        With `hold`, a shared lock prevents their archiving until the transaction ends.
        """
        if not references:
            return self.fetch((), lambda _: {})
        # An id may be in capitals; codes and external ids are case-sensitive.
        words = {str(each.value) for each in references}
        texts = {"references": sorted(words | {word.lower() for word in words})}

        def answer(answers: Answers) -> dict[AccountReference, Account]:
            found = [Account(**row) for row in answers[0]]
            resolved = {each: _resolve(each, found) for each in references}
            return {each: one for each, one in resolved.items() if one is not None}

        return self.fetch((Query(HOLD_NAMED if hold else READ_NAMED, texts),), answer)

    def save(self, value: Account) -> None:
        """Stage an account."""
        self.scope.stage(account, value, {name: getattr(value, name) for name in NAMES})

    def _family(self, text: str, reference: str) -> Query:
        return Query(text, {"reference": reference, **period_parameters(EVER)})

    def _family_of(self, rows: Sequence[Row]) -> Family | None:
        named = [row["id"] for row in rows if row["is_named"]]
        states = tuple(self.seen([_state(row) for row in rows]))
        ones = [state for state in states if state.id in named]
        return Family(ones[0], states) if ones else None


def _state(row: Row) -> AccountState:
    kept = Account(**{name: row.pop(name) for name in NAMES})
    row.pop("is_named")
    return AccountState(account=kept, **row)


def _resolve(reference: AccountReference, found: Sequence[Account]) -> Account | None:
    wanted = str(reference.value)
    tried = ("id", "code", "external_id") if reference.kind == "any" else (reference.kind,)
    for name in tried:
        for one in found:
            if str(getattr(one, name)) == (wanted.lower() if name == "id" else wanted):
                return one
    return None


# Columns of a ledger account, joined to another row that refers to it.


LEDGER = "ledger__"  # The prefix of the account's columns.


def account_columns(of: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return the prefixed columns of a ledger account."""
    return tuple(of.c[name].label(LEDGER + name) for name in NAMES)


def account_beside(row: Row) -> Account | None:
    """Remove the account's columns from a row and make the account, or None if they are null."""
    columns = {name: row.pop(LEDGER + name) for name in NAMES}
    return None if columns["id"] is None else Account(**columns)
