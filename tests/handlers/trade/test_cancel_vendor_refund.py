"""cancel_vendor_refund_payment: all effects of a refund are reversed, or none."""

from collections import Counter
from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    PAYMENTS,
    bill_paid,
    part,
    received,
    share,
    status_of,
    vendor_credited,
)
from tests.builders.trade import Record, line, read
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    as_credit,
    bills,
    cancelled,
    changed,
    credits,
    of_bill,
    of_payment,
    payments,
    refund_of,
    snapshot,
    taxed,
)
from tests.clock import today
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"
FORBIDDEN = (403, "permission_denied")


def accounts(shop: Business) -> dict[str, int]:
    """Return the balance of every account."""
    answer = shop.api.get(CHART, params={"page_size": 100})
    assert answer.json()["page_info"]["total_pages"] == 1
    return {each["code"]: each["current_balance"] for each in answer.json()["results"]}


def cancellation(payment: Record) -> str:
    return f"{REFUND_PAYMENTS}{payment['id']}/delete/"


class TestCancelVendorRefundPayment:
    def test_a_cancelled_payment_is_returned_and_stays_readable(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(taxed(shop, vendor), 500))
        answer = shop.api.post(cancellation(made["payment"]))
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        gone = answer.json()
        assert gone == {
            "message": "The vendor refund payment is cancelled.",
            "payment_id": made["payment"]["id"],
            "refund_id": made["refund"]["id"],
            "status": "cancelled",
            "updated_at": gone["updated_at"],
        }
        shown = shop.api.get(f"{REFUND_PAYMENTS}{made['payment']['id']}/").json()
        payment = shown["payment"]
        assert (payment["status"], payment["cancelled_at"]) == ("cancelled", gone["updated_at"])
        assert (shown["refund"]["status"], shown["allocations"]) == ("cancelled", [])
        assert refund_of(shop, made)["allocations"] == []

    def test_bills_payments_credits_statuses_and_every_balance_are_as_before(
        self, shop: Business, vendor: Record
    ) -> None:
        days = ("2025-03-01", "2025-03-02", "2025-03-03")
        older = [received(shop, vendor, 500, bill_date=day) for day in days]
        whole = taxed(shop, vendor)
        parts = [part(each, 500, description="as agreed") for each in older]
        payment = bill_paid(shop, vendor, 1_600, *parts)
        credit = vendor_credited(shop, vendor, 300)
        records = [*bills(*older, whole), *payments(payment), *credits(credit)]
        before, balances = snapshot(shop, *records), accounts(shop)
        vendor_before = read(shop, "vendors/", vendor)["outstanding_balance"]
        made = agreed(
            shop,
            vendor,
            6_000,
            of_bill(whole, 3_333),
            of_payment(payment, 900),
            as_credit(700),
            of_bill(older[0], 100),
        )
        assert made["refund"]["status"] == "partially_allocated"
        assert snapshot(shop, *records) != before
        assert accounts(shop) != balances
        cancelled(shop, made["payment"])
        after = snapshot(shop, *records)
        for was, is_ in zip(before, after, strict=True):
            held = is_.pop("allocations", [])
            again = was.pop("allocations", [])
            # Restored allocations begin today, and follow the remaining ones.
            assert _parts(held) == _parts(again)
            was.pop("bill_payment_allocations", None)
            is_.pop("bill_payment_allocations", None)
            assert is_ == was
        assert accounts(shop) == balances
        assert read(shop, "vendors/", vendor)["outstanding_balance"] == vendor_before
        assert [status_of(shop, each) for each in (*older, whole)] == [("paid", 0)] * 4

    def test_a_credit_of_the_refund_is_released_and_voided(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        made = agreed(shop, vendor, 400, as_credit(400))
        id_ = made["allocations"][0]["vendor_credit_id"]
        body = {"allocations": [share(bill, 300)]}
        assert shop.api.put(f"{CREDITS}{id_}/", json=body).status_code == 200
        assert status_of(shop, bill) == ("partially_paid", 200)
        with ledger.moving() as moved:
            cancelled(shop, made["payment"])
        assert moved == {"1260": -100, "2000": -300, "5100": 400}
        credit = read(shop, CREDITS, {"id": id_})
        assert (credit["status"], credit["allocations"]) == ("void", [])
        assert status_of(shop, bill) == ("received", 500)

    def test_a_bill_with_a_cancelled_refund_can_be_replaced(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        payment = bill_paid(shop, vendor, 1_000, part(bill, 1_000))
        cancelled(shop, agreed(shop, vendor, 1_000, of_bill(bill, 1_000))["payment"])
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"allocations": []})
        assert answer.status_code == 200
        body = {"vendor_id": vendor["id"], "line_items": [line(300)]}
        answer = shop.api.put(f"{BILLS}{bill['id']}/", json=body)
        assert answer.json()["total_amount"] == 300

    @pytest.mark.parametrize("status", ["completed", "processing", "cancelled"])
    def test_a_payment_in_another_status_is_not_cancelled(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(taxed(shop, vendor), 300))
        changed(shop, made["payment"], status=status)
        with ledger.untouched():
            answer = shop.api.post(cancellation(made["payment"]))
        refusal = answer.json()
        assert (answer.status_code, refusal["error_code"]) == (409, "invalid_state_transition")
        assert refusal["detail"]["current_state"] == status

    def test_a_cancellation_requires_a_business_token(
        self, shop: Business, ledger: Ledger, acme: Partner, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        path = f"/v1/platform/businesses/{shop.id}/{cancellation(made['payment'])}"
        with ledger.untouched():
            for caller in (acme.api, acme.key):
                answer = caller.post(path)
                assert (answer.status_code, answer.json()["error_code"]) == FORBIDDEN
        assert shop.api.post(cancellation(made["payment"])).status_code == 200

    def test_a_partner_does_not_cancel_by_an_update_either(
        self, shop: Business, ledger: Ledger, acme: Partner, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        address = f"/v1/platform/businesses/{shop.id}/{path}"
        with ledger.untouched():
            for caller in (acme.api, acme.key):
                for preview in (False, True):
                    answer = caller.patch(
                        address, params={"preview": preview}, json={"status": "cancelled"}
                    )
                    assert (answer.status_code, answer.json()["error_code"]) == FORBIDDEN
        for caller in (acme.api, acme.key):
            assert caller.patch(address, json={"status": "failed"}).status_code == 200
        answer = shop.api.patch(path, json={"status": "cancelled"})
        assert (answer.status_code, answer.json()["refund"]["status"]) == (200, "cancelled")

    def test_a_cancellation_in_a_locked_period_is_dated_after_the_lock(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made, tomorrow = agreed(shop, vendor, 500), str(today() + timedelta(days=1))
        with ledger.locked(str(today())):
            cancelled(shop, made["payment"])
        assert ledger.postings(made["refund"])[-1] == (tomorrow, {"1270": -500, "1900": 500})

    def test_the_external_id_of_a_cancelled_refund_still_answers_it(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, external_id="gone")
        cancelled(shop, made["payment"])
        body = {"vendor_id": vendor["id"], "total_amount_cents": 1, "currency": "GBP"}
        answer = shop.api.post(REFUND_PAYMENTS, json={**body, "external_id": "gone"})
        assert (answer.status_code, answer.json()["refund"]["status"]) == (200, "cancelled")
        assert answer.json()["refund"] == read(shop, REFUNDS, made["refund"])


def _parts(allocations: list[Record]) -> Counter[tuple[object, ...]]:
    names = ("bill_id", "amount_cents", "description")
    return Counter(tuple(each[name] for name in names) for each in allocations)
