"""Stored vendors: the parties from which the business buys."""

from typing import ClassVar

from sqlalchemy import Uuid, func, select

from accounting.trade.parties import Vendor
from persistence.engine.sql import given, word
from persistence.store import in_business
from persistence.tables import (
    bill,
    bill_payment,
    vendor,
    vendor_credit,
    vendor_refund,
    vendor_refund_payment,
)
from persistence.trade.parties import PartyStore
from persistence.trade.party_sql import PartySql

# A vendor announces its refund payments in advance. This is the sum of those not received yet.
STILL_TO_COME = select(func.sum(vendor_refund_payment.c.amount)).where(
    in_business(vendor_refund_payment),
    vendor_refund_payment.c.status.in_([word("pending"), word("processing"), word("failed")]),
    vendor_refund_payment.c.refund_id.in_(
        select(vendor_refund.c.id).where(
            in_business(vendor_refund), vendor_refund.c.party_id == given("id", Uuid)
        )
    ),
)
VENDORS = PartySql(Vendor, vendor, bill, bill_payment, vendor_credit, STILL_TO_COME)


class VendorStore(PartyStore[Vendor]):
    """The vendors of one business.

    They have the same lock rank as customers, because no transaction locks both.
    """

    table: ClassVar = vendor
    noun: ClassVar = "vendor"
    rank: ClassVar = 0
    sql = VENDORS
