"""What payments of either side settle: which documents, how much of them, and when not."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade
from tests.partner import Business


class RefusingToCreate:
    not_live: tuple[str, ...]

    @pytest.mark.parametrize(
        ("total", "amounts", "status", "code"),
        [
            (2_000, [1_001], 422, "allocation_exceeds_outstanding"),
            (999, [1_000], 422, "allocation_exceeds_total"),
            (1_500, [1_000, 501], 422, "allocation_exceeds_total"),
            (1_000, [0], 400, "validation_error"),
            (1_000, [-5], 400, "validation_error"),
        ],
    )
    def test_allocations_stay_within_both_sides(
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        party: Record,
        total: int,
        amounts: list[int],
        status: int,
        code: str,
    ) -> None:
        parts = [trade.part(trade.open(shop, party, 1_000), amount) for amount in amounts]
        body = trade.payment_body(party, total, allocations=parts)
        assert ledger.refused("POST", trade.payments, json=body) == (status, code)

    def test_a_document_stands_in_the_list_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        twice = [trade.part(trade.open(shop, party, 10), 1)] * 2
        body = trade.payment_body(party, 2, allocations=twice)
        with ledger.untouched():
            answer = shop.api.post(trade.payments, json=body)
        assert answer.status_code == 400
        fault = {f"allocations.1.{trade.noun}_id": [f"repeats the {trade.noun} of an earlier item"]}
        assert answer.json()["detail"]["field_errors"] == fault

    def test_only_open_documents_of_the_same_party_are_paid(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        void = trade.open(shop, party, 10)
        shop.api.post(trade.of(void, "void"))
        other = PURCHASES if trade is SALES else SALES
        for document, status, code in (
            (void, 409, f"{trade.noun}_not_open"),
            (shop.made(trade.path, trade.body(party)), 409, f"{trade.noun}_not_open"),
            (trade.open(shop, trade.somebody(shop), 10), 422,
             f"{trade.noun}_{trade.party}_mismatch"),
            (other.open(shop, other.somebody(shop), 10), 422, "reference_not_found"),
        ):  # fmt: skip
            body = trade.payment_body(party, 5, allocations=[trade.part(document, 5)])
            assert ledger.refused("POST", trade.payments, json=body) == (status, code)

    def test_one_that_is_not_live_takes_no_allocations(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        parts = [trade.part(trade.open(shop, party, 10), 1)]
        for status in self.not_live:
            body = trade.payment_body(party, 5, status=status, allocations=parts)
            with ledger.untouched():
                answer = shop.api.post(trade.payments, json=body)
            assert (answer.status_code, answer.json()["error_code"]) == (409, "payment_not_live")
            assert answer.json()["detail"] == {"status": status}

    def test_not_into_a_locked_period_unless_it_posts_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", trade.payments, json=trade.payment_body(party))
            pending = trade.pay(shop, party, 10, status="pending")
        assert fault == (409, "period_locked")
        assert pending["payment_date"] == PAID


class TestAllocationsOfCreateInvoicePayment(RefusingToCreate):
    trade = SALES
    not_live = ("failed", "cancelled", "refunded")


class TestAllocationsOfCreateBillPayment(RefusingToCreate):
    trade = PURCHASES
    not_live = ("failed", "cancelled")


class RefusingToUpdate:
    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second, void = (trade.open(shop, party, 100) for _ in range(3))
        shop.api.post(trade.of(void, "void"))
        foreign = trade.open(shop, trade.somebody(shop), 100)
        path = f"{trade.payments}{trade.pay(shop, party, 150, trade.part(first, 100))['id']}/"
        part = trade.part
        for parts, status, code in (
            ([part(first, 101)], 422, "allocation_exceeds_outstanding"),
            ([part(first, 100), part(second, 51)], 422, "allocation_exceeds_total"),
            ([part(first, 100), part(first, 1)], 400, "validation_error"),
            ([part(foreign, 1)], 422, f"{trade.noun}_{trade.party}_mismatch"),
            ([part(void, 1)], 409, f"{trade.noun}_not_open"),
        ):
            body = {"allocations": parts}
            assert ledger.refused("PATCH", path, json=body) == (status, code)

    def test_its_own_allocation_does_not_stand_in_its_way(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        path = f"{trade.payments}{trade.pay(shop, party, 150, trade.part(document, 60))['id']}/"
        for amount, total in ((100, 150), (30, 30)):
            body = {"allocations": [trade.part(document, amount)], trade.total: total}
            changed = shop.api.patch(path, json=body).json()["payment"]
            assert changed["allocated_amount_cents"] == amount
            assert changed["is_fully_allocated"] is (amount == total)
        shown = trade.read(shop, document)
        assert (shown["status"], shown["outstanding_balance"]) == ("partially_paid", 70)


class TestAllocationsOfUpdateInvoicePayment(RefusingToUpdate):
    trade = SALES


class TestAllocationsOfUpdateBillPayment(RefusingToUpdate):
    trade = PURCHASES
