"""The ids of the records with splits over the parts of one document or credit."""

from collections import defaultdict
from uuid import UUID

from sqlalchemy import Table

from persistence.engine.sql import Answers, Fetch, Query
from persistence.scope import Scope
from persistence.trade.document_settlements import SettlementTables

Ids = dict[str, list[UUID]]
"""Ids by kind: `payment`, `credit`, `write_off`, `refund` and `refund_payment`."""

_OF_DOCUMENT = """
SELECT 'payment' AS kind, payment_id AS id FROM {allocation}
WHERE {allocation}.business_id = %(business_id)s AND document_id = %(id)s
UNION SELECT 'credit', credit_id FROM {credit_allocation}
WHERE {credit_allocation}.business_id = %(business_id)s AND document_id = %(id)s
UNION SELECT 'write_off', id FROM {write_off}
WHERE {write_off}.business_id = %(business_id)s AND document_id = %(id)s
UNION SELECT 'refund', refund_id FROM {refund_allocation}
WHERE {refund_allocation}.business_id = %(business_id)s AND document_id = %(id)s
UNION SELECT 'refund', {refund_allocation}.refund_id FROM {refund_allocation}
JOIN {allocation} ON {allocation}.business_id = %(business_id)s
  AND {allocation}.payment_id = {refund_allocation}.payment_id
WHERE {refund_allocation}.business_id = %(business_id)s
  AND {allocation}.document_id = %(id)s AND {refund_allocation}.released <> '[]'"""

_OF_CREDIT = """
SELECT 'refund' AS kind, refund_id AS id FROM {refund_allocation}
WHERE {refund_allocation}.business_id = %(business_id)s AND refunded_credit_id = %(id)s"""

_WITH_PAYMENTS = """
WITH found AS MATERIALIZED ({found})
SELECT kind, id FROM found
UNION SELECT 'refund_payment', id FROM {refund_payment}
WHERE {refund_payment}.business_id = %(business_id)s
  AND refund_id IN (SELECT id FROM found WHERE kind = 'refund')"""


def of_document(scope: Scope, tables: SettlementTables, paid_back: Table, id: UUID) -> Fetch[Ids]:
    """Find the dependents of an invoice or bill; `paid_back` has the payments of its refunds."""
    return _found(scope, _OF_DOCUMENT, tables, paid_back, id)


def of_credit(scope: Scope, tables: SettlementTables, paid_back: Table, id: UUID) -> Fetch[Ids]:
    """Find the refunds that pay out a credit, and their payments."""
    return _found(scope, _OF_CREDIT, tables, paid_back, id)


def _found(
    scope: Scope, found: str, tables: SettlementTables, paid_back: Table, id: UUID
) -> Fetch[Ids]:
    text = _WITH_PAYMENTS.replace("{found}", found).format(
        allocation=tables.allocation.name,
        credit_allocation=tables.credit_allocation.name,
        write_off=tables.write_off.name,
        refund_allocation=tables.refund_allocation.name,
        refund_payment=paid_back.name,
    )

    def answer(answers: Answers) -> Ids:
        ids: Ids = defaultdict(list)
        for row in answers[0]:
            ids[row["kind"]].append(row["id"])
        return ids

    query = Query(text, {"id": id, "business_id": scope.business_id})
    return Fetch(scope.session, (query,), answer)
