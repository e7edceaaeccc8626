"""Desired postings of documents and money: a pure function of their state and its dates.

Each subject yields its movements, with the day on which each begins and ends. A movement that has
ended is reversed on its end day. `accounting.books.ledger` compares the result with the entries
already posted.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.foreign import ForeignAmount, currency_of, in_base, share_of, with_base
from accounting.books.ledger import (
    Days,
    Entry,
    Movement,
    Part,
    Source,
    Split,
    TaxMark,
    added,
    as_reversals,
    days,
    difference,
    negative,
    summed,
    times_sign,
)
from accounting.books.time_zones import stored_day
from accounting.tax.taxed_amounts import Tax
from accounting.trade import credits, documents, refunds
from accounting.trade.credits import Credit
from accounting.trade.documents import Document, opened_on
from accounting.trade.payments import Payment, applied_days, completion_days
from accounting.trade.refunds import (
    Refund,
    RefundAllocation,
    RefundPayment,
    SplitByTarget,
    VendorRefund,
    VendorRefundPayment,
)
from accounting.trade.sides import Side
from accounting.trade.write_offs import WriteOff, written_off_days

# Amounts to be posted, as movements on the days on which they begin and end.


MAIN = "main"
FEE = "fee"
APPLIED = "applied"
SELF_ASSESSED = "self_assessed"

_Place = tuple[
    date, str, UUID, UUID | None, TaxMark | None, UUID | None, tuple[str, ...], str | None
]


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount for an account, with the document it settles and the split of the settlement.

    Both have their base if they are of a foreign record.
    `about` and `tags` as on a movement.
    """

    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    tax: TaxMark | None = None
    about: UUID | None = None
    tags: tuple[str, ...] = ()


def of_tax(tax: Tax, amount: int) -> Amount:
    """Create an amount for the account of a tax, with the tax's mark."""
    return Amount(tax.account_id, amount, tax=tax.mark)


def of_part(part: Part, amount: int, about: UUID | None = None) -> Amount:
    """Create an amount for the account of a part, with the part's tax mark."""
    return Amount(part.account_id, amount, tax=part.tax, about=about)


def with_exchange(
    amounts: Iterable[Amount], roles: Roles, about: UUID | None = None
) -> list[Amount]:
    """Add what foreign amounts lack to balance in base: an exchange gain, or a loss.

    USD 100.00 that bring 95.00 and settle 90.00 of receivables gain 5.00.
    """
    balanced = list(amounts)
    if any(isinstance(each.amount, ForeignAmount) for each in balanced):
        lacking = -sum(in_base(each.amount) for each in balanced)
        if lacking:
            balanced.append(exchange(lacking, roles, about))
    return balanced


def exchange(difference: int, roles: Roles, about: UUID | None = None) -> Amount:
    """Return a difference in base on its account: a debit is a loss, a credit a gain."""
    role = Role.EXCHANGE_LOSSES if difference > 0 else Role.EXCHANGE_GAINS
    return Amount(roles[role], difference, about=about)


def during(stood: Days, stream: str, amounts: Iterable[Amount]) -> Iterator[Movement]:
    """Yield a movement of each amount on the first day, and its reversal on the end day."""
    begin, end = stood
    for each in amounts:
        moved = Movement(
            begin,
            stream,
            each.account_id,
            each.amount,
            each.settles,
            each.split,
            each.tax,
            each.about,
            each.tags,
        )
        yield moved
        if end is not None:
            yield replace(moved, on=end, amount=-each.amount, split=negative(each.split))


def netted(movements: list[Movement]) -> list[Movement]:
    """Net the movements with the same day, stream, account and references.

    Only the unapplied amount is then posted to 2100.
    """
    met: dict[_Place, Movement] = {}
    for move in movements:
        refers = move.settles, move.tax, move.about, move.tags, currency_of(move.amount)
        place = move.on, move.stream, move.account_id, *refers
        first = met.get(place)
        met[place] = move if first is None else _joined(first, move)
    return list(met.values())


def _joined(first: Movement, second: Movement) -> Movement:
    return replace(
        first, amount=first.amount + second.amount, split=added(first.split, second.split)
    )


Subject = Document | Payment | WriteOff | Credit | Refund | RefundPayment
"""Everything that posts."""


def entries_for(side: Side, subject: Subject, roles: Roles, lock_date: date | None) -> list[Entry]:
    """Return the entries to post for a subject, given the entries already posted for it.

    A subject that is void, reversed or cancelled, with nothing applied to it, is reversed by linked
    entries, one for each posted entry. Every other change is a plain entry.
    """
    posted = subject.posted
    assert posted is not None, "all of it would be posted a second time"
    entries = difference(_source(side, subject), desired(side, subject, roles), posted, lock_date)
    return as_reversals(entries, posted) if _is_undone(subject) else entries


def desired(side: Side, subject: Subject, roles: Roles) -> list[Movement]:
    """Return all movements that a subject requires in the ledger, from its first day on."""
    match subject:
        case Document():
            return list(_document(side, subject, roles))
        case Payment():
            return netted([*_money(side, subject, roles), *_applications(side, subject, roles)])
        case WriteOff():
            return list(_write_off(side, subject, roles))
        case Credit():
            return [*_credit(side, subject, roles), *_credit_applied(side, subject, roles)]
        case Refund():
            return netted(list(_refund(side, subject, roles)))
        case RefundPayment():
            return netted(list(_refund_payment(side, subject, roles)))


def _is_undone(subject: Subject) -> bool:
    match subject:
        case Document() | Credit():
            return subject.state == "void"
        case Payment():
            return subject.status == "cancelled" and not any(a.split for a in subject.allocations)
        case WriteOff():
            return subject.reversed_at is not None
        case Refund() | RefundPayment():
            return subject.cancelled_at is not None


def _source(side: Side, subject: Subject) -> Source:
    words = side.words
    about: dict[UUID, UUID] = {}
    agreed = frozenset({MAIN})
    match subject:
        case Document():
            source, title, reference = side.document_source, words.document_title, subject.number
        case Payment():
            source, title = side.payment_source, words.payment_title
            reference, agreed = subject.external_id, frozenset()
        case WriteOff():
            about = {subject.id: subject.document_id}
            article = "an" if words.document_title[0] in "aeiou" else "a"
            source = side.write_off_source
            title = f"write-off of {article} {words.document_title}"
            reference = subject.document_number
        case Credit():
            source, title, reference = side.credit_source, words.credit_title, subject.number
        case Refund():
            source, title = side.refund_source, words.refund_title
            reference = subject.reference_number or subject.external_id
            if not _is_by_target(subject):
                about = _standing_for(subject.id, refunds.about(subject))
        case RefundPayment():
            source, title = side.refund_payment_source, words.refund_payment_title
            reference, agreed = subject.external_id, frozenset()
            if not _is_by_target(subject):
                about = _standing_for(subject.refund_id, subject.about)
    title = f"{title} {subject.party.name}"
    applied = "settled by its own lines" if isinstance(subject, Document) else "applied"
    titles = {
        MAIN: title,
        FEE: f"fee of {title}",
        APPLIED: f"{title}, {applied}",
        SELF_ASSESSED: f"self-assessed tax of {title}",
    }
    return Source(source, subject.id, reference, titles, about, agreed)


def _standing_for(refund_id: UUID, target_id: UUID | None) -> dict[UUID, UUID]:
    """Map a refund to its only target; the map is empty if there is no single target."""
    return {} if target_id is None else {refund_id: target_id}


def _is_by_target(subject: Refund | RefundPayment) -> bool:
    """Return whether each part of a refund, or of its payment, is attributed to its target."""
    match subject:
        case VendorRefund():
            return subject.by_target
        case VendorRefundPayment():
            return bool(subject.shares)
    return False


def _document(side: Side, document: Document, roles: Roles) -> Iterator[Movement]:
    """Yield the claim and the amounts of lines, and self-assessed tax.

    A total of 0 is settled when the document opens, so its lines then count on both bases.
    """
    if document.opened_at is None or not documents.is_posted(document):
        return
    stood = days(opened_on(document), documents.voided_on(document), opened_on(document))
    claim = Amount(
        roles[side.control], side.sign * with_base(document.total_amount, document.worth)
    )
    if document.opening_id is not None:
        before = _from_before(document, documents.parts(document), -side.sign)
        yield from during(stood, MAIN, (claim, before))
        return
    stream = MAIN if document.total_amount else APPLIED
    yield from during(stood, stream, (claim, *_of_lines(side, document, roles)))
    owed = [tax for line in document.lines for tax in line.self_assessed]
    yield from during(stood, SELF_ASSESSED, (of_tax(tax, tax.amount) for tax in owed))


def _of_lines(side: Side, document: Document, roles: Roles) -> Iterator[Amount]:
    """Yield the amounts of lines and taxes, and discounts on the side's discount account."""
    discounts = summed((line.net_mark, line.discount_share) for line in document.lines)
    for line in document.lines:
        lessened = line.discount_share
        if side.discount is not None:
            of_code = discounts.pop(line.net_mark, 0)
            yield Amount(roles[side.discount], side.sign * of_code, tax=line.net_mark)
            lessened = 0
        yield Amount(line.account_id, side.sign * (lessened - line.subtotal), tax=line.net_mark)
        for tax in line.taxes:
            yield of_tax(tax, -side.sign * tax.amount)
        for tax in line.withheld:
            yield of_tax(tax, side.sign * tax.amount)


def _money(side: Side, payment: Payment, roles: Roles) -> Iterator[Movement]:
    """Yield the money and its fee, for each period in which the payment was completed."""
    money = _money_account(side, payment, roles)
    total = side.sign * payment.whole
    fee = share_of(payment.whole, payment.fee)
    for stood in completion_days(payment):
        amounts = (Amount(money, total), Amount(roles[side.prepayments], -total))
        yield from during(stood, MAIN, amounts)
        yield from _fee(side, stood, FEE, fee, money, roles)


def _money_account(side: Side, money: Payment | RefundPayment, roles: Roles) -> UUID:
    """Return the account of the money: of its bank line, else of the bank account that it names.

    Otherwise the payment method decides, and foreign money may have an account of its own in place
    of the bank's.

    Money of a payment from the opening is included in a balance that was entered with it, so its
    account is opening balance equity.
    """
    if isinstance(money, Payment) and money.opening_id is not None:
        return roles[Role.OPENING_BALANCE_EQUITY]
    if money.money_account_id is not None:
        return money.money_account_id
    if money.bank is not None:
        return money.bank.account_id
    if money.own_account_id is not None:
        return money.own_account_id
    return roles[side.money(money.method, money.processor)]


def _applications(side: Side, payment: Payment, roles: Roles) -> Iterator[Movement]:
    """Yield the movements from prepayments to the settled documents, and their reversals."""
    for each in payment.allocations:
        if not each.split:
            continue
        amounts = with_exchange(
            (
                Amount(roles[side.prepayments], side.sign * each.amount),
                _settling(side, roles, each.document_id, each.settles, each.split),
            ),
            roles,
            each.document_id,
        )
        for stood in applied_days(payment, each):
            yield from during(stood, MAIN, amounts)


def _write_off(side: Side, write_off: WriteOff, roles: Roles) -> Iterator[Movement]:
    """Yield the write-off, and the relieved tax on the account of the tax."""
    relieved = [of_part(part, side.sign * share) for part, share in write_off.relieved]
    settled = _settling(side, roles, write_off.document_id, write_off.amount, write_off.split)
    given_up = -sum((each.amount for each in relieved), start=settled.amount)
    amounts = (Amount(write_off.account_id, given_up), *relieved, settled)
    yield from during(written_off_days(write_off), MAIN, amounts)


def _credit(side: Side, credit: Credit, roles: Roles) -> Iterator[Movement]:
    if credit.opened_at is None:
        return
    on = credits.opened_on(credit)
    stood = days(on, stored_day(credit.voided_on, credit.voided_at), on)
    total = with_base(credit.total_amount, credit.worth)
    taken = Amount(roles[side.credits], -side.sign * total)
    if credit.opening_id is not None:
        before = _from_before(credit, credits.parts(credit), side.sign)
        yield from during(stood, MAIN, (before, taken))
        return
    charged = [part for line in credit.lines for part in line.charged]
    amounts = [of_part(part, side.sign * share) for part, share in charged]
    yield from during(stood, MAIN, (*amounts, taken))
    assessed = [tax for line in credit.lines for tax in line.self_assessed]
    yield from during(stood, SELF_ASSESSED, (of_tax(tax, tax.amount) for tax in assessed))


def _credit_applied(side: Side, credit: Credit, roles: Roles) -> Iterator[Movement]:
    """Yield the movements from the credit to the documents it settles, and their reversals."""
    for each in credit.allocations:
        amounts = with_exchange(
            (
                _using(side, roles, credit.id, each.amount, each.own_split),
                _settling(side, roles, each.document_id, each.amount, each.split),
            ),
            roles,
            each.document_id,
        )
        yield from during(credits.applied_days(credit, each), APPLIED, amounts)


def _refund(side: Side, refund: Refund, roles: Roles) -> Iterator[Movement]:
    """Yield the refund claim and the accounts it comes from; unallocated amounts are on suspense.

    An amount kept as a credit is not a claim: it is removed from the claim and from suspense. A
    credit that is paid out is used up, by the parts that the refund has. Where a refund is posted
    by target, the claim on an allocated amount is attributed to its target (`about`), and the rest
    to the refund. A foreign refund is always allocated in full, and its claim has the base of what
    it gives back.
    """
    claim, waiting = roles[side.refunds], roles[Role.SUSPENSE]
    total = side.sign * refund.amount
    end = stored_day(refund.cancelled_on, refund.cancelled_at)
    stood = days(refund.agreed_on, end, refund.agreed_on)
    if not refund.is_foreign:
        yield from during(stood, MAIN, (Amount(claim, -total), Amount(waiting, total)))
    for each in refund.allocations:
        target_id = each.target_id if _is_by_target(refund) else None
        if refund.is_foreign:
            amounts = _given_back_foreign(side, each, target_id, roles)
        else:
            amounts = _given_back(side, each, target_id, roles)
            amounts.append(Amount(waiting, -side.sign * each.amount))
        stood = refunds.agreed_days(refund, each)
        yield from during(stood, MAIN, amounts)
        assessed = (of_part(part, share, target_id) for part, share in each.self_assessed)
        yield from during(stood, SELF_ASSESSED, assessed)


def _given_back(
    side: Side, allocation: RefundAllocation, target_id: UUID | None, roles: Roles
) -> list[Amount]:
    """Return the amounts of one allocation; with a target, the claim is attributed to it."""
    claim, amount = roles[side.refunds], side.sign * allocation.amount
    if allocation.kind == "credit":
        return [Amount(claim, amount)]
    amounts = []
    if target_id is not None:
        amounts = [Amount(claim, -amount, about=target_id), Amount(claim, amount)]
    return [*amounts, *_taken_of_target(side, allocation, target_id, roles)]


def _given_back_foreign(
    side: Side, allocation: RefundAllocation, target_id: UUID | None, roles: Roles
) -> list[Amount]:
    """Return the claim on a foreign allocation and what it takes; a kept credit is no claim."""
    if allocation.kind == "credit":
        return []
    amount = side.sign * _with_base_of(allocation.split, allocation.amount)
    claim = Amount(roles[side.refunds], -amount, about=target_id)
    return [claim, *_taken_of_target(side, allocation, target_id, roles)]


def _taken_of_target(
    side: Side, allocation: RefundAllocation, target_id: UUID | None, roles: Roles
) -> list[Amount]:
    if allocation.kind == "refunded_credit":
        return [_using(side, roles, allocation.target_id, allocation.amount, allocation.split)]
    split = times_sign(allocation.split, side.sign)
    return [of_part(part, share, target_id) for part, share in split]


def _refund_payment(side: Side, payment: RefundPayment, roles: Roles) -> Iterator[Movement]:
    """Yield the money and what it settles, for each period in which it was completed.

    The amount may differ between periods.
    """
    money = _money_account(side, payment, roles)
    stream = MAIN if side.refund_fee_within else FEE
    fee = share_of(payment.whole, payment.fee)
    settling = zip(
        refunds.completion_days(payment),
        payment.splits,
        _settling_refund(side, payment, roles),
        strict=True,
    )
    for stood, split, settled in settling:
        # The current period posts the amount: integrity checks then detect a split that differs.
        standing = stood[1] is None
        amount = payment.amount if standing else sum(int(part) for _, part in split)
        moved = Amount(money, -side.sign * _moved(payment, amount))
        yield from during(stood, MAIN, with_exchange((*settled, moved), roles))
        yield from _fee(side, stood, stream, fee, money, roles)


def _moved(payment: RefundPayment, amount: int) -> int:
    """Return the amount of a period with its base: at the rate, if it is not the amount of now."""
    if payment.worth is None:
        return amount
    return payment.whole if amount == payment.amount else payment.worth.converted(amount)


def _settling_refund(side: Side, payment: RefundPayment, roles: Roles) -> Iterator[list[Amount]]:
    """Yield, for each completed period, the amounts of the refund claim that a payment settles.

    Where a refund is posted by target, each part is attributed to its target, and the unallocated
    part to the payment.
    """
    shares: Iterable[SplitByTarget] = [((None, split),) for split in payment.splits]
    unallocated = None
    if isinstance(payment, VendorRefundPayment) and payment.shares:
        shares, unallocated = refunds.shares_of(payment), payment.id
    for by_target in shares:
        amounts = []
        for target_id, split in by_target:
            own, about = times_sign(split, side.sign), target_id or unallocated
            amount = sum(part for _, part in own)
            amounts.append(Amount(roles[side.refunds], amount, payment.refund_id, own, about=about))
        yield amounts


def _settling(side: Side, roles: Roles, document_id: UUID, amount: int, split: Split) -> Amount:
    """Return the amount that settles a document on its control account."""
    settled = -side.sign * _with_base_of(split, amount)
    return Amount(roles[side.control], settled, document_id, times_sign(split, -side.sign))


def _with_base_of(split: Split, amount: int) -> int:
    """Return an amount with the base of its split; of a plain split it is unchanged."""
    total = sum(each for _, each in split)
    if not isinstance(total, ForeignAmount):
        return amount
    return ForeignAmount(amount, total.base, total.currency)


def _from_before(opened: Document | Credit, parts: Mapping[Part, int], sign: int) -> Amount:
    """Return the amount of an opening document or credit, all on opening balance equity.

    Its split lists its parts by tax code. The amount itself has no tax mark: its tax was declared
    elsewhere, so its posting is in no tax return of these books.
    """
    coded = any(part.tax is not None for part in parts)
    split = tuple((part, amount) for part, amount in parts.items() if amount) if coded else ()
    [equity] = {line.opened_against or line.account_id for line in opened.lines}
    return Amount(equity, sign * sum(parts.values()), split=times_sign(split, sign))


def _using(side: Side, roles: Roles, credit_id: UUID, amount: int, own_split: Split) -> Amount:
    """Return the amount that uses up a credit, with the used parts of the credit."""
    used = side.sign * _with_base_of(own_split, amount)
    return Amount(roles[side.credits], used, credit_id, times_sign(own_split, side.sign))


def _fee(
    side: Side, stood: Days, stream: str, fee: int, money: UUID, roles: Roles
) -> Iterator[Movement]:
    yield from during(stood, stream, (Amount(roles[side.fee], fee), Amount(money, -fee)))
