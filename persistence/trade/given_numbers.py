"""Numbers that callers give: one in the form of a series moves the series past it."""

from collections.abc import Iterable
from uuid import UUID

from accounting.books.numbers import Number, given_in
from persistence.engine.scope import Scope
from persistence.engine.sql import Row


class GivenNumbers:
    """The numbers of one series in one business, as rows were loaded with them."""

    def __init__(self, scope: Scope, series: str) -> None:
        self.scope = scope
        self.series = series
        self._loaded: dict[UUID, str | None] = {}

    def note(self, rows: Iterable[Row]) -> None:
        """Note the numbers of loaded rows."""
        self._loaded.update((row["id"], row["number"]) for row in rows)

    def keep_clear(self, id_: UUID, number: Number) -> None:
        """Let the numbers given out later not meet one that a caller gave now."""
        if isinstance(number, str) and self._loaded.get(id_) != number:
            place = given_in(self.series, number)
            if place is not None:
                self.scope.staging.raise_series(self.series, place)
