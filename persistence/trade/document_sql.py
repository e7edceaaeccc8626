"""SQL of invoices and bills: one class for both sides."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache, cached_property
from typing import Any

from sqlalchemy import (
    ARRAY,
    Date,
    Table,
    Text,
    and_,
    any_,
    case,
    delete,
    func,
    literal_column,
    not_,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.documents import Document, owing_statuses, status_when_late
from accounting.trade.sides import Side
from persistence.engine.listings import (
    MOMENT,
    Filter,
    Listing,
    any_part,
    any_tag,
    between,
    created_filters,
    equal,
    listed_between,
    one_of,
)
from persistence.engine.sql import compiled, given, word
from persistence.store import among, in_business
from persistence.tables import account, journal_line
from persistence.trade.document_settlements import SettlementTables, settlement_columns
from persistence.trade.party_columns import (
    any_part_or_party,
    of_party_known_as,
    on_party,
    party_columns,
)
from persistence.trade.worth_columns import worth_columns

DERIVED = ("party", "posted", "worth", "base_settled")
STORED = tuple(item.name for item in fields(Document) if item.name not in DERIVED)
UNLISTED = ("lines", "settled", "returned", "reduced")
BY_STATUS = ("status", "is_overdue")  # The client's filters; their result depends on the day.
STORED_STATUS = ("listed_status", "when_late", "when_timely")  # The filters that replace them.


class DocumentSql:
    """The SQL of one side's documents."""

    def __init__(self, side: Side, document: Table, party: Table, tables: SettlementTables) -> None:
        self.side = side
        self.document = document
        self.party = party
        self.source = document.join(party, on_party(document, party))
        stored = (document.c[name] for name in STORED)
        self.columns = (*stored, *self._in_base, *party_columns(party))
        self.tables = tables
        self.settlements = cache(self._settlements)

    @property
    def _in_base(self) -> tuple[ColumnElement[Any], ...]:
        return *worth_columns(self.document), self.document.c.base_settled

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def locked(self) -> str:
        """The statement that locks documents in the order of their ids and reads them.

        After a wait, PostgreSQL rereads the locked row but not the joined rows. The party's columns
        are null if a draft got another party meanwhile.
        """
        source = self.document.outerjoin(self.party, on_party(self.document, self.party))
        chosen = select(*self.columns).select_from(source)
        mine = chosen.where(in_business(self.document), among(self.document.c.id))
        in_order = mine.order_by(self.document.c.id)
        return compiled(in_order.with_for_update(key_share=True, of=self.document))

    @cached_property
    def hold_party(self) -> str:
        """The statement that share-locks a document's party, so that nobody archives it.

        A draft may be about to open.
        """
        chosen = select(self.party.c.id).select_from(self.source)
        held = chosen.where(in_business(self.document), among(self.document.c.id))
        return compiled(held.with_for_update(read=True, key_share=True, of=self.party))

    @cached_property
    def hold(self) -> str:
        """The statement that share-locks documents, so that nobody deletes them.

        Another record is about to refer to them.
        """
        chosen = select(self.document.c.id).where(
            in_business(self.document), among(self.document.c.id)
        )
        return compiled(chosen.with_for_update(read=True, key_share=True))

    def _settlements(self, kinds: tuple[str, ...]) -> str:
        columns = settlement_columns(self.document, self.tables, kinds)
        chosen = select(*columns).select_from(self.document)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def shown(self) -> str:
        settlements = settlement_columns(self.document, self.tables)
        chosen = select(*self.columns, *settlements).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def deletion(self) -> str:
        """The statement that deletes documents, only if they are drafts: these have no postings."""
        draft = self.document.c.state == word("draft")
        return compiled(
            delete(self.document).where(
                in_business(self.document), among(self.document.c.id), draft
            )
        )

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.source,
            key=self.document.c.id,
            scope=in_business(self.document),
            # A list shows no lines and no settled amounts by part, so it does not read them.
            columns=(*self._plain_columns(), *party_columns(self.party)),
            filters=self._filters(),
            sorts=self._sorts(),
            default_sort=f"-{self.side.names.opened_at}",
            filled=self._by_stored_status,
        )

    def _plain_columns(self) -> list[ColumnElement[Any]]:
        nothing: ColumnElement[Any] = literal_column("'[]'::jsonb")
        row = self.document.c
        # The tax of a foreign document in base follows from its lines.
        lines = case((row.base_total.is_(None), nothing), else_=row.lines)
        shown = {name: nothing for name in UNLISTED} | {"lines": lines}
        stored = [shown[name].label(name) if name in shown else row[name] for name in STORED]
        return [*stored, *self._in_base]

    def _by_stored_status(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Translate the filters `status` and `is_overdue` into filters by stored status.

        A stored status never is `overdue`, because that depends on the day. `when_late` and
        `when_timely` are added only if late and timely documents need different statuses.
        """
        rest = {name: value for name, value in asked.items() if name not in BY_STATUS}
        if len(rest) == len(asked):
            return asked
        late, timely = (self._stored_statuses(asked, late=late) for late in (True, False))
        either = list(dict.fromkeys((*late, *timely)))
        rest["listed_status"] = either
        if len(late) < len(either):
            rest["when_late"] = late
        if len(timely) < len(either):
            rest["when_timely"] = timely
        return rest

    def _stored_statuses(self, asked: Mapping[str, Any], *, late: bool) -> list[str]:
        """List the stored statuses that match the filters, for late or for timely documents."""
        owing = owing_statuses(self.side)
        stored = (*owing, "draft", "paid", "written_off", "refunded", "voided")
        wanted = set(asked.get("status", (*stored, "overdue")))
        if "issued" in wanted:
            wanted |= {*owing, "overdue"}
        overdue = asked.get("is_overdue")
        return [
            status
            for status in stored
            if (status_when_late(status) if late and status in owing else status) in wanted
            and overdue in (None, late and status in owing)
        ]

    def _late(self) -> ColumnElement[bool]:
        """Compare the due moment with the start of today in the time zone of the business.

        A function of the column could not use an index, because of row-level security.
        """
        row = self.document.c
        return and_(row.due_at.is_not(None), row.due_at < given("today", MOMENT))

    def _open_on(self) -> ColumnElement[bool]:
        """Select documents with an open amount at the end of a day.

        A document without later lines must be open now. For the others, later lines are subtracted
        from the amount that is outstanding now. A negative amount counts as open, as in an aging.
        """
        line, row = journal_line.c, self.document.c
        control = select(account.c.id).where(
            in_business(account), account.c.role == word(self.side.control)
        )
        later = (
            select(
                line.document_id,
                func.sum(func.coalesce(line.currency_amount, line.debit - line.credit)).label(
                    "net"
                ),
            )
            .where(
                in_business(journal_line),
                line.account_id == control.scalar_subquery(),
                line.entry_date > given("open_on", Date),
            )
            .group_by(line.document_id)
            .cte("later")
        )
        document = self.document.alias("moved")
        moved = (
            select(document.c.id)
            .join(later, later.c.document_id == document.c.id)
            .where(
                in_business(document),
                document.c.outstanding != literal_column(str(self.side.sign)) * later.c.net,
            )
        )
        still = and_(
            row.outstanding > literal_column("0"), row.id.not_in(select(later.c.document_id))
        )
        return or_(still, row.id.in_(moved))

    def _filters(self) -> dict[str, Filter]:
        side, row = self.side, self.document.c
        own, other = side.names.party_id, side.names.party_external_id
        first, last = f"{side.names.opened_at}_from", f"{side.names.opened_at}_to"
        late, statuses = self._late(), ARRAY(Text())
        return {
            **created_filters(self.document),
            **any_tag("transaction_tags", row.transaction_tags),
            own: one_of(own, row.party_id),
            "listed_status": one_of("listed_status", row.listed_status),
            "when_late": Filter(
                or_(not_(late), row.listed_status == any_(given("when_late", statuses)))
            ),
            "when_timely": Filter(
                or_(late, row.listed_status == any_(given("when_timely", statuses)))
            ),
            "open_on": Filter(self._open_on()),
            other: of_party_known_as(other, row.party_id, self.party),
            **equal(row.currency, row.external_id),
            **listed_between(row.listed_at, row.opened_at, first, last),
            **listed_between(row.listed_due_at, row.due_at, "due_at_from", "due_at_to"),
            **between(row.total_amount, "min_amount", "max_amount"),
            "memo_contains": any_part("memo_contains", row.memo),
            "search": any_part_or_party(
                row.party_id, self.party, row.number, row.party_number, row.external_id, row.memo
            ),
        }

    def _sorts(self) -> dict[str, ColumnElement[Any]]:
        row = self.document.c
        return {
            self.side.names.opened_at: row.listed_at,
            "due_at": row.listed_due_at,
            "created_at": row.created_at,
            "total_amount": row.total_amount,
            self.side.names.number: row.listed_number,
        }
