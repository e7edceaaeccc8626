"""Open items that name the accounts of their net: income and cost on cash once they are settled."""

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
from tests.builders.reports import report
from tests.builders.tax_returns import codes, drawn_up
from tests.builders.taxed_quarters import credited, paid
from tests.builders.trade import PURCHASES, SALES, Record
from tests.builders.vendor_refunds import agreed, of_bill
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

ON = "2025-01-31"
TAXED = [by_code("S20", 10_000, 2_000), by_code("S0", 5_000)]


def net(account: str, amount: int) -> Record:
    return {"account": account, "net_cents": amount}


NETS = [net("4000", 9_000), net("4500", 6_000)]


def profit(shop: Business, basis: str) -> dict[str, int]:
    """Return the amounts of income and cost of the year by account, without zeros."""
    year = {"start_date": "2025-01-01", "end_date": "2026-12-31"}
    found = report(shop, "reports/profit-and-loss", **year, basis=basis)
    sections = [each for each in found.values() if isinstance(each, dict) and "line_items" in each]
    lines = [line for section in sections for line in section["line_items"]]
    return {each["account_code"]: each["value_cents"] for each in lines if each["value_cents"]}


def opened_invoice(shop: Business, buyer: Record, **facts: Any) -> Record:
    given = open_invoice(buyer, 17_000, **{"tax": TAXED, "accounts": NETS, **facts})
    held = {"account": "2200", "credit_amount": 2_000}
    opening = opened(shop, date=ON, accounts=[held], invoices=[given])
    return SALES.read(shop, opening["invoices"][0])


class TestCreateOpeningBalance(UnopenedBooks):
    def test_accounts_of_an_opening_are_shown_as_given(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        made = opened(
            shop,
            date=ON,
            invoices=[open_invoice(buyer, 17_000, tax=TAXED, accounts=NETS)],
            bills=[open_bill(vendor, 700, accounts=[net("6000", 500), net("6000", 200)])],
            customer_credits=[open_customer_credit(buyer, 50, accounts=[net("4100", 50)])],
            vendor_credits=[open_vendor_credit(vendor, 60)],
        )
        chart = shop.api.get("general-ledger/chart-of-accounts/", params={"page_size": 100})
        ids = {each["id"]: each["code"] for each in chart.json()["results"]}
        shown = [
            {ids[each["account_id"]]: each["net_cents"] for each in item.get("accounts", [])}
            for kind in ("invoices", "bills", "customer_credits", "vendor_credits")
            for item in made[kind]
        ]
        assert shown == [{"4000": 9_000, "4500": 6_000}, {"6000": 700}, {"4100": 50}, {}]
        taxes = [(each["net_cents"], each["tax_cents"]) for each in made["invoices"][0]["tax"]]
        assert taxes == [(10_000, 2_000), (5_000, 0)]

    def test_on_accrual_the_opening_stays_on_equity(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = opened_invoice(shop, buyer)
        assert ledger.postings(invoice) == [(ON, {"1200": 17_000, "3290": -17_000})]
        paid(shop, invoice, 17_000, "2025-02-01")
        assert profit(shop, "accrual") == {}

    def test_on_cash_what_is_paid_is_income_on_its_accounts(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = opened_invoice(shop, buyer)
        assert profit(shop, "cash") == {}
        paid(shop, invoice, 8_500, "2025-02-01")
        assert profit(shop, "cash") == {"4000": 4_500, "4500": 3_000}
        declared = codes(drawn_up(shop, 1, "cash")["codes"])
        assert declared == {"S20": {"net": 5_000, "output": 1_000}, "S0": {"net": 2_500}}
        rest = paid(shop, SALES.read(shop, invoice), 8_500, "2025-02-02")
        assert profit(shop, "cash") == {"4000": 9_000, "4500": 6_000}
        shop.api.patch(f"invoices/payments/{rest['id']}/", json={"status": "failed"})
        assert profit(shop, "cash") == {"4000": 4_500, "4500": 3_000}
        ledger.audit()

    def test_without_accounts_it_stays_on_equity_on_cash_too(
        self, shop: Business, buyer: Record
    ) -> None:
        given = open_invoice(buyer, 17_000, tax=TAXED)
        opening = opened(shop, date=ON, invoices=[given])
        paid(shop, SALES.read(shop, opening["invoices"][0]), 17_000, "2025-02-01")
        assert profit(shop, "cash") == {}

    def test_a_paid_bill_is_cost_with_the_tax_that_is_not_recovered(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        shop.made(
            "tax-codes/",
            {
                "code": "HALF",
                "name": "Half",
                "direction": "purchases",
                "treatment": "standard",
                "rates": [{"rate": "12", "recoverable_percent": 50}],
            },
        )
        given = open_bill(
            vendor,
            1_120,
            tax=[by_code("HALF", 1_000, 120)],
            accounts=[net("6100", 600), net("6000", 400)],
        )
        opening = opened(shop, date=ON, bills=[given])
        bill = PURCHASES.read(shop, opening["bills"][0])
        paid(shop, bill, 1_120, "2025-02-01")
        assert profit(shop, "cash") == {"6100": 600 + 36, "6000": 400 + 24}
        agreed(shop, vendor, 560, of_bill(bill, 560))
        ledger.audit()

    def test_a_credit_and_an_invoice_of_one_account_cancel_out(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        opening = opened(
            shop,
            date=ON,
            invoices=[open_invoice(buyer, 1_000, accounts=[net("4000", 1_000)])],
            customer_credits=[open_customer_credit(buyer, 300, accounts=[net("4000", 300)])],
        )
        [invoice], [credit] = opening["invoices"], opening["customer_credits"]
        items = [{"invoice_id": invoice["id"], "amount": 300}]
        answer = shop.api.put(f"customer-credits/{credit['id']}/", json={"allocations": items})
        assert answer.status_code == 200, answer.text
        assert profit(shop, "cash") == {}
        paid(shop, SALES.read(shop, invoice), 700, "2025-02-01")
        assert profit(shop, "cash") == {"4000": 700}
        ledger.audit()

    def test_a_credit_of_a_line_uses_its_account(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = opened_invoice(shop, buyer)
        first = invoice["line_items"][0]
        assert (first["account_identifier"], first["total_amount"]) != (None, 0)
        credit = credited(shop, invoice, 3_000, "2025-02-20")
        [(_, amounts)] = ledger.postings(credit)
        assert amounts == {"4000": 3_000, "2200": 600, "2250": -3_600}
        ledger.audit()

    def test_relief_takes_the_tax_from_the_account_of_its_code(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = opened_invoice(shop, buyer)
        off = {"amount_cents": 17_000, "tax_relief": True}
        shop.made(f"invoices/{invoice['id']}/write-offs/", off)
        assert ledger.balances().get("2200", 0) == 0
        assert profit(shop, "cash") == {}
        ledger.audit()

    def test_an_opening_with_accounts_is_reversed(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = open_invoice(buyer, 17_000, tax=TAXED, accounts=NETS)
        reversed_(shop, opened(shop, date=ON, invoices=[given]))
        assert ledger.balances() == {}
        ledger.audit()

    @pytest.mark.parametrize(
        ("accounts", "refusal"),
        [
            ([net("4000", 14_999)], (422, "lines_do_not_add_up")),
            ([net("4000", 17_000)], (422, "lines_do_not_add_up")),
            ([net("1200", 15_000)], (422, "control_account")),
            ([net("none", 15_000)], (422, "reference_not_found")),
            ([], (400, "validation_error")),
        ],
    )
    def test_wrong_accounts_are_refused_with_their_place(
        self, shop: Business, buyer: Record, accounts: list[Record], refusal: tuple[int, str]
    ) -> None:
        given = open_invoice(buyer, 17_000, tax=TAXED, accounts=accounts)
        answer = shop.api.post(OPENINGS, json={"date": ON, "invoices": [given]})
        assert (answer.status_code, answer.json()["error_code"]) == refusal
        assert "invoices.0" in answer.text
