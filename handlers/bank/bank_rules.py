"""Bank rules: how to categorize bank transactions that meet given conditions."""

from typing import Any
from uuid import UUID

from accounting.absent import Absent
from accounting.bank import bank_rules
from accounting.bank.bank_rules import BankRule
from accounting.bank.commands import SaveBankRule
from accounting.books.accounts import BookAccounts
from accounting.tax.day_codes import TaxReferences
from handlers.bank import bank_commands
from handlers.bodies import BankRuleCreate, BankRuleUpdate
from handlers.results import Created, Reply
from handlers.shared.responses import serialize_account
from persistence.bank.bank_rules import BankRuleRecord
from persistence.books import Books
from persistence.engine.pages import Page, PageRequest


async def create_bank_rule(books: Books, body: BankRuleCreate) -> Reply:
    """Create a bank rule."""
    command = bank_commands.save_bank_rule(body)
    await refer(books, command)
    referenced = await referenced_by(books, command)
    rule = bank_rules.make(command, referenced, books.context)
    [account] = referenced.accounts.named.values()
    return Created(save_and_serialize(books, BankRuleRecord(rule, account)))


async def list_bank_rules(books: Books, page: PageRequest) -> Page[Reply]:
    """List bank rules in the order in which they are tried."""
    return (await books.bank_rules.page(page)).of(lambda each: serialize(books, each))


async def get_bank_rule(books: Books, bank_rule_id: UUID) -> Reply:
    """Return one bank rule."""
    return serialize(books, await books.bank_rules.get(bank_rule_id))


async def update_bank_rule(books: Books, bank_rule_id: UUID, body: BankRuleUpdate) -> Reply:
    """Change the supplied fields of a bank rule."""
    command = bank_commands.save_bank_rule(body)
    await refer(books, command)
    referenced = await referenced_by(books, command)
    found = await books.bank_rules.lock(bank_rule_id)
    rule = bank_rules.amend(found.rule, command, referenced, books.context)
    account = next(iter(referenced.accounts.named.values()), found.account)
    return (
        save_and_serialize(books, BankRuleRecord(rule, account))
        if rule != found.rule
        else serialize(books, found)
    )


async def delete_bank_rule(books: Books, bank_rule_id: UUID) -> Reply:
    """Delete a bank rule; what it posted stays."""
    found = await books.bank_rules.lock(bank_rule_id)
    books.save(bank_rules.delete(found.rule, books.context))
    return {"deleted": True}


async def refer(books: Books, command: SaveBankRule) -> None:
    """Check that the customer, vendor and bank account of a rule exist.

    Raises RuleViolation `reference_not_found`.
    """
    if not isinstance(command.outcome, Absent):
        outcome = command.outcome
        await books.customers.lock_all([outcome.customer_id] if outcome.customer_id else [])
        await books.vendors.lock_all([outcome.vendor_id] if outcome.vendor_id else [])
    if not isinstance(command.conditions, Absent) and command.conditions.bank_account_id:
        await books.bank_accounts.lock_all([command.conditions.bank_account_id])


async def referenced_by(books: Books, command: SaveBankRule) -> TaxReferences:
    """Load the account that a rule names, and the tax codes where it names one."""
    taxed = not isinstance(command.outcome, Absent) and command.outcome.tax_code is not None
    named, codes = await books.fetch(
        books.accounts.named(bank_rules.account_references(command)),
        books.tax_codes.for_use(needed=taxed),
    )
    return TaxReferences(BookAccounts(await books.roles(), named), codes)


def save_and_serialize(books: Books, record: BankRuleRecord) -> Reply:
    """Save a rule, and return it serialized."""
    books.save(record.rule)
    return serialize(books, record)


def serialize(books: Books, record: BankRuleRecord) -> dict[str, Any]:
    """Serialize a bank rule."""
    rule = record.rule
    return {
        "id": rule.id,
        "business_id": books.business_id,
        "name": rule.name,
        "priority": rule.priority,
        "conditions": {
            "text": rule.text,
            "direction": rule.direction,
            "min_amount_cents": rule.min_amount,
            "max_amount_cents": rule.max_amount,
            "bank_account_id": rule.bank_account_id,
        },
        "result": {
            "account": serialize_account(record.account),
            "tax_code_id": rule.tax_code_id,
            **serialize_party(rule),
        },
        "apply": rule.apply,
        "created_at": rule.created_at,
        "updated_at": rule.updated_at,
    }


def serialize_party(rule: BankRule) -> dict[str, Any]:
    """Serialize the customer, vendor and memo that a rule gives to a matching line."""
    return {"customer_id": rule.customer_id, "vendor_id": rule.vendor_id, "memo": rule.memo}
