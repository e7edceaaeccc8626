"""SQL of invoice refunds: the filters of their list."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Uuid, and_, or_, select
from sqlalchemy.sql.elements import ColumnElement

from persistence.engine.filters import any_part
from persistence.engine.listings import Filter, one_of
from persistence.engine.sql import given
from persistence.store import MINE
from persistence.trade.party_sql import any_part_or_party
from persistence.trade.refund_sql import RefundSql


class InvoiceRefundSql(RefundSql):
    """The SQL of invoice refunds."""

    def filters(self) -> Mapping[str, Filter]:
        side, affected = self.side, self.allocation.c
        return {
            side.names.document_id: self._touching(affected.document_id, side.names.document_id),
            side.names.payment_id: self._touching(affected.payment_id, side.names.payment_id),
            side.names.credit_id: self._touching(affected.refunded_credit_id, side.names.credit_id),
            "status": one_of("status", self.refund.c.listed_status),
            "search": self._search(),
        }

    def _touching(self, target: ColumnElement[Any], name: str) -> Filter:
        """Build a filter by a target of the refund's allocations.

        Cancelled refunds match too, because their targets never change.
        """
        row, refund = self.allocation.c, self.refund.c
        mine = and_(row.business_id == MINE, row.refund_id == refund.id)
        return Filter(select(row.id).where(mine, target == given(name, Uuid)).exists())

    def _search(self) -> Filter:
        row, refund = self.allocation.c, self.refund.c
        document = self.documents.document
        own = any_part_or_party(
            refund.party_id, self.party, refund.external_id, refund.reference_number, refund.memo
        )
        numbered = any_part("search", document.c.number)
        of_numbered = (
            select(row.id)
            .select_from(self.allocation.join(document, self.given_back()))
            .where(row.business_id == MINE, row.refund_id == refund.id)
            .where(numbered.condition)
            .exists()
        )
        return Filter(or_(own.condition, of_numbered), own.value)
