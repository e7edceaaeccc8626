"""The state machine: one business, over HTTP and in the model at the same time."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.model.answer_ids import UNKNOWN
from tests.model.bank import BankMoves
from tests.model.books import Books
from tests.model.feed import compare_feed
from tests.model.filings import file_the_rest
from tests.model.hand import Hand
from tests.model.play import Divergence, Play, Site
from tests.model.purchases import PurchaseMoves
from tests.model.reports import compare_reports
from tests.model.sales import SalesMoves
from tests.model.statements import reconcile
from tests.model.zones import ZONES, usual_if_late

DATA = st.data()
ENOUGH = {
    "documents": 9,
    "payments": 10,
    "credits": 7,
    "refunds": 9,
    "vendor_refunds": 8,
    "payouts": 7,
    "bank_accounts": 3,
    "bank_lines": 14,
    "rules": 4,
    "entries": 5,
    "openings": 3,
}
# The weight of each move, the kind of record that it needs, and the kind that it adds. A move
# whose record is missing is still tried now and then, unless it needs an id.
BOTH: dict[str, tuple[int, str, str]] = {
    "create_document": (5, "", "documents"),
    "replace_document": (3, "", ""),
    "open_document": (3, "drafts", ""),
    "void_document": (2, "", ""),
    "delete_document": (1, "drafts", ""),
    "create_payment": (12, "owing", "payments"),
    "reallocate_payment": (10, "payments", ""),
    "move_payment": (8, "payments", ""),
    "correct_payment": (6, "payments", ""),
    "cancel_payment": (2, "payments", ""),
    "create_credit": (7, "", "credits"),
    "reallocate_credit": (7, "credits", ""),
    "open_credit": (3, "draft_credits", ""),
    "void_credit": (3, "credits", ""),
    "recode_document": (5, "", ""),
    "recode_credit": (3, "credits", ""),
    "write_off": (6, "owing", ""),
    "reverse_write_off": (4, "write_offs", ""),
    "replay": (5, "kept", ""),
    "archive_party": (1, "", ""),
    "lock_period": (6, "locking", ""),
    "change_time_zone": (3, "", ""),
    "open_bank_account": (2, "banking", "bank_accounts"),
    "import_lines": (9, "bank_accounts", "bank_lines"),
    "match": (18, "open_lines", ""),
    "unmatch": (5, "told_links", ""),
    "suggest": (4, "open_lines", ""),
    "make_rule": (2, "bank_accounts", "rules"),
    "transfer": (6, "two_accounts", ""),
    "categorize": (4, "bank_lines", ""),
    "uncategorize": (2, "bank_lines", ""),
    "write_entry": (3, "", "entries"),
    "rewrite_entry": (1, "entries", ""),
    "approve_entry": (1, "entries", ""),
    "reject_entry": (1, "entries", ""),
    "reverse_entry": (2, "entries", ""),
    "open_books": (2, "", "openings"),
    "reverse_opening": (2, "openings", ""),
    "file_return": (2, "", ""),
}
OF_SALES: dict[str, tuple[int, str, str]] = {
    "create_paid_document": (6, "", "documents"),
    "refund_credit": (6, "unused_credits", "refunds"),
    "refund_document": (12, "settled", "refunds"),
    "refund_payment": (7, "unapplied", "refunds"),
    "cancel_refund": (3, "refunds", ""),
    "pay_refund": (10, "unpaid", ""),
    "cancel_refund_payment": (4, "refund_payments", ""),
    "pay_out": (9, "cards", "payouts"),
    "pay_out_again": (5, "payouts", ""),
    "delete_payout": (2, "payouts", ""),
}
OF_PURCHASES: dict[str, tuple[int, str, str]] = {
    "agree_refund": (14, "", "vendor_refunds"),
    "agree_refund_in_parts": (6, "", "vendor_refunds"),
    "move_refund_payment": (10, "vendor_refund_payments", ""),
    "reallocate_refund": (10, "vendor_refund_payments", ""),
    "return_refund_payment": (2, "vendor_refund_payments", ""),
    "cancel_refund_payment": (7, "vendor_refund_payments", ""),
    "describe_refund": (1, "vendor_refunds", ""),
    "set_vendor_status": (1, "", ""),
}


# The main moves of a run; the others happen beside them.
DOCUMENTS = (
    "create_document",
    "replace_document",
    "open_document",
    "void_document",
    "delete_document",
)
PAYMENTS = ("create_payment", "reallocate_payment", "move_payment", "correct_payment")
BANK = ("match", "import_lines", "unmatch", "move_payment", "correct_payment", "create_payment")
OWN_BANKS = ("open_bank_account", "import_lines", "transfer", "unmatch", "categorize", "match")
BY_HAND = ("write_entry", "approve_entry", "reverse_entry", "import_lines", "match", "make_rule")
CREDITS = ("create_credit", "reallocate_credit", "open_credit", "void_credit", "create_payment")
OPENED = ("open_books", "create_payment", "create_credit", "reallocate_credit", "write_off")
THEMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "sales": (
        (),
        ("refund_document", "refund_payment", "cancel_refund", "pay_refund"),
        ("refund_document", "pay_refund", "move_payment", "reallocate_payment"),
        (*PAYMENTS, "cancel_payment"),
        ("create_payment", "pay_refund", "pay_out", "pay_out_again", "move_payment"),
        CREDITS,
        ("create_credit", "refund_credit", "reallocate_credit", "void_credit", "cancel_refund"),
        ("refund_payment", "cancel_refund", "pay_refund", "reallocate_payment", "correct_payment"),
        ("write_off", "reverse_write_off", "create_payment", "create_credit", "reallocate_payment"),
        DOCUMENTS,
        BANK,
        OWN_BANKS,
        BY_HAND,
        ("match", "import_lines", "create_payment", "pay_out", "pay_out_again", "delete_payout"),
        ("match", "import_lines", "unmatch", "pay_refund", "cancel_refund_payment", "pay_out"),
        (*OPENED, "refund_document", "pay_refund", "refund_credit"),
        ("file_return", "create_payment", "create_credit", "refund_document", "open_books"),
    ),
    "purchases": (
        (),
        ("agree_refund", "cancel_refund_payment", "create_payment"),
        ("agree_refund", "replace_document", "cancel_refund_payment"),
        ("agree_refund", "reallocate_refund", "move_refund_payment", "cancel_refund_payment"),
        ("agree_refund_in_parts", "move_refund_payment", "reallocate_refund"),
        ("agree_refund", "cancel_refund_payment", "reallocate_payment", "move_payment"),
        ("agree_refund", "reallocate_credit", "cancel_refund_payment", "reallocate_refund"),
        (*PAYMENTS, "cancel_payment"),
        ("write_off", "reverse_write_off", "create_payment", "create_credit", "reallocate_payment"),
        CREDITS,
        DOCUMENTS,
        BANK,
        OWN_BANKS,
        BY_HAND,
        ("match", "import_lines", "agree_refund", "reallocate_refund", "move_refund_payment"),
        ("match", "import_lines", "agree_refund_in_parts", "return_refund_payment"),
        (*OPENED, "agree_refund", "move_refund_payment"),
        ("file_return", "create_payment", "create_credit", "agree_refund", "open_books"),
    ),
}
MOVES = {"sales": BOTH | OF_SALES, "purchases": BOTH | OF_PURCHASES}
MAKERS: dict[str, type[BankMoves]] = {"sales": SalesMoves, "purchases": PurchaseMoves}


def is_there(records: dict[str, Any], fits: Callable[[Any], object]) -> bool:
    return any(fits(each) for each in records.values())


KINDS: dict[str, Callable[[Books], bool]] = {
    "drafts": lambda books: is_there(books.documents, lambda each: each.state == "draft"),
    "draft_credits": lambda books: is_there(books.credits, lambda each: each.state == "draft"),
    "owing": lambda books: is_there(
        books.documents, lambda each: each.state == "open" and books.left(each)
    ),
    "settled": lambda books: is_there(books.documents, books.refundable),
    "unapplied": lambda books: is_there(books.payments, books.refundable),
    "cards": lambda books: is_there(
        books.payments,
        lambda each: each.is_completed and books.side.money(each.method, each.processor) == "1150",
    ),
    "unused_credits": lambda books: is_there(books.credits, books.unapplied),
    "two_accounts": lambda books: len(books.bank_accounts) > 1 and bool(books.bank_lines),
    "told_links": lambda books: any(not each.id.startswith(UNKNOWN) for each in books.links),
    "open_lines": lambda books: is_there(books.bank_lines, books.unexplained),
    "unpaid": lambda books: is_there(books.refunds, lambda each: not each.cancelled and each.rest),
}


class TradingMachine(RuleBasedStateMachine):
    """A machine that makes right and wrong moves until the run ends; then everything must agree.

    There is one rule, which draws its move by weight. If each move were a rule, hypothesis would
    switch off half of them in every run, and most moves of most runs would be refused.
    """

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site
        self.counts = site.counts
        self.side = site.side
        self.whole = False
        self.length = 0
        self.locking = self.banking = False
        self.theme: tuple[str, ...] = ()

    @initialize(data=DATA)
    def begin_with_two_documents(self, data: st.DataObject) -> None:
        """Open two invoices or bills.

        One run in four locks periods, and more than half of the runs use a bank.
        """
        self.length += 1
        hand = Hand(data)
        self.play = Play(self.site, usual_if_late(hand.one(ZONES)))
        self.counts.note(f"{self.side.name}: begun")
        self.locking = hand.chance(25)
        self.theme = hand.one(THEMES[self.side.name])
        for _ in range(2):
            self.step(self.moves(hand).begin_with_a_document)
        if {"pay_refund", "agree_refund", "agree_refund_in_parts"} & set(self.theme):
            self.step(self.moves(hand).begin_with_money)
        self.banking = "match" in self.theme or hand.chance(40)
        if self.banking and hand.chance(40):
            self.play.tolerate(5)
        if self.banking:
            self.step(self.moves(hand).open_bank_account)

    @rule(data=DATA)
    def move(self, data: st.DataObject) -> None:
        """Make one of the possible moves."""
        self.length += 1
        hand = Hand(data)
        name = hand.one([name for name in MOVES[self.side.name] for _ in range(self.weight(name))])
        self.step(getattr(self.moves(hand), name))

    def moves(self, hand: Hand) -> BankMoves:
        """Return the moves of the side."""
        return MAKERS[self.side.name](self.play, hand)

    def weight(self, name: str) -> int:
        """Return the current weight of a move."""
        likely, asks, adds = MOVES[self.side.name][name]
        likely *= 6 if name in self.theme else 1
        if adds and len(getattr(self.play.books, adds)) >= ENOUGH[adds]:
            return 0
        return likely if not asks else self.weight_for(likely, asks)

    def weight_for(self, likely: int, kind: str) -> int:
        """Return the weight of a move that needs a record of a kind."""
        books = self.play.books
        if kind == "kept":
            return likely if self.play.caller.kept else 0
        if kind in ("locking", "banking"):
            return likely if getattr(self, kind) else 0
        if kind in KINDS:
            return likely if KINDS[kind](books) else 1
        return likely if getattr(books, kind) else 0

    def step(self, make: Callable[[], None]) -> None:
        """Make a move; if it fails, the run is not complete."""
        self.whole = False
        self.with_story(make)
        self.whole = True
        self.counts.steps += 1

    def with_story(self, make: Callable[[], None]) -> None:
        """Add the story to the failure of an undocumented answer."""
        try:
            make()
        except Divergence:
            raise
        except AssertionError as error:
            raise Divergence(self.play.story(str(error))) from error

    def teardown(self) -> None:
        """Compare everything at the end of a complete run."""
        if self.whole:
            self.with_story(self.play.close)
            self.with_story(lambda: file_the_rest(self.play))
            self.with_story(lambda: compare_reports(self.play))
            self.with_story(lambda: reconcile(self.play))
            self.with_story(lambda: compare_feed(self.play))
            self.counts.lengths[self.length] += 1
        else:
            self.counts.note("run broken off")
