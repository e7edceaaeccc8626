"""Bank lines are matched, unmatched and categorized while their money changes."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import httpx
import pytest

from tests.builders.bank import LINES, PAYMENT, VENDOR_REFUND_PAYMENT, Bank, left, matching
from tests.builders.sales import PAYMENTS, paid, part, sent
from tests.builders.trade import Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed
from tests.concurrency.races import Contest, Racer, race_until_done, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")


class TestOneLine:
    def test_a_line_is_linked_with_as_many_payments_as_fit(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(1_000)
        payments = [paid(shop, buyer, 300) for _ in range(12)]
        bodies = [matching(PAYMENT, each, 300) for each in payments]
        ran = together([partial(bank.ask, line, "match", body) for body in bodies])
        assert statuses(ran) == {200: 3, 422: 9}
        assert left(bank.read(line)) == (900, 0, 100)

    def test_a_line_is_linked_or_categorized(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line, payment = bank.line(400), paid(shop, buyer, 400)
        match = partial(bank.ask, line, "match", matching(PAYMENT, payment))
        categorize = partial(bank.ask, line, "categorize", {"account": "4500"})
        assert statuses(together([match, categorize] * 8))[200] == 1
        assert bank.read(line)["is_reconciled"]

    def test_a_line_with_one_etag_is_changed_once(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line, payment = bank.line(400), paid(shop, buyer, 400)
        seen = {"If-Match": shop.api.get(f"{LINES}{line['id']}/").headers["ETag"]}
        body = matching(PAYMENT, payment, 10)
        ran = together([partial(bank.ask, line, "match", body, headers=seen)] * 12)
        assert statuses(ran) == {200: 1, 412: 11}


class TestOnePayment:
    def test_a_payment_is_linked_with_as_many_lines_as_fit(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 900)
        payment = paid(shop, buyer, 900, part(invoice, 900), status="pending")
        lines = [bank.line(300) for _ in range(12)]
        body = matching(PAYMENT, payment, 300)
        ran = together([partial(bank.ask, each, "match", body) for each in lines])
        assert statuses(ran) == {200: 3, 422: 9}
        assert shop.api.get(f"{PAYMENTS}{payment['id']}/").json()["status"] == "completed"

    def test_a_payment_bounces_while_it_is_matched(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        lines = [bank.line(100) for _ in range(8)]
        payment = paid(shop, buyer, 400)
        path, body = f"{PAYMENTS}{payment['id']}/", matching(PAYMENT, payment, 50)
        calls = [partial(bank.ask, each, "match", body) for each in lines]
        calls.insert(4, partial(shop.api.patch, path, json={"status": "failed"}))
        ran = together(calls)
        assert set(statuses(ran)) <= {200, 409}
        assert ran[4].status == 200
        # What was matched before it bounced stays matched, and so may what comes after.
        matched = statuses(ran[:4] + ran[5:]).get(200, 0)
        linked = sum(left(bank.read(each))[0] for each in lines)
        assert linked == 50 * matched

    def test_a_refund_is_cancelled_while_it_is_matched(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        calls = []
        for _ in range(6):
            payment, line = agreed(shop, vendor, 100)["payment"], bank.line(100)
            body = matching(VENDOR_REFUND_PAYMENT, payment)
            calls += [
                partial(bank.ask, line, "match", body),
                partial(shop.api.post, f"{REFUND_PAYMENTS}{payment['id']}/delete/"),
            ]
        ran = together(calls)
        for place in range(0, 12, 2):
            assert sorted(each.status for each in ran[place : place + 2]) == [200, 409]


class TestAllMoves:
    def test_the_books_agree_after_all_moves_at_once(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        lines = [bank.line(500)["id"] for _ in range(5)]
        payments = [paid(shop, buyer, 450, processing_fee_cents=3)["id"] for _ in range(6)]
        contest = BankContest(lines, payments)
        race_until_done(Matcher, contest, shop, clients=32, wanted={*Matcher.moves})


@dataclass
class BankContest(Contest):
    """The ids of the lines and payments that all clients change."""

    lines: list[str]
    payments: list[str]


class Matcher(Racer):
    """A client that matches lines and changes payments."""

    contest: BankContest
    moves: ClassVar = {
        **{"match": 6, "unmatch": 3, "turn": 3},
        **{"categorize": 1, "uncategorize": 1, "change": 1},
    }

    def ask(self, what: str, body: Any = None, line: str | None = None) -> httpx.Response:
        line = line or self.dice.choice(self.contest.lines)
        return self.api.post(f"{LINES}{line}/{what}/", json=body)

    def match(self) -> httpx.Response:
        target = {"id": self.dice.choice(self.contest.payments)}
        return self.ask("match", matching(PAYMENT, target, self.dice.randint(1, 200)))

    def unmatch(self) -> httpx.Response | None:
        line = self.dice.choice(self.contest.lines)
        links = self.api.get(f"{LINES}{line}/").json()["links"]
        if not links:
            return None
        link = self.dice.choice(links)["reconciliation_link_id"]
        return self.ask("unmatch", {"reconciliation_link_id": link}, line)

    def categorize(self) -> httpx.Response:
        return self.ask("categorize", {"account": self.dice.choice(("4500", "6300"))})

    def uncategorize(self) -> httpx.Response:
        return self.ask("uncategorize")

    def turn(self) -> httpx.Response:
        status = self.dice.choice(("completed", "completed", "pending", "failed"))
        return self.patch({"status": status})

    def change(self) -> httpx.Response:
        return self.patch({"processing_fee_cents": self.dice.randint(0, 40)})

    def patch(self, body: Record) -> httpx.Response:
        return self.api.patch(f"{PAYMENTS}{self.dice.choice(self.contest.payments)}/", json=body)
