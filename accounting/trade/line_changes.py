"""Changes of the lines of documents and credits that leave their amounts, codes and rates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from accounting.absent import said
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.ledger import TaxPart
from accounting.errors import RuleViolation, ValidationError
from accounting.tax.taxed_amounts import Tax
from accounting.trade.commands import ChangeDocument, ChangeLine
from accounting.trade.credits import CreditLine
from accounting.trade.documents import LineItem

L = TypeVar("L", LineItem, CreditLine)

_DETAILS = ("description", "product", "external_id", "memo", "tags", "metadata")


def account_references(command: ChangeDocument) -> frozenset[AccountReference]:
    """List the accounts that the changes of lines name, so that they can be loaded first."""
    return frozenset(line.account for line in command.lines if line.account is not None)


def changed_lines(
    lines: Sequence[L], changes: Iterable[ChangeLine], accounts: BookAccounts
) -> tuple[L, ...]:
    """Return the lines with their changes.

    Raises ValidationError `validation_error` if a line is named twice; RuleViolation
    `reference_not_found` or `control_account`; Conflict `account_archived`.
    """
    wanted = _by_id(changes)
    known = {line.id for line in lines}
    unknown = next((id_ for id_ in wanted if id_ not in known), None)
    if unknown is not None:
        raise RuleViolation(
            "reference_not_found",
            "The document has no such line.",
            resource="line_item",
            reference=str(unknown),
        )
    return tuple(
        _changed(line, wanted[line.id], accounts) if line.id in wanted else line for line in lines
    )


def on_other_accounts(before: Iterable[L], after: Iterable[L]) -> bool:
    """Return whether any line has another account than before."""
    pairs = zip(before, after, strict=True)
    return any(old.account_id != new.account_id for old, new in pairs)


def _by_id(changes: Iterable[ChangeLine]) -> Mapping[UUID, ChangeLine]:
    wanted: dict[UUID, ChangeLine] = {}
    faults = {}
    for each in changes:
        if each.id in wanted:
            faults[f"{each.place}.id"] = ["repeats the line of an earlier item"]
        wanted[each.id] = each
    if faults:
        raise ValidationError.fields(**faults)
    return wanted


def _changed(line: L, change: ChangeLine, accounts: BookAccounts) -> L:
    details: dict[str, Any] = said(change, *_DETAILS)
    account_id = named_or(line.account_id, change.account, accounts)
    return replace(
        line,
        account_id=account_id,
        taxes=_moved(line.taxes, account_id),
        self_assessed=_moved(line.self_assessed, account_id),
        **details,
    )


def _moved(taxes: tuple[Tax, ...], account_id: UUID) -> tuple[Tax, ...]:
    """Return taxes of a line on another account: tax that is not recovered is cost on it."""
    return tuple(
        replace(tax, account_id=account_id)
        if tax.mark is not None and tax.mark.part is TaxPart.BLOCKED
        else tax
        for tax in taxes
    )
