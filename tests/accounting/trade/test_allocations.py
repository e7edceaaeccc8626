"""Refusals that payments and credits share when they are applied to documents."""

from collections.abc import Callable
from uuid import UUID

import pytest

from accounting.errors import ValidationError
from accounting.trade.sides import Side
from tests.accounting.samples import refusal_of, refused
from tests.accounting.trade.business import BOTH_SIDES, Trade, code_on, items

Part = tuple[UUID, int]
Settle = Callable[..., object]


def credit(trade: Trade, amount: int, *parts: Part) -> object:
    return trade.credit(amount, to=parts)


def pay_and_allocate(trade: Trade, amount: int, *parts: Part) -> object:
    return trade.change(trade.pay(amount), allocations=items(*parts))


def credit_and_apply(trade: Trade, amount: int, *parts: Part) -> object:
    return trade.apply(trade.credit(amount), *parts)


@BOTH_SIDES
@pytest.mark.parametrize("settle", [Trade.pay, pay_and_allocate, credit, credit_and_apply])
class TestRefusals:
    def test_a_document_named_twice_is_a_validation_error(
        self, side: Side, trade: Trade, settle: Settle
    ) -> None:
        id_ = trade.document(600)
        refusal = refused(settle, trade, 500, (id_, 1), (id_, 2))
        assert isinstance(refusal, ValidationError)
        fault = f"repeats the {side.words.document} of an earlier item"
        assert refusal.detail["field_errors"] == {"items.1.id": [fault]}

    def test_an_unknown_document_is_refused(self, side: Side, trade: Trade, settle: Settle) -> None:
        refusal = refused(settle, trade, 5, (UUID(int=5), 5))
        assert refusal.code == "reference_not_found"
        assert refusal.detail["resource"] == side.words.document

    def test_a_draft_is_refused(self, side: Side, trade: Trade, settle: Settle) -> None:
        draft = trade.document(600, opened_at=None)
        named = {"item": "items.0", side.names.document_id: str(draft)}
        refusal = refusal_of(settle, trade, 5, (draft, 5))
        assert refusal == (code_on(side, "not_open"), {**named, "current_state": "draft"})

    def test_an_amount_that_is_reserved_is_refused_with_what_is_left(
        self, side: Side, trade: Trade, settle: Settle
    ) -> None:
        id_ = trade.document(600)
        trade.pay(100, (id_, 100), status="pending")
        assert refusal_of(settle, trade, 700, (id_, 501)) == (
            "allocation_exceeds_outstanding",
            {
                "item": "items.0",
                "left": 500,
                "amount": 501,
                "outstanding_balance": 600,
                "reserved": 100,
                side.names.document_id: str(id_),
            },
        )
