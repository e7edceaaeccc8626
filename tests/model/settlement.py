"""Settlements between records, each split once over the parts that the others have left."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.model.arithmetic import Part, capped, shares
from tests.model.books import Books
from tests.model.pricing import Line
from tests.model.records import Credit, Document, Refund, Settlement, Share, VendorRefund, WriteOff

SUSPENSE = "1900"
Wanted = dict[Any, int]
PartOfTarget = tuple[Any, Part]
"""A part of a target of a vendor's refund; the target is none where it is not allocated."""


def settle(books: Books) -> None:
    """Update all settlements: a changed one is removed and split anew."""
    for credit in books.credits.values():
        settle_credit(books, credit)
    for document in books.documents.values():
        settle_document(books, document)
    for refund in books.refunds.values():
        paid = {e: e.amount for e in refund.payments if not e.cancelled}
        bring(books, refund, paid, parts_of_refund(books, refund))
    for agreed in books.vendor_refunds.values():
        settle_agreed(books, agreed)
    books.again.clear()


# A move of several steps updates settlements after each step.


def settle_credit(books: Books, credit: Credit) -> None:
    """Update the settlements of one credit."""
    bring(books, credit, dict(using(books, credit)), parts_of_lines(books, credit.lines))


def settle_agreed(books: Books, agreed: VendorRefund) -> None:
    """Update the settlements of a vendor's refund."""
    came = {e: e.amount for e in agreed.payments if e.status == "completed"}
    bring(books, agreed, came, parts_of_agreed(books, agreed))


def settle_document(books: Books, document: Document) -> None:
    """Update the settlements of one document."""
    whole = parts_of_lines(books, document.priced.lines)
    bring(books, document, dict(settling(books, document)), whole)


def bring(books: Books, subject: Any, wanted: Wanted, whole: Counter[Any]) -> None:
    """Update the settlements of a record; a vendor's refund with other parts starts anew."""
    held = books.settlements.setdefault(subject, {})
    if isinstance(subject, VendorRefund) and books.settled_of.get(subject) != whole:
        held.clear()
        books.settled_of[subject] = whole
    for source in [each for each in held if held[each].amount != wanted.get(each)]:
        del held[source]
    for source, amount in wanted.items():
        if source not in held:
            old = books.again.get((subject, source))
            left = less(whole, (each.split for each in held.values()))
            if old is None or old.amount != amount or not fits(old.split, left):
                old = Settlement(amount, made(books, subject, source, amount, whole))
            held[source] = old


def fits(split: Counter[Any], left: Counter[Any]) -> bool:
    """Return whether all of a split is still left: the record may have changed."""
    return all(min(0, left[part]) <= n <= max(0, left[part]) for part, n in split.items())


def made(books: Books, subject: Any, source: Any, amount: int, whole: Counter[Any]) -> Counter[Any]:
    """Return the parts that one record settles of another."""
    if isinstance(source, WriteOff):
        return source.split
    left = less(whole, (each.split for each in books.settlements[subject].values()))
    if isinstance(source, Credit) and source.source == subject.id:
        return same_parts(books, subject, source, amount, left)
    return over(left, amount)


def same_parts(
    books: Books, document: Document, credit: Credit, amount: int, left: Counter[Part]
) -> Counter[Part]:
    """Return the parts that a credit settles of its own source: those it credits, then the rest.

    Where tax is withheld it settles all parts in proportion.
    """
    if any(line.withheld for line in document.priced.lines):
        return over(left, amount)
    split: Counter[Part] = Counter()
    for (_, mark), given in books.settlements[credit][document].split.items():
        waiting = given
        same = [each for each in left if mark is not None and each[1] == mark]
        still = {part: left[part] - split[part] for part in same}
        if min(still.values(), default=0) < 0:
            whole = capped(waiting, sum(still.values()))
            split.update(dict(zip(same, shares(whole, list(still.values())), strict=True)))
            continue
        for part in same:
            taken = min(waiting, still[part])
            split[part] += taken
            waiting -= taken
    rest = less(left, [split])
    split.update(over(rest, amount - sum(split.values())))
    return split


def settling(books: Books, document: Document) -> Iterator[tuple[Any, int]]:
    """Yield the records that settle a document now, with their amounts."""
    if document.state != "open":
        return
    for payment, amount in books.payments_of(document):
        if payment.status == "completed":
            yield payment, amount
    for credit in books.credits.values():
        if credit.parts.get(document.id):
            yield credit, credit.parts[document.id]
    for write_off in books.write_offs_of(document):
        yield write_off, write_off.amount


def in_money(books: Books) -> Iterator[tuple[Any, Counter[Part]]]:
    """Yield the parts that money has settled, by settled record; applied credits count as money.

    Write-offs do not count, and refunds of a credit count when they are paid.
    """
    for subject, settled in books.settlements.items():
        for source, each in settled.items():
            of_credit = isinstance(subject, Credit) and not isinstance(source, Document)
            if not (of_credit or isinstance(source, WriteOff)):
                yield subject, each.split if not isinstance(subject, VendorRefund) else merged(each)


def using(books: Books, credit: Credit) -> Iterator[tuple[Any, int]]:
    """Yield the records that use a credit, with their amounts."""
    for id, amount in credit.parts.items():
        yield books.documents[id], amount
    for refund in books.refunds_of(credit):
        yield refund, refund.amount
    for agreed in books.vendor_refunds.values():
        for share in agreed.shares:
            if share.target is credit and not share.is_kept:
                yield share, share.amount


def share_out(books: Books, document: Document, amount: int) -> Counter[Part]:
    """Split an amount over the rest of the parts of a document."""
    whole = parts_of_lines(books, document.priced.lines)
    held = books.settlements.get(document, {})
    return over(less(whole, (each.split for each in held.values())), amount)


def over(left: Counter[Any], amount: int) -> Counter[Any]:
    """Split an amount over the rest of parts."""
    return Counter(dict(zip(left, shares(amount, list(left.values())), strict=True)))


def less(whole: Counter[Any], splits: Iterable[Counter[Any]]) -> Counter[Any]:
    """Subtract splits from parts."""
    left = Counter(whole)
    for split in splits:
        left.subtract(split)
    return left


def parts_of_lines(books: Books, given: Iterable[Line]) -> Counter[Part]:
    """Return the parts of lines: first nets, then taxes and withheld amounts."""
    lines = [each.posted(books.side) for each in given]
    whole: Counter[Part] = Counter()
    for parts in lines:
        net, *_ = parts
        whole[net] += parts[net]
    for parts in lines:
        _, *others = parts
        for part in others:
            whole[part] += parts[part]
    return whole


def parts_of_refund(books: Books, refund: Refund) -> Counter[Part]:
    """Return the amount of a refund by part; that of a payment is on the account of advances."""
    if refund.cancelled:
        return Counter()
    if refund.credit is not None:
        return Counter(books.settlements[refund.credit][refund].split)
    if refund.document is None:
        return Counter({(books.side.advance, None): refund.amount})
    return charged(refund.split)


def parts_of_agreed(books: Books, agreed: VendorRefund) -> Counter[PartOfTarget]:
    """Return the money of a vendor's refund, by target and part."""
    whole: Counter[PartOfTarget] = Counter()
    for share in agreed.shares:
        for part, amount in parts_of_share(books, share).items():
            whole[share.target, part] += amount
    if agreed.total > agreed.allocated:
        whole[None, (SUSPENSE, None)] += agreed.total - agreed.allocated
    return whole


def parts_of_share(books: Books, share: Share) -> Counter[Part]:
    """Return the money of a share, by part."""
    match share.target:
        case Document():
            return charged(share.split)
        case Credit():
            return Counter() if share.is_kept else books.settlements[share.target][share].split
    return Counter({(books.side.advance, None): share.amount})


def merged(settled: Settlement) -> Counter[Part]:
    """Return the settled parts of a vendor's refund, summed over its targets."""
    whole: Counter[Part] = Counter()
    for (_, part), amount in settled.split.items():
        whole[part] += amount
    return whole


def charged(split: Counter[tuple[Line, Part]]) -> Counter[Part]:
    """Return the amounts of a split by part, without self-assessed tax."""
    whole: Counter[Part] = Counter()
    for (line, part), amount in split.items():
        if part not in line.assessed:
            whole[part] += amount
    return whole
