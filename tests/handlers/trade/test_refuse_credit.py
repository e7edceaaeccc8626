"""Refusals of credits on either side; braces contain a word of the trade."""

from uuid import uuid4

import pytest

from tests.builders.trade import CREDITED_AT, NOBODY, PURCHASES, SALES, Record
from tests.handlers.trade.side import Side


class RefusingToCreate:
    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"line_items": []}, 400, "validation_error"),
            ({"line_items": [{}]}, 400, "validation_error"),
            ({"{credit_number}": ""}, 400, "validation_error"),
            ({"{party}_id": NOBODY}, 422, "reference_not_found"),
            ({"{source}": NOBODY}, 422, "reference_not_found"),
            ({"allocations": [{"{noun}_id": NOBODY, "amount": 1}]}, 422, "reference_not_found"),
        ],
    )
    def test_an_invalid_credit_is_refused_and_nothing_is_kept(
        self, side: Side, facts: Record, status: int, code: str
    ) -> None:
        body = side.credit_body(**{side.trade.moment: CREDITED_AT}) | side.trade.named(facts)
        assert side.ledger.refused("POST", side.trade.credits, json=body) == (status, code)

    def test_a_credit_without_a_party_is_refused(self, side: Side) -> None:
        for nobody in ({}, {f"{side.trade.party}_id": None}):
            with side.ledger.untouched():
                body = {"line_items": [{"amount": 1}], **nobody}
                answer = side.api.post(side.trade.credits, json=body)
            assert answer.status_code == 400
            assert list(answer.json()["detail"]["field_errors"]) == [f"{side.trade.party}_id"]

    @pytest.mark.parametrize("moment", [{}, {"{moment}": CREDITED_AT}])
    def test_a_number_is_taken_once(self, side: Side, moment: Record) -> None:
        number = {side.trade.credit_number: f"Taken-{uuid4()}"}
        side.credit_draft(**number)
        for each in (side.counterparty, side.somebody()):
            body = side.trade.credit_body(each, **number, **side.trade.named(moment))
            fault = side.ledger.refused("POST", side.trade.credits, json=body)
            assert fault == (409, f"duplicate_{side.trade.credit_number}")


class TestRefusalsOfCreateCustomerCredit(RefusingToCreate):
    trade = SALES


class TestRefusalsOfCreateVendorCredit(RefusingToCreate):
    trade = PURCHASES


class RefusingToReplace:
    def test_a_fixed_field_is_refused_in_a_replacement(self, side: Side) -> None:
        credit = side.credit(10, external_id=f"fixed-{uuid4()}")
        number, party_id = side.trade.credit_number, f"{side.trade.party}_id"
        for name in ("line_items", party_id, number, "external_id", side.trade.source, "currency"):
            with side.ledger.untouched():
                answer = side.api.put(side.trade.of_credit(credit), json={name: credit[name]})
            assert answer.status_code == 400
            assert list(answer.json()["detail"]["field_errors"]) == [name]

    def test_allocations_stay_within_both_sides(self, side: Side) -> None:
        share, credit = side.trade.share, side.credit(150)
        draft = side.credit_draft()
        document, foreign = side.open(100), side.trade.open(side.shop, side.somebody())
        for which, shares, status, code in (
            (credit, [share(document, 101)], 422, "allocation_exceeds_outstanding"),
            (credit, [share(document, 100), share(side.open(), 51)], 422,
             "allocation_exceeds_total"),
            (credit, [share(foreign, 1)], 422, f"{side.trade.noun}_{side.trade.party}_mismatch"),
            (credit, [share({"id": NOBODY}, 1)], 422, "reference_not_found"),
            (credit, [share(document, 1)] * 2, 400, "validation_error"),
            (draft, [share(document, 1)], 409, "credit_not_sent"),
        ):  # fmt: skip
            fault = side.ledger.refused(
                "PUT", side.trade.of_credit(which), json={"allocations": shares}
            )
            assert fault == (status, code)

    def test_a_credit_may_be_allocated_anew_in_full(self, side: Side) -> None:
        first, second = (side.open(100) for _ in range(2))
        path = side.trade.of_credit(side.credit(100, side.trade.share(first, 60)))
        side.api.put(path, json={"allocations": [side.trade.share(first, 100)]})
        assert side.status_of(first) == ("paid", 0)
        side.api.put(path, json={"allocations": [side.trade.share(second, 100)]})
        assert side.status_of(first) == (side.trade.opened, 100)
        assert side.status_of(second) == ("paid", 0)


class TestRefusalsOfReplaceCustomerCredit(RefusingToReplace):
    trade = SALES


class TestRefusalsOfReplaceVendorCredit(RefusingToReplace):
    trade = PURCHASES
