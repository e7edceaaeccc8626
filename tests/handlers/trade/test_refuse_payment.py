"""Refused payments of either side, which leave no trace."""

from tests.builders.trade import NOBODY, PURCHASES, SALES
from tests.handlers.trade.side import Side


class RefusingToCreate:
    def test_a_document_stands_in_the_list_once(self, side: Side) -> None:
        twice = [side.trade.part(side.open(10), 1)] * 2
        body = side.payment_body(2, allocations=twice)
        with side.ledger.untouched():
            answer = side.api.post(side.trade.payments, json=body)
        assert answer.status_code == 400
        fault = {
            f"allocations.1.{side.trade.noun}_id": [
                f"repeats the {side.trade.noun} of an earlier item"
            ]
        }
        assert answer.json()["detail"]["field_errors"] == fault

    def test_only_open_documents_of_the_same_party_are_paid(self, side: Side) -> None:
        void = side.open(10)
        side.api.post(side.trade.of(void, "void"))
        other = side.trade.other_side
        for document, status, code in (
            (void, 409, f"{side.trade.noun}_not_open"),
            (side.draft(), 409, f"{side.trade.noun}_not_open"),
            (side.trade.open(side.shop, side.somebody(), 10), 422,
             f"{side.trade.noun}_{side.trade.party}_mismatch"),
            (other.open(side.shop, other.somebody(side.shop), 10), 422, "reference_not_found"),
            ({"id": NOBODY}, 422, "reference_not_found"),
        ):  # fmt: skip
            body = side.payment_body(5, allocations=[side.trade.part(document, 5)])
            assert side.ledger.refused("POST", side.trade.payments, json=body) == (status, code)


class TestRefusalsOfCreateInvoicePayment(RefusingToCreate):
    trade = SALES


class TestRefusalsOfCreateBillPayment(RefusingToCreate):
    trade = PURCHASES


class RefusingToUpdate:
    def test_allocations_stay_within_both_sides(self, side: Side) -> None:
        first, second, void = (side.open(100) for _ in range(3))
        side.api.post(side.trade.of(void, "void"))
        foreign = side.trade.open(side.shop, side.somebody(), 100)
        path = side.trade.of_payment(side.pay(150, side.trade.part(first, 100)))
        part = side.trade.part
        for parts, status, code in (
            ([part(first, 101)], 422, "allocation_exceeds_outstanding"),
            ([part(first, 100), part(second, 51)], 422, "allocation_exceeds_total"),
            ([part(first, 100), part(first, 1)], 400, "validation_error"),
            ([part(foreign, 1)], 422, f"{side.trade.noun}_{side.trade.party}_mismatch"),
            ([part(void, 1)], 409, f"{side.trade.noun}_not_open"),
            ([part({"id": NOBODY}, 1)], 422, "reference_not_found"),
        ):
            body = {"allocations": parts}
            assert side.ledger.refused("PATCH", path, json=body) == (status, code)

    def test_its_total_covers_its_allocations_and_its_external_id_is_its_own(
        self, side: Side
    ) -> None:
        side.pay(1, external_id="taken")
        part = side.trade.part(side.open(100), 100)
        path = side.trade.of_payment(side.pay(150, part))
        for changes, status, code in (
            ({side.trade.total: 99}, 422, "total_below_allocated"),
            ({"external_id": "taken"}, 409, "duplicate_external_id"),
        ):
            assert side.ledger.refused("PATCH", path, json=changes) == (status, code)

    def test_a_payment_may_be_allocated_anew_in_full(self, side: Side) -> None:
        document = side.open(100)
        path = side.trade.of_payment(side.pay(150, side.trade.part(document, 60)))
        for amount, total in ((100, 150), (30, 30)):
            body = {"allocations": [side.trade.part(document, amount)], side.trade.total: total}
            changed = side.api.patch(path, json=body).json()["payment"]
            assert changed["allocated_amount_cents"] == amount
            assert changed["is_fully_allocated"] is (amount == total)
        assert side.status_of(document) == ("partially_paid", 70)


class TestRefusalsOfUpdateInvoicePayment(RefusingToUpdate):
    trade = SALES


class TestRefusalsOfUpdateBillPayment(RefusingToUpdate):
    trade = PURCHASES
