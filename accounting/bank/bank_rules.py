"""Bank rules, which recognize new bank transactions and categorize them.

They are tried in order, and the first that fits decides: an automatic rule is applied immediately,
any other is suggested. A deleted rule is no longer tried; the transactions that it categorized
still name it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.absent import Absent
from accounting.bank.bank_transactions import (
    BankTransaction,
    CategoryPart,
    in_parts,
    remaining,
    taxed,
)
from accounting.bank.commands import BankRuleConditions, BankRuleOutcome, SaveBankRule
from accounting.books.accounts import AccountReference, usable_in
from accounting.books.businesses import Context
from accounting.errors import Conflict, RuleViolation
from accounting.tax.day_codes import TaxReferences
from accounting.tax.taxed_amounts import DayCode

SUGGEST, AUTOMATIC = "suggest", "automatic"
PRIORITY = 100
"""The default priority of a rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BankRule:
    """The conditions for a bank transaction, and the account to which it is then categorized.

    A condition that is None always holds; at least one is not None.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    name: str
    priority: int
    text: str | None
    direction: str | None
    min_amount: int | None
    max_amount: int | None
    bank_account_id: UUID | None
    account_id: UUID
    tax_code_id: UUID | None
    customer_id: UUID | None
    vendor_id: UUID | None
    memo: str | None
    apply: str
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """A new transaction after the rules were tried, and the fitting rule that was not applied."""

    line: BankTransaction
    suggested_by: UUID | None = None


def account_references(command: SaveBankRule) -> list[AccountReference]:
    """List the account that a rule names, so that it can be loaded first."""
    return [] if isinstance(command.outcome, Absent) else [command.outcome.account]


def accounts_applied(rules: Iterable[BankRule]) -> frozenset[AccountReference]:
    """List the accounts that automatic rules post to, so that they can be locked."""
    automatic = (each for each in rules if each.apply == AUTOMATIC)
    return frozenset(AccountReference("id", each.account_id) for each in automatic)


def make(command: SaveBankRule, referenced: TaxReferences, context: Context) -> BankRule:
    """Create a rule; the defaults are priority 100 and `suggest`.

    Raises Conflict `account_archived`; RuleViolation `reference_not_found` or `control_account`.
    """
    assert not isinstance(command.name, Absent), "a new rule has a name"
    assert not isinstance(command.conditions, Absent), "a new rule has conditions"
    assert not isinstance(command.outcome, Absent), "a new rule has a result"
    return BankRule(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        name=command.name,
        priority=PRIORITY if isinstance(command.priority, Absent) else command.priority,
        **_conditions(command.conditions),
        **_outcome(command.outcome, referenced, context),
        apply=SUGGEST if isinstance(command.apply, Absent) else command.apply,
    )


def amend(
    rule: BankRule, command: SaveBankRule, referenced: TaxReferences, context: Context
) -> BankRule:
    """Change a rule; its conditions and its outcome are each replaced as a whole.

    Raises what `make` raises.
    """
    said: dict[str, Any] = {
        name: value
        for name in ("name", "priority", "apply")
        if not isinstance(value := getattr(command, name), Absent)
    }
    if not isinstance(command.conditions, Absent):
        said |= _conditions(command.conditions)
    if not isinstance(command.outcome, Absent):
        said |= _outcome(command.outcome, referenced, context)
    changed = replace(rule, **said)
    return rule if changed == rule else replace(changed, updated_at=context.now)


def delete(rule: BankRule, context: Context) -> BankRule:
    """Delete a rule; what it categorized stays."""
    return replace(rule, deleted_at=context.now, updated_at=context.now)


def first_fitting(rules: Iterable[BankRule], line: BankTransaction) -> BankRule | None:
    """Return the rule that decides for a transaction: the first in order of those that fit."""
    fitting = (rule for rule in rules if rule.deleted_at is None and fits(rule, line))
    return min(fitting, key=lambda rule: (rule.priority, rule.created_at, rule.id), default=None)


def fits(rule: BankRule, line: BankTransaction) -> bool:
    """Return whether all conditions of a rule hold for a transaction.

    A rule for outgoing "account fee" up to 50.00 fits a debit of 8.50, "ACCOUNT FEE JULY".
    """
    told = (line.description, line.counterparty_name, line.reference)
    return (
        rule.direction in (None, line.direction)
        and rule.bank_account_id in (None, line.bank_account_id)
        and (rule.min_amount is None or line.amount >= rule.min_amount)
        and (rule.max_amount is None or line.amount <= rule.max_amount)
        and (
            rule.text is None
            or any(rule.text.casefold() in (text or "").casefold() for text in told)
        )
    )


def try_on(
    line: BankTransaction, rules: Iterable[BankRule], referenced: TaxReferences, context: Context
) -> RuleOutcome:
    """Try rules on a new transaction: the first that fits is applied if automatic, else suggested.

    An automatic rule that cannot be applied is suggested as well: its account is archived or is the
    transaction's own, or the period is locked.
    """
    rule = first_fitting(rules, line)
    if rule is None:
        return RuleOutcome(line)
    if rule.apply != AUTOMATIC:
        return RuleOutcome(line, rule.id)
    applied = _applied(line, rule, referenced, context)
    return RuleOutcome(line, rule.id) if applied is None else RuleOutcome(applied)


def part_of(rule: BankRule, line: BankTransaction) -> CategoryPart:
    """Return the part that a rule categorizes: all that remains of a transaction."""
    return CategoryPart(
        account_id=rule.account_id,
        amount=remaining(line),
        memo=rule.memo,
        customer_id=rule.customer_id,
        vendor_id=rule.vendor_id,
    )


def _applied(
    line: BankTransaction, rule: BankRule, referenced: TaxReferences, context: Context
) -> BankTransaction | None:
    reference = AccountReference("id", rule.account_id)
    if rule.account_id == line.account_id:
        return None
    try:
        usable_in(None, reference, referenced.accounts.named.get(reference))
        parts = taxed((part_of(rule, line),), (_code_of(rule, line, referenced),), referenced.roles)
        return in_parts(line, parts, context, rule.id)
    except (Conflict, RuleViolation):
        return None


def _code_of(rule: BankRule, line: BankTransaction, referenced: TaxReferences) -> DayCode | None:
    """Find the tax code of a rule, as of the day of the transaction."""
    if rule.tax_code_id is None:
        return None
    codes = referenced.codes_on(None, line.booked_on)
    return codes.named(str(rule.tax_code_id), "result")


def _conditions(given: BankRuleConditions) -> dict[str, Any]:
    return {
        "text": given.text,
        "direction": given.direction,
        "min_amount": given.min_amount,
        "max_amount": given.max_amount,
        "bank_account_id": given.bank_account_id,
    }


def _outcome(given: BankRuleOutcome, referenced: TaxReferences, context: Context) -> dict[str, Any]:
    code = given.tax_code
    codes = referenced.codes_on(None, context.today)
    return {
        "account_id": usable_in(
            None, given.account, referenced.accounts.named.get(given.account)
        ).id,
        "tax_code_id": None if code is None else codes.named(code, "result").code.id,
        "customer_id": given.customer_id,
        "vendor_id": given.vendor_id,
        "memo": given.memo,
    }
