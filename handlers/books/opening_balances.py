"""Opening balances: account balances and open items on a day, created and reversed together."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.chart import Roles
from accounting.books.ledger import summed
from accounting.opening import opening_changes, openings
from accounting.opening.openings import (
    OpenedBooks,
    OpenedWith,
    Opening,
    Tie,
    accounts_shown,
    refuse_untied,
    status,
    ties,
    totals,
)
from accounting.trade.credits import CreditLine
from accounting.trade.documents import LineItem
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from handlers.bodies import JournalEntryReversal, OpeningBalanceCreate
from handlers.books import journal_commands, opening_commands
from handlers.results import Created, Reply
from handlers.shared import responses
from handlers.shared.posting import save_and_post
from handlers.shared.responses import serialize_rate
from handlers.trade.document_responses import names_of
from persistence.books import Books, Trade
from persistence.engine.pages import Page, PageRequest

# Serialization of opening balances.


Line = TypeVar("Line", LineItem, CreditLine)


def summarize(books: Books, opening: Opening, roles: Roles) -> dict[str, Any]:
    """Serialize an opening balance for a list."""
    total = totals(opening, roles)
    return {
        "id": opening.id,
        "business_id": books.business_id,
        "date": opening.opened_on,
        "status": status(opening),
        "currency": opening.currency,
        "memo": opening.memo,
        "total_debits_cents": total.debits,
        "total_credits_cents": total.credits,
        "total_debit": total.debits,
        "total_credit": total.credits,
        "difference_cents": total.difference,
        "opening_balance_equity_cents": total.equity,
        **_documented(opening, RECEIVABLE, "receivables_cents", "customer"),
        **_documented(opening, PAYABLE, "payables_cents", "vendor"),
        "reversed_at": opening.reversed_at,
        "created_at": opening.created_at,
        "updated_at": opening.updated_at,
    }


def serialize(
    books: Books, opened: OpenedBooks, accounts: Mapping[UUID, Account], roles: Roles
) -> dict[str, Any]:
    """Serialize an opening balance with its account balances and all its records."""
    opening, sales, purchases = opened.opening, opened.sales, opened.purchases
    found = ties(opening, accounts, roles)
    return {
        **summarize(books, opening, roles),
        "ties": not any(tie.difference for tie in found),
        "warnings": _warnings(books, opened),
        "accounts": [
            _serialize_account(accounts[id_], amount)
            for id_, amount in sorted(opening.stated.items(), key=lambda at: accounts[at[0]].code)
        ],
        "control_accounts": [_serialize_tie(tie) for tie in found],
        "invoices": list(_serialize_documents(RECEIVABLE, sales)),
        "bills": list(_serialize_documents(PAYABLE, purchases)),
        "customer_credits": list(_serialize_credits(RECEIVABLE, sales)),
        "vendor_credits": list(_serialize_credits(PAYABLE, purchases)),
        "prepayments": [
            *_serialize_payments(RECEIVABLE, sales),
            *_serialize_payments(PAYABLE, purchases),
        ],
    }


def _warnings(books: Books, opened: OpenedBooks) -> responses.Warnings:
    """Warn of a distant opening, and of the due days of its invoices and bills."""
    context = books.context
    told = responses.of_distant_days(context, date=opened.opening.opened_on)
    for trade, mine in ((books.sales, opened.sales), (books.purchases, opened.purchases)):
        for place, each in enumerate(mine.documents):
            field = f"{trade.side.words.document}s.{place}.due_at"
            issued = {names_of(trade.side).issue_date: each.issue_date}
            told += responses.of_distant_days(context, **{field: each.due_at})
            told += responses.of_early_due_day(context, field, each.due_at, **issued)
    return told[: responses.MOST_TOLD]


def _documented(opening: Opening, side: Side, owed: str, party: str) -> dict[str, int]:
    """Return the totals of a side's documents, each amount positive."""
    held = opening.documented
    return {
        owed: abs(held[side.control]),
        f"{party}_credits_cents": abs(held[side.credits]),
        f"{party}_prepayments_cents": abs(held[side.prepayments]),
    }


def _serialize_account(account: Account, amount: int) -> dict[str, Any]:
    return {
        "account": _named(account),
        "debit_amount": max(amount, 0),
        "credit_amount": max(-amount, 0),
    }


def _serialize_tie(tie: Tie) -> dict[str, Any]:
    return {
        "account": _named(tie.account),
        "stated_cents": tie.stated,
        "documented_cents": tie.documented,
        "difference_cents": tie.difference,
    }


def _named(account: Account) -> dict[str, Any]:
    return {"id": account.id, "code": account.code, "name": account.name}


def _serialize_documents(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.documents:
        yield {
            "id": each.id,
            side.names.number: each.number,
            "external_id": each.external_id,
            side.names.party_id: each.party.id,
            "currency": each.currency,
            "outstanding_amount_cents": each.total_amount,
            "tax": _serialize_taxes((line, line.net, line.tax_total) for line in each.lines),
            **_serialize_nets((line, line.net) for line in each.lines),
        }


def _serialize_credits(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.credits:
        yield {
            "id": each.id,
            side.names.credit_number: each.number,
            "external_id": each.external_id,
            side.names.party_id: each.party.id,
            "currency": each.currency,
            "unapplied_amount_cents": each.total_amount,
            "tax": _serialize_taxes((line, line.amount, line.tax_amount) for line in each.lines),
            **_serialize_nets((line, line.amount) for line in each.lines),
        }


def _serialize_taxes(lines: Iterable[tuple[Line, int, int]]) -> list[dict[str, Any]]:
    """Serialize net and tax by tax code; a record without tax has one line without a code."""
    sums: dict[tuple[UUID, Decimal | None], list[int]] = {}
    for line, net, tax in lines:
        if line.tax_code_id is not None:
            held = sums.setdefault((line.tax_code_id, line.tax_rate), [0, 0])
            held[:] = held[0] + net, held[1] + tax
    return [
        {
            "tax_code_id": code_id,
            "tax_rate": serialize_rate(rate),
            "net_cents": net,
            "tax_cents": tax,
        }
        for (code_id, rate), (net, tax) in sums.items()
    ]


def _serialize_nets(lines: Iterable[tuple[Line, int]]) -> dict[str, Any]:
    """Serialize the nets by the account that a record names; no field if it names no account."""
    nets = summed((line.account_id, net) for line, net in lines if line.opened_against is not None)
    shown = [{"account_id": id_, "net_cents": net} for id_, net in nets.items()]
    return {"accounts": shown} if shown else {}


def _serialize_payments(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.payments:
        yield {
            "id": each.id,
            "external_id": each.external_id,
            "customer_id": None,
            "vendor_id": None,
            side.names.party_id: each.party.id,
            "currency": each.currency,
            "unapplied_amount_cents": each.total,
        }


# Opening balances with all their records: locked, saved and posted together.


async def save_and_post_opened(books: Books, opened: OpenedBooks) -> None:
    """Save an opening balance with its documents, credits and payments, and post all of them."""
    opening, roles = opened.opening, await books.roles()
    books.save(opening)
    books.post(openings.entries_for(opening, roles, books.lock_date))
    for trade, mine in ((books.sales, opened.sales), (books.purchases, opened.purchases)):
        await save_and_post(trade, *mine.documents, *mine.credits, *mine.payments)


async def lock_opened(books: Books, opening: Opening) -> OpenedBooks:
    """Lock all records of an opening balance that is locked; their list never changes."""
    sales = await _lock(books.sales, opening)
    return OpenedBooks(opening, sales, await _lock(books.purchases, opening))


async def read_opened(books: Books, opening: Opening) -> OpenedBooks:
    """Read all records of an opening balance."""
    sales = await _read(books.sales, opening)
    return OpenedBooks(opening, sales, await _read(books.purchases, opening))


async def _read(trade: Trade, opening: Opening) -> OpenedWith:
    documents, credits, payments = await _brought(trade, opening)
    read = await trade.books.fetch(
        trade.documents.by_ids(documents),
        trade.credits.by_ids(credits),
        trade.payments.by_ids(payments),
    )
    return OpenedWith(*(tuple(sorted(each, key=lambda one: one.id)) for each in read))


async def _lock(trade: Trade, opening: Opening) -> OpenedWith:
    """Lock the records of one side in the lock order; also read the documents, to post them."""
    documents, credits, payments = await _brought(trade, opening)
    paid, credited, _, owed = await trade.books.fetch(
        trade.payments.lock_all(payments),
        trade.credits.lock_all(credits),
        trade.documents.lock_all(documents),
        trade.documents.by_ids(documents),
    )
    owed.sort(key=lambda one: one.id)
    return OpenedWith(tuple(owed), tuple(credited.values()), tuple(paid.values()))


async def _brought(trade: Trade, opening: Opening) -> list[list[UUID]]:
    """Return the ids of the documents, credits and payments of one side."""
    tables = (trade.documents.table, trade.credits.table, trade.payments.table)
    return await trade.books.opening_balances.brought(opening.id, tables)


async def create_opening_balance(books: Books, body: OpeningBalanceCreate, preview: bool) -> Reply:
    """Create the opening balances of a day, all or nothing.

    A preview returns the differences on control accounts, which are refused otherwise.
    """
    command, roles = opening_commands.open_books(body), await books.roles()
    named, codes, customers, vendors = await books.fetch(
        books.accounts.named(opening_changes.account_references(command, roles)),
        books.tax_codes.for_use(needed=opening_changes.names_codes(command)),
        books.customers.all_named(command.sales.parties),
        books.vendors.all_named(command.purchases.parties),
    )
    known = opening_changes.OpeningContext(roles, named, codes, customers, vendors)
    made = await books.with_rates(partial(opening_changes.open_books, command, known))
    accounts = {account.id: account for account in named.values()}
    if not preview:
        refuse_untied(made.opening, ties(made.opening, accounts, roles), roles)
    await save_and_post_opened(books, made)
    return Created(serialize(books, made, accounts, roles))


async def list_opening_balances(books: Books, page: PageRequest) -> Page[Reply]:
    """List opening balances without their documents and payments."""
    roles = await books.roles()
    found = await books.opening_balances.page(page)
    return found.of(lambda opening: summarize(books, opening, roles))


async def get_opening_balance(books: Books, opening_balance_id: UUID) -> Reply:
    """Return one opening balance with its documents and payments."""
    books.pin_snapshot()
    opening = await books.opening_balances.get(opening_balance_id)
    return await _show(books, await read_opened(books, opening))


async def reverse_opening_balance(
    books: Books, opening_balance_id: UUID, body: JournalEntryReversal | None
) -> Reply:
    """Reverse an opening balance with its documents and payments, while none of them is settled."""
    opening = await books.opening_balances.lock(opening_balance_id)
    opening_changes.refuse_reversing(opening)
    opened, on = await lock_opened(books, opening), journal_commands.reversed_on(body)
    reversed_ = opening_changes.reverse(opened, on, books.context)
    await save_and_post_opened(books, reversed_)
    return await _show(books, reversed_)


async def _show(books: Books, opened: OpenedBooks) -> Reply:
    """Serialize an opening balance with the accounts that it names."""
    roles = await books.roles()
    named = await books.accounts.named(accounts_shown(opened.opening, roles), hold=False)
    accounts: dict[UUID, Account] = {account.id: account for account in named.values()}
    return serialize(books, opened, accounts, roles)
