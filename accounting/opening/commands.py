"""What callers ask of the opening of books, in the words of the rules. Amounts are minor units."""

from dataclasses import dataclass
from datetime import date, datetime

from accounting.books.commands import EntryLineGiven
from accounting.trade.party_details import PartyNamed


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """Something that is open with a customer or vendor; `amount` is what is left of it.

    `place` is where it stands in the request, as `invoices.3`.
    """

    place: str
    party: PartyNamed
    amount: int
    external_id: str | None = None
    memo: str | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTaxGiven:
    """What of something that is open a tax code taxes: net, and the tax on it as it is given."""

    place: str
    tax_code: str
    net: int
    tax: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTaxedItem(OpenItem):
    """Something that is open and may say all of it by tax code; else its tax is not for here."""

    taxes: tuple[OpenTaxGiven, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocumentGiven(OpenTaxedItem):
    """An invoice or bill of which something is still owed; without a moment it opened on its day.

    `party_number` is the number that a vendor gave it.
    """

    issue_date: date
    number: str | None = None
    party_number: str | None = None
    opened_at: datetime | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCreditGiven(OpenTaxedItem):
    """A credit of which something is not applied yet."""

    opened_at: datetime
    number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepaymentGiven(OpenItem):
    """Money that came or went in advance, and has settled nothing yet."""

    payment_date: date
    method: str = "bank_transfer"
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWithSide:
    """All that is open with customers, or with vendors."""

    documents: tuple[OpenDocumentGiven, ...] = ()
    credits: tuple[OpenCreditGiven, ...] = ()
    prepayments: tuple[PrepaymentGiven, ...] = ()

    @property
    def items(self) -> tuple[OpenItem, ...]:
        """All of it in one row."""
        return (*self.documents, *self.credits, *self.prepayments)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBooks:
    """Opens the books on a day: balances of accounts, and what is open with both sides."""

    on: date
    accounts: tuple[EntryLineGiven, ...] = ()
    sales: OpenWithSide
    purchases: OpenWithSide
    memo: str | None = None
