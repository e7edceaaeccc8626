"""The stored exchange rates of a business, and those of a partner for all of its businesses."""

from abc import ABC, abstractmethod
from collections.abc import MutableMapping
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import ClassVar, Final
from uuid import UUID

from sqlalchemy import Date, Table, Text, Uuid, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.exchange_rates import KnownRates, RateTable, oldest_day
from persistence.engine.listings import Filter, Listing, between, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.scope import Scope
from persistence.store import in_business
from persistence.tables import exchange_rate_table, partner_exchange_rate_table

STORED: Final = tuple(item.name for item in fields(RateTable))


def row_of(table: RateTable) -> Row:
    """Serialize a table as a row; rates are texts without an exponent, so that no digit is lost."""
    rates = {currency: f"{rate:f}" for currency, rate in table.rates.items()}
    return {**{name: getattr(table, name) for name in STORED}, "rates": rates}


def table_of(row: Row) -> RateTable:
    """Make a table from its row."""
    rates = {currency: Decimal(rate) for currency, rate in row["rates"].items()}
    return RateTable(**{**row, "rates": rates})


@dataclass(frozen=True, slots=True)
class RateStatements:
    """The statements that read rate tables: that of a day, those of some days, and their list."""

    on_day: str
    between: str
    listing: Listing


def statements_of(table: Table, mine: ColumnElement[bool]) -> RateStatements:
    """Return the statements for the rows of a table that `mine` selects."""
    columns = [table.c[name] for name in STORED]
    on_day = select(*columns).where(mine, table.c.day == given("day", Date))
    some = select(*columns).where(
        mine, table.c.day.between(given("oldest", Date), given("day", Date))
    )
    currency = given("currency", Text)
    has = or_(table.c.reference_currency == currency, table.c.rates.has_key(currency))
    listing = Listing(
        source=table,
        key=table.c.id,
        scope=mine,
        columns=columns,
        filters={
            **created_filters(table),
            **between(table.c.day, "date_from", "date_to"),
            "currency": Filter(has),
        },
        sorts={"date": table.c.day, "created_at": table.c.created_at},
        default_sort="-date",
    )
    return RateStatements(compiled(on_day), compiled(some), listing)


OF_BUSINESS: Final = statements_of(exchange_rate_table, in_business(exchange_rate_table))
OF_PARTNER: Final = statements_of(
    partner_exchange_rate_table,
    partner_exchange_rate_table.c.partner_id == given("partner_id", Uuid),
)
# Writings of one partner's rates wait for each other, so that a day has one table.
_ALONE: Final = (
    "SELECT pg_advisory_xact_lock(hashtextextended('exchange rates ' || %(partner_id)s::text, 0))"
)


class RateTables(ABC):
    """The exchange rates of a business or of a partner, in one transaction."""

    statements: ClassVar[RateStatements]
    waiting: ClassVar[tuple[str, ...]] = ()

    def __init__(self, session: ReadSession | WriteSession, mine: Row) -> None:
        self._session = session
        self._mine = mine

    def on_day(self, day: date) -> Fetch[RateTable | None]:
        """Find the table of a day, to set it: no other writing sets it meanwhile."""
        texts = (*self.waiting, self.statements.on_day)
        queries = tuple(Query(text, {"day": day, **self._mine}) for text in texts)

        def answer(answers: Answers) -> RateTable | None:
            if not answers[-1]:
                return None
            found = table_of(answers[-1][0])
            self.note_version(found.id, found.version)
            return found

        return Fetch(self._session, queries, answer)

    def page(self, wanted: PageRequest) -> Fetch[Page[RateTable]]:
        """List one page of the tables."""
        return self.statements.listing.fetch(self._session, wanted, self._mine, table_of)

    @abstractmethod
    def note_version(self, id_: UUID, version: int) -> None:
        """Note the version that a table was loaded with."""

    @abstractmethod
    def save(self, table: RateTable) -> None:
        """Stage a table, which has no event."""


class ExchangeRates(RateTables):
    """The exchange rates of one business; a writing runs alone in it (`run_alone`)."""

    statements: ClassVar = OF_BUSINESS

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope.session, {"business_id": scope.business_id})
        self._scope = scope

    def usable_on(self, day: date) -> Fetch[KnownRates]:
        """Load the tables that a record of a day can use: of the business, and of its partner."""
        days = {"day": day, "oldest": oldest_day(day)}
        queries = (
            Query(OF_BUSINESS.between, {**days, **self._mine}),
            Query(OF_PARTNER.between, {**days, "partner_id": self._scope.partner_id}),
        )

        def answer(answers: Answers) -> KnownRates:
            own, of_partner = ([table_of(row) for row in rows] for rows in answers)
            return KnownRates(own, of_partner, frozenset({day}))

        return Fetch(self._session, queries, answer)

    def note_version(self, id_: UUID, version: int) -> None:
        self._scope.note_version(id_, version)

    def save(self, table: RateTable) -> None:
        self._scope.stage_part(exchange_rate_table, table.id, row_of(table))


class PartnerExchangeRates(RateTables):
    """The exchange rates of one partner for all of its businesses.

    `versions` are those of the records that the transaction has read.
    """

    statements: ClassVar = OF_PARTNER
    waiting: ClassVar = (_ALONE,)

    def __init__(
        self,
        session: ReadSession | WriteSession,
        partner_id: UUID,
        versions: MutableMapping[UUID, int],
    ) -> None:
        super().__init__(session, {"partner_id": partner_id})
        self._versions = versions

    def note_version(self, id_: UUID, version: int) -> None:
        self._versions[id_] = version

    def save(self, table: RateTable) -> None:
        assert isinstance(self._session, WriteSession), "a reading changes nothing"
        loaded, row = self._versions.get(table.id), {**row_of(table), **self._mine}
        if loaded is None:
            self._session.staging.insert(partner_exchange_rate_table, row)
        else:
            changed = {**row, "version": loaded}
            self._session.staging.update(partner_exchange_rate_table, changed)
