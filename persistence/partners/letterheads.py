"""The letterhead of a business on its PDF documents: names, contact data, numbers, language."""

from dataclasses import dataclass, fields

from sqlalchemy import select

from persistence.engine.sql import Fetch, Query, compiled
from persistence.scope import Scope
from persistence.store import MINE
from persistence.tables import business


@dataclass(frozen=True, slots=True, kw_only=True)
class Letterhead:
    """A business as named on its PDF documents; `coa_language` is the language of these."""

    name: str
    legal_name: str
    country: str | None
    email: str
    phone_number: str | None
    tin: str | None
    vat_number: str | None
    company_number: str | None
    coa_language: str


_COLUMNS = [business.c[each.name] for each in fields(Letterhead)]
_MINE = compiled(select(*_COLUMNS).where(business.c.id == MINE))


def letterhead_of(scope: Scope) -> Fetch[Letterhead]:
    """Load the letterhead of a business."""
    query = Query(_MINE, {"business_id": scope.business_id})
    return Fetch(scope.session, (query,), lambda answers: Letterhead(**answers[0][0]))
