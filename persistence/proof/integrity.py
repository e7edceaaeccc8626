"""The proof of one business's books: everything that must agree in them does, or is named.

It reads one snapshot, so it may run beside a server at work. A request (`in_request.py`) and the
operator's `accounting check-books` share it.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import UUID

from psycopg import OperationalError

from access.principal import Caller, CallerKind
from accounting.values import dataclass
from persistence.books import Books
from persistence.engine.faults import DatabaseAway
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.machines import SNAPSHOT
from persistence.engine.memory import Memory
from persistence.engine.pipeline import Connection, exchange
from persistence.engine.pool import Pool
from persistence.engine.sessions import Reading
from persistence.engine.sql import Query
from persistence.engine.tenants import BusinessTenant
from persistence.proof.checks import CHECKS
from persistence.proof.posting import PostingProof, Reader, counting, kinds_in
from persistence.proof.shapes import verdict
from persistence.proof.trail import PARTNER_CHECKS

POSTED_AS_DESIRED = "posted_as_desired"
NAMES = (*CHECKS, POSTED_AS_DESIRED)
"""Every check by its name."""

PORTION = 500
# A proof of large books takes longer than any request may.
NO_HURRY = (
    "SELECT set_config('statement_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
# A check reads all there is. Where PostgreSQL knows little of the tables yet, it expects few rows
# and joins them one by one: tried, 282 seconds for what takes less than one.
JOINS = "SELECT set_config('enable_nestloop', %(one_by_one)s, true), set_config('jit', 'off', true)"
STATEMENTS = tuple(verdict(examined) for examined in CHECKS.values())

Advance = Callable[[float], None]
"""Told of each further share of a proof that is done; the shares of one proof sum to 1."""


@dataclass(frozen=True, slots=True)
class BooksToProve:
    """One business, and whose it is."""

    id: UUID
    name: str
    partner_id: UUID
    partner_name: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that must hold: how many were looked at, and the first that does not hold."""

    name: str
    checked: int
    first_offender: str | None

    @property
    def ok(self) -> bool:
        """Tell whether all that was looked at holds."""
        return self.first_offender is None


async def all_books(
    pool: Pool, *, business_id: UUID | None = None, partner_id: UUID | None = None
) -> list[BooksToProve]:
    """List every business, the archived ones too; of all partners, or as few as is asked for."""
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT b.id, b.name, b.partner_id, p.name AS partner_name"
            " FROM business b JOIN partner p ON p.id = b.partner_id"
            " WHERE b.id = coalesce(%(business_id)s, b.id)"
            " AND p.id = coalesce(%(partner_id)s, p.id)"
            " ORDER BY p.created_at, p.id, b.created_at, b.id",
            {"business_id": business_id, "partner_id": partner_id},
        )
        return [BooksToProve(**row) for row in await cursor.fetchall()]


async def prove_partners(pool: Pool, partner_id: UUID | None) -> list[Check]:
    """Prove that the trail of partners and their keys explains them; of all, or of one."""
    chosen = {"partner_id": partner_id}
    asked = [Query(verdict(text), chosen) for text in PARTNER_CHECKS.values()]
    async with pool.connection() as connection:
        results = await exchange(connection, [SNAPSHOT, Query(NO_HURRY, {}), *asked])
        await connection.rollback()
    verdicts = zip(PARTNER_CHECKS, results[2:], strict=True)
    return [Check(name, **result.rows[0]) for name, result in verdicts]


async def prove(pool: Pool, business: BooksToProve, advance: Advance) -> list[Check]:
    """Prove one business's books and return every check that was made, the faulty ones first.

    It takes all the time that it needs, and asks nobody to be let in. Raises DatabaseAway.
    """
    try:
        async with pool.connection() as connection, _snapshot(connection, business):
            return await prove_within(connection, business, advance)
    except OperationalError as error:
        raise DatabaseAway(
            f"The books of {business.name} ({business.id}) could not be proven: {error}"
        ) from error


async def prove_within(
    connection: Connection, business: BooksToProve, advance: Advance
) -> list[Check]:
    """Prove one business's books in an open transaction that is confined to it, likewise."""
    caller = Caller(CallerKind.PARTNER_KEY, business.partner_id)
    tenant = BusinessTenant(caller, business.id)
    session = Reading(connection, tenant, one_snapshot=True, is_open=True)
    books = Books(session, tenant, datetime.now(UTC), Memory())
    return await prove_books(books, PORTION, advance)


@asynccontextmanager
async def _snapshot(connection: Connection, business: BooksToProve) -> AsyncIterator[None]:
    """Look at one moment of one business's books, and at nobody else's."""
    confined = connection.machines.set_tenant(business.id)
    await exchange(connection, [SNAPSHOT, Query(NO_HURRY, {}), confined])
    try:
        yield
    finally:
        await connection.rollback()


async def prove_books(books: Books, portion: int, advance: Advance) -> list[Check]:
    """Prove books in one snapshot and return every check that was made, the faulty ones first.

    What posts is read `portion` at a time.
    """
    books.pin_snapshot()
    kinds = kinds_in(books)
    checks, number, roles = await books.fetch(
        _looking(books), counting(books, kinds), books.accounts.roles()
    )
    advance(0.2)
    proof = PostingProof(roles)
    async for portions in Reader(books, kinds, portion).portions():
        for each in portions:
            proof.examine(each)
            advance(0.8 * len(each.things) / number)
    if not number:
        advance(0.8)
    posted = Check(POSTED_AS_DESIRED, proof.checked, proof.first_offender)
    return sorted([*checks, posted], key=lambda check: check.ok)


def _looking(books: Books) -> Fetch[Sequence[Check]]:
    """Make every check that is a statement."""
    mine = {"business_id": books.business_id}
    whole, one_by_one = (Query(JOINS, {"one_by_one": each}) for each in ("off", "on"))
    queries = (whole, *(Query(text, mine) for text in STATEMENTS), one_by_one)

    def read(answers: Answers) -> Sequence[Check]:
        return [Check(name, **rows[0]) for name, rows in zip(CHECKS, answers[1:-1], strict=True)]

    return Fetch(books.scope.session, queries, read)
