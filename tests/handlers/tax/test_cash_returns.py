"""Returns on cash: amounts of documents count on the day of settlement."""

import pytest

from tests.builders.sales import refund_paid, refunded, written_off
from tests.builders.tax_returns import (
    RETURNS,
    boxes,
    brought,
    codes,
    drawn_up,
    filed,
    lines,
    return_body,
)
from tests.builders.taxed_quarters import bought, credited, of, paid, sold
from tests.builders.trade import PURCHASES, SALES, Record
from tests.partner import Business, Partner


def on_cash(books: Business, quarter: int = 1) -> dict[str, dict[str, int]]:
    return codes(drawn_up(books, quarter, "cash")["codes"])


def on_accrual(books: Business, quarter: int = 1) -> dict[str, dict[str, int]]:
    return codes(drawn_up(books, quarter, "accrual")["codes"])


class TestGetTaxReturn:
    def test_a_part_payment_is_split_over_what_the_document_is(self, books: Business) -> None:
        """Split 60.00 of 170.00, from 100.00 at 20 % and 50.00 zero-rated: 35.29, 7.06, 17.65."""
        invoice = sold(books, "2025-01-10", of("S20", 10_000), of("S0", 5_000))
        assert on_cash(books) == {}
        paid(books, invoice, 6_000, "2025-02-01")
        assert on_cash(books) == {"S0": {"net": 1_765}, "S20": {"net": 3_529, "output": 706}}
        paid(books, invoice, 11_000, "2025-04-01")
        assert on_cash(books) == {"S0": {"net": 1_765}, "S20": {"net": 3_529, "output": 706}}
        assert on_cash(books, 2) == {"S0": {"net": 3_235}, "S20": {"net": 6_471, "output": 1_294}}

    def test_a_settling_line_shows_the_settled_parts(self, books: Business) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000), of("S0", 5_000))
        payment = paid(books, invoice, 6_000, "2025-02-01")
        draft = drawn_up(books, 1, "cash")
        [line] = lines(books, draft)
        assert (line["source_type"], line["source_id"]) == ("payment", payment["id"])
        assert line["account_code"] == "1200"
        shares = {(e["tax_code"], e["tax_part"]): e["credit_amount"] for e in line["shares"]}
        assert shares == {("S20", "net"): 3_529, ("S20", "output"): 706, ("S0", "net"): 1_765}
        assert brought(lines(books, draft, tax_part="output")) == -706

    def test_a_settling_line_omits_self_assessed_parts(self, books: Business) -> None:
        bill = bought(books, "2025-01-10", of("P20", 1_000), of("PA20", 2_000))
        paid(books, bill, 3_200, "2025-02-01")
        draft = drawn_up(books, 1, "cash")
        assert codes(draft["codes"])["PA20"]["net"] == 2_000
        assert brought(lines(books, draft, tax_code="PA20", tax_part="net")) == 2_000
        assert brought(lines(books, draft)) == 1_200 + 2_000

    def test_money_that_bounces_counts_back_on_its_day(self, books: Business) -> None:
        bill = bought(books, "2025-01-10", of("P20", 10_000))
        payment = paid(books, bill, 12_000, "2025-02-01")
        whole = {"P20": {"net": 10_000, "input": 2_000}}
        assert on_cash(books) == whole
        PURCHASES.change(books, payment, status="failed")
        assert on_cash(books) == whole
        days = return_body(start_date="2025-04-01", end_date="2030-12-31", scheme="cash")
        draft = books.made(RETURNS, days)
        assert codes(draft["codes"]) == {"P20": {"net": -10_000, "input": -2_000}}

    @pytest.mark.parametrize("scheme", ["cash", "accrual"])
    def test_money_in_advance_is_shown_and_counts_nothing(
        self, books: Business, scheme: str
    ) -> None:
        SALES.pay(books, books.customer(), 700, payment_date="2025-02-01")
        PURCHASES.pay(books, books.vendor(), 300, payment_date="2025-02-01")
        draft = drawn_up(books, 1, scheme)
        assert (draft["unapplied_cents"], draft["unapplied_paid_cents"]) == (700, 300)
        assert draft["codes"] == []

    def test_a_credit_counts_with_what_it_settles_when_it_is_applied(self, books: Business) -> None:
        """Settle 11.43 and 0.57 of an invoice at 5 % with 12.00 of a credit at 20 %."""
        invoice = sold(books, "2025-01-10", of("S5", 10_000))
        item, moment = {"amount": 1_000, "tax_code": "S20"}, "2025-02-01T09:00:00Z"
        credit = SALES.credit_body(invoice["customer"], item, sent_at=moment)
        books.made(SALES.credits, credit)
        assert on_cash(books) == {}
        shares = [SALES.share(invoice, 1_200)]
        books.made(SALES.credits, {**credit, "allocations": shares})
        assert on_cash(books) == {
            "S20": {"net": -1_000, "output": -200},
            "S5": {"net": 1_143, "output": 57},
        }

    def test_a_credit_on_its_own_source_takes_back_what_was_never_paid(
        self, books: Business
    ) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000), of("S5", 10_000))
        shares = [SALES.share(invoice, 4_800)]
        credited(books, invoice, 4_000, "2025-02-01", allocations=shares)
        assert on_cash(books) == {}
        assert on_accrual(books)["S20"] == {"net": 6_000, "output": 1_200}

    def test_a_refund_counts_when_it_is_paid(self, books: Business) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000))
        paid(books, invoice, 12_000, "2025-02-01")
        refund = refunded(books, invoice, amount_cents=1_200)
        before = on_cash(books)
        refund_paid(books, refund, completed_at="2025-03-01T09:00:00Z")
        assert before == {"S20": {"net": 10_000, "output": 2_000}}
        assert on_cash(books) == {"S20": {"net": 9_000, "output": 1_800}}

    def test_a_write_off_counts_nothing_on_cash_with_or_without_relief(
        self, books: Business
    ) -> None:
        for relief in (False, True):
            invoice = sold(books, "2025-01-10", of("S20", 10_000))
            at = {"write_off_at": "2025-02-01T09:00:00Z"}
            written_off(books, invoice, tax_relief=relief, **at)
        assert on_cash(books) == {}
        relieved = {"net": 20_000, "output": 4_000, "relief_net": 10_000, "relief": 2_000}
        assert on_accrual(books) == {"S20": relieved}
        expected = {"1": 4_000, "3": 4_000, "4": 2_000, "5": 2_000, "6": 20_000}
        assert boxes(drawn_up(books, 1)) == expected

    def test_a_settled_document_has_equal_figures_on_both_schemes(self, books: Business) -> None:
        for amount in (17_000, 6_001, 333):
            invoice = sold(books, "2025-01-10", of("S20", 9_999), of("S5", 777), of("S0", 1_234))
            rest = invoice["outstanding_balance"]
            first = min(amount, rest)
            paid(books, invoice, first, "2025-02-01")
            if rest > first:
                paid(books, invoice, rest - first, "2025-03-01")
        bill = bought(books, "2025-01-10", of("P20", 12_345), of("P5", 1))
        facts = {
            "received_at": "2025-02-02T00:00:00Z",
            "allocations": [PURCHASES.share(bill, 1_200)],
        }
        item = {"amount": 1_000, "tax_code": "P20"}
        books.made(PURCHASES.credits, PURCHASES.credit_body(bill["vendor"], item, **facts))
        paid(books, bill, bill["outstanding_balance"] - 1_200, "2025-03-03")
        assert on_cash(books) == on_accrual(books)

    def test_in_germany_input_tax_is_recovered_by_the_bill(self, acme: Partner) -> None:
        shop = acme.business(country="DE", entity_type="gmbh")
        bill = bought(shop, "2025-01-10", of("P19", 10_000))
        paid(shop, bill, 11_900, "2025-04-01")
        assert on_cash(shop) == {"P19": {"net": 10_000, "input": 1_900}}
        assert on_cash(shop, 2) == {}


class TestFileTaxReturn:
    def test_a_late_payment_is_late_and_a_late_invoice_is_not(self, books: Business) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000))
        filed(books, drawn_up(books, 1, "cash"))
        paid(books, invoice, 6_000, "2025-02-01")
        sold(books, "2025-02-10", of("S20", 500))
        second = drawn_up(books, 2, "cash")
        half: Record = {"S20": {"net": 5_000, "output": 1_000}}
        assert codes(second["late"]) == codes(second["codes"]) == half
        assert brought(lines(books, second, is_late=True)) == -6_000
