"""Stored links between bank lines and the payments, payouts or entries that they show."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Uuid, and_, cast, func, literal_column, select, update
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.bank_links import Link
from accounting.bank.payouts import Money, Payout
from accounting.bank.transfers import Transfer
from accounting.books.foreign import ForeignAmount
from accounting.books.ledger import PostedEntry
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store, among, in_business
from persistence.tables import Moment, bank_link, bank_transaction, bank_transfer
from persistence.trade.linked_lines import ALIVE, NOTHING, Linked, linked_of, reading_lines

KEPT = tuple(item.name for item in fields(Link) if item.name not in ("other_id", "target_amount"))
_ONE: ColumnElement[int] = literal_column("1")
NOTHING_YET: ColumnElement[int] = literal_column("0")
_NOW = given("now", Moment)


_other = bank_link.alias("other")
_OTHER_LINE = (
    select(_other.c.transaction_id)
    .where(
        in_business(_other),
        _other.c.target_id == bank_link.c.target_id,
        _other.c.transaction_id != bank_link.c.transaction_id,
        _other.c.ended_at.is_(None),
        bank_link.c.target_type == word("transfer"),
    )
    .scalar_subquery()
)


def _links(condition: ColumnElement[bool]) -> str:
    stored = (bank_link.c[name] for name in KEPT)
    chosen = select(*stored, bank_link.c.target_amount, _OTHER_LINE.label("other_id"))
    return compiled(chosen.where(in_business(bank_link), condition).order_by(bank_link.c.id))


BY_ID = _links(among(bank_link.c.id))
OF_TRANSACTIONS = _links(and_(among(bank_link.c.transaction_id), ALIVE))
EVER_LINKED = compiled(
    select(bank_link.c.transaction_id)
    .where(in_business(bank_link), among(bank_link.c.transaction_id))
    .distinct()
)
# The amount of an entry that is linked with lines of one bank account.
SHOWN_OF_ENTRY = compiled(
    select(
        cast(func.coalesce(func.sum(bank_link.c.amount), NOTHING_YET), BigInteger).label("linked")
    )
    .select_from(
        bank_link.join(
            bank_transaction,
            and_(
                in_business(bank_transaction),
                bank_transaction.c.id == bank_link.c.transaction_id,
            ),
        )
    )
    .where(
        in_business(bank_link),
        bank_link.c.target_id == given("entry_id", Uuid),
        ALIVE,
        bank_transaction.c.bank_account_id == given("bank_account_id", Uuid),
    )
)
_OF_TARGET = and_(in_business(bank_link), among(bank_link.c.target_id, "targets"), ALIVE)
OF_TARGET = _links(and_(among(bank_link.c.target_id, "targets"), ALIVE))
# The lock order of bank lines is by id, before entry numbers are taken: a transaction that matches
# a line locks it first and takes its numbers afterwards.
LOCK_LINES = compiled(
    select(bank_transaction.c.id)
    .where(
        in_business(bank_transaction),
        bank_transaction.c.id.in_(select(bank_link.c.transaction_id).where(_OF_TARGET)),
    )
    .order_by(bank_transaction.c.id)
    .with_for_update(key_share=True)
)


def _end() -> str:
    ended = (
        update(bank_link)
        .values(ended_at=_NOW, version=bank_link.c.version + _ONE)
        .where(_OF_TARGET)
        .returning(bank_link.c.transaction_id, bank_link.c.amount)
        .cte("ended")
    )
    freed = (
        select(ended.c.transaction_id, cast(func.sum(ended.c.amount), BigInteger).label("amount"))
        .group_by(ended.c.transaction_id)
        .cte("freed")
    )
    line = bank_transaction.c
    return compiled(
        update(bank_transaction)
        .values(linked=line.linked - freed.c.amount, version=line.version + _ONE, updated_at=_NOW)
        .where(in_business(bank_transaction), line.id == freed.c.transaction_id)
    )


END = _end()
# The fields of a line that the end of its links changes.
FREED = ("is_reconciled", "linked_amount_cents", "links", "remaining_amount_cents")


class BankLinkStore(Store[Link]):
    """The links of one business. A link has no lock of its own: its target's lock protects it."""

    table: ClassVar = bank_link
    noun: ClassVar = "bank_link"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[Link]:
        return [Link(**{**row, "target_amount": _shown(row)}) for row in answers[0]]

    def find(self, id: UUID, transaction_id: UUID) -> Fetch[Link | None]:
        """Load a live link of a line, or None."""

        def answer(answers: Answers) -> Link | None:
            for each in self.seen(self.assemble(answers)):
                if each.transaction_id == transaction_id and each.ended_at is None:
                    return each
            return None

        return self.fetch(self.loading([id]), answer)

    def ever_linked(self, transaction_ids: Collection[UUID]) -> Fetch[frozenset[UUID]]:
        """Load which lines have links, also ended ones."""
        chosen = Query(EVER_LINKED, {"ids": list(transaction_ids)})
        return self.fetch(
            (chosen,), lambda answers: frozenset(row["transaction_id"] for row in answers[0])
        )

    def of_transactions(self, ids: Collection[UUID]) -> Fetch[dict[UUID, tuple[Link, ...]]]:
        """Load the live links of lines, oldest first, by the id of the line."""

        def answer(answers: Answers) -> dict[UUID, tuple[Link, ...]]:
            found: dict[UUID, list[Link]] = defaultdict(list)
            for link in self.seen(self.assemble(answers)) if answers else ():
                found[link.transaction_id].append(link)
            return {line: tuple(links) for line, links in found.items()}

        asked = (Query(OF_TRANSACTIONS, {"ids": list(ids)}),) if ids else ()
        return self.fetch(asked, answer)

    def of_target(self, target: UUID) -> Fetch[tuple[Link, ...]]:
        """Load the live links of a locked target, oldest first."""
        return self.fetch(
            (Query(OF_TARGET, {"targets": [target]}),),
            lambda answers: tuple(self.seen(self.assemble(answers))),
        )

    def shown_of_entry(self, entry_id: UUID, bank_account_id: UUID) -> Fetch[int]:
        """Return the amount of an entry that is linked with lines of a locked bank account."""
        named = {"entry_id": entry_id, "bank_account_id": bank_account_id}
        return self.fetch(
            (Query(SHOWN_OF_ENTRY, named),), lambda answers: int(answers[0][0]["linked"])
        )

    def of(self, targets: Iterable[Money | Payout]) -> Fetch[Linked]:
        """Load the bank lines of targets that are loaded already, if anything is linked."""
        linked = [each.id for each in targets if each.money_account_id is not None]
        return self.at(*linked) if linked else self.fetch((), lambda _: NOTHING)

    def at(self, *targets: UUID) -> Fetch[Linked]:
        """Load the bank lines of targets by id, also before the targets are loaded."""
        return self.fetch((reading_lines(targets),), lambda answers: linked_of(answers[0]))

    def drop(self, target: UUID) -> None:
        """Stage the end of all live links of a locked target, which gets no new links meanwhile.

        Nothing is posted: money with a rounding difference is linked in full, so it completed, and
        completed money keeps its links.
        """
        parameters = {
            "business_id": self.scope.business_id,
            "targets": [target],
            "now": self.scope.now,
        }
        self.scope.staging.lead_with(Query(LOCK_LINES, parameters))
        for each in self.scope.unseen(Query(END, parameters), "unmatched", *FREED):
            self.scope.staging.lead_with(each)

    def save(self, value: Link) -> None:
        """Stage a link."""
        row: Row = {name: getattr(value, name) for name in KEPT}
        if isinstance(shown := value.target_amount, ForeignAmount):
            row["target_amount"] = [int(shown), shown.base, shown.currency]
        self.scope.stage_part(bank_link, value.id, row)


def _shown(row: Row) -> int | None:
    """Return the amount of foreign money that a link shows, with its base."""
    return None if row["target_amount"] is None else ForeignAmount(*row["target_amount"])


# Stored transfers between own bank accounts. The locks of its lines protect a transfer.


STORED = tuple(item.name for item in fields(Transfer) if item.name != "posted")
FOREIGN = ("currency", "base_amount", "arrived_currency")
TRANSFERS_BY_ID = compiled(
    select(*(bank_transfer.c[name] for name in (*STORED, *FOREIGN))).where(
        in_business(bank_transfer), among(bank_transfer.c.id)
    )
)


class TransferStore(Store[Transfer]):
    """The transfers of one business."""

    table: ClassVar = bank_transfer
    noun: ClassVar = "transfer"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(TRANSFERS_BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[Transfer]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_transfer(row, posted.get(row["id"], ())) for row in rows]

    def of_links(self, ids: Collection[UUID]) -> Fetch[dict[UUID, Transfer]]:
        """Load the transfers of links, by id; the caller has locked their lines."""
        if not ids:
            return self.fetch((), lambda _: {})
        return self.fetch(
            self.loading(list(ids)),
            lambda answers: {each.id: each for each in self.seen(self.assemble(answers))},
        )

    def save(self, value: Transfer) -> None:
        """Stage a transfer."""
        row = {name: getattr(value, name) for name in STORED}
        amount, arrived = value.amount, value.arrived
        if isinstance(amount, ForeignAmount):
            row |= {"currency": amount.currency, "base_amount": amount.base}
        if isinstance(arrived, ForeignAmount):
            row |= {"arrived_currency": arrived.currency, "base_amount": arrived.base}
        row |= {"amount": int(amount), "arrived": None if arrived is None else int(arrived)}
        self.scope.stage(bank_transfer, value, row)


def _transfer(row: Row, posted: tuple[PostedEntry, ...]) -> Transfer:
    currency, base, arrived_currency = (row.pop(name) for name in FOREIGN)
    if currency is not None:
        row["amount"] = ForeignAmount(row["amount"], base, currency)
    if arrived_currency is not None:
        row["arrived"] = ForeignAmount(row["arrived"], base, arrived_currency)
    return Transfer(**row, posted=posted)
