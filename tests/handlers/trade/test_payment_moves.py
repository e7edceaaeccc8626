"""Moves of a payment between its statuses, by an update or by a cancellation."""

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Trade
from tests.clock import today
from tests.handlers.trade.side import Side

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


class StatusMoves:
    def test_a_status_goes_where_the_table_says(self, side: Side) -> None:
        for before, allowed in MOVES[side.trade].items():
            for after in sorted(MOVES[side.trade].keys() - {before}):
                payment = side.pay(100, status=before)
                if after in allowed:
                    assert side.change(payment, status=after)["status"] == after
                    continue
                with side.ledger.untouched():
                    answer = side.api.patch(side.trade.of_payment(payment), json={"status": after})
                fault = answer.json()["error_code"], answer.json()["detail"]["current_state"]
                assert (answer.status_code, *fault) == (409, "invalid_state_transition", before)
                assert set(answer.json()["detail"]["allowed_next_states"]) == allowed

    def test_its_own_status_is_no_change(self, side: Side) -> None:
        for status in MOVES[side.trade]:
            payment = side.pay(100, status=status)
            with side.ledger.untouched():
                assert side.change(payment, status=status) == payment

    def test_a_payment_that_is_no_longer_live_releases_its_reservation(self, side: Side) -> None:
        for status in side.trade.not_live:
            part = side.trade.part(side.open(100), 100)
            payment = side.pay(100, part, status="pending")
            assert side.change(payment, status=status)["allocations"] == []
            assert side.ledger.entries(payment) == []
            assert side.pay(100, part)["is_fully_allocated"] is True


class TestMovesOfUpdateInvoicePayment(StatusMoves):
    trade = SALES


class TestMovesOfUpdateBillPayment(StatusMoves):
    trade = PURCHASES


class Cancellation:
    @pytest.mark.parametrize("status", ["pending", "failed"])
    def test_a_payment_that_did_not_complete_is_cancelled_and_releases_its_documents(
        self, side: Side, status: str
    ) -> None:
        document = side.open(100)
        parts = [side.trade.part(document, 60)] if status == "pending" else []
        payment = side.pay(60, *parts, status=status)
        answer = side.api.post(side.trade.of_payment(payment, "delete"))
        shown = answer.json()["payment"]
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["allocations"]) == ("cancelled", [])
        assert side.ledger.entries(payment) == []
        assert side.api.get(side.trade.of_payment(payment)).json() == shown
        again = side.pay(100, side.trade.part(document, 100))
        assert (again["status"], again["is_fully_allocated"]) == ("completed", True)

    def test_any_other_is_not(self, side: Side) -> None:
        for status in sorted(MOVES[side.trade].keys() - {"pending", "failed"}):
            payment = side.pay(60, status=status)
            with side.ledger.untouched():
                answer = side.api.post(side.trade.of_payment(payment, "delete"))
            fault = answer.json()["error_code"], answer.json()["detail"]["current_state"]
            assert (answer.status_code, *fault) == (409, "invalid_state_transition", status)
            by_update = "update its status" in answer.json()["message"]
            assert by_update is ("cancelled" in MOVES[side.trade][status])

    def test_a_cancelled_failed_payment_keeps_its_postings(self, side: Side) -> None:
        payment = side.pay(60)
        side.change(payment, status="failed")
        side.api.post(side.trade.of_payment(payment, "delete"))
        assert side.ledger.postings(payment) == [
            (PAID, side.trade.posted_payment(60)),
            (str(today()), side.trade.posted_payment(-60)),
        ]


class TestCancelInvoicePayment(Cancellation):
    trade = SALES


class TestCancelBillPayment(Cancellation):
    trade = PURCHASES
