"""What an entry that was written by hand moves on the account of a bank account.

The entry stands as it was posted: a line that shows its money posts nothing.
"""

from dataclasses import dataclass
from uuid import UUID

from accounting.books.manual_entries import SOURCE, ManualEntry
from accounting.errors import Conflict, RuleBroken


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryMoney:
    """What a posted entry moves on one account, above zero where it comes in.

    `linked` is what lines of that account's bank account show of it. The same entry may move money
    on another bank account, which other lines show.
    """

    id: UUID
    account_id: UUID
    amount: int
    linked: int = 0


def money_of(entry: ManualEntry, account_id: UUID, linked: int) -> EntryMoney:
    """Say what an entry moves on an account: of debits of 100 and a credit of 2 there, 98.

    Raises Conflict `system_entry` or `item_not_completed`; RuleBroken `bank_account_mismatch`.
    """
    if entry.source_type != SOURCE:
        raise Conflict(
            "system_entry",
            "The entry follows from a document. Link that one instead.",
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
            "The entry moves nothing on the account of this bank account.",
            account_id=str(account_id),
        )
    return EntryMoney(id=entry.id, account_id=account_id, amount=moves, linked=linked)
