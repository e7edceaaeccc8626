"""Customers and vendors that are archived and brought back, and what they refuse meanwhile."""

from dataclasses import asdict
from typing import Any

import pytest

from accounting.trade.parties import OpenAmounts
from tests.bookkeeping import Ledger
from tests.builders.sales import refund_paid, refunded
from tests.builders.trade import CREDITED_AT, PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import agreed, changed, of_bill
from tests.partner import Business

NOTHING = asdict(OpenAmounts())


def refuses_business(
    shop: Business, ledger: Ledger, trade: Trade, party: Record, code: str, status: str
) -> None:
    """See that a party takes nothing new, not even a draft."""
    opened: dict[str, Any] = {trade.moment: CREDITED_AT}
    for path, body in (
        (trade.path, trade.body(party)),
        (trade.path, trade.body(party, **opened)),
        (trade.payments, trade.payment_body(party)),
        (trade.payments, trade.payment_body(party, status="pending")),
        (trade.credits, trade.credit_body(party)),
        (trade.credits, trade.credit_body(party, **opened)),
    ):
        with ledger.untouched():
            answer = shop.api.post(path, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (409, code)
        assert answer.json()["detail"] == {"status": status, f"{trade.party}_id": party["id"]}


class Archiving:
    """Both moves of both: `refusal` is the code of one that is archived."""

    refusal: str

    @pytest.mark.parametrize("move", ["archive", "unarchive"])
    def test_answers_the_party_as_it_is_then_and_again_without_a_change(
        self, shop: Business, trade: Trade, move: str
    ) -> None:
        party, archived = trade.somebody(shop), move == "archive"
        if not archived:
            shop.api.post(trade.of_party(party, "archive"))
        first, again = (shop.api.post(trade.of_party(party, move)) for _ in range(2))
        assert (first.status_code, again.status_code) == (200, 200)
        assert again.json() == first.json()
        assert again.headers["etag"] == first.headers["etag"]
        told = first.json()
        assert (told["is_archived"], told["is_active"]) == (archived, not archived)
        assert told["status"] == ("ARCHIVED" if archived else "ACTIVE")
        assert (told["archived_at"] is not None) == archived
        assert told["updated_at"] > party["updated_at"]

    def test_of_one_with_a_balance_is_409_until_it_is_paid(
        self, shop: Business, trade: Trade
    ) -> None:
        party = trade.somebody(shop)
        archive = trade.of_party(party, "archive")
        document = trade.open(shop, party, 5_000)
        answer = shop.api.post(archive)
        assert answer.status_code == 409
        assert answer.json()["error_code"] == f"{trade.party}_has_balance"
        assert answer.json()["detail"] == {**NOTHING, "outstanding_balance": 5_000}
        trade.pay(shop, party, 5_000, trade.part(document, 5_000))
        assert shop.api.post(archive).status_code == 200

    def test_of_one_with_money_in_advance_is_409_until_it_is_used_up(
        self, shop: Business, trade: Trade
    ) -> None:
        party = trade.somebody(shop)
        archive = trade.of_party(party, "archive")
        payment = trade.pay(shop, party, 700)
        answer = shop.api.post(archive)
        assert answer.json()["error_code"] == f"{trade.party}_has_balance"
        assert answer.json()["detail"] == {**NOTHING, "unapplied_payments": 700}
        document = trade.open(shop, party, 700)
        trade.change(shop, payment, allocations=[trade.part(document, 700)])
        assert shop.api.post(archive).status_code == 200

    def test_of_one_with_a_credit_is_409_until_it_is_used_up(
        self, shop: Business, trade: Trade
    ) -> None:
        party = trade.somebody(shop)
        archive = trade.of_party(party, "archive")
        credit = trade.credit(shop, party, 300)
        answer = shop.api.post(archive)
        assert answer.json()["detail"] == {**NOTHING, "unapplied_credits": 300}
        shop.api.post(f"{trade.credits}{credit['id']}/void/")
        assert shop.api.post(archive).status_code == 200

    def test_takes_no_new_business_until_it_is_unarchived(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        party = trade.somebody(shop)
        shop.api.post(trade.of_party(party, "archive"))
        refuses_business(shop, ledger, trade, party, self.refusal, "ARCHIVED")
        shop.api.post(trade.of_party(party, "unarchive"))
        assert shop.made(trade.path, trade.body(party))


class TestArchiveCustomer(Archiving):
    trade = SALES
    refusal = "customer_archived"

    def test_of_one_who_waits_for_a_refund_is_409_until_it_is_paid(self, shop: Business) -> None:
        party = SALES.somebody(shop)
        refund = refunded(shop, SALES.settle(shop, party, 500))
        answer = shop.api.post(SALES.of_party(party, "archive"))
        assert answer.json()["detail"] == {**NOTHING, "unpaid_refunds": 500}
        refund_paid(shop, refund)
        assert shop.api.post(SALES.of_party(party, "archive")).status_code == 200


@pytest.fixture(params=["INACTIVE", "BLOCKED"])
def inactive(request: pytest.FixtureRequest, shop: Business) -> Record:
    """A vendor that is not active, and not archived either."""
    path = f"vendors/{shop.vendor()['id']}/"
    vendor: Record = shop.api.patch(path, json={"status": request.param}).json()
    return vendor


class TestArchiveVendor(Archiving):
    trade = PURCHASES
    refusal = "vendor_not_active"

    def test_of_one_that_owes_a_refund_is_409_until_it_has_come(self, shop: Business) -> None:
        party = PURCHASES.somebody(shop)
        bill = PURCHASES.settle(shop, party, 500)
        payment = agreed(shop, party, 500, of_bill(bill, 500))["payment"]
        answer = shop.api.post(PURCHASES.of_party(party, "archive"))
        assert answer.json()["detail"] == {**NOTHING, "unpaid_refunds": 500}
        changed(shop, payment, status="completed")
        assert shop.api.post(PURCHASES.of_party(party, "archive")).status_code == 200

    def test_a_vendor_of_any_status_is_archived_and_comes_back_active(
        self, shop: Business, inactive: Record
    ) -> None:
        archive, unarchive = (
            f"vendors/{inactive['id']}/{move}/" for move in ("archive", "unarchive")
        )
        left = shop.api.post(unarchive)
        assert (left.status_code, left.json()) == (200, inactive)
        assert shop.api.post(archive).json()["status"] == "ARCHIVED"
        assert shop.api.post(unarchive).json()["status"] == "ACTIVE"


class TestVendorsThatAreNotActive:
    def test_take_no_new_business(self, shop: Business, ledger: Ledger, inactive: Record) -> None:
        code = "vendor_not_active"
        refuses_business(shop, ledger, PURCHASES, inactive, code, inactive["status"])
