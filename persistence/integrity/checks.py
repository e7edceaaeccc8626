"""The run of all integrity checks of one business; each check names its first fault.

It reads one snapshot, so a server may write meanwhile. A request (`in_request.py`) and the
operator's `accounting check-books` share it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from psycopg import OperationalError
from psycopg.errors import QueryCanceled
from sqlalchemy import insert

from access.principal import Caller, CallerKind
from accounting.errors import Unavailable
from persistence.books import Books
from persistence.engine.caches import Caches
from persistence.engine.database_errors import DatabaseAway
from persistence.engine.ids import new_id
from persistence.engine.pipeline import Connection, execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import ReadSession
from persistence.engine.sql import Answers, Fetch, Query, compiled, given
from persistence.engine.tenants import BusinessTenant
from persistence.engine.topology import SNAPSHOT
from persistence.integrity import (
    bank_checks,
    control_accounts,
    event_checks,
    ledger_checks,
    opening_checks,
    refund_checks,
    tax_checks,
    trade_checks,
    trail,
)
from persistence.integrity.definitions import verdict
from persistence.integrity.posting_checks import PostingProof, Reader, counting, kinds_in
from persistence.integrity.trail import PARTNER_CHECKS
from persistence.tables import proof_run

# The SQL integrity checks of one business: each row names a record, and whether it is right.


CHECKS = {
    **ledger_checks.JOURNAL_CHECKS,
    **ledger_checks.MANUAL_CHECKS,
    **trade_checks.DOCUMENT_CHECKS,
    **trade_checks.PAYMENT_CHECKS,
    **trade_checks.CREDIT_CHECKS,
    **refund_checks.CHECKS,
    **bank_checks.PAYOUTS_CHECKS,
    **bank_checks.BANK_CHECKS,
    **opening_checks.CHECKS,
    **control_accounts.CHECKS,
    **tax_checks.TAX_CODES_CHECKS,
    **tax_checks.TAX_RETURNS_CHECKS,
    **ledger_checks.CASH_CHECKS,
    **ledger_checks.BALANCES_CHECKS,
    **ledger_checks.TAGS_CHECKS,
    **ledger_checks.PERIODS_CHECKS,
    **trail.CHECKS,
    **event_checks.CHECKS,
}
"""Every SQL check by its name."""


POSTED_AS_DESIRED = "posted_as_desired"
NAMES = (*CHECKS, POSTED_AS_DESIRED)
"""The names of all checks."""

PORTION = 500
# The checks of large books take longer than the time limits of requests.
NO_HURRY = (
    "SELECT set_config('statement_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
# A check reads all rows. Without statistics PostgreSQL expects few rows and uses nested loops: a
# trial took 282 seconds instead of less than one.
JOINS = "SELECT set_config('enable_nestloop', %(one_by_one)s, true), set_config('jit', 'off', true)"
STATEMENTS = tuple(verdict(examined) for examined in CHECKS.values())

Advance = Callable[[float], None]
"""Receives each completed share of a run; the shares of one run sum to 1."""


@dataclass(frozen=True, slots=True)
class BooksToProve:
    """A business and its partner."""

    id: UUID
    name: str
    partner_id: UUID
    partner_name: str


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check: the number of checked records, and the first faulty one."""

    name: str
    checked: int
    first_offender: str | None

    @property
    def ok(self) -> bool:
        """Return whether no checked record is faulty."""
        return self.first_offender is None


async def all_books(
    pool: Pool, *, business_id: UUID | None = None, partner_id: UUID | None = None
) -> list[BooksToProve]:
    """List businesses, archived ones included: all, or those of a partner, or one by its id."""
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
    """Check that the audit trail explains partners and their keys; of all partners, or of one."""
    chosen = {"partner_id": partner_id}
    asked = [Query(verdict(text), chosen) for text in PARTNER_CHECKS.values()]
    async with pool.connection() as connection:
        results = await execute_pipeline(connection, [SNAPSHOT, Query(NO_HURRY, {}), *asked])
        await connection.rollback()
    verdicts = zip(PARTNER_CHECKS, results[2:], strict=True)
    return [Check(name, **result.rows[0]) for name, result in verdicts]


async def prove(pool: Pool, business: BooksToProve, advance: Advance) -> list[Check]:
    """Run the checks of one business and return them, failed ones first.

    It has no time limit and does not check the caller. Raises DatabaseAway.
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
    """Run the checks of one business in an open transaction of this tenant."""
    caller = Caller(CallerKind.PARTNER_KEY, business.partner_id)
    tenant = BusinessTenant(caller, business.id)
    session = ReadSession(connection, tenant, one_snapshot=True, is_open=True)
    books = Books(session, tenant, datetime.now(UTC), Caches())
    return await prove_books(books, PORTION, advance)


@asynccontextmanager
async def _snapshot(connection: Connection, business: BooksToProve) -> AsyncIterator[None]:
    """Open a snapshot without time limits, restricted to one business."""
    confined = connection.machines.set_tenant(business.id)
    await execute_pipeline(connection, [SNAPSHOT, Query(NO_HURRY, {}), confined])
    try:
        yield
    finally:
        await connection.rollback()


async def prove_books(books: Books, portion: int, advance: Advance) -> list[Check]:
    """Run all checks in one snapshot and return them, failed ones first.

    Records with postings are read in portions of `portion`.
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
    """Run every check that is an SQL statement."""
    mine = {"business_id": books.business_id}
    whole, one_by_one = (Query(JOINS, {"one_by_one": each}) for each in ("off", "on"))
    queries = (whole, *(Query(text, mine) for text in STATEMENTS), one_by_one)

    def read(answers: Answers) -> Sequence[Check]:
        return [Check(name, **rows[0]) for name, rows in zip(CHECKS, answers[1:-1], strict=True)]

    return Fetch(books.session, queries, read)


# Integrity checks within a request: one run at a time in each process, with a time limit.


LIMIT_SECONDS = 10.0  # As long as any statement of a request may take.
REQUEST_PORTION = 50  # Records with postings. Other requests are served between portions.

_turn = asyncio.Lock()


async def prove_in_request(books: Books) -> list[Check]:
    """Run all integrity checks of the books of a request; return them, failed ones first.

    Raises Unavailable `proof_busy` during another run in this process, and `proof_too_long` after
    10 seconds.
    """
    if _turn.locked():
        raise Unavailable(
            "proof_busy",
            "The server is checking other books. Repeat the request in a moment.",
            retry_after_seconds=1,
        )
    async with _turn:
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                return await prove_books(books, REQUEST_PORTION, lambda _: None)
        except (TimeoutError, QueryCanceled):
            raise Unavailable(
                "proof_too_long",
                "The books are too large to check within a request. Ask the operator to run"
                " `accounting check-books --business`.",
                retry_after_seconds=60,
            ) from None


# Stored results of the integrity checks over all books.


_KEEP = compiled(
    insert(proof_run).values({c.name: given(c.name, c.type) for c in proof_run.columns})
)


async def keep_run(
    pool: Pool,
    *,
    began_at: datetime,
    ended_at: datetime,
    businesses: int,
    faulty: int,
    checked: int,
    holds: bool,
) -> None:
    """Store the result of one run of `accounting check-books`."""
    row = {
        "id": new_id(),
        "began_at": began_at,
        "ended_at": ended_at,
        "businesses": businesses,
        "faulty": faulty,
        "checked": checked,
        "holds": holds,
    }
    async with pool.connection() as connection:
        await execute_pipeline(connection, [Query(_KEEP, row)])
