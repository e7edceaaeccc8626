"""Books hold no reference to a store, so that they are freed at the end of their request."""

import gc
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4
from weakref import ref

from access.principal import Caller, CallerKind
from persistence.books import Books, StoreOf, Trade
from persistence.engine.caches import Caches
from persistence.engine.tenants import BusinessTenant


def stores(holder: Books | Trade) -> list[Any]:
    names = [name for name, each in vars(type(holder)).items() if isinstance(each, StoreOf)]
    return [getattr(holder, name) for name in names]


def test_books_end_with_their_last_reference_when_all_stores_were_used() -> None:
    session: Any = None
    tenant = BusinessTenant(Caller(CallerKind.PARTNER_KEY, uuid4()), uuid4())
    gc.disable()
    try:
        books = Books(session, tenant, datetime.now(UTC), Caches())
        used = [each for one in (books, books.sales, books.purchases) for each in stores(one)]
        assert len(used) > 40
        last = ref(books)
        del books, used
        assert last() is None
    finally:
        gc.enable()
