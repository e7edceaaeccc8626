"""The kinds of steps in the demo's year, each with its date and its own name."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from cli.demo.roaster import Line

Kind = Literal["bill", "payment", "credit"]

WHOLE = Fraction(1)
CARDS = ("stripe", "credit_card")
"""Payment methods whose money stays with the processor until a payout."""


@dataclass(frozen=True, slots=True)
class NewInvoice:
    """An invoice to a customer, or a vendor's bill.

    It is sent or received unless it stays a draft. `order` is the customer's order number, `number`
    the vendor's bill number.
    """

    on: date
    name: str
    party: str
    lines: tuple[Line, ...]
    additional_discount: int = 0
    draft: bool = False
    order: str | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A vendor's bill that arrives again, and is rejected because of its number."""

    on: date
    bill: NewInvoice


@dataclass(frozen=True, slots=True)
class NewPayment:
    """A payment of invoices: a share of the remaining amount of each, and perhaps a surplus."""

    on: date
    name: str
    party: str
    shares: tuple[tuple[str, Fraction], ...]
    method: str = "bank_transfer"
    status: str = "completed"
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """A payment before there is an invoice for it."""

    on: date
    name: str
    party: str
    amount: int


@dataclass(frozen=True, slots=True)
class Application:
    """The unapplied amount of a payment, allocated to invoices until it is used up."""

    on: date
    payment: str
    invoices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounce:
    """A payment that fails after it was recorded."""

    on: date
    payment: str


@dataclass(frozen=True, slots=True)
class VoidedInvoice:
    """An invoice that was a mistake."""

    on: date
    invoice: str


@dataclass(frozen=True, slots=True)
class NewCredit:
    """A credit note; `amounts` are allocated to invoices, and the rest stays unapplied."""

    on: date
    name: str
    party: str
    lines: tuple[Line, ...]
    amounts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class WritingOff:
    """The write-off of an invoice, or of a share of its remaining amount."""

    on: date
    name: str
    invoice: str
    memo: str
    share: Fraction = WHOLE


@dataclass(frozen=True, slots=True)
class NewRefund:
    """A refund to a customer: of an invoice, or of a payment that settled nothing.

    With `at_once` the refund is due and paid on that day; otherwise it is owed from today on.
    """

    on: date
    name: str
    of: str
    memo: str
    method: str = "BANK_TRANSFER"
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Repayment:
    """A payment of a share of the remaining amount of a refund."""

    on: date
    name: str
    refund: str
    share: Fraction = WHOLE


@dataclass(frozen=True, slots=True)
class VendorRefundClaim:
    """A refund that a vendor agrees to: of a bill, of a payment, or as a credit.

    `waiting` is an additional amount that is not allocated yet.
    """

    on: date
    name: str
    vendor: str
    kind: Kind
    of: str | None
    amount: int
    refund_type: str
    reason: str
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Arrival:
    """The receipt of a vendor's refund."""

    on: date
    refund: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """The cancellation of a vendor's refund."""

    on: date
    refund: str


@dataclass(frozen=True, slots=True)
class PayingOut:
    """A payout of card payments by the processor, less fees; `short` is an unexplained part."""

    on: date
    name: str
    payments: tuple[str, ...]
    short: int = 0


@dataclass(frozen=True, slots=True)
class ManualEntry:
    """A manual journal entry on two accounts; an entry by an AI waits for approval."""

    on: date
    name: str
    description: str
    debit: str
    credit: str
    amount: int
    author: Literal["manual", "ai"] = "manual"


@dataclass(frozen=True, slots=True)
class Reversal:
    """The reversal of a manual journal entry."""

    on: date
    entry: str


@dataclass(frozen=True, slots=True)
class Statement:
    """The bank statement of the previous month."""

    on: date
    name: str


Step = (
    NewInvoice
    | Duplicate
    | NewPayment
    | Advance
    | Application
    | Bounce
    | VoidedInvoice
    | NewCredit
    | WritingOff
    | NewRefund
    | Repayment
    | VendorRefundClaim
    | Arrival
    | Withdrawal
    | PayingOut
    | ManualEntry
    | Reversal
    | Statement
)
