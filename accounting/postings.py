"""What documents and payments want in the ledger: a pure function of their state and its dates."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from uuid import UUID

from accounting.chart import Role, money_role
from accounting.documents import Document, opened_on
from accounting.ledger import Entry, Movement, Source, as_reversals, difference
from accounting.payments import Payment, applied_days, completion_days
from accounting.sides import Side

MAIN = "main"
FEE = "fee"

Roles = Mapping[Role, UUID]


def entries_for(
    side: Side, subject: Document | Payment, roles: Roles, lock_date: date | None
) -> list[Entry]:
    """Work out what is to be posted for a document or payment, given what was posted before.

    A void document, and a cancelled payment that never settled anything, are taken back by linked
    reversals, one for one; every other change is a plain entry.
    """
    desires = desired(side, subject, roles)
    entries = difference(_source(side, subject), desires, subject.posted, lock_date)
    return as_reversals(entries, subject.posted) if _taken_back(subject) else entries


def desired(side: Side, subject: Document | Payment, roles: Roles) -> list[Movement]:
    """Say everything that a document or payment wants in the ledger, from its first day on."""
    if isinstance(subject, Document):
        return list(_document_movements(side, subject, roles))
    movements = [*_money(side, subject, roles), *_applications(side, subject, roles)]
    return _netted(movements)


def _taken_back(subject: Document | Payment) -> bool:
    if isinstance(subject, Document):
        return subject.state == "void"
    return subject.status == "cancelled" and not any(each.split for each in subject.allocations)


def _source(side: Side, subject: Document | Payment) -> Source:
    name = subject.party.name
    if isinstance(subject, Document):
        titles = {MAIN: f"{side.document_title} {name}"}
        reference = subject.number or subject.external_id
        return Source(side.document_source, subject.id, reference, titles)
    title = f"{side.payment_title} {name}"
    titles = {MAIN: title, FEE: f"fee of {title}"}
    return Source(side.payment_source, subject.id, subject.external_id, titles)


def _document_movements(side: Side, document: Document, roles: Roles) -> Iterator[Movement]:
    if document.opened_at is None or document.total_amount == 0:
        return
    amounts = [
        (roles[side.control], document.total_amount),
        (roles[side.discount], document.additional_discount),
    ]
    for line in document.lines:
        amounts.append((line.account_id, -line.subtotal))
        amounts += [(tax.account_id, -tax.amount) for tax in line.taxes]
    begin = opened_on(document)
    for account_id, amount in amounts:
        yield Movement(begin, MAIN, account_id, side.sign * amount)
        if document.voided_at is not None:
            end = max(begin, document.voided_at.date())
            yield Movement(end, MAIN, account_id, -side.sign * amount)


def _money(side: Side, payment: Payment, roles: Roles) -> Iterator[Movement]:
    """The money and its fee, for as long as the payment stood completed."""
    money = roles[money_role(payment.method, payment.processor)]
    amounts = [
        (MAIN, money, side.sign * payment.total),
        (MAIN, roles[side.prepayments], -side.sign * payment.total),
        (FEE, roles[side.fee], payment.fee),
        (FEE, money, -payment.fee),
    ]
    for begin, end in completion_days(payment):
        for stream, account_id, amount in amounts:
            yield Movement(begin, stream, account_id, amount)
            if end is not None:
                yield Movement(end, stream, account_id, -amount)


def _applications(side: Side, payment: Payment, roles: Roles) -> Iterator[Movement]:
    """What moves from money in advance to the settled documents, and back."""
    for each in payment.allocations:
        if not each.split:
            continue
        for begin, end in applied_days(payment, each):
            for on, sign in ((begin, side.sign), (end, -side.sign)):
                if on is not None:
                    split = tuple((account, -sign * part) for account, part in each.split)
                    yield Movement(on, MAIN, roles[side.prepayments], sign * each.amount)
                    yield Movement(
                        on, MAIN, roles[side.control], -sign * each.amount, each.document_id, split
                    )


def _netted(movements: list[Movement]) -> list[Movement]:
    """Add up what meets on one account and day: only what is unapplied stands on 2100."""
    amounts: dict[tuple[date, str, UUID, UUID | None], int] = defaultdict(int)
    splits: dict[tuple[date, str, UUID, UUID | None], dict[UUID, int]] = defaultdict(
        lambda: defaultdict(int)
    )
    for move in movements:
        place = move.on, move.stream, move.account_id, move.settles
        amounts[place] += move.amount
        for account_id, part in move.split:
            splits[place][account_id] += part
    return [
        Movement(on, stream, account_id, amount, settles, tuple(splits[place].items()))
        for place, amount in amounts.items()
        for on, stream, account_id, settles in [place]
    ]
