"""The moves of both sides: their requests, and their effects in the model."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from tests.model import (
    credit_moves,
    document_moves,
    holds,
    opening_moves,
    payment_moves,
    recode_moves,
    write_off_moves,
)
from tests.model.answer_ids import bind_document, bind_opening, bind_write_off, into
from tests.model.bodies import NOBODY, Bodies
from tests.model.books import Body, Books
from tests.model.filings import file_quarter
from tests.model.hand import Hand
from tests.model.play import Move, Play, Records
from tests.model.records import Credit, Document, Payment
from tests.model.zones import ZONES, usual_if_late

OPENINGS = "opening-balances/"
LOCK_DAYS = (None, "2025-01-31", "2025-02-28", "2025-04-30")


class Moves:
    """The moves of one step."""

    bodies: Bodies

    def __init__(self, play: Play, hand: Hand) -> None:
        self.play = play
        self.books = play.books
        self.side = play.books.side
        self.hand = hand

    def make(self, name: str, move: Move) -> None:
        self.play.make(name, self.hand, move)

    def pick(self, records: Mapping[str, Any]) -> tuple[str, Any]:
        """Return a record with its id, now and then an id without a record."""
        if not records or self.hand.chance(3):
            return NOBODY, None
        id = self.hand.one(list(records))
        return id, records[id]

    def shown(self, records: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the records that a bank line shows, where there are any, or all records."""
        found = {id: each for id, each in records.items() if self.books.linked(each)}
        return found if found and self.hand.chance(50) else records

    def opened_at(self, percent: int) -> Body:
        """Return, in some percent of the calls, the opening moment of a document or credit."""
        return self.bodies.maybe(percent, self.side.moment, self.bodies.moment)

    def begin_with_a_document(self) -> None:
        """Open a document of the first party."""
        party = next(iter(self.books.parties.values()))
        opened_at = self.opened_at(100)
        body = {self.side.party_id: party.id, **self.bodies.lines(), **opened_at}
        self.create(f"create {self.side.noun}", body)

    def begin_with_money(self) -> None:
        """Pay the open documents of the first party, and often more."""
        party = next(iter(self.books.parties.values()))
        parts = {each.id: self.books.left(each) for each in self.bodies.open_ones(party)}
        if self.hand.chance(30):
            parts = {id: max(1, part // 2) for id, part in parts.items()}
        items = [self.side.part({"id": id}, n) for id, n in parts.items()]
        total = max(1, sum(parts.values()) + self.hand.one((1_000, 0)))
        facts = {"payment_date": self.bodies.day(), **self.bodies.money()}
        facts |= {"allocations": items} if items else {}
        self.pay(self.side.payment_body({"id": party.id}, total, **facts))

    def create(self, name: str, body: Body) -> None:
        def act(books: Books) -> Records:
            document, payments = document_moves.create(books, body)
            return [document, *payments]

        known = by_external_id(self.books.documents, body)
        self.make(name, Move("POST", self.side.path, body, act, bind_document, known, success=201))

    def create_document(self) -> None:
        self.create(f"create {self.side.noun}", self.bodies.document())

    def replace_document(self) -> None:
        id, target = self.pick(self.books.documents)
        body = self.bodies.replacement()
        move = Move(
            "PUT",
            f"{self.side.path}{id}/",
            body,
            lambda b: [document_moves.replace(b, id, body)],
        )
        self.make(f"replace {self.side.noun}", move.at(target))

    def open_document(self) -> None:
        id, target = self.pick(in_state(self.hand, self.books.documents, "draft"))
        body = {**self.opened_at(60), **self.bodies.due()}
        path = f"{self.side.path}{id}/{self.side.move}/"
        move = Move("POST", path, body, lambda b: [document_moves.open_draft(b, id, body)])
        self.make(f"open {self.side.noun}", move.at(target))

    def void_document(self) -> None:
        id, target = self.pick(self.books.documents)
        body = self.bodies.maybe(50, "voided_at", self.bodies.moment)
        path = f"{self.side.path}{id}/void/"
        move = Move("POST", path, body, lambda b: [document_moves.void(b, id, body)])
        self.make(f"void {self.side.noun}", move.at(target))

    def delete_document(self) -> None:
        id, target = self.pick(in_state(self.hand, self.books.documents, "draft"))
        path = f"{self.side.path}{id}/"
        move = Move(
            "DELETE", path, None, lambda b: [document_moves.delete(b, id)], may_preview=False
        )
        self.make(f"delete {self.side.noun}", move.at(target))

    def recode_document(self) -> None:
        id, target = self.pick(self.books.documents)
        lines = [] if target is None else target.priced.lines
        touched = target is not None and self.books.is_touched(target)
        body = self.bodies.recoding(lines, "account_identifier", together=touched)
        path = f"{self.side.path}{id}/"
        move = Move("PATCH", path, body, lambda b: recode_moves.document(b, id, body))
        self.make(f"recode {self.side.noun}", move.at(target))

    def recode_credit(self) -> None:
        id, credit = self.pick(self.books.credits)
        lines = [] if credit is None else credit.lines
        used = credit is not None and bool(credit.used + self.books.paid_out(credit))
        body = self.bodies.recoding(lines, self.side.account_field, together=used)
        path = f"{self.side.credits}{id}/"
        move = Move("PATCH", path, body, lambda b: recode_moves.credit(b, id, body))
        self.make("recode credit", move.at(credit))

    # Payments.

    def create_payment(self) -> None:
        self.pay(self.bodies.payment())

    def pay(self, body: Body) -> None:
        """Record a payment."""

        def act(books: Books) -> Records:
            payment = payment_moves.create(books, body)
            return [payment, *items_of(books, payment)]

        known = by_external_id(self.books.payments, body)
        move = Move("POST", self.side.payments, body, act, into("payments"), known, success=201)
        self.make("create payment", move)

    def change(self, name: str, id: str, body: Body) -> None:
        """Change a payment; only an invoice payment has PUT."""

        def act(books: Books) -> Records:
            before = items_of(books, books.payments.get(id))
            lines = holds.lines_of(books, books.payments.get(id))
            payment = payment_moves.change(books, id, body)
            held_by = books.payout_of(payment)
            documents = dict.fromkeys([*before, *items_of(books, payment)])
            return [payment, *([] if held_by is None else [held_by]), *lines, *documents]

        method = self.hand.one(("PATCH", "PATCH", "PUT") if self.side.clears else ("PATCH",))
        move = Move(method, f"{self.side.payments}{id}/", body, act)
        self.make(name, move.at(self.books.payments.get(id)))

    def reallocate_payment(self) -> None:
        id, payment = self.pick(self.books.payments)
        given = [] if payment is None else self.bodies.list_again(payment)
        body = {
            "allocations": given,
            **self.bodies.maybe(10, "status", lambda: self.hand.one(self.side.statuses)),
        }
        self.change("re-allocate", id, body)

    def move_payment(self) -> None:
        id, payment = self.pick(self.shown(self.books.payments))
        body: dict[str, Any] = {
            "status": self.hand.one(self.side.statuses),
            **self.bodies.maybe(30, "status_date", self.bodies.day),
        }
        if payment is not None:
            body |= self.bodies.maybe(15, "allocations", lambda: self.bodies.list_again(payment))
        self.change("move payment", id, body)

    def correct_payment(self) -> None:
        id, payment = self.pick(self.shown(self.books.payments))
        body: dict[str, Any] = (
            {self.side.total: 100} if payment is None else self.bodies.facts(payment)
        )
        if payment is not None:
            body |= self.bodies.maybe(20, "allocations", lambda: self.bodies.list_again(payment))
        self.change("correct payment", id, body)

    def cancel_payment(self) -> None:
        payments = in_state(self.hand, self.books.payments, "pending", "failed")
        id, payment = self.pick(self.shown(payments))

        def act(books: Books) -> Records:
            before = items_of(books, books.payments.get(id))
            lines = holds.lines_of(books, books.payments.get(id))
            return [payment_moves.cancel(books, id), *lines, *before]

        path = f"{self.side.payments}{id}/delete/"
        move = Move("POST", path, None, act, may_preview=False)
        self.make("cancel payment", move.at(payment))

    # Credits.

    def create_credit(self) -> None:
        body = self.bodies.credit()

        def act(books: Books) -> Records:
            credit = credit_moves.create(books, body)
            return [credit, *touched(books, credit)]

        known = by_external_id(self.books.credits, body)
        move = Move("POST", self.side.credits, body, act, into("credits"), known, success=201)
        self.make("create credit", move)

    def replace(self, name: str, id: str, body: Body) -> None:
        """Replace the fields of a credit."""

        def act(books: Books) -> Records:
            before = items_of(books, books.credits.get(id))
            credit = credit_moves.replace(books, id, body)
            return [credit, *dict.fromkeys([*before, *touched(books, credit)])]

        move = Move("PUT", f"{self.side.credits}{id}/", body, act)
        self.make(name, move.at(self.books.credits.get(id)))

    def reallocate_credit(self) -> None:
        id, credit = self.pick(self.books.credits)
        given = [] if credit is None else self.bodies.list_again(credit, "amount")
        body = {"allocations": given, **self.opened_at(10)}
        self.replace("re-allocate credit", id, body)

    def open_credit(self) -> None:
        id, credit = self.pick(in_state(self.hand, self.books.credits, "draft"))
        body = {
            self.side.moment: self.bodies.moment(),
            **self.bodies.maybe(20, "memo", "Broken beans"),
        }
        if credit is not None:
            parts = self.bodies.maybe(
                40, "allocations", lambda: self.bodies.list_again(credit, "amount")
            )
            body |= parts
        self.replace("open credit", id, body)

    def void_credit(self) -> None:
        id, credit = self.pick(self.books.credits)
        body = self.bodies.maybe(50, "voided_at", self.bodies.moment)
        path = f"{self.side.credits}{id}/void/"

        def act(books: Books) -> Records:
            voided = credit_moves.void(books, id, body)
            return [voided, *touched(books, voided)]

        self.make("void credit", Move("POST", path, body, act).at(credit))

    # Write-offs.

    def write_off(self) -> None:
        id, target = self.pick(likely(self.hand, self.books.documents, self.books.left))
        body = self.bodies.write_off(target)
        known = by_external_id(self.books.write_offs, body)

        def act(books: Books) -> Records:
            made = write_off_moves.write_off(books, id, body)
            return [made.document, made]

        path = f"{self.side.path}{id}/write-offs/"
        repeated = target if known and known.document is target else None
        move = Move("POST", path, body, act, bind_write_off, repeated, success=201)
        self.make("write off", move.at(target))

    def reverse_write_off(self) -> None:
        id, found = self.pick(self.books.write_offs)
        of = self.hand.one(list(self.books.documents)) if found is None else found.document.id
        if self.hand.chance(3):
            of = NOBODY
        path = f"{self.side.path}{of}/write-offs/{id}/"
        move = Move("DELETE", path, None, lambda b: [write_off_moves.reverse(b, of, id)])
        self.make("reverse write-off", move.at(self.books.documents.get(of)))

    # Openings of the books.

    def open_books(self) -> None:
        body = self.bodies.opening()

        def act(books: Books) -> Records:
            made = opening_moves.open_books(books, body)
            return [made, *made.documents, *made.credits, *made.payments]

        move = Move("POST", OPENINGS, body, act, bind_opening, success=201)
        kinds = (f"{self.side.noun}s", f"{self.side.party}_credits")
        by_code = any("tax" in each for kind in kinds for each in body[kind])
        self.make(f"open books{' by tax code' if by_code else ''}", move)

    def reverse_opening(self) -> None:
        id, opening = self.pick(self.books.openings)
        body = self.bodies.maybe(50, "entry_date", self.bodies.day)

        def act(books: Books) -> Records:
            made = opening_moves.reverse(books, id, body)
            return [made, *made.documents, *made.credits, *made.payments]

        move = Move("POST", f"{OPENINGS}{id}/reverse/", body, act)
        self.make("reverse opening", move.at(opening))

    # Tax returns.

    def file_return(self) -> None:
        """Create and file the return of a quarter; a filed quarter is superseded.

        Only runs that lock periods lock by filing.
        """
        quarter, may_lock = self.hand.one((1, 2, 3, 4)), self.books.lock_date is not None
        scheme = self.books.scheme or self.hand.one(("accrual", "cash"))
        lock = may_lock and self.hand.chance(20)
        file_quarter(self.play, quarter, scheme, lock=lock)

    # Others.

    def replay(self) -> None:
        self.play.replay(self.hand)

    def archive_party(self) -> None:
        archived = {id: c for id, c in self.books.parties.items() if c.archived}
        id, party = self.pick(archived or self.books.parties)
        word = "unarchive" if archived else "archive"
        act = document_moves.unarchive if archived else document_moves.archive
        path = f"{self.side.parties}{id}/{word}/"
        move = Move("POST", path, None, lambda b: [act(b, id)], may_preview=False)
        self.make(f"{word} {self.side.party}", move.at(party))

    def lock_period(self) -> None:
        """Lock the period up to a day, or unlock it."""
        day = self.hand.one(LOCK_DAYS)
        self.play.lock(None if day is None else date.fromisoformat(day))

    def change_time_zone(self) -> None:
        """Move the business to another time zone, in which it is not an earlier day."""
        timezone = usual_if_late(self.hand.one(ZONES))
        if Books(self.side, timezone).today >= self.books.today:
            self.play.move(timezone)


def by_external_id(records: Mapping[str, Any], body: Body) -> Any:
    """Return the record that has the external id of a body, if any."""
    name = body.get("external_id")
    found = (each for each in records.values() if name and each.external_id == name)
    return next(found, None)


def in_state(hand: Hand, records: Mapping[str, Any], *states: str) -> Mapping[str, Any]:
    """Return the records in one of some states, where there are any; now and then all."""
    return likely(
        hand,
        records,
        lambda each: getattr(each, "state", "") in states or getattr(each, "status", "") in states,
    )


def likely(
    hand: Hand, records: Mapping[str, Any], fits: Callable[[Any], object]
) -> Mapping[str, Any]:
    """Return the records that fit, where there are any; now and then all."""
    fitting = {id: each for id, each in records.items() if fits(each)}
    return records if not fitting or hand.chance(15) else fitting


def touched(books: Books, credit: Credit) -> list[Document]:
    """Return the documents that a credit settles, or whose lines it credits."""
    source = [] if not credit.takes else [books.documents[credit.source or ""]]
    return list(dict.fromkeys([*source, *items_of(books, credit)]))


def items_of(books: Books, subject: Payment | Credit | None) -> list[Document]:
    """Return the documents to which a payment or credit is allocated."""
    return [] if subject is None else [books.documents[id] for id in subject.parts]
