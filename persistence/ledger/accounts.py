"""The stored chart of accounts, with balances computed from the journal."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar
from uuid import UUID

from accounting.books.accounts import Account, AccountReference
from accounting.books.chart import Role
from accounting.books.ledger import balance
from accounting.books.periods import EVER, Period
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.sql import Query, Row
from persistence.ledger.account_sql import (
    BY_ID,
    CHART,
    CLOSE,
    FAMILY,
    FAMILY_BY_EXTERNAL_ID,
    HOLD_NAMED,
    LINEAGE,
    NAMES,
    READ_NAMED,
    ROLES,
)
from persistence.ledger.balances import period_parameters
from persistence.store import Store, not_found
from persistence.tables import account


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account with its turnovers in minor units, all-time and within the requested period.

    `banked`: a bank account is connected to it.
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

    @property
    def id(self) -> UUID:
        return self.account.id

    @property
    def version(self) -> int:
        return self.account.version

    @classmethod
    def untouched(cls, account: Account, *, banked: bool = False) -> "AccountState":
        """Return the state of an account with all turnovers 0, as for a new account."""
        return cls(account, banked, 0, 0, 0, 0, 0, 0, None, None)

    @property
    def balance(self) -> int:
        """The balance of all postings, positive on the account's normal side."""
        return self._balance(self.debits, self.credits)

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

    def roles(self) -> Fetch[dict[Role, UUID]]:
        """Load the account of each role; roles added by a later release are ignored."""

        def answer(answers: Answers) -> dict[Role, UUID]:
            known = [row for row in answers[0] if row["role"] in KNOWN_ROLES]
            return {Role(row["role"]): row["id"] for row in known}

        return self.fetch((Query(ROLES, {}),), answer)

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
        self.scope.stage(account, value.id, {name: getattr(value, name) for name in NAMES})

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
    tried = {"id": ("id",), "code": ("code",), "any": ("id", "code", "external_id")}
    for name in tried[reference.kind]:
        for one in found:
            if str(getattr(one, name)) == (wanted.lower() if name == "id" else wanted):
                return one
    return None
