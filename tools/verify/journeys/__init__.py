"""The journeys: typical work of partners. They are independent and run in this order."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from tools.verify.journeys import (
    access,
    bank,
    idempotency,
    ledger,
    mistakes,
    pagination,
    purchases,
    reports,
    sales,
)
from tools.verify.story import Story

JOURNEYS: Final[Mapping[str, Callable[[Story], None]]] = MappingProxyType(
    {
        "access": access.keep_out,
        "sales": sales.sell,
        "purchases": purchases.buy,
        "bank": bank.reconcile,
        "repeating": idempotency.repeat,
        "lists": pagination.walk_lists,
        "refusals": mistakes.be_refused,
        "reports": reports.tell,
        "ledger": ledger.tie_out,
    }
)
