"""What a handler answers beside a plain value."""

from dataclasses import dataclass
from typing import Any

Reply = Any  # A plain value: the operation's 200, as its contract describes it.


@dataclass(frozen=True, slots=True)
class Created:
    """The operation's 201: something is there now that was not before."""

    value: Any
