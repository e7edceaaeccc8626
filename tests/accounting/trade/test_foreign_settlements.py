"""Documents, payments and write-offs in a foreign currency, by the examples of the design.

The books are kept in GBP; amounts of the entries are base amounts.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest

from accounting.books.exchange_rates import KnownRates
from accounting.books.foreign import ForeignAmount, Worth, in_base
from accounting.books.ledger import PostedEntry
from accounting.books.record_rates import GivenWorth
from accounting.trade import documents
from accounting.trade.allocation import AllocationItem, exchange_difference, live
from accounting.trade.commands import TaxGiven
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import code_of, named, rates_on, refusal_of
from tests.accounting.trade.business import BOTH_SIDES, Trade, line
from tests.accounting.trade.purchases import (
    BILL,
    CREDIT,
    PAYMENT,
    Purchases,
    announced,
    returned,
)
from tests.accounting.trade.test_coded_documents import CODES

NET_AND_TAX = line(10_000, taxes=(TaxGiven(2_000),))


@pytest.fixture
def trade(side: Side) -> Trade:
    """The books with rates, but no table: each record names its rate."""
    return Trade("5", side=side, rates=KnownRates())


def at(rate: str, currency: str = "USD", **facts: Any) -> dict[str, Any]:
    """Return the currency and the rate of a record."""
    return {"currency": currency, "worth": GivenWorth(exchange_rate=Decimal(rate)), **facts}


def own_amounts(entry: PostedEntry) -> dict[str, tuple[str | None, int | None]]:
    return {code_of(each.account_id): (each.currency, each.currency_amount) for each in entry.lines}


def last(trade: Trade, id_: UUID) -> dict[str, int]:
    """Return the amounts of the last entry of a subject."""
    return trade.book(id_)[-1][1]


class TestDocument:
    def test_its_lines_have_the_base_and_the_own_amount(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        assert trade.book(id_) == [("5", {"1200": 9_000, "4000": -9_000})]
        [entry] = trade.posted(id_)
        assert own_amounts(entry) == {"1200": ("USD", 10_000), "4000": ("USD", -10_000)}

    def test_taxes_are_converted_by_themselves_and_nets_are_the_rest(self, trade: Trade) -> None:
        lines = (3_333, 3_333, line(3_334, taxes=(TaxGiven(2_000),)))
        id_ = trade.document(*lines, **at("0.91234"))
        assert last(trade, id_) == {"1200": 10_948, "4000": -9_123, "2200": -1_825}
        nets = [in_base(each.net) for each in trade.documents[id_].lines]
        assert nets == [3_041, 3_041, 3_041]

    def test_parts_are_rounded_together_where_the_net_would_be_below_zero(
        self, trade: Trade
    ) -> None:
        taxes = tuple(TaxGiven(1, account=None) for _ in range(3))
        id_ = trade.document(line(1, taxes=taxes), **at("0.5"))
        assert last(trade, id_) == {"1200": 2, "4000": 0, "2200": -2}

    def test_a_currency_without_decimals(self, trade: Trade) -> None:
        id_ = trade.document(15_000, **at("0.0067", "ISK"))
        assert last(trade, id_) == {"1200": 10_050, "4000": -10_050}

    def test_a_draft_has_no_base_before_it_opens(self, trade: Trade) -> None:
        id_ = trade.document(10_000, opened_at=None, **at("0.90"))
        worth = trade.documents[id_].worth
        assert worth is not None
        assert worth.base_total is None
        trade.open(id_)
        assert last(trade, id_) == {"1200": 9_000, "4000": -9_000}

    def test_an_edit_keeps_the_rate(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        trade.replace(id_, 20_000, currency="USD")
        assert trade.balances() == {"1200": 18_000, "4000": -18_000}
        trade.replace(id_, 20_000, **at("0.80"))
        assert trade.balances() == {"1200": 16_000, "4000": -16_000}

    def test_a_corrected_rate_and_amount_move_both_amounts(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        trade.replace(id_, 8_000, **at("1.20"))
        *_, entry = trade.posted(id_)
        [control] = [each for each in entry.lines if code_of(each.account_id) == "1200"]
        assert (control.amount, control.currency_amount) == (600, -2_000)

    def test_the_currency_of_an_opened_document_never_changes(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        code, detail = refusal_of(trade.replace, id_, 10_000, currency="EUR")
        assert (code, detail["field"]) == ("immutable_field", "currency")

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"currency": "GBP", "worth": GivenWorth(Decimal(2))}, "exchange_rate_not_needed"),
            ({"currency": "USD"}, "exchange_rate_missing"),
            (at("0.1234567890123"), "exchange_rate_invalid"),
            (at("99999999999"), "amount_too_large"),
        ],
    )
    def test_rates_that_are_refused(self, trade: Trade, facts: Any, code: str) -> None:
        assert refusal_of(trade.document, 1_000_000, **facts)[0] == code

    def test_voiding_takes_both_amounts_back(self, trade: Trade) -> None:
        id_ = trade.document(NET_AND_TAX, **at("0.91234"))
        trade.on("8").void(id_)
        assert trade.balances() == {}
        first, second = trade.posted(id_)
        assert second.reversal_of_id == first.id
        assert {own for _, own in own_amounts(second).values()} == {-12_000, 10_000, 2_000}


PAID = [
    (RECEIVABLE, {"1100": 9_500, "1200": -9_000, "4650": -500}),
    (PAYABLE, {"1100": -9_500, "2000": 9_000, "7050": 500}),
]


class TestPayment:
    @pytest.mark.parametrize(("side", "entry"), PAID)
    def test_the_difference_is_exchange(
        self, side: Side, trade: Trade, entry: dict[str, int]
    ) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        payment = trade.pay(10_000, (id_, 10_000), **at("0.95"))
        assert last(trade, payment) == entry
        [exchange] = [e for e in trade.posted(payment)[0].lines if e.currency is None]
        assert exchange.about == id_
        [allocation] = trade.payments[payment].allocations
        assert exchange_difference(side, allocation) == 500 * side.sign

    def test_it_takes_the_currency_of_what_it_settles(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        rate = GivenWorth(exchange_rate=Decimal("0.95"))
        assert trade.payments[trade.pay(10_000, (id_, 10_000), worth=rate)].currency == "USD"

    def test_steps_take_their_share_and_give_it_back(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        first = trade.pay(3_333, (id_, 3_333), **at("0.95"))
        assert last(trade, first) == {"1100": 3_166, "1200": -3_000, "4650": -166}
        second = trade.pay(6_667, (id_, 6_667), **at("0.88"))
        assert last(trade, second) == {"1100": 5_867, "1200": -6_000, "7050": 133}
        trade.on("8").change(first, status="failed")
        assert last(trade, first) == {"1100": -3_166, "1200": 3_000, "4650": 166}
        again = trade.pay(3_333, (id_, 3_333), **at("1.10"))
        assert last(trade, again) == {"1100": 3_666, "1200": -3_000, "4650": -666}
        assert documents.base_outstanding(trade.documents[id_]) == 0

    def test_money_in_advance_stays_at_its_rate(self, trade: Trade) -> None:
        payment = trade.pay(10_000, **at("0.95"))
        assert last(trade, payment) == {"1100": 9_500, "2100": -9_500}
        id_ = trade.document(10_000, **at("0.90"))
        trade.on("8").change(payment, allocations=(AllocationItem(id_, 10_000),))
        assert last(trade, payment) == {"2100": 9_500, "1200": -9_000, "4650": -500}

    def test_money_of_another_currency(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        across = AllocationItem(id_, 110_000, document_amount=10_000)
        facts = at("0.0874", "SEK")
        payment = trade.pay(110_000, allocations=(across,), **facts)
        assert last(trade, payment) == {"1100": 9_614, "1200": -9_000, "4650": -614}
        own = own_amounts(trade.posted(payment)[0])
        assert own == {"1100": ("SEK", 110_000), "1200": ("USD", -10_000), "4650": (None, None)}
        assert documents.outstanding(trade.documents[id_]) == 0

    def test_money_in_base_for_a_foreign_document(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        across = AllocationItem(id_, 9_200, document_amount=10_000)
        payment = trade.pay(9_200, allocations=(across,), currency="GBP")
        assert last(trade, payment) == {"1100": 9_200, "1200": -9_000, "4650": -200}

    def test_foreign_money_for_a_document_in_base(self, trade: Trade) -> None:
        id_ = trade.document(9_000)
        across = AllocationItem(id_, 10_000, document_amount=9_000)
        payment = trade.pay(10_000, allocations=(across,), **at("0.88"))
        assert last(trade, payment) == {"1100": 8_800, "1200": -9_000, "7050": 200}

    def test_another_currency_needs_the_amount_of_the_document(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        code, detail = refusal_of(trade.pay, 9_200, (id_, 9_200), currency="GBP")
        assert (code, detail["field"]) == ("currency_mismatch", "document_amount_cents")

    def test_documents_of_several_currencies_need_a_currency(self, trade: Trade) -> None:
        dollars, crowns = trade.document(100, **at("0.9")), trade.document(100, **at("0.1", "SEK"))
        code, detail = refusal_of(trade.pay, 200, (dollars, 100), (crowns, 100))
        assert (code, detail["currencies"]) == ("currency_mismatch", ["SEK", "USD"])

    def test_a_correction_spreads_the_shares_anew(self, trade: Trade) -> None:
        first, second = (trade.document(amount, **at("0.90")) for amount in (6_000, 3_000))
        facts = {"fee": 200, **at("0.95")}
        payment = trade.pay(10_000, (first, 6_000), (second, 3_000), **facts)
        brought = [in_base(each.amount) for each in trade.payments[payment].allocations]
        assert brought == [5_700, 2_850]
        assert trade.balances()["6100"] == 190
        trade.on("8").change(payment, worth=GivenWorth(base_amount=9_701))
        brought = [in_base(each.amount) for each in trade.payments[payment].allocations]
        assert brought == [5_821, 2_910]
        assert trade.balances()["2100"] == -970
        assert trade.balances()["6100"] == 194

    def test_a_changed_amount_keeps_the_exact_rate(self, trade: Trade) -> None:
        payment = trade.pay(3, worth=GivenWorth(base_amount=1), currency="USD")
        trade.change(payment, total=300)
        assert trade.balances()["1100"] == 100

    def test_it_does_not_change_while_a_refund_holds_some_of_it(self, trade: Trade) -> None:
        payment = trade.pay(10_000, **at("0.95"))
        trade.refund(payment, 4_000)
        code = refusal_of(trade.change, payment, worth=GivenWorth(Decimal("0.96")))[0]
        assert code == "payment_has_refunds"
        trade.change(payment, note="Still the same.")

    def test_three_steps_of_the_smallest_unit(self, trade: Trade) -> None:
        id_ = trade.document(3, **at("0.25"))
        taken = []
        for _ in range(3):
            payment = trade.pay(1, (id_, 1), **at("1"))
            [(_, part)] = trade.payments[payment].allocations[0].split
            assert isinstance(part, ForeignAmount)
            taken.append(part.base)
        assert taken == [0, 1, 0]


class TestCredit:
    def test_a_credit_at_another_rate(self, trade: Trade) -> None:
        id_ = trade.document(NET_AND_TAX, 5_000, **at("0.90"))
        credit = trade.credit(5_000, to=[(id_, 5_000)], source_document_id=id_, **at("0.95"))
        first, _ = trade.posted(credit)
        assert last(trade, credit) == {"2250": 4_750, "1200": -4_500, "4650": -250}
        assert {code_of(e.account_id): e.amount for e in first.lines} == {
            "4100": 4_750,
            "2250": -4_750,
        }

    def test_the_rate_is_that_of_its_source(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        credit = trade.credit(10_000, to=[(id_, 10_000)], source_document_id=id_, currency="USD")
        assert last(trade, credit) == {"2250": 9_000, "1200": -9_000}

    def test_it_settles_only_its_own_currency(self, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        assert refusal_of(trade.credit, 100, to=[(id_, 100)])[0] == "currency_mismatch"


class TestRefund:
    def test_it_holds_the_share_of_the_money_and_its_payment_brings_its_own(
        self, trade: Trade
    ) -> None:
        payment = trade.pay(10_000, **at("0.95"))
        refund = trade.refund(payment, 4_000)
        assert last(trade, refund) == {"2300": -3_800, "2100": 3_800}
        rate = GivenWorth(exchange_rate=Decimal("0.98"))
        paid = trade.pay_refund(refund, 4_000, fee=100, worth=rate)
        assert [amounts for _, amounts in trade.book(paid)] == [
            {"2300": 3_800, "1100": -3_920, "7050": 120},
            {"6100": 98, "1100": -98},
        ]

    def test_a_document_gives_back_its_parts_at_its_rate(self, trade: Trade) -> None:
        id_ = trade.document(NET_AND_TAX, **at("0.90"))
        trade.pay(12_000, (id_, 12_000), **at("0.95"))
        first, second = trade.refund(id_, 4_000), trade.refund(id_, 8_000)
        assert last(trade, first) == {"2300": -3_600, "4100": 3_000, "2200": 600}
        assert last(trade, second) == {"2300": -7_200, "4100": 6_000, "2200": 1_200}
        trade.cancel_refund(first)
        assert trade.balances()["2300"] == -7_200

    def test_a_credit_is_paid_out_at_its_rate(self, trade: Trade) -> None:
        credit = trade.credit(10_000, **at("0.90"))
        assert last(trade, trade.refund(credit, 3_333)) == {"2300": -3_000, "2250": 3_000}


class TestWriteOff:
    def test_it_takes_the_base_of_the_document(self, trade: Trade) -> None:
        trade.codes = CODES
        id_ = trade.document(line(10_000, tax_code="S20"), **at("0.90"))
        trade.pay(6_000, (id_, 6_000), **at("0.90"))
        written_off = trade.write_off(id_, tax_relief=True)
        expected = {"6200": 4_500, "2200": 900, "1200": -5_400}
        assert last(trade, written_off) == expected
        trade.on("8").reverse(written_off)
        assert documents.base_outstanding(trade.documents[id_]) == 5_400


@BOTH_SIDES
class TestAllRatesOne:
    def test_the_books_are_those_of_a_base_business(self, side: Side) -> None:
        def books(**facts: Any) -> Trade:
            trade = Trade("5", side=side, rates=KnownRates())
            id_ = trade.document(NET_AND_TAX, line(500), **facts)
            trade.pay(4_000, (id_, 3_000), **facts)
            credit = trade.credit(1_000, to=[(id_, 700)], **facts)
            trade.on("9").write_off(id_, 2_000)
            trade.apply(credit, (id_, 900))
            return trade

        assert books(**at("1")).balances() == books().balances()


class TestRecoded:
    def test_settled_parts_move_with_their_base(self, trade: Trade) -> None:
        id_ = trade.document(3_333, 6_667, **at("0.91234"))
        trade.pay(5_000, (id_, 5_000), **at("0.95"))
        trade.on("8").recode(id_, {1: "4100"})
        trade.pay(5_000, (id_, 5_000), **at("0.95"))
        assert documents.base_outstanding(trade.documents[id_]) == 0
        sales = trade.balances()
        assert (sales["4000"], sales["4100"]) == (-3_041, -6_082)


@pytest.fixture
def purchases() -> Purchases:
    """The books with a table, by which a dollar is worth 0.80."""
    return Purchases("5", rates=rates_on("4", USD="1.25"), codes=CODES)


class TestVendorRefund:
    def test_a_released_payment_is_refunded_at_its_own_rate(self, purchases: Purchases) -> None:
        bill = purchases.document(10_000, **at("0.90"))
        payment = purchases.pay(10_000, (bill, 10_000), **at("0.95"))
        expected = announced(4_000, fee=100, worth=GivenWorth(Decimal("0.98")))
        refund = purchases.agree(4_000, returned(PAYMENT, 4_000, payment), payments=expected)
        released = [amounts for _, amounts in purchases.book(payment)][1:]
        assert released == [{"1250": 3_800, "2000": -3_600, "7050": -200}]
        assert last(purchases, refund) == {"1270": 3_800, "1250": -3_800}
        received = purchases.complete(refund)
        expected_entry = {"1270": -3_800, "1100": 3_822, "6300": 98, "4650": -120}
        assert last(purchases, received) == expected_entry

    def test_it_is_allocated_in_full(self, purchases: Purchases) -> None:
        bill = purchases.paid(10_000, **at("0.90"))
        part = returned(BILL, 4_000, bill)
        assert refusal_of(purchases.agree, 5_000, part)[0] == "refund_not_allocated"

    def test_targets_of_several_currencies(self, purchases: Purchases) -> None:
        dollars = purchases.paid(10_000, **at("0.90"))
        pounds = purchases.paid(10_000)
        parts = returned(BILL, 100, dollars), returned(BILL, 100, pounds)
        assert refusal_of(purchases.agree, 200, *parts)[0] == "currency_mismatch"

    def test_a_part_that_is_kept_as_a_credit_has_the_rate_given(self, purchases: Purchases) -> None:
        bill = purchases.paid(10_000, **at("0.90"))
        parts = returned(BILL, 6_000, bill), returned(CREDIT, 4_000)
        money = announced(6_000, worth=GivenWorth(Decimal("0.90")))
        refund = purchases.agree(
            10_000, *parts, payments=money, worth=GivenWorth(Decimal("0.80")), currency="USD"
        )
        assert last(purchases, refund) == {"1270": 5_400, "6000": -5_400}
        assert last(purchases, purchases.credit_of(refund)) == {"5100": -3_200, "1260": 3_200}

    def test_allocated_anew_its_payment_is_split_anew(self, purchases: Purchases) -> None:
        first, second = (purchases.paid(3_333, **at(rate)) for rate in ("0.91", "0.87"))
        money = announced(3_333, worth=GivenWorth(Decimal("0.95")))
        refund = purchases.agree(3_333, returned(BILL, 3_333, first), payments=money)
        purchases.complete(refund)
        assert purchases.balances().get("1270", 0) == 0
        purchases.on("8").allocate(
            refund, returned(BILL, 1_111, first), returned(BILL, 2_222, second)
        )
        assert purchases.balances().get("1270", 0) == 0


class TestSelfAssessedTax:
    def test_owed_and_recovered_are_converted_and_the_cost_is_the_rest(
        self, purchases: Purchases
    ) -> None:
        bill = purchases.document(line(333, tax_code="PR60"), **at("0.91234"))
        owed, recovered, cost = (-61, 36, 25)
        assert last(purchases, bill) == {"2200": owed, "1300": recovered, "6000": cost}

    def test_its_refund_sums_to_zero(self, purchases: Purchases) -> None:
        bill = purchases.paid(line(333, tax_code="PR60"), **at("0.91234"))
        refund = purchases.agree(111, returned(BILL, 111, bill))
        for _, amounts in purchases.book(refund):
            assert sum(amounts.values()) == 0


class TestRecodedAfterOtherChanges:
    def test_a_part_of_former_lines_stays_as_it_was(self, purchases: Purchases) -> None:
        bill = purchases.document(10_000, **at("0.90"))
        payment = purchases.pay(10_000, (bill, 10_000), **at("0.95"))
        purchases.on("8").change(payment, allocations=())
        purchases.replace(bill, line(10_000, account=named("4100")), currency="USD")
        purchases.recode(bill, {0: "4500"})
        assert purchases.balances()["4500"] == 9_000

    def test_a_refund_of_two_bills_keeps_the_part_of_the_other(self, purchases: Purchases) -> None:
        first, second = (purchases.paid(10_000, **at("0.90")) for _ in range(2))
        money = announced(3_000, worth=GivenWorth(Decimal("0.95")))
        parts = returned(BILL, 2_000, first), returned(BILL, 1_000, second)
        refund = purchases.agree(3_000, *parts, payments=money)
        purchases.complete(refund)
        purchases.on("8").recode(first, {0: "6100"})
        assert purchases.balances().get("1270", 0) == 0
        assert purchases.balances()["6100"] == 9_000 - 1_800


class TestReleasedAcrossCurrencies:
    @pytest.fixture
    def refund(self, purchases: Purchases) -> UUID:
        """A refund of a payment in crowns, which was released from a bill in dollars."""
        bill = purchases.document(30_000, **at("0.90"))
        across = AllocationItem(bill, 110_000, document_amount=10_000)
        payment = purchases.pay(110_000, allocations=(across,), **at("0.0874", "SEK"))
        money = announced(1_000, worth=GivenWorth(Decimal("0.09")))
        return purchases.agree(1_000, returned(PAYMENT, 1_000, payment), payments=money)

    def test_it_is_applied_again_in_full(self, purchases: Purchases, refund: UUID) -> None:
        purchases.on("8").withdraw_refund(refund)
        [bill] = purchases.documents.values()
        assert bill.paid == 10_000

    def test_money_that_is_used_elsewhere_is_not_applied_again(
        self, purchases: Purchases, refund: UUID
    ) -> None:
        other = purchases.document(100_000, **at("0.09", "SEK"))
        [payment] = purchases.payments
        purchases.on("8").change(payment, allocations=(AllocationItem(other, 100_000),))
        purchases.withdraw_refund(refund)
        assert [each.document_id for each in live(purchases.payments[payment].allocations)] == [
            other
        ]


class TestPeriodsOfARefundPayment:
    def test_an_ended_one_keeps_its_base_when_the_amount_changes(
        self, purchases: Purchases
    ) -> None:
        bill = purchases.paid(10_000, **at("0.90"))
        money = announced(1_000, worth=GivenWorth(Decimal("0.333")))
        refund = purchases.agree(1_000, returned(BILL, 1_000, bill), payments=money)
        payment = purchases.complete(refund)
        purchases.on("7").move(payment, "failed")
        before = purchases.book(payment)
        purchases.on("8").allocate(refund, returned(CREDIT, 1_000))
        assert purchases.book(payment) == before


class TestSteps:
    def test_self_assessed_tax_closes_when_all_is_refunded(self, purchases: Purchases) -> None:
        bill = purchases.paid(line(30, tax_code="PR60"), **at("0.5"))
        for _ in range(15):
            purchases.agree(2, returned(BILL, 2, bill))
        balances = purchases.balances()
        assert {code: balances.get(code, 0) for code in ("2200", "1300", "6000")} == {
            "2200": 0,
            "1300": 0,
            "6000": 0,
        }


class TestGivenRates:
    @pytest.mark.parametrize("rate", ["0", "-1"])
    def test_a_rate_is_above_zero(self, trade: Trade, rate: str) -> None:
        assert refusal_of(trade.document, 100, **at(rate))[0] == "exchange_rate_invalid"

    def test_a_rate_that_nothing_takes_is_refused(self, trade: Trade) -> None:
        payment = trade.pay(100, **at("0.9"))
        code = refusal_of(trade.refund, payment, 50, worth=GivenWorth(Decimal("0.8")))[0]
        assert code == "exchange_rate_not_needed"

    def test_the_rate_of_a_vendor_refund_is_that_of_its_payment(self, purchases: Purchases) -> None:
        bill = purchases.paid(10_000, **at("0.90"))
        worth = GivenWorth(Decimal("0.95"))
        refund = purchases.agree(10_000, returned(BILL, 10_000, bill), worth=worth)
        [payment] = purchases.payments_of(refund)
        assert payment.worth == Worth("USD", Fraction(95, 100), 9_500)
        pounds = purchases.paid(100)
        refused = refusal_of(purchases.agree, 100, returned(BILL, 100, pounds), worth=worth)
        assert refused[0] == "exchange_rate_not_needed"

    def test_the_rate_alone_does_not_change_while_a_refund_holds_some(self, trade: Trade) -> None:
        payment = trade.pay(100, **at("0.904"))
        trade.refund(payment, 50)
        code = refusal_of(trade.change, payment, worth=GivenWorth(Decimal("0.9")))[0]
        assert code == "payment_has_refunds"

    def test_the_rate_of_an_answer_keeps_the_exact_one(self, trade: Trade) -> None:
        payment = trade.pay(300, worth=GivenWorth(base_amount=100), currency="USD")
        trade.change(payment, worth=GivenWorth(Decimal("0.333333333333")))
        assert trade.payments[payment].worth == Worth("USD", Fraction(1, 3), 100)
