"""The machine: one business, played over HTTP and in the model at the same time."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.hand import Hand
from tests.model.moves import Moves
from tests.model.play import Play, Site

DATA = st.data()
ENOUGH = {"invoices": 9, "payments": 10, "credits": 7, "refunds": 9}
# How likely each move is beside the others, what there must be some of, and what it adds to.
MOVES: dict[str, tuple[int, str, str]] = {
    "create_invoice": (6, "", "invoices"),
    "create_paid_invoice": (5, "", "invoices"),
    "replace_invoice": (4, "", ""),
    "send_invoice": (3, "drafts", ""),
    "void_invoice": (4, "", ""),
    "delete_invoice": (2, "drafts", ""),
    "write_off": (6, "", ""),
    "reverse_write_off": (4, "write_offs", ""),
    "create_payment": (10, "", "payments"),
    "reallocate_payment": (9, "payments", ""),
    "move_payment": (9, "payments", ""),
    "correct_payment": (7, "payments", ""),
    "cancel_payment": (3, "payments", ""),
    "create_credit": (7, "", "credits"),
    "reallocate_credit": (7, "credits", ""),
    "send_credit": (3, "credits", ""),
    "void_credit": (3, "credits", ""),
    "refund_invoice": (8, "", "refunds"),
    "refund_payment": (5, "payments", "refunds"),
    "cancel_refund": (4, "refunds", ""),
    "pay_refund": (7, "refunds", ""),
    "cancel_refund_payment": (4, "refund_payments", ""),
    "replay": (5, "kept", ""),
    "archive_customer": (2, "", ""),
    "lock_period": (6, "locking", ""),
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

    def weight(self, likely: int, needs: str, adds: str) -> int:
        """How likely a move is now; it is not where it needs what is not there."""
        if needs and not self.some(needs):
            return 0
        return 0 if adds and len(getattr(self.play.books, adds)) >= ENOUGH[adds] else likely

    def some(self, kind: str) -> bool:
        """Whether there is anything of a kind."""
        if kind == "kept":
            return bool(self.play.caller.kept)
        if kind == "locking":
            return self.locking
        if kind == "drafts":
            return any(each.state == "draft" for each in self.play.books.invoices.values())
        return bool(getattr(self.play.books, kind))

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
