"""The machine: one business, played over HTTP and in the model at the same time."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.books import Books
from tests.model.hand import Hand
from tests.model.moves import Moves
from tests.model.play import Play, Site

DATA = st.data()
ENOUGH = {"invoices": 9, "payments": 10, "credits": 7, "refunds": 9}
# How likely each move is beside the others, what it asks for, and what it adds to. Where there is
# nothing that it asks for it is still tried now and then, but for what needs an id.
MOVES: dict[str, tuple[int, str, str]] = {
    "create_invoice": (5, "", "invoices"),
    "create_paid_invoice": (6, "", "invoices"),
    "replace_invoice": (3, "", ""),
    "send_invoice": (3, "drafts", ""),
    "void_invoice": (2, "", ""),
    "delete_invoice": (1, "drafts", ""),
    "write_off": (6, "owing", ""),
    "reverse_write_off": (4, "write_offs", ""),
    "create_payment": (12, "owing", "payments"),
    "reallocate_payment": (10, "payments", ""),
    "move_payment": (8, "payments", ""),
    "correct_payment": (6, "payments", ""),
    "cancel_payment": (2, "payments", ""),
    "create_credit": (7, "", "credits"),
    "reallocate_credit": (7, "credits", ""),
    "send_credit": (3, "draft_credits", ""),
    "void_credit": (3, "credits", ""),
    "refund_invoice": (12, "settled", "refunds"),
    "refund_payment": (7, "unapplied", "refunds"),
    "cancel_refund": (3, "refunds", ""),
    "pay_refund": (10, "unpaid", ""),
    "cancel_refund_payment": (4, "refund_payments", ""),
    "replay": (5, "kept", ""),
    "archive_customer": (1, "", ""),
    "lock_period": (6, "locking", ""),
}


def is_there(records: dict[str, Any], fits: Callable[[Any], object]) -> bool:
    return any(fits(each) for each in records.values())


KINDS: dict[str, Callable[[Books], bool]] = {
    "drafts": lambda books: is_there(books.invoices, lambda each: each.state == "draft"),
    "draft_credits": lambda books: is_there(books.credits, lambda each: each.state == "draft"),
    "owing": lambda books: is_there(
        books.invoices, lambda each: each.state == "open" and books.left(each)
    ),
    "settled": lambda books: is_there(books.invoices, books.refundable),
    "unapplied": lambda books: is_there(books.payments, books.refundable),
    "unpaid": lambda books: is_there(books.refunds, lambda each: not each.cancelled and each.rest),
}


class Receivables(RuleBasedStateMachine):
    """Draws moves, right and wrong ones, until the run is over; then everything must tie out.

    There is one rule, which draws its move by weight: rules of their own would be switched off by
    the half in every run, and most runs would then only be refused.
    """

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.play = Play(site)
        self.whole = True
        self.locking = False

    @initialize(data=DATA)
    def begin_with_two_invoices(self, data: st.DataObject) -> None:
        """Send two invoices, so that there is something to pay; one run in four locks periods."""
        hand = Hand(data)
        self.locking = hand.chance(25)
        for _ in range(2):
            self.step(Moves(self.play, hand).begin_with_an_invoice)

    @rule(data=DATA)
    def move(self, data: st.DataObject) -> None:
        """Make one of the moves that there is something for."""
        hand = Hand(data)
        name = hand.one([name for name, each in MOVES.items() for _ in range(self.weight(*each))])
        self.step(getattr(Moves(self.play, hand), name))

    def weight(self, likely: int, asks: str, adds: str) -> int:
        """How likely a move is now."""
        if adds and len(getattr(self.play.books, adds)) >= ENOUGH[adds]:
            return 0
        return likely if not asks else self.asked(likely, asks)

    def asked(self, likely: int, kind: str) -> int:
        """How likely a move is that asks for something of a kind."""
        books = self.play.books
        if kind == "kept":
            return likely if self.play.caller.kept else 0
        if kind == "locking":
            return likely if self.locking else 0
        if kind in KINDS:
            return likely if KINDS[kind](books) else 1
        return likely if getattr(books, kind) else 0

    def step(self, make: Any) -> None:
        """Make a move; until it is over the run is not whole."""
        self.whole = False
        make()
        self.whole = True
        self.play.counts.steps += 1

    def teardown(self) -> None:
        """Where nothing broke on the way, everything must be right at the end."""
        if self.whole:
            self.play.close()
