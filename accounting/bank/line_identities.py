"""Identities of statement lines: the names under which a line is stored, and found again.

A line is known by the bank's id, but banks use ids again: each month for a fee, for a reversal
under the id of its original, or from 1 on in each file. So a line is a repeat only if its id, day,
amount and direction are the same.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal
from uuid import UUID

LONGEST_ID: Final = 255

Facts = tuple[date, int, str]
"""The day, amount and direction of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A statement line as it was sent; its amount in minor units, above zero.

    `account` is the number of the statement's account, if the statement names it. `corrects` is the
    bank's id of the line that this one replaces; if it `deletes`, it only removes that line.
    """

    booked_on: date
    amount: int
    direction: Literal["credit", "debit"]
    external_id: str | None = None
    currency: str | None = None
    description: str | None = None
    counterparty_name: str | None = None
    reference: str | None = None
    account: str | None = None
    corrects: str | None = None
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class StoredLine:
    """A line that is stored: its id, day, amount and direction."""

    id: UUID
    facts: Facts


@dataclass(frozen=True, slots=True)
class Identity:
    """The names of a line, in the order in which a new line takes them.

    `plain` is the bank's id. A line whose id another line has is stored as `by_facts`, the id with
    a digest of its facts; one that differs only in its texts as `exact`. A line without an id has
    one name for all three.
    """

    plain: str
    by_facts: str
    exact: str
    digest: str

    def names(self) -> tuple[str, ...]:
        """Return the names by which the line may be stored, the most exact first."""
        return (self.exact, self.plain, self.by_facts)


class IdentityBook:
    """The lines of a bank account by their names: those stored, and those of this request."""

    def __init__(self, stored: dict[str, StoredLine]) -> None:
        self._stored = dict(stored)
        self._digests: dict[UUID, str] = {}

    def repeated(self, identity: Identity, facts: Facts) -> UUID | None:
        """Return the id of the stored line that a line repeats; None for another line.

        Banks add to texts later, so that a text alone makes no other line; but two lines of one
        request with different texts are two lines.
        """
        for name in identity.names():
            known = self._stored.get(name)
            if known is not None and known.facts == facts:
                said = self._digests.setdefault(known.id, identity.digest)
                if said == identity.digest:
                    return known.id
        return None

    def add(self, identity: Identity, stored: StoredLine) -> str:
        """Add a new line, and return the name under which it is stored."""
        name = self._free_name(identity, stored.facts)
        self._stored[name] = stored
        self._digests[stored.id] = identity.digest
        return name

    def _free_name(self, identity: Identity, facts: Facts) -> str:
        first = self._stored.get(identity.plain)
        if first is None:
            return identity.plain
        alike = first.facts == facts or identity.by_facts in self._stored
        return identity.exact if alike else identity.by_facts


def facts_of(line: Line) -> Facts:
    """Return the facts of a line that make it a repeat of another one with its id."""
    return (line.booked_on, line.amount, line.direction)


def identities(lines: Sequence[Line | object]) -> Iterator[Identity | None]:
    """Yield the identity of each line; None for a line that is not stored.

    Two equal lines without an id have the counters 1 and 2, so that the same file gives the same
    identities again. So have two equal lines with an id that other lines of the file have too.
    """
    digests = [_digest(line) if isinstance(line, Line) else "" for line in lines]
    shared = _shared(lines, digests)
    seen: Counter[tuple[str | None, str]] = Counter()
    for line, digest in zip(lines, digests, strict=True):
        if not isinstance(line, Line):
            yield None
            continue
        known = line.external_id
        seen[known, digest] += 1
        place = seen[known, digest]
        if known is None:
            yield _single(f"line-{digest}-{place}", digest)
        elif place > 1 and known in shared:
            yield _single(f"{known}-{digest[:12]}-{place}", f"{digest}-{place}")
        else:
            yield Identity(
                _fitting(known),
                _fitting(f"{known}-{_hashed(*_told(line))[:12]}"),
                _fitting(f"{known}-{digest[:12]}"),
                digest,
            )


def _single(name: str, digest: str) -> Identity:
    fitting = _fitting(name)
    return Identity(fitting, fitting, fitting, digest)


def _shared(lines: Sequence[Line | object], digests: Sequence[str]) -> set[str]:
    """Return the ids that different lines have: they identify no line by themselves."""
    contents: dict[str, set[str]] = defaultdict(set)
    for line, digest in zip(lines, digests, strict=True):
        if isinstance(line, Line) and line.external_id is not None:
            contents[line.external_id].add(digest)
    return {known for known, found in contents.items() if len(found) > 1}


def plain_name(bank_id: str) -> str:
    """Return the name under which the first line with a bank's id is stored."""
    return _fitting(bank_id)


def _told(line: Line) -> tuple[str, ...]:
    return (line.booked_on.isoformat(), str(line.amount), line.direction)


def _digest(line: Line) -> str:
    """Hash the content of a line; spaces and case do not count, since banks change those."""
    texts = (line.description, line.counterparty_name, line.reference)
    return _hashed(*_told(line), *(" ".join((text or "").casefold().split()) for text in texts))


def _hashed(*texts: str) -> str:
    return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:32]


def _fitting(name: str) -> str:
    """Shorten a name that is too long to be stored; a hash keeps it distinct."""
    if len(name) <= LONGEST_ID:
        return name
    return f"{name[:200]}-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
