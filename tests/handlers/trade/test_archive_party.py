"""Customers and vendors that are archived and unarchived, and their refusals while archived."""

from dataclasses import asdict
from typing import Any

import pytest

from accounting.trade.parties import OpenAmounts
from tests.builders.sales import refund_paid, refunded
from tests.builders.trade import CREDITED_AT, PURCHASES, SALES, Record
from tests.builders.vendor_refunds import agreed, changed, of_bill
from tests.handlers.trade.side import Side

NOTHING = asdict(OpenAmounts())


@pytest.fixture
def side(side: Side) -> Side:
    """The side of a test, with a new party."""
    return side.with_new_party()


@pytest.fixture
def archive(side: Side) -> str:
    """The path that archives the party."""
    return str(side.trade.of_party(side.counterparty, "archive"))


def refuses_business(side: Side, code: str, status: str) -> None:
    """Check that a party takes no new document, payment or credit, not even a draft."""
    opened: dict[str, Any] = {side.trade.moment: CREDITED_AT}
    for path, body in (
        (side.trade.path, side.body()),
        (side.trade.path, side.body(**opened)),
        (side.trade.payments, side.payment_body()),
        (side.trade.payments, side.payment_body(status="pending")),
        (side.trade.credits, side.credit_body()),
        (side.trade.credits, side.credit_body(**opened)),
    ):
        with side.ledger.untouched():
            answer = side.api.post(path, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (409, code)
        party_id = {f"{side.trade.party}_id": side.counterparty["id"]}
        assert answer.json()["detail"] == {"status": status, **party_id}


def refuses_archiving(side: Side, archive: str, **amounts: int) -> None:
    """Check that a party with open amounts is not archived."""
    answer = side.api.post(archive)
    code = f"{side.trade.party}_has_balance"
    assert (answer.status_code, answer.json()["error_code"]) == (409, code)
    assert answer.json()["detail"] == {**NOTHING, **amounts}


class Archival:
    """Archiving and unarchiving on either side; `refusal` is the code for an archived party."""

    refusal: str

    @pytest.mark.parametrize("move", ["archive", "unarchive"])
    def test_answers_the_party_as_it_is_then_and_again_without_a_change(
        self, side: Side, move: str
    ) -> None:
        archived = move == "archive"
        if not archived:
            side.api.post(side.trade.of_party(side.counterparty, "archive"))
        path = side.trade.of_party(side.counterparty, move)
        first, again = (side.api.post(path) for _ in range(2))
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        shown = first.json()
        assert (shown["is_archived"], shown["is_active"]) == (archived, not archived)
        assert shown["status"] == ("ARCHIVED" if archived else "ACTIVE")
        assert (shown["archived_at"] is not None) == archived
        assert shown["updated_at"] > side.counterparty["updated_at"]

    def test_of_one_with_a_balance_is_409_until_it_is_paid(self, side: Side, archive: str) -> None:
        document = side.open(5_000)
        refuses_archiving(side, archive, outstanding_balance=5_000)
        side.pay(5_000, side.trade.part(document, 5_000))
        assert side.api.post(archive).status_code == 200

    def test_of_one_with_money_in_advance_is_409_until_it_is_used_up(
        self, side: Side, archive: str
    ) -> None:
        payment = side.pay(700)
        refuses_archiving(side, archive, unapplied_payments=700)
        side.change(payment, allocations=[side.trade.part(side.open(700), 700)])
        assert side.api.post(archive).status_code == 200

    def test_of_one_with_a_credit_is_409_until_it_is_void(self, side: Side, archive: str) -> None:
        credit = side.credit(300)
        refuses_archiving(side, archive, unapplied_credits=300)
        side.api.post(side.trade.of_credit(credit, "void"))
        assert side.api.post(archive).status_code == 200

    def test_takes_no_new_business_until_it_is_unarchived(self, side: Side, archive: str) -> None:
        side.api.post(archive)
        refuses_business(side, self.refusal, "ARCHIVED")
        side.api.post(side.trade.of_party(side.counterparty, "unarchive"))
        assert side.draft()


class TestArchiveCustomer(Archival):
    trade = SALES
    refusal = "customer_archived"

    def test_of_one_who_waits_for_a_refund_is_409_until_it_is_paid(
        self, side: Side, archive: str
    ) -> None:
        refund = refunded(side.shop, SALES.settle(side.shop, side.counterparty, 500))
        refuses_archiving(side, archive, unpaid_refunds=500)
        refund_paid(side.shop, refund)
        assert side.api.post(archive).status_code == 200


@pytest.fixture(params=["INACTIVE", "BLOCKED"])
def inactive(request: pytest.FixtureRequest, side: Side) -> Record:
    """A vendor that is neither active nor archived."""
    path = side.trade.of_party(side.counterparty)
    vendor: Record = side.api.patch(path, json={"status": request.param}).json()
    return vendor


class TestArchiveVendor(Archival):
    trade = PURCHASES
    refusal = "vendor_not_active"

    def test_of_one_that_owes_a_refund_is_409_until_it_has_come(
        self, side: Side, archive: str
    ) -> None:
        bill = PURCHASES.settle(side.shop, side.counterparty, 500)
        payment = agreed(side.shop, side.counterparty, 500, of_bill(bill, 500))["payment"]
        refuses_archiving(side, archive, unpaid_refunds=500)
        changed(side.shop, payment, status="completed")
        assert side.api.post(archive).status_code == 200

    def test_a_vendor_of_any_status_is_archived_and_comes_back_active(
        self, side: Side, archive: str, inactive: Record
    ) -> None:
        unarchive = side.trade.of_party(inactive, "unarchive")
        left = side.api.post(unarchive)
        assert (left.status_code, left.json()) == (200, inactive)
        assert side.api.post(archive).json()["status"] == "ARCHIVED"
        assert side.api.post(unarchive).json()["status"] == "ACTIVE"


class TestVendorsThatAreNotActive:
    trade = PURCHASES

    def test_take_no_new_business(self, side: Side, inactive: Record) -> None:
        refuses_business(side, "vendor_not_active", inactive["status"])
