"""Revaluations: foreign balances at the closing rate of a day, and their reversal."""

from functools import partial
from typing import Any
from uuid import UUID

from accounting.books import revaluations
from accounting.books.revaluations import Revaluation, RevaluedBalance
from handlers.bodies import RevaluationCreate
from handlers.books import exchange_rate_commands
from handlers.results import Created, Reply
from handlers.shared import responses
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_revaluation(books: Books, body: RevaluationCreate) -> Reply:
    """Create a revaluation of all foreign balances of a day; none if nothing differs."""
    books.run_alone()  # The balances of the day stay as they are read.
    command = exchange_rate_commands.revalue(body)
    balances = await books.revaluations.balances(command.on)
    made = await books.with_rates(partial(revaluations.revalue, command, balances))
    if not made.posts:
        unrecorded = {"id": None, "status": "unchanged", "created_at": None, "updated_at": None}
        return {**serialize(books, made), **unrecorded}
    await save_and_post_revaluation(books, made)
    return Created(serialize(books, made))


async def list_revaluations(books: Books, page: PageRequest) -> Page[Reply]:
    """List revaluations."""
    return (await books.revaluations.page(page)).of(partial(serialize, books))


async def get_revaluation(books: Books, revaluation_id: UUID) -> Reply:
    """Return one revaluation, and whether the same run would post something now."""
    books.pin_snapshot()
    found, stale = await books.revaluations.get(revaluation_id), False
    if revaluations.can_be_stale(found, books.context):
        balances = await books.revaluations.balances(found.revalued_on)
        stale = await books.with_rates(partial(revaluations.is_stale, found, balances))
    return {**serialize(books, found), "is_stale": stale}


async def reverse_revaluation(books: Books, revaluation_id: UUID) -> Reply:
    """Reverse a revaluation on its own days, while its day is not locked."""
    found = await books.revaluations.lock(revaluation_id)
    reversed_ = revaluations.reverse(found, books.context)
    await save_and_post_revaluation(books, reversed_)
    return serialize(books, reversed_)


async def save_and_post_revaluation(books: Books, changed: Revaluation) -> None:
    """Save a revaluation and post its entries."""
    books.save(changed)
    books.post(revaluations.entries_for(changed, await books.roles(), books.lock_date))


def serialize(books: Books, revaluation: Revaluation) -> dict[str, Any]:
    """Serialize a revaluation with its balances."""
    return {
        "id": revaluation.id,
        "business_id": books.business_id,
        "date": revaluation.revalued_on,
        "status": revaluations.status(revaluation),
        "base_currency": revaluation.currency,
        "items": [serialize_item(item) for item in revaluation.items],
        "is_stale": None,
        "reversed_at": revaluation.reversed_at,
        "warnings": responses.of_distant_days(books.context, date=revaluation.revalued_on),
        "created_at": revaluation.created_at,
        "updated_at": revaluation.updated_at,
    }


def serialize_item(item: RevaluedBalance) -> dict[str, Any]:
    """Serialize a balance, its rate and its difference; debits are above zero."""
    rate = item.exchange_rate
    return {
        "account_id": item.account_id,
        "account_code": item.account_code,
        "currency": item.currency,
        "currency_balance": item.own,
        "base_balance_cents": item.base,
        "exchange_rate": None if rate is None else float(rate),
        "difference_cents": item.difference,
    }
