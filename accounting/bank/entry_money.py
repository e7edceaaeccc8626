"""The money that a manual entry moves on the ledger account of a bank account.

The entry stays as it was posted: a bank transaction that is linked with it posts nothing.
"""

from dataclasses import dataclass
from uuid import UUID

from accounting.books.manual_entries import SOURCE, ManualEntry
from accounting.errors import Conflict, RuleBroken


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMoney:
    """The amount that a posted entry moves on one account, above zero if it comes in.

    `linked` is the amount that transactions of that bank account show. The same entry may move
    money on another bank account, which other transactions show.
    """

    id: UUID
    account_id: UUID
    amount: int
    linked: int = 0


def money_of(entry: ManualEntry, account_id: UUID, linked: int) -> EntryMoney:
    """Return the money of an entry on an account: of debits of 100 and a credit of 2 there, 98.

    Raises Conflict `system_entry` or `item_not_completed`; RuleBroken `bank_account_mismatch`.
    """
    if entry.source_type != SOURCE:
        raise Conflict(
            "system_entry",
            "The entry comes from a document. Match the document instead.",
            source_type=entry.source_type,
            source_id=str(entry.source_id),
        )
    if entry.status != "approved":
        raise Conflict(
            "item_not_completed",
            "An entry that is not posted has no money at the bank.",
            current_state=entry.status,
        )
    moves = sum(line.amount for line in entry.lines if line.account_id == account_id)
    if not moves:
        raise RuleBroken(
            "bank_account_mismatch",
            "The entry does not change the account of this bank account.",
            account_id=str(account_id),
        )
    return EntryMoney(id=entry.id, account_id=account_id, amount=moves, linked=linked)
