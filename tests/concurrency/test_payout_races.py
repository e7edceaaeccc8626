"""Many payouts claim the same money concurrently, and their items bounce meanwhile."""

from functools import partial
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.payouts import (
    PAYMENTS,
    PAYOUTS,
    by_card,
    given_back,
    paid_out,
    payment,
    payout_body,
    read,
)
from tests.builders.trade import Record
from tests.concurrency.races import race_for_one_name, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")


class TestClaims:
    @pytest.mark.usefixtures("rounds")
    def test_two_payouts_of_one_payment_are_one(self, shop: Business, buyer: Record) -> None:
        body = payout_body(80, by_card(shop, buyer), given_back(shop, buyer))
        ran = together([partial(shop.api.post, PAYOUTS, json=body)] * 2)
        assert statuses(ran) == {201: 1, 409: 1}
        [refused] = [each for each in ran if each.status == 409]
        assert refused.code == "already_in_payout"

    def test_crossing_lists_do_not_deadlock(self, shop: Business, buyer: Record) -> None:
        cards = [by_card(shop, buyer) for _ in range(8)]
        bodies = [
            payout_body(800, *cards[:: (-1) ** place], external_id=f"crossing {place}")
            for place in range(8)
        ]
        ran = together([partial(shop.api.post, PAYOUTS, json=body) for body in bodies])
        assert statuses(ran) == {201: 1, 409: 7}
        held = {payment(shop, card)["payouts"][0]["id"] for card in cards}
        assert len(held) == 1


class TestOneExternalId:
    def test_twenty_upserts_are_one_payout(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = payout_body(80, by_card(shop, buyer), given_back(shop, buyer))
        ran = race_for_one_name(shop, PAYOUTS, body)
        assert len(ledger.entries(ran[0].answer.json())) == 1

    def test_twenty_different_upserts_follow_one_another(
        self, shop: Business, buyer: Record
    ) -> None:
        cards = [by_card(shop, buyer, 100, fee=place) for place in range(20)]
        bodies = [payout_body(100, card, external_id="differing") for card in cards]
        ran = together([partial(shop.api.post, PAYOUTS, json=body) for body in bodies])
        assert statuses(ran) == {200: 19, 201: 1}
        made = read(shop, ran[0].answer.json())
        held = [card for card in cards if payment(shop, card)["payouts"]]
        assert [each["id"] for each in made["payments"]] == [each["id"] for each in held]


class TestItems:
    def test_a_payment_that_bounces_is_counted_once(self, shop: Business, buyer: Record) -> None:
        cards = [by_card(shop, buyer, 100, fee=3) for _ in range(6)]
        body: dict[str, Any] = payout_body(582, *cards, external_id="changing")
        shop.made(PAYOUTS, body)
        calls = [
            partial(shop.api.patch, f"{PAYMENTS}{card['id']}/", json={"status": status})
            for card in cards
            for status in ("failed", "completed", "failed")
        ]
        calls += [
            partial(shop.api.post, PAYOUTS, json={**body, "memo": f"note {n}"}) for n in range(6)
        ]
        calls.append(partial(shop.api.post, PAYOUTS, json={**body, "payment_ids": []}))
        ran = together(calls)
        assert {each.status for each in ran} <= {200, 409}
        assert {each.code for each in ran} <= {None, "item_not_completed"}

    def test_a_payment_is_in_one_payout_after_a_deletion(
        self, shop: Business, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        first = paid_out(shop, 100, card)
        path = f"{PAYOUTS}{first['id']}/"
        claim = payout_body(100, card)
        deletions = [partial(shop.api.delete, path)] * 4
        ran = together([*deletions, *[partial(shop.api.post, PAYOUTS, json=claim)] * 4])
        assert statuses(ran[:4]) == {200: 1, 404: 3}
        assert statuses(ran[4:]) in ({409: 4}, {201: 1, 409: 3})
        [held] = [each["id"] for each in payment(shop, card)["payouts"]] or [None]
        assert held != first["id"]
