"""Statements are reconciled while their lines are unlinked and money is posted."""

from functools import partial

import httpx
import pytest

from tests.builders.bank import LINES, PAYMENT, TRANSFER, Bank, left, matching, open_account
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.concurrency.races import Call, Ran, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")

END, ROUNDS = "2025-03-31", 4


def reconcile(bank: Bank, balance: int, on: str = END) -> httpx.Response:
    body = {"statement_date": on, "closing_balance_cents": balance}
    return bank.shop.api.post(bank.statements, json=body)


def unmatching(bank: Bank, line: Record) -> Call:
    """Return the request that removes the one link of a line."""
    [link] = bank.read(line)["links"]
    body = {"reconciliation_link_id": link["reconciliation_link_id"]}
    return partial(bank.ask, line, "unmatch", body)


def is_closed(ran: Ran) -> bool:
    return ran.status in (200, 201) and ran.answer.json()["status"] == "closed"


class TestReconciling:
    @pytest.mark.parametrize("number", range(ROUNDS))
    def test_a_line_is_unlinked_before_the_closing_or_not_at_all(
        self, shop: Business, buyer: Record, bank: Bank, number: int
    ) -> None:
        lines = [bank.line(100) for _ in range(6)]
        for each in lines:
            bank.match(each, PAYMENT, paid(shop, buyer, 100, payment_date="2025-03-12"))
        calls = [unmatching(bank, each) for each in lines]
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
    def test_a_posting_is_in_the_balance_or_refused(
        self, shop: Business, bank: Bank, number: int
    ) -> None:
        lines = [debit(bank.code, 5), credit("2500", 5)]
        entry = {"entry_date": END, "lines": lines, "post": True}
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

    @pytest.mark.parametrize("number", range(ROUNDS))
    def test_money_comes_back_before_the_closing_or_not_in_its_days(
        self, shop: Business, buyer: Record, bank: Bank, number: int
    ) -> None:
        payments = [paid(shop, buyer, 100, payment_date="2025-03-12") for _ in range(6)]
        for each in payments:
            bank.match(bank.line(100), PAYMENT, each)
        calls: list[Call] = [
            partial(bank.ask, bank.line(-100), "match", matching(PAYMENT, each, of="return"))
            for each in payments
        ]
        calls.insert(number, partial(reconcile, bank, 600))
        ran = together(calls)
        statement = ran.pop(number)
        assert statement.status == 201
        if is_closed(statement):
            assert statuses(ran) == {409: 6}
            assert {each.code for each in ran} == {"bank_reconciled"}
        else:
            assert statuses(ran) == {200: 6}
        failed = [
            shop.api.get(f"invoices/payments/{each['id']}/").json()["status"] == "failed"
            for each in payments
        ]
        assert sum(failed) == statuses(ran).get(200, 0)

    @pytest.mark.parametrize("number", range(ROUNDS))
    def test_a_line_is_in_the_statement_or_after_its_closing(
        self, shop: Business, bank: Bank, number: int
    ) -> None:
        line = {"date": END, "amount_cents": 7, "direction": "credit"}
        calls: list[Call] = []
        for each in range(6):
            lines = [{**line, "external_id": f"{each}"}]
            body = {"bank_account_id": bank.account["id"], "transactions": lines}
            calls.append(partial(shop.api.post, LINES, json=body))
        calls.insert(number, partial(reconcile, bank, 0))
        ran = together(calls)
        statement = ran.pop(number)
        assert (is_closed(statement), statuses(ran)) == (True, {200: 6})
        results = [each.answer.json()["results"][0] for each in ran]
        late = [each for each in results if each["after_closing"]]
        closed = statement.answer.json()
        assert closed["lines_without_money_count"] == 6 - len(late)
        assert shop.api.get(f"{bank.statements}{closed['id']}/").json() == closed
        assert bank.reopen(closed)["lines_without_money_count"] == 6
        assert not any(bank.read(each)["after_closing"] for each in results)

    def test_a_statement_is_closed_once(self, bank: Bank) -> None:
        ran = together([partial(reconcile, bank, 0)] * 6)
        assert statuses(ran) == {201: 1, 409: 5}

    def test_a_statement_is_reopened_while_its_line_changes(
        self, shop: Business, bank: Bank
    ) -> None:
        line = bank.line(-12)
        bank.categorize(line, "6300")
        statement = bank.closed(END, -12)
        reopen = partial(shop.api.post, f"{bank.statements}{statement['id']}/reopen/")
        uncategorize = partial(bank.ask, line, "uncategorize")
        ran = together([uncategorize, reopen, partial(reconcile, bank, -12)] * 4)
        assert set(statuses(ran)) <= {200, 409}
        shown = shop.api.get(f"{bank.statements}{statement['id']}/").json()
        # Only an open statement allows the line to be uncategorized.
        if left(bank.read(line))[1] == 0:
            assert shown["status"] == "open"


class TestTransfers:
    def test_a_transfer_is_matched_with_one_line(self, shop: Business, bank: Bank) -> None:
        other = Bank(shop, open_account(shop))
        out = bank.line(-100)
        bank.transfer(out, other)
        lines = [other.line(100) for _ in range(8)]
        body = matching(TRANSFER, out)
        ran = together([partial(other.ask, each, "match", body) for each in lines])
        assert statuses(ran) == {200: 1, 422: 7}

    def test_a_transfer_that_both_lines_match_is_one(self, shop: Business, bank: Bank) -> None:
        other = Bank(shop, open_account(shop))
        for _ in range(4):
            out, come = bank.line(-100), other.line(100)
            one = partial(bank.ask, out, "match", matching(TRANSFER, come))
            other_one = partial(other.ask, come, "match", matching(TRANSFER, out))
            assert statuses(together([one, other_one] * 2)) == {200: 1, 422: 3}
            undoing = [unmatching(bank, each) for each in (out, come)]
            assert statuses(together(undoing)) == {200: 1, 422: 1}
            assert left(bank.read(out)) == left(other.read(come)) == (0, 0, 100)

    def test_a_line_is_matched_while_the_transfer_is_undone(
        self, shop: Business, bank: Bank
    ) -> None:
        other = Bank(shop, open_account(shop))
        for _ in range(4):
            out, come = bank.line(-100), other.line(100)
            bank.transfer(out, other)
            match = partial(other.ask, come, "match", matching(TRANSFER, out))
            together([match, unmatching(bank, out)])
            assert left(bank.read(out)) == left(other.read(come))


class TestEntries:
    def test_an_entry_is_matched_with_as_many_lines_as_fit(
        self, shop: Business, bank: Bank
    ) -> None:
        lines = [debit(bank.code, 300), credit("2500", 300)]
        body = {"entry_date": END, "lines": lines, "post": True}
        loan = shop.made(ENTRIES, body)
        asked = matching("journal_entry", loan, 100)
        ran = together([partial(bank.ask, bank.line(100), "match", asked) for _ in range(8)])
        assert statuses(ran) == {200: 3, 422: 5}
