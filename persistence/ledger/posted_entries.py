"""Posted entries of documents and payments, read together with each of them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import ARRAY, Text, Uuid, any_, case, cast, func, select

from accounting.bank.bank_postings import BANK_TRANSACTION
from accounting.books.ledger import Line, PostedEntry
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.ids import known_id
from persistence.engine.sql import Query, Row, compiled, given, word
from persistence.ledger.journal_sql import REVERSED_BY
from persistence.ledger.split_rows import mark_of, split_of
from persistence.store import in_business
from persistence.tables import journal_entry, journal_line

# Sources whose lines may be about another document than the settled one or the source: refunds of
# vendors and their payments, and the exchange lines of what settles and of bank lines.
_ABOUT_OTHERS = (
    *(
        source
        for side in (RECEIVABLE, PAYABLE)
        for source in (side.payment_source, side.credit_source)
    ),
    *(PAYABLE.refund_source, PAYABLE.refund_payment_source, BANK_TRANSACTION),
)
_ABOUT = case(
    (
        journal_entry.c.source_type.in_([word(source) for source in _ABOUT_OTHERS]),
        func.nullif(
            journal_line.c.document_id,
            func.coalesce(journal_line.c.settles_id, journal_entry.c.source_id),
        ),
    )
)
_POSTED_LINES = (
    select(
        func.json_agg(
            func.json_build_array(
                journal_line.c.account_id,
                journal_line.c.debit - journal_line.c.credit,
                journal_line.c.settles_id,
                journal_line.c.split,
                journal_line.c.description,
                _ABOUT,
                journal_line.c.tax_code_id,
                cast(journal_line.c.tax_rate, Text),  # As a JSON number it would become a float.
                journal_line.c.tax_part,
                journal_line.c.tags,
                journal_line.c.currency,
                journal_line.c.currency_amount,
            ).op("ORDER BY")(journal_line.c.line_number)
        )
    )
    .where(
        in_business(journal_line),
        journal_line.c.entry_id == journal_entry.c.id,
    )
    .scalar_subquery()
)
POSTED = compiled(
    select(
        journal_entry.c.id,
        journal_entry.c.source_id,
        journal_entry.c.source_type,
        journal_entry.c.entry_date,
        journal_entry.c.stream,
        journal_entry.c.description,
        journal_entry.c.reference,
        journal_entry.c.reversal_of_id,
        REVERSED_BY.is_not(None).label("reversed"),
        _POSTED_LINES.label("lines"),
    )
    .where(
        in_business(journal_entry),
        journal_entry.c.source_id == any_(given("sources", ARRAY(Uuid()))),
    )
    .order_by(journal_entry.c.created_at, journal_entry.c.id)
)


def posted_for(sources: Sequence[UUID]) -> Query:
    """Return the statement that reads the entries posted for documents, oldest first."""
    return Query(POSTED, {"sources": list(sources)})


def posted_by_source(rows: list[Row]) -> dict[UUID, tuple[PostedEntry, ...]]:
    """Make posted entries from the rows of `posted_for`, by their source document."""
    found: dict[UUID, list[PostedEntry]] = defaultdict(list)
    for row in rows:
        lines = tuple(_line(*parts) for parts in row.pop("lines"))
        found[row["source_id"]].append(PostedEntry(**row, lines=lines))
    return {source: tuple(entries) for source, entries in found.items()}


def by_source_alone(posted: tuple[PostedEntry, ...]) -> tuple[PostedEntry, ...]:
    """Return the entries with `about` removed from their lines.

    Older vendor refunds, which are not `by_target`, were posted for the refund as a whole.
    """
    return tuple(
        replace(entry, lines=tuple(replace(line, about=None) for line in entry.lines))
        for entry in posted
    )


def _line(
    account: str,
    amount: int,
    settles: str | None,
    split: list[Any],
    description: str | None,
    about: str | None,
    *rest: Any,
) -> Line:
    *mark, tags, currency, currency_amount = rest
    return Line(
        known_id(account),
        amount,
        UUID(settles) if settles else None,
        split_of(split),
        description,
        mark_of(*mark),
        UUID(about) if about else None,
        tuple(tags or ()),
        currency,
        currency_amount,
    )
