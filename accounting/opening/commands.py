"""Commands on the opening of books; amounts are in minor units."""

from dataclasses import dataclass
from datetime import date, datetime

from accounting.books.accounts import AccountReference
from accounting.books.commands import EntryLineGiven
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth
from accounting.trade.parties import PartyNamed


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """An open item of a customer or vendor; `amount` is the amount that remains.

    `worth` is the exchange rate, or the base amount that remains, of an item in a foreign currency.
    `place` is its path in the request, such as `invoices.3`.
    """

    place: str
    party: PartyNamed
    amount: int
    external_id: str | None = None
    memo: str | None = None
    currency: str | None = None
    worth: GivenWorth = NO_WORTH_GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTaxGiven:
    """The part of an open item that a tax code taxes: the net, and the tax as it is given."""

    place: str
    tax_code: str
    net: int
    tax: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAccountGiven:
    """The net of an open item that counts on an account when the item is settled."""

    place: str
    account: AccountReference
    net: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTaxedItem(OpenItem):
    """An open item that may be given by tax code; else these books do not declare its tax.

    With `accounts`, its net is income or cost on these on the cash basis; else it is on equity.
    """

    taxes: tuple[OpenTaxGiven, ...] = ()
    accounts: tuple[OpenAccountGiven, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenDocumentGiven(OpenTaxedItem):
    """An invoice or bill with an outstanding amount; `opened_at` defaults to its issue date.

    `party_number` is the number that a vendor gave it.
    """

    issue_date: date
    number: str | None = None
    party_number: str | None = None
    opened_at: datetime | None = None
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCreditGiven(OpenTaxedItem):
    """A credit with an unapplied amount."""

    opened_at: datetime
    number: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepaymentGiven(OpenItem):
    """Money that was received or paid in advance, and has settled nothing yet."""

    payment_date: date
    method: str = "bank_transfer"
    reference: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWithSide:
    """The open items with customers, or with vendors."""

    documents: tuple[OpenDocumentGiven, ...] = ()
    credits: tuple[OpenCreditGiven, ...] = ()
    prepayments: tuple[PrepaymentGiven, ...] = ()

    @property
    def items(self) -> tuple[OpenItem, ...]:
        """The open items in one tuple."""
        return (*self.taxed, *self.prepayments)

    @property
    def parties(self) -> dict[PartyNamed, str]:
        """The customers or vendors, each with the path of the first item that names it."""
        return {each.party: each.place for each in reversed(self.items)}

    @property
    def taxed(self) -> tuple[OpenTaxedItem, ...]:
        """The documents and credits in one tuple."""
        return (*self.documents, *self.credits)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBooks:
    """The opening of books on a day: account balances, and the open items of both sides."""

    on: date
    accounts: tuple[EntryLineGiven, ...] = ()
    sales: OpenWithSide
    purchases: OpenWithSide
    memo: str | None = None
