"""Open items when the tax scheme changes: declared by the change, or before the opening."""

from collections.abc import Mapping

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import (
    DAY,
    by_code,
    open_bill,
    open_customer_credit,
    open_invoice,
    open_vendor_credit,
    opened,
    reversed_,
)
from tests.builders.sales import written_off
from tests.builders.tax_returns import (
    RETURNS,
    boxes,
    brought,
    codes,
    drawn_up,
    filed,
    lines,
    superseding,
)
from tests.builders.taxed_quarters import credited, paid
from tests.builders.trade import PURCHASES, SALES, Record
from tests.clock import today
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

ON = "2025-01-31"  # In the first quarter; DAY is before all filed days.
DAYS = pytest.mark.parametrize("day", [DAY, ON])
SOLD = (by_code("S20", 10_000, 2_000), by_code("S0", 5_000))
Codes = dict[str, dict[str, int]]


def quarter(shop: Business, number: int, scheme: str) -> Record:
    """Create and file a return of a quarter of 2025."""
    return filed(shop, drawn_up(shop, number, scheme))


def rest(shop: Business, scheme: str) -> Record:
    """Create and file a return of all days from the third quarter of 2025 to today."""
    days = {"start_date": "2025-07-01", "end_date": str(today()), "scheme": scheme}
    return filed(shop, shop.made(RETURNS, days))


def invoice_of(shop: Business, buyer: Record, day: str, *taxes: Record) -> Record:
    """Open the books with an invoice, and read it."""
    amount = sum(each["net_cents"] + each["tax_cents"] for each in taxes)
    opening = opened(shop, date=day, invoices=[open_invoice(buyer, amount, tax=list(taxes))])
    return SALES.read(shop, opening["invoices"][0])


@pytest.fixture
def trade(shop: Business, buyer: Record, vendor: Record) -> Mapping[str, Record]:
    """The open items of the last day of January, with their payments of February.

    In cents, with tax: 6,000 of an invoice of 17,000; nothing of a credit of 1,050; 1,200 of a bill
    of 3,600; nothing of a vendor's credit of 210.
    """
    opening = opened(
        shop,
        date=ON,
        invoices=[open_invoice(buyer, 17_000, tax=list(SOLD))],
        customer_credits=[open_customer_credit(buyer, 1_050, tax=[by_code("S5", 1_000, 50)])],
        bills=[open_bill(vendor, 3_600, tax=[by_code("P20", 3_000, 600)])],
        vendor_credits=[open_vendor_credit(vendor, 210, tax=[by_code("P5", 200, 10)])],
    )
    invoice = SALES.read(shop, opening["invoices"][0])
    bill = PURCHASES.read(shop, opening["bills"][0])
    paid(shop, invoice, 6_000, "2025-02-01")
    paid(shop, bill, 1_200, "2025-02-02")
    return {
        "invoice": invoice,
        "bill": bill,
        "credit": opening["customer_credits"][0],
        "vendor_credit": opening["vendor_credits"][0],
    }


# Of the 17,000, 6,000 are paid: 3,529 and 706, and 1,765. A third of the bill is paid.
PAID: Codes = {
    "S20": {"net": 3_529, "output": 706},
    "S0": {"net": 1_765},
    "P20": {"net": 1_000, "input": 200},
}
# The unpaid rests, and the credits in full.
OPEN: Codes = {
    "S20": {"net": 6_471, "output": 1_294},
    "S0": {"net": 3_235},
    "S5": {"net": -1_000, "output": -50},
    "P20": {"net": 2_000, "input": 400},
    "P5": {"net": -200, "input": -10},
}
OPEN_GROSS = -11_000 + 1_050 + 2_400 - 210


class TestFileTaxReturn(UnopenedBooks):
    def test_the_first_return_on_accrual_has_the_unsettled_parts_of_open_items(
        self, shop: Business, ledger: Ledger, trade: Mapping[str, Record]
    ) -> None:
        first = quarter(shop, 1, "cash")
        assert (codes(first["codes"]), first["transition"]) == (PAID, [])
        second = drawn_up(shop, 2, "accrual")
        for done in (False, True):
            second = filed(shop, second) if done else second
            assert codes(second["transition"]) == codes(second["codes"]) == OPEN
            assert boxes(second) == {
                "1": 1_244, "3": 1_244, "4": 390, "5": 854, "6": 8_700, "7": 1_800
            }  # fmt: skip
        ledger.audit()
        for side, credit, document, amount in (
            (SALES, trade["credit"], trade["invoice"], 1_050),
            (PURCHASES, trade["vendor_credit"], trade["bill"], 210),
        ):
            use = {"allocations": [side.share(document, amount)]}
            shop.api.put(side.of_credit(credit), json=use).raise_for_status()
        paid(shop, trade["invoice"], 9_950, "2025-07-02")
        paid(shop, trade["bill"], 2_190, "2025-07-03")
        third = rest(shop, "accrual")
        assert (third["codes"], third["transition"], lines(shop, third)) == ([], [], [])
        assert codes(filed(shop, superseding(shop, second))["transition"]) == OPEN

    def test_lines_of_the_first_return_on_accrual_are_those_of_the_opening(
        self, shop: Business, trade: Mapping[str, Record]
    ) -> None:
        quarter(shop, 1, "cash")
        second = drawn_up(shop, 2, "accrual")
        for done in (False, True):
            second = filed(shop, second) if done else second
            changed = lines(shop, second, is_transition=True)
            assert all(share["is_transition"] for line in changed for share in line["shares"])
            assert brought(changed) == brought(lines(shop, second)) == OPEN_GROSS
            assert lines(shop, second, is_transition=False) == []
            assert brought(lines(shop, second, box="1")) == -1_244
            whole = lines(shop, second, tax_code="S20")
            assert [
                (each["source_type"], each["account_code"], brought([each])) for each in whole
            ] == [("invoice", "3290", -12_000), ("payment", "1200", 4_235)]

    @DAYS
    def test_amounts_credited_or_written_off_before_the_change_count_as_settled(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        """Count 3,600 of 12,000: 4,800 are credited and 3,600 relieved before the change.

        When the relief is reversed, its 3,600 count again, on the day of the reversal.
        """
        invoice = invoice_of(shop, buyer, day, by_code("S20", 10_000, 2_000))
        allocation = {"invoice_id": invoice["id"], "amount": 4_800}
        credited(shop, invoice, 4_000, "2025-02-01", allocations=[allocation])
        at = {"write_off_at": "2025-02-02T09:00:00Z", "amount_cents": 3_600}
        [gone] = written_off(shop, invoice, tax_relief=True, **at)["write_offs"]
        assert codes(quarter(shop, 1, "cash")["codes"]) == {}
        left: Codes = {"S20": {"net": 3_000, "output": 600}}
        second = quarter(shop, 2, "accrual")
        assert codes(second["transition"]) == codes(second["codes"]) == left
        path = f"{SALES.of(invoice, 'write-offs')}{gone['id']}/"
        shop.api.delete(path).raise_for_status()
        paid(shop, invoice, 7_200, str(today()))
        third = rest(shop, "accrual")
        assert codes(third["codes"]) == left
        assert brought(lines(shop, third)) == -3_600

    @DAYS
    def test_an_open_item_is_not_declared_after_a_return_on_accrual(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        """Count neither the payment nor the item after a return on accrual; a credit counts."""
        invoice = invoice_of(shop, buyer, day, *SOLD)
        assert quarter(shop, 1, "accrual")["codes"] == []
        paid(shop, invoice, 6_000, "2025-05-01")
        second = quarter(shop, 2, "cash")
        assert (second["codes"], lines(shop, second)) == ([], [])
        allocation = {"invoice_id": invoice["id"], "amount": 1_200}
        credited(shop, invoice, 1_000, "2025-07-01", allocations=[allocation])
        third = quarter(shop, 3, "cash")
        assert codes(third["codes"]) == {"S20": {"net": -1_000, "output": -200}}
        fourth = quarter(shop, 4, "accrual")
        assert (fourth["transition"], fourth["codes"]) == ([], [])

    @DAYS
    def test_books_that_begin_on_accrual_have_no_transition(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        invoice = invoice_of(shop, buyer, day, *SOLD)
        first = quarter(shop, 1, "accrual")
        paid(shop, invoice, 17_000, "2025-05-01")
        second = quarter(shop, 2, "accrual")
        for each in (first, second):
            assert (each["transition"], each["codes"], lines(shop, each)) == ([], [], [])

    @DAYS
    def test_relief_after_accrual_counts_on_cash(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        invoice = invoice_of(shop, buyer, day, by_code("S20", 10_000, 2_000))
        quarter(shop, 1, "accrual")
        paid(shop, invoice, 6_000, "2025-05-01")
        written_off(shop, invoice, tax_relief=True, write_off_at="2025-05-02T09:00:00Z")
        second = quarter(shop, 2, "cash")
        assert codes(second["codes"]) == {"S20": {"relief_net": 5_000, "relief": 1_000}}
        assert quarter(shop, 3, "accrual")["transition"] == []


class TestReverseOpeningBalance(UnopenedBooks):
    @DAYS
    def test_an_opening_reversed_after_a_change_is_declared_back(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        """Count the second opening once: on its day as late, or at payment if it is earlier."""
        given = open_invoice(buyer, 12_000, tax=[by_code("S20", 10_000, 2_000)])
        opening = opened(shop, date=day, invoices=[given])
        quarter(shop, 1, "cash")
        whole: Codes = {"S20": {"net": 10_000, "output": 2_000}}
        assert codes(quarter(shop, 2, "accrual")["codes"]) == whole
        reversed_(shop, opening, "2025-07-01")
        third = quarter(shop, 3, "accrual")
        assert codes(third["codes"]) == {"S20": {"net": -10_000, "output": -2_000}}
        assert brought(lines(shop, third)) == 12_000
        ledger.audit()
        again = opened(shop, date=day, invoices=[given])
        invoice = SALES.read(shop, again["invoices"][0])
        paid(shop, invoice, 12_000, "2025-10-01")
        fourth = quarter(shop, 4, "accrual")
        assert codes(fourth["codes"]) == whole
        assert (codes(fourth["late"]) == whole) is (day == ON)
        [line] = lines(shop, fourth)
        assert (line["source_type"], brought([line])) == (
            ("invoice", -12_000) if day == ON else ("payment", -12_000)
        )

    @DAYS
    def test_an_opening_reversed_after_accrual_is_not_declared(
        self, shop: Business, ledger: Ledger, buyer: Record, day: str
    ) -> None:
        given = open_invoice(buyer, 12_000, tax=[by_code("S20", 10_000, 2_000)])
        opening = opened(shop, date=day, invoices=[given])
        quarter(shop, 1, "accrual")
        reversed_(shop, opening, "2025-04-01")
        assert quarter(shop, 2, "cash")["codes"] == []
        assert quarter(shop, 3, "accrual")["codes"] == []
