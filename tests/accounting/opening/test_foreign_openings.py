"""Openings with items and accounts in a foreign currency; the books are in GBP."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest

from accounting.books.accounts import AccountReference
from accounting.books.chart import Role
from accounting.books.commands import EntryLineGiven
from accounting.books.exchange_rates import KnownRates
from accounting.books.foreign import Worth, in_base
from accounting.books.ledger import Entry
from accounting.books.record_rates import GivenWorth
from accounting.opening import openings
from accounting.opening.commands import OpenWithSide
from accounting.opening.opening_changes import open_books, reverse
from accounting.opening.openings import OpenedBooks, refuse_untied, ties, totals
from accounting.trade import credits, documents, postings
from accounting.trade.postings import Subject
from accounting.trade.sides import PAYABLE, RECEIVABLE
from tests.accounting.opening.samples import (
    ACCOUNTS,
    KNOWN,
    MILLER,
    TODAY,
    balance,
    by_code,
    command,
    credited,
    owed,
    prepaid,
)
from tests.accounting.samples import (
    ROLES,
    account,
    account_id,
    amounts,
    code_of,
    context_of,
    rates_on,
    refusal_of,
)
from tests.accounting.trade.business import Trade

DOLLARS = replace(account("1101"), currency="USD")
KNOWN_HERE = replace(KNOWN, named={**KNOWN.named, AccountReference("code", "1101"): DOLLARS})
RATES = rates_on("30", USD="1.25")


def opened(*accounts: EntryLineGiven, **sides: OpenWithSide) -> OpenedBooks:
    context = replace(context_of(TODAY), rates=RATES)
    return open_books(command(*accounts, **sides), KNOWN_HERE, context)


def at(rate: str) -> dict[str, Any]:
    """Return the currency and the rate of an item."""
    return {"currency": "USD", "worth": GivenWorth(exchange_rate=Decimal(rate))}


def worth(base: int) -> dict[str, Any]:
    """Return the currency and the base amount of an item."""
    return {"currency": "USD", "worth": GivenWorth(base_amount=base)}


def in_bank(base: int, own: int | None, currency: str | None = None) -> EntryLineGiven:
    reference = AccountReference("code", "1101")
    return EntryLineGiven(reference, base, currency=currency, currency_amount=own)


def entries(made: OpenedBooks) -> list[Entry]:
    found = openings.entries_for(made.opening, ROLES, None)
    for side, mine in ((RECEIVABLE, made.sales), (PAYABLE, made.purchases)):
        subjects: tuple[Subject, ...] = (*mine.documents, *mine.credits, *mine.payments)
        for each in subjects:
            found += postings.entries_for(side, each, ROLES, None)
    return found


def own_amounts(entry: Entry) -> dict[str, int | None]:
    return {code_of(each.account_id): each.currency_amount for each in entry.lines}


class TestItems:
    def test_a_document_is_worth_its_rate(self) -> None:
        given = owed(12_000, taxes=(by_code("S20", 10_000, 2_000),), **at("0.91234"))
        made = opened(sales=OpenWithSide(documents=(given,)))
        [invoice], [entry] = made.sales.documents, entries(made)
        assert amounts(entry) == {"1200": 10_948, "3290": -10_948}
        assert own_amounts(entry) == {"1200": 12_000, "3290": -12_000}
        parts = documents.parts(invoice)
        assert [(int(each), in_base(each)) for each in parts.values()] == [
            (10_000, 9_123),
            (2_000, 1_825),
        ]
        [equity] = [each for each in entry.lines if each.amount < 0]
        assert [share for _, share in equity.split] == [-9_123, -1_825]
        assert documents.base_outstanding(invoice) == 10_948

    def test_a_base_amount_stands_and_its_rate_is_exact(self) -> None:
        made = opened(sales=OpenWithSide(documents=(owed(3, **worth(1)),)))
        [invoice] = made.sales.documents
        assert invoice.worth == Worth("USD", Fraction(1, 3), 1)
        assert amounts(entries(made)[0]) == {"1200": 1, "3290": -1}

    def test_without_a_rate_it_has_that_of_the_day_of_the_opening(self) -> None:
        given = owed(10_000, MILLER, currency="USD")
        made = opened(purchases=OpenWithSide(documents=(given,)))
        assert amounts(entries(made)[0]) == {"3290": 8_000, "2000": -8_000}

    def test_a_credit_and_a_prepayment(self) -> None:
        given = credited(12_000, taxes=(by_code("S20", 10_000, 2_000),), **at("0.91234"))
        sales = OpenWithSide(credits=(given,), prepayments=(prepaid(10_000, **at("0.95")),))
        made = opened(sales=sales)
        assert [amounts(entry) for entry in entries(made)] == [
            {"3290": 10_948, "2250": -10_948},
            {"3290": 9_500, "2100": -9_500},
        ]
        [credit], [payment] = made.sales.credits, made.sales.payments
        assert [in_base(each) for each in credits.parts(credit).values()] == [9_123, 1_825]
        assert (payment.currency, in_base(payment.whole)) == ("USD", 9_500)

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"currency": "GBP", "worth": GivenWorth(Decimal(2))}, "exchange_rate_not_needed"),
            ({"currency": "SEK"}, "exchange_rate_missing"),
            ({"currency": "USD", "worth": GivenWorth(Decimal(2), 5)}, "exchange_rate_mismatch"),
            (at("0.1234567890123"), "exchange_rate_invalid"),
        ],
    )
    def test_an_invalid_rate_is_refused_with_its_item(self, facts: Any, code: str) -> None:
        given = OpenWithSide(documents=(owed(10_000, **facts),))
        found, detail = refusal_of(opened, sales=given)
        assert (found, detail["item"]) == (code, "invoices.0")

    def test_totals_and_ties_are_in_base(self) -> None:
        sales = OpenWithSide(documents=(owed(10_000, **at("0.90")), owed(500)))
        made = opened(balance("1200", 9_500), sales=sales).opening
        assert made.documented[Role.ACCOUNTS_RECEIVABLE] == 9_500
        assert totals(made, ROLES).equity == 9_500
        refuse_untied(made, ties(made, ACCOUNTS, ROLES), ROLES)


class TestSettling:
    def test_it_takes_the_base_of_the_item_and_the_rest_is_exchange(self) -> None:
        given = owed(12_000, taxes=(by_code("S20", 10_000, 2_000),), **at("0.90"))
        [invoice] = opened(sales=OpenWithSide(documents=(given,))).sales.documents
        trade = Trade("31", rates=KnownRates())
        trade.documents[invoice.id] = invoice
        trade.keep(invoice)
        for own, entry in (
            (4_000, {"1100": 3_800, "1200": -3_600, "4650": -200}),
            (8_000, {"1100": 7_600, "1200": -7_200, "4650": -400}),
        ):
            payment = trade.on("2-5").pay(own, (invoice.id, own), **at("0.95"))
            assert trade.book(payment) == [("2-5", entry)]
        shares = [share for e in trade.entries() for line in e.lines for _, share in line.split]
        assert shares == [-9_000, -1_800, -3_000, -600, -6_000, -1_200]
        assert documents.base_outstanding(trade.documents[invoice.id]) == 0

    def test_at_a_rate_of_one_it_posts_as_in_base(self) -> None:
        def posted(**facts: Any) -> list[dict[str, int]]:
            sales = OpenWithSide(
                documents=(owed(120, taxes=(by_code("S20", 100, 20),), **facts),),
                credits=(credited(20, **facts),),
                prepayments=(prepaid(7, **facts),),
            )
            return [amounts(entry) for entry in entries(opened(sales=sales))]

        assert posted(**at("1")) == posted()


class TestAccounts:
    def test_an_account_with_a_currency_has_both_amounts_and_the_rest_is_in_base(self) -> None:
        lines = in_bank(9_000, 10_000, "USD"), in_bank(-900, -1_000), balance("3000", -5_000)
        made = opened(*lines)
        [entry] = entries(made)
        assert amounts(entry) == {"1101": 8_100, "3000": -5_000, "3290": -3_100}
        assert own_amounts(entry) == {"1101": 9_000, "3000": None, "3290": None}
        total = totals(made.opening, ROLES)
        assert (total.debits, total.credits, total.equity) == (8_100, 5_000, 3_100)

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            (in_bank(9_000, None), "currency_amount_required"),
            (in_bank(9_000, 10_000, "SEK"), "currency_mismatch"),
            (in_bank(9_000, -10_000), "currency_amount_invalid"),
            (
                replace(in_bank(1, 1, "USD"), account=balance("1100", 1).account),
                "currency_mismatch",
            ),
        ],
    )
    def test_an_invalid_amount_is_refused_with_its_place(
        self, line: EntryLineGiven, code: str
    ) -> None:
        found, detail = refusal_of(opened, balance("3000", -1), line)
        assert (found, detail["item"]) == (code, "accounts.1")

    def test_own_amounts_within_the_bounds(self) -> None:
        lines = [in_bank(1, 99_999_999_999_999)] * 2
        assert refusal_of(opened, *lines)[0] == "amount_too_large"


def test_a_reversal_takes_back_both_amounts() -> None:
    given = owed(12_000, taxes=(by_code("S20", 10_000, 2_000),), **at("0.91234"))
    sales = OpenWithSide(
        documents=(given,),
        credits=(credited(3_333, **at("0.87")),),
        prepayments=(prepaid(1_111, **worth(1_000)),),
    )
    made = reverse(opened(in_bank(9_000, 10_000), sales=sales), None, context_of(TODAY))
    base: Counter[UUID] = Counter()
    own: Counter[UUID] = Counter()
    for entry in entries(made):
        for line in entry.lines:
            base[line.account_id] += line.amount
            own[line.account_id] += line.currency_amount or 0
    assert not any(base.values())
    assert not any(own.values())
    assert account_id("1101") in own
