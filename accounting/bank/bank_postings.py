"""The ledger movements of payouts, bank transactions and transfers; of trade: `trade.postings`."""

from collections.abc import Iterator
from datetime import date
from uuid import UUID

from accounting.bank.bank_transactions import BankTransaction, signed
from accounting.bank.payouts import Payout, fees_during, paid_days
from accounting.bank.transfers import Transfer
from accounting.books.chart import Role, Roles
from accounting.books.ledger import Days, Entry, Movement, Source, as_reversals, difference
from accounting.books.numbers import Number
from accounting.tax.taxed_amounts import HeldTax, net_and_taxes
from accounting.trade.postings import MAIN, SELF_ASSESSED, Amount, during, netted

PAYOUT = "payout"
BANK_TRANSACTION = "bank_transaction"
BANK_TRANSFER = "bank_transfer"

ROUNDING = "rounding"
"""The stream of rounding differences; `MAIN` has the categorized amounts."""

Banked = Payout | BankTransaction | Transfer
"""The records of a bank that post; none of them has a side."""


def entries_for(subject: Banked, roles: Roles, lock_date: date | None) -> list[Entry]:
    """Return the entries to post for a subject, given what was posted for it before.

    What was deleted, or is no longer categorized or rounded, is undone by linked reversals.
    """
    entries = difference(_source(subject), desired(subject, roles), subject.posted, lock_date)
    return as_reversals(entries, subject.posted) if _is_undone(subject) else entries


def desired(subject: Banked, roles: Roles) -> list[Movement]:
    """Return all movements that a payout, bank transaction or transfer needs in the ledger."""
    match subject:
        case Payout():
            moves = (
                move for stood in paid_days(subject) for move in _paid_out(subject, stood, roles)
            )
            return netted(list(moves))
        case BankTransaction():
            return [*_categorized(subject), *_rounded(subject, roles)]
        case Transfer():
            return list(_transferred(subject))


def _is_undone(subject: Banked) -> bool:
    match subject:
        case Payout():
            return subject.status in ("failed", "cancelled")
        case BankTransaction():
            return not (subject.categorized and subject.rounding)
        case Transfer():
            return subject.ended_at is not None


def _source(subject: Banked) -> Source:
    match subject:
        case Payout():
            kind, title, reference = PAYOUT, f"payout from {subject.processor}", _named(subject)
        case BankTransaction():
            party = f" {subject.counterparty_name}" if subject.counterparty_name else ""
            kind, title, reference = BANK_TRANSACTION, f"bank transaction{party}", subject.reference
        case Transfer():
            kind, title, reference = BANK_TRANSFER, "transfer between bank accounts", None
    titles = {
        MAIN: title,
        ROUNDING: f"rounding difference of {title}",
        SELF_ASSESSED: f"self-assessed tax of {title}",
    }
    return Source(kind, subject.id, reference, titles)


def _named(payout: Payout) -> Number:
    """Return the reference of a payout; a deleted one keeps the reference that was posted."""
    own = payout.reference_number or payout.external_id or payout.processor_payout_id
    return own or next((entry.reference for entry in payout.posted), None)


def _paid_out(payout: Payout, stood: Days, roles: Roles) -> Iterator[Movement]:
    """Yield the movements of the amount paid out, the fee, unrecorded refunds, and other items.

    If 920,000 is paid out with a fee of 30,000, of which the items bore 10,000, then 920,000 goes
    to the bank and 20,000 to fees, and 940,000 leaves clearing. A chargeback of 5,000 leaves
    clearing, too, as a cost.
    """
    named = roles[Role.BANK] if payout.bank is None else payout.bank.account_id
    bank = payout.money_account_id or named
    clearing, fees = roles[Role.PROCESSOR_CLEARING], roles[Role.PROCESSING_FEES]
    taken = payout.paid_out + payout.fee + payout.additional_refunds
    amounts = (
        Amount(bank, payout.paid_out),
        Amount(fees, payout.fee),
        Amount(roles[Role.SALES_RETURNS], payout.additional_refunds),
        Amount(clearing, -taken),
    )
    yield from during(stood, MAIN, amounts)
    for each in payout.other_items:
        other = (*_gross(each.account_id, -each.amount, each.tax), Amount(clearing, each.amount))
        yield from during(stood, MAIN, other)
        yield from during(stood, SELF_ASSESSED, _assessed(-1 if each.amount > 0 else 1, each.tax))
    _, end = stood
    for on, borne in fees_during(payout, stood):
        yield from during((on, end), MAIN, (Amount(fees, -borne), Amount(clearing, borne)))


def _categorized(transaction: BankTransaction) -> Iterator[Movement]:
    """Yield the movements of a categorization: of 12 paid, 10 on charges and 2 on interest."""
    if not transaction.categorized:
        return
    sign = 1 if signed(transaction) > 0 else -1
    stood = transaction.booked_on, None
    moved = Amount(transaction.account_id, sign * transaction.categorized)
    parts = [
        each
        for part in transaction.parts
        for each in _gross(part.account_id, -sign * part.amount, part.tax, part.tags)
    ]
    yield from during(stood, MAIN, (moved, *parts))
    for part in transaction.parts:
        yield from during(stood, SELF_ASSESSED, _assessed(-sign, part.tax, part.tags))


def _gross(
    account_id: UUID, amount: int, held: HeldTax | None, tags: tuple[str, ...] = ()
) -> Iterator[Amount]:
    """Yield the net of a gross amount, and the tax in it on the account of the tax."""
    sign = 1 if amount > 0 else -1
    for account, share, mark in net_and_taxes(abs(amount), account_id, held):
        yield Amount(account, sign * share, tax=mark, tags=tags)


def _assessed(sign: int, held: HeldTax | None, tags: tuple[str, ...] = ()) -> list[Amount]:
    """Return the self-assessed tax that is due and recovered; `sign` is -1 for incoming money."""
    taxes = () if held is None else held.self_assessed
    return [Amount(each.account_id, sign * each.amount, tax=each.mark, tags=tags) for each in taxes]


def _rounded(transaction: BankTransaction, roles: Roles) -> Iterator[Movement]:
    """Yield the movements of a rounding: if 99.98 is received for 100.00, 0.02 is a loss."""
    amount = transaction.rounding if signed(transaction) > 0 else -transaction.rounding
    if amount:
        amounts = Amount(transaction.account_id, amount), Amount(roles[Role.ROUNDING], -amount)
        yield from during((transaction.booked_on, None), ROUNDING, amounts)


def _transferred(transfer: Transfer) -> Iterator[Movement]:
    """Yield a debit on the receiving account and a credit on the other, both of the amount."""
    if transfer.ended_at is not None:
        return
    amounts = (
        Amount(transfer.to_account_id, transfer.amount),
        Amount(transfer.from_account_id, -transfer.amount),
    )
    yield from during((transfer.moved_on, None), MAIN, amounts)
