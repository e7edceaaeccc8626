"""Suggested matches of a bank line: open money by amount, reference, name and day."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, PAYMENT, VENDOR_REFUND_PAYMENT, Bank
from tests.builders.bank_money import KINDS, card_payout, money_of, sign_of
from tests.builders.sales import paid, part, sent
from tests.builders.trade import Record
from tests.builders.vendor_refunds import agreed
from tests.partner import Business


@pytest.fixture(scope="module")
def baker(shop: Business) -> Record:
    return shop.customer(company_name="Blue Door Bakery Ltd")


class TestSuggestMatches:
    def test_every_reason_counts(
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, baker, 7_700)
        payment = paid(shop, baker, 7_700, part(invoice, 7_700), payment_date=BOOKED)
        text = f"{invoice['invoice_number'].replace('-', ' ')} thanks"
        line = bank.line(7_700, description=text, counterparty_name="BLUE DOOR BAKERY")
        [best, *_] = bank.suggested(line)
        assert best == {
            "target_type": "invoice_payment",
            "target_id": payment["id"],
            "of": "original",
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

    def test_payments_of_one_customer_that_add_up_are_a_combination(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        yarn, other = (shop.customer(company_name=name) for name in ("Yarn Mill", "Zinc Works"))
        first, second = (paid(shop, yarn, each, payment_date=BOOKED) for each in (51_003, 42_004))
        paid(shop, other, 42_004, payment_date=BOOKED)
        line = bank.line(93_007, counterparty_name="YARN MILL")
        answer = shop.api.get(f"bank-transactions/{line['id']}/suggestions/").json()
        assert answer["combinations"] == [
            {
                "targets": [
                    {
                        "target_type": PAYMENT,
                        "target_id": each["id"],
                        "amount_cents": each["total_amount_cents"],
                    }
                    for each in (first, second)
                ],
                "party_name": "Yarn Mill",
                "score": 70,
                "reasons": ["amount", "name", "date"],
            }
        ]
        for target in answer["combinations"][0]["targets"]:
            matched = shop.api.post(f"bank-transactions/{line['id']}/match/", json=target)
            assert matched.status_code == 200, matched.text
        assert matched.json()["is_reconciled"] is True

    @pytest.mark.parametrize("kind", [each for each in KINDS if each != PAYMENT])
    def test_money_of_each_kind_is_found_by_its_amount(
        self, shop: Business, ledger: Ledger, baker: Record, vendor: Record, bank: Bank, kind: str
    ) -> None:
        number = 4_321 + KINDS.index(kind)
        amount = sign_of(kind) * number
        target = money_of(kind, shop, baker, vendor, number)
        [best, *_] = bank.suggested(bank.line(amount))
        assert (best["target_type"], best["target_id"]) == (kind, target["id"])
        other_way = bank.suggested(bank.line(-amount))
        assert target["id"] not in [each["target_id"] for each in other_way]

    def test_a_pending_vendor_refund_is_suggested(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        payment = agreed(shop, vendor, 4_399)["payment"]
        [best, *_] = bank.suggested(bank.line(4_399))
        assert (best["target_type"], best["target_id"]) == (VENDOR_REFUND_PAYMENT, payment["id"])

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
        self, shop: Business, ledger: Ledger, baker: Record, bank: Bank, current: Bank
    ) -> None:
        failed = paid(shop, baker, 2_345, status="failed")
        elsewhere = paid(shop, baker, 2_346)
        current.match(current.line(1), PAYMENT, elsewhere)
        [item] = card_payout(shop, baker, 2_347)["payments"]
        late = paid(shop, baker, 2_348, payment_date="2024-11-30")
        for money, amount in ((failed, 2_345), (elsewhere, 2_345), (item, 2_347), (late, 2_348)):
            found = [each["target_id"] for each in bank.suggested(bank.line(amount))]
            assert money["id"] not in found

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
