"""A British cash-scheme business whose bookkeeper is a month late; each figure is by hand.

In cents, first quarter of 2025. 20 % VAT everywhere.

    5 Jan   deposit invoice          100,000 +  20,000
    8 Jan   its money, current account          120,000
    20 Jan  invoice: work 500,000 less the deposit 100,000: 400,000 + 80,000
    28 Jan  cheque, current account             240,000
    4 Feb   the bank returns the cheque        -240,000
    10 Feb  bill                      30,000 +   6,000
    12 Feb  paid by card                         36,000
    18 Feb  customer pays into the reserve      240,000
    27 Feb  fee of the card                         500
    5 Mar   the card is paid from the current account 36,500
    20 Mar  part of the rest, current account    60,000

January's statement of the current account is closed before the cheque's return is entered, and all
allocations are entered in April.
"""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import BILL_PAYMENT, PAYMENT, TRANSFER, Bank, open_account
from tests.builders.reports import report
from tests.builders.tax_returns import boxes, drawn_up, explain_themselves, filed
from tests.builders.trade import PURCHASES, SALES, Record, line
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
QUARTER = {"start_date": "2025-01-01", "end_date": "2025-03-31"}
END = "2025-03-31"


@dataclass(frozen=True)
class Shop:
    """The business with its three bank accounts, and its two invoices."""

    business: Business
    current: Bank
    reserve: Bank
    card: Bank
    deposit: Record
    invoice: Record

    def owed_on(self, day: str) -> int:
        """Return the receivables at the end of a day."""
        aging = report(self.business, "insights/ar-aging", as_of_date=day)
        total: int = aging["total_outstanding_cents"]
        return total


def invoiced(business: Business, customer: Record, on: str, *lines: Record) -> Record:
    body = SALES.body(customer, *lines, issue_date=on, sent_at="2025-04-15T09:00:00Z")
    return business.made(SALES.path, body)


def received(business: Business, customer: Record, amount: int, on: str, bank: Bank) -> Record:
    """Record money without an allocation."""
    facts = {"payment_date": on, "bank_account_id": bank.account["id"]}
    return SALES.pay(business, customer, amount, **facts)


def allocated(business: Business, payment: Record, invoice: Record, amount: int, on: str) -> None:
    """Allocate money late, on its own day."""
    part = {**SALES.part(invoice, amount), "allocation_date": on}
    path = f"invoices/payments/{payment['id']}/"
    answer = business.api.patch(path, json={"allocations": [part]})
    assert answer.status_code == 200, answer.text


def paid_by_card(business: Business, card: Bank) -> None:
    vendor = business.vendor()
    body = PURCHASES.body(vendor, line(30_000, tax_code="P20"), bill_date="2025-02-10")
    bill = business.made(PURCHASES.path, {**body, "received_at": "2025-04-15T09:00:00Z"})
    facts = {"payment_date": "2025-02-12", "bank_account_id": card.account["id"]}
    payment = PURCHASES.pay(business, vendor, 36_000, PURCHASES.part(bill, 36_000), **facts)
    card.match(card.line(-36_000, date="2025-02-12"), BILL_PAYMENT, payment)
    card.categorize(card.line(-500, date="2025-02-27"), "6300")


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Shop:
    business = acme.business(timezone="Europe/London")
    debt = {"account_type": "liability", "account_subtype": "current_liabilities"}
    business.made(ACCOUNTS, {"code": "2050", "name": "Company card", **debt})
    current, reserve, card = (
        Bank(business, open_account(business, display_name=name, **facts))
        for name, facts in (("Current", {}), ("Reserve", {}), ("Card", {"account": "2050"}))
    )
    customer = business.customer()
    deposit = invoiced(business, customer, "2025-01-05", line(100_000, tax_code="S20"))
    lines = line(500_000, tax_code="S20"), line(-100_000, tax_code="S20")
    invoice = invoiced(business, customer, "2025-01-20", *lines)
    assert invoice["total_amount"] == 480_000
    first = received(business, customer, 120_000, "2025-01-08", current)
    cheque = received(business, customer, 240_000, "2025-01-28", current)
    second = received(business, customer, 240_000, "2025-02-18", reserve)
    third = received(business, customer, 60_000, "2025-03-20", current)
    current.match(current.line(120_000, date="2025-01-08"), PAYMENT, first)
    current.match(current.line(240_000, date="2025-01-28"), PAYMENT, cheque)
    allocated(business, first, deposit, 120_000, "2025-01-08")
    allocated(business, cheque, invoice, 240_000, "2025-01-28")
    current.closed("2025-01-31", 360_000)
    current.match_return(current.line(-240_000, date="2025-02-04"), PAYMENT, cheque)
    reserve.match(reserve.line(240_000, date="2025-02-18"), PAYMENT, second)
    allocated(business, second, invoice, 240_000, "2025-02-18")
    paid_by_card(business, card)
    out = current.line(-36_500, date="2025-03-05")
    current.transfer(out, card)
    back = {"target_type": TRANSFER, "target_id": out["id"]}
    card.done(card.line(36_500, date="2025-03-05"), "match", back)
    current.match(current.line(60_000, date="2025-03-20"), PAYMENT, third)
    allocated(business, third, invoice, 60_000, "2025-03-20")
    return Shop(business, current, reserve, card, deposit, invoice)


class TestLateQuarter:
    def test_each_statement_closes(self, shop: Shop) -> None:
        # 360,000 - 240,000 - 36,500 + 60,000
        for bank, balance in ((shop.current, 143_500), (shop.reserve, 240_000), (shop.card, 0)):
            statement = bank.closed(END, balance)
            assert (statement["lines_without_money"], statement["money_without_lines"]) == ([], [])

    @pytest.mark.parametrize(
        ("day", "owed"),
        [
            ("2025-01-07", 120_000),
            ("2025-01-20", 480_000),
            ("2025-01-31", 240_000),
            ("2025-02-10", 480_000),
            ("2025-02-28", 240_000),
            (END, 180_000),
        ],
    )
    def test_each_day_knows_what_was_owed(self, shop: Shop, day: str, owed: int) -> None:
        assert shop.owed_on(day) == owed

    @pytest.mark.parametrize(
        ("basis", "profit"),
        [
            # 100,000 + 400,000 invoiced, less 30,000 and 500
            ("accrual", 469_500),
            # 100,000 + 200,000 - 200,000 + 200,000 + 50,000 received, less 30,000 and 500
            ("cash", 319_500),
        ],
    )
    def test_the_profit_is_of_the_quarter(self, shop: Shop, basis: str, profit: int) -> None:
        found = report(shop.business, "reports/profit-and-loss", basis=basis, **QUARTER)
        assert found["summary"]["net_profit_cents"] == profit

    def test_the_profit_of_january_has_the_cheque(self, shop: Shop) -> None:
        january = {"start_date": "2025-01-01", "end_date": "2025-01-31", "basis": "cash"}
        found = report(shop.business, "reports/profit-and-loss", **january)
        assert found["summary"]["net_profit_cents"] == 300_000

    def test_the_return_is_of_the_money_and_settles(
        self, shop: Shop, api_server: ApiServer
    ) -> None:
        draft = drawn_up(shop.business, 1, "cash")
        # Box 1: a sixth of 120,000 + 240,000 - 240,000 + 240,000 + 60,000; box 4: of 36,000.
        figures: dict[str, Any] = {"1": 70_000, "3": 70_000, "4": 6_000, "5": 64_000}
        assert boxes(draft) == {**figures, "6": 350_000, "7": 30_000}
        explain_themselves(shop.business, draft)
        filed(shop.business, draft)
        # The tax of the unpaid 180,000 stays: a sixth of it.
        assert shop.business.balance("2230") == 64_000
        assert shop.business.balance("2200") == 30_000
        assert shop.business.balance("1300") == 0
        Ledger(api_server, shop.business).audit()
