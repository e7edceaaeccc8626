"""The journeys: typical work of partners. They are independent and run in this order."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from verify.journeys import (
    access,
    banking,
    buying,
    ledger,
    mistakes,
    paging,
    repeating,
    reporting,
    selling,
)
from verify.story import Story

JOURNEYS: Final[Mapping[str, Callable[[Story], None]]] = MappingProxyType(
    {
        "access": access.keep_out,
        "sales": selling.sell,
        "purchases": buying.buy,
        "bank": banking.reconcile,
        "repeating": repeating.repeat,
        "lists": paging.walk_lists,
        "refusals": mistakes.be_refused,
        "reports": reporting.tell,
        "ledger": ledger.tie_out,
    }
)
