"""The kinds of things that happen in the demo's year, each on a day and under a name of its own."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from cli.demo.roaster import Line

Kind = Literal["bill", "payment", "credit"]

WHOLE = Fraction(1)
CARDS = ("stripe", "credit_card")
"""Methods by which money waits at the processor until it is paid out."""


@dataclass(frozen=True, slots=True)
class Invoicing:
    """An invoice is written, by the business or by a vendor, whose bill it is then.

    It is sent or received unless it stays a draft. `order` is the one it answers to, `number` what
    stands on a vendor's.
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
    """A vendor's bill comes once more, and is refused for the number on it."""

    on: date
    bill: Invoicing


@dataclass(frozen=True, slots=True)
class Paying:
    """Money is paid for invoices: a share of each, at most what is left, and perhaps too much."""

    on: date
    name: str
    party: str
    shares: tuple[tuple[str, Fraction], ...]
    method: str = "bank_transfer"
    status: str = "completed"
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Money is paid before there is an invoice for it."""

    on: date
    name: str
    party: str
    amount: int


@dataclass(frozen=True, slots=True)
class Application:
    """Money that waited is applied to invoices, as far as it goes."""

    on: date
    payment: str
    invoices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounce:
    """Money turns out not to have arrived."""

    on: date
    payment: str


@dataclass(frozen=True, slots=True)
class Voiding:
    """An invoice was a mistake."""

    on: date
    invoice: str


@dataclass(frozen=True, slots=True)
class Crediting:
    """A credit note is written, and set against invoices by the amounts named; the rest stays."""

    on: date
    name: str
    party: str
    lines: tuple[Line, ...]
    amounts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class WritingOff:
    """An invoice, or a share of what is left of it, will not be paid."""

    on: date
    name: str
    invoice: str
    memo: str
    share: Fraction = WHOLE


@dataclass(frozen=True, slots=True)
class Refunding:
    """Money is to go back to a customer, of an invoice or of a payment that settled nothing.

    Where it is paid at once, it is owed and paid on that day; else it is owed from today on.
    """

    on: date
    name: str
    of: str
    memo: str
    method: str = "BANK_TRANSFER"
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Repayment:
    """A share of what is left of a refund is paid."""

    on: date
    name: str
    refund: str
    share: Fraction = WHOLE


@dataclass(frozen=True, slots=True)
class Reclaiming:
    """A vendor agrees to give money back: an amount of a bill, of a payment, or as a credit.

    `waiting` comes with it and is not allocated yet.
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
    """What a vendor gives back is there."""

    on: date
    refund: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What a vendor was to give back does not come."""

    on: date
    refund: str


@dataclass(frozen=True, slots=True)
class PayingOut:
    """The processor pays out what came by card, less its fees; `short` is what it kept beside."""

    on: date
    name: str
    payments: tuple[str, ...]
    short: int = 0


@dataclass(frozen=True, slots=True)
class Writing:
    """An entry is written by hand, on two accounts; what an AI wrote waits to be approved."""

    on: date
    name: str
    description: str
    debit: str
    credit: str
    amount: int
    author: Literal["manual", "ai"] = "manual"


@dataclass(frozen=True, slots=True)
class Reversal:
    """An entry that was written by hand is taken back."""

    on: date
    entry: str


@dataclass(frozen=True, slots=True)
class Statement:
    """The bank's statement of the month before is sent in."""

    on: date
    name: str


Step = (
    Invoicing
    | Duplicate
    | Paying
    | Advance
    | Application
    | Bounce
    | Voiding
    | Crediting
    | WritingOff
    | Refunding
    | Repayment
    | Reclaiming
    | Arrival
    | Withdrawal
    | PayingOut
    | Writing
    | Reversal
    | Statement
)
