"""What refunds do to invoices and payments: statuses, amounts, bounces and refused releases."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, payment_body, refunded, sent, settled
from tests.builders.trade import PAID, SENT, Record, line
from tests.clock import today
from tests.partner import Business

PAYMENTS = "invoices/payments/"
REFUNDS = "invoices/refunds/"
TODAY = str(today())


def read(shop: Business, invoice: Record) -> Record:
    shown: Record = shop.api.get(f"invoices/{invoice['id']}/").json()
    return shown


def state_of(shop: Business, invoice: Record) -> tuple[str, int]:
    shown = read(shop, invoice)
    return shown["status"], shown["outstanding_balance"]


def patch(shop: Business, payment: Record, **changes: object) -> Record:
    answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()["payment"]
    return changed


def refused(shop: Business, ledger: Ledger, payment: Record, **changes: object) -> Record:
    """Ask for a change that is against a rule; nothing moves. Return the words of the refusal."""
    with ledger.untouched():
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
    assert answer.status_code == 422, answer.text
    words: Record = answer.json()
    return words


def cancel(shop: Business, refund: Record) -> None:
    assert shop.api.delete(f"{REFUNDS}{refund['id']}/").status_code == 200


class TestGetInvoice:
    def test_an_invoice_shows_its_live_refunds_oldest_first(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        late = refunded(shop, invoice, amount_cents=100, reference_number="RF-9")
        early = refunded(shop, invoice, amount_cents=50, completed_at="2025-03-20T10:00:00Z")
        cancel(shop, refunded(shop, invoice, amount_cents=20))
        shown = read(shop, invoice)
        assert shown["refund_allocations"] == [
            {
                "refund_id": early["id"],
                "allocated_at": "2025-03-20T00:00:00Z",
                "reference_number": None,
                "amount_cents": 50,
            },
            {
                "refund_id": late["id"],
                "allocated_at": f"{TODAY}T00:00:00Z",
                "reference_number": "RF-9",
                "amount_cents": 100,
            },
        ]
        assert (shown["status"], shown["outstanding_balance"]) == ("paid", 0)
        assert shown["paid_at"] == f"{PAID}T00:00:00Z"
        assert [each["amount_cents"] for each in shown["payment_allocations"]] == [1_000]

    def test_an_invoice_is_refunded_once_its_whole_payment_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        refunded(shop, invoice, amount_cents=400)
        assert state_of(shop, invoice) == ("paid", 0)
        rest = refunded(shop, invoice)
        assert state_of(shop, invoice) == ("refunded", 0)
        assert len(ledger.entries(invoice)) == 1
        asked: dict[str, Any] = {"status": "refunded", "customer_id": buyer["id"]}
        assert invoice["id"] in ids(shop, asked)
        cancel(shop, rest)
        assert state_of(shop, invoice) == ("paid", 0)
        assert invoice["id"] not in ids(shop, asked)

    def test_an_open_amount_stays_open_after_a_refund(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 600, part(invoice, 600))
        refunded(shop, invoice)
        assert state_of(shop, invoice) == ("partially_paid", 400)
        paid(shop, buyer, 400, part(invoice, 400))
        assert state_of(shop, invoice) == ("paid", 0)
        refunded(shop, invoice)
        assert state_of(shop, invoice) == ("refunded", 0)

    @pytest.mark.parametrize("closed_by", ["credit", "write-off"])
    def test_refunded_goes_before_what_else_settled_it(
        self, shop: Business, ledger: Ledger, buyer: Record, closed_by: str
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 300, part(invoice, 300))
        if closed_by == "credit":
            body = {"customer_id": buyer["id"], "line_items": [{"amount": 700}], "sent_at": SENT}
            body["allocations"] = [{"invoice_id": invoice["id"], "amount": 700}]
            shop.made("customer-credits/", body)
        else:
            shop.made(f"invoices/{invoice['id']}/write-offs/", {})
        before, owed = state_of(shop, invoice)
        assert (before, owed) == ("paid" if closed_by == "credit" else "written_off", 0)
        refund = refunded(shop, invoice)
        assert (refund["refunded_amount"], state_of(shop, invoice)) == (300, ("refunded", 0))

    def test_each_refund_is_a_new_version_of_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer)
        path = f"invoices/{invoice['id']}/"
        before = shop.api.get(path)
        refund = refunded(shop, invoice)
        cancel(shop, refund)
        after = shop.api.get(path)
        assert (before.headers["etag"], after.headers["etag"]) == ('"2"', '"4"')
        assert after.json()["updated_at"] > refund["updated_at"]


def ids(shop: Business, asked: dict[str, Any]) -> set[str]:
    results = shop.api.get("invoices/", params={"page_size": 100, **asked}).json()["results"]
    return {each["id"] for each in results}


class TestVoidInvoice:
    def test_an_invoice_with_a_live_refund_cannot_be_voided_or_changed(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refund = refunded(shop, invoice, amount_cents=300)
        patch(shop, payment, status="failed")
        path, body = f"invoices/{invoice['id']}/", invoice_body(buyer, line(5))
        with ledger.untouched():
            answers = (shop.api.post(f"{path}void/"), shop.api.put(path, json=body))
        for answer in answers:
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invoice_has_allocations"
            amounts = {"allocated": 0, "credited": 0, "refunded": 300, "written_off": 0}
            assert answer.json()["detail"].items() >= amounts.items()
            assert answer.json()["detail"]["refund_ids"] == [refund["id"]]
        cancel(shop, refund)
        assert shop.api.post(f"{path}void/").status_code == 200


class TestReplaceInvoice:
    def test_an_invoice_with_a_cancelled_refund_can_be_replaced(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        cancel(shop, refunded(shop, invoice))
        patch(shop, payment, allocations=[])
        answer = shop.api.put(f"invoices/{invoice['id']}/", json=invoice_body(buyer, line(300)))
        assert answer.json()["total_amount"] == 300
        ledger.audit()


class TestGetInvoicePayment:
    def test_a_refund_of_an_invoice_leaves_its_payment_alone(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_200, part(invoice, 1_000))
        refund = refunded(shop, invoice, amount_cents=700)
        answer = shop.api.get(f"{PAYMENTS}{payment['id']}/")
        changed = {"refund_allocations"}
        assert {k: v for k, v in answer.json().items() if k not in changed} == {
            k: v for k, v in payment.items() if k not in changed
        }
        assert answer.headers["etag"] == '"1"'
        [share] = answer.json()["refund_allocations"]
        assert (share["refund_id"], share["amount_cents"]) == (refund["id"], 700)

    def test_refunds_of_unapplied_money_are_a_use_of_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 700, part(sent(shop, buyer, 100), 100))
        names = ("total", "applied", "unapplied", "allocated", "remaining")
        for amount, amounts, whole in (
            (200, (700, 100, 600, 300, 400), False),
            (400, (700, 100, 600, 700, 0), True),
        ):
            refunded(shop, payment, amount_cents=amount)
            shown = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
            assert tuple(shown[f"{name}_amount_cents"] for name in names) == amounts
            assert (shown["is_fully_allocated"], shown["status"]) == (whole, "completed")
            found = shop.api.get(PAYMENTS, params={"is_fully_allocated": True, "page_size": 100})
            assert (shown in found.json()["results"]) is whole
        assert len(ledger.entries(payment)) == 1


class TestUpdateInvoicePayment:
    @pytest.mark.parametrize("status", ["failed", "cancelled", "pending", "processing"])
    def test_a_payment_can_fail_although_its_invoice_was_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refund = refunded(shop, invoice)
        patch(shop, payment, status=status)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1100": -1_000, "1200": 1_000})]
        assert len(ledger.entries(refund)) == 1
        shown = read(shop, invoice)
        assert (shown["status"], shown["outstanding_balance"]) == ("sent", 1_000)
        assert [each["amount_cents"] for each in shown["refund_allocations"]] == [1_000]
        answer = shop.api.post(REFUNDS, json={"invoice_id": invoice["id"]})
        assert answer.json()["error_code"] == "refund_exceeds_refundable"

    def test_a_second_payment_after_a_failure_counts_as_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refunded(shop, invoice, amount_cents=600)
        patch(shop, payment, status="failed")
        paid(shop, buyer, 1_000, part(invoice, 1_000))
        assert state_of(shop, invoice) == ("paid", 0)
        assert refunded(shop, invoice)["refunded_amount"] == 400
        assert state_of(shop, invoice) == ("refunded", 0)

    @pytest.mark.parametrize("status", ["failed", "cancelled", "pending"])
    def test_a_payment_can_fail_although_its_unapplied_money_was_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        payment = paid(shop, buyer, 500)
        refund = refunded(shop, payment, amount_cents=200)
        owed = ledger.balances().get("2100", 0)
        shown = patch(shop, payment, status=status)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1100": -500, "2100": 500})]
        assert ledger.balances().get("2100", 0) == owed + 500
        assert (shown["allocated_amount_cents"], shown["remaining_amount_cents"]) == (200, 300)
        cancel(shop, refund)
        assert patch(shop, payment, status="completed")["remaining_amount_cents"] == 500

    def test_a_release_by_hand_leaves_no_less_than_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, other = sent(shop, buyer, 1_000), sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refunded(shop, invoice, amount_cents=300)
        for parts, left in (
            ([], 0),
            ([part(invoice, 299)], 299),
            ([part(other, 1_000)], 0),
            ([part(invoice, 100), part(other, 500)], 100),
        ):
            words = refused(shop, ledger, payment, allocations=parts)
            assert words["error_code"] == "refund_exceeds_refundable"
            held = {"paid": left, "reserved": 0, "refunded": 300}
            assert words["detail"] == {**held, "invoice_id": invoice["id"]}
        patch(shop, payment, allocations=[part(invoice, 300), part(other, 700)])
        assert state_of(shop, invoice) == ("partially_paid", 700)
        words = refused(shop, ledger, payment, allocations=[part(other, 700)])
        assert words["error_code"] == "refund_exceeds_refundable"
        assert patch(shop, payment, allocations=[part(invoice, 300)])["note"] is None

    def test_money_of_another_payment_may_stand_for_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        first = paid(shop, buyer, 600, part(invoice, 600))
        second = paid(shop, buyer, 400, part(invoice, 400))
        refunded(shop, invoice, amount_cents=400)
        assert patch(shop, first, allocations=[])["allocations"] == []
        words = refused(shop, ledger, second, allocations=[])
        held = {"paid": 0, "reserved": 0, "refunded": 400}
        assert words["detail"] == {**held, "invoice_id": invoice["id"]}

    def test_after_a_bounce_no_more_is_released_by_hand(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        first = paid(shop, buyer, 600, part(invoice, 600))
        second = paid(shop, buyer, 400, part(invoice, 400))
        refunded(shop, invoice, amount_cents=700)
        patch(shop, first, status="failed")
        words = refused(shop, ledger, second, allocations=[part(invoice, 399)])
        held = {"paid": 399, "reserved": 0, "refunded": 700}
        assert words["detail"] == {**held, "invoice_id": invoice["id"]}
        assert patch(shop, second, note="kept", allocations=[part(invoice, 400)])["note"] == "kept"

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_no_way_round_gives_back_more_than_came(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refunded(shop, invoice, amount_cents=400)
        patch(shop, payment, status=status)
        words = refused(shop, ledger, payment, allocations=[])
        assert words["error_code"] == "refund_exceeds_refundable"
        patch(shop, payment, status="completed")
        answer = shop.api.post(REFUNDS, json={"payment_id": payment["id"], "amount_cents": 1_000})
        assert answer.json()["error_code"] == "refund_exceeds_refundable"

    def test_a_reserving_payment_without_refunds_can_be_released(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 600, part(invoice, 600))
        waiting = paid(shop, buyer, 400, part(invoice, 400), status="pending")
        refunded(shop, invoice)
        assert patch(shop, waiting, allocations=[])["allocations"] == []

    def test_a_payment_cannot_be_refunded_as_a_whole_while_refunds_depend_on_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        first = paid(shop, buyer, 600, part(invoice, 600))
        second = paid(shop, buyer, 500, part(invoice, 400))
        refunded(shop, invoice, amount_cents=500)
        words = refused(shop, ledger, first, status="refunded")
        assert words["error_code"] == "refund_exceeds_refundable"
        held = {"paid": 400, "reserved": 0, "refunded": 500}
        assert words["detail"] == {**held, "invoice_id": invoice["id"]}
        assert patch(shop, second, status="refunded")["status"] == "refunded"
        assert state_of(shop, invoice) == ("partially_paid", 400)

    def test_a_payment_cannot_be_refunded_while_its_unapplied_money_is_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 500)
        refund = refunded(shop, payment, amount_cents=200)
        for status in ("completed", "failed"):
            patch(shop, payment, status=status)
            words = refused(shop, ledger, payment, status="refunded")
            assert words["error_code"] == "refund_exceeds_refundable"
            assert words["detail"] == {"refunded": 200}
        cancel(shop, refund)
        assert patch(shop, payment, status="refunded")["status"] == "refunded"

    def test_its_total_covers_what_is_refunded_of_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 700, part(sent(shop, buyer, 100), 100))
        refunded(shop, payment, amount_cents=200)
        words = refused(shop, ledger, payment, total_amount_cents=299)
        assert words["error_code"] == "total_below_allocated"
        detail = {"total_amount_cents": 299, "allocated_amount_cents": 300}
        assert words["detail"] == detail
        lowered = patch(shop, payment, total_amount_cents=300)
        assert (lowered["remaining_amount_cents"], lowered["is_fully_allocated"]) == (0, True)

    def test_a_refunded_amount_of_a_payment_cannot_be_allocated(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = sent(shop, buyer, 900), paid(shop, buyer, 700)
        refunded(shop, payment, amount_cents=200)
        words = refused(shop, ledger, payment, allocations=[part(invoice, 501)])
        assert words["error_code"] == "allocation_exceeds_total"
        assert patch(shop, payment, allocations=[part(invoice, 500)])["remaining_amount_cents"] == 0
        assert ledger.postings(payment)[1:] == [(TODAY, {"2100": 500, "1200": -500})]


class TestReplaceInvoicePayment:
    def test_a_whole_replacement_releases_no_more_either(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 1_000, part(invoice, 1_000))
        refunded(shop, invoice, amount_cents=300)
        with ledger.untouched():
            body = payment_body(buyer, 1_000, allocations=[part(invoice, 299)])
            answer = shop.api.put(f"{PAYMENTS}{payment['id']}/", json=body)
        assert answer.status_code == 422
        assert answer.json()["error_code"] == "refund_exceeds_refundable"


class TestCancelInvoicePayment:
    def test_a_bounced_one_is_cancelled_although_refunds_live(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 500)
        refund = refunded(shop, payment, amount_cents=200, completed_at="2025-03-20T10:00:00Z")
        patch(shop, payment, status="failed")
        answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert (answer.status_code, answer.json()["payment"]["status"]) == (200, "cancelled")
        assert answer.json()["payment"]["allocated_amount_cents"] == 200
        shown = shop.api.get(f"{REFUNDS}{refund['id']}/").json()
        assert (shown["status"], shown["paid_amount"]) == ("paid", 200)
