"""cancel_vendor_refund_payment: everything that a refund did is taken back, or nothing at all."""

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
    AGREED,
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


def accounts(shop: Business) -> dict[str, int]:
    """What every account shows as its balance."""
    answer = shop.api.get(CHART, params={"page_size": 100})
    assert answer.json()["page_info"]["total_pages"] == 1
    return {each["code"]: each["current_balance"] for each in answer.json()["results"]}


def on(payment: Record) -> str:
    return f"{REFUND_PAYMENTS}{payment['id']}/delete/"


class TestCancelVendorRefundPayment:
    def test_a_cancelled_payment_is_returned_and_stays_readable(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(taxed(shop, vendor), 500))
        answer = shop.api.post(on(made["payment"]))
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
        assert (shown["payment"]["status"], shown["payment"]["cancelled_at"]) == (
            "cancelled",
            gone["updated_at"],
        )
        assert (shown["refund"]["status"], shown["allocations"]) == ("cancelled", [])
        assert refund_of(shop, made)["allocations"] == []

    def test_bills_payments_credits_statuses_and_every_balance_are_as_before(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        days = ("2025-03-01", "2025-03-02", "2025-03-03")
        found = [received(shop, vendor, 500, bill_date=day) for day in days]
        whole = taxed(shop, vendor)
        parts = [part(each, 500, description="as agreed") for each in found]
        payment = bill_paid(shop, vendor, 1_600, *parts)
        credit = vendor_credited(shop, vendor, 300)
        records = [*bills(*found, whole), *payments(payment), *credits(credit)]
        before, balances = snapshot(shop, *records), accounts(shop)
        vendor_before = read(shop, "vendors/", vendor)["outstanding_balance"]
        made = agreed(
            shop,
            vendor,
            6_000,
            of_bill(whole, 3_333),
            of_payment(payment, 900),
            as_credit(700),
            of_bill(found[0], 100),
        )
        assert made["refund"]["status"] == "partially_allocated"
        assert snapshot(shop, *records) != before
        assert accounts(shop) != balances
        cancelled(shop, made["payment"])
        after = snapshot(shop, *records)
        for was, is_ in zip(before, after, strict=True):
            held = is_.pop("allocations", [])
            again = was.pop("allocations", [])
            # What was applied again is so from today on, and stands behind what stayed.
            assert _parts(held) == _parts(again)
            was.pop("bill_payment_allocations", None)
            is_.pop("bill_payment_allocations", None)
            assert is_ == was
        assert accounts(shop) == balances
        assert read(shop, "vendors/", vendor)["outstanding_balance"] == vendor_before
        assert [status_of(shop, each) for each in (*found, whole)] == [("paid", 0)] * 4

    def test_a_bill_alone_is_exactly_as_before(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        before = snapshot(shop, *bills(bill))
        made = agreed(shop, vendor, 10_000, of_bill(bill, 10_000))
        assert status_of(shop, bill)[0] == "refunded"
        with ledger.moving() as moved:
            cancelled(shop, made["payment"])
        assert moved == {"1270": -10_000, "5000": 8_333, "1300": 1_667}
        assert snapshot(shop, *bills(bill)) == before
        first, last = ledger.entries(made["refund"])
        assert (first.on, last.on) == (AGREED, today().isoformat())
        assert last.reversal_of == first.id

    def test_released_money_is_applied_again_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        older, newer = (received(shop, vendor, 500, bill_date=f"2025-03-0{n}") for n in (1, 2))
        payment = bill_paid(shop, vendor, 1_000, part(older, 500), part(newer, 500))
        made = agreed(shop, vendor, 700, of_payment(payment, 700))
        cancelled(shop, made["payment"])
        [_, released, again] = ledger.postings(payment)
        assert released == (AGREED, {"1250": 700, "2000": -700})
        assert again == (today().isoformat(), {"2000": 700, "1250": -700})
        now = read(shop, BILLS, newer)
        assert (now["status"], now["paid_at"]) == ("paid", f"{today()}T00:00:00Z")

    def test_allocations_are_restored_up_to_the_open_amount_of_each_bill(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        made = agreed(shop, vendor, 500, of_payment(payment, 500))
        bill_paid(shop, vendor, 200, part(bill, 200))
        bill_paid(shop, vendor, 100, part(bill, 100), status="pending")
        cancelled(shop, made["payment"])
        now = read(shop, PAYMENTS, payment)
        assert _parts(now["allocations"]) == {(bill["id"], 200, None): 1}
        assert now["unallocated_amount_cents"] == 300

    def test_not_where_the_bill_payment_was_returned_meanwhile(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        made = agreed(shop, vendor, 300, of_payment(payment, 300))
        answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert answer.status_code == 200
        with ledger.moving() as moved:
            cancelled(shop, made["payment"])
        assert moved == {"1270": -300, "1250": 300}
        now = read(shop, PAYMENTS, payment)
        assert (now["allocations"], now["refunded_amount_cents"]) == ([], 0)
        assert status_of(shop, bill) == ("received", 500)

    def test_the_credit_is_void_and_what_it_settled_is_owed_again(
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

    def test_a_failed_one_is_cancelled_too(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 500)
        changed(shop, made["payment"], status="failed")
        assert cancelled(shop, made["payment"])["status"] == "cancelled"

    def test_a_bill_that_it_gave_back_may_then_be_drawn_up_anew(
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
        ledger.audit()

    def test_an_update_to_cancelled_is_the_same(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        made = agreed(shop, vendor, 500, of_bill(bill, 300), as_credit(200))
        before = shop.balance("1270")
        after = changed(shop, made["payment"], status="cancelled", memo="never came")
        assert (after["refund"]["status"], after["allocations"]) == ("cancelled", [])
        assert (after["payment"]["memo"], shop.balance("1270")) == ("never came", before - 300)

    @pytest.mark.parametrize("status", ["completed", "processing", "cancelled"])
    def test_any_other_is_refused_and_nothing_changes(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(taxed(shop, vendor), 300))
        changed(shop, made["payment"], status=status)
        with ledger.untouched():
            answer = shop.api.post(on(made["payment"]))
        assert (answer.status_code, answer.json()["error_code"]) == (
            409,
            "invalid_state_transition",
        )
        assert answer.json()["detail"]["current_state"] == status

    def test_a_cancellation_requires_a_business_token(
        self, shop: Business, ledger: Ledger, acme: Partner, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        path = f"/v1/platform/businesses/{shop.id}/{on(made['payment'])}"
        with ledger.untouched():
            for caller in (acme.api, acme.key):
                answer = caller.post(path)
                assert (answer.status_code, answer.json()["error_code"]) == (
                    403,
                    "permission_denied",
                )
        assert shop.api.post(on(made["payment"])).status_code == 200

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
                    told = answer.status_code, answer.json()["error_code"]
                    assert told == (403, "permission_denied")
        for caller in (acme.api, acme.key):
            assert caller.patch(address, json={"status": "failed"}).status_code == 200
        answer = shop.api.patch(path, json={"status": "cancelled"})
        assert (answer.status_code, answer.json()["refund"]["status"]) == (200, "cancelled")

    def test_in_a_locked_period_it_is_taken_back_on_the_first_open_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made, tomorrow = agreed(shop, vendor, 500), str(today() + timedelta(days=1))
        with ledger.locked(str(today())):
            cancelled(shop, made["payment"])
        assert ledger.postings(made["refund"])[-1] == (tomorrow, {"1270": -500, "1900": 500})

    def test_its_external_id_still_answers_it(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 500, external_id="gone")
        cancelled(shop, made["payment"])
        body = {"vendor_id": vendor["id"], "total_amount_cents": 1, "currency": "GBP"}
        answer = shop.api.post(REFUND_PAYMENTS, json={**body, "external_id": "gone"})
        assert (answer.status_code, answer.json()["refund"]["status"]) == (200, "cancelled")
        assert answer.json()["refund"] == read(shop, REFUNDS, made["refund"])


def _parts(held: list[Record]) -> Counter[tuple[object, ...]]:
    return Counter((each["bill_id"], each["amount_cents"], each["description"]) for each in held)
