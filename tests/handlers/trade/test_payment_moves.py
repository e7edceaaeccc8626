"""From which status a payment comes to which, by an update or by a cancellation."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade
from tests.clock import today
from tests.partner import Business

STATUSES = ("pending", "processing", "completed", "failed", "cancelled", "refunded")
MOVES: dict[Trade, dict[str, set[str]]] = {
    SALES: {each: set(STATUSES) - {each} for each in STATUSES},
    PURCHASES: {
        "pending": {"processing", "completed", "failed", "cancelled"},
        "processing": {"completed", "failed"},
        "completed": {"failed"},
        "failed": {"pending", "completed", "cancelled"},
        "cancelled": set(),
    },
}


class Moving:
    def test_a_status_goes_where_the_table_says(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for before, allowed in MOVES[trade].items():
            for after in sorted(MOVES[trade].keys() - {before}):
                payment = trade.pay(shop, party, 100, status=before)
                if after in allowed:
                    assert trade.change(shop, payment, status=after)["status"] == after
                    continue
                with ledger.untouched():
                    answer = shop.api.patch(trade.of_payment(payment), json={"status": after})
                told = answer.json()["error_code"], answer.json()["detail"]["current_state"]
                assert (answer.status_code, *told) == (409, "invalid_state_transition", before)
                assert set(answer.json()["detail"]["allowed_next_states"]) == allowed

    def test_its_own_status_is_no_change(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for status in MOVES[trade]:
            payment = trade.pay(shop, party, 100, status=status)
            with ledger.untouched():
                assert trade.change(shop, payment, status=status) == payment

    def test_a_payment_that_is_no_longer_live_releases_its_reservation(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for status in trade.not_live:
            part = trade.part(trade.open(shop, party, 100), 100)
            payment = trade.pay(shop, party, 100, part, status="pending")
            assert trade.change(shop, payment, status=status)["allocations"] == []
            assert ledger.entries(payment) == []
            assert trade.pay(shop, party, 100, part)["is_fully_allocated"] is True


class TestMovesOfUpdateInvoicePayment(Moving):
    trade = SALES


class TestMovesOfUpdateBillPayment(Moving):
    trade = PURCHASES


class Cancelling:
    @pytest.mark.parametrize("status", ["pending", "failed"])
    def test_a_payment_that_did_not_complete_is_cancelled_and_releases_its_documents(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, status: str
    ) -> None:
        document = trade.open(shop, party, 100)
        parts = [trade.part(document, 60)] if status == "pending" else []
        payment = trade.pay(shop, party, 60, *parts, status=status)
        answer = shop.api.post(trade.of_payment(payment, "delete"))
        shown = answer.json()["payment"]
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["allocations"]) == ("cancelled", [])
        assert ledger.entries(payment) == []
        assert shop.api.get(trade.of_payment(payment)).json() == shown
        again = trade.pay(shop, party, 100, trade.part(document, 100))
        assert (again["status"], again["is_fully_allocated"]) == ("completed", True)

    def test_any_other_is_not(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for status in sorted(MOVES[trade].keys() - {"pending", "failed"}):
            payment = trade.pay(shop, party, 60, status=status)
            with ledger.untouched():
                answer = shop.api.post(trade.of_payment(payment, "delete"))
            told = answer.json()["error_code"], answer.json()["detail"]["current_state"]
            assert (answer.status_code, *told) == (409, "invalid_state_transition", status)
            by_update = "update its status" in answer.json()["message"]
            assert by_update is ("cancelled" in MOVES[trade][status])

    def test_a_cancelled_failed_payment_keeps_its_postings(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        payment = trade.pay(shop, party, 60)
        trade.change(shop, payment, status="failed")
        shop.api.post(trade.of_payment(payment, "delete"))
        assert ledger.postings(payment) == [
            (PAID, trade.posted_payment(60)),
            (str(today()), trade.posted_payment(-60)),
        ]


class TestCancelInvoicePayment(Cancelling):
    trade = SALES


class TestCancelBillPayment(Cancelling):
    trade = PURCHASES
