"""The moves of what is given up: write-offs of invoices and of bills."""

from tests.model import write_off_moves
from tests.model.bank import BankMoves
from tests.model.binding import bind_write_off
from tests.model.bodies import NOBODY
from tests.model.books import Books
from tests.model.moves import by_external_id, likely
from tests.model.play import Move, Records


class WriteOffMoves(BankMoves):
    """The moves of one step that gives something up."""

    def write_off(self) -> None:
        owing = likely(self.hand, self.books.documents, self.books.left)
        id, target = self.pick(owing)
        body = self.bodies.write_off(target)
        known = by_external_id(self.books.write_offs, body)

        def act(books: Books) -> Records:
            made = write_off_moves.write_off(books, id, body)
            return [made.document, made]

        path = f"{self.side.documents}{id}/write-offs/"
        repeated = target if known and known.document is target else None
        move = Move("POST", path, body, act, bind_write_off, repeated, success=201)
        self.make("write off", move.at(target))

    def reverse_write_off(self) -> None:
        id, found = self.pick(self.books.write_offs)
        of = self.hand.one(list(self.books.documents)) if found is None else found.document.id
        if self.hand.chance(3):
            of = NOBODY
        path = f"{self.side.documents}{of}/write-offs/{id}/"
        move = Move("DELETE", path, None, lambda b: [write_off_moves.reverse(b, of, id)])
        self.make("reverse write-off", move.at(self.books.documents.get(of)))
