"""get_invoice_refund, cancel_invoice_refund, and what list_invoice_refunds refuses."""

from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, refund_paid, refunded, sent, settled
from tests.builders.trade import Record, line
from tests.clock import today
from tests.partner import Business, Partner

REFUNDS = "invoices/refunds/"
ENTRIES = "general-ledger/journal-entries/"
AT = "2025-03-20T10:00:00Z"
TODAY = str(today())
LATER = f"{today() + timedelta(days=40)}T00:00:00Z"


def cancel(shop: Business, refund: Record) -> Record:
    answer = shop.api.delete(f"{REFUNDS}{refund['id']}/")
    assert answer.status_code == 200, answer.text
    cancelled: Record = answer.json()
    return cancelled


class TestGetInvoiceRefund:
    def test_a_refund_shows_its_current_state(self, shop: Business, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer))
        path = f"{REFUNDS}{refund['id']}/"
        assert shop.api.get(path).json() == refund
        first = refund_paid(shop, refund, amount_cents=400, completed_at=AT)
        seen = shop.api.get(path)
        assert (seen.json()["status"], seen.json()["paid_amount"]) == ("processing", 400)
        assert seen.json()["refund_payments"] == [first]
        assert seen.headers["etag"] == '"2"'
        refund_paid(shop, refund, completed_at="2025-03-25T10:00:00Z")
        shown = shop.api.get(path).json()
        assert (shown["status"], shown["paid_amount"]) == ("paid", 1_000)
        assert shown["completed_at"] == "2025-03-25T10:00:00Z"

    def test_a_refund_shows_the_current_balance_of_its_invoice(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 600, part(invoice, 600))
        path = f"{REFUNDS}{refunded(shop, invoice)['id']}/"
        for changes, owed in (({"status": "failed"}, 1_000), ({"status": "completed"}, 1_000)):
            shop.api.patch(f"invoices/payments/{payment['id']}/", json=changes)
            [allocation] = shop.api.get(path).json()["allocations"]
            assert allocation["invoice_outstanding_balance_cents"] == owed
        assert allocation["amount"] == 600


class TestListInvoiceRefunds:
    def test_filters_by_creation_and_change_select_refunds(
        self, acme: Partner, shop: Business
    ) -> None:
        quiet = acme.business()
        buyer = quiet.customer()
        before, after = (refunded(quiet, paid(quiet, buyer, 10)) for _ in range(2))
        changed = refund_paid(quiet, before, completed_at=AT)
        for asked, wanted in (
            ({"created_at_from": after["created_at"]}, [after]),
            ({"created_at_to": before["created_at"]}, [before]),
            ({"updated_at_from": changed["updated_at"]}, [before]),
            ({"updated_at_from": LATER}, []),
            ({"created_at_from": LATER}, []),
        ):
            results = quiet.api.get(REFUNDS, params=asked).json()["results"]
            assert [each["id"] for each in results] == [each["id"] for each in wanted]

    @pytest.mark.parametrize(
        "asked",
        [
            "status=done",
            "status=",
            "sort=memo",
            "invoice_id=1",
            "payment_id=1",
            "customer_id=1",
            "min_amount=-1",
            "max_amount=x",
            "page=0",
            "page_size=101",
            "cursor=nonsense",
            "method=CASH",
            "search=",
            "created_at_from=yesterday",
        ],
    )
    def test_an_unknown_parameter_or_value_is_400(self, shop: Business, asked: str) -> None:
        assert shop.api.get(f"{REFUNDS}?{asked}").status_code == 400


class TestCancelInvoiceRefund:
    def test_a_cancelled_refund_is_reversed_today_with_a_link(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        taxed = line(1_000, sales_taxes=[{"amount": 200}])
        invoice = shop.made("invoices/", invoice_body(buyer, taxed, sent_at="2025-03-01T00:00:00Z"))
        paid(shop, buyer, 1_200, part(invoice, 1_200))
        refund = refunded(shop, invoice, amount_cents=600, reference_number="RF-3")
        answer = shop.api.delete(f"{REFUNDS}{refund['id']}/")
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["allocations"]) == ("cancelled", [])
        assert (shown["is_dedicated"], shown["completed_at"]) == (False, None)
        assert (shown["refunded_amount"], shown["paid_amount"]) == (600, 0)
        assert shop.api.get(f"{REFUNDS}{refund['id']}/").json() == shown
        first, mirror = ledger.entries(refund)
        assert (mirror.on, mirror.reversal_of) == (TODAY, first.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in first.lines)
        assert (mirror.source_type, mirror.reference) == ("refund", "RF-3")
        assert mirror.description == "Reversal of refund to Blue Door Bakery"
        assert shop.api.get(f"{ENTRIES}{first.id}/").json()["reversed_by_id"] == mirror.id

    def test_the_amount_can_be_refunded_anew(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = settled(shop, buyer), paid(shop, buyer, 300)
        for target, amount in ((invoice, 1_000), (payment, 300)):
            refund = refunded(shop, target)
            refused = {f"{'invoice' if target is invoice else 'payment'}_id": target["id"]}
            assert shop.api.post(REFUNDS, json=refused).status_code == 422
            cancel(shop, refund)
            assert refunded(shop, target)["refunded_amount"] == amount

    def test_money_that_settled_nothing_waits_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 300)
        refund = refunded(shop, payment, amount_cents=120)
        assert cancel(shop, refund)["allocations"] == []
        assert ledger.postings(refund) == [
            (TODAY, {"2100": 120, "2300": -120}),
            (TODAY, {"2100": -120, "2300": 120}),
        ]
        shown = shop.api.get(f"invoices/payments/{payment['id']}/").json()
        assert (shown["remaining_amount_cents"], shown["allocated_amount_cents"]) == (300, 0)
        assert shown["refund_allocations"] == []

    def test_once_its_payments_are_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), amount_cents=500, completed_at=AT)
        [payment] = refund["refund_payments"]
        path = f"{REFUNDS}{refund['id']}/"
        with ledger.untouched():
            answer = shop.api.delete(path)
        assert (answer.status_code, answer.json()["error_code"]) == (
            409,
            "invalid_state_transition",
        )
        assert answer.json()["detail"] == {"current_state": "paid", "allowed_next_states": []}
        shop.api.post(f"{path}payments/{payment['id']}/delete/")
        shown = cancel(shop, refund)
        assert [each["status"] for each in shown["refund_payments"]] == ["cancelled"]
        first, mirror = ledger.entries(refund)
        assert (first.on, mirror.on, mirror.reversal_of) == ("2025-03-20", TODAY, first.id)

    def test_not_while_a_part_is_paid_and_only_once(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        partly = refunded(shop, settled(shop, buyer))
        refund_paid(shop, partly, amount_cents=1)
        gone = refunded(shop, settled(shop, buyer))
        cancel(shop, gone)
        for refund, state, following in (
            (partly, "processing", ["paid"]),
            (gone, "cancelled", []),
        ):
            with ledger.untouched():
                answer = shop.api.delete(f"{REFUNDS}{refund['id']}/")
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invalid_state_transition"
            detail = {"current_state": state, "allowed_next_states": following}
            assert answer.json()["detail"] == detail

    def test_a_refund_in_a_locked_period_is_reversed_after_the_lock(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        until, after = today(), today() + timedelta(days=1)
        refund = refunded(shop, settled(shop, buyer))
        with ledger.locked(str(until)):
            cancel(shop, refund)
        first, mirror = ledger.entries(refund)
        assert (first.on, mirror.on, mirror.reversal_of) == (TODAY, str(after), first.id)

    def test_nothing_is_taken_back_before_the_day_it_was_posted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        ahead = str(today() + timedelta(days=9))
        refund = refunded(shop, paid(shop, buyer, 80, payment_date=ahead))
        cancel(shop, refund)
        assert ledger.postings(refund) == [
            (ahead, {"2100": 80, "2300": -80}),
            (ahead, {"2100": -80, "2300": 80}),
        ]

    def test_a_preview_cancels_nothing(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer))
        with ledger.untouched():
            seen = shop.api.delete(f"{REFUNDS}{refund['id']}/?preview=true").json()
        assert (seen["status"], seen["allocations"]) == ("cancelled", [])
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(refund)[0].id
        assert (mirror["entry_date"], mirror["sequence_number"]) == (TODAY, None)
