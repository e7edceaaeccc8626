"""The party of a row: the columns that select it, the value made from them, filters by party."""

from dataclasses import fields
from typing import Any

from sqlalchemy import Table, Text, and_, case, func, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.parties import Party
from persistence.engine.listings import Filter, any_part
from persistence.engine.sql import Row, given, word
from persistence.store import in_business

SHOWN = tuple(item.name for item in fields(Party))


def party_name(party: Table) -> ColumnElement[str]:
    """Return the name of a party: the company's name, else the person's."""
    return func.coalesce(party.c.company_name, party.c.individual_name)


def party_status(party: Table) -> ColumnElement[str]:
    """Return the status of a party; only vendors have others than ACTIVE and ARCHIVED."""
    standing = party.c.standing if "standing" in party.c else word("ACTIVE")
    return case((party.c.archived_at.is_not(None), word("ARCHIVED")), else_=standing)


def party_columns(party: Table) -> list[ColumnElement[Any]]:
    """Build the columns of a row's party, named `party_...`."""
    values = {"name": party_name(party), "status": party_status(party)}
    return [(values[n] if n in values else party.c[n]).label(f"party_{n}") for n in SHOWN]


def on_party(table: Table, party: Table) -> ColumnElement[bool]:
    """Return the join condition of a row with its party."""
    return and_(in_business(party), party.c.id == table.c.party_id)


def of_party(party_id: ColumnElement[Any], party: Table, named: ColumnElement[bool]) -> Any:
    """Return the condition, on the column `party_id`, that the party fulfils `named`."""
    return party_id.in_(select(party.c.id).where(in_business(party), named))


def of_party_known_as(name: str, party_id: ColumnElement[Any], party: Table) -> Filter:
    """Build the filter `name`, which compares the external id of the party."""
    known = party.c.external_id == given(name, Text)
    one = select(party.c.id).where(in_business(party), known).scalar_subquery()
    return Filter(party_id == one)


def any_part_or_party(
    party_id: ColumnElement[Any], party: Table, *columns: ColumnElement[Any]
) -> Filter:
    """Build a substring search over several columns and the names of the party."""
    own, names = (any_part("search", *each) for each in (columns, _names(party)))
    return Filter(or_(own.condition, of_party(party_id, party, names.condition)), own.value)


def _names(party: Table) -> tuple[ColumnElement[str], ...]:
    return (party.c.company_name, party.c.individual_name)


def take_party(row: Row) -> Party:
    """Remove the columns of `party_columns` from a row and make a party from them."""
    return Party(**{name: row.pop(f"party_{name}") for name in SHOWN})
