"""Returns of consecutive periods together declare each amount of tax once.

On any schemes and in any order, provided that all documents are settled with money.
"""

from collections import defaultdict
from collections.abc import Iterable
from random import Random

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import credit, marked, moved, taxed
from tests.builders.openings import opened
from tests.builders.sales import refund_paid, refunded
from tests.builders.tax_returns import (
    RETURNS,
    codes,
    drawn_up,
    explain_themselves,
    filed,
    lines,
    return_body,
    superseding,
)
from tests.builders.taxed_quarters import bought, of, paid, sold
from tests.builders.trade import PURCHASES, SALES, Record, Trade, read
from tests.clock import today
from tests.partner import Business

CODES = ("S20", "S5", "S0")
SCHEMES = ("accrual", "cash")
TAX_PARTS = ("output", "input", "relief")
BOUGHT = ("P20", "P5", "PA20", "PG20")


def moved_by_part(ledger: Ledger) -> dict[tuple[str, str], int]:
    """Return the amounts of all lines with a code, by code and part; debits are positive."""
    found = ledger.ask(
        "SELECT c.code, l.tax_part, sum(l.debit - l.credit)::bigint"
        " FROM journal_line l JOIN tax_code c"
        " ON c.business_id = l.business_id AND c.id = l.tax_code_id"
        " WHERE l.business_id = %(business)s GROUP BY 1, 2 HAVING sum(l.debit - l.credit) <> 0"
    )
    return {(code, part): int(amount) for code, part, amount in found}


def declared_by(returns: Iterable[Record]) -> dict[tuple[str, str], int]:
    """Return the same amounts, from returns."""
    total: dict[tuple[str, str], int] = defaultdict(int)
    for each in returns:
        for code, parts in codes(each["codes"]).items():
            for part, amount in parts.items():
                is_credit = part == "output" or (part == "net" and code.startswith("S"))
                total[code, part] += -amount if is_credit else amount
    return {key: amount for key, amount in total.items() if amount}


def brought_by(lines: list[Record]) -> dict[tuple[str, str], int]:
    """Return the same amounts, from the lines of a return."""
    total: dict[tuple[str, str], int] = defaultdict(int)
    for share in (share for line in lines for share in line["shares"]):
        key = share["tax_code"], share["tax_part"]
        total[key] += share["debit_amount"] - share["credit_amount"]
    return {key: amount for key, amount in total.items() if amount}


class TradeHistory:
    """A random history of documents on both sides, without write-offs."""

    def __init__(self, books: Business, lots: Random) -> None:
        self.books, self.lots = books, lots
        self.documents: list[tuple[Trade, Record]] = []
        self.credits: list[Record] = []
        self.payments: list[tuple[Trade, Record]] = []

    def on(self) -> str:
        return f"2025-0{self.lots.randint(1, 9)}-{self.lots.randint(1, 28):02d}"

    def go_on(self) -> None:
        """Perform a random step: a document, payment, credit, entry, failure or void."""
        twice = (self.open, self.open, self.pay, self.pay)
        self.lots.choice((*twice, self.credit, self.undo, self.enter))()

    def open(self) -> None:
        net, lots = self.lots.randint(100, 99_999), self.lots
        if lots.random() < 0.5:
            invoice = sold(self.books, self.on(), of(lots.choice(CODES), net), of("S5", 777))
            self.documents.append((SALES, invoice))
        else:
            bill = bought(self.books, self.on(), of(lots.choice(BOUGHT), net), of("P5", 333))
            self.documents.append((PURCHASES, bill))

    def pay(self, *, whole: bool = False) -> None:
        """Pay a part of a document, or all of it."""
        for side, document in self.lots.sample(self.documents, min(1, len(self.documents))):
            left = side.status_of(self.books, document)[1]
            amount = left if whole else self.lots.randint(0, left)
            if amount:
                self.payments.append((side, paid(self.books, document, amount, self.on())))

    def credit(self) -> None:
        """Credit a part of an invoice, and apply the credit to it where it fits."""
        sales = [each for side, each in self.documents if side is SALES]
        for invoice in self.lots.sample(sales, min(1, len(sales))):
            net = max(invoice["line_items"][0]["subtotal"] // 5, 1)
            item = {"amount": net, "tax_code": self.lots.choice(CODES)}
            facts: Record = {"sent_at": f"{self.on()}T09:00:00Z"}
            left = SALES.status_of(self.books, invoice)[1]
            if self.lots.random() < 0.5 and left:
                facts["allocations"] = [SALES.share(invoice, min(left, net))]
            body = SALES.credit_body(invoice["customer"], item, **facts)
            self.credits.append(self.books.made(SALES.credits, body))

    def enter(self) -> None:
        """Post an entry with output tax, and sometimes reverse it."""
        on, net = self.on(), self.lots.randint(1_000, 99_999)
        lines = marked("2200", -net, "S20", "output"), credit("4000", net, tax_code="S20")
        entry = taxed(self.books, on, *lines)
        if self.lots.random() < 0.5:
            moved(self.books, entry, "reverse", json={"entry_date": on})

    def undo(self) -> None:
        """Fail a payment, or void an unpaid document."""
        if self.payments and self.lots.random() < 0.5:
            side, payment = self.payments.pop(self.lots.randrange(len(self.payments)))
            side.change(self.books, payment, status="failed")
        elif self.documents:
            side, document = self.lots.choice(self.documents)
            day = f"{self.on()}T09:00:00Z"
            answer = self.books.api.post(side.of(document, "void"), json={"voided_at": day})
            if answer.status_code == 200:
                self.documents.remove((side, document))

    def settle(self) -> None:
        """Pay all open amounts, and refund the unapplied amounts of credits."""
        for side, document in self.documents:
            left = side.status_of(self.books, document)[1]
            if left:
                paid(self.books, document, left, self.on())
        for each in self.credits:
            left = read(self.books, "customer-credits/", each)["unapplied_amount"]
            if left:
                refund = refunded(self.books, each, amount_cents=left)
                refund_paid(self.books, refund)


class TestFileTaxReturn:
    @pytest.mark.parametrize("seed", range(8))
    def test_on_any_schemes_what_is_settled_is_declared_once(
        self, books: Business, api_server: ApiServer, seed: int
    ) -> None:
        lots, ledger = Random(seed), Ledger(api_server, books)
        trading, returns = TradeHistory(books, lots), dict[int, Record]()
        for quarter in (1, 2, 3):
            for _ in range(6):
                trading.go_on()
            scheme = lots.choice(SCHEMES)
            returns[quarter] = filed(books, drawn_up(books, quarter, scheme))
            if lots.random() < 0.5:
                for _ in range(3):
                    trading.go_on()
                place = lots.randint(1, quarter)
                returns[place] = filed(books, superseding(books, returns[place]))
        for _ in range(4):
            trading.go_on()
        trading.settle()
        last = return_body(4, lots.choice(SCHEMES), end_date=str(today()))
        returns[4] = filed(books, books.made(RETURNS, last))
        for each in returns.values():
            assert brought_by(lines(books, each)) == declared_by([each])
            explain_themselves(books, each)
        posted = moved_by_part(ledger)
        assert declared_by(returns.values()) == posted
        owed = -sum(amount for (_, part), amount in posted.items() if part in TAX_PARTS)
        assert sum(each["tax_due_cents"] for each in returns.values()) == owed

    def test_the_entry_that_opens_the_books_is_in_none(self, books: Business) -> None:
        opened(books, date="2025-01-01")
        draft = drawn_up(books)
        assert (codes(draft["codes"]), draft["uncoded"]) == ({}, [])
        taxed(books, "2025-01-01", credit("4000", 500, tax_code="S20"))
        assert codes(drawn_up(books)["codes"]) == {"S20": {"net": 500}}
