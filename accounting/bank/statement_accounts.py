"""Accounts of statements: whether a statement belongs to a bank account.

The number of a statement's account is an IBAN, a national number such as 37040044/0532013000, or
that of a card. It is compared with the IBAN and the mask of the bank account.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from accounting.bank.bank_accounts import BankAccount
from accounting.errors import RuleViolation

_IBAN = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", re.ASCII)
_CURRENCY = re.compile(r"[\s/]*[A-Z]{3}$", re.ASCII)
_HIDDEN = re.compile(r"[*#\u2022]|XX", re.IGNORECASE)
_FEW = 4  # Fewer characters than these identify no account.


@dataclass(frozen=True, slots=True)
class StatementChoice:
    """The accounts of a request whose lines are imported, and those that a caller left out.

    `refused` are the accounts that are another one than the bank account.
    """

    refused: frozenset[str]
    left_out: frozenset[str] = frozenset()


def choose_statements(
    numbers: Collection[str], bank_account: BankAccount, chosen: str | None
) -> StatementChoice:
    """Decide which statements of a file belong to a bank account.

    Statements of another account are refused. If a number cannot be compared, it is accepted where
    it is the only one. Raises RuleViolation `statement_account_unclear` for several such numbers,
    or for a chosen number that is not in the file.
    """
    if chosen is not None:
        return _as_chosen(numbers, bank_account, chosen)
    fits = {number: belongs(number, bank_account) for number in numbers}
    refused = {number for number, fit in fits.items() if fit is False}
    unclear = {number for number, fit in fits.items() if fit is None}
    if any(fits.values()):
        return StatementChoice(frozenset(refused | unclear))
    if len({_compact(number) for number in unclear}) > 1:
        raise _unclear(
            numbers, "The file has statements of several accounts. Name one in statement_account."
        )
    return StatementChoice(frozenset(refused))


def _as_chosen(numbers: Collection[str], bank_account: BankAccount, chosen: str) -> StatementChoice:
    wanted = {number for number in numbers if _compact(number) == _compact(chosen)}
    if not wanted:
        raise _unclear(numbers, "The file has no statement of the account in statement_account.")
    # A caller may know better than a comparison of numbers, except of two IBANs.
    other = bank_account.iban is not None and _compact(chosen) != bank_account.iban
    refused = wanted if other and _IBAN.fullmatch(_compact(chosen)) else set()
    return StatementChoice(frozenset(refused), frozenset(numbers) - frozenset(wanted))


def _unclear(numbers: Collection[str], words: str) -> RuleViolation:
    return RuleViolation("statement_account_unclear", words, accounts=sorted(numbers)[:100])


def belongs(number: str, bank_account: BankAccount) -> bool | None:
    """Return whether a statement's account is a bank account; None if they cannot be compared.

    The number 37040044/0532013000 is the account DE89 3704 0044 0532 0130 00.
    """
    compact = _compact(number)
    if _HIDDEN.search(number):
        return _same_end(compact, bank_account.iban or bank_account.mask)
    if bank_account.iban is not None:
        if _IBAN.fullmatch(compact):
            return compact == bank_account.iban
        within = _within_iban(number, bank_account.iban)
        if within is not None:
            return within
    return _same_end(compact, bank_account.mask)


def _within_iban(number: str, iban: str) -> bool | None:
    """Return whether the parts of a national number are in an IBAN; None for a short number."""
    parts = re.findall(r"[A-Z0-9]+", _CURRENCY.sub("", number.upper()), re.ASCII)
    told = [part.lstrip("0") for part in parts if any(map(str.isdigit, part))]
    if sum(map(len, told)) < _FEW:
        return None
    inside = iban[4:]
    return "".join(parts) in inside or all(part in inside for part in told)


def _same_end(one: str, other: str | None) -> bool | None:
    """Return whether the last digits of two numbers agree; None if too few are visible."""
    shown, known = _visible_end(one), _visible_end(other or "")
    size = min(len(shown), len(known))
    if size < _FEW - 1:
        return None
    return shown[-size:] == known[-size:]


def _visible_end(number: str) -> str:
    """Return the digits at the end of a number, after hidden ones: ****5555 gives 5555."""
    return number[len(number.rstrip("0123456789")) :]


def _compact(number: str) -> str:
    """Return a number as it is compared: capitals without spaces, signs and the currency."""
    upper = number.upper()
    bare = re.sub(r"[^A-Z0-9*]", "", upper)
    return re.sub(r"[^A-Z0-9*]", "", _CURRENCY.sub("", upper)) if bare[:2].isdigit() else bare
