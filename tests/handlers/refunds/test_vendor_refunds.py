"""create_vendor_refund_payment: refund, payment and allocations, and what stands in the journal."""

from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_paid, part, received, settled, status_of
from tests.builders.trade import Record, read
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
        assert refund["allocations"] == made["allocations"]
        assert refund["vendor_refund_payments"] == [made["payment"]]
        kept = ("description", "memo", "metadata")
        assert [made["payment"][name] for name in kept] == [facts[name] for name in kept]

    def test_a_refund_payment_is_pending(self, shop: Business, vendor: Record) -> None:
        facts = {
            "payment_method": "check",
            "processor": "bank of beans",
            "payment_reference": "R-3",
        }
        given = {**facts, "processing_fee_cents": 20}
        made = agreed(shop, vendor, 4_000, **given)
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
        bill, said = settled(shop, vendor, 5_000), {"description": "half", "metadata": [2]}
        made = agreed(shop, vendor, 4_000, of_bill(bill, 3_000, **said))
        [shown] = made["allocations"]
        assert (shown["allocation_type"], shown["amount"]) == ("bill", 3_000)
        assert (shown["bill_id"], shown["bill_number"]) == (bill["id"], bill["bill_number"])
        assert shown["bill_outstanding_balance_cents"] == 0
        assert shown["bill_payment_id"] is shown["vendor_credit_id"] is None
        assert shown["target_description"] == f"Bill {bill['bill_number']}"
        assert {name: shown[name] for name in said} == said
        assert shown["allocation_date"] == f"{AGREED}T00:00:00Z"
        assert shown["created_at"] == shown["updated_at"] == made["refund"]["created_at"]

    def test_each_of_the_three_is_found_again(self, shop: Business, vendor: Record) -> None:
        bill = settled(shop, vendor, 5_000)
        body = refund_body(vendor, 4_000, of_bill(bill, 3_000), as_credit(500))
        answer = shop.api.post(REFUND_PAYMENTS, json=body)
        made = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        assert answer.headers["location"].endswith(f"/{path}")
        again = shop.api.get(path)
        assert (again.json(), again.headers["etag"]) == (made, '"1"')
        assert refund_of(shop, made) == made["refund"]

    def test_left_out_it_is_an_overpayment_by_bank_transfer_of_today(
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
            assert (answer.status_code, answer.json()) == (200, made)
            assert answer.headers["etag"] == '"2"'
            whole = {**body, "total_refunded_amount_cents": body.pop("total_amount_cents")}
            del whole["total_amount_cents"]
            other = shop.api.post(REFUNDS, json=whole)
            assert (other.status_code, other.json()) == (200, made["refund"])

    def test_a_known_external_id_answers_it_whatever_else_is_said(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, external_id="said twice")
        payment = bill_paid(shop, vendor, 100)
        twice = of_payment(payment, 10), of_payment(payment, 20)
        body = refund_body(vendor, 30, *twice, external_id="said twice")
        with ledger.untouched():
            answer = shop.api.post(REFUND_PAYMENTS, json=body)
        assert (answer.status_code, answer.json()) == (200, made)

    def test_a_preview_answers_what_it_would_post_and_keeps_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        body = refund_body(vendor, 7_200, of_bill(bill, 4_800), as_credit(2_400))
        with ledger.untouched():
            answer = shop.api.post(REFUND_PAYMENTS, params={"preview": True}, json=body)
        assert answer.status_code == 200
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
    def test_a_bill_costs_less_by_its_shares_and_is_owed_as_before(
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

    def test_at_most_what_payments_settled_of_it_and_no_refund_gave_back(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        bill_paid(shop, vendor, 600, part(bill, 600))
        agreed(shop, vendor, 200, of_bill(bill, 200))
        with ledger.untouched():
            answer = shop.api.post(
                REFUND_PAYMENTS, json=refund_body(vendor, 401, of_bill(bill, 401))
            )
            assert answer.status_code == 422
            assert answer.json()["error_code"] == "refund_exceeds_refundable"
        assert agreed(shop, vendor, 400, of_bill(bill, 400))["refund"]["is_fully_allocated"]

    def test_an_unallocated_amount_is_posted_on_suspense(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        made = agreed(shop, vendor, 900, of_bill(bill, 400))
        assert ledger.postings(made["refund"]) == [
            (AGREED, {"1270": 900, "6000": -400, "1900": -500})
        ]
        assert ledger.postings(made["payment"]) == []

    def test_a_bill_that_came_later_gives_back_on_its_own_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500, bill_date="2025-04-02")
        bill_paid(shop, vendor, 500, part(bill, 500), payment_date="2025-04-05")
        made = agreed(shop, vendor, 500, of_bill(bill, 500))
        assert made["allocations"][0]["allocation_date"] == "2025-04-02T00:00:00Z"
        assert ledger.postings(made["refund"]) == [
            (AGREED, {"1270": 500, "1900": -500}),
            ("2025-04-02", {"1900": 500, "6000": -500, "1270": 0}),
        ]
