"""Bank rules: which rule fits a line, which rule decides, and its effect on the line."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import bank_rules
from accounting.bank.bank_rules import BankRule, RuleOutcome
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import BankRuleConditions, BankRuleOutcome, SaveBankRule
from accounting.books.accounts import BookAccounts
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from tests.accounting.bank.statements import SAVINGS, line, posted_by
from tests.accounting.samples import (
    REFERENCED,
    ROLES,
    AccountReference,
    account,
    account_id,
    context_of,
    day,
    refused,
)

NOW = context_of("15")
CHARGES = BankRuleOutcome(account=AccountReference("code", "6300"))
HELD = TaxReferences(
    BookAccounts(
        ROLES,
        {
            AccountReference("id", account_id(code)): account(code, archived=code == "6900")
            for code in ("6300", "6900", "1110")
        },
    ),
    TaxCodes(()),
)


def made(conditions: dict[str, Any] | None = None, **facts: Any) -> BankRule:
    command = SaveBankRule(
        name="r", conditions=BankRuleConditions(**conditions or {"text": "fee"}), outcome=CHARGES
    )
    return replace(bank_rules.make(command, REFERENCED, NOW), **facts)


def fee(amount: int = -850, **facts: Any) -> BankTransaction:
    return line(amount, **{"description": "Account FEE July", **facts})


class TestMake:
    def test_absent_facts_of_a_rule_have_defaults(self) -> None:
        rule = made()
        assert (rule.priority, rule.apply, rule.account_id) == (100, "suggest", account_id("6300"))

    def test_an_account_that_takes_no_postings_is_refused(self) -> None:
        outcome = BankRuleOutcome(account=AccountReference("code", "1200"))
        command = SaveBankRule(name="r", conditions=BankRuleConditions(text="a"), outcome=outcome)
        assert refused(bank_rules.make, command, REFERENCED, NOW).code == "control_account"

    def test_conditions_and_result_are_replaced_whole(self) -> None:
        rule = made({"text": "fee", "direction": "debit"})
        conditions = BankRuleConditions(min_amount=5)
        changed = bank_rules.amend(rule, SaveBankRule(conditions=conditions), REFERENCED, NOW)
        assert (changed.text, changed.direction, changed.min_amount) == (None, None, 5)
        assert changed.account_id == rule.account_id
        assert bank_rules.amend(rule, SaveBankRule(name="r"), REFERENCED, NOW) is rule


class TestFits:
    @pytest.mark.parametrize(
        ("conditions", "fits"),
        [
            ({"text": "ACCOUNT fee"}, True),
            ({"text": "rent"}, False),
            ({"text": "quay"}, True),
            ({"text": "ref-9"}, True),
            ({"direction": "debit"}, True),
            ({"direction": "credit"}, False),
            ({"min_amount": 850}, True),
            ({"min_amount": 851}, False),
            ({"max_amount": 850}, True),
            ({"max_amount": 849}, False),
            ({"bank_account_id": UUID(int=1)}, True),
            ({"bank_account_id": UUID(int=2)}, False),
            ({"text": "fee", "max_amount": 849}, False),
        ],
    )
    def test_all_that_is_said_holds(self, conditions: dict[str, Any], fits: bool) -> None:
        told = fee(counterparty_name="First Quay Bank", reference="REF-9")
        assert bank_rules.fits(made(conditions), told) is fits

    def test_a_line_that_says_nothing_fits_no_text(self) -> None:
        new = line(-1)
        assert not bank_rules.fits(made(), new)
        assert bank_rules.try_on(new, [made()], HELD, NOW) == RuleOutcome(new)


class TestFirstFitting:
    def test_the_lowest_priority_decides_and_then_the_oldest(self) -> None:
        late, early = made(priority=5), made(priority=5)
        early = replace(early, created_at=context_of("14").now)
        others = [made({"text": "rent"}, priority=1), bank_rules.delete(made(priority=1), NOW)]
        assert bank_rules.first_fitting([late, early, *others, made(priority=6)], fee()) is early
        assert bank_rules.first_fitting(others, fee()) is None


class TestTryOn:
    def test_a_matching_rule_suggests_its_category(self) -> None:
        rule, new = made(priority=1), fee()
        assert bank_rules.try_on(new, [rule], HELD, NOW) == RuleOutcome(new, rule.id)
        automatic = made(priority=2, apply="automatic")
        assert bank_rules.try_on(new, [automatic, rule], HELD, NOW) == RuleOutcome(new, rule.id)

    def test_an_automatic_one_categorizes_and_is_named(self) -> None:
        rule = made(apply="automatic", memo="m", vendor_id=UUID(int=8))
        done = bank_rules.try_on(fee(), [rule], HELD, NOW)
        [part] = done.line.parts
        assert (done.suggested_by, done.line.rule_id) == (None, rule.id)
        assert (part.amount, part.memo, part.vendor_id) == (850, "m", UUID(int=8))
        assert posted_by(done.line) == [("12", {"6300": 850, "1110": -850})]

    @pytest.mark.parametrize(
        ("facts", "new", "lock"),
        [
            ({}, fee(), "12"),
            ({}, fee(reconciled_through=day("12")), None),
            ({"account_id": account_id("6900")}, fee(), None),
            ({"account_id": SAVINGS}, fee(), None),
        ],
    )
    def test_an_automatic_rule_that_cannot_post_suggests(
        self, facts: dict[str, Any], new: BankTransaction, lock: str | None
    ) -> None:
        rule = made(apply="automatic", **facts)
        tried = bank_rules.try_on(new, [rule], HELD, context_of("15", lock=lock))
        assert tried == RuleOutcome(new, rule.id)
