"""Work of `accounting rates import`, separate from its definition because it imports the stores."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

import typer

from access.principal import Caller, CallerKind
from accounting.books.exchange_rates import RateTable, SetRates, table_set
from accounting.errors import ApiError
from accounting.money import CURRENCIES
from cli.databases import ready, run
from cli.named_records import NamedRecords
from libraries.rate_files import MOST_BYTES, Unreadable, read
from persistence.books import Books
from persistence.engine.caches import Caches
from persistence.engine.idempotency import Outcome
from persistence.engine.ids import new_id
from persistence.engine.pool import Pool
from persistence.engine.sessions import WriteSession
from persistence.engine.tenants import AuditedAction, BusinessTenant, MovedClock, PartnerTenant
from persistence.engine.transaction import Work, writing
from persistence.integrity.checks import all_books
from persistence.ledger.exchange_rates import RateTables
from persistence.partners.partners import list_partners
from persistence.partners.registry import Registry
from server.config import settings

REFERENCE: Final = "EUR"
MOST_TABLES: Final = 250  # In one transaction, for which other writings of the business wait.
NEW, CHANGED, SAME = "new", "changed", "unchanged"


class CannotReadRates(Exception):
    """A file that has no exchange rates; the message says why."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A partner whose tables are set, or one of its businesses."""

    partner_id: UUID
    business_id: UUID | None = None


def import_rates(file: Path, partner_id: UUID | None, business_id: UUID | None) -> None:
    """Set the tables of a partner, of a business, or of every enabled partner; print the numbers.

    Raises CannotReadRates, or an API error such as that of an archived business.
    """
    named = NamedRecords(partner=partner_id, business=business_id)
    with ready(settings.load_stores(), named=named, must_exist=True) as database:
        commands = read_commands(file)
        owners, counts = run(
            database.url, lambda pool: _import(pool, partner_id, business_id, commands)
        )
    first, last = commands[0].day, commands[-1].day
    typer.echo(f"{file} has {_counted(len(commands), 'day')}, from {first} to {last}.")
    noun = "partner" if business_id is None else "business"
    numbers = ", ".join(f"{counts[word]} {word}" for word in (NEW, CHANGED, SAME))
    typer.echo(f"Tables of {_counted(owners, noun)}: {numbers}.")


def read_commands(file: Path) -> list[SetRates]:
    """Read the tables of a file, oldest first; raises CannotReadRates."""
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    try:
        days = read(content, CURRENCIES)
    except Unreadable as error:
        raise CannotReadRates(f"{file} {error}.") from error
    return [SetRates(day=each.day, reference_currency=REFERENCE, rates=each.rates) for each in days]


async def _import(
    pool: Pool, partner_id: UUID | None, business_id: UUID | None, commands: Sequence[SetRates]
) -> tuple[int, Counter[str]]:
    """Set the tables of all owners; return the number of owners, and of tables by what became."""
    owners = await _owners(pool, partner_id, business_id)
    counts: Counter[str] = Counter()
    for owner in owners:
        for start in range(0, len(commands), MOST_TABLES):
            counts += await _set_tables(pool, owner, commands[start : start + MOST_TABLES])
    return len(owners), counts


async def _owners(pool: Pool, partner_id: UUID | None, business_id: UUID | None) -> list[Owner]:
    if business_id is not None:
        [books] = await all_books(pool, business_id=business_id)
        return [Owner(books.partner_id, books.id)]
    if partner_id is not None:
        return [Owner(partner_id)]
    return [Owner(each.id) for each in await list_partners(pool) if each.disabled_at is None]


async def _set_tables(pool: Pool, owner: Owner, commands: Sequence[SetRates]) -> Counter[str]:
    """Set some tables of an owner in one transaction."""
    ahead = 0  # Of the clock of a sandbox.
    while True:
        try:
            return await _set_tables_at(pool, owner, commands, ahead)
        except MovedClock as moved:
            ahead = moved.seconds_ahead


async def _set_tables_at(
    pool: Pool, owner: Owner, commands: Sequence[SetRates], ahead: int
) -> Counter[str]:
    counts: Counter[str] = Counter()
    now = datetime.now(UTC) + timedelta(seconds=ahead)
    tenants: list[BusinessTenant | PartnerTenant] = []

    def tenant() -> BusinessTenant | PartnerTenant:
        tenants.append(_tenant_of(owner, ahead))
        return tenants[-1]

    async def handle(session: WriteSession) -> Callable[[], Outcome]:
        rates = _rates_of(session, tenants[-1], now)
        found = await session.fetch(*(rates.on_day(each.day) for each in commands))
        counts.clear()
        for outcome, table in _tables(found, commands, now):
            counts[outcome] += 1
            if outcome != SAME:
                rates.save(table)
        return lambda: Outcome(200, {}, b"")

    work = Work(
        tenant=tenant,
        now=now,
        business_id=owner.business_id,
        claim=None,
        preview=False,
        handle=handle,
        render_refusal=_unheard,
    )
    await writing(pool, work)
    return counts


def _tenant_of(owner: Owner, ahead: int) -> BusinessTenant | PartnerTenant:
    caller = Caller(CallerKind.PARTNER_KEY, owner.partner_id)
    if owner.business_id is None:
        audited = AuditedAction("set_partner_exchange_rates", by_operator=True)
        return PartnerTenant(caller, audited)
    audited = AuditedAction("set_exchange_rates", by_operator=True)
    return BusinessTenant(caller, owner.business_id, audited, ahead)


def _rates_of(
    session: WriteSession, tenant: BusinessTenant | PartnerTenant, now: datetime
) -> RateTables:
    if isinstance(tenant, PartnerTenant):
        return Registry(session, tenant, now).exchange_rates
    books = Books(session, tenant, now, Caches())
    books.run_alone()  # As `set_exchange_rates` does.
    return books.exchange_rates


def _tables(
    found: Sequence[RateTable | None], commands: Sequence[SetRates], now: datetime
) -> Iterator[tuple[str, RateTable]]:
    """Yield what becomes of each table, and the table."""
    for was, command in zip(found, commands, strict=True):
        table = table_set(was, command, new_id(), now)
        yield NEW if was is None else SAME if table == was else CHANGED, table


def _unheard(refusal: ApiError) -> Outcome:
    raise refusal  # No idempotency key, so the error is not stored; the command line prints it.


def _counted(number: int, noun: str) -> str:
    plural = "businesses" if noun == "business" else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"
