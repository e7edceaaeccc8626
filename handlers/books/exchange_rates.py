"""Exchange rates of a partner and of one business: set the table of a day, list, and convert."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from accounting.books.exchange_rates import (
    AppliedRate,
    RateTable,
    applied_rate,
    rate_day,
    table_set,
)
from handlers.bodies import ExchangeRateTableSet
from handlers.books import exchange_rate_commands
from handlers.results import Reply
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.ledger.exchange_rates import RateTables
from persistence.partners.registry import Registry


async def set_partner_exchange_rates(registry: Registry, body: ExchangeRateTableSet) -> Reply:
    """Set the table of a day for all businesses of the partner."""
    return await keep_table(registry.exchange_rates, body, registry.now)


async def list_partner_exchange_rates(registry: Registry, page: PageRequest) -> Page[Reply]:
    """List the tables of the partner."""
    return (await registry.exchange_rates.page(page)).of(serialize)


async def set_exchange_rates(books: Books, body: ExchangeRateTableSet) -> Reply:
    """Set the table of a day for one business."""
    books.run_alone()  # A day has one table, and no record takes a rate meanwhile.
    return await keep_table(books.exchange_rates, body, books.now)


async def list_exchange_rates(books: Books, page: PageRequest) -> Page[Reply]:
    """List the tables of the business."""
    return (await books.exchange_rates.page(page)).of(serialize)


async def get_exchange_rate(books: Books, query: Mapping[str, Any]) -> Reply:
    """Return the rate that a record of a day takes, and its table."""
    await books.learn_facts()
    currency = query.get("currency", books.currency)
    day = rate_day(query.get("date"), books.context.today)
    known = await books.exchange_rates.usable_on(day)
    applied = applied_rate(currency, books.currency, day, known.own, known.of_partner)
    return {
        "currency": currency,
        "base_currency": books.currency,
        "date": day,
        **serialize_applied(applied),
    }


async def keep_table(rates: RateTables, body: ExchangeRateTableSet, now: datetime) -> Reply:
    """Replace the table of a day, unless it has the same rates, and return it."""
    command = exchange_rate_commands.set_rates(body)
    found = await rates.on_day(command.day)
    table = table_set(found, command, new_id(), now)
    if table != found:
        rates.save(table)
    return serialize(table)


def serialize(table: RateTable) -> dict[str, Any]:
    """Serialize a table."""
    return {
        "id": table.id,
        "date": table.day,
        "reference_currency": table.reference_currency,
        "rates": {currency: float(rate) for currency, rate in table.rates.items()},
        "created_at": table.created_at,
        "updated_at": table.updated_at,
    }


def serialize_applied(applied: AppliedRate) -> dict[str, Any]:
    """Serialize a rate with its table."""
    table = applied.table
    return {
        "exchange_rate": float(applied.rate),
        "source": applied.source.value,
        "table_id": table and table.id,
        "table_date": table and table.day,
    }
