"""The two trades: one machine in the code, and here the words in which its two sides differ."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.bookkeeping import Ledger
from tests.handlers import bodies, buying
from tests.handlers.bodies import Record
from tests.partnership import Business

DAY = "2025-03-01"
"""The day in the books of what `open` makes: an invoice is sent on it, a bill is dated by it."""


@dataclass(frozen=True)
class Trade:
    """Sales or purchases.

    A draft is opened by `move` and is `opened` then; `at` is when `open` says that it was. `line`
    and `tax` are the accounts beside `control`, `sign` is +1 where an open document debits that
    one, and `numbers` are what its parties count it by.
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
    credits: str
    total: str
    body: Callable[..., Record]
    open: Callable[..., Record]
    pay: Callable[..., Record]
    part: Callable[..., Record]
    payment: Callable[..., Record]
    credit: Callable[..., Record]
    share: Callable[..., Record]

    @property
    def path(self) -> str:
        return f"{self.noun}s/"

    @property
    def payments(self) -> str:
        return f"{self.path}payments/"

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

    def of(self, record: Record, move: str = "") -> str:
        """The path of a document, or of a move of it."""
        return f"{self.path}{record['id']}/{move and f'{move}/'}"

    def numbered(self, number: str) -> Record:
        """A document with all the numbers that it can have."""
        return {name: f"{number}-{place}" for place, name in enumerate(self.numbers)}

    def on(self, day: str) -> Record:
        """What puts a document on a day in the books."""
        return {self.moment: f"{day}T00:00:00Z"} if self is SALES else {self.dated: day}

    def somebody(self, shop: Business, **facts: Any) -> Record:
        """Another customer or vendor."""
        made: Record = getattr(shop, self.party)(**facts)
        return made

    def posted(self, net: int, tax: int = 0) -> dict[str, int]:
        """What is posted for a document, debits first; below zero, what takes it back."""
        amounts = {self.control: net + tax, self.line: -net, self.tax: -tax}
        signed = [(code, self.sign * amount) for code, amount in amounts.items() if amount]
        return dict(sorted(signed, key=lambda each: -each[1]))

    def read(self, shop: Business, record: Record) -> Record:
        return buying.read(shop, self.path, record)


SALES = Trade(
    noun="invoice",
    title="Invoice to",
    numbers=("invoice_number",),
    party="customer",
    fixture="buyer",
    move="send",
    opened="sent",
    at=bodies.SENT,
    dated="issue_date",
    series="INV-",
    control="1200",
    line="4000",
    tax="2200",
    sign=1,
    credits="customer-credits/",
    total="total_amount_cents",
    body=bodies.invoice_body,
    open=bodies.sent,
    pay=bodies.paid,
    part=bodies.part,
    payment=bodies.payment_body,
    credit=bodies.credited,
    share=bodies.share,
)
PURCHASES = Trade(
    noun="bill",
    title="Bill from",
    numbers=("bill_number", "vendor_bill_number"),
    party="vendor",
    fixture="vendor",
    move="receive",
    opened="received",
    at=buying.RECEIVED,
    dated="bill_date",
    series="BILL-",
    control="2000",
    line="6000",
    tax="1300",
    sign=-1,
    credits="vendor-credits/",
    total="amount_cents",
    body=buying.bill_body,
    open=buying.received,
    pay=buying.paid_out,
    part=buying.part,
    payment=buying.outlay_body,
    credit=buying.returned,
    share=buying.share,
)


def refused(
    shop: Business, ledger: Ledger, method: str, path: str, **options: Any
) -> tuple[int, str]:
    """Ask for what is refused, and see that it left nothing in the books."""
    with ledger.untouched():
        answer = shop.api.request(method, path, **options)
    assert answer.status_code >= 400, answer.text
    return answer.status_code, answer.json()["error_code"]
