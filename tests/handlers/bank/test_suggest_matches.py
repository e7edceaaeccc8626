"""What a bank line may be: open money the same way, by amount, reference, name and day."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BILL_PAYMENT,
    BOOKED,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    open_account,
)
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid, part, refunded, sent, settled
from tests.builders.trade import Record
from tests.builders.vendor_refunds import agreed
from tests.partner import Business


@pytest.fixture(scope="module")
def bank(shop: Business) -> Bank:
    return Bank(shop, open_account(shop))


@pytest.fixture(scope="module")
def baker(shop: Business) -> Record:
    return shop.customer(company_name="Blue Door Bakery Ltd")


class TestSuggestMatches:
    def test_every_reason_counts(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, baker, 7_700)
        payment = paid(shop, baker, 7_700, part(invoice, 7_700), payment_date=BOOKED)
        said = f"{invoice['invoice_number'].replace('-', ' ')} thanks"
        line = bank.line(7_700, description=said, counterparty_name="BLUE DOOR BAKERY")
        [best, *_] = bank.suggested(line)
        assert best == {
            "target_type": "invoice_payment",
            "target_id": payment["id"],
            "amount_cents": 7_700,
            "score": 100,
            "reasons": ["amount", "reference", "name", "date"],
        }

    def test_the_amount_is_what_came_after_the_fee(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        payment = paid(shop, shop.customer(company_name="Zed"), 8_123, processing_fee_cents=23)
        [best, *_] = bank.suggested(bank.line(8_100))
        assert (best["target_id"], best["amount_cents"]) == (payment["id"], 8_100)
        assert best["reasons"] == ["amount", "date"]

    def test_a_reference_goes_before_a_name_and_a_name_before_a_day(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        zen, xen = (shop.customer(company_name=name) for name in ("Zenith Roasters", "Xen"))
        named = paid(shop, xen, 6_111, payment_reference="TX-998877")
        known = paid(shop, zen, 6_222)
        day = paid(shop, xen, 6_333)
        line = bank.line(6_000, counterparty_name="Zenith Roaster", reference="TX-998877")
        found = [each["target_id"] for each in bank.suggested(line)]
        assert found[:2] == [named["id"], known["id"]]
        assert day["id"] not in found

    @pytest.mark.parametrize(
        ("kind", "amount"),
        [
            (BILL_PAYMENT, -4_321),
            (REFUND_PAYMENT, -4_322),
            (VENDOR_REFUND_PAYMENT, 4_323),
            (PAYOUT, 4_324),
        ],
    )
    def test_money_of_each_kind_is_found_by_its_amount(
        self,
        shop: Business,
        ledger: Ledger,
        baker: Record,
        vendor: Record,
        bank: Bank,
        kind: str,
        amount: int,
    ) -> None:
        target = money(shop, baker, vendor, kind, abs(amount))
        [best, *_] = bank.suggested(bank.line(amount))
        assert (best["target_type"], best["target_id"]) == (kind, target["id"])
        assert target["id"] not in [
            each["target_id"] for each in bank.suggested(bank.line(-amount))
        ]

    def test_the_rests_of_line_and_payment_are_compared(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        payment = paid(shop, baker, 3_100)
        bank.match(bank.line(1_000), PAYMENT, payment)
        line = bank.line(2_600)
        bank.match(line, PAYMENT, paid(shop, baker, 500))
        [best, *_] = bank.suggested(line)
        assert (best["target_id"], best["amount_cents"]) == (payment["id"], 2_100)
        assert "amount" in best["reasons"]
        bank.match(line, PAYMENT, payment)
        assert bank.suggested(line) == []

    def test_money_that_cannot_be_linked_is_not_suggested(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        failed = paid(shop, baker, 2_345, status="failed")
        other = Bank(shop, open_account(shop))
        elsewhere = paid(shop, baker, 2_346)
        other.match(other.line(1), PAYMENT, elsewhere)
        [item] = payout(shop, baker, 2_347)["payments"]
        late = paid(shop, baker, 2_348, payment_date="2024-11-30")
        for money_, left_over in (
            (failed, 2_345),
            (elsewhere, 2_345),
            (item, 2_347),
            (late, 2_348),
        ):
            found = [each["target_id"] for each in bank.suggested(bank.line(left_over))]
            assert money_["id"] not in found

    def test_a_payment_with_a_fee_above_its_amount_is_not_suggested(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        payment = paid(shop, baker, 100, processing_fee_cents=5_443)
        line = bank.line(-5_343)
        assert bank.suggested(line) == []
        bank.match(line, PAYMENT, payment)

    def test_an_external_id_is_found_on_any_day(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        payment = paid(shop, baker, 1_999, payment_date="2024-01-01", external_id="pay 77")
        [best] = bank.suggested(bank.line(1_234, reference="pay 77"))
        assert (best["target_id"], best["reasons"]) == (payment["id"], ["reference"])

    def test_no_more_than_twenty_are_suggested(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        own = shop.customer(company_name="Plenty")
        for _ in range(25):
            paid(shop, own, 555)
        assert len(bank.suggested(bank.line(555))) <= 20


def money(shop: Business, baker: Record, vendor: Record, kind: str, amount: int) -> Record:
    match kind:
        case "bill_payment":
            return bill_paid(shop, vendor, amount)
        case "invoice_refund_payment":
            at = "2025-03-20T10:00:00Z"
            refund = refunded(shop, settled(shop, baker, amount), completed_at=at)
            made: Record = refund["refund_payments"][0]
            return made
        case "vendor_refund_payment":
            payment: Record = agreed(shop, vendor, amount)["payment"]
            return payment
    return payout(shop, baker, amount)


def payout(shop: Business, baker: Record, amount: int) -> Record:
    taken = paid(shop, baker, amount, payment_method="stripe")
    body = {
        "processor": "stripe",
        "paid_out_amount_cents": amount,
        "currency": "GBP",
        "payment_ids": [taken["id"]],
        "completed_at": "2025-03-11T10:00:00Z",
    }
    return shop.made("payouts/", body)
