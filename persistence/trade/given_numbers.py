"""Document numbers given by callers; a number in the form of a series advances the series."""

from collections.abc import Iterable
from uuid import UUID

from accounting.books.numbers import Number, given_in
from persistence.engine.scope import Scope
from persistence.engine.sql import Row


class GivenNumbers:
    """The numbers of one series in one business, as they were loaded."""

    def __init__(self, scope: Scope, series: str) -> None:
        self.scope = scope
        self.series = series
        self._loaded: dict[UUID, str | None] = {}

    def note(self, rows: Iterable[Row]) -> None:
        """Note the numbers of loaded rows."""
        self._loaded.update((row["id"], row["number"]) for row in rows)

    def keep_clear(self, id_: UUID, number: Number) -> None:
        """Advance the series past a number given now, so that it is not assigned again."""
        if isinstance(number, str) and self._loaded.get(id_) != number:
            place = given_in(self.series, number)
            if place is not None:
                self.scope.staging.raise_series(self.series, place)
