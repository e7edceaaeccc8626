"""SQL of the journal: posted entries and drafts, with their lines."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Integer,
    Numeric,
    Table,
    Text,
    Uuid,
    and_,
    case,
    cast,
    column,
    delete,
    func,
    literal_column,
    null,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.types import TypeEngine

from accounting.books.manual_entries import SOURCE, STREAM
from persistence.engine.sql import compiled, word
from persistence.ledger.split_rows import MARK_COLUMNS
from persistence.store import among, in_business
from persistence.tables import (
    account,
    bill_write_off,
    invoice_refund_payment,
    journal_draft,
    journal_entry,
    journal_line,
    write_off,
)

_reversal = journal_entry.alias("reversal")
REVERSED_BY = (
    select(_reversal.c.id)
    .where(
        in_business(_reversal),
        _reversal.c.reversal_of_id == journal_entry.c.id,
    )
    .scalar_subquery()
)
STORED = (
    "id",
    "version",
    "created_at",
    "sequence_number",
    "entry_date",
    "posted_at",
    "reference",
    "description",
    "currency",
    "total",
    "stream",
    "created_by",
    "source_type",
    "source_id",
    "reversal_of_id",
)


def _holder(source: str, table: Table, holder: ColumnElement[UUID]) -> Any:
    """Build a CASE branch: for entries of `source`, the id of the record that contains it."""
    found = select(holder).where(in_business(table), table.c.id == journal_entry.c.source_id)
    return journal_entry.c.source_type == word(source), found.scalar_subquery()


HELD_BY = case(
    _holder("write_off", write_off, write_off.c.document_id),
    _holder("bill_write_off", bill_write_off, bill_write_off.c.document_id),
    _holder("refund_payment", invoice_refund_payment, invoice_refund_payment.c.refund_id),
    else_=null(),
)
POSTED_COLUMNS = (
    *(journal_entry.c[name] for name in STORED),
    word("approved").label("status"),
    REVERSED_BY.label("reversed_by_id"),
    HELD_BY.label("held_by_id"),
)


def _of_draft(name: str) -> ColumnElement[Any]:
    """Return the column of a draft that corresponds to a column of a posted entry."""
    said: dict[str, ColumnElement[Any]] = {
        "stream": word(STREAM),
        "source_type": word(SOURCE),
        "source_id": journal_draft.c.id,
    }
    if name in journal_draft.c:
        return journal_draft.c[name]
    return said.get(name, cast(null(), journal_entry.c[name].type)).label(name)


DRAFT_COLUMNS = (
    *(_of_draft(name) for name in STORED),
    journal_draft.c.status,
    cast(null(), Uuid).label("reversed_by_id"),
    cast(null(), Uuid).label("held_by_id"),
)
# An entry is posted or a draft; one statement reads both tables in the same snapshot.
BY_ID = compiled(
    union_all(
        select(*POSTED_COLUMNS).where(in_business(journal_entry), among(journal_entry.c.id)),
        select(*DRAFT_COLUMNS).where(in_business(journal_draft), among(journal_draft.c.id)),
    )
)
DELETE_DRAFT = compiled(
    delete(journal_draft).where(in_business(journal_draft), among(journal_draft.c.id))
)

_NAMES = (
    account.c.code.label("account_code"),
    account.c.name.label("account_name"),
    account.c.account_type,
)
POSTED_LINE = (
    journal_line.c.id,
    journal_line.c.entry_id,
    journal_line.c.line_number,
    journal_line.c.account_id,
    *_NAMES,
    journal_line.c.debit,
    journal_line.c.credit,
    journal_line.c.description,
    *(journal_line.c[name] for name in MARK_COLUMNS),
    journal_line.c.tags,
    journal_line.c.currency,
    journal_line.c.currency_amount,
)
POSTED_LINES = journal_line.join(
    account,
    and_(
        in_business(account),
        account.c.id == journal_line.c.account_id,
    ),
)
_item = (
    func.jsonb_array_elements(journal_draft.c.lines)
    .table_valued(column("value", JSONB), with_ordinality="place", name="item")
    .render_derived()
)


def _said(name: str, type_: type[TypeEngine[Any]]) -> ColumnElement[Any]:
    return cast(_item.c.value.op("->>")(word(name)), type_)


_AMOUNT = _said("amount", BigInteger)
# Drafts older than tax codes have no tax mark; a missing key reads as null, too.
_MARK = tuple(zip(MARK_COLUMNS, (Uuid, Numeric, Text), strict=True))
_NONE: ColumnElement[int] = literal_column("0::bigint")
DRAFT_LINE = (
    _said("id", Uuid).label("id"),
    journal_draft.c.id.label("entry_id"),
    cast(_item.c.place, Integer).label("line_number"),
    account.c.id.label("account_id"),
    *_NAMES,
    func.greatest(_AMOUNT, _NONE).label("debit"),
    func.greatest(-_AMOUNT, _NONE).label("credit"),
    _said("description", Text).label("description"),
    *(_said(name, type_).label(name) for name, type_ in _MARK),
    cast(_item.c.value.op("->")(word("tags")), JSONB).label("tags"),
    _said("currency", Text).label("currency"),
    _said("currency_amount", BigInteger).label("currency_amount"),
)
DRAFT_LINES = journal_draft.join(_item, true()).join(
    account,
    and_(
        in_business(account),
        account.c.id == _said("account_id", Uuid),
    ),
)
_lines = union_all(
    select(*POSTED_LINE)
    .select_from(POSTED_LINES)
    .where(in_business(journal_line), among(journal_line.c.entry_id)),
    select(*DRAFT_LINE)
    .select_from(DRAFT_LINES)
    .where(in_business(journal_draft), among(journal_draft.c.id)),
).subquery("line")
LINES = compiled(select(_lines).order_by(_lines.c.entry_id, _lines.c.line_number))


REACTIVATE = """
UPDATE account SET archived_at = NULL, version = version + 1, updated_at = %(now)s
WHERE business_id = %(business_id)s AND id = ANY(%(ids)s) AND archived_at IS NOT NULL
"""
