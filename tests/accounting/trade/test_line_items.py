"""The amounts of document lines: discounts, taxes, and the accounts they name."""

from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.accounts import AccountReference, BookAccounts
from accounting.books.ledger import Part
from accounting.errors import ValidationError
from accounting.money import MAX_AMOUNT
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from accounting.trade import documents
from accounting.trade.commands import DocumentLine, TaxGiven, WriteDocument
from accounting.trade.documents import Document
from accounting.trade.line_items import account_references, work_out
from accounting.trade.parties import PartyNamed
from accounting.trade.sides import RECEIVABLE
from tests.accounting.samples import (
    ROLES,
    account,
    code_of,
    context_of,
    day,
    named,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import Trade, document_lines, line


def made(*lines: DocumentLine, discount: int = 0) -> Document:
    trade = Trade()
    return trade.documents[trade.document(*lines, additional_discount=discount)]


class TestArithmetic:
    def test_the_worked_example(self) -> None:
        document = made(line(1_000, 2, tax_rate=20, discount_amount=100), discount=90)
        assert (document.subtotal, document.discount_total) == (1_900, 190)
        assert (document.tax_total, document.total_amount) == (362, 2_172)
        [only] = document.lines
        assert (only.tax_total, only.total_amount, only.discount_share) == (362, 2_262, 90)

    def test_a_quantity_may_be_a_part(self) -> None:
        assert made(line(333, "1.50")).total_amount == 500

    def test_a_rate_is_rounded_once_and_spread(self) -> None:
        document = made(*(line(33, tax_rate=10) for _ in range(3)))
        assert document.tax_total == 10
        assert [each.tax_total for each in document.lines] == [4, 3, 3]

    def test_rates_that_are_equal_are_one_rate(self) -> None:
        document = made(*(line(5, tax_rate=each) for each in ("10", "10.0", "20")))
        assert [each.tax_total for each in document.lines] == [1, 0, 1]

    def test_given_taxes_are_taken_as_given_with_their_accounts(self) -> None:
        [only] = made(line(100, taxes=(TaxGiven(7), TaxGiven(3, named("2400"))))).lines
        taxes = [(tax.amount, code_of(tax.account_id)) for tax in only.taxes]
        assert taxes == [(7, "2200"), (3, "2400")]

    def test_a_discount_on_the_whole_is_spread_by_subtotal(self) -> None:
        document = made(line(100), line(200), line(0), discount=100)
        assert [each.discount_share for each in document.lines] == [33, 67, 0]
        assert documents.parts(document) == {Part(ROLES["sales"]): 200}

    def test_a_discount_is_spread_over_rates_before_lines(self) -> None:
        document = made(*(line(50, tax_rate=each) for each in (20, 5, 20)), discount=1)
        assert [each.discount_share for each in document.lines] == [1, 0, 0]

    @given(
        st.lists(st.tuples(st.integers(0, 999), st.sampled_from((0, 5, 20))), min_size=1),
        st.integers(0, 100),
        st.randoms(use_true_random=False),
    )
    def test_the_tax_does_not_depend_on_the_order_of_lines(
        self, priced: list[tuple[int, int]], percent: int, random: Random
    ) -> None:
        def taxes(order: list[tuple[int, int]]) -> dict[int, int]:
            discount = sum(price for price, _ in order) * percent // 100
            lines = made(*(line(price, tax_rate=rate) for price, rate in order), discount=discount)
            by_rate = dict.fromkeys((0, 5, 20), 0)
            for (_, rate), each in zip(order, lines.lines, strict=True):
                by_rate[rate] += each.tax_total
            return by_rate

        shuffled = random.sample(priced, len(priced))
        assert taxes(shuffled) == taxes(priced)

    @given(
        st.lists(
            st.builds(
                line,
                st.integers(0, 10_000),
                st.decimals("0.000001", 9_999, places=6),
                st.none() | st.decimals(0, 100, places=4),
            ),
            min_size=1,
            max_size=6,
        ),
        st.integers(0, 100),
    )
    def test_parts_sum_to_the_total_and_none_is_below_zero(
        self, lines: list[DocumentLine], percent: int
    ) -> None:
        subtotal = made(*lines).subtotal
        discount = subtotal * percent // 100
        document = made(*lines, discount=discount)
        parts = documents.parts(document)
        assert sum(parts.values()) == document.total_amount
        assert min(parts.values()) >= 0
        assert document.total_amount == subtotal - discount + document.tax_total


class TestPrice:
    @pytest.mark.parametrize(
        ("price", "quantity", "subtotal", "rounded"),
        [("16.48", 7_000, 115_360, 16), ("16.50", 1, 17, 17), ("16.00", 1, 16, 16)],
    )
    def test_a_price_is_exact_and_its_product_is_rounded_once(
        self, price: str, quantity: int, subtotal: int, rounded: int
    ) -> None:
        only, _ = made(line(Decimal(price), quantity), line(100)).lines
        assert (only.subtotal, only.unit_price) == (subtotal, rounded)
        assert only.price == Decimal(price)


class TestRefusals:
    def test_every_fault_of_a_line_is_named_at_once(self) -> None:
        faults = refused(
            made,
            line(1, "0.000"),
            line(1, "1.0000001", tax_rate="0.00001"),
            line(1, "NaN", tax_rate="-1"),
            line(1, tax_rate=5, taxes=(TaxGiven(1),)),
            line(1, tax_rate="Infinity"),
        )
        assert isinstance(faults, ValidationError)
        assert set(faults.detail["field_errors"]) == {
            *("lines.0.quantity", "lines.1.quantity", "lines.2.quantity"),
            *("lines.1.tax_rate", "lines.2.tax_rate", "lines.3.tax_rate", "lines.4.tax_rate"),
        }

    @pytest.mark.parametrize(
        ("lines", "code", "field"),
        [
            ([line(-1)], "negative_amount", "lines.0"),
            ([line(9), line(5, discount_amount=6)], "negative_amount", "lines.1"),
            ([line(MAX_AMOUNT)] * 2, "amount_too_large", None),
            ([line(MAX_AMOUNT, 2)], "amount_too_large", None),
            ([line(MAX_AMOUNT, tax_rate=1)], "amount_too_large", None),
            ([line(1, account=named("1200"))], "control_account", None),
            ([line(1, account=named("2000"))], "control_account", None),
            ([line(1, account=named("9999"))], "reference_not_found", None),
        ],
    )
    def test_rules_about_money_and_accounts(
        self, lines: list[DocumentLine], code: str, field: str | None
    ) -> None:
        refusal = refused(made, *lines)
        assert (refusal.code, refusal.detail.get("field")) == (code, field)

    def test_a_discount_is_not_larger_than_what_it_is_taken_from(self) -> None:
        negative = {"field": "additional_discount", "amount": -1}
        assert refusal_of(made, line(5), discount=6) == ("negative_amount", negative)

    def test_an_archived_account_is_not_given(self) -> None:
        sales = AccountReference("code", "4000")
        accounts = BookAccounts(ROLES, {sales: account("4000", archived=True)})
        command = WriteDocument(party=PartyNamed(), lines=(line(1, account=sales),))
        given = RECEIVABLE, command, TaxReferences(accounts, TaxCodes(())), day("1"), ()
        assert refused(work_out, *given, context_of("1")).code == "account_archived"


class TestLines:
    def test_a_line_that_stays_in_its_place_keeps_its_own(self, trade: Trade) -> None:
        document = trade.document(1, 2)
        first, _ = trade.documents[document].lines
        trade.replace(document, 3)
        [kept] = trade.documents[document].lines
        assert (kept.id, kept.subtotal) == (first.id, 3)

    def test_account_references_are_of_lines_and_their_taxes(self) -> None:
        by_id = AccountReference("id", ROLES["sales"])
        lines = line(1, account=by_id), line(1, taxes=(TaxGiven(1), TaxGiven(1, named("2400"))))
        command = WriteDocument(party=PartyNamed(), lines=document_lines(lines))
        assert account_references(command) == {by_id, named("2400")}
