"""Bank accounts, bank transactions, bank rules, reconciliations and payouts."""

from dataclasses import dataclass
from itertools import starmap
from typing import Any, cast
from uuid import UUID

from accounting.absent import ABSENT, Absent, for_each, or_else, or_none, present
from accounting.bank.commands import (
    BankAccountDetails,
    BankRuleConditions,
    BankRuleOutcome,
    CategoryGiven,
    CreateBankAccount,
    LinkTransaction,
    OtherItemGiven,
    ReconcileStatement,
    SaveBankRule,
    SavePayout,
    TransferTransaction,
)
from accounting.bank.line_identities import Line
from accounting.bank.transfers import TRANSFER
from accounting.books.record_rates import GivenWorth
from accounting.files.uploads import Upload
from handlers.bodies import (
    BankAccountCreate,
    BankAccountUpdate,
    BankFileFormat,
    BankFileMapping,
    BankReconciliationCreate,
    BankRuleConditionsInput,
    BankRuleCreate,
    BankRuleResultInput,
    BankRuleUpdate,
    BankSplitInput,
    BankTransactionCategory,
    BankTransactionForm,
    BankTransactionImport,
    BankTransactionLine,
    BankTransactionMatch,
    BankTransactionUnmatch,
    PayoutCreate,
    PayoutOtherItemInput,
)
from handlers.shared.account_commands import any_account
from handlers.shared.foreign_amounts import given_worth
from handlers.shared.responses import RETURN
from libraries.bank_files import Columns


@dataclass(frozen=True, slots=True)
class ImportLines:
    """The lines of a statement of a bank account."""

    bank_account_id: UUID
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ImportFile:
    """A file of a bank account as its bank wrote it; `columns` is the mapping of a CSV.

    `statement_account` is the account whose statements are imported, if the caller chooses it.
    """

    bank_account_id: UUID
    content: bytes
    format: BankFileFormat | None
    columns: Columns | None
    statement_account: str | None = None


def create_bank_account(body: BankAccountCreate) -> CreateBankAccount:
    """Parse a new bank account."""
    named = body["account"]
    return CreateBankAccount(
        display_name=body["display_name"],
        currency=or_none(body["currency"]),
        account=None if isinstance(named, Absent) else any_account(named),
        details=_details(body),
    )


def change_bank_account(body: BankAccountUpdate) -> BankAccountDetails:
    """Parse changes to a bank account."""
    return _details(body)


def import_statement(
    body: BankTransactionImport | BankTransactionForm,
) -> ImportLines | ImportFile:
    """Parse a statement sent as JSON, or as a bank's file in a form."""
    form = cast(BankTransactionForm, body)
    upload: Any = form["file"]  # JSON has none.
    if isinstance(upload, Upload):
        mapping = form["mapping"]
        return ImportFile(
            present(form["bank_account_id"]),
            upload.content,
            or_none(form["format"]),
            None if isinstance(mapping, Absent) else columns_of(mapping),
            or_none(form["statement_account"]),
        )
    sent = cast(BankTransactionImport, body)
    lines = tuple(map(_line, sent["transactions"]))
    return ImportLines(present(sent["bank_account_id"]), lines)


def columns_of(mapping: BankFileMapping) -> Columns:
    """Parse the column mapping of a CSV; each attribute is named like its field."""
    return Columns(
        date=mapping["date"],
        amount=or_none(mapping["amount"]),
        direction=or_none(mapping["direction"]),
        credit=or_none(mapping["credit"]),
        debit=or_none(mapping["debit"]),
        fee=or_none(mapping["fee"]),
        account=or_none(mapping["account"]),
        currency=or_none(mapping["currency"]),
        description=or_none(mapping["description"]),
        counterparty_name=or_none(mapping["counterparty_name"]),
        reference=or_none(mapping["reference"]),
        external_id=or_none(mapping["external_id"]),
        date_format=or_none(mapping["date_format"]),
        decimal_comma=or_none(mapping["decimal_comma"]),
    )


def link_transaction(body: BankTransactionMatch) -> LinkTransaction | TransferTransaction:
    """Parse the target of a bank transaction, and the amount to match."""
    amount, memo = or_none(body["amount_cents"]), or_none(body["memo"])
    target_amount = or_none(body["target_amount_cents"])
    target_id = or_none(body["target_id"])
    if body["target_type"] == TRANSFER:
        there = or_none(body["bank_account_id"])
        return TransferTransaction(
            other_id=target_id,
            bank_account_id=there,
            amount=amount,
            target_amount=target_amount,
            memo=memo,
        )
    assert target_id is not None, "all but a transfer names its target"
    return LinkTransaction(
        target_type=body["target_type"],
        target_id=target_id,
        amount=amount,
        target_amount=target_amount,
        memo=memo,
        back=body["of"] == RETURN,
    )


def unlink_transaction(body: BankTransactionUnmatch) -> UUID:
    """Return the id of the link to remove."""
    return body["reconciliation_link_id"]


def categorize_transaction(
    body: BankTransactionCategory,
) -> tuple[tuple[CategoryGiven, ...], GivenWorth]:
    """Parse the categories of a bank transaction, and its exchange rate.

    It has one account for all of it, or parts.
    """
    splits, account = body["splits"], body["account"]
    rate = given_worth(body["exchange_rate"])
    if not isinstance(splits, Absent):
        return tuple(starmap(_split, enumerate(splits))), rate
    assert not isinstance(account, Absent), "a line without parts has an account"
    tags = tuple(or_else(body["tags"], ()))
    return (CategoryGiven(any_account(account), memo=or_none(body["memo"]), tags=tags),), rate


def save_bank_rule(body: BankRuleCreate | BankRuleUpdate) -> SaveBankRule:
    """Parse a new bank rule, or changes to one."""
    conditions, result = body["conditions"], body["result"]
    return SaveBankRule(
        name=body["name"],
        priority=body["priority"],
        conditions=conditions if isinstance(conditions, Absent) else _conditions(conditions),
        outcome=result if isinstance(result, Absent) else _outcome(result),
        apply=body["apply"],
    )


def reconcile_statement(body: BankReconciliationCreate) -> ReconcileStatement:
    """Parse the date and closing balance of a bank statement."""
    return ReconcileStatement(body["statement_date"], body["closing_balance_cents"])


def save_payout(body: PayoutCreate) -> SavePayout:
    """Parse a new payout, or changes to one."""
    return SavePayout(
        processor=body["processor"],
        paid_out=body["paid_out_amount_cents"],
        external_id=or_none(body["external_id"]),
        processor_payout_id=body["processor_payout_id"],
        fee=body["fee_cents"],
        additional_refunds=body["additional_refunds_amount_cents"],
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        status=body["status"],
        completed_at=body["completed_at"],
        bank_account_id=body["bank_account_id"],
        imported_at=body["imported_at"],
        payment_ids=_ids(body["payment_ids"]),
        refund_payment_ids=_ids(body["refund_payment_ids"]),
        other_items=for_each(body["other_items"], _other_item),
        reference_number=body["reference_number"],
        memo=body["memo"],
        metadata=body["metadata"],
    )


def _other_item(place: int, item: PayoutOtherItemInput) -> OtherItemGiven:
    named = item["account"]
    return OtherItemGiven(
        kind=item["type"],
        amount=item["amount_cents"],
        account=None if isinstance(named, Absent) else any_account(named),
        description=or_none(item["description"]),
        external_id=or_none(item["external_id"]),
        payment_id=or_none(item["payment_id"]),
        tax_code=or_none(item["tax_code"]),
        place=f"other_items.{place}",
    )


def _details(body: BankAccountCreate | BankAccountUpdate) -> BankAccountDetails:
    return BankAccountDetails(
        display_name=body["display_name"],
        iban=body["iban"],
        mask=body["mask"],
        institution_name=body["institution_name"],
        external_id=body["external_id"],
    )


def _line(item: BankTransactionLine) -> Line:
    return Line(
        booked_on=item["date"],
        amount=item["amount_cents"],
        direction=item["direction"],
        external_id=or_none(item["external_id"]),
        currency=or_none(item["currency"]),
        description=or_none(item["description"]),
        counterparty_name=or_none(item["counterparty_name"]),
        reference=or_none(item["reference"]),
    )


def _ids(given: list[UUID] | Absent) -> tuple[UUID, ...] | Absent:
    return ABSENT if isinstance(given, Absent) else tuple(given)


def _split(place: int, item: BankSplitInput) -> CategoryGiven:
    return CategoryGiven(
        any_account(item["account"]),
        item["amount_cents"],
        or_none(item["memo"]),
        or_none(item["tax_code"]),
        f"splits.{place}",
        tuple(or_else(item["tags"], ())),
    )


def _conditions(item: BankRuleConditionsInput) -> BankRuleConditions:
    return BankRuleConditions(
        text=or_none(item["text"]),
        direction=or_none(item["direction"]),
        min_amount=or_none(item["min_amount_cents"]),
        max_amount=or_none(item["max_amount_cents"]),
        bank_account_id=or_none(item["bank_account_id"]),
    )


def _outcome(item: BankRuleResultInput) -> BankRuleOutcome:
    return BankRuleOutcome(
        account=any_account(item["account"]),
        tax_code=or_none(item["tax_code"]),
        customer_id=or_none(item["customer_id"]),
        vendor_id=or_none(item["vendor_id"]),
        memo=or_none(item["memo"]),
    )
