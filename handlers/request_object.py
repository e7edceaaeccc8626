"""An object of a request, as `bodies` describes it."""

from typing import Any

from accounting.absent import ABSENT, Absent


class RequestObject(dict[str, Any]):
    """The fields that were sent; one that was not sent reads as ABSENT."""

    def __missing__(self, _name: str) -> Absent:
        return ABSENT
