"""Statements are reconciled at the moment their lines are unlinked, and money is posted to them."""

from functools import partial

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import PAYMENT, TRANSFER, Bank, left, matching, open_account
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.concurrency.racing import Ran, statuses, together
from tests.partner import Business

END, ROUNDS = "2025-03-31", 4


@pytest.fixture
def bank(shop: Business) -> Bank:
    open_account(shop, display_name="Current account")
    return Bank(shop, open_account(shop))


def reconcile(bank: Bank, balance: int, on: str = END) -> httpx.Response:
    body = {"statement_date": on, "closing_balance_cents": balance}
    return bank.shop.api.post(bank.statements, json=body)


def is_closed(ran: Ran) -> bool:
    return ran.status in (200, 201) and ran.answer.json()["status"] == "closed"


class TestReconciling:
    @pytest.mark.parametrize("number", range(ROUNDS))
    def test_a_line_is_unlinked_before_or_stays(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank, number: int
    ) -> None:
        lines = [bank.line(100) for _ in range(6)]
        for each in lines:
            bank.match(each, PAYMENT, paid(shop, buyer, 100, payment_date="2025-03-12"))
        links = [bank.read(each)["links"][0]["reconciliation_link_id"] for each in lines]
        calls = [
            partial(bank.ask, line, "unmatch", {"reconciliation_link_id": link})
            for line, link in zip(lines, links, strict=True)
        ]
        calls.insert(number, partial(reconcile, bank, 600))
        ran = together(calls)
        statement = ran.pop(number)
        assert statement.status == 201
        taken = statuses(ran).get(200, 0)
        if is_closed(statement):
            assert statuses(ran) == {409: 6}
            assert {each.code for each in ran} == {"bank_reconciled"}
        else:
            assert taken == 6
        assert sum(left(bank.read(each))[0] for each in lines) == 600 - 100 * taken

    @pytest.mark.parametrize("number", range(ROUNDS))
    def test_what_is_posted_is_in_the_balance_or_refused(
        self, shop: Business, ledger: Ledger, bank: Bank, number: int
    ) -> None:
        entry = {
            "entry_date": END,
            "lines": [debit(bank.code, 5), credit("2500", 5)],
            "post": True,
        }
        calls = [partial(shop.api.post, ENTRIES, json=entry)] * 6
        calls.insert(number, partial(reconcile, bank, 0))
        ran = together(calls)
        statement = ran.pop(number)
        seen = statement.answer.json()
        posted = statuses(ran).get(201, 0)
        assert set(statuses(ran)) <= {201, 409}
        if is_closed(statement):
            assert (seen["ledger_balance_cents"], posted) == (0, 0)
        else:
            assert 0 < seen["ledger_balance_cents"] <= 5 * posted == 30

    def test_of_many_that_close_one_does(self, ledger: Ledger, bank: Bank) -> None:
        ran = together([partial(reconcile, bank, 0)] * 6)
        assert statuses(ran) == {201: 1, 409: 5}

    def test_it_is_reopened_and_closed_while_lines_go(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        line = bank.line(-12)
        bank.categorize(line, "6300")
        statement = bank.closed(END, -12)
        reopen = partial(shop.api.post, f"{bank.statements}{statement['id']}/reopen/")
        calls = [
            partial(bank.ask, line, "uncategorize"),
            reopen,
            partial(reconcile, bank, -12),
        ] * 4
        ran = together(calls)
        assert set(statuses(ran)) <= {200, 409}
        shown = shop.api.get(f"{bank.statements}{statement['id']}/").json()
        # Taken back it is open, and the other way round it may be either.
        if left(bank.read(line))[1] == 0:
            assert shown["status"] == "open"


class TestTransfers:
    def test_of_many_lines_one_is_the_other_side(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        other = Bank(shop, open_account(shop))
        out = bank.line(-100)
        bank.transfer(out, other)
        lines = [other.line(100) for _ in range(8)]
        body = matching(TRANSFER, out)
        ran = together([partial(other.ask, each, "match", body) for each in lines])
        assert statuses(ran) == {200: 1, 422: 7}

    def test_both_sides_ask_at_once(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        other = Bank(shop, open_account(shop))
        for _ in range(4):
            out, come = bank.line(-100), other.line(100)
            calls = [
                partial(bank.ask, out, "match", matching(TRANSFER, come)),
                partial(other.ask, come, "match", matching(TRANSFER, out)),
            ]
            assert statuses(together(calls * 2)) == {200: 1, 422: 3}
            link_of = [bank.read(each)["links"][0] for each in (out, come)]
            calls = [
                partial(
                    bank.ask,
                    each,
                    "unmatch",
                    {"reconciliation_link_id": link["reconciliation_link_id"]},
                )
                for each, link in zip((out, come), link_of, strict=True)
            ]
            assert statuses(together(calls)) == {200: 1, 422: 1}
            assert left(bank.read(out)) == left(other.read(come)) == (0, 0, 100)

    def test_a_line_comes_while_the_transfer_is_taken_back(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        other = Bank(shop, open_account(shop))
        for _ in range(4):
            out, come = bank.line(-100), other.line(100)
            [link] = bank.transfer(out, other)["links"]
            body = {"reconciliation_link_id": link["reconciliation_link_id"]}
            together(
                [
                    partial(other.ask, come, "match", matching(TRANSFER, out)),
                    partial(bank.ask, out, "unmatch", body),
                ]
            )
            assert left(bank.read(out)) == left(other.read(come))


class TestEntries:
    def test_many_lines_show_no_more_than_one_moves(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        lines = [debit(bank.code, 300), credit("2500", 300)]
        body = {"entry_date": END, "lines": lines, "post": True}
        loan = shop.made(ENTRIES, body)
        asked = matching("journal_entry", loan, 100)
        ran = together([partial(bank.ask, bank.line(100), "match", asked) for _ in range(8)])
        assert statuses(ran) == {200: 3, 422: 5}
