"""Chart of accounts: every account with its balance, as a list and as a tree."""

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from accounting import accounts, businesses, outline
from accounting.accounts import Account
from accounting.chart import SUBTYPES, refuse_disagreeing_kind, type_of
from accounting.errors import Malformed
from accounting.occasion import refuse_other_currency
from handlers._charts import Chart, shape, shape_node
from handlers.bodies import AccountChildCreate, AccountCreate, AccountUpdate
from handlers.replies import Created, Reply
from persistence.accounts import AccountState
from persistence.books import Books
from persistence.identifiers import new_id
from persistence.pages import Page, PageRequest, page_of
from persistence.store import no_such_reference

Period = tuple[date | None, date | None]


async def list_accounts(books: Books, page: PageRequest) -> Page[Reply]:
    """List accounts, each with the accounts under it and its balances."""
    period = period_of(page.filters)
    states = await books.accounts.chart(*period)
    chart = Chart(states, books.currency, by_period=period != (None, None))
    chosen = [state for state in states if matches(chart, state, page.filters)]
    shown = page_of(chosen, page, lambda state, name: str(getattr(state.account, name)), "code")
    return shown.of(lambda state: shape(chart, state))


async def get_account(books: Books, account_id: str) -> Reply:
    """Read one account by id, code or external id."""
    chart = Chart(await books.accounts.chart(), books.currency)
    return shape(chart, chart.named(account_id))


async def get_account_hierarchy(books: Books, query: Mapping[str, Any]) -> Reply:
    """Read the active accounts by type, subtype and parent."""
    year, until = query.get("fiscal_year"), None
    if year is not None:
        await books.ask()
        _, until = businesses.fiscal_year(books.business.fiscal_year_end, date(year, 1, 1))
    chart = Chart(await books.accounts.chart(None, until), books.currency).active()
    return {
        "currency": books.currency,
        "fiscal_year": year,
        "total_accounts": len(chart.states),
        "hierarchy": {
            kind.value: {subtype: branches(chart, subtype) for subtype in subtypes}
            for kind, subtypes in SUBTYPES.items()
        },
    }


async def create_account(books: Books, body: AccountCreate) -> Reply:
    """Create an account; one with this external id is answered as it is."""
    chart = Chart(await books.accounts.chart(), books.currency)
    parent = named_parent(chart, body["parent_id"]) if "parent_id" in body else None
    return add(books, chart, dict(body), parent)


async def create_child_account(books: Books, account_id: str, body: AccountChildCreate) -> Reply:
    """Create an account under another one, of its type and subtype unless told otherwise."""
    chart = Chart(await books.accounts.chart(), books.currency)
    parent = chart.named(account_id)
    inherited = {
        "account_type": parent.account.account_type,
        "account_subtype": parent.account.account_subtype,
    }
    if "account_subtype" in body:
        inherited["account_type"] = type_of(body["account_subtype"])
    return add(books, chart, {**inherited, **body}, parent)


async def update_account(books: Books, account_id: str, body: AccountUpdate) -> Reply:
    """Change the supplied fields of an account; `is_active` archives it or brings it back."""
    chart, found = await lock(books, account_id)
    given: dict[str, Any] = {name: value for name, value in body.items() if name != "is_active"}
    active = body.get("is_active", found.account.archived_at is None)
    changed = replace(found, account=replace(found.account, **given))
    return close(books, chart, changed, active=active)


async def archive_account(books: Books, account_id: str) -> Reply:
    """Archive an account without a balance and without active children."""
    chart, found = await lock(books, account_id)
    return close(books, chart, found, active=False)


async def lock(books: Books, account_id: str) -> tuple[Chart, AccountState]:
    """Lock an account, which waits for the postings under way on it, then read the whole chart."""
    named = Chart(await books.accounts.chart(), books.currency).named(account_id)
    found, states = await books.ask(books.accounts.lock(named.id), books.accounts.chart())
    return Chart(states, books.currency), found


def close(books: Books, chart: Chart, state: AccountState, *, active: bool) -> Reply:
    """Save an account as active or archived, and show it; where nothing changes, nothing is saved.

    `chart` still holds the account as it was read.
    """
    archived_at = None if active else state.account.archived_at or books.now
    if archived_at is not None and state.account.archived_at is None:
        accounts.refuse_archiving(state.balance, chart.active_children(state.id))
    account = replace(state.account, archived_at=archived_at)
    if account == chart.states[state.id].account:
        return shape(chart, state)
    closed = replace(state, account=replace(account, updated_at=books.now))
    books.save(closed.account)
    return shape(chart.with_state(closed), closed)


def add(books: Books, chart: Chart, given: dict[str, Any], parent: AccountState | None) -> Reply:
    """Add an account to the chart, or answer the one that has its external id already."""
    external_id = given.get("external_id")
    for state in chart.states.values():
        if external_id is not None and state.account.external_id == external_id:
            return shape(chart, state)
    refuse_other_currency(given.pop("currency", None), books.occasion)
    if parent is not None:
        level = chart.outline.level(parent.id)
        outline.refuse_unfit_parent(parent.account, given["account_type"], level)
    refuse_disagreeing_kind(given["account_type"], given["account_subtype"])
    fixed = {"parent_id": parent.id if parent else None, "created_at": books.now}
    account = Account(id=new_id(), version=1, updated_at=books.now, **{**given, **fixed})
    books.save(account)
    state = AccountState.untouched(account)
    return Created(shape(chart.with_state(state), state))


def named_parent(chart: Chart, reference: str) -> AccountState:
    """Find the parent a body names; raises RuleBroken `reference_not_found`."""
    found = chart.find(reference)
    if found is None:
        raise no_such_reference("account", reference)
    return found


def branches(chart: Chart, subtype: str) -> list[dict[str, Any]]:
    """Show the roots of a subtype with everything under them."""
    roots = chart.under(None)
    return [shape_node(chart, root) for root in roots if root.account.account_subtype == subtype]


def period_of(asked: Mapping[str, Any]) -> Period:
    """Read the period of a list: a month, or dates; None where there is no such end.

    Raises Malformed where only one of year and month is given.
    """
    year, month = asked.get("period_year"), asked.get("period_month")
    if (year is None) != (month is None):
        missing = "period_year" if year is None else "period_month"
        raise Malformed.fields(**{missing: ["is required beside the other one"]})
    if year is not None and month is not None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return asked.get("date_from"), asked.get("date_to")


def matches(chart: Chart, state: AccountState, asked: Mapping[str, Any]) -> bool:
    """Tell whether an account is one of those that a list asks for."""
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
            asked.get("created_at_gte", account.created_at) <= account.created_at,
            asked.get("created_at_lte", account.created_at) >= account.created_at,
            asked.get("updated_since", account.updated_at) <= account.updated_at,
        )
    )
