"""Vendors as they are stored: whom the business buys from."""

from typing import ClassVar

from accounting.parties import Vendor
from persistence.parties import PartyStore
from persistence.party_statements import PartyStatements
from persistence.tables import bill, vendor

VENDORS = PartyStatements(Vendor, vendor, bill)


class VendorStore(PartyStore[Vendor]):
    """The vendors of one business.

    Their rank is that of customers: no transaction locks both.
    """

    table: ClassVar = vendor
    noun: ClassVar = "vendor"
    rank: ClassVar = 0
    statements = VENDORS
