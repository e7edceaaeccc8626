"""Lines of foreign bank accounts: posted to accounts, and transferred between two currencies."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accounting.bank import bank_postings, bank_rules, bank_transactions, transfers
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import CategoryGiven, TransferTransaction
from accounting.bank.transfers import TransferWithLines
from accounting.books.accounts import BookAccounts
from accounting.books.foreign import ForeignAmount
from accounting.books.record_rates import NO_WORTH_GIVEN, GivenWorth
from accounting.tax.codes import Rate, TaxCodes
from accounting.tax.day_codes import TaxReferences
from tests.accounting.bank.foreign import DOLLARS, RATES, crown_line, dollar_line, own, rate
from tests.accounting.bank.statements import line, new_id, posted_by
from tests.accounting.bank.test_bank_rules import HELD, fee, made
from tests.accounting.samples import (
    NAMED,
    REFERENCED,
    ROLES,
    account,
    account_id,
    amounts,
    context_of,
    named,
    posted_after,
    refused,
)
from tests.accounting.tax.test_codes import code_of as tax_code

NOW = replace(context_of("28", identify=new_id), rates=RATES)
TAXED = replace(REFERENCED, codes=TaxCodes((tax_code("S20", Rate(Decimal(20), Decimal(100))),)))


def part(code: str, amount: int | None = None, tax: str | None = None) -> CategoryGiven:
    reference = named(code)
    assert reference is not None
    return CategoryGiven(reference, amount, tax_code=tax)


def categorized(
    transaction: BankTransaction,
    *parts: CategoryGiven,
    given: GivenWorth = NO_WORTH_GIVEN,
    referenced: TaxReferences = TAXED,
) -> BankTransaction:
    return bank_transactions.categorize(transaction, parts, referenced, NOW, given)


class TestCategorize:
    def test_at_the_rate_of_its_day(self) -> None:
        done = categorized(dollar_line(-1_200), part("6300"))
        assert posted_by(done) == [("12", {"6300": 960, "1121": -960})]
        [entry] = bank_postings.entries_for(done, ROLES, None)
        assert own(entry) == {"6300": ("USD", 1_200), "1121": ("USD", -1_200)}

    def test_at_a_given_rate(self) -> None:
        done = categorized(dollar_line(10_000), part("4500"), given=rate("0.92"))
        assert posted_by(done) == [("12", {"1121": 9_200, "4500": -9_200})]

    def test_a_rest_is_posted_at_the_rate(self) -> None:
        done = categorized(dollar_line(-10_000, linked=4_000), part("6300"))
        assert posted_by(done) == [("12", {"6300": 4_800, "1121": -4_800})]

    def test_tax_is_converted_by_itself_and_nets_are_the_rest(self) -> None:
        given = part("6000", 4_000, "S20"), part("6000", 4_000, "S20"), part("6000", 4_000, "S20")
        done = categorized(dollar_line(-12_000), *given, given=rate("0.91234"))
        # The tax is 2000 x 0.91234 = 1824.68, and the total 10948.08.
        assert posted_by(done) == [("12", {"6000": 9_123, "2200": 1_825, "1121": -10_948})]

    def test_parts_share_the_rest_by_account(self) -> None:
        given = part("6000", 3_333), part("6300", 3_333), part("7000", 3_334)
        done = categorized(dollar_line(-10_000), *given, given=rate("0.91234"))
        expected = {"6000": 3_041, "6300": 3_041, "7000": 3_041, "1121": -9_123}
        assert posted_by(done) == [("12", expected)]

    def test_undone_it_is_reversed(self) -> None:
        done = categorized(dollar_line(-1_200), part("6300"))
        entries = bank_postings.entries_for(done, ROLES, None)
        standing = replace(done, posted=posted_after((), entries, new_id))
        undone = bank_transactions.uncategorize(standing, NOW)
        assert undone.worth is None
        [back] = bank_postings.entries_for(undone, ROLES, None)
        assert (back.reversal_of_id, amounts(back)) == (
            standing.posted[0].id,
            {"6300": -960, "1121": 960},
        )

    @pytest.mark.parametrize(
        ("transaction", "given", "code"),
        [
            (dollar_line(5, "1"), NO_WORTH_GIVEN, "exchange_rate_missing"),
            (line(5), rate("2"), "exchange_rate_not_needed"),
        ],
    )
    def test_rates_that_are_refused(
        self, transaction: BankTransaction, given: GivenWorth, code: str
    ) -> None:
        assert refused(categorized, transaction, part("4500"), given=given).code == code

    def test_an_account_of_another_currency_is_refused(self) -> None:
        crowns = replace(account("1122"), currency="SEK")
        reference = named("1122")
        assert reference is not None
        chart = replace(TAXED, accounts=BookAccounts(ROLES, {**NAMED, reference: crowns}))
        for transaction in (dollar_line(5), line(5)):
            refusal = refused(categorized, transaction, part("1122"), referenced=chart)
            assert refusal.code == "currency_mismatch"
        other = crown_line(-1_000, account_id=account_id("1123"))
        done = categorized(other, part("1122"), referenced=chart)
        assert posted_by(done) == [("12", {"1122": 80, "1123": -80})]

    def test_an_automatic_rule_takes_the_rate_of_the_day(self) -> None:
        automatic = made(apply="automatic")
        dollars = {"account_id": DOLLARS, "currency": "USD"}
        done = bank_rules.try_on(fee(-1_000, **dollars), [automatic], HELD, NOW)
        assert posted_by(done.line) == [("12", {"6300": 800, "1121": -800})]
        without = fee(-1_000, on="1", **dollars)
        early = bank_rules.try_on(without, [automatic], HELD, NOW)
        assert (early.line.categorized, early.suggested_by) == (0, automatic.id)


def between(one: BankTransaction, other: BankTransaction, **facts: Any) -> TransferWithLines:
    return transfers.between(one, other, {}, TransferTransaction(**facts), NOW)


class TestTransfer:
    @pytest.mark.parametrize("turned", [False, True])
    def test_both_sides_have_the_base_of_the_line_in_base(self, turned: bool) -> None:
        pair = [dollar_line(-10_000, "14"), line(9_200, "12")]
        done = between(*reversed(pair) if turned else pair)
        assert posted_by(done.transfer) == [("12", {"1110": 9_200, "1121": -9_200})]
        [entry] = bank_postings.entries_for(done.transfer, ROLES, None)
        assert own(entry) == {"1110": (None, None), "1121": ("USD", -10_000)}
        assert sorted(each.amount for each in done.links) == [9_200, 10_000]
        assert {bank_transactions.remaining(each) for each in done.lines} == {0}
        assert done.transfer.amount == ForeignAmount(10_000, 9_200, "USD")
        assert done.transfer.arrived == 9_200

    def test_between_two_foreign_ones_the_leaving_line_has_the_rate_of_the_day(self) -> None:
        done = between(crown_line(110_000), dollar_line(-10_000))
        assert posted_by(done.transfer) == [("12", {"1122": 8_000, "1121": -8_000})]
        [entry] = bank_postings.entries_for(done.transfer, ROLES, None)
        assert own(entry) == {"1122": ("SEK", 110_000), "1121": ("USD", -10_000)}

    def test_of_one_foreign_currency_it_has_the_rate_of_the_day(self) -> None:
        other = account_id("1123")
        done = between(dollar_line(-10_000), dollar_line(10_000, account_id=other))
        assert posted_by(done.transfer) == [("12", {"1123": 8_000, "1121": -8_000})]
        assert done.transfer.arrived is None

    def test_it_takes_an_amount_of_each_line(self) -> None:
        done = between(dollar_line(-10_000), line(9_200), amount=5_000, target_amount=4_500)
        assert posted_by(done.transfer) == [("12", {"1110": 4_500, "1121": -4_500})]
        for facts in ({"amount": 10_001}, {"target_amount": 9_201}):
            refusal = refused(between, dollar_line(-10_000), line(9_200), **facts)
            assert refusal.code == "link_exceeds_remaining"

    def test_it_does_not_wait_for_a_line_of_another_currency(self) -> None:
        given = dollar_line(-100), account_id("1110"), TransferTransaction(), NOW
        assert refused(transfers.begin, *given, "GBP").code == "currency_mismatch"

    def test_of_one_foreign_currency_it_waits_at_its_rate(self) -> None:
        there = account_id("1123")
        begun = transfers.begin(dollar_line(-100), there, TransferTransaction(), NOW, "USD")
        assert posted_by(begun.transfer) == [("12", {"1123": 80, "1121": -80})]
        coming = dollar_line(100, "13", account_id=there)
        given = coming, begun.lines[0], {begun.transfer.id: begun.transfer}
        done = transfers.between(*given, TransferTransaction(), NOW)
        assert done.transfer.amount == ForeignAmount(100, 80, "USD")
        assert [each.amount for each in done.links] == [100]

    def test_undone_both_lines_are_free(self) -> None:
        done = between(dollar_line(-10_000), line(9_200))
        lines = {each.id: each for each in done.lines}
        entries = bank_postings.entries_for(done.transfer, ROLES, None)
        standing = replace(done.transfer, posted=posted_after((), entries, new_id))
        back = transfers.take_back(standing, lines, done.links, NOW)
        assert {each.linked for each in back.lines} == {0}
        [reversal] = bank_postings.entries_for(back.transfer, ROLES, None)
        assert own(reversal) == {"1110": (None, None), "1121": ("USD", 10_000)}
