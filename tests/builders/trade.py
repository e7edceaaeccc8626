"""Both sides of trade: one set of builders, and the names by which the two sides differ.

All dates are in March 2025, so that every period is over when the tests run.
"""

from dataclasses import dataclass
from typing import Any

from tests.partner import Business

Record = dict[str, Any]
NOBODY = "0197f0c6-0000-7000-8000-000000000000"
DAY = "2025-03-01"
"""The date in the books of a document of `open`: of sending an invoice, or of a bill."""
SENT = f"{DAY}T09:00:00Z"
RECEIVED = "2025-03-03T09:00:00Z"
CREDITED = "2025-03-05"
CREDITED_AT = f"{CREDITED}T09:00:00Z"
PAID = "2025-03-10"


def unwarned(shown: Any) -> Any:
    """Return an answer without its warnings that a body differs from the existing record."""
    if isinstance(shown, dict):
        return {name: unwarned(each) for name, each in shown.items()}
    if isinstance(shown, list):
        return [
            unwarned(each)
            for each in shown
            if not (isinstance(each, dict) and "differs from" in each.get("message", ""))
        ]
    return shown


def line(unit_price: int = 1_000, quantity: Any = 1, **facts: Any) -> Record:
    """Return a line of an invoice or a bill."""
    return {"quantity": quantity, "unit_price": unit_price, **facts}


@dataclass(frozen=True, kw_only=True)
class Trade:
    """Sales or purchases, by their names of fields, paths and accounts.

    The request `move` opens a draft; its status is then `opened`, and `at` is the moment that
    `open` sends. `line` and `tax` are the accounts posted with `control`. `sign` is 1 where an open
    document debits `control`, else -1. `numbers` are the fields of a document's numbers.

    `total`, `remaining` and `note` are fields of a payment. `advance` is the account of its
    unallocated amount and `fee` that of its fee. A payment with a status of `not_live` settles
    nothing. `given_up` is the account of write-offs.

    `credit_control` and `credit_line` are the accounts of a credit, and `account_field` names the
    field for the account of its lines.
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
    given_up: str

    credit_noun: str
    credit_title: str
    credit_series: str
    credit_control: str
    credit_line: str
    credit_allocations: str
    account_field: str

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
    def parties(self) -> str:
        return f"{self.party}s/"

    @property
    def sells(self) -> bool:
        return self.sign > 0

    @property
    def other_side(self) -> "Trade":
        return PURCHASES if self.sells else SALES

    @property
    def moment(self) -> str:
        return f"{self.opened}_at"

    @property
    def number(self) -> str:
        return self.numbers[0]

    @property
    def credit_number(self) -> str:
        return f"{self.credit_noun}_number"

    @property
    def source(self) -> str:
        """Return the field of a credit that names its source document."""
        return f"source_{self.noun}_id"

    @property
    def words(self) -> dict[str, str]:
        """Return the names that replace the braces in a table for both sides."""
        names = ("number", "party", "opened", "moment", "dated", "at")
        of_credits = ("noun", "source", "credit_number", "account_field")
        return {name: getattr(self, name) for name in (*names, *of_credits)}

    def named(self, facts: Any) -> Any:
        """Return the facts of a table for both sides with the names of this side."""
        if isinstance(facts, dict):
            return {self.named(name): self.named(value) for name, value in facts.items()}
        if isinstance(facts, list):
            return [self.named(each) for each in facts]
        return facts.format(**self.words) if isinstance(facts, str) else facts

    def of(self, record: Record, move: str = "") -> str:
        """Return the path of a document, or of an action on it."""
        return under(self.path, record, move)

    @property
    def write_off_source(self) -> str:
        """Return the source that entries of write-offs name."""
        return "write_off" if self.sells else "bill_write_off"

    @property
    def payment_allocations(self) -> str:
        """Return the field of a document that lists its payments."""
        return "payment_allocations" if self.sells else "bill_payment_allocations"

    def of_party(self, record: Record, move: str = "") -> str:
        return under(self.parties, record, move)

    def of_credit(self, record: Record, move: str = "") -> str:
        return under(self.credits, record, move)

    def of_payment(self, payment: Record, move: str = "") -> str:
        return under(self.payments, payment, move)

    def credit_amounts(self, shop: Business, credit: Record) -> tuple[str, int, int, int]:
        """Return the status of a credit, and its applied, refunded and unapplied amounts."""
        shown = shop.api.get(self.of_credit(credit)).json()
        names = ("applied_amount", "refunded_amount", "unapplied_amount")
        applied, refunded, unapplied = (shown[name] for name in names)
        return shown["status"], applied, refunded, unapplied

    def numbered(self, number: str) -> Record:
        """Return every number field that a document can have."""
        return {name: f"{number}-{place}" for place, name in enumerate(self.numbers)}

    def on(self, day: str) -> Record:
        """Return the field that sets the date of a document in the books."""
        return {self.moment: f"{day}T00:00:00Z"} if self.sells else {self.dated: day}

    def posted(self, net: int, tax: int = 0) -> dict[str, int]:
        """Return the amounts posted for a document, debits first; below zero, their reversal."""
        return self.signed({self.control: net + tax, self.line: -net, self.tax: -tax})

    def posted_by_credit(self, net: int) -> dict[str, int]:
        """Return the amounts posted for a credit without tax, debits first."""
        return self.signed({self.credit_control: -net, self.credit_line: net})

    def posted_by_applying(self, amount: int) -> dict[str, int]:
        """Return the amounts posted when a credit is applied, or released where below zero."""
        return self.signed({self.credit_control: amount, self.control: -amount})

    def posted_by_write_off(self, amount: int, account: str = "") -> dict[str, int]:
        """Return the amounts posted for a write-off to an account, by default `given_up`."""
        return self.signed({account or self.given_up: amount, self.control: -amount})

    def posted_payment(self, total: int, settled: int = 0, account: str = "1100") -> dict[str, int]:
        """Return the amounts posted for a payment of `total`, `settled` of it to documents.

        Both may be changes of these amounts.
        """
        return self.signed({account: total, self.control: -settled, self.advance: settled - total})

    def signed(self, amounts: dict[str, int]) -> dict[str, int]:
        """Return amounts of sales with the sign of this side: debits first, without zeros."""
        signed = [(code, self.sign * amount) for code, amount in amounts.items() if amount]
        return dict(sorted(signed, key=lambda each: -each[1]))

    # ── Bodies ─────────────────────────────────────────────────────────────────────────────────

    def body(self, party: Record, *lines: Record, **facts: Any) -> Record:
        """Return the body of a draft, with one line unless lines are given."""
        return {f"{self.party}_id": party["id"], "line_items": list(lines or (line(),)), **facts}

    def payment_body(self, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Return the body of a completed payment that settles nothing."""
        return {
            f"{self.party}_id": party["id"],
            self.total: total,
            "payment_date": PAID,
            "currency": "GBP",
            "payment_method": "bank_transfer",
            **facts,
        }

    def credit_body(self, party: Record, *lines: Record, **facts: Any) -> Record:
        """Return the body of a draft credit, with one line unless lines are given."""
        items = list(lines or ({"amount": 1_000},))
        return {f"{self.party}_id": party["id"], "line_items": items, **facts}

    def part(self, document: Record, amount: int, **facts: Any) -> Record:
        """Return the allocation of a payment to a document."""
        return {f"{self.noun}_id": document["id"], "amount_cents": amount, **facts}

    def share(self, document: Record, amount: int) -> Record:
        """Return the allocation of a credit to a document."""
        return {f"{self.noun}_id": document["id"], "amount": amount}

    # ── Requests ───────────────────────────────────────────────────────────────────────────────

    def somebody(self, shop: Business, **facts: Any) -> Record:
        """Create a customer or vendor."""
        made: Record = getattr(shop, self.party)(**facts)
        return made

    def draft(self, shop: Business, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Create a draft of one line."""
        return shop.made(self.path, self.body(party, line(total), **facts))

    def open(self, shop: Business, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Send an invoice of one line on 1 March, or receive a bill of that day."""
        opened = {self.moment: self.at} | ({} if self.sells else {self.dated: DAY})
        return shop.made(self.path, self.body(party, line(total), **{**opened, **facts}))

    def pay(
        self, shop: Business, party: Record, total: int, *parts: Record, **facts: Any
    ) -> Record:
        """Record a payment of 10 March."""
        given = self.payment_body(party, total, **{"allocations": list(parts), **facts})
        payment: Record = shop.made(self.payments, given)["payment"]
        return payment

    def change(self, shop: Business, payment: Record, **changes: Any) -> Record:
        """Change a payment; return it."""
        answer = shop.api.patch(self.of_payment(payment), json=changes)
        assert answer.status_code == 200, answer.text
        changed: Record = answer.json()["payment"]
        return changed

    def settle(self, shop: Business, party: Record, total: int = 1_000, **facts: Any) -> Record:
        """Open a document on 1 March and pay it on 10 March."""
        document = self.open(shop, party, total, **facts)
        self.pay(shop, party, total, self.part(document, total))
        return document

    def credit(
        self, shop: Business, party: Record, total: int, *shares: Record, **facts: Any
    ) -> Record:
        """Send or receive a credit of one line on 5 March."""
        opened = {self.moment: CREDITED_AT, "allocations": list(shares), **facts}
        return shop.made(self.credits, self.credit_body(party, {"amount": total}, **opened))

    def write_off(self, shop: Business, document: Record, **facts: Any) -> Record:
        """Write off the outstanding amount of a document, or a part; return the document."""
        return shop.made(self.of(document, "write-offs"), facts)

    def read(self, shop: Business, record: Record) -> Record:
        return read(shop, self.path, record)

    def status_of(self, shop: Business, document: Record) -> tuple[str, int]:
        """Return the status and the outstanding amount of a document."""
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
    credit_noun="credit_note",
    credit_title="Credit note to",
    credit_series="CN-",
    credit_control="2250",
    credit_line="4100",
    credit_allocations="credit_allocations",
    account_field="revenue_account_identifier",
    remaining="remaining_amount_cents",
    note="note",
    advance="2100",
    fee="6100",
    not_live=("failed", "cancelled", "refunded"),
    given_up="6200",
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
    credit_noun="vendor_credit",
    credit_title="Credit from",
    credit_series="VC-",
    credit_control="1260",
    credit_line="5100",
    credit_allocations="vendor_credit_allocations",
    account_field="expense_account_identifier",
    remaining="unallocated_amount_cents",
    note="memo",
    advance="1250",
    fee="6300",
    not_live=("failed", "cancelled"),
    given_up="4500",
)


def under(path: str, record: Record, move: str = "") -> str:
    """Return the path of a record below `path`, or of an action on it."""
    return f"{path}{record['id']}/{move and f'{move}/'}"


def read(shop: Business, path: str, record: Record) -> Record:
    """Return a record below `path`."""
    answer = shop.api.get(under(path, record))
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown
