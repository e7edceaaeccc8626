"""Invoice refunds and vendor refunds: operations that both sides share.

Each side passes the `shape` that serializes its refunds.
"""

from collections.abc import Callable
from typing import Any

from access.links import Links
from handlers.results import Reply
from persistence.books import Trade
from persistence.engine.pages import Page, PageRequest
from persistence.files.stored_files import StoredFile
from persistence.trade.refunds import RefundRecord

Shape = Callable[[Trade, Any, StoredFile | None, Links], dict[str, Any]]


async def listed(trade: Trade, page: PageRequest, links: Links, shape: Shape) -> Page[Reply]:
    """List refunds, each with its latest document."""
    found = await trade.refunds.records(page)
    stored = await trade.books.files.latest([record.id for record in found.rows])
    return found.of(lambda record: shape(trade, record, stored.get(record.id), links))


async def show(trade: Trade, record: RefundRecord[Any, Any], links: Links, shape: Shape) -> Reply:
    """Serialize a refund with its latest document."""
    stored = await trade.books.files.latest([record.id])
    return shape(trade, record, stored.get(record.id), links)
