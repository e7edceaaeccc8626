"""create_payout: a processor's charges and payments other than its payments and refunds."""

from collections import Counter
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.payouts import (
    AT,
    ON,
    PAYOUTS,
    by_card,
    paid_out,
    payment,
    payout_body,
    read,
    upserted,
)
from tests.builders.trade import NOBODY, Record
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
CHART = "general-ledger/chart-of-accounts/"
UNTAXED = {"tax_code_id": None, "tax_cents": 0}


def other(kind: str, amount: int, **facts: Any) -> Record:
    return {"type": kind, "amount_cents": amount, **facts}


def account_id(shop: Business, code: str) -> str:
    return str(shop.api.get(f"{CHART}{code}/").json()["id"])


class TestCreatePayout:
    def test_a_chargeback_lowers_what_is_paid_out(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        cleared = ledger.balances().get("1150", 0)
        card = by_card(shop, buyer, 20_000)
        item = other(
            "chargeback", -5_000, description="Lost", external_id="dp_1", payment_id=card["id"]
        )
        fee = other("dispute_fee", -1_500)
        payout = paid_out(shop, 13_200, card, fee_cents=300, other_items=[item, fee])
        assert payout["other_items"] == [
            {**item, **UNTAXED, "account_id": account_id(shop, "6150")},
            {
                **fee,
                **UNTAXED,
                **dict.fromkeys(("description", "external_id", "payment_id")),
                "account_id": account_id(shop, "6100"),
            },
        ]
        names = ("other_items", "expected_net", "net")
        sums = [payout[f"{name}_amount_cents"] for name in names]
        assert sums == [-6_500, 13_200, 12_900]
        assert payout["amount_variance_cents"] == 0
        moves = {"1100": 13_200, "6100": 1_800, "6150": 5_000, "1150": -20_000}
        assert ledger.postings(payout) == [(ON, moves)]
        assert ledger.balances().get("1150", 0) == cleared
        assert read(shop, payout) == payout

    @pytest.mark.parametrize(
        ("item", "code"),
        [
            (other("chargeback", -100), "6150"),
            (other("chargeback_reversal", 100), "6150"),
            (other("dispute_fee", -100), "6100"),
            (other("dispute_fee", 100), "6100"),
            (other("reserve_hold", -100), "1160"),
            (other("reserve_release", 100), "1160"),
            (other("adjustment", 100), "4500"),
            (other("adjustment", -100), "6000"),
            (other("adjustment", -100, account="2400"), "2400"),
        ],
    )
    def test_each_type_has_its_account(
        self, shop: Business, ledger: Ledger, buyer: Record, item: Record, code: str
    ) -> None:
        amount = item["amount_cents"]
        payout = paid_out(shop, 500 + amount, by_card(shop, buyer, 500), other_items=[item])
        [entry] = ledger.entries(payout)
        assert entry.amounts == {"1100": 500 + amount, code: -amount, "1150": -500}
        assert payout["amount_variance_cents"] == 0

    def test_a_fee_below_zero_is_given_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 500, fee=20)
        payout = paid_out(shop, 505, card, fee_cents=-5)
        assert (payout["fee_cents"], payout["expected_net_amount_cents"]) == (-5, 505)
        assert ledger.postings(payout) == [(ON, {"1100": 505, "6100": -25, "1150": -480})]

    def test_a_list_that_is_given_replaces_the_old_one_and_posts_the_difference(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = payout_body(400, by_card(shop, buyer, 500), external_id="disputed")
        held = other("reserve_hold", -100)
        payout = shop.made(PAYOUTS, {**body, "other_items": [held]})
        kept = upserted(shop, {**body, "memo": "kept"})
        assert kept["other_items"] == payout["other_items"]
        disputed = [other("chargeback", -70), other("reserve_hold", -30)]
        changed = upserted(shop, {**body, "other_items": disputed})
        assert [each["amount_cents"] for each in changed["other_items"]] == [-70, -30]
        assert ledger.postings(payout)[1:] == [(ON, {"6150": 70, "1160": -70})]
        gone = upserted(shop, {**body, "other_items": []})
        assert (gone["other_items"], gone["amount_variance_cents"]) == ([], -100)
        upserted(shop, {**body, "status": "failed"})
        total = Counter[str]()
        for _, moves in ledger.postings(payout):
            total.update(moves)
        assert not any(total.values())

    def test_a_payment_in_no_payout_may_be_named(self, shop: Business, buyer: Record) -> None:
        card = by_card(shop, buyer, 500)
        items = [other("chargeback", -500, payment_id=card["id"])]
        paid_out(shop, -500, other_items=items)
        assert payment(shop, card)["payouts"] == []

    @pytest.mark.parametrize(
        ("item", "field"),
        [
            (other("chargeback", 5), "amount_cents"),
            (other("reserve_release", -5), "amount_cents"),
            (other("dispute_fee", 0), "amount_cents"),
            (other("chargeback", -5, account="6000"), "account"),
        ],
    )
    def test_a_malformed_other_item_is_400(
        self, shop: Business, ledger: Ledger, item: Record, field: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(PAYOUTS, json=payout_body(1, other_items=[item]))
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == [f"other_items.0.{field}"]

    def test_an_item_names_a_usable_account_and_an_existing_payment(
        self, shop: Business, ledger: Ledger
    ) -> None:
        shop.api.delete(f"{CHART}1500/")
        for item, refusal in (
            (other("adjustment", 5, account="1200"), (422, "control_account")),
            (other("adjustment", 5, account="1150"), (422, "same_account")),
            (other("adjustment", 5, account=NOBODY), (422, "reference_not_found")),
            (other("adjustment", 5, account="1500"), (409, "account_archived")),
            (other("chargeback", -5, payment_id=NOBODY), (422, "reference_not_found")),
        ):
            body = payout_body(5, other_items=[item])
            assert ledger.refused("POST", PAYOUTS, json=body) == refusal


class TestDeletePayout:
    def test_a_deleted_payout_reverses_its_other_items_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        items = [other("adjustment", 20)]
        payout = paid_out(shop, 520, by_card(shop, buyer, 500), other_items=items)
        assert shop.api.delete(f"{PAYOUTS}{payout['id']}/").status_code == 200
        first, mirror = ledger.entries(payout)
        assert (mirror.on, mirror.reversal_of) == (TODAY, first.id)
        assert mirror.amounts == {code: -amount for code, amount in first.amounts.items()}


class TestListPayouts:
    def test_a_listed_payout_shows_the_sum_of_its_other_items(
        self, shop: Business, buyer: Record
    ) -> None:
        items = [other("adjustment", 20), other("dispute_fee", -15)]
        payout = paid_out(shop, 505, by_card(shop, buyer, 500), other_items=items, memo="others")
        [shown] = shop.api.get(PAYOUTS, params={"search": "others"}).json()["results"]
        assert (shown["id"], shown["other_items_amount_cents"]) == (payout["id"], 5)
        assert (shown["completed_at"], "other_items" in shown) == (AT, False)
