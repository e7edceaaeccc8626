"""Documents and credits that are locked together with the records that settle or refund them."""

from typing import Any
from uuid import UUID

from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.recoded import Dependents
from persistence.books import Trade
from persistence.engine.sql import Fetch
from persistence.trade import dependents


async def lock_document(
    trade: Trade, id: UUID, *beside: Fetch[Any]
) -> tuple[Document, Dependents, list[Any]]:
    """Lock an invoice or bill with its dependents, and read them; raises NotFound and Stale.

    The request must run alone in its business: otherwise a dependent might appear meanwhile. The
    results of the fetches `beside` come last.
    """
    tables, paid_back = trade.documents.sql.tables, trade.refund_payments.table
    ids = await dependents.of_document(trade.books, tables, paid_back, id)
    paid, credited, document, lost, given, came, *others = await trade.books.fetch(
        trade.payments.lock_all(ids["payment"]),
        trade.credits.lock_all(ids["credit"]),
        trade.documents.lock(id),
        trade.write_offs.locked_with_document(ids["write_off"]),
        trade.refunds.lock_all(ids["refund"]),
        trade.refund_payments.lock_all(ids["refund_payment"]),
        *beside,
    )
    held = Dependents(
        payments=tuple(paid.values()),
        credits=tuple(credited.values()),
        write_offs=tuple(lost),
        refunds=tuple(given.values()),
        refund_payments=tuple(came.values()),
    )
    return document, held, others


async def lock_credit(trade: Trade, id: UUID) -> tuple[Credit, Dependents]:
    """Lock a credit with its refunds and their payments; raises NotFound and Stale.

    The request must run alone in its business.
    """
    tables, paid_back = trade.documents.sql.tables, trade.refund_payments.table
    ids = await dependents.of_credit(trade.books, tables, paid_back, id)
    credit, given, came = await trade.books.fetch(
        trade.credits.lock(id),
        trade.refunds.lock_all(ids["refund"]),
        trade.refund_payments.lock_all(ids["refund_payment"]),
    )
    return credit, Dependents(refunds=tuple(given.values()), refund_payments=tuple(came.values()))
