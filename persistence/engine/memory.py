"""What one process remembers of businesses from one request to the next."""

from collections import OrderedDict
from dataclasses import field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from accounting.books.chart import Role
from accounting.tax.codes import TaxCodes
from accounting.values import dataclass

T = TypeVar("T")


class Remembered(Generic[T]):
    """One thing of each of at most so many businesses; the oldest is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[UUID, T] = OrderedDict()

    def get(self, business_id: UUID) -> T | None:
        """Return what is remembered of a business."""
        return self._known.get(business_id)

    def keep(self, business_id: UUID, value: T) -> None:
        """Remember it of a business, in the place of what was remembered before."""
        self._known[business_id] = value
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def forget(self, business_id: UUID) -> None:
        """Forget what is remembered of a business."""
        self._known.pop(business_id, None)


class TaxCodesSeen(NamedTuple):
    """Tax codes as they were read, and by what the database tells whether they still are so.

    None is ever deleted, so that each change raises their number or one of their versions. The
    newest change stands beside these: a database that was restored may have had fewer of them.
    """

    codes: TaxCodes
    number: int
    versions: int
    changed_at: datetime | None

    @classmethod
    def of(cls, codes: TaxCodes) -> "TaxCodesSeen":
        """Tell it of all codes of a business."""
        versions = sum(each.version for each in codes.codes)
        changed_at = max((each.updated_at for each in codes.codes), default=None)
        return cls(codes, len(codes.codes), versions, changed_at)


NEVER_SEEN = TaxCodesSeen(TaxCodes(()), -1, 0, None)


@dataclass(frozen=True, slots=True)
class Memory:
    """All of it: a role never moves from its account; whether tax codes changed is asked.

    `not_rolled_up`: how many entries of a series were in no month as a number was last taken.
    """

    roles: Remembered[dict[Role, UUID]] = field(default_factory=lambda: Remembered(10_000))
    not_rolled_up: Remembered[dict[str, int]] = field(default_factory=lambda: Remembered(10_000))
    tax_codes: Remembered[TaxCodesSeen] = field(default_factory=lambda: Remembered(200))
