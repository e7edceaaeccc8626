"""Vendors as they are stored: whom the business buys from."""

from typing import ClassVar

from accounting.trade.parties import Vendor
from persistence.tables import bill, vendor
from persistence.trade.parties import PartyStore
from persistence.trade.party_sql import PartySql

VENDORS = PartySql(Vendor, vendor, bill)


class VendorStore(PartyStore[Vendor]):
    """The vendors of one business.

    Their rank is that of customers: no transaction locks both.
    """

    table: ClassVar = vendor
    noun: ClassVar = "vendor"
    rank: ClassVar = 0
    sql = VENDORS
