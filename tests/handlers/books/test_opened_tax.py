"""Open items with amounts by tax code, which tax returns contain once they are settled."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import (
    OPENINGS,
    by_code,
    open_bill,
    open_customer_credit,
    open_invoice,
    open_vendor_credit,
    opened,
    reversed_,
)
from tests.builders.sales import refund_paid, refunded, written_off
from tests.builders.tax_codes import codes_of
from tests.builders.tax_returns import RETURNS, boxes, codes, drawn_up, filed, lines
from tests.builders.taxed_quarters import credited, paid
from tests.builders.trade import PURCHASES, SALES, Record
from tests.builders.vendor_refunds import agreed, agreed_refund, changed, of_bill, of_credit
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

ON = "2025-01-31"  # In the first quarter, so that its return would show a wrong amount.
TAXED = (by_code("S20", 10_000, 2_000), by_code("S0", 5_000))


def declared(books: Business, quarter: int = 1, scheme: str = "cash") -> dict[str, dict[str, int]]:
    return codes(drawn_up(books, quarter, scheme)["codes"])


def opened_invoice(shop: Business, buyer: Record, *taxes: Record) -> Record:
    """Open the books with an invoice of these open amounts by tax code, and read it."""
    amount = sum(each["net_cents"] + each["tax_cents"] for each in taxes)
    given = open_invoice(buyer, amount, tax=list(taxes))
    held = {"account": "2200", "credit_amount": sum(each["tax_cents"] for each in taxes)}
    opening = opened(shop, date=ON, accounts=[held], invoices=[given])
    return SALES.read(shop, opening["invoices"][0])


def opened_bill(shop: Business, vendor: Record, *taxes: Record) -> Record:
    amount = sum(each["net_cents"] + each["tax_cents"] for each in taxes)
    opening = opened(shop, date=ON, bills=[open_bill(vendor, amount, tax=list(taxes))])
    return PURCHASES.read(shop, opening["bills"][0])


@pytest.fixture
def invoice(shop: Business, buyer: Record) -> Record:
    """An opening invoice of 100.00 at 20 % and 50.00 zero-rated, with 170.00 owed."""
    return opened_invoice(shop, buyer, *TAXED)


class TestCreateOpeningBalance(UnopenedBooks):
    def test_taxes_of_an_opening_are_shown_as_given(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        known = codes_of(shop)
        taxes = [by_code("S20", 99, 21), by_code(known["S5"]["id"], 100, 5)]
        opening = opened(
            shop,
            invoices=[open_invoice(buyer, 225, tax=taxes), open_invoice(buyer, 7)],
            bills=[open_bill(vendor, 12, tax=[by_code("P20", 10, 2)])],
            customer_credits=[open_customer_credit(buyer, 6, tax=[by_code("S20", 5, 1)])],
            vendor_credits=[open_vendor_credit(vendor, 24, tax=[by_code("P20", 20, 4)])],
        )
        for name, *wanted in (
            ("invoices", ("S20", 20, 99, 21), ("S5", 5, 100, 5)),
            ("bills", ("P20", 20, 10, 2)),
            ("customer_credits", ("S20", 20, 5, 1)),
            ("vendor_credits", ("P20", 20, 20, 4)),
        ):
            fields = ("tax_code_id", "tax_rate", "net_cents", "tax_cents")
            shown = [tuple(each[field] for field in fields) for each in opening[name][0]["tax"]]
            assert shown == [(known[code]["id"], *amounts) for code, *amounts in wanted]
        assert opening["invoices"][1]["tax"] == []
        assert shop.api.get(f"{OPENINGS}{opening['id']}/").json() == opening

    def test_a_preview_shows_it_and_posts_it_without_a_code(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = {"date": ON, "invoices": [open_invoice(buyer, 17_000, tax=list(TAXED))]}
        with ledger.untouched():
            answer = shop.api.post(OPENINGS, params={"preview": "true"}, json=body)
        shown = answer.json()
        assert [each["net_cents"] for each in shown["invoices"][0]["tax"]] == [10_000, 5_000]
        [entry] = shown["journal_entries"]
        names = ("account_code", "debit_amount", "credit_amount", "tax_code_id")
        assert [tuple(line[name] for name in names) for line in entry["lines"]] == [
            ("1200", 17_000, 0, None),
            ("3290", 0, 17_000, None),
        ]

    def test_the_invoice_shows_net_and_tax_and_the_account_of_its_tax(
        self, shop: Business, invoice: Record
    ) -> None:
        names = ("subtotal", "tax_total", "total_amount")
        assert [invoice[name] for name in names] == [15_000, 2_000, 17_000]
        [tax] = invoice["line_items"][0]["sales_taxes"]
        code = codes_of(shop)["S20"]
        assert (tax["amount"], tax["tax_code_id"]) == (2_000, code["id"])
        assert tax["tax_account"]["id"] == code["tax_account"]["id"]
        assert invoice["warnings"] == []

    @pytest.mark.parametrize(
        ("taxes", "code", "item"),
        [
            ([by_code("S20", 10_000, 1_999)], "lines_do_not_add_up", "invoices.0"),
            ([by_code("S0", 10_000, 2_000)], "tax_code_mismatch", "invoices.0.tax.0"),
            ([by_code("P20", 10_000, 2_000)], "tax_code_mismatch", "invoices.0.tax.0"),
            ([by_code("S99", 10_000, 2_000)], "reference_not_found", "invoices.0.tax.0"),
        ],
    )
    def test_an_invalid_tax_is_refused_with_its_place(
        self, shop: Business, ledger: Ledger, buyer: Record, taxes: Any, code: str, item: str
    ) -> None:
        body = {"date": ON, "invoices": [open_invoice(buyer, 12_000, tax=taxes)]}
        with ledger.untouched():
            answer = shop.api.post(OPENINGS, json=body)
        refusal = answer.json()
        assert (answer.status_code, refusal["error_code"]) == (422, code)
        assert refusal["detail"]["item"] == item


class TestGetTaxReturn(UnopenedBooks):
    def test_on_cash_an_invoice_counts_as_it_is_paid_in_two_parts(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        """Split 60.00 of 170.00 into 35.29 and 7.06, and 17.65; the other 110.00 are the rest."""
        assert declared(shop) == {}
        paid(shop, invoice, 6_000, "2025-02-01")
        paid(shop, invoice, 11_000, "2025-04-01")
        first, second = drawn_up(shop, 1, "cash"), drawn_up(shop, 2, "cash")
        assert codes(first["codes"]) == {
            "S20": {"net": 3_529, "output": 706},
            "S0": {"net": 1_765},
        }
        assert boxes(first) == {"1": 706, "3": 706, "5": 706, "6": 5_200}
        assert codes(second["codes"]) == {
            "S20": {"net": 6_471, "output": 1_294},
            "S0": {"net": 3_235},
        }
        assert boxes(second) == {"1": 1_294, "3": 1_294, "5": 1_294, "6": 9_700}
        [line] = lines(shop, first)
        assert (line["source_type"], line["account_code"]) == ("payment", "1200")
        assert ledger.balances() == {"1100": 17_000, "2200": -2_000, "3290": -15_000}

    def test_a_return_on_accrual_has_no_open_item(self, shop: Business, invoice: Record) -> None:
        paid(shop, invoice, 6_000, "2025-02-01")
        draft = drawn_up(shop)
        assert (draft["codes"], draft["uncoded"], boxes(draft)) == ([], [], {})

    def test_an_item_without_tax_counts_in_no_return(self, shop: Business, buyer: Record) -> None:
        opening = opened(shop, date=ON, invoices=[open_invoice(buyer, 12_000)])
        paid(shop, SALES.read(shop, opening["invoices"][0]), 12_000, "2025-02-01")
        assert declared(shop) == {}

    def test_a_payment_of_a_filed_quarter_is_late_in_the_next(
        self, shop: Business, invoice: Record
    ) -> None:
        filed(shop, drawn_up(shop, 1, "cash"))
        paid(shop, invoice, 17_000, "2025-02-01")
        assert codes(drawn_up(shop, 2, "cash")["late"]) == {
            "S20": {"net": 10_000, "output": 2_000},
            "S0": {"net": 5_000},
        }

    def test_a_bill_is_recovered_as_far_as_its_code_says(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        """Recover half of 10.00: 60.00 of 120.00 pay 2.50 of tax, and 2.50 are cost."""
        half = {"rate": 10, "recoverable_percent": 50, "valid_from": None, "valid_to": None}
        code = {"code": "PH", "name": "Cars", "direction": "purchases", "treatment": "standard"}
        shop.made("tax-codes/", {**code, "rates": [half]})
        taxes = (by_code("PH", 10_000, 1_000), by_code("PR20", 1_000))
        bill = opened_bill(shop, vendor, *taxes)
        paid(shop, bill, 6_000, "2025-02-01")
        assert declared(shop) == {"PH": {"net": 5_000, "input": 250, "blocked": 250}}
        paid(shop, bill, 6_000, "2025-04-01")
        assert declared(shop, 2) == {"PH": {"net": 5_000, "input": 250, "blocked": 250}}
        assert declared(shop, 1, "accrual") == {}


class TestCredits(UnopenedBooks):
    def test_a_credit_of_a_line_takes_the_tax_from_the_account_of_its_code(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        allocation = {"invoice_id": invoice["id"], "amount": 4_800}
        with ledger.moving() as moved:
            credited(shop, invoice, 4_000, "2025-02-01", allocations=[allocation])
        assert moved == {"3290": 4_000, "2200": 800, "1200": -4_800}
        assert declared(shop, 1, "accrual") == {"S20": {"net": -4_000, "output": -800}}
        assert declared(shop) == {}
        paid(shop, invoice, 12_200, "2025-02-02")
        assert declared(shop) == {"S20": {"net": 6_000, "output": 1_200}, "S0": {"net": 5_000}}

    def test_lines_credit_no_more_than_was_left(self, ledger: Ledger, invoice: Record) -> None:
        source = {"amount": 10_001, "source_line_id": invoice["line_items"][0]["id"]}
        body = SALES.credit_body(invoice["customer"], source, source_invoice_id=invoice["id"])
        refused = ledger.refused("POST", SALES.credits, json=body)
        assert refused == (422, "credit_exceeds_source")

    def test_tax_that_the_buyer_owes_is_given_back_beside_a_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = opened_bill(shop, vendor, by_code("PR20", 10_000))
        assert bill["line_items"][0]["self_assessed_total"] == 2_000
        source = {"amount": 5_000, "source_line_id": bill["line_items"][0]["id"]}
        facts = {"source_bill_id": bill["id"], "received_at": "2025-02-01T09:00:00Z"}
        shop.made(PURCHASES.credits, PURCHASES.credit_body(vendor, source, **facts))
        draft = drawn_up(shop)
        assert boxes(draft) == {"1": -1_000, "3": -1_000, "4": -1_000, "7": -5_000}

    def test_an_opening_credit_counts_when_it_settles_an_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = open_customer_credit(buyer, 1_200, tax=[by_code("S20", 1_000, 200)])
        opening = opened(shop, date=ON, customer_credits=[given])
        invoice = SALES.open(shop, buyer, 2_000, sent_at="2025-02-02T00:00:00Z")
        assert declared(shop, 1, "accrual") == {}
        use = {"allocations": [SALES.share(invoice, 600)]}
        credit = opening["customer_credits"][0]
        shop.api.put(SALES.of_credit(credit), json=use).raise_for_status()
        days = {"start_date": "2025-04-01", "end_date": "2030-12-31"}
        draft = shop.made(RETURNS, {**days, "scheme": "cash"})
        assert codes(draft["codes"])["S20"] == {"net": -500, "output": -100}

    def test_a_refunded_opening_credit_returns_its_tax(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = open_vendor_credit(vendor, 1_200, tax=[by_code("P20", 1_000, 200)])
        [credit] = opened(shop, date=ON, vendor_credits=[given])["vendor_credits"]
        items = [of_credit(credit, 1_200)]
        refund = agreed_refund(shop, vendor, 1_200, allocations=items, refund_date="2025-02-03")
        [payment] = refund["vendor_refund_payments"]
        changed(shop, payment, status="completed", payment_date="2025-02-04")
        assert declared(shop) == {"P20": {"net": -1_000, "input": -200}}
        assert declared(shop, 1, "accrual") == {}
        assert ledger.balances() == {"1100": 1_200, "3290": -1_200}


class TestRefunds(UnopenedBooks):
    def test_a_refund_of_an_opening_invoice_returns_its_tax(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        """Refund 17.00 of 170.00: 10.00 and 2.00 are at 20 %, and 5.00 are zero-rated."""
        paid(shop, invoice, 17_000, "2025-02-01")
        with ledger.moving() as moved:
            refund = refunded(shop, invoice, amount_cents=1_700)
            refund_paid(shop, refund, completed_at="2025-03-01T09:00:00Z")
        assert moved == {"4100": 1_500, "2200": 200, "1100": -1_700}
        assert declared(shop) == {"S20": {"net": 9_000, "output": 1_800}, "S0": {"net": 4_500}}

    def test_a_refund_of_a_line_has_the_code_of_the_line_alone(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        paid(shop, invoice, 17_000, "2025-02-01")
        given_back = [{"line_id": invoice["line_items"][0]["id"], "amount_cents": 600}]
        at = {"completed_at": "2025-03-01T09:00:00Z"}
        refunded(shop, invoice, amount_cents=600, lines=given_back, **at)
        assert declared(shop) == {"S20": {"net": 9_500, "output": 1_900}, "S0": {"net": 5_000}}

    def test_a_vendor_refund_of_an_opening_bill_returns_its_tax(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = opened_bill(shop, vendor, by_code("P20", 10_000, 2_000))
        paid(shop, bill, 12_000, "2025-02-01")
        with ledger.moving() as moved:
            agreed(shop, vendor, 1_200, of_bill(bill, 1_200))
        assert moved == {"1270": 1_200, "3290": -1_000, "1300": -200}


class TestWriteOffs(UnopenedBooks):
    def test_relief_takes_the_tax_back_from_the_account_of_its_code(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        """Write off 60.00 of 120.00 with relief: 50.00, and 10.00 of tax."""
        invoice = opened_invoice(shop, buyer, by_code("S20", 10_000, 2_000))
        paid(shop, invoice, 6_000, "2025-02-01")
        at = {"write_off_at": "2025-03-01T09:00:00Z"}
        with ledger.moving() as moved:
            done = written_off(shop, invoice, tax_relief=True, **at)
        assert moved == {"6200": 5_000, "2200": 1_000, "1200": -6_000}
        assert done["write_offs"][0]["tax_relieved_cents"] == 1_000
        draft = drawn_up(shop)
        assert codes(draft["codes"]) == {"S20": {"relief_net": 5_000, "relief": 1_000}}
        assert boxes(draft) == {"4": 1_000, "5": 1_000}
        assert declared(shop) == {"S20": {"net": 5_000, "output": 1_000}}

    def test_a_reversed_write_off_owes_the_tax_again(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        done = written_off(shop, invoice, tax_relief=True, write_off_at="2025-03-01T09:00:00Z")
        path = f"{SALES.of(invoice, 'write-offs')}{done['write_offs'][0]['id']}/"
        with ledger.moving() as moved:
            shop.api.delete(path).raise_for_status()
        assert moved == {"6200": -15_000, "2200": -2_000, "1200": 17_000}
        assert SALES.status_of(shop, invoice) == ("sent", 17_000)

    def test_paid_and_relieved_tax_add_up_to_the_opening_tax(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        taxes = (by_code("S20", 9_999, 2_001), by_code("S5", 777, 38), by_code("S20", 1, 1))
        invoice = opened_invoice(shop, buyer, *taxes)
        for amount in (333, 4_001):
            paid(shop, invoice, amount, "2025-02-01")
        written_off(shop, invoice, tax_relief=True, write_off_at="2025-03-01T09:00:00Z")
        cash, relieved = declared(shop), declared(shop, 1, "accrual")
        for code, net, tax in (("S20", 10_000, 2_002), ("S5", 777, 38)):
            assert cash[code]["net"] + relieved[code]["relief_net"] == net
            assert cash[code]["output"] + relieved[code]["relief"] == tax

    def test_without_relief_the_tax_stays(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        with ledger.moving() as moved:
            written_off(shop, invoice, write_off_at="2025-03-01T09:00:00Z")
        assert moved == {"6200": 17_000, "1200": -17_000}
        assert (declared(shop), declared(shop, 1, "accrual")) == ({}, {})


class TestReverseOpeningBalance(UnopenedBooks):
    def test_a_reversed_opening_is_in_no_tax_return(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = open_invoice(buyer, 12_000, tax=[by_code("S20", 10_000, 2_000)])
        opening = opened(shop, date=ON, invoices=[given])
        reversed_(shop, opening, "2025-02-28")
        assert ledger.balances() == {}
        assert (declared(shop), declared(shop, 1, "accrual")) == ({}, {})
        again = opened(shop, date=ON, invoices=[given])
        invoice = SALES.read(shop, again["invoices"][0])
        paid(shop, invoice, 12_000, "2025-03-01")
        assert declared(shop) == {"S20": {"net": 10_000, "output": 2_000}}
        path = f"{OPENINGS}{again['id']}/reverse/"
        assert ledger.refused("POST", path) == (409, "opening_balance_settled")


class TestUpdateTaxCode(UnopenedBooks):
    def test_a_code_of_an_open_item_cannot_change_its_treatment(
        self, shop: Business, ledger: Ledger, invoice: Record
    ) -> None:
        path = f"tax-codes/{codes_of(shop)['S20']['id']}/"
        refused = ledger.refused("PATCH", path, json={"treatment": "reduced"})
        assert refused == (409, "tax_code_in_use")
