"""Settlement of a filed return: the tax that it declares moves from its accounts to VAT due.

A return over output tax of 20.00 and input tax of 12.00 debits 2200 with 20.00, credits 1300 with
12.00, and leaves 8.00 on 2230, where the payment to the authority belongs. What the form rounds
goes to 6400.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.ledger import Entry, Movement, Source, TaxPart, difference
from accounting.tax.codes import TaxCodes
from accounting.tax.returns import TaxReturn

SETTLEMENT: Final = "tax_return"
STREAM: Final = "main"
TITLE: Final = "settlement of the tax return"

TAXES: Final = frozenset({TaxPart.OUTPUT, TaxPart.INPUT, TaxPart.WITHHELD, TaxPart.RELIEF})
"""The parts that are tax on a tax account; nets and blocked tax are income and cost."""

Amounts = Mapping[UUID, int]
"""Amounts by account, debits above zero."""


@dataclass(frozen=True, slots=True)
class DeclaredTax:
    """The tax of a code that a return declares, by the account it is on; a debit above zero."""

    code_id: UUID
    account_id: UUID
    amount: int


def settlement(
    declared: Iterable[DeclaredTax],
    rounding: int,
    settled: Iterable[Amounts],
    codes: TaxCodes,
    roles: Roles,
) -> Amounts:
    """Return the amounts that settle a return, less those that earlier versions `settled`.

    If 101.40 is owed and the form says 101.30, `rounding` is 10: 101.30 goes to VAT due, and 0.10
    to rounding differences. The tax of opening documents is on equity when it is declared, and was
    opened on the account of its code, so it leaves that account.
    """
    equity = roles[Role.OPENING_BALANCE_EQUITY]
    own = {each.id: each.tax_account_id for each in codes.codes}
    moves: dict[UUID, int] = defaultdict(int)
    for each in declared:
        account = own[each.code_id] if each.account_id == equity else each.account_id
        moves[account] -= each.amount
        moves[roles[Role.TAX_DUE]] += each.amount
    moves[roles[Role.TAX_DUE]] += rounding
    moves[roles[Role.ROUNDING]] -= rounding
    for earlier in settled:
        for account, amount in earlier.items():
            moves[account] -= amount
    return {account: amount for account, amount in moves.items() if amount}


def desired(filed: TaxReturn) -> list[Movement]:
    """Return the movements that a return needs: those of its settlement, if it has one."""
    return [
        Movement(filed.end_date, STREAM, account, amount)
        for account, amount in (filed.settlement or {}).items()
    ]


def entries_for(filed: TaxReturn, lock_date: date | None) -> list[Entry]:
    """Return the entry that settles a return on its last day, else on the day after the lock."""
    source = Source(SETTLEMENT, filed.id, filed.reference, {STREAM: TITLE})
    return difference(source, desired(filed), filed.posted, lock_date)
