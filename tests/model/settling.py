"""Which parts of a document each thing settles: split once, over what the others have left."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from tests.model.arithmetic import Part, shares
from tests.model.books import Books
from tests.model.records import Document, Settled, WriteOff


def settle(books: Books) -> None:
    """Bring what is settled up to date: what changed is taken back whole and made again."""
    for document in books.documents.values():
        held = books.settlements.setdefault(document, {})
        wanted = dict(settling(books, document))
        for source in [each for each in held if held[each].amount != wanted.get(each)]:
            del held[source]
        for source, amount in wanted.items():
            if source not in held:
                own = source.split if isinstance(source, WriteOff) else None
                held[source] = Settled(amount, own or share_out(books, document, amount))


def settling(books: Books, document: Document) -> Iterator[tuple[Any, int]]:
    """What settles a document now, and how much of it."""
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


def share_out(books: Books, document: Document, amount: int) -> Counter[Part]:
    """Split an amount over what is left of the parts of a document."""
    left = unsettled(books, document)
    return Counter(dict(zip(left, shares(amount, list(left.values())), strict=True)))


def unsettled(books: Books, document: Document) -> Counter[Part]:
    """What is left of the parts of a document to be settled."""
    left = parts_of(books, document)
    for each in books.settlements.get(document, {}).values():
        left.subtract(each.split)
    return left


def parts_of(books: Books, document: Document) -> Counter[Part]:
    """The parts of a document: its nets first, then its taxes and what is withheld."""
    lines = [each.parts(books.side) for each in document.priced.lines]
    whole: Counter[Part] = Counter()
    for parts in lines:
        net, *_ = parts
        whole[net] += parts[net]
    for parts in lines:
        _, *others = parts
        for part in others:
            whole[part] += parts[part]
    return whole
