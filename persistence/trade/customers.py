"""Stored customers: the parties to which the business sells."""

from typing import ClassVar

from sqlalchemy import Boolean, Text

from accounting.trade.parties import Customer
from persistence.engine.filters import any_part
from persistence.engine.listings import Filter
from persistence.engine.sql import given
from persistence.tables import (
    customer,
    customer_credit,
    invoice,
    invoice_payment,
    invoice_refund,
)
from persistence.trade.parties import PartyStore
from persistence.trade.party_sql import PartySql, summed

REFUND = invoice_refund.c
CUSTOMERS = PartySql(
    Customer,
    customer,
    invoice,
    invoice_payment,
    customer_credit,
    summed(invoice_refund, REFUND.amount - REFUND.paid, REFUND.cancelled_at.is_(None)),
    own_filters={
        "email": Filter(customer.c.listed_email == given("email", Text), str.lower),
        "status": Filter(
            customer.c.archived_at.is_(None) == given("status", Boolean),
            lambda status: status == "ACTIVE",
        ),
        "search": any_part(
            "search",
            customer.c.company_name,
            customer.c.individual_name,
            customer.c.external_id,
            customer.c.reference_number,
            customer.c.email,
            customer.c.notes,
        ),
    },
)


class CustomerStore(PartyStore[Customer]):
    """The customers of one business."""

    table: ClassVar = customer
    noun: ClassVar = "customer"
    rank: ClassVar = 0
    sql = CUSTOMERS
