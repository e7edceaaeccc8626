"""get_payout, list_payouts and delete_payout."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.payouts import (
    ON,
    PAYOUTS,
    by_card,
    given_back,
    moved,
    paid_out,
    payment,
    payout_body,
    read,
    worked_example,
)
from tests.builders.trade import Record
from tests.clock import today
from tests.partner import Business, Partner

TODAY = str(today())


@pytest.fixture(scope="module")
def counter(acme: Partner) -> Business:
    """A business with five payouts and a deleted one."""
    counter = acme.business()
    buyer = counter.customer()
    card, back = by_card(counter, buyer, 500), given_back(counter, buyer, 100)
    first = {"external_id": "PO-1", "memo": "Weekly sum", "processor_payout_id": "po_abc"}
    paid_out(counter, 400, card, back, completed_at="2025-03-01T00:00:00Z", **first)
    paid_out(counter, -50, completed_at="2025-03-02T00:00:00Z", reference_number="NEG%")
    adyen = {"processor": "adyen", "external_id": "po-3"}
    paid_out(counter, 900, completed_at="2025-03-03T00:00:00Z", **adyen)
    without_day = {"processor": "stripe", "paid_out_amount_cents": 30}
    counter.made(PAYOUTS, {**without_day, "status": "pending", "external_id": "waits"})
    counter.made(PAYOUTS, {**without_day, "status": "failed"})
    gone = paid_out(counter, 7, external_id="po-gone")
    counter.api.delete(f"{PAYOUTS}{gone['id']}/")
    return counter


class TestGetPayout:
    def test_a_payout_is_read_as_it_was_created(self, shop: Business, buyer: Record) -> None:
        made = worked_example(shop, buyer)
        assert read(shop, made) == made


class TestListPayouts:
    def listed(self, shop: Business, **asked: Any) -> list[int]:
        answer = shop.api.get(PAYOUTS, params=asked)
        assert answer.status_code == 200, answer.text
        results = answer.json()["results"]
        assert answer.json()["count"] == len(results)
        return [each["paid_out_amount_cents"] for each in results]

    def test_the_latest_paid_come_first_and_those_without_a_day_last(
        self, counter: Business
    ) -> None:
        assert self.listed(counter) == [900, -50, 400, 30, 30]

    def test_a_listed_payout_has_counts_instead_of_items(self, counter: Business) -> None:
        page = counter.api.get(PAYOUTS, params={"external_id": "po-1"}).json()
        [shown] = page["results"]
        whole = read(counter, shown)
        left_out = {"payments", "refund_payments", "other_items", "reconciled_bank_transactions"}
        left_out |= {"warnings"}
        assert shown == {name: whole[name] for name in whole if name not in left_out}
        assert (shown["payment_count"], shown["refund_payment_count"]) == (1, 1)
        assert page["count"] == 1

    @pytest.mark.parametrize(
        ("asked", "found"),
        [
            ({"external_id": "PO-"}, [900, 400]),
            ({"external_id": "o_1"}, []),
            ({"completed_at_from": "2025-03-02T00:00:00Z"}, [900, -50]),
            ({"completed_at_to": "2025-03-02T00:00:00Z"}, [-50, 400]),
            ({"min_amount": 30}, [900, 400, 30, 30]),
            ({"min_amount": -50, "max_amount": 30}, [-50, 30, 30]),
            ({"max_amount": -1}, [-50]),
            ({"processor": "adyen"}, [900]),
            ({"status": "pending"}, [30]),
            ({"status": "pending,failed"}, [30, 30]),
            ({"search": "weekly"}, [400]),
            ({"search": "PO_A"}, [400]),
            ({"search": "g%"}, [-50]),
            ({"search": "waits"}, [30]),
        ],
    )
    def test_filters_select_payouts(
        self, counter: Business, asked: dict[str, Any], found: list[int]
    ) -> None:
        assert self.listed(counter, **asked) == found

    @pytest.mark.parametrize(
        ("sort", "found"),
        [
            ("completed_at", [30, 30, 400, -50, 900]),
            ("amount", [-50, 30, 30, 400, 900]),
            ("created_at", [400, -50, 900, 30, 30]),
        ],
    )
    def test_payouts_are_sorted_by_a_field(
        self, counter: Business, sort: str, found: list[int]
    ) -> None:
        assert self.listed(counter, sort=sort) == found


class TestDeletePayout:
    def test_a_deleted_payout_is_reversed_today_and_not_found(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card, back = by_card(shop, buyer), given_back(shop, buyer)
        made = paid_out(shop, 80, card, back, external_id="gone")
        answer = shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        entry, reversal = ledger.entries(made)
        assert (entry.on, reversal.on, reversal.reversal_of) == (ON, TODAY, entry.id)
        assert reversal.amounts == {code: -amount for code, amount in entry.amounts.items()}
        assert (entry.reference, reversal.reference) == ("gone", "gone")
        assert shop.api.get(f"{PAYOUTS}{made['id']}/").status_code == 404
        assert shop.api.delete(f"{PAYOUTS}{made['id']}/").status_code == 404
        assert payment(shop, card)["payouts"] == []

    def test_its_items_and_its_external_id_are_free_again(
        self, shop: Business, buyer: Record
    ) -> None:
        body = payout_body(80, by_card(shop, buyer), given_back(shop, buyer), external_id="free")
        made = shop.made(PAYOUTS, body)
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        again = shop.made(PAYOUTS, body)
        assert again["id"] != made["id"]
        assert again["amount_variance_cents"] == 0

    def test_a_deleted_pending_payout_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = paid_out(shop, 100, by_card(shop, buyer), status="pending")
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert ledger.postings(made) == []

    def test_a_failure_after_the_deletion_posts_nothing_for_the_payout(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        moved(shop, card, "failed")
        assert len(ledger.entries(made)) == 2
