"""Stored bank rules, each with its account."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import and_, select

from accounting.bank.bank_rules import BankRule
from accounting.books.accounts import Account
from persistence.engine.listings import Listing, any_part, created_filters, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled
from persistence.ledger.accounts import account_beside, account_columns
from persistence.store import Record, Store, among, in_business
from persistence.tables import account, bank_rule


@dataclass(frozen=True, slots=True)
class BankRuleRecord(Record):
    """A bank rule with its account."""

    rule: BankRule
    account: Account

    @property
    def stored(self) -> BankRule:
        return self.rule


STORED = tuple(item.name for item in fields(BankRule))
_SOURCE = bank_rule.join(
    account, and_(in_business(account), account.c.id == bank_rule.c.account_id)
)
_COLUMNS = (*(bank_rule.c[name] for name in STORED), *account_columns(account))
_LIVING = and_(in_business(bank_rule), bank_rule.c.deleted_at.is_(None))
_CHOSEN = select(*_COLUMNS).select_from(_SOURCE)
BY_ID = compiled(_CHOSEN.where(_LIVING, among(bank_rule.c.id)))
ALL = compiled(_CHOSEN.where(_LIVING).order_by(bank_rule.c.priority, bank_rule.c.id))

LISTING = Listing(
    source=_SOURCE,
    key=bank_rule.c.id,
    scope=_LIVING,
    columns=_COLUMNS,
    filters={
        **created_filters(bank_rule),
        **equal(bank_rule.c.apply),
        "search": any_part("search", bank_rule.c.name, bank_rule.c.text),
    },
    sorts={"priority": bank_rule.c.priority, "created_at": bank_rule.c.created_at},
    default_sort="priority",
)


class BankRuleStore(Store[BankRuleRecord]):
    """The bank rules of one business, without deleted ones."""

    table: ClassVar = bank_rule
    noun: ClassVar = "bank_rule"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[BankRuleRecord]:
        return [_record(row) for row in answers[0]]

    def all(self) -> Fetch[list[BankRuleRecord]]:
        """Load all rules, in the order in which they are tried."""
        return self.fetch((Query(ALL, {}),), self.assemble)

    def page(self, wanted: PageRequest) -> Fetch[Page[BankRuleRecord]]:
        """List one page of rules."""
        return self.listed(LISTING, wanted, _record)

    def save(self, value: BankRule) -> None:
        """Stage a rule."""
        self.scope.stage(bank_rule, value, {name: getattr(value, name) for name in STORED})


def _record(row: Row) -> BankRuleRecord:
    named = account_beside(row)
    assert named is not None, "a rule names an account"
    return BankRuleRecord(BankRule(**row), named)
