"""get_payout, list_payouts and delete_payout."""

from typing import Any

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
    worked_example,
)
from tests.builders.trade import NOBODY, Record
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

    def test_an_unknown_payout_is_404(self, shop: Business) -> None:
        answer = shop.api.get(f"{PAYOUTS}{NOBODY}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "payout_not_found")


class TestListPayouts:
    def listed(self, shop: Business, **asked: Any) -> list[int]:
        answer = shop.api.get(PAYOUTS, params=asked)
        assert answer.status_code == 200, answer.text
        return [each["paid_out_amount_cents"] for each in answer.json()["results"]]

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
            ({"reconciliation_status": "unreconciled"}, [900, -50, 400, 30, 30]),
            ({"reconciliation_status": "fully_reconciled"}, []),
            ({"reconciliation_status": "partially_reconciled"}, []),
            ({"search": "weekly"}, [400]),
            ({"search": "PO_A"}, [400]),
            ({"search": "g%"}, [-50]),
            ({"search": "waits"}, [30]),
            ({"created_at_from": "2099-01-01T00:00:00Z"}, []),
            ({"created_at_to": "2099-01-01T00:00:00Z", "min_amount": 900}, [900]),
            ({"updated_at_from": "2099-01-01T00:00:00Z"}, []),
        ],
    )
    def test_filters(self, counter: Business, asked: dict[str, Any], found: list[int]) -> None:
        assert self.listed(counter, **asked) == found
        total = counter.api.get(PAYOUTS, params=asked).json()["count"]
        assert total == len(found)

    @pytest.mark.parametrize(
        ("sort", "found"),
        [
            ("completed_at", [30, 30, 400, -50, 900]),
            ("amount", [-50, 30, 30, 400, 900]),
            ("-amount", [900, 400, 30, 30, -50]),
            ("created_at", [400, -50, 900, 30, 30]),
            ("-created_at", [30, 30, 900, -50, 400]),
        ],
    )
    def test_sorts(self, counter: Business, sort: str, found: list[int]) -> None:
        assert self.listed(counter, sort=sort) == found

    def test_pages_and_cursors_lead_through_all(self, counter: Business) -> None:
        walked, cursor = list[int](), None
        while True:
            asked = {"page_size": 2, "cursor": cursor} if cursor else {"page_size": 2}
            page = counter.api.get(PAYOUTS, params=asked).json()
            walked += [each["paid_out_amount_cents"] for each in page["results"]]
            cursor = page["page_info"]["next_cursor"]
            if cursor is None:
                break
        assert walked == self.listed(counter)
        assert self.listed(counter, page=2, page_size=2) == walked[2:4]
        assert self.listed(counter, page=9) == []


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
        self, shop: Business, ledger: Ledger, buyer: Record
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

    def test_a_preview_tells_what_it_would_post_back_and_keeps_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = paid_out(shop, 100, by_card(shop, buyer))
        with ledger.untouched():
            answer = shop.api.delete(f"{PAYOUTS}{made['id']}/", params={"preview": True})
        assert answer.json()["deleted"] is True
        [entry] = answer.json()["journal_entries"]
        assert (entry["entry_date"], entry["total_debit"]) == (TODAY, 100)
        assert read(shop, made) == made

    def test_an_older_version_is_412(self, shop: Business, ledger: Ledger) -> None:
        made = paid_out(shop, 100, external_id="versions")
        shop.api.post(PAYOUTS, json=payout_body(90, external_id="versions"))
        path = f"{PAYOUTS}{made['id']}/"
        with ledger.untouched():
            answer = shop.api.delete(path, headers={"If-Match": '"1"'})
        assert (answer.status_code, answer.json()["error_code"]) == (412, "precondition_failed")
        assert shop.api.delete(path, headers={"If-Match": '"2"'}).status_code == 200

    def test_inside_the_lock_it_is_posted_back_the_day_after_it(
        self, shop: Business, ledger: Ledger
    ) -> None:
        made = paid_out(shop, 100, completed_at=AT)
        with ledger.locked(ON):
            shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert ledger.postings(made)[1] == (TODAY, {"1100": -100, "1150": 100})

    def test_a_deletion_of_an_unknown_payout_is_404(self, shop: Business) -> None:
        answer = shop.api.delete(f"{PAYOUTS}{NOBODY}/")
        assert (answer.status_code, answer.json()["error_code"]) == (404, "payout_not_found")
