"""A cache of facts about businesses, in one process, from one request to the next."""

from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from accounting.books.chart import Role
from accounting.tax.codes import TaxCodes

T = TypeVar("T")


class BoundedCache(Generic[T]):
    """A cache of one value for each business, of limited size; the oldest entry is dropped."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: OrderedDict[UUID, T] = OrderedDict()

    def get(self, business_id: UUID) -> T | None:
        """Return the cached value of a business, or None."""
        return self._known.get(business_id)

    def keep(self, business_id: UUID, value: T) -> None:
        """Cache a value of a business, in place of the earlier one."""
        self._known[business_id] = value
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def forget(self, business_id: UUID) -> None:
        """Remove the cached value of a business."""
        self._known.pop(business_id, None)


class TaxCodesSeen(NamedTuple):
    """Tax codes as they were read, with the numbers that show whether they have changed.

    Tax codes are never deleted, so each change raises their number or the sum of their versions.
    The moment of the newest change is compared too: a restored database may have had fewer of them.
    """

    codes: TaxCodes
    number: int
    versions: int
    changed_at: datetime | None

    @classmethod
    def of(cls, codes: TaxCodes) -> "TaxCodesSeen":
        """Return the record of all tax codes of a business."""
        versions = sum(each.version for each in codes.codes)
        changed_at = max((each.updated_at for each in codes.codes), default=None)
        return cls(codes, len(codes.codes), versions, changed_at)


NEVER_SEEN = TaxCodesSeen(TaxCodes(()), -1, 0, None)


@dataclass(frozen=True, slots=True)
class Caches:
    """The caches of one process.

    `roles`: the account of each role, which never changes. `tax_codes`: each use checks whether
    they have changed. `not_rolled_up`: how many entries of a series were in no month when a number
    of it was last taken.
    """

    roles: BoundedCache[dict[Role, UUID]] = field(default_factory=lambda: BoundedCache(10_000))
    not_rolled_up: BoundedCache[dict[str, int]] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    tax_codes: BoundedCache[TaxCodesSeen] = field(default_factory=lambda: BoundedCache(200))
