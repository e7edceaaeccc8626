"""Short samples of openings on 31 January 2026."""

from dataclasses import replace
from typing import Any

from accounting.books.accounts import AccountReference
from accounting.books.chart import CONTROL_ROLES, STARTING_CHART
from accounting.books.commands import EntryLineGiven
from accounting.opening.commands import (
    OpenBooks,
    OpenCreditGiven,
    OpenDocumentGiven,
    OpenTaxGiven,
    OpenWithSide,
    PrepaymentGiven,
)
from accounting.opening.opening_changes import OpeningContext, open_books
from accounting.opening.openings import OpenedBooks
from accounting.trade.parties import PartyNamed
from tests.accounting.samples import ACME, NAMED, OTHER, ROLES, context_of, day, moment
from tests.accounting.trade.test_coded_documents import CODES

ON = day("31")
TODAY = "2-10"
BUYER, MILLER = PartyNamed(ACME.id), PartyNamed(OTHER.id)
TYPES = {each.code: each.account_type for each in STARTING_CHART}
ACCOUNTS = {each.id: replace(each, account_type=TYPES[each.code]) for each in NAMED.values()}
BY_ID = {AccountReference("id", ROLES[role]): ACCOUNTS[ROLES[role]] for role in CONTROL_ROLES}
KNOWN = OpeningContext(ROLES, {**NAMED, **BY_ID}, CODES, {BUYER: ACME}, {MILLER: OTHER})


def balance(code: str, amount: int) -> EntryLineGiven:
    """Create a balance of an account; a debit is positive."""
    return EntryLineGiven(AccountReference("code", code), amount)


def by_code(tax_code: str, net: int, tax: int = 0) -> OpenTaxGiven:
    """Create the open net and tax of one tax code."""
    return OpenTaxGiven(place="invoices.0.tax.0", tax_code=tax_code, net=net, tax=tax)


def owed(amount: int, party: PartyNamed = BUYER, **facts: Any) -> OpenDocumentGiven:
    """Create a document of 10 January with an amount owed."""
    place = {"place": "invoices.0", "number": "A-1", **facts}
    return OpenDocumentGiven(party=party, amount=amount, **{"issue_date": day("10"), **place})


def credited(amount: int, party: PartyNamed = BUYER, **facts: Any) -> OpenCreditGiven:
    """Create a credit of 11 January with an amount left."""
    given = {"place": "customer_credits.0", "number": "C-1", "opened_at": moment("11"), **facts}
    return OpenCreditGiven(party=party, amount=amount, **given)


def prepaid(amount: int, party: PartyNamed = BUYER, **facts: Any) -> PrepaymentGiven:
    """Create a prepayment of 12 January with an amount left."""
    given = {"place": "prepayments.0", "payment_date": day("12"), **facts}
    return PrepaymentGiven(party=party, amount=amount, **given)


def command(*accounts: EntryLineGiven, **sides: OpenWithSide) -> OpenBooks:
    given = {"sales": OpenWithSide(), "purchases": OpenWithSide(), **sides}
    return OpenBooks(on=ON, accounts=accounts, **given)


def opened(*accounts: EntryLineGiven, timezone: str = "UTC", **sides: OpenWithSide) -> OpenedBooks:
    context = context_of(TODAY, timezone=timezone)
    return open_books(command(*accounts, **sides), KNOWN, context)


def all_opened() -> OpenedBooks:
    """Open a bank of 500, capital of 100, and 120, 20, 7 of a customer and 80, 8, 3 of a vendor."""
    return opened(
        balance("1100", 500),
        balance("1200", 120),
        balance("3000", -100),
        sales=OpenWithSide(
            documents=(owed(120),), credits=(credited(20),), prepayments=(prepaid(7),)
        ),
        purchases=OpenWithSide(
            documents=(owed(80, MILLER),),
            credits=(credited(8, MILLER),),
            prepayments=(prepaid(3, MILLER),),
        ),
    )
