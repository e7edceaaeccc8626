"""Both sides of trade: one set of builders, and the words in which the two sides differ.

Everything happens in March 2025, so that it is over whenever the tests run.
"""

from dataclasses import dataclass
from typing import Any

from tests.partnership import Business

Record = dict[str, Any]
NOBODY = "0197f0c6-0000-7000-8000-000000000000"
DAY = "2025-03-01"
"""The day in the books of what `open` makes: an invoice is sent on it, a bill is dated by it."""
SENT = f"{DAY}T09:00:00Z"
RECEIVED = "2025-03-03T09:00:00Z"
CREDITED = "2025-03-05"
CREDITED_AT = f"{CREDITED}T09:00:00Z"
PAID = "2025-03-10"


def line(unit_price: int = 1_000, quantity: Any = 1, **facts: Any) -> Record:
    """A line of an invoice or a bill."""
    return {"quantity": quantity, "unit_price": unit_price, **facts}


@dataclass(frozen=True, kw_only=True)
class Trade:
    """Sales or purchases.

    A draft is opened by `move` and is `opened` then; `at` is when `open` says that it was. `line`
    and `tax` are the accounts beside `control`, `sign` is +1 where an open document debits that
    one, and `numbers` are what its parties count it by. Of a payment, `total`, `remaining` and
    `note` are names of fields, `advance` and `fee` the accounts of what settles nothing and of
    its fee; one that is `not_live` holds nothing.
    """

    noun: str
    title: str
    numbers: tuple[str, ...]
    party: str
    fixture: str
    move: str
    opened: str
    at: str
    dated: str
    series: str
    control: str
    line: str
    tax: str
    sign: int
    total: str
    remaining: str
    note: str
    advance: str
    fee: str
    not_live: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"{self.noun}s/"

    @property
    def payments(self) -> str:
        return f"{self.path}payments/"

    @property
    def credits(self) -> str:
        return f"{self.party}-credits/"

    @property
    def moment(self) -> str:
        return f"{self.opened}_at"

    @property
    def number(self) -> str:
        return self.numbers[0]

    @property
    def words(self) -> dict[str, str]:
        """What stands in braces in a table of both sides."""
        names = ("number", "party", "opened", "moment", "dated", "at")
        return {name: getattr(self, name) for name in names}

    def named(self, facts: Record) -> Record:
        """Facts whose names have words of this side in braces."""
        return {name.format(**self.words): value for name, value in facts.items()}

    def of(self, record: Record, move: str = "") -> str:
        """The path of a document, or of a move of it."""
        return f"{self.path}{record['id']}/{move and f'{move}/'}"

    def payment_path(self, payment: Record, move: str = "") -> str:
        """The path of a payment, or of a move of it."""
        return f"{self.payments}{payment['id']}/{move and f'{move}/'}"

    def numbered(self, number: str) -> Record:
        """A document with all the numbers that it can have."""
        return {name: f"{number}-{place}" for place, name in enumerate(self.numbers)}

    def on(self, day: str) -> Record:
        """What puts a document on a day in the books."""
        return {self.moment: f"{day}T00:00:00Z"} if self is SALES else {self.dated: day}

    def posted(self, net: int, tax: int = 0) -> dict[str, int]:
        """What is posted for a document, debits first; below zero, what takes it back."""
        return self.signed({self.control: net + tax, self.line: -net, self.tax: -tax})

    def posted_payment(self, total: int, settled: int = 0, account: str = "1100") -> dict[str, int]:
        """What is posted for a payment that settles so much, and for changes of either amount."""
        return self.signed({account: total, self.control: -settled, self.advance: settled - total})

    def signed(self, amounts: dict[str, int]) -> dict[str, int]:
        """Amounts of sales as this side posts them, debits first."""
        signed = [(code, self.sign * amount) for code, amount in amounts.items() if amount]
        return dict(sorted(signed, key=lambda each: -each[1]))

    # ── Bodies ─────────────────────────────────────────────────────────────────────────────────

    def body(self, party: Record, *lines: Record, **facts: Any) -> Record:
        """A draft of one line, unless lines are given."""
        return {f"{self.party}_id": party["id"], "line_items": list(lines or (line(),)), **facts}

    def payment_body(self, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """A completed payment that settles nothing."""
        return {
            f"{self.party}_id": party["id"],
            self.total: total,
            "payment_date": PAID,
            "currency": "GBP",
            "payment_method": "bank_transfer",
            **facts,
        }

    def credit_body(self, party: Record, *lines: Record, **facts: Any) -> Record:
        """A draft of a credit of one line, unless lines are given."""
        items = list(lines or ({"amount": 1_000},))
        return {f"{self.party}_id": party["id"], "line_items": items, **facts}

    def part(self, document: Record, amount: int, **facts: Any) -> Record:
        """What a payment is to settle of a document."""
        return {f"{self.noun}_id": document["id"], "amount_cents": amount, **facts}

    def share(self, document: Record, amount: int) -> Record:
        """What a credit is to settle of a document."""
        return {f"{self.noun}_id": document["id"], "amount": amount}

    # ── Requests ───────────────────────────────────────────────────────────────────────────────

    def somebody(self, shop: Business, **facts: Any) -> Record:
        """Another customer or vendor."""
        made: Record = getattr(shop, self.party)(**facts)
        return made

    def open(self, shop: Business, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Send an invoice of one line on the first of March, or receive a bill of that day."""
        opened = {self.moment: self.at} | ({} if self is SALES else {self.dated: DAY})
        return shop.made(self.path, self.body(party, line(total), **{**opened, **facts}))

    def pay(
        self, shop: Business, party: Record, total: int, *parts: Record, **facts: Any
    ) -> Record:
        """Record a payment of the tenth of March."""
        given = self.payment_body(party, total, **{"allocations": list(parts), **facts})
        payment: Record = shop.made(self.payments, given)["payment"]
        return payment

    def change(self, shop: Business, payment: Record, **changes: Any) -> Record:
        """Change a payment; the answer is the payment."""
        answer = shop.api.patch(self.payment_path(payment), json=changes)
        assert answer.status_code == 200, answer.text
        changed: Record = answer.json()["payment"]
        return changed

    def settle(self, shop: Business, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Open a document on the first of March and have it paid on the tenth."""
        document = self.open(shop, party, total, **facts)
        self.pay(shop, party, total, self.part(document, total))
        return document

    def credit(
        self, shop: Business, party: Record, total: int, *shares: Record, **facts: Any
    ) -> Record:
        """Send or receive a credit of one line on the fifth of March."""
        opened = {self.moment: CREDITED_AT, "allocations": list(shares), **facts}
        return shop.made(self.credits, self.credit_body(party, {"amount": total}, **opened))

    def read(self, shop: Business, record: Record) -> Record:
        return read(shop, self.path, record)

    def status_of(self, shop: Business, document: Record) -> tuple[str, int]:
        """The status of a document, and what of it is outstanding."""
        shown = self.read(shop, document)
        return shown["status"], shown["outstanding_balance"]


SALES = Trade(
    noun="invoice",
    title="Invoice to",
    numbers=("invoice_number",),
    party="customer",
    fixture="buyer",
    move="send",
    opened="sent",
    at=SENT,
    dated="issue_date",
    series="INV-",
    control="1200",
    line="4000",
    tax="2200",
    sign=1,
    total="total_amount_cents",
    remaining="remaining_amount_cents",
    note="note",
    advance="2100",
    fee="6100",
    not_live=("failed", "cancelled", "refunded"),
)
PURCHASES = Trade(
    noun="bill",
    title="Bill from",
    numbers=("bill_number", "vendor_bill_number"),
    party="vendor",
    fixture="vendor",
    move="receive",
    opened="received",
    at=RECEIVED,
    dated="bill_date",
    series="BILL-",
    control="2000",
    line="6000",
    tax="1300",
    sign=-1,
    total="amount_cents",
    remaining="unallocated_amount_cents",
    note="memo",
    advance="1250",
    fee="6300",
    not_live=("failed", "cancelled"),
)


def read(shop: Business, path: str, record: Record) -> Record:
    """Read what lies under a path."""
    answer = shop.api.get(f"{path}{record['id']}/")
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown
