"""What a posted line says of tax."""

from enum import StrEnum


class TaxPart(StrEnum):
    """Which part of a taxed amount a posted line is."""

    NET = "net"
    OUTPUT = "output"  # Tax that is owed: charged on a sale, or self-assessed on a purchase.
    INPUT = "input"  # Tax on a purchase that is recovered.
    BLOCKED = "blocked"  # Tax on a purchase that is not recovered, and so is cost.
    WITHHELD = "withheld"
    RELIEF_NET = "relief_net"  # The net of what was written off with relief of its tax,
    RELIEF = "relief"  # and that tax.
