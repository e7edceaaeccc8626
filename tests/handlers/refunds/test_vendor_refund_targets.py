"""Vendor refunds of payments and as credits: what is released, what is made, what is posted."""

from tests.bookkeeping import Ledger
from tests.builders.purchases import CREDITS, PAYMENTS, bill_paid, part, received, status_of
from tests.builders.tax_codes import codes_of
from tests.builders.trade import Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    agreed,
    as_credit,
    of_bill,
    of_payment,
    refund_body,
    refund_of,
    taxed,
)
from tests.clock import today
from tests.partner import Business


class TestAllocationsToPayments:
    def test_money_that_was_not_used_comes_back_and_no_bill_is_reopened(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 300)
        payment = bill_paid(shop, vendor, 1_000, part(bill, 300))
        made = agreed(shop, vendor, 700, of_payment(payment, 700))
        assert ledger.postings(made["refund"]) == [(AGREED, {"1270": 700, "1250": -700})]
        assert len(ledger.entries(payment)) == 1
        [shown] = made["allocations"]
        assert (shown["allocation_type"], shown["bill_payment_id"]) == ("payment", payment["id"])
        assert shown["bill_id"] is shown["bill_number"] is None
        assert shown["target_description"] == "Bill payment"
        assert status_of(shop, bill) == ("paid", 0)
        now = read(shop, PAYMENTS, payment)
        assert (now["allocated_amount_cents"], now["unallocated_amount_cents"]) == (300, 0)
        [given_back] = now["refund_allocations"]
        assert (given_back["refund_id"], given_back["amount_cents"]) == (made["refund"]["id"], 700)

    def test_a_refund_of_a_payment_releases_the_newest_bill_first(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        days = ("2025-03-01", "2025-03-03", "2025-03-02")
        first, newest, middle = (received(shop, vendor, 500, bill_date=day) for day in days)
        parts = [part(each, 500) for each in (newest, first, middle)]
        payment = bill_paid(shop, vendor, 1_500, *parts)
        with ledger.moving() as moved:
            made = agreed(shop, vendor, 700, of_payment(payment, 700))
        assert moved == {"1270": 700, "2000": -700}
        assert ledger.postings(made["refund"]) == [(AGREED, {"1270": 700, "1250": -700})]
        paid = ("2025-03-10", {"2000": 1_500, "1100": -1_500})
        assert ledger.postings(payment) == [paid, (AGREED, {"1250": 700, "2000": -700})]
        assert status_of(shop, newest) == ("received", 500)
        assert status_of(shop, middle) == ("partially_paid", 200)
        assert status_of(shop, first) == ("paid", 0)
        now = read(shop, PAYMENTS, payment)
        held = {each["bill_id"]: each["amount_cents"] for each in now["allocations"]}
        assert held == {first["id"]: 500, middle["id"]: 300}
        assert (now["unallocated_amount_cents"], now["is_fully_allocated"]) == (0, True)

    def test_free_money_is_used_before_a_bill_is_reopened(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 800, part(bill, 500))
        agreed(shop, vendor, 400, of_payment(payment, 400))
        assert status_of(shop, bill) == ("partially_paid", 100)
        assert ledger.postings(payment)[1:] == [(AGREED, {"1250": 100, "2000": -100})]

    def test_nothing_is_released_on_a_day_before_it_was_applied(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500)
        body = {"allocations": [part(bill, 500)]}
        assert shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=body).status_code == 200
        agreed(shop, vendor, 200, of_payment(payment, 200))
        on = today().isoformat()
        applied = (on, {"2000": 500, "1250": -500})
        assert ledger.postings(payment)[1:] == [applied, (on, {"1250": 200, "2000": -200})]
        assert status_of(shop, bill) == ("partially_paid", 200)

    def test_a_payment_cannot_be_lowered_below_its_refunds(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 1_000)
        agreed(shop, vendor, 700, of_payment(payment, 700))
        path = f"{PAYMENTS}{payment['id']}/"
        with ledger.untouched():
            low = shop.api.patch(path, json={"amount_cents": 699})
            assert (low.status_code, low.json()["error_code"]) == (422, "total_below_allocated")
            much = shop.api.patch(path, json={"allocations": [part(bill, 301)]})
            assert (much.status_code, much.json()["error_code"]) == (
                422,
                "allocation_exceeds_total",
            )

    def test_by_hand_no_bill_is_released_below_its_refunds_but_a_returned_payment_may(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        agreed(shop, vendor, 300, of_bill(bill, 300))
        path = f"{PAYMENTS}{payment['id']}/"
        with ledger.untouched():
            for request in (
                ("PATCH", path, {"allocations": [part(bill, 299)]}),
                ("POST", REFUND_PAYMENTS, refund_body(vendor, 201, of_payment(payment, 201))),
            ):
                answer = shop.api.request(request[0], request[1], json=request[2])
                assert answer.status_code == 422
                assert answer.json()["error_code"] == "refund_exceeds_refundable"
        agreed(shop, vendor, 200, of_payment(payment, 200))
        assert shop.api.patch(path, json={"status": "failed"}).status_code == 200
        assert status_of(shop, bill) == ("received", 500)


class TestAllocationsAsCredits:
    def test_an_allocation_as_credit_makes_a_credit_and_moves_no_money(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        made = agreed(shop, vendor, 7_200, of_bill(bill, 4_800), as_credit(2_400))
        assert ledger.postings(made["refund"]) == [
            (AGREED, {"1270": 4_800, "5000": -4_000, "1300": -800})
        ]
        assert (made["payment"]["refunded_amount"], made["refund"]["status"]) == (
            4_800,
            "allocated",
        )
        shown = made["allocations"][1]
        assert shown["allocation_type"] == "credit"
        assert shown["bill_id"] is shown["bill_payment_id"] is None
        credit = read(shop, CREDITS, {"id": shown["vendor_credit_id"]})
        assert shown["target_description"] == f"Vendor credit {credit['vendor_credit_number']}"
        assert (credit["status"], credit["total_amount"]) == ("received", 2_400)
        assert credit["received_at"] == f"{AGREED}T00:00:00Z"
        assert ledger.postings(credit) == [(AGREED, {"1260": 2_400, "5100": -2_400})]

    def test_a_credit_of_a_refund_can_be_applied_but_not_voided(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        made = agreed(shop, vendor, 600, as_credit(600))
        id_ = made["allocations"][0]["vendor_credit_id"]
        body = {"allocations": [{"bill_id": bill["id"], "amount": 400}]}
        assert shop.api.put(f"{CREDITS}{id_}/", json=body).status_code == 200
        assert status_of(shop, bill) == ("partially_paid", 600)
        for _ in range(2):
            with ledger.untouched():
                answer = shop.api.post(f"{CREDITS}{id_}/void/")
                assert answer.status_code == 409
                assert answer.json()["error_code"] == "credit_of_refund"
            assert shop.api.put(f"{CREDITS}{id_}/", json={"allocations": []}).status_code == 200

    def test_a_credit_without_a_tax_code_has_no_tax_and_a_warning(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 240, as_credit(120), as_credit(120, tax_code="P20"))
        plain, taxed_ = made["allocations"]
        code = codes_of(shop)["P20"]["id"]
        assert (plain["tax_code_id"], taxed_["tax_code_id"]) == (None, code)
        told = [
            {
                "field": "allocations.0.tax_code",
                "message": "is missing, so the credit has no tax",
            }
        ]
        assert made["refund"]["warnings"] == told
        assert refund_of(shop, made) == made["refund"]
        whole = agreed(shop, vendor, 120, as_credit(120, tax_code="P20"))
        assert whole["refund"]["warnings"] == []

    def test_each_takes_a_number_of_its_own(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 60, as_credit(10), as_credit(20), as_credit(30))
        ids = [each["vendor_credit_id"] for each in made["allocations"]]
        shown = [read(shop, CREDITS, {"id": id_}) for id_ in ids]
        numbers = [int(each["vendor_credit_number"].removeprefix("VC-")) for each in shown]
        assert numbers == list(range(numbers[0], numbers[0] + 3))
        assert [each["total_amount"] for each in shown] == [10, 20, 30]
        assert [each["target_description"] for each in made["allocations"]] == [
            f"Vendor credit {each['vendor_credit_number']}" for each in shown
        ]

    def test_all_of_it_leaves_a_payment_of_nothing_pending(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, as_credit(500))
        payment = made["payment"]
        assert (payment["refunded_amount"], payment["net_amount"]) == (0, 0)
        assert (payment["status"], made["refund"]["status"]) == ("pending", "allocated")
        assert ledger.entries(made["refund"]) == []
