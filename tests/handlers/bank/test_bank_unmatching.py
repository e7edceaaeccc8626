"""Links of bank lines that are removed, by request or with the money, and refused removals."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    PAYMENT,
    PAYOUT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
)
from tests.builders.bank_money import KINDS, card_payout, money_of, sign_of
from tests.builders.payouts import PAYOUTS, by_card, payout_body, upserted
from tests.builders.sales import paid
from tests.builders.trade import NOBODY, Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, cancelled, changed
from tests.partner import Business, Partner

PAYMENTS = "invoices/payments/"


def patched(shop: Business, path: str, **changes: Any) -> Record:
    answer = shop.api.patch(path, json=changes)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found.get("payment", found)


class TestUnmatchBankTransaction:
    def test_the_line_is_free_and_the_money_stays(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 1_000)
        first, second = bank.line(400), bank.line(600)
        bank.match(first, PAYMENT, payment)
        bank.match(second, PAYMENT, payment)
        with ledger.moving() as moved:
            free = bank.unmatch(first)
        assert moved == {}
        assert (left(free), free["links"]) == ((0, 0, 400), [])
        with ledger.moving() as moved:
            bank.unmatch(second)
        assert moved == {"1100": 1_000, bank.code: -1_000}
        shown = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
        assert (shown["status"], shown["reconciled_bank_transactions"]) == ("completed", [])

    def test_a_payment_that_has_come_by_its_line_stays_completed(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 70, status="pending"), bank.line(70)
        bank.match(line, PAYMENT, payment)
        bank.unmatch(line)
        assert shop.api.get(f"{PAYMENTS}{payment['id']}/").json()["status"] == "completed"
        assert ledger.postings(payment)[-1][1] == {"1100": 70, bank.code: -70}

    @pytest.mark.parametrize("kind", [each for each in KINDS if each != PAYMENT])
    def test_a_link_with_money_of_any_kind_is_undone(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record, bank: Bank, kind: str
    ) -> None:
        amount = sign_of(kind) * 90
        target, line = money_of(kind, shop, buyer, vendor), bank.line(amount)
        bank.match(line, kind, target)
        with ledger.moving() as moved:
            assert left(bank.unmatch(line)) == (0, 0, 90)
        assert moved == {"1100": amount, bank.code: -amount}
        bank.match(line, kind, target)

    def test_a_link_is_of_its_line(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, one, other = paid(shop, buyer, 20), bank.line(20), bank.line(20)
        [link] = bank.match(one, PAYMENT, payment)["links"]
        body = {"reconciliation_link_id": link["reconciliation_link_id"]}
        refused = (422, "reference_not_found")
        with ledger.untouched():
            assert bank.refused(other, "unmatch", body) == refused
        bank.unmatch(one)
        with ledger.untouched():
            assert bank.refused(one, "unmatch", body) == refused


class TestUpdateInvoicePayment:
    def test_a_link_with_a_pending_payment_ends_when_the_payment_is_cancelled(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 200, status="pending"), bank.line(150)
        bank.match(line, PAYMENT, payment)
        answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert answer.status_code == 200
        assert answer.json()["payment"]["reconciled_bank_transactions"] == []
        assert left(bank.read(line)) == (0, 0, 150)
        refused = bank.refused(line, "match", matching(PAYMENT, payment))
        assert refused == (409, "item_not_completed")

    def test_less_than_is_linked_cannot_be_left(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 100, processing_fee_cents=2), bank.line(97)
        bank.match(line, PAYMENT, payment)
        path = f"{PAYMENTS}{payment['id']}/"
        for method, changes in (
            ("PATCH", {"processing_fee_cents": 4}),
            ("PATCH", {"total_amount_cents": 98}),
            ("PUT", {"processing_fee_cents": 4}),
        ):
            refused = ledger.refused(method, path, json=changes)
            assert refused == (422, "link_exceeds_remaining")
        shown = patched(shop, path, processing_fee_cents=3, payment_method="cash")
        assert len(shown["reconciled_bank_transactions"]) == 1
        # It is at the bank, whatever its payment method.
        assert sum(each.amounts.get(bank.code, 0) for each in ledger.entries(payment)) == 97

    def test_its_day_may_change(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 100)
        bank.match(bank.line(100), PAYMENT, payment)
        shown = patched(shop, f"{PAYMENTS}{payment['id']}/", payment_date="2025-03-11")
        assert len(shown["reconciled_bank_transactions"]) == 1
        assert ledger.postings(payment)[-1][0] == "2025-03-11"


class TestUpdateVendorRefundPayment:
    def test_a_linked_payment_is_shown_alike(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        payment, line = agreed(shop, vendor, 90)["payment"], bank.line(90)
        bank.match(line, VENDOR_REFUND_PAYMENT, payment)
        shown = changed(shop, payment, memo="Seen at the bank")
        assert len(shown["payment"]["reconciled_bank_transactions"]) == 1
        assert shown["refund"]["vendor_refund_payments"] == [shown["payment"]]

    def test_money_on_its_way_that_is_cancelled_loses_its_lines(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        payment, line = agreed(shop, vendor, 90)["payment"], bank.line(40)
        bank.match(line, VENDOR_REFUND_PAYMENT, payment)
        cancelled(shop, payment)
        assert left(bank.read(line)) == (0, 0, 40)
        shown = shop.api.get(f"{REFUND_PAYMENTS}{payment['id']}/").json()
        assert shown["payment"]["reconciled_bank_transactions"] == []


class TestCreatePayout:
    def test_a_linked_payout_cannot_be_changed_or_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        body = payout_body(100, by_card(shop, buyer), external_id="linked")
        made, line = shop.made(PAYOUTS, body), bank.line(40)
        bank.match(line, PAYOUT, made)
        same = upserted(shop, body)
        assert same["reconciliation_status"] == "partially_reconciled"
        [shown] = same["reconciled_bank_transactions"]
        assert shown["reconciled_amount_cents"] == 40
        held, path = (409, "payout_reconciled"), f"{PAYOUTS}{made['id']}/"
        changes: tuple[Record, ...] = ({"memo": "new"}, {"payment_ids": []}, {"status": "failed"})
        for change in changes:
            assert ledger.refused("POST", PAYOUTS, json={**body, **change}) == held
        with ledger.untouched():
            answer = shop.api.delete(path)
        assert (answer.status_code, answer.json()["error_code"]) == held
        assert answer.json()["detail"]["linked_amount_cents"] == 40
        bank.unmatch(line)
        changed = upserted(shop, {**body, "memo": "new"})
        assert changed["reconciliation_status"] == "unreconciled"
        assert shop.api.delete(path).status_code == 200
        assert bank.refused(line, "match", matching(PAYOUT, made)) == (422, "reference_not_found")

    def test_money_that_is_at_the_bank_is_in_no_payout(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = by_card(shop, buyer, 90)
        bank.match(bank.line(90), PAYMENT, payment)
        refused = ledger.refused("POST", PAYOUTS, json=payout_body(90, payment))
        assert refused == (422, "item_not_in_clearing")


class TestMatchBankTransaction:
    def test_money_is_at_one_bank_account(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, current: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 100), current.line(40)
        bank.match(bank.line(60), PAYMENT, payment)
        with ledger.untouched():
            refused = current.refused(line, "match", matching(PAYMENT, payment))
        assert refused == (422, "bank_account_mismatch")

    def test_a_payment_in_a_payout_cannot_be_linked(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        [item] = card_payout(shop, buyer)["payments"]
        line = bank.line(90)
        with ledger.untouched():
            refused = bank.refused(line, "match", matching(PAYMENT, item))
        assert refused == (409, "in_payout")

    @pytest.mark.parametrize("kind", KINDS)
    def test_money_of_another_business_is_not_found(
        self, ledger: Ledger, bank: Bank, rival: Partner, kind: str
    ) -> None:
        other = rival.business()
        theirs, line = money_of(kind, other, other.customer(), other.vendor()), bank.line(90)
        with ledger.untouched():
            for target in (theirs, {"id": NOBODY}):
                refused = bank.refused(line, "match", matching(kind, target))
                assert refused == (422, "reference_not_found")
