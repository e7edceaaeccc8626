"""create_payout: the items, amounts and postings of a payout."""

from collections import Counter

import pytest

from tests.bookkeeping import Ledger
from tests.builders.payouts import (
    AT,
    ON,
    PAYOUTS,
    by_card,
    given_back,
    moved,
    paid_out,
    payment,
    payout_body,
    read,
    upserted,
    worked_example,
)
from tests.builders.trade import Record
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
CLEARING = "1150"


class TestShownPayout:
    def test_a_failed_payout_counts_the_current_amounts_of_its_items(
        self, shop: Business, buyer: Record
    ) -> None:
        stays, bounces, back = by_card(shop, buyer), by_card(shop, buyer), given_back(shop, buyer)
        known = {"external_id": "po-failed"}
        body = payout_body(180, stays, bounces, back, **known)
        payout = shop.made(PAYOUTS, body)
        failed = upserted(shop, {**body, "status": "failed"})
        assert failed["gross_payments_amount_cents"] == 200
        moved(shop, bounces, "failed")
        shown = read(shop, payout)
        assert shown["gross_payments_amount_cents"] == 100
        assert shown["total_refunds_amount_cents"] == 20
        assert shown["expected_net_amount_cents"] == 80
        [listed] = shop.api.get(PAYOUTS, params=known).json()["results"]
        assert listed == {name: shown[name] for name in listed}

    def test_a_payout_older_than_its_payment_is_accepted_with_a_warning(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        early = "2025-03-09T00:00:00Z"
        payout = paid_out(shop, 100, by_card(shop, buyer), completed_at=early)
        assert [each["field"] for each in payout["warnings"]] == ["completed_at"]
        assert {entry.on for entry in ledger.entries(payout)} == {"2025-03-09"}
        assert paid_out(shop, 100, by_card(shop, buyer))["warnings"] == []


class TestCreatePayout:
    def test_the_worked_example_comes_to_nothing_on_clearing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = ledger.balances().get(CLEARING, 0)
        payout = worked_example(shop, buyer)
        sums = {name: payout[name] for name in payout if name.endswith("_cents")}
        assert sums == {
            "paid_out_amount_cents": 920_000,
            "base_amount_cents": 920_000,
            "fee_cents": 30_000,
            "additional_refunds_amount_cents": 0,
            "net_amount_cents": 890_000,
            "gross_payments_amount_cents": 1_000_000,
            "total_refunds_amount_cents": 50_000,
            "other_items_amount_cents": 0,
            "expected_net_amount_cents": 920_000,
            "amount_variance_cents": 0,
        }
        moves = {"1100": 920_000, "6100": 30_000, CLEARING: -950_000}
        assert ledger.postings(payout) == [(ON, moves)]
        assert ledger.balances().get(CLEARING, 0) == before

    def test_a_payout_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = {
            "external_id": "po-1",
            "processor_payout_id": "po_1PzX",
            "reference_number": "R-1",
            "memo": "July",
            "metadata": {"deep": [1]},
            "imported_at": "2025-04-01T00:00:00Z",
            "additional_refunds_amount_cents": 5,
            "fee_cents": 7,
            "currency": "GBP",
        }
        card, back = by_card(shop, buyer, 100, external_id="pay-1"), given_back(shop, buyer)
        answer = shop.api.post(PAYOUTS, json=payout_body(68, card, back, **given))
        payout = answer.json()
        assert {name: payout[name] for name in given} == given
        assert (payout["business_id"], payout["processor"]) == (shop.id, "stripe")
        assert (payout["status"], payout["completed_at"]) == ("paid", AT)
        assert (payout["payment_count"], payout["refund_payment_count"]) == (1, 1)
        assert payout["reconciliation_status"] == "unreconciled"
        assert payout["settlement_file_id"] is None
        [listed] = payout["payments"]
        assert listed == {
            "id": card["id"],
            "external_id": "pay-1",
            "payment_reference": None,
            "customer_name": "Blue Door Bakery",
            "payment_date": "2025-03-10",
            "total_amount_cents": 100,
            "currency": "GBP",
            "status": "completed",
        }
        [taken_off] = payout["refund_payments"]
        assert taken_off == {
            "id": back["id"],
            "external_id": None,
            "refund_id": back["refund_id"],
            "customer_name": "Blue Door Bakery",
            "refunded_amount_cents": 20,
            "completed_at": "2025-03-20T10:00:00Z",
            "status": "completed",
        }
        assert payout["reconciled_bank_transactions"] == []
        assert answer.status_code == 201
        assert answer.headers["location"].endswith(f"/{PAYOUTS}{payout['id']}/")
        found = shop.api.get(f"{PAYOUTS}{payout['id']}/")
        assert (found.json(), found.headers["etag"]) == (payout, '"1"')
        [entry] = ledger.entries(payout)
        assert (entry.reference, entry.description) == ("R-1", "Payout from stripe")
        assert entry.source_type == "payout"

    def test_absent_fields_of_a_payout_have_defaults(self, shop: Business, ledger: Ledger) -> None:
        payout = shop.made(PAYOUTS, {"processor": "mollie", "paid_out_amount_cents": 100})
        assert (payout["status"], payout["completed_at"][:10]) == ("paid", TODAY)
        assert (payout["fee_cents"], payout["metadata"], payout["memo"]) == (0, {}, None)
        assert payout["amount_variance_cents"] == 100
        assert ledger.postings(payout) == [(TODAY, {"1100": 100, CLEARING: -100})]

    @pytest.mark.parametrize(
        "processor",
        ["stripe", "adyen", "mollie", "paypal", "gocardless", "sumup", "square", "other"],
    )
    def test_each_processor_pays_out(self, shop: Business, processor: str) -> None:
        payout = shop.made(PAYOUTS, {"processor": processor, "paid_out_amount_cents": 1})
        assert read(shop, payout)["processor"] == processor

    def test_a_fee_on_its_items_is_posted_once(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payout = paid_out(shop, 960, by_card(shop, buyer, 1_000, fee=10), fee_cents=40)
        assert payout["amount_variance_cents"] == 0
        assert ledger.postings(payout) == [(ON, {"1100": 960, "6100": 30, CLEARING: -990})]

    def test_a_fee_left_out_is_that_of_its_items(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        items = by_card(shop, buyer, 1_000, fee=10), given_back(shop, buyer, 100, fee=3)
        payout = paid_out(shop, 887, *items)
        assert (payout["fee_cents"], payout["amount_variance_cents"]) == (13, 0)
        assert ledger.postings(payout) == [(ON, {"1100": 887, CLEARING: -887})]

    def test_a_variance_stays_on_clearing_with_the_opposite_sign(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = ledger.balances().get(CLEARING, 0)
        payout = paid_out(shop, 95, by_card(shop, buyer, 100))
        assert payout["amount_variance_cents"] == -5
        assert ledger.balances()[CLEARING] - before == 5

    @pytest.mark.parametrize("status", ["pending", "processing", "failed", "cancelled"])
    def test_only_a_paid_one_posts(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        card = by_card(shop, buyer)
        payout = paid_out(shop, 100, card, status=status)
        assert (payout["status"], ledger.postings(payout)) == (status, [])
        held = [payout["id"]] if status in ("pending", "processing") else []
        assert [each["id"] for each in payment(shop, card)["payouts"]] == held

    def test_many_items_are_settled_at_once(self, shop: Business, buyer: Record) -> None:
        cards = [by_card(shop, buyer, 10, fee=1) for _ in range(60)]
        payout = paid_out(shop, 540, *cards)
        assert [each["id"] for each in payout["payments"]] == [each["id"] for each in cards]
        assert (payout["payment_count"], payout["amount_variance_cents"]) == (60, 0)
        assert read(shop, payout) == payout


class TestPaymentsOfPayouts:
    def test_a_payment_shows_the_payout_that_it_came_in(
        self, shop: Business, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        assert card["payouts"] == []
        payout = paid_out(shop, 100, card, external_id="shown", processor_payout_id="po_9")
        [shown] = payment(shop, card)["payouts"]
        assert shown == {
            "id": payout["id"],
            "external_id": "shown",
            "processor": "stripe",
            "processor_payout_id": "po_9",
            "status": "paid",
            "completed_at": AT,
            "paid_out_amount_cents": 100,
        }
        listed = shop.api.get("invoices/payments/", params={"page_size": 100}).json()["results"]
        by_id = {each["id"]: each["payouts"] for each in listed}
        assert by_id[card["id"]] == [shown]
        path = f"invoices/payments/{card['id']}/"
        changed = shop.api.patch(path, json={"note": "Late"}).json()["payment"]
        assert changed["payouts"] == [shown]

    def test_joining_a_payout_is_a_change_of_the_payment(
        self, shop: Business, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        path = f"invoices/payments/{card['id']}/"
        before = shop.api.get(path).headers["etag"]
        paid_out(shop, 100, card)
        assert shop.api.get(path).headers["etag"] != before


class TestUpdateOfPayouts:
    def test_a_known_external_id_updates(self, shop: Business, ledger: Ledger) -> None:
        payout = paid_out(shop, 100, external_id="again", memo="July", fee_cents=2)
        body = {"external_id": "again", "processor": "stripe", "paid_out_amount_cents": 90}
        answer = shop.api.post(PAYOUTS, json=body)
        after = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (after["id"], after["paid_out_amount_cents"]) == (payout["id"], 90)
        assert (after["memo"], after["fee_cents"], after["completed_at"]) == ("July", 2, AT)
        assert after["updated_at"] > payout["updated_at"] == payout["created_at"]
        assert read(shop, payout) == after
        assert ledger.postings(payout) == [
            (ON, {"1100": 100, "6100": 2, CLEARING: -102}),
            (ON, {"1100": -10, CLEARING: 10}),
        ]

    def test_an_equal_update_changes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        items = by_card(shop, buyer), given_back(shop, buyer)
        body = payout_body(80, *items, external_id="same")
        made = shop.made(PAYOUTS, body)
        with ledger.untouched():
            assert upserted(shop, body) == made

    def test_absent_lists_keep_their_items_and_an_empty_one_frees_them(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card, back = by_card(shop, buyer, 100, fee=3), given_back(shop, buyer)
        made = paid_out(shop, 77, card, back, external_id="lists")
        body = {"external_id": "lists", "processor": "stripe", "paid_out_amount_cents": 77}
        assert upserted(shop, {**body, "memo": "new"})["payment_count"] == 1
        after = upserted(shop, {**body, "payment_ids": []})
        assert (after["payments"], after["refund_payment_count"]) == ([], 1)
        assert (after["gross_payments_amount_cents"], after["fee_cents"]) == (0, 3)
        assert payment(shop, card)["payouts"] == []
        assert ledger.postings(made)[1:] == [(ON, {"6100": 3, CLEARING: -3})]
        other = paid_out(shop, 97, card)
        assert [each["id"] for each in payment(shop, card)["payouts"]] == [other["id"]]

    def test_items_join_and_return_to_their_place(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first, second = by_card(shop, buyer, 100, fee=1), by_card(shop, buyer, 50, fee=2)
        made = paid_out(shop, 147, first, external_id="join", fee_cents=3)
        for given, listed in (([second], [second]), ([second, first], [first, second])):
            ids = [each["id"] for each in given]
            after = upserted(shop, payout_body(147, external_id="join", payment_ids=ids))
            assert [each["id"] for each in after["payments"]] == [each["id"] for each in listed]
        assert after["amount_variance_cents"] == 0
        total = Counter[str]()
        for _, moves in ledger.postings(made):
            total.update(moves)
        assert total == {"1100": 147, "6100": 0, CLEARING: -147}

    def test_null_clears_what_only_describes(self, shop: Business) -> None:
        words = {"memo": "m", "reference_number": "R", "processor_payout_id": "po"}
        paid_out(shop, 1, external_id="cleared", imported_at=AT, **words)
        cleared = {"imported_at": None, **dict.fromkeys(words)}
        after = upserted(shop, payout_body(1, external_id="cleared", **cleared))
        assert {after[name] for name in (*words, "imported_at")} == {None}

    def test_a_failed_payout_is_reversed_today_and_frees_its_items(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="fails")
        made = shop.made(PAYOUTS, body)
        after = upserted(shop, {**body, "status": "failed"})
        assert (after["status"], after["payment_count"]) == ("failed", 1)
        assert payment(shop, card)["payouts"] == []
        [entry, reversal] = ledger.entries(made)
        assert (reversal.reversal_of, reversal.on) == (entry.id, TODAY)
        again = upserted(shop, {**body, "status": "paid"})
        assert (again["status"], again["completed_at"]) == ("paid", AT)
        assert ledger.postings(made)[2:] == [(TODAY, {"1100": 100, CLEARING: -100})]
        assert [each["id"] for each in payment(shop, card)["payouts"]] == [made["id"]]


class TestItemsThatBounce:
    def test_a_failed_item_stays_listed_and_counts_zero(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        assert moved(shop, card, "failed")["payouts"][0]["id"] == made["id"]
        after = read(shop, made)
        [listed] = after["payments"]
        assert (listed["id"], listed["status"]) == (card["id"], "failed")
        assert after["payment_count"] == 1
        assert (after["gross_payments_amount_cents"], after["fee_cents"]) == (0, 3)
        assert after["amount_variance_cents"] == 100
        assert ledger.postings(made)[1:] == [(TODAY, {"6100": 3, CLEARING: -3})]
        moved(shop, card, "completed")
        assert read(shop, made)["amount_variance_cents"] == 0
        assert ledger.postings(made)[2:] == [(TODAY, {"6100": -3, CLEARING: 3})]

    def test_a_failed_item_can_be_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        moved(shop, card, "failed")
        posted = ledger.postings(made)
        answer = shop.api.post(f"invoices/payments/{card['id']}/delete/")
        assert answer.json()["payment"]["status"] == "cancelled"
        assert ledger.postings(made) == posted
        assert read(shop, made)["payments"][0]["status"] == "cancelled"
