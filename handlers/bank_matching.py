"""Bank matching: which line of a bank statement is which money, and what else a line was."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounting.bank import bank_matches, bank_transactions, match_suggestions
from accounting.bank.bank_links import Link
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.match_suggestions import Suggestion
from accounting.books.accounts import usable
from handlers.bodies import BankTransactionCategory, BankTransactionMatch, BankTransactionUnmatch
from handlers.commands import bank_commands
from handlers.results import Reply
from handlers.shared.bank_shapes import shape_bank_transaction
from handlers.shared.bank_target_locks import lock_alone, lock_to_link, put
from handlers.shared.posting import keep_banked
from persistence.bank.bank_transactions import BankTransactionRecord
from persistence.books import Books
from persistence.store import no_such_reference


async def match_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionMatch
) -> Reply:
    """Link a line with its money, which completes by that where it was on its way."""
    command = bank_commands.link_transaction(body)
    await read(books, bank_transaction_id)
    found = await lock_to_link(books, command.target_type, command.target_id)
    record, links = await lock(books, bank_transaction_id)
    roles = await books.roles()
    matched = bank_matches.match(found, record.transaction, command, roles, books.context)
    await put(books, matched)
    return show(books, record, matched.transaction, (*links, matched.link))


async def unmatch_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionUnmatch
) -> Reply:
    """Take a link back; the money stays as it is."""
    link_id = bank_commands.unlink_transaction(body)
    await read(books, bank_transaction_id)
    named = await books.bank_links.find(link_id, bank_transaction_id)
    if named is None:
        raise no_such_reference("reconciliation_link", link_id)
    found = await lock_alone(books, named.target_type, named.target_id)
    record, links = await lock(books, bank_transaction_id)
    link = next((each for each in links if each.id == link_id), None)
    if link is None:  # It ended before its target was locked.
        raise no_such_reference("reconciliation_link", link_id)
    matched = bank_matches.unmatch(found, record.transaction, link, books.context)
    await put(books, matched)
    others = [each for each in links if each.id != link_id]
    return show(books, record, matched.transaction, others)


async def suggest_matches(books: Books, bank_transaction_id: UUID) -> Reply:
    """Say what a line may be, the likeliest first."""
    books.pin_snapshot()
    record = await books.bank_transactions.get(bank_transaction_id)
    open_items = await books.open_items.near(record.transaction)
    ranked = match_suggestions.rank(record.transaction, open_items)
    return {"results": [shape_suggestion(each) for each in ranked]}


async def categorize_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionCategory
) -> Reply:
    """Post what is left of a line straight to an account."""
    command = bank_commands.categorize_transaction(body)
    named = await books.accounts.named([command.account])
    record, links = await lock(books, bank_transaction_id)
    account = usable(command.account, named.get(command.account))
    changed = bank_transactions.categorize(record.transaction, account, command.memo, books.context)
    await keep_banked(books, changed)
    return show(books, replace(record, category=account), changed, links)


async def uncategorize_bank_transaction(books: Books, bank_transaction_id: UUID) -> Reply:
    """Take what was posted straight to an account back."""
    record, links = await lock(books, bank_transaction_id)
    changed = bank_transactions.uncategorize(record.transaction, books.context)
    if changed is not record.transaction:
        await keep_banked(books, changed)
    return show(books, replace(record, category=None), changed, links)


async def read(books: Books, id: UUID) -> None:
    """Look at a line before what it meets is locked; it is locked last of all.

    Raises NotFound, and Stale where If-Match names an older one.
    """
    record = await books.bank_transactions.get(id)
    books.check_precondition(record, again=True)


async def lock(books: Books, id: UUID) -> tuple[BankTransactionRecord, tuple[Link, ...]]:
    """Lock a line, then read it with its live links; raises NotFound and Stale."""
    record, links = await books.fetch(
        books.bank_transactions.lock(id), books.bank_links.of_transactions([id])
    )
    return record, links.get(id, ())


def show(
    books: Books, before: BankTransactionRecord, after: BankTransaction, links: Iterable[Link]
) -> Reply:
    """Show a line as it is now."""
    return shape_bank_transaction(books, replace(before, transaction=after), links)


def shape_suggestion(suggestion: Suggestion) -> dict[str, Any]:
    """Show what a line may be."""
    return {
        "target_type": suggestion.target_type,
        "target_id": suggestion.target_id,
        "amount_cents": suggestion.amount,
        "score": suggestion.score,
        "reasons": list(suggestion.reasons),
    }
