"""Money that names its bank account: it precedes the account of the method."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BILL_PAYMENT, PAYMENT, Bank, matching, open_account
from tests.builders.payouts import by_card, payout_body
from tests.builders.purchases import bill_paid
from tests.builders.sales import INVOICES, invoice_body, paid, refund_paid, refunded, settled
from tests.builders.trade import NOBODY, SENT, Record
from tests.builders.vendor_refunds import agreed, agreed_refund, changed
from tests.partner import Business

ACCOUNTS = "general-ledger/chart-of-accounts/"
PAYMENTS = "invoices/payments/"
BILL_PAYMENTS = "bills/payments/"
DAY = "2025-03-20T10:00:00Z"
CARD = "2055"


@pytest.fixture(scope="module")
def card(shop: Business, current: Bank) -> Bank:
    """A credit card over a current liability."""
    kind = {"account_type": "liability", "account_subtype": "current_liabilities"}
    shop.made(ACCOUNTS, {"code": CARD, "name": "Card", **kind})
    return Bank(shop, open_account(shop, display_name="Card", account=CARD))


def on(bank: Bank) -> Record:
    return {"bank_account_id": bank.account["id"]}


def with_invoice(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    """Create an invoice that is paid with it; return the payment."""
    body = invoice_body(buyer, sent_at=SENT, payments=[{"payment_method": "cash", **at}])
    invoice = shop.made(INVOICES, body)
    [paid_by] = invoice["payment_allocations"]
    return shop.api.get(f"{PAYMENTS}{paid_by['payment_id']}/").json()


def refund_at_once(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    refund = refunded(shop, settled(shop, buyer, 90), completed_at=DAY, **at)
    assert refund["bank_account_id"] == at["bank_account_id"]
    return refund["refund_payments"][0]


def refund_remembered(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    return refund_paid(shop, refunded(shop, settled(shop, buyer, 90), method="CHECK", **at))


def refund_paid_at(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    return refund_paid(shop, refunded(shop, settled(shop, buyer, 90), method="CASH"), **at)


def vendor_refund(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    payment = agreed(shop, vendor, 90, **at)["payment"]
    return changed(shop, payment, status="completed")["payment"]


def vendor_refund_in_parts(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    parts = [{"amount_cents": 90, "payment_method": "cash", **at}]
    [payment] = agreed_refund(shop, vendor, 90, payments=parts)["vendor_refund_payments"]
    return changed(shop, payment, status="completed")["payment"]


def vendor_refund_later(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    payment = agreed(shop, vendor, 90)["payment"]
    return changed(shop, payment, status="completed", **at)["payment"]


def in_cash(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    return paid(shop, buyer, 90, payment_method="cash", **at)


def by_stripe(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    return paid(shop, buyer, 90, payment_method="stripe", **at)


def of_bill(shop: Business, buyer: Record, vendor: Record, at: Record) -> Record:
    return bill_paid(shop, vendor, 90, **at)


Make = Callable[[Business, Record, Record, Record], Record]
KINDS: dict[str, tuple[Make, int]] = {
    "a payment in cash": (in_cash, 90),
    "a payment by card": (by_stripe, 90),
    "a payment with its invoice": (with_invoice, 1_000),
    "a bill payment": (of_bill, -90),
    "a refund at once": (refund_at_once, -90),
    "a refund that names it": (refund_remembered, -90),
    "a refund payment": (refund_paid_at, -90),
    "a vendor's refund": (vendor_refund, 90),
    "a vendor's refund in parts": (vendor_refund_in_parts, 90),
    "a vendor's refund completed there": (vendor_refund_later, 90),
}


class TestMoney:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_on_the_bank_account_that_it_names(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        vendor: Record,
        card: Bank,
        kind: str,
    ) -> None:
        make, comes = KINDS[kind]
        money = make(shop, buyer, vendor, on(card))
        assert money["bank_account_id"] == card.account["id"]
        moved = [amounts[CARD] for _, amounts in ledger.postings(money) if CARD in amounts]
        assert moved == [comes]

    def test_without_one_its_method_decides(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        with ledger.moving() as moved:
            assert paid(shop, buyer, 70, payment_method="cash")["bank_account_id"] is None
        assert moved == {"1000": 70, "2100": -70}

    def test_another_method_of_a_refund_payment_is_not_on_the_bank_account_of_the_refund(
        self, shop: Business, ledger: Ledger, buyer: Record, card: Bank
    ) -> None:
        refund = refunded(shop, settled(shop, buyer, 90), **on(card))
        payment = refund_paid(shop, refund, method="CASH")
        assert payment["bank_account_id"] is None
        [(_, amounts)] = ledger.postings(payment)
        assert amounts == {"2300": 90, "1000": -90}

    def test_a_fee_is_paid_from_it(
        self, shop: Business, ledger: Ledger, buyer: Record, card: Bank
    ) -> None:
        with ledger.moving() as moved:
            paid(shop, buyer, 100, processing_fee_cents=3, **on(card))
        assert moved == {CARD: 97, "2100": -100, "6100": 3}


class TestChange:
    def test_it_corrects_the_day_of_the_payment(
        self, shop: Business, ledger: Ledger, vendor: Record, card: Bank, bank: Bank
    ) -> None:
        payment = bill_paid(shop, vendor, 80, payment_date="2025-02-03")
        path = f"{BILL_PAYMENTS}{payment['id']}/"
        for names, account in ((on(card), CARD), (on(bank), bank.code)):
            changed = shop.api.patch(path, json=names).json()["payment"]
            assert changed["bank_account_id"] == names["bank_account_id"]
            assert balances(ledger, payment) == {account: -80, "1250": 80}
        assert {on for on, _ in ledger.postings(payment)} == {"2025-02-03"}
        back = shop.api.patch(path, json={"bank_account_id": None}).json()["payment"]
        assert back["bank_account_id"] is None
        assert balances(ledger, payment) == {"1100": -80, "1250": 80}

    def test_a_put_keeps_it_and_a_repeat_changes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, card: Bank
    ) -> None:
        payment = paid(shop, buyer, 60, **on(card))
        path = f"{PAYMENTS}{payment['id']}/"
        assert shop.api.put(path, json={}).json()["payment"]["bank_account_id"]
        with ledger.untouched():
            assert shop.api.patch(path, json=on(card)).status_code == 200

    def test_a_closed_statement_holds_its_account(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        closed = Bank(shop, open_account(shop))
        closed.closed("2025-03-31", 0)
        payment = paid(shop, buyer, 60, payment_date="2025-03-30")
        path = f"{PAYMENTS}{payment['id']}/"
        refused = ledger.refused("PATCH", path, json=on(closed))
        assert refused == (409, "bank_reconciled")


class TestRefusals:
    @pytest.mark.parametrize("method", ["POST", "PATCH"])
    def test_an_unknown_and_an_inactive_bank_account(
        self, shop: Business, ledger: Ledger, buyer: Record, method: str
    ) -> None:
        retired = Bank(shop, open_account(shop))
        assert shop.api.delete(f"{ACCOUNTS}{retired.code}/").status_code == 200
        body: dict[str, Any] = {}
        path = f"{PAYMENTS}{paid(shop, buyer, 60)['id']}/"
        if method == "POST":
            body = {
                "customer_id": buyer["id"],
                "total_amount_cents": 60,
                "payment_date": "2025-03-12",
                "currency": "GBP",
                "payment_method": "cash",
            }
            path = PAYMENTS
        for id_, code in (
            (NOBODY, "reference_not_found"),
            (retired.account["id"], "bank_account_inactive"),
        ):
            refused = ledger.refused(method, path, json={**body, "bank_account_id": id_})
            assert refused == (422, code)

    def test_a_known_external_id_is_found_first(self, shop: Business, buyer: Record) -> None:
        payment = paid(shop, buyer, 60, external_id="known at a bank")
        body = {
            "customer_id": buyer["id"],
            "total_amount_cents": 60,
            "payment_date": "2025-03-12",
            "currency": "GBP",
            "payment_method": "cash",
            "external_id": "known at a bank",
            "bank_account_id": NOBODY,
        }
        answer = shop.api.post(PAYMENTS, json=body)
        assert (answer.status_code, answer.json()["payment"]["id"]) == (200, payment["id"])

    def test_a_payment_in_a_payout_stays_in_clearing(
        self, shop: Business, ledger: Ledger, buyer: Record, card: Bank
    ) -> None:
        held = by_card(shop, buyer, 100)
        shop.made("payouts/", payout_body(100, held))
        path = f"{PAYMENTS}{held['id']}/"
        answer = shop.api.patch(path, json=on(card))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "in_payout")
        assert answer.json()["detail"]["fields"] == ["bank_account_id"]
        at_bank = by_card(shop, buyer, 100, **on(card))
        refused = ledger.refused("POST", "payouts/", json=payout_body(100, at_bank))
        assert refused == (422, "item_not_in_clearing")

    @pytest.mark.parametrize("kind", [PAYMENT, BILL_PAYMENT])
    def test_a_matched_payment_names_no_other_bank_account(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        vendor: Record,
        bank: Bank,
        card: Bank,
        kind: str,
    ) -> None:
        comes = kind == PAYMENT
        money = paid(shop, buyer, 90) if comes else bill_paid(shop, vendor, 90)
        path = f"{PAYMENTS if comes else BILL_PAYMENTS}{money['id']}/"
        line = bank.line(90 if comes else -90)
        bank.match(line, kind, money)
        refused = ledger.refused("PATCH", path, json=on(card))
        assert refused == (422, "bank_account_mismatch")
        assert shop.api.patch(path, json=on(bank)).status_code == 200
        bank.unmatch(line)
        account = ledger_account(ledger, money)
        assert account == bank.code


class TestMatch:
    def test_a_match_fixes_another_account_and_an_unmatch_gives_back_the_named_one(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank, card: Bank
    ) -> None:
        payment = bill_paid(shop, vendor, 90, **on(card))
        line = bank.line(-90)
        bank.match(line, BILL_PAYMENT, payment)
        assert ledger_account(ledger, payment) == bank.code
        shown = shop.api.get(f"{BILL_PAYMENTS}{payment['id']}/").json()
        assert shown["bank_account_id"] == card.account["id"]
        bank.unmatch(line)
        assert ledger_account(ledger, payment) == CARD
        of_card = card.line(-90)
        card.match(of_card, BILL_PAYMENT, payment)
        assert card.refused(of_card, "match", matching(BILL_PAYMENT, payment, 1))[0] == 422


class TestPayout:
    def test_is_paid_to_the_bank_account_that_it_names_until_a_line_shows_another(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, card: Bank
    ) -> None:
        body = payout_body(100, by_card(shop, buyer, 100), external_id="to a bank", **on(card))
        with ledger.moving() as moved:
            payout = shop.made("payouts/", body)
        assert payout["bank_account_id"] == card.account["id"]
        assert moved == {CARD: 100, "1150": -100}
        line = bank.line(100)
        bank.match(line, "payout", payout)
        assert balances(ledger, payout) == {bank.code: 100, "1150": -100}
        bank.unmatch(line)
        assert balances(ledger, payout) == {CARD: 100, "1150": -100}

    def test_an_update_moves_it_and_absent_it_stays(
        self, shop: Business, ledger: Ledger, buyer: Record, card: Bank
    ) -> None:
        body = payout_body(100, by_card(shop, buyer, 100), external_id="moved to a bank")
        payout = shop.made("payouts/", body)
        for names, account in ((on(card), CARD), ({}, CARD), ({"bank_account_id": None}, "1100")):
            answer = shop.api.post("payouts/", json={**body, **names})
            assert answer.status_code == 200
            assert balances(ledger, payout) == {account: 100, "1150": -100}
        refused = ledger.refused("POST", "payouts/", json={**body, "bank_account_id": NOBODY})
        assert refused == (422, "reference_not_found")


class TestIntegrity:
    def test_the_books_are_green(
        self, shop: Business, buyer: Record, vendor: Record, card: Bank
    ) -> None:
        for make, _ in KINDS.values():
            make(shop, buyer, vendor, on(card))
        found = shop.api.get("integrity/").json()
        assert [each for each in found["checks"] if not each["ok"]] == []


def balances(ledger: Ledger, money: Record) -> dict[str, int]:
    """Return the amounts that all entries of money leave on each account."""
    total: dict[str, int] = {}
    for _, amounts in ledger.postings(money):
        for code, amount in amounts.items():
            total[code] = total.get(code, 0) + amount
    return {code: amount for code, amount in total.items() if amount}


def ledger_account(ledger: Ledger, money: Record) -> str:
    """Return the account of the bank on which money is."""
    [code] = balances(ledger, money).keys() - {"1250", "2100"}
    return code
