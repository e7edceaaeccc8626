"""The proof of one business's books: everything that must agree in them does, or is named.

It reads one snapshot, so it may run beside a server at work. Whether an entry was posted into a
period after that was locked cannot be told from the books: the lock's history is not kept in them.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from access.principal import Caller, CallerKind
from accounting import postings
from accounting.chart import Role
from accounting.credits import Credit
from accounting.documents import Document
from accounting.ledger import Entry, Line, Movement
from accounting.payments import Payment
from accounting.postings import Subject
from accounting.refunds import Refund, RefundPayment
from accounting.sides import Side
from accounting.writing_off import WriteOff
from persistence.accounts import RoleMemory
from persistence.books import Books
from persistence.pipeline import Connection, exchange
from persistence.pool import Pool
from persistence.proof.checks import CHECKS
from persistence.proof.shapes import verdict
from persistence.sessions import SNAPSHOT, Reading
from persistence.statements import Query
from persistence.store import Store
from persistence.tenants import BusinessTenant, set_tenant
from persistence.wire import Question

BATCH = 500
# A proof of large books takes longer than any request may.
NO_HURRY = (
    "SELECT set_config('statement_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
# A check reads all there is. Where PostgreSQL knows little of the tables yet, it expects few rows
# and joins them one by one: tried, 282 seconds for what takes less than one.
JOINS = "SELECT set_config('enable_nestloop', %(one_by_one)s, true), set_config('jit', 'off', true)"

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


async def all_books(pool: Pool) -> list[BooksToProve]:
    """List every business of every partner, the archived ones too."""
    async with pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT b.id, b.name, b.partner_id, p.name AS partner_name"
            " FROM business b JOIN partner p ON p.id = b.partner_id"
            " ORDER BY p.created_at, p.id, b.created_at, b.id"
        )
        return [BooksToProve(**row) for row in await cursor.fetchall()]


async def prove(pool: Pool, business: BooksToProve, advance: Advance) -> list[Check]:
    """Prove one business's books and return every check that was made, the faulty ones first."""
    async with pool.connection() as connection, _snapshot(connection, business):
        checks = await _looked_at(connection, business)
        advance(0.2)
        proof = DocumentProof(connection, business, advance)
        checks.append(await proof.made())
    return sorted(checks, key=lambda check: check.ok)


@asynccontextmanager
async def _snapshot(connection: Connection, business: BooksToProve) -> AsyncIterator[None]:
    """Look at one moment of one business's books, and at nobody else's."""
    await exchange(connection, [SNAPSHOT, Query(NO_HURRY, {}), set_tenant(business.id)])
    try:
        yield
    finally:
        await connection.rollback()


async def _looked_at(connection: Connection, business: BooksToProve) -> list[Check]:
    """Make every check that is a statement."""
    mine = {"business_id": business.id}
    queries = [Query(verdict(examined), mine) for examined in CHECKS.values()]
    whole, one_by_one = (Query(JOINS, {"one_by_one": each}) for each in ("off", "on"))
    _, *results, _ = await exchange(connection, [whole, *queries, one_by_one])
    return [Check(name, **each.rows[0]) for name, each in zip(CHECKS, results, strict=True)]


class DocumentProof:
    """Every document is posted as it desires, by account, whatever days a lock has moved it to.

    The documents stream through in batches; only one batch is held at a time.
    """

    def __init__(self, connection: Connection, business: BooksToProve, advance: Advance) -> None:
        caller = Caller(CallerKind.PARTNER_KEY, business.partner_id)
        tenant = BusinessTenant(caller, business.id)
        # The snapshot is open, and confined to the business: the auditor asks nobody to be let in.
        session = Reading(connection, tenant, still=True, is_open=True)
        self.books = Books(session, tenant, datetime.now(UTC), RoleMemory())
        self.advance = advance
        self.checked = 0
        self.first_offender: str | None = None

    async def made(self) -> Check:
        """Go through all documents."""
        roles = await self.books.roles()
        trades = (self.books.sales, self.books.purchases)
        stores = [(trade.side, store) for trade in trades for store in trade.stores]
        for side, store in stores:
            counted = await _count(store)
            async for batch in _batches(store):
                self._examine(side, roles, batch)
                self.advance(0.8 / len(stores) * len(batch) / counted)
            if not counted:
                self.advance(0.8 / len(stores))
        return Check("posted_as_desired", self.checked, self.first_offender)

    def _examine(self, side: Side, roles: Mapping[Role, UUID], subjects: Sequence[Subject]) -> None:
        self.checked += len(subjects)
        for subject in subjects:
            if self.first_offender is None and not is_posted_as_desired(side, subject, roles):
                self.first_offender = _name(side, subject)


def is_posted_as_desired(side: Side, subject: Subject, roles: Mapping[Role, UUID]) -> bool:
    """Tell whether what was posted for a document sums to what it desires.

    That holds for each account, settled document and part of it: of an invoice of 120 posted as
    120 on receivables, 100 on sales and 20 on tax, nothing remains. What the rules cannot lay out
    is not posted as it desires.
    """
    try:
        desires = postings.desired(side, subject, roles)
    except ValueError:
        return False
    rests: Counter[tuple[UUID | str | None, ...]] = Counter()
    for move in desires:
        _count_up(rests, move.stream, move, 1)
    for stream, line in _lines(subject.posted):
        _count_up(rests, stream, line, -1)
    return not any(rests.values())


def _lines(posted: Iterable[Entry]) -> Iterable[tuple[str, Line]]:
    return ((entry.stream, line) for entry in posted for line in entry.lines)


def _count_up(
    rests: Counter[tuple[UUID | str | None, ...]], stream: str, each: Movement | Line, sign: int
) -> None:
    place = stream, each.account_id, each.settles
    rests[*place, None] += sign * each.amount
    for account_id, part in each.split:
        rests[*place, account_id] += sign * part


def _name(side: Side, subject: Subject) -> str:
    match subject:
        case Document():
            return f"{side.noun} {subject.number or subject.id}"
        case Payment():
            return f"{side.noun} payment {subject.id}"
        case WriteOff():
            return f"write-off {subject.id} of {side.noun} {subject.document_number}"
        case Credit():
            return f"credit {subject.number or subject.id}"
        case Refund():
            return f"{side.noun} refund {subject.id}"
        case RefundPayment():
            return f"{side.noun} refund payment {subject.id}"


def _count(store: Store[Any]) -> Awaitable[int]:
    text = f"SELECT count(*) AS n FROM {store.table.name} WHERE business_id = %(business_id)s"
    return store.ask((Query(text, {}),), lambda answers: int(answers[0][0]["n"]))


async def _batches(store: Store[Any]) -> AsyncIterator[Sequence[Subject]]:
    text = (
        f"SELECT id FROM {store.table.name} WHERE business_id = %(business_id)s"
        f" AND id > %(after)s ORDER BY id LIMIT {BATCH}"
    )
    after = UUID(int=0)
    while True:
        following = store.ask((Query(text, {"after": after}),), lambda answers: answers[0])
        ids: list[UUID] = [row["id"] for row in await following]
        if not ids:
            return
        after = ids[-1]
        whole: Question[list[Subject]] = store.ask(store.loading(ids), store.assemble)
        yield await whole
