"""The fields of answers that events name."""

from dataclasses import replace
from uuid import UUID

import pytest

from accounting.events.fields import COMPUTED, compared, shown_fields
from accounting.events.named_fields import SHOWN
from accounting.trade.allocation import Allocation
from tests.accounting.events.records import KINDS, answer_of, made
from tests.accounting.samples import context_of

CONTEXT = context_of("07-01")
BILL = UUID(int=31)


class TestShownFields:
    @pytest.mark.parametrize("object_type", KINDS)
    def test_each_attribute_has_fields_of_the_answer_or_none(self, object_type: str) -> None:
        names = SHOWN.get(object_type, {})
        kind = KINDS[object_type]
        shown = {name for each in compared(kind) for name in names.get(each, (each,))}
        assert sorted(shown - answer_of(object_type).keys()) == []

    @pytest.mark.parametrize("object_type", KINDS)
    def test_only_attributes_have_names(self, object_type: str) -> None:
        assert sorted(SHOWN.get(object_type, {}).keys() - {*compared(KINDS[object_type])}) == []

    @pytest.mark.parametrize("object_type", COMPUTED)
    def test_computed_fields_are_in_the_answer(self, object_type: str) -> None:
        assert sorted(COMPUTED[object_type].keys() - answer_of(object_type).keys()) == []

    def test_a_payment_of_60_changes_what_is_open_of_100(self) -> None:
        before = made("invoice", state="open", total_amount=100, paid=40, currency="GBP")
        after = replace(before, paid=100, version=2)
        changed = shown_fields("invoice", before, after, CONTEXT)
        assert changed == ("base_outstanding_cents", "outstanding_balance", "payment_allocations")

    def test_what_no_answer_shows_is_not_named(self) -> None:
        before = made("invoice", state="open")
        assert shown_fields("invoice", before, replace(before, settled=()), CONTEXT) == ()
        assert shown_fields("invoice", before, replace(before, dated_by_issue=False), CONTEXT) == ()

    def test_the_same_attribute_has_the_name_of_its_side(self) -> None:
        for object_type, name in (("invoice", "sent_at"), ("bill", "received_at")):
            before = made(object_type)
            after = replace(before, opened_at=before.created_at)
            assert shown_fields(object_type, before, after, CONTEXT) == (name,)

    def test_a_pending_payment_of_60_reserves_without_applying(self) -> None:
        before = made("bill_payment", total=100, status="pending")
        part = Allocation(
            id=UUID(int=5), document_id=BILL, amount=60, document_date=before.payment_date
        )
        after = replace(before, allocations=(part,))
        assert shown_fields("bill_payment", before, after, CONTEXT) == (
            *("allocated_amount_cents", "allocations", "unallocated_amount_cents"),
        )
