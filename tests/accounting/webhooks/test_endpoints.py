"""Endpoints: which events they take, and what changes do."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from accounting.absent import ABSENT
from accounting.errors import Conflict
from accounting.webhooks.endpoints import (
    ChangeEndpoint,
    Endpoint,
    EndpointStatus,
    changed,
    refuse_another,
    starts_anew,
    unknown_business,
)

SHOP, OTHER = uuid4(), uuid4()
THEN = datetime(2026, 7, 1, tzinfo=UTC)
LATER = THEN + timedelta(hours=1)
ENDPOINT = Endpoint(
    id=uuid4(),
    version=1,
    created_at=THEN,
    updated_at=THEN,
    url="https://a.example/",
    types=None,
    business_ids=None,
    ordered=False,
    description=None,
)
NOTHING = ChangeEndpoint(ABSENT, ABSENT, ABSENT, ABSENT, ABSENT, ABSENT)
OFF = replace(ENDPOINT, status=EndpointStatus.OFF, off_reason="gone", off_at=THEN)


class TestTakes:
    @pytest.mark.parametrize(
        ("types", "taken"),
        [
            (None, True),
            (["invoice.paid"], True),
            (["invoice.*"], True),
            (["bill.*", "invoice.*"], True),
            (["invoice.sent"], False),
            (["invoice_payment.*"], False),
            ([], False),
        ],
    )
    def test_a_type_is_taken_by_its_name_or_its_object(
        self, types: list[str] | None, taken: bool
    ) -> None:
        assert replace(ENDPOINT, types=types).takes("invoice.paid", SHOP) is taken

    def test_other_businesses_are_not_taken(self) -> None:
        mine = replace(ENDPOINT, business_ids=[SHOP])
        assert mine.takes("invoice.paid", SHOP)
        assert not mine.takes("invoice.paid", OTHER)


class TestChanged:
    def test_nothing_sent_changes_nothing(self) -> None:
        assert changed(ENDPOINT, NOTHING, LATER) is ENDPOINT
        assert changed(ENDPOINT, replace(NOTHING, is_active=True), LATER) is ENDPOINT

    def test_null_means_all(self) -> None:
        some = replace(ENDPOINT, types=["invoice.*"], business_ids=[SHOP])
        after = changed(some, replace(NOTHING, types=None, business_ids=None), LATER)
        assert after == replace(ENDPOINT, updated_at=LATER)

    def test_an_endpoint_pauses_and_goes_on(self) -> None:
        paused = changed(ENDPOINT, replace(NOTHING, is_active=False), LATER)
        assert paused.status is EndpointStatus.PAUSED
        active = changed(paused, replace(NOTHING, is_active=True), LATER)
        assert (active.status, starts_anew(paused, active)) == (EndpointStatus.ACTIVE, False)

    def test_an_endpoint_that_is_off_starts_anew(self) -> None:
        active = changed(OFF, replace(NOTHING, is_active=True), LATER)
        assert (active.status, active.off_reason, active.off_at) == ("active", None, None)
        assert starts_anew(OFF, active)
        assert changed(OFF, replace(NOTHING, is_active=False), LATER) is OFF


class TestRefusals:
    def test_a_partner_has_twenty(self) -> None:
        refuse_another(19)
        with pytest.raises(Conflict) as refused:
            refuse_another(20)
        assert (refused.value.code, refused.value.detail) == (
            "webhook_endpoint_limit",
            {"limit": 20},
        )

    def test_an_unknown_business_is_a_wrong_reference(self) -> None:
        refused = unknown_business(SHOP)
        assert (refused.code, refused.detail) == (
            "reference_not_found",
            {"resource": "business", "reference": str(SHOP)},
        )
