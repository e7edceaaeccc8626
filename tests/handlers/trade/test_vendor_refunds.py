"""create_vendor_refund_payment: the refund, its payment and its allocations of each type."""

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    PAYMENTS,
    bill_paid,
    part,
    received,
    settled,
    status_of,
)
from tests.builders.tax_codes import codes_of
from tests.builders.trade import Record, read, unwarned
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    as_credit,
    changed,
    of_bill,
    of_payment,
    refund_body,
    refund_of,
    taxed,
    whole_refund_body,
)
from tests.clock import today
from tests.partner import Business


class TestCreateVendorRefundPayment:
    def test_a_refund_payment_creates_a_refund_with_all_given_fields(
        self, shop: Business, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 5_000)
        facts = {
            "external_id": "all-three",
            "refund_type": "goods_return",
            "description": "Damp sack",
            "memo": "they rang",
            "reason": "wet",
            "metadata": {"any": [1, None]},
        }
        made = agreed(shop, vendor, 4_000, of_bill(bill, 3_000), **facts)
        refund = made["refund"]
        assert {name: refund[name] for name in facts} == facts
        assert (refund["business_id"], refund["vendor_id"]) == (shop.id, vendor["id"])
        assert (refund["vendor_name"], refund["currency"]) == ("Raw Coffee Traders", "GBP")
        assert (refund["status"], refund["refund_date"]) == ("partially_allocated", AGREED)
        amounts = ("total_refunded_amount", "allocated_amount", "unallocated_amount")
        assert [refund[name] for name in amounts] == [4_000, 3_000, 1_000]
        assert refund["is_fully_allocated"] is False
        assert refund["document"] is refund["reference_number"] is None
        assert refund_of(shop, made) == refund
        assert shop.api.get(f"{REFUND_PAYMENTS}{made['payment']['id']}/").json() == made
        assert refund["allocations"] == made["allocations"]
        assert refund["vendor_refund_payments"] == [made["payment"]]
        kept = ("description", "memo", "metadata")
        assert [made["payment"][name] for name in kept] == [facts[name] for name in kept]

    def test_a_refund_payment_is_pending(self, shop: Business, vendor: Record) -> None:
        facts = {"payment_method": "check", "processor": "bank of beans"}
        facts["payment_reference"] = "R-3"
        made = agreed(shop, vendor, 4_000, **facts, processing_fee_cents=20)
        payment = made["payment"]
        assert {name: payment[name] for name in facts} == facts
        assert (payment["vendor_refund_id"], payment["status"]) == (made["refund"]["id"], "pending")
        money = ("refunded_amount", "processing_fee", "net_amount")
        assert [payment[name] for name in money] == [4_000, 20, 3_980]
        moments = ("payment_date", "submitted_at", "completed_at", "failed_at", "cancelled_at")
        assert [payment[name] for name in moments] == [None] * 5
        assert (payment["transaction_tags"], payment["reconciled_bank_transactions"]) == ([], [])

    def test_a_refund_payment_creates_allocations_to_its_targets(
        self, shop: Business, vendor: Record
    ) -> None:
        bill, words = settled(shop, vendor, 5_000), {"description": "half", "metadata": [2]}
        made = agreed(shop, vendor, 4_000, of_bill(bill, 3_000, **words))
        [shown] = made["allocations"]
        assert (shown["allocation_type"], shown["amount"]) == ("bill", 3_000)
        assert (shown["bill_id"], shown["bill_number"]) == (bill["id"], bill["bill_number"])
        assert shown["bill_outstanding_balance_cents"] == 0
        assert shown["bill_payment_id"] is shown["vendor_credit_id"] is None
        assert shown["target_description"] == f"Bill {bill['bill_number']}"
        assert {name: shown[name] for name in words} == words
        assert shown["allocation_date"] == f"{AGREED}T00:00:00Z"
        assert shown["created_at"] == shown["updated_at"] == made["refund"]["created_at"]

    def test_a_refund_without_facts_is_an_overpayment_by_bank_transfer_of_today(
        self, shop: Business, vendor: Record
    ) -> None:
        body = {"vendor_id": vendor["id"], "total_amount_cents": 500, "currency": "GBP"}
        made = shop.made(REFUND_PAYMENTS, body)
        refund, payment = made["refund"], made["payment"]
        assert (refund["refund_type"], refund["status"]) == ("overpayment", "pending")
        assert refund["refund_date"] == today().isoformat()
        assert (payment["payment_method"], payment["processing_fee"]) == ("bank_transfer", 0)
        assert made["allocations"] == []

    def test_a_known_external_id_answers_the_refund_with_its_first_payment(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first = agreed(shop, vendor, 500, as_credit(100), external_id="again")
        made = changed(shop, first["payment"], memo="Sent on the first")
        with ledger.untouched():
            body = refund_body(vendor, 900, external_id="again")
            answer = shop.api.post(REFUND_PAYMENTS, json=body)
            assert (answer.status_code, unwarned(answer.json())) == (200, made)
            whole = whole_refund_body(vendor, 900, external_id="again")
            other = shop.api.post(REFUNDS, json=whole)
            assert (other.status_code, unwarned(other.json())) == (200, made["refund"])

    def test_a_known_external_id_answers_a_body_that_would_be_refused(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, external_id="known")
        twice = [of_payment(bill_paid(shop, vendor, 100), 10)] * 2
        body = refund_body(vendor, 30, *twice, external_id="known")
        with ledger.untouched():
            answer = shop.api.post(REFUND_PAYMENTS, json=body)
        assert (answer.status_code, unwarned(answer.json())) == (200, made)

    def test_a_preview_answers_what_it_would_post_and_keeps_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        body = refund_body(vendor, 7_200, of_bill(bill, 4_800), as_credit(2_400))
        with ledger.untouched():
            answer = shop.api.post(REFUND_PAYMENTS, params={"preview": True}, json=body)
        entries = answer.json()["journal_entries"]
        assert [each["source_type"] for each in entries] == ["vendor_refund", "vendor_credit"]
        assert [each["total_debit"] for each in entries] == [4_800, 2_400]
        assert {each["sequence_number"] for each in entries} == {None}
        credit = answer.json()["allocations"][1]
        assert credit["target_description"] == "Vendor credit"

    def test_a_vendor_that_is_blocked_may_give_back(self, shop: Business) -> None:
        seller = shop.vendor()
        bill = settled(shop, seller)
        answer = shop.api.patch(f"vendors/{seller['id']}/", json={"status": "BLOCKED"})
        assert answer.status_code == 200
        assert agreed(shop, seller, 100, of_bill(bill, 100))["refund"]["status"] == "allocated"


class TestAllocationsToBills:
    def test_a_refund_reduces_the_cost_of_a_bill_and_not_its_open_amount(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        made = agreed(shop, vendor, 3_333, of_bill(bill, 3_333))
        [entry] = ledger.entries(made["refund"])
        assert (entry.on, entry.source_type) == (AGREED, "vendor_refund")
        assert entry.amounts == {"1270": 3_333, "5000": -2_777, "1300": -556}
        assert entry.description == "Refund from Raw Coffee Traders"
        assert status_of(shop, bill) == ("paid", 0)
        [shown] = read(shop, BILLS, bill)["vendor_refund_allocations"]
        assert shown == {
            "refund_id": made["refund"]["id"],
            "allocated_at": f"{AGREED}T00:00:00Z",
            "reference_number": None,
            "amount_cents": 3_333,
        }

    def test_refunds_of_all_that_was_paid_make_it_refunded(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        agreed(shop, vendor, 3_333, of_bill(bill, 3_333))
        last = agreed(shop, vendor, 6_667, of_bill(bill, 6_667))
        assert ledger.postings(last["refund"]) == [
            (AGREED, {"1270": 6_667, "5000": -5_556, "1300": -1_111})
        ]
        assert status_of(shop, bill) == ("refunded", 0)

    def test_an_unallocated_amount_is_posted_on_suspense(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        made = agreed(shop, vendor, 900, of_bill(bill, 400))
        assert ledger.postings(made["refund"]) == [
            (AGREED, {"1270": 900, "6000": -400, "1900": -500})
        ]
        assert ledger.postings(made["payment"]) == []


class TestAllocationsToPayments:
    def test_a_refund_of_unallocated_money_reopens_no_bill(
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

    def test_a_bill_is_not_released_below_its_refunds_but_its_payment_may_fail(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        agreed(shop, vendor, 300, of_bill(bill, 300))
        path = f"{PAYMENTS}{payment['id']}/"
        for method, at, body in (
            ("PATCH", path, {"allocations": [part(bill, 299)]}),
            ("POST", REFUND_PAYMENTS, refund_body(vendor, 201, of_payment(payment, 201))),
        ):
            refusal = ledger.refused(method, at, json=body)
            assert refusal == (422, "refund_exceeds_refundable")
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
        assert made["payment"]["refunded_amount"] == 4_800
        assert made["refund"]["status"] == "allocated"
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
            refusal = ledger.refused("POST", f"{CREDITS}{id_}/void/")
            assert refusal == (409, "credit_of_refund")
            assert shop.api.put(f"{CREDITS}{id_}/", json={"allocations": []}).status_code == 200

    def test_a_credit_without_a_tax_code_has_no_tax_and_a_warning(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 240, as_credit(120), as_credit(120, tax_code="P20"))
        plain, taxed_ = made["allocations"]
        code = codes_of(shop)["P20"]["id"]
        assert (plain["tax_code_id"], taxed_["tax_code_id"]) == (None, code)
        warning = {"field": "allocations.0.tax_code"}
        warning["message"] = "is missing, so the credit has no tax"
        assert made["refund"]["warnings"] == [warning]
        assert refund_of(shop, made) == made["refund"]
        whole = agreed(shop, vendor, 120, as_credit(120, tax_code="P20"))
        assert whole["refund"]["warnings"] == []

    def test_a_refund_as_credits_alone_has_a_pending_payment_of_zero(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, as_credit(500))
        payment = made["payment"]
        assert (payment["refunded_amount"], payment["net_amount"]) == (0, 0)
        assert (payment["status"], made["refund"]["status"]) == ("pending", "allocated")
        assert ledger.entries(made["refund"]) == []
