"""Links that end: taken back by hand, or lost with the money; and what is refused."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import (
    BILL_PAYMENT,
    PAYMENT,
    PAYOUT,
    REFUND_PAYMENT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
    open_account,
)
from tests.builders.purchases import bill_paid
from tests.builders.sales import paid, part, refunded, sent, settled
from tests.builders.trade import NOBODY, PAID, Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, cancelled, changed
from tests.clock import today
from tests.partner import Business, Partner

PAYMENTS = "invoices/payments/"
TODAY = str(today())


@pytest.fixture(scope="module")
def current(shop: Business) -> Bank:
    """The account of the chart that transfers stand on anyway."""
    return Bank(shop, open_account(shop, display_name="Current account"))


@pytest.fixture(scope="module")
def bank(shop: Business, current: Bank) -> Bank:
    return Bank(shop, open_account(shop))


def patched(shop: Business, path: str, **changes: Any) -> Record:
    answer = shop.api.patch(path, json=changes)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found.get("payment", found)


def refused(shop: Business, path: str, **changes: Any) -> tuple[int, str]:
    answer = shop.api.patch(path, json=changes)
    return answer.status_code, answer.json()["error_code"]


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

    @pytest.mark.parametrize("kind", [BILL_PAYMENT, REFUND_PAYMENT, VENDOR_REFUND_PAYMENT, PAYOUT])
    def test_a_link_with_money_of_any_kind_is_undone(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record, bank: Bank, kind: str
    ) -> None:
        target, line = money(shop, buyer, vendor, kind), bank.line(incoming(kind) * 90)
        bank.match(line, kind, target)
        with ledger.moving() as moved:
            assert left(bank.unmatch(line)) == (0, 0, 90)
        assert moved == {"1100": incoming(kind) * 90, bank.code: -incoming(kind) * 90}
        bank.match(line, kind, target)

    def test_a_link_is_of_its_line(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, one, other = paid(shop, buyer, 20), bank.line(20), bank.line(20)
        [link] = bank.match(one, PAYMENT, payment)["links"]
        body = {"reconciliation_link_id": link["reconciliation_link_id"]}
        with ledger.untouched():
            assert bank.refused(other, "unmatch", body) == (422, "reference_not_found")
        bank.unmatch(one)
        with ledger.untouched():
            assert bank.refused(one, "unmatch", body) == (422, "reference_not_found")

    def test_a_preview_keeps_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(30)
        [link] = bank.match(line, PAYMENT, paid(shop, buyer, 30))["links"]
        body = {"reconciliation_link_id": link["reconciliation_link_id"]}
        with ledger.untouched():
            shown = bank.ask(line, "unmatch", body, params={"preview": True}).json()
        assert len(shown["journal_entries"]) == 1
        assert shown["links"] == []


class TestUpdateInvoicePayment:
    def test_money_that_bounces_loses_its_lines(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 500)
        payment = paid(shop, buyer, 500, part(invoice, 500))
        lines = bank.line(300), bank.line(300)
        for line in lines:
            bank.match(line, PAYMENT, payment)
        before = bank.read(lines[0])
        with ledger.moving() as moved:
            shown = patched(shop, f"{PAYMENTS}{payment['id']}/", status="failed")
        assert shown["reconciled_bank_transactions"] == []
        assert moved == {"1200": 500, bank.code: -500}
        free = bank.read(lines[0])
        assert (left(free), free["links"]) == ((0, 0, 300), [])
        assert free["updated_at"] > before["updated_at"]
        assert left(bank.read(lines[1])) == (0, 0, 300)
        # The lines are free for the money that comes instead.
        instead = paid(shop, buyer, 600)
        for line in lines:
            bank.match(line, PAYMENT, instead)

    def test_a_link_with_a_pending_payment_ends_when_the_payment_is_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 200, status="pending"), bank.line(150)
        bank.match(line, PAYMENT, payment)
        answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert answer.status_code == 200
        assert answer.json()["payment"]["reconciled_bank_transactions"] == []
        assert left(bank.read(line)) == (0, 0, 150)
        assert bank.refused(line, "match", matching(PAYMENT, payment)) == (
            409,
            "item_not_completed",
        )

    def test_less_than_is_linked_cannot_be_left(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 100, processing_fee_cents=2), bank.line(97)
        bank.match(line, PAYMENT, payment)
        path = f"{PAYMENTS}{payment['id']}/"
        with ledger.untouched():
            assert refused(shop, path, processing_fee_cents=4) == (422, "link_exceeds_remaining")
            assert refused(shop, path, total_amount_cents=98) == (422, "link_exceeds_remaining")
            answer = shop.api.put(path, json={"processing_fee_cents": 4})
            assert answer.json()["error_code"] == "link_exceeds_remaining"
        shown = patched(shop, path, processing_fee_cents=3, payment_method="cash")
        assert len(shown["reconciled_bank_transactions"]) == 1
        # It is at the bank, whatever its method says.
        assert sum(each.amounts.get(bank.code, 0) for each in ledger.entries(payment)) == 97

    def test_its_day_may_change(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 100)
        bank.match(bank.line(100), PAYMENT, payment)
        shown = patched(shop, f"{PAYMENTS}{payment['id']}/", payment_date="2025-03-11")
        assert len(shown["reconciled_bank_transactions"]) == 1
        assert ledger.postings(payment)[-1][0] == "2025-03-11"


class TestCancelInvoiceRefundPayment:
    def test_its_lines_are_free_again(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = refund_paid(shop, buyer), bank.line(-90)
        bank.match(line, REFUND_PAYMENT, payment)
        path = f"invoices/refunds/{payment['refund_id']}/payments/{payment['id']}/delete/"
        with ledger.moving() as moved:
            answer = shop.api.post(path)
        assert answer.json()["reconciled_bank_transactions"] == []
        assert moved == {"2300": -90, bank.code: 90}
        assert left(bank.read(line)) == (0, 0, 90)


class TestUpdateVendorRefundPayment:
    def test_money_that_is_returned_loses_its_lines(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        payment, line = agreed(shop, vendor, 90)["payment"], bank.line(90)
        bank.match(line, VENDOR_REFUND_PAYMENT, payment)
        shown = changed(shop, payment, memo="Seen at the bank")
        assert len(shown["payment"]["reconciled_bank_transactions"]) == 1
        assert shown["refund"]["vendor_refund_payments"] == [shown["payment"]]
        with ledger.moving() as moved:
            shown = changed(shop, payment, status="failed")
        assert shown["payment"]["reconciled_bank_transactions"] == []
        assert moved == {"1270": 90, bank.code: -90}
        assert left(bank.read(line)) == (0, 0, 90)

    def test_money_on_its_way_that_is_cancelled_does_too(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        payment, line = agreed(shop, vendor, 90)["payment"], bank.line(40)
        bank.match(line, VENDOR_REFUND_PAYMENT, payment)
        cancelled(shop, payment)
        assert left(bank.read(line)) == (0, 0, 40)
        shown = shop.api.get(f"{REFUND_PAYMENTS}{payment['id']}/").json()
        assert shown["payment"]["reconciled_bank_transactions"] == []


class TestUpdateBillPayment:
    def test_money_that_comes_back_loses_its_lines(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        payment, line = bill_paid(shop, vendor, 90), bank.line(-90)
        bank.match(line, BILL_PAYMENT, payment)
        with ledger.moving() as moved:
            patched(shop, f"bills/payments/{payment['id']}/", status="failed")
        assert moved == {"1250": -90, bank.code: 90}
        assert left(bank.read(line)) == (0, 0, 90)


class TestCreatePayout:
    def test_a_linked_payout_cannot_be_changed_or_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        made, line = payout(shop, buyer, external_id="linked"), bank.line(90)
        bank.match(line, PAYOUT, made)
        body = {
            "external_id": "linked",
            "processor": "stripe",
            "paid_out_amount_cents": 80,
            "currency": "GBP",
        }
        with ledger.untouched():
            answer = shop.api.post("payouts/", json=body)
            assert (answer.status_code, answer.json()["error_code"]) == (409, "payout_reconciled")
            answer = shop.api.delete(f"payouts/{made['id']}/")
            assert (answer.status_code, answer.json()["error_code"]) == (409, "payout_reconciled")
        bank.unmatch(line)
        assert shop.api.delete(f"payouts/{made['id']}/").status_code == 200
        assert bank.refused(line, "match", matching(PAYOUT, made)) == (422, "reference_not_found")

    def test_money_that_is_at_the_bank_is_in_no_payout(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 90, payment_method="stripe")
        bank.match(bank.line(90), PAYMENT, payment)
        body = {
            "processor": "stripe",
            "paid_out_amount_cents": 90,
            "currency": "GBP",
            "payment_ids": [payment["id"]],
        }
        with ledger.untouched():
            answer = shop.api.post("payouts/", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "item_not_in_clearing")


class TestMatchBankTransaction:
    def test_money_of_the_other_direction_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record, bank: Bank
    ) -> None:
        for kind in (PAYMENT, BILL_PAYMENT, REFUND_PAYMENT, VENDOR_REFUND_PAYMENT, PAYOUT):
            target, line = money(shop, buyer, vendor, kind), bank.line(-incoming(kind) * 90)
            with ledger.untouched():
                said = bank.refused(line, "match", matching(kind, target))
            assert said == (422, "link_direction_mismatch"), kind

    def test_money_is_at_one_bank_account(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, current: Bank
    ) -> None:
        payment = paid(shop, buyer, 100)
        bank.match(bank.line(60), PAYMENT, payment)
        line = current.line(40)
        with ledger.untouched():
            said = bank.refused(line, "match", matching(PAYMENT, payment))
        assert said == (422, "bank_account_mismatch")

    def test_no_more_is_linked_than_is_left(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 100), bank.line(80)
        bank.match(line, PAYMENT, payment, 50)
        other, later = paid(shop, buyer, 100), bank.line(80)
        with ledger.untouched():
            for asked, target in ((line, other), (later, payment)):
                body = matching(PAYMENT, target, 51)
                assert bank.refused(asked, "match", body) == (422, "link_exceeds_remaining")
        bank.match(later, PAYMENT, payment, 50)
        with ledger.untouched():
            body = matching(PAYMENT, payment)
            assert bank.refused(later, "match", body) == (422, "link_exceeds_remaining")

    def test_a_payment_in_a_payout_cannot_be_linked(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        [item] = payout(shop, buyer)["payments"]
        line = bank.line(90)
        with ledger.untouched():
            said = bank.refused(line, "match", matching(PAYMENT, item))
        assert said == (409, "in_payout")

    def test_a_failed_payment_cannot_be_linked(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment = paid(shop, buyer, 90, status="failed")
        line = bank.line(90)
        with ledger.untouched():
            said = bank.refused(line, "match", matching(PAYMENT, payment))
        assert said == (409, "item_not_completed")

    @pytest.mark.parametrize(
        "kind", [PAYMENT, BILL_PAYMENT, REFUND_PAYMENT, VENDOR_REFUND_PAYMENT, PAYOUT]
    )
    def test_money_of_another_business_is_not_found(
        self, shop: Business, ledger: Ledger, bank: Bank, rival: Partner, kind: str
    ) -> None:
        other = rival.business()
        theirs = money(other, other.customer(), other.vendor(), kind)
        line = bank.line(90)
        with ledger.untouched():
            for target in (theirs, {"id": NOBODY}):
                said = bank.refused(line, "match", matching(kind, target))
                assert said == (422, "reference_not_found")

    def test_money_that_would_complete_inside_the_lock_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        payment, line = paid(shop, buyer, 90, status="pending"), bank.line(90)
        with ledger.locked(PAID), ledger.untouched():
            said = bank.refused(line, "match", matching(PAYMENT, payment))
        assert said == (409, "period_locked")


def incoming(kind: str) -> int:
    """Whether money of a kind comes in, as a sign."""
    return -1 if kind in (BILL_PAYMENT, REFUND_PAYMENT) else 1


def money(shop: Business, buyer: Record, vendor: Record, kind: str) -> Record:
    """Money of a kind, 90 of it, that is at the bank by its method; completed."""
    match kind:
        case "invoice_payment":
            return paid(shop, buyer, 90)
        case "bill_payment":
            return bill_paid(shop, vendor, 90)
        case "invoice_refund_payment":
            return refund_paid(shop, buyer)
        case "vendor_refund_payment":
            payment = agreed(shop, vendor, 90)["payment"]
            made: Record = changed(shop, payment, status="completed")["payment"]
            return made
    return payout(shop, buyer)


def refund_paid(shop: Business, buyer: Record) -> Record:
    at = "2025-03-20T10:00:00Z"
    made: Record = refunded(shop, settled(shop, buyer, 90), completed_at=at)["refund_payments"][0]
    return made


def payout(shop: Business, buyer: Record, **facts: Any) -> Record:
    taken = paid(shop, buyer, 90, payment_method="stripe")
    body = {
        "processor": "stripe",
        "paid_out_amount_cents": 90,
        "currency": "GBP",
        "payment_ids": [taken["id"]],
        **facts,
    }
    return shop.made("payouts/", body)
