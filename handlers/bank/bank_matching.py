"""Bank matching: links between bank transactions and payments, and categories of the rest."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from access.links import Links
from accounting.bank import bank_matches, bank_rules, bank_transactions, match_suggestions
from accounting.bank.bank_links import Link
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import TransferTransaction
from accounting.bank.match_suggestions import Combination, Suggestion
from accounting.bank.transfers import TRANSFER
from accounting.books.accounts import BookAccounts
from accounting.tax.day_codes import TaxReferences
from handlers.bank import bank_commands, bank_transfers
from handlers.bank.bank_responses import serialize_bank_transaction
from handlers.bank.bank_target_locks import lock_alone, lock_to_link, put
from handlers.bank.bank_transfers import LineWithLinks
from handlers.bodies import BankTransactionCategory, BankTransactionMatch, BankTransactionUnmatch
from handlers.results import Reply
from handlers.shared.posting import save_and_post_banked
from handlers.shared.responses import movement, serialize_account
from persistence.bank.bank_rules import BankRuleRecord
from persistence.bank.bank_transactions import BankTransactionRecord, NamedAccount
from persistence.books import Books
from persistence.store import no_such_reference


async def match_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionMatch, links: Links
) -> Reply:
    """Match a bank transaction with a payment, payout, journal entry or transfer.

    A pending target completes once it is linked in full.
    """
    command = bank_commands.link_transaction(body)
    line = await read(books, bank_transaction_id)
    if isinstance(command, TransferTransaction):
        moved = await bank_transfers.match(books, bank_transaction_id, command)
        return await show_moved(books, moved, links)
    found = await lock_to_link(books, line, command)
    record, made = await lock(books, bank_transaction_id)
    roles = await books.roles()
    matched = await books.with_rates(
        partial(bank_matches.match, found, record.transaction, command, roles)
    )
    await put(books, matched)
    return show(books, record, matched.transaction, (*made, matched.link), links)


async def unmatch_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionUnmatch, links: Links
) -> Reply:
    """Remove a match from a bank transaction; the matched payment keeps its status."""
    link_id = bank_commands.unlink_transaction(body)
    line = await read(books, bank_transaction_id)
    named = live(await books.bank_links.find(link_id, bank_transaction_id), link_id)
    if named.target_type == TRANSFER:
        moved = await bank_transfers.unmatch(books, bank_transaction_id, named)
        return await show_moved(books, moved, links)
    found = await lock_alone(books, line, named.target_type, named.target_id)
    record, made = await lock(books, bank_transaction_id)
    # Another request may have ended the link before its target was locked.
    link = live(next((each for each in made if each.id == link_id), None), link_id)
    matched = bank_matches.unmatch(found, record.transaction, link, books.context)
    await put(books, matched)
    others = [each for each in made if each.id != link_id]
    return show(books, record, matched.transaction, others, links)


async def suggest_matches(books: Books, bank_transaction_id: UUID) -> Reply:
    """List possible matches of a bank transaction, best first, and the bank rule that fits."""
    books.pin_snapshot()
    record = await books.bank_transactions.get(bank_transaction_id)
    line = record.transaction
    open_items, rules = await books.fetch(books.open_items.near(line), books.bank_rules.all())
    ranked = match_suggestions.rank(line, open_items)
    combined = match_suggestions.combine(line, open_items)
    return {
        "results": [serialize_suggestion(each) for each in ranked],
        "combinations": [serialize_combination(each) for each in combined],
        "rule": serialize_rule(line, rules),
    }


async def categorize_bank_transaction(
    books: Books, bank_transaction_id: UUID, body: BankTransactionCategory, links: Links
) -> Reply:
    """Post the remaining amount of a bank transaction to one account, or split over several."""
    parts, rate = bank_commands.categorize_transaction(body)
    named, codes = await books.fetch(
        books.accounts.named({each.account for each in parts}),
        books.tax_codes.for_use(needed=any(each.tax_code for each in parts)),
    )
    record, made = await lock(books, bank_transaction_id)
    referenced = TaxReferences(BookAccounts(await books.roles(), named), codes)
    changed = await books.with_rates(
        lambda context: bank_transactions.categorize(
            record.transaction, parts, referenced, context, rate
        )
    )
    await save_and_post_banked(books, changed)
    accounts = {each.id: NamedAccount(each.id, each.code, each.name) for each in named.values()}
    return show(books, replace(record, accounts=accounts), changed, made, links)


async def uncategorize_bank_transaction(
    books: Books, bank_transaction_id: UUID, links: Links
) -> Reply:
    """Undo the categorization of a bank transaction."""
    record, made = await lock(books, bank_transaction_id)
    changed = bank_transactions.uncategorize(record.transaction, books.context)
    if changed is not record.transaction:
        await save_and_post_banked(books, changed)
    return show(books, record, changed, made, links)


def live(link: Link | None, id: UUID) -> Link:
    """Return the link that a body names; raises RuleViolation `reference_not_found`."""
    if link is None:
        raise no_such_reference("reconciliation_link", id)
    return link


async def read(books: Books, id: UUID) -> BankTransaction:
    """Read a bank transaction without a lock, since it is locked after its targets.

    Raises NotFound, and Stale where If-Match names an older version.
    """
    record = await books.bank_transactions.get(id)
    books.check_precondition(record, again=True)
    return record.transaction


async def lock(books: Books, id: UUID) -> tuple[BankTransactionRecord, tuple[Link, ...]]:
    """Lock a bank transaction, then read it with its live links and its document.

    Raises NotFound and Stale.
    """
    record, made, stored = await books.fetch(
        books.bank_transactions.lock(id),
        books.bank_links.of_transactions([id]),
        books.files.latest([id]),
    )
    return replace(record, document=stored.get(id)), made.get(id, ())


def show(
    books: Books,
    before: BankTransactionRecord,
    after: BankTransaction,
    made: Iterable[Link],
    links: Links,
) -> Reply:
    """Serialize a bank transaction after a change."""
    return serialize_bank_transaction(books, replace(before, transaction=after), made, links)


async def show_moved(books: Books, moved: LineWithLinks, links: Links) -> Reply:
    """Serialize a line of a transfer after a change."""
    stored = await books.files.latest([moved.record.id])
    record = replace(moved.record, document=stored.get(moved.record.id))
    return serialize_bank_transaction(books, record, moved.links, links)


def serialize_suggestion(suggestion: Suggestion) -> dict[str, Any]:
    """Serialize a suggested match."""
    return {
        "target_type": suggestion.target_type,
        "target_id": suggestion.target_id,
        "of": movement(back=suggestion.back),
        "amount_cents": suggestion.amount,
        "score": suggestion.score,
        "reasons": list(suggestion.reasons),
    }


def serialize_combination(combination: Combination) -> dict[str, Any]:
    """Serialize several items that a bank transaction shows together."""
    return {
        "targets": [
            {
                "target_type": each.target_type,
                "target_id": each.target_id,
                "amount_cents": each.amount,
            }
            for each in combination.items
        ],
        "party_name": combination.items[0].party_name,
        "score": combination.score,
        "reasons": list(combination.reasons),
    }


def serialize_rule(line: BankTransaction, rules: Sequence[BankRuleRecord]) -> dict[str, Any] | None:
    """Serialize the first bank rule that fits, for the remaining amount; None without one."""
    if line.categorized or not bank_transactions.remaining(line):
        return None
    rule = bank_rules.first_fitting([each.rule for each in rules], line)
    if rule is None:
        return None
    part = bank_rules.part_of(rule, line)
    [account] = [each.account for each in rules if each.id == rule.id]
    return {
        "rule_id": rule.id,
        "name": rule.name,
        "account": serialize_account(account),
        "amount_cents": part.amount,
        "customer_id": part.customer_id,
        "vendor_id": part.vendor_id,
        "memo": part.memo,
    }
