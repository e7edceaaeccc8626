"""An object in a request body, of a type in `bodies`."""

from typing import Any

from accounting.absent import ABSENT, Absent


class RequestObject(dict[str, Any]):
    """The fields that were sent; a field that was not sent reads as ABSENT."""

    def __missing__(self, _name: str) -> Absent:
        return ABSENT
