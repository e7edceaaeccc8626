"""The chart of accounts: every account with its balance, as a list, a tree and a file."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from accounting.absent import Absent, or_else, or_none, said
from accounting.books import accounts, businesses, cash_flow
from accounting.books.accounts import Account
from accounting.books.businesses import refuse_other_currency
from accounting.books.chart import (
    AccountType,
    in_profit_and_loss,
    refuse_disagreeing_kind,
    type_of,
)
from accounting.books.commands import CreateAccount
from accounting.books.periods import EVER, Period, calendar_month
from accounting.books.report_filter import Basis
from accounting.errors import ValidationError
from handlers.bodies import AccountChildCreate, AccountCreate, AccountUpdate
from handlers.books.charts import COLUMNS, Chart, cells, serialize, serialize_entry, serialize_type
from handlers.results import Created, Csv, ExistingRecord, Reply
from handlers.shared import account_commands
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.engine.pages import Page, PageRequest, page_of
from persistence.ledger.accounts import AccountState, Family
from persistence.store import no_such_reference, not_found

Lineage = tuple[Account, ...]


async def list_accounts(books: Books, page: PageRequest) -> Page[Reply]:
    """List accounts, each with its child accounts and its balances."""
    period = period_of(page.filters)
    states = await books.accounts.chart(period or EVER)
    chart = Chart(states, books.currency, by_period=period is not None)
    chosen = [state for state in states if matches(chart, state, page.filters)]
    shown = page_of(chosen, page, lambda state, name: str(getattr(state.account, name)), "code")
    return shown.of(lambda state: serialize(chart, state))


async def get_account(books: Books, account_id: str) -> Reply:
    """Return one account by id, code or external id."""
    return show(books, await books.accounts.family(account_id))


async def list_account_entries(books: Books, account_id: str, page: PageRequest) -> Page[Reply]:
    """List the lines posted to an account, each with its running balance.

    Raises ValidationError if both a tag and `untagged` are requested.
    """
    filters = {**page.filters}
    basis = Basis(filters.pop("basis"))
    if not filters["untagged"]:
        del filters["untagged"]
    elif "tag" in filters:
        raise ValidationError.fields(untagged=["cannot be combined with tag"])
    books.pin_snapshot()
    account = (await named(books, account_id))[0]
    asked = replace(page, filters=filters)
    return (await books.account_entries.page(account.id, asked, basis)).of(
        lambda entry: serialize_entry(account, entry)
    )


async def get_account_hierarchy(books: Books, query: Mapping[str, Any]) -> Reply:
    """Return the active accounts by type, subtype and parent."""
    year = query.get("fiscal_year")
    chart = Chart(await states_of(books, year), books.currency).active()
    return {
        "currency": books.currency,
        "fiscal_year": year,
        "total_accounts": len(chart.states),
        "hierarchy": [serialize_type(chart, kind) for kind in AccountType],
    }


async def export_accounts(books: Books, query: Mapping[str, Any]) -> Csv:
    """Export every account as CSV, archived accounts included."""
    year = query.get("fiscal_year")
    chart = Chart(await states_of(books, year), books.currency)
    name = "chart-of-accounts" if year is None else f"chart-of-accounts-{year}"
    return Csv(f"{name}.csv", COLUMNS, [cells(chart, state) for state in chart.states.values()])


async def create_account(books: Books, body: AccountCreate) -> Reply:
    """Create an account.

    If the external id is in use, the existing account is returned unchanged.
    """
    command = account_commands.create_account(body)
    lineage: Lineage = ()
    if command.parent is not None:
        lineage = await books.accounts.lineage(command.parent, hold=True)
        if not lineage:
            raise no_such_reference("account", command.parent)
    return await add(books, command, lineage)


async def create_child_account(books: Books, account_id: str, body: AccountChildCreate) -> Reply:
    """Create an account under a parent; type and subtype default to those of the parent."""
    command = account_commands.create_child_account(body)
    return await add(books, command, await named(books, account_id, hold=True))


async def update_account(books: Books, account_id: str, body: AccountUpdate) -> Reply:
    """Change the supplied fields of an account; `is_active` archives or unarchives it."""
    command = account_commands.change_account(body)
    family = await lock(books, account_id, closing=command.active is False)
    account = family.one.account
    given = said(command, "code", "name") | said(command.details)
    active = or_else(command.active, account.archived_at is None)
    changed = replace(account, **given)
    cash_flow.refuse_class_of_profit(changed)
    return put(books, family, changed, active=active)


async def archive_account(books: Books, account_id: str) -> Reply:
    """Archive an account that has no balance and no active children."""
    family = await lock(books, account_id, closing=True)
    return put(books, family, family.one.account, active=False)


async def named(books: Books, account_id: str, *, hold: bool = False) -> Lineage:
    """Read the account that a path names, and its ancestors; raises NotFound."""
    lineage = await books.accounts.lineage(account_id, hold=hold)
    if not lineage:
        raise not_found("account")
    return lineage


async def lock(books: Books, account_id: str, *, closing: bool) -> Family:
    """Lock an account and read its family; if `closing`, also wait for postings in progress."""
    if closing:
        books.run_alone()
    account, *_ = await named(books, account_id)
    return await books.accounts.lock_family(account.id, closing=closing)


def put(books: Books, family: Family, account: Account, *, active: bool) -> Reply:
    """Save an account as active or archived, and return it serialized; skip an unchanged account.

    `family` still holds the account as it was read.
    """
    chart, before = Chart(family.states, books.currency), family.one.account
    archived_at = None if active else account.archived_at or books.now
    if archived_at is not None and before.archived_at is None:
        state, own = family.one, account.currency
        left = 0 if own is None else state.currency_balance
        accounts.refuse_archiving(state.balance, chart.active_children(account.id), left)
    account = replace(account, archived_at=archived_at)
    if account == before:
        return serialize(chart, family.one)
    changed = replace(family.one, account=replace(account, updated_at=books.now))
    books.save(changed.account)
    return serialize(chart.with_state(changed), changed)


async def add(books: Books, command: CreateAccount, lineage: Lineage) -> Reply:
    """Add an account under the first of a lineage, or return the one with its external id."""
    external_id = or_none(command.details.external_id)
    if external_id is not None:
        known = await books.accounts.family_of_external_id(external_id)
        if known is not None:
            return ExistingRecord(show(books, known))
    [banked] = await books.fetch(books.bank_accounts.stood_for())
    refuse_other_currency(command.currency, books.context)
    account_type, account_subtype = kind_of(command, lineage)
    if lineage:
        accounts.refuse_unfit_parent(lineage[0], account_type, len(lineage) - 1)
    refuse_disagreeing_kind(account_type, account_subtype)
    account = Account(
        id=new_id(),
        version=1,
        created_at=books.now,
        updated_at=books.now,
        code=command.code,
        name=command.name,
        account_type=account_type,
        account_subtype=account_subtype,
        balance_behavior=command.balance_behavior,
        parent_id=lineage[0].id if lineage else None,
        **said(command.details),
    )
    cash_flow.refuse_class_of_profit(account)
    books.save(account)
    state = AccountState.untouched(account)
    above = [AccountState.untouched(each, banked=each.id in banked) for each in lineage]
    return Created(serialize(Chart([*above, state], books.currency), state))


def kind_of(command: CreateAccount, lineage: Lineage) -> tuple[str, str]:
    """Return the type and subtype of a new account; an absent subtype is that of the parent."""
    subtype = command.account_subtype
    if isinstance(subtype, Absent):
        return or_else(command.account_type, lineage[0].account_type), lineage[0].account_subtype
    return or_else(command.account_type, type_of(subtype)), subtype


def show(books: Books, family: Family) -> Reply:
    """Serialize an account with all accounts below it."""
    return serialize(Chart(family.states, books.currency), family.one)


async def states_of(books: Books, year: int | None) -> list[AccountState]:
    """Read the chart with current balances, or up to the end of the fiscal year `year`.

    With a year, profit and loss accounts have the postings of that year only. All other accounts
    also have those of all earlier years.
    """
    if year is None:
        return await books.accounts.chart()
    books.pin_snapshot()
    await books.fetch()
    first, last = businesses.fiscal_year(books.business.fiscal_year_end, date(year, 1, 1))
    ever, within = await books.fetch(
        books.accounts.chart(Period(last=last)), books.accounts.chart(Period(first, last))
    )
    return [
        own if in_profit_and_loss(own.account.account_type) else held
        for held, own in zip(ever, within, strict=True)
    ]


def period_of(asked: Mapping[str, Any]) -> Period | None:
    """Return the period of a list, given as a month or as dates; None if there is none.

    Raises ValidationError if only one of year and month is given.
    """
    year, month = asked.get("period_year"), asked.get("period_month")
    if (year is None) != (month is None):
        missing = "period_year" if year is None else "period_month"
        raise ValidationError.fields(
            **{missing: ["period_year and period_month must be given together"]}
        )
    if year is not None and month is not None:
        return calendar_month(year, month)
    if "date_from" not in asked and "date_to" not in asked:
        return None
    return Period(asked.get("date_from", date.min), asked.get("date_to", date.max))


def matches(chart: Chart, state: AccountState, asked: Mapping[str, Any]) -> bool:
    """Return whether an account meets all filters of a list."""
    account = state.account
    moved = state.movement if chart.by_period else state.balance
    parent = chart.find(asked["parent"]) if "parent" in asked else None
    words = (account.code, account.name, account.external_id or "", account.description or "")
    return all(
        (
            asked.get("account_type", account.account_type) == account.account_type,
            asked.get("account_subtype", account.account_subtype) == account.account_subtype,
            asked.get("include_zero_balance", True) or moved != 0,
            asked.get("include_archived", False) or account.archived_at is None,
            "parent" not in asked or (parent is not None and account.parent_id == parent.id),
            any(asked.get("search", "").lower() in each.lower() for each in words),
            asked.get("created_at_from", account.created_at) <= account.created_at,
            asked.get("created_at_to", account.created_at) >= account.created_at,
            asked.get("updated_at_from", account.updated_at) <= account.updated_at,
        )
    )
