"""The ids of the records with splits over the parts of one document or credit."""

from collections import defaultdict
from uuid import UUID

from sqlalchemy import Table

from persistence.engine.sql import Answers, Fetch, Query
from persistence.store import Scope
from persistence.trade.document_settlements import SettlementTables

Ids = dict[str, list[UUID]]
"""Ids by kind: `payment`, `credit`, `write_off`, `refund` and `refund_payment`."""

_OF_DOCUMENT = """
SELECT 'payment' AS kind, payment_id AS id FROM {allocation} AS a
WHERE a.business_id = %(business_id)s AND a.document_id = %(id)s
UNION SELECT 'credit', credit_id FROM {credit_allocation} AS a
WHERE a.business_id = %(business_id)s AND a.document_id = %(id)s
UNION SELECT 'write_off', id FROM {write_off} AS w
WHERE w.business_id = %(business_id)s AND w.document_id = %(id)s
UNION SELECT 'refund', refund_id FROM {refund_allocation} AS a
WHERE a.business_id = %(business_id)s AND a.document_id = %(id)s
UNION SELECT 'refund', g.refund_id FROM {refund_allocation} AS g
JOIN {allocation} AS a ON a.business_id = %(business_id)s AND a.payment_id = g.payment_id
WHERE g.business_id = %(business_id)s AND a.document_id = %(id)s AND g.released <> '[]'"""

_OF_CREDIT = """
SELECT 'refund' AS kind, refund_id AS id FROM {refund_allocation} AS a
WHERE a.business_id = %(business_id)s AND a.refunded_credit_id = %(id)s"""

_WITH_PAYMENTS = """
WITH found AS MATERIALIZED ({found})
SELECT kind, id FROM found
UNION SELECT 'refund_payment', p.id FROM {refund_payment} AS p
WHERE p.business_id = %(business_id)s
  AND p.refund_id IN (SELECT id FROM found WHERE kind = 'refund')"""


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
