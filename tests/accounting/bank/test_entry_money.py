"""Manual entries that move money on a bank account, and the lines that show it."""

from typing import Any

import pytest

from accounting.bank import bank_matches
from accounting.bank.bank_links import EntryMoney, money_of
from accounting.bank.bank_matches import MatchResult, MatchTarget
from accounting.bank.bank_transactions import BankTransaction, remaining
from accounting.bank.commands import LinkTransaction
from accounting.books.manual_entries import ManualEntry, ManualLine
from tests.accounting.bank.statements import SAVINGS, line, new_id
from tests.accounting.samples import BORN, ROLES, account_id, context_of, day, refused

NOW = context_of("15")


def entry(*amounts: tuple[str, int], **facts: Any) -> ManualEntry:
    id_ = new_id()
    known = {
        **{"id": id_, "source_id": id_, "version": 1, "created_at": BORN, "entry_date": day("10")},
        **{"reference": None, "description": "d", "currency": "GBP", "created_by": "manual"},
        **{"status": "approved"},
    }
    lines = tuple(ManualLine(new_id(), account_id(code), amount) for code, amount in amounts)
    return ManualEntry(**{**known, "lines": lines, **facts})


def match(
    transaction: BankTransaction, money: EntryMoney, amount: int | None = None
) -> MatchResult:
    command = LinkTransaction(target_type="journal_entry", target_id=money.id, amount=amount)
    return bank_matches.match(MatchTarget(None, money), transaction, command, ROLES, NOW)


class TestMoneyOf:
    def test_the_money_of_an_entry_is_the_sum_of_its_lines_on_the_account(self) -> None:
        written = entry(("1110", 100), ("1110", -2), ("6100", 2), ("2500", -100))
        assert money_of(written, SAVINGS, 0).amount == 98
        assert money_of(written, account_id("2500"), 0).amount == -100

    @pytest.mark.parametrize(
        ("amounts", "facts", "code"),
        [
            ([("1110", 5), ("2500", -5)], {"source_type": "invoice"}, "system_entry"),
            ([("1110", 5), ("2500", -5)], {"status": "draft"}, "item_not_completed"),
            ([("1110", 5), ("2500", -5)], {"status": "rejected"}, "item_not_completed"),
            ([("1100", 5), ("2500", -5)], {}, "bank_account_mismatch"),
            ([("1110", 5), ("1110", -5)], {}, "bank_account_mismatch"),
        ],
    )
    def test_an_entry_that_moves_no_money_by_hand_is_refused(
        self, amounts: list[tuple[str, int]], facts: dict[str, Any], code: str
    ) -> None:
        assert refused(money_of, entry(*amounts, **facts), SAVINGS, 0).code == code


class TestMatch:
    def test_a_line_shows_it_and_nothing_is_posted(self) -> None:
        money = money_of(entry(("1110", 100), ("2500", -100)), SAVINGS, 0)
        done = match(line(60), money)
        assert (done.link.amount, remaining(done.transaction), done.subjects) == (60, 0, ())
        assert done.target == EntryMoney(id=money.id, account_id=SAVINGS, amount=100, linked=60)

    def test_no_more_than_other_lines_have_left(self) -> None:
        money = money_of(entry(("1110", -100), ("2500", 100)), SAVINGS, 70)
        assert match(line(-90), money).link.amount == 30
        assert refused(match, line(-90), money, 31).code == "link_exceeds_remaining"

    def test_an_entry_of_the_other_direction_is_refused(self) -> None:
        money = money_of(entry(("1110", -100), ("2500", 100)), SAVINGS, 0)
        assert refused(match, line(100), money).code == "link_direction_mismatch"

    def test_taken_back_both_are_free(self) -> None:
        money = money_of(entry(("1110", 100), ("2500", -100)), SAVINGS, 0)
        done = match(line(100), money)
        back = bank_matches.unmatch(
            MatchTarget(None, done.target), done.transaction, done.link, NOW
        )
        assert (back.target, back.subjects, back.transaction.linked) == (money, (), 0)
        assert back.link.ended_at == NOW.now
