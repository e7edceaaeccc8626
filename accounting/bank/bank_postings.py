"""The ledger movements of payouts, bank transactions and transfers; of trade: `trade.postings`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID

from accounting.bank.bank_transactions import BankTransaction, CategoryPart, signed
from accounting.bank.payouts import (
    FeeStep,
    OtherItem,
    Payout,
    fees_during,
    items_during,
    paid_days,
    total,
)
from accounting.bank.transfers import Transfer
from accounting.books.chart import Role, Roles
from accounting.books.foreign import Worth, with_base
from accounting.books.ledger import Days, Entry, Movement, Source, as_reversals, difference
from accounting.books.numbers import Number
from accounting.tax.taxed_amounts import HeldTax, net_and_taxes
from accounting.trade.postings import (
    MAIN,
    SELF_ASSESSED,
    Amount,
    during,
    exchange,
    netted,
    with_exchange,
)
from accounting.trade.translation import translated_gross

PAYOUT = "payout"
BANK_TRANSACTION = "bank_transaction"
BANK_TRANSFER = "bank_transfer"

ROUNDING = "rounding"
EXCHANGE = "exchange"
"""The streams of differences with the money of links; `MAIN` has the categorized amounts."""

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
            post = _paid_out if subject.worth is None else _paid_out_foreign
            moves = (move for stood in paid_days(subject) for move in post(subject, stood, roles))
            return netted(list(moves))
        case BankTransaction():
            differences = (*_rounded(subject, roles), *_exchanged(subject, roles))
            return [*_categorized(subject), *differences]
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
        EXCHANGE: f"exchange difference of {title}",
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
    bank = _bank_of(payout, roles)
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


def _bank_of(payout: Payout, roles: Roles) -> UUID:
    if payout.money_account_id is not None:
        return payout.money_account_id
    if payout.bank is not None:
        return payout.bank.account_id
    return payout.own_account_id or roles[Role.BANK]


def _paid_out_foreign(payout: Payout, stood: Days, roles: Roles) -> Iterator[Movement]:
    """Yield the movements of a payout in a foreign currency, for the items of each day.

    What an item that bounces changes is posted on its day: the amounts before it end there.
    """
    assert payout.worth is not None, "a foreign payout has a rate"
    others = [_other_in_base(each, payout.worth) for each in payout.other_items]
    for days, items in items_during(payout, stood):
        amounts = _foreign_amounts(payout, items, roles)
        for each in others:
            amounts += _gross(each.account_id, -each.amount, each.tax)
        yield from during(days, MAIN, with_exchange(amounts, roles))
    for each in others:
        yield from during(stood, SELF_ASSESSED, _assessed(-1 if each.amount > 0 else 1, each.tax))


def _foreign_amounts(payout: Payout, items: FeeStep, roles: Roles) -> list[Amount]:
    """Return what a foreign payout moves besides its other items.

    Items leave clearing at their own base. All else, and what stays on clearing, is worth the rate
    of the payout. USD 97.00 worth 87.30 and 48.50 worth 46.56 come as EUR 137.00: 133.86 leave.
    """
    assert payout.worth is not None, "a foreign payout has a rate"
    worth, extra = payout.worth, payout.additional_refunds
    counted = int(items.net) + int(items.amount)
    expected = counted - extra - payout.fee + total(payout.other_items)
    stays = worth.converted(payout.paid_out - expected)
    return [
        Amount(_bank_of(payout, roles), worth.whole(payout.paid_out)),
        Amount(roles[Role.PROCESSING_FEES], worth.converted(payout.fee - int(items.amount))),
        Amount(roles[Role.SALES_RETURNS], worth.converted(extra)),
        Amount(roles[Role.PROCESSOR_CLEARING], -items.net - stays),
    ]


def _other_in_base(item: OtherItem, worth: Worth) -> OtherItem:
    """Return an item of a foreign payout with base amounts, at the rate of the payout."""
    whole = Worth.of(abs(item.amount), worth.rate, worth.currency)
    [(amount, tax)] = translated_gross([(item.account_id, abs(item.amount), item.tax)], whole)
    return replace(item, amount=amount if item.amount > 0 else -amount, tax=tax)


def _categorized(transaction: BankTransaction) -> Iterator[Movement]:
    """Yield the movements of a categorization: of 12 paid, 10 on charges and 2 on interest."""
    if not transaction.categorized:
        return
    sign = 1 if signed(transaction) > 0 else -1
    stood = transaction.booked_on, None
    whole = with_base(transaction.categorized, transaction.worth)
    moved, translated = Amount(transaction.account_id, sign * whole), _translated(transaction)
    parts = [
        each
        for part in translated
        for each in _gross(part.account_id, -sign * part.amount, part.tax, part.tags)
    ]
    yield from during(stood, MAIN, (moved, *parts))
    for part in translated:
        yield from during(stood, SELF_ASSESSED, _assessed(-sign, part.tax, part.tags))


def _translated(transaction: BankTransaction) -> Sequence[CategoryPart]:
    """Return the parts of a transaction; of one in a foreign currency with base amounts."""
    if transaction.worth is None:
        return transaction.parts
    amounts = [(part.account_id, part.amount, part.tax) for part in transaction.parts]
    return [
        replace(part, amount=amount, tax=tax)
        for part, (amount, tax) in zip(
            transaction.parts, translated_gross(amounts, transaction.worth), strict=True
        )
    ]


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


def _exchanged(transaction: BankTransaction, roles: Roles) -> Iterator[Movement]:
    """Yield the exchange differences of a transaction in base with the foreign money it shows.

    If USD 98.00 were posted as 93.10 and 92.80 is received, 0.30 is a loss.
    """
    sign = 1 if signed(transaction) > 0 else -1
    for money_id, more in transaction.exchanged:
        amounts = (
            Amount(transaction.account_id, sign * more),
            exchange(-sign * more, roles, money_id),
        )
        yield from during((transaction.booked_on, None), EXCHANGE, amounts)


def _transferred(transfer: Transfer) -> Iterator[Movement]:
    """Yield a debit on the receiving account and a credit on the other.

    Both have the same amount, or between two currencies the same base.
    """
    if transfer.ended_at is not None:
        return
    arrived = transfer.amount if transfer.arrived is None else transfer.arrived
    amounts = (
        Amount(transfer.to_account_id, arrived),
        Amount(transfer.from_account_id, -transfer.amount),
    )
    yield from during((transfer.moved_on, None), MAIN, amounts)
