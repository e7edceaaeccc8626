"""Integrity check by the rules: every record is posted as it desires.

Records are read in portions, so that only one portion is in memory. Several kinds of records share
a round trip; small books take two.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from accounting.bank import bank_postings
from accounting.books import revaluations
from accounting.books.chart import Roles
from accounting.books.foreign import currency_of, in_base
from accounting.books.ledger import Entry, Line, Movement, Part, Split, TaxMark
from accounting.opening import openings
from accounting.tax import settlements
from accounting.trade import postings
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.payments import Payment
from accounting.trade.postings import Subject
from accounting.trade.refunds import Refund, RefundPayment
from accounting.trade.sides import Side
from accounting.trade.write_offs import WriteOff
from persistence.bank.payouts import EveryPayoutStore
from persistence.books import Books
from persistence.engine.sql import Fetch, Query
from persistence.store import Store

Place = tuple[str, UUID, UUID | None, TaxMark | None, UUID | None, str | None]
Rests = dict[Place, dict[Part | None, int]]

# Most bank lines never post. Lines that posted earlier are checked as well.
_CATEGORIZED = (
    "AND (categorized > 0 OR rounding <> 0 OR EXISTS (SELECT FROM journal_entry e"
    " WHERE e.business_id = %(business_id)s AND e.source_id = kept.id))"
)
_FIRST = UUID(int=0)  # Less than every id.


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A kind of record that posts: its store, its desired postings, and its name in a report.

    Every record of the store has `posted`, the entries that were posted for it.
    """

    store: Store[Any]
    desired: Callable[[Any, Roles], Iterable[Movement]]
    called: Callable[[Any], str]
    which: str = ""  # An SQL condition, if only some rows post.

    def ids(self, after: UUID, most: int) -> Fetch[list[UUID]]:
        """Find up to `most` ids after one, in ascending order."""
        text = (
            f"SELECT id FROM {self.store.table.name} AS kept WHERE business_id = %(business_id)s"
            f" AND id > %(after)s {self.which} ORDER BY id LIMIT %(most)s"
        )
        query = Query(text, {"after": after, "most": most})
        return self.store.fetch((query,), lambda answers: [row["id"] for row in answers[0]])

    def things(self, ids: Sequence[UUID]) -> Fetch[list[Any]]:
        """Load records by their ids, with their posted entries."""
        return self.store.by_ids(ids)


@dataclass(frozen=True, slots=True)
class Portion:
    """A batch of records of one kind."""

    kind: Kind
    things: Sequence[Any]


def kinds_in(books: Books) -> list[Kind]:
    """List the kinds of records that post in some books."""
    traded = [
        Kind(store, partial(postings.desired, trade.side), partial(_called, trade.side))
        for trade in (books.sales, books.purchases)
        for store in trade.stores
    ]
    payouts = EveryPayoutStore(books)
    return [
        *traded,
        Kind(books.opening_balances, openings.desired, lambda each: f"opening {each.id}"),
        Kind(books.revaluations, revaluations.desired, lambda each: f"revaluation {each.id}"),
        Kind(
            books.tax_returns,
            lambda record, _: settlements.desired(record.tax_return),
            lambda record: f"tax return {record.id}",
        ),
        Kind(payouts, bank_postings.desired, lambda payout: f"payout {payout.id}"),
        Kind(
            books.bank_transactions,
            lambda record, roles: bank_postings.desired(record.transaction, roles),
            lambda record: f"bank transaction {record.id}",
            _CATEGORIZED,
        ),
        Kind(
            books.bank_transfers,
            bank_postings.desired,
            lambda transfer: f"transfer {transfer.id}",
        ),
    ]


def counting(books: Books, kinds: Sequence[Kind]) -> Fetch[int]:
    """Count all records of some kinds."""
    counts = " + ".join(
        f"(SELECT count(*) FROM {kind.store.table.name} AS kept"
        f" WHERE business_id = %(business_id)s {kind.which})"
        for kind in kinds
    )
    query = Query(f"SELECT {counts} AS n", {"business_id": books.business_id})
    return Fetch(books.session, (query,), lambda answers: int(answers[0][0]["n"]))


class Reader:
    """A reader of all records of some kinds, at most `most` per round trip."""

    def __init__(self, books: Books, kinds: Sequence[Kind], most: int) -> None:
        self._books = books
        self._most = most
        self._asking = dict.fromkeys(kinds, _FIRST)
        self._found: dict[Kind, list[UUID]] = {}
        self._goes_on: dict[Kind, UUID] = {}  # The last id known; more may follow.

    async def portions(self) -> AsyncIterator[list[Portion]]:
        """Yield the records of each round trip."""
        await self._fetch({})
        while self._found:
            chosen = self._choose()
            yield await self._fetch(chosen)

    def _choose(self) -> dict[Kind, list[UUID]]:
        """Choose the ids for one round trip; request more ids of kinds that ran out."""
        room, chosen = self._most, dict[Kind, list[UUID]]()
        for kind in list(self._found):
            ids = self._found[kind]
            chosen[kind], self._found[kind] = ids[:room], ids[room:]
            room -= len(chosen[kind])
            if not self._found[kind]:
                del self._found[kind]
                if kind in self._goes_on:
                    self._asking[kind] = self._goes_on.pop(kind)
            if room == 0:
                break
        return chosen

    async def _fetch(self, chosen: Mapping[Kind, Sequence[UUID]]) -> list[Portion]:
        asking, self._asking = self._asking, {}
        answers = await self._books.fetch(
            *(kind.things(ids) for kind, ids in chosen.items()),
            *(kind.ids(after, self._most) for kind, after in asking.items()),
        )
        for kind, ids in zip(asking, answers[len(chosen) :], strict=True):
            if ids:
                self._found[kind] = ids
            if len(ids) == self._most:
                self._goes_on[kind] = ids[-1]
        loaded = answers[: len(chosen)]
        return [Portion(kind, things) for kind, things in zip(chosen, loaded, strict=True)]


def is_posted_as_desired(desired: Iterable[Movement], posted: Iterable[Entry]) -> bool:
    """Return whether the posted entries of a record sum to its desired movements.

    Sums are compared per stream, account, settled document, tax mark, part, subject document and
    currency, both amounts of a foreign one, regardless of dates, which a lock may have moved. For
    an invoice of 120 posted as 120 on receivables, 100 on sales and 20 on tax, the differences are
    0.
    """
    rests: Rests = defaultdict(lambda: defaultdict(int))
    for move in desired:
        currency = currency_of(move.amount)
        _count_up(rests[_place(move.stream, move, currency)], move.amount, move.split, 1)
    for entry in posted:
        for line in entry.lines:
            place = _place(entry.stream, line, line.currency)
            _count_up(rests[place], line.both_amounts, line.split, -1)
    return not any(any(parts.values()) for parts in rests.values())


def _place(stream: str, each: Movement | Line, currency: str | None) -> Place:
    return stream, each.account_id, each.settles, each.tax, each.about, currency


def _count_up(parts: dict[Part | None, int], amount: int, split: Split, sign: int) -> None:
    parts[None] += sign * amount
    for part, share in split:
        parts[part] += sign * in_base(share)


class PostingProof:
    """A count of the checked records, and the first one that is not posted as desired."""

    def __init__(self, roles: Roles) -> None:
        self._roles = roles
        self.checked = 0
        self.first_offender: str | None = None

    def examine(self, portion: Portion) -> None:
        """Check the records of a portion."""
        self.checked += len(portion.things)
        if self.first_offender is not None:
            return
        for thing in portion.things:
            if not self._holds(portion.kind, thing):
                self.first_offender = portion.kind.called(thing)
                return

    def _holds(self, kind: Kind, thing: Any) -> bool:
        try:
            desires = kind.desired(thing, self._roles)
            return is_posted_as_desired(desires, thing.posted)
        except ValueError:  # The rules cannot derive its postings: a fault.
            return False


def _called(side: Side, subject: Subject) -> str:
    match subject:
        case Document():
            return f"{side.words.document} {subject.number or subject.id}"
        case Payment():
            return f"{side.words.document} payment {subject.id}"
        case WriteOff():
            return f"write-off {subject.id} of {side.words.document} {subject.document_number}"
        case Credit():
            return f"credit {subject.number or subject.id}"
        case Refund():
            return f"{side.words.document} refund {subject.id}"
        case RefundPayment():
            return f"{side.words.document} refund payment {subject.id}"
