"""The kinds of things that happen in the demo's year, each on a day and under a name of its own."""

from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from cli.demo_roaster import Line

WHOLE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Invoicing:
    """An invoice is written, and sent unless it stays a draft; with the order it answers to."""

    on: date
    name: str
    customer: str
    lines: tuple[Line, ...]
    additional_discount: int = 0
    draft: bool = False
    order: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Money comes for invoices: a share of each, at most what is left, and perhaps too much."""

    on: date
    name: str
    customer: str
    shares: tuple[tuple[str, Fraction], ...]
    method: str = "bank_transfer"
    status: str = "completed"
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class Advance:
    """Money comes before there is an invoice for it."""

    on: date
    name: str
    customer: str
    amount: int


@dataclass(frozen=True, slots=True)
class Application:
    """Money that waited is applied to invoices, as far as it goes."""

    on: date
    payment: str
    invoices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bounce:
    """Money turns out not to have come."""

    on: date
    receipt: str


@dataclass(frozen=True, slots=True)
class Voiding:
    """An invoice was a mistake."""

    on: date
    invoice: str


@dataclass(frozen=True, slots=True)
class Crediting:
    """A credit note is sent, and set against invoices by the amounts named; the rest stays."""

    on: date
    name: str
    customer: str
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
    """Money is to go back, of an invoice or of a payment that settled nothing.

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


Step = (
    Invoicing
    | Receipt
    | Advance
    | Application
    | Bounce
    | Voiding
    | Crediting
    | WritingOff
    | Refunding
    | Repayment
)
