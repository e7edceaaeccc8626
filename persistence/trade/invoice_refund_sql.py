"""The statements of invoice refunds: what their list is filtered by."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ARRAY, Text, Uuid, and_, any_, case, literal_column, or_, select
from sqlalchemy.sql.elements import ColumnElement

from persistence.engine.filters import any_part
from persistence.engine.pages import Filter
from persistence.engine.sql import given, word
from persistence.trade.refund_sql import RefundSql

NONE: ColumnElement[int] = literal_column("0")


class InvoiceRefundSql(RefundSql):
    """The statements of invoice refunds."""

    def filters(self) -> Mapping[str, Filter]:
        side, affected = self.side, self.allocation.c
        return {
            side.names.document_id: self._touching(affected.document_id, side.names.document_id),
            side.names.payment_id: self._touching(affected.payment_id, side.names.payment_id),
            "status": Filter(self._status() == any_(given("status", ARRAY(Text())))),
            "search": self._search(),
        }

    def _status(self) -> ColumnElement[str]:
        """`refunds.invoice_refund_status` in SQL; a test holds the two together."""
        row = self.refund.c
        return case(
            (row.cancelled_at.is_not(None), word("cancelled")),
            (row.paid == row.amount, word("paid")),
            (row.paid > NONE, word("processing")),
            else_=word("pending"),
        )

    def _touching(self, target: ColumnElement[Any], name: str) -> Filter:
        """Cancelled refunds are found too: what they gave back of does not change."""
        row, refund = self.allocation.c, self.refund.c
        mine = and_(row.business_id == refund.business_id, row.refund_id == refund.id)
        return Filter(select(row.id).where(mine, target == given(name, Uuid)).exists())

    def _search(self) -> Filter:
        row, refund, party = self.allocation.c, self.refund.c, self.party.c
        document = self.documents.document
        own = any_part(
            "search",
            refund.external_id,
            refund.reference_number,
            refund.memo,
            party.company_name,
            party.individual_name,
        )
        numbered = any_part("search", document.c.number)
        of_numbered = (
            select(row.id)
            .select_from(self.allocation.join(document, self.given_back()))
            .where(row.business_id == refund.business_id, row.refund_id == refund.id)
            .where(numbered.condition)
            .exists()
        )
        return Filter(or_(own.condition, of_numbered), own.value)
