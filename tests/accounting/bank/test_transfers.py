"""Money between two own bank accounts: two lines, one transfer and one entry."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import bank_postings, transfers
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import TransferTransaction
from accounting.bank.transfers import Transfer, TransferWithLines
from tests.accounting.bank.statements import line, new_id, posted_by
from tests.accounting.samples import ROLES, account_id, context_of, day, posted_after, refused

CURRENT = account_id("1100")
NOW = context_of("28", identify=new_id)
PLAIN = TransferTransaction()


def current(amount: int, on: str = "12", **facts: Any) -> BankTransaction:
    """Create a line of the other account."""
    return line(amount, on, account_id=CURRENT, bank_account_id=UUID(int=2), **facts)


def kept(transfer: Transfer) -> Transfer:
    entries = bank_postings.entries_for(transfer, ROLES, None)
    return replace(transfer, posted=posted_after(transfer.posted, entries, new_id))


def between(one: BankTransaction, other: BankTransaction, *waiting: Transfer) -> TransferWithLines:
    known = {each.id: each for each in waiting}
    return transfers.between(one, other, known, PLAIN, NOW)


class TestBetween:
    @pytest.mark.parametrize(("out_on", "in_on"), [("12", "14"), ("14", "12"), ("12", "12")])
    @pytest.mark.parametrize("turned", [False, True])
    def test_a_transfer_posts_a_single_entry_on_the_day_of_the_earlier_line(
        self, out_on: str, in_on: str, turned: bool
    ) -> None:
        lines = [line(-100, out_on), current(100, in_on)]
        done = between(*reversed(lines) if turned else lines)
        assert posted_by(done.transfer) == [("12", {"1100": 100, "1110": -100})]
        assert {each.linked for each in done.lines} == {100}
        assert {each.target_id for each in done.links} == {done.transfer.id}
        assert done.transfer.out_transaction_id == lines[0].id
        assert done.transfer.in_transaction_id == lines[1].id

    def test_the_amount_of_a_transfer_is_the_common_rest_of_both_lines(self) -> None:
        done = between(line(-100, linked=30), current(90))
        assert (done.transfer.amount, {each.amount for each in done.links}) == (70, {70})

    def test_invalid_pairs_of_lines_are_refused(self) -> None:
        locked = context_of("28", lock="12")
        for code, one, other, context in (
            ("link_direction_mismatch", line(5), current(5), NOW),
            ("same_account", line(5), line(-5), NOW),
            ("link_exceeds_remaining", line(5, linked=5), current(-5), NOW),
            ("period_locked", line(5, "12"), current(-5, "14"), locked),
        ):
            assert refused(transfers.between, one, other, {}, PLAIN, context).code == code


class TestWaiting:
    def test_a_transfer_is_posted_with_its_first_line(self) -> None:
        done = transfers.begin(line(-100), CURRENT, PLAIN, NOW)
        assert posted_by(done.transfer) == [("12", {"1100": 100, "1110": -100})]
        assert transfers.waits_for(done.transfer, current(100))
        assert not transfers.waits_for(done.transfer, current(-100))
        assert not transfers.waits_for(done.transfer, line(100))

    @pytest.mark.parametrize("turned", [False, True])
    def test_the_line_that_comes_posts_nothing_more(self, turned: bool) -> None:
        begun = transfers.begin(line(-100), CURRENT, PLAIN, NOW)
        [first], waiting = begun.lines, kept(begun.transfer)
        lines = [current(100, "14"), first]
        done = between(*reversed(lines) if turned else lines, waiting)
        assert posted_by(done.transfer) == []
        assert transfers.lines_of(done.transfer) == {each.id for each in lines}
        assert [each.id for each in done.lines] == [lines[0].id]
        assert not transfers.waits_for(done.transfer, current(100))

    def test_a_line_joins_the_waiting_transfer_of_its_amount(self) -> None:
        first = transfers.begin(line(-100), CURRENT, TransferTransaction(amount=30), NOW)
        [half] = first.lines
        second = transfers.begin(half, CURRENT, PLAIN, NOW)
        waiting = [first.transfer, second.transfer]
        assert between(current(70), second.lines[0], *waiting).transfer.id == second.transfer.id
        assert between(current(90), second.lines[0], *waiting).transfer.id == first.transfer.id

    def test_an_earlier_day_takes_the_entry_along(self) -> None:
        begun = transfers.begin(line(-100, "12"), CURRENT, PLAIN, NOW)
        done = between(current(100, "10"), begun.lines[0], kept(begun.transfer))
        assert sorted(posted_by(done.transfer)) == [
            ("10", {"1100": 100, "1110": -100}),
            ("12", {"1110": 100, "1100": -100}),
        ]

    def test_a_waiting_transfer_takes_only_its_whole_amount(self) -> None:
        begun = transfers.begin(line(-100), CURRENT, PLAIN, NOW)
        waiting, part = kept(begun.transfer), TransferTransaction(amount=60)
        for refusal in (
            refused(between, current(99), begun.lines[0], waiting),
            refused(transfers.complete, waiting, current(100), part, NOW),
        ):
            assert refusal.code == "link_exceeds_remaining"

    def test_invalid_waiting_transfers_are_refused(self) -> None:
        for code, first, there, context in (
            ("same_account", line(5), account_id("1110"), NOW),
            ("link_exceeds_remaining", line(5, linked=5), CURRENT, NOW),
            ("period_locked", line(5), CURRENT, context_of("28", lock="12")),
        ):
            assert refused(transfers.begin, first, there, PLAIN, context).code == code


class TestTakeBack:
    def test_an_undone_transfer_frees_both_lines_and_reverses_its_entry(self) -> None:
        done = between(line(-100), current(100))
        transfer = kept(done.transfer)
        lines = {each.id: each for each in done.lines}
        back = transfers.take_back(transfer, lines, done.links, NOW)
        assert {each.linked for each in back.lines} == {0}
        assert {each.ended_at for each in back.links} == {NOW.now}
        [entry] = bank_postings.entries_for(back.transfer, ROLES, None)
        assert entry.reversal_of_id == transfer.posted[0].id
        assert not transfers.waits_for(back.transfer, current(100))

    def test_not_out_of_a_closed_statement(self) -> None:
        done = between(line(-100), current(100, reconciled_through=day("12")))
        lines = {each.id: each for each in done.lines}
        refusal = refused(transfers.take_back, done.transfer, lines, done.links, NOW)
        assert refusal.code == "bank_reconciled"
