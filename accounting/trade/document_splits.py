"""The split of a settlement over the parts of a document."""

from dataclasses import replace

from accounting.books.splits import Part, Split, added, negative, rests, summed, take
from accounting.trade.documents import Document


def parts(document: Document) -> dict[Part, int]:
    """Return the parts of the document and their amounts, which sum to its total.

    Nets are less the line's discount and its share of the document discount. Taxes are on their own
    accounts, below zero if withheld. In a document from the opening, each tax is on the account of
    its line's net: it was posted to its own account before.
    """
    nets = [line.charged[0] for line in document.lines]
    taxes = [
        (part if document.opening_id is None else replace(part, account_id=line.account_id), amount)
        for line in document.lines
        for part, amount in line.charged[1:]
    ]
    return summed([*nets, *taxes])


def on_own_accounts(document: Document, split: Split) -> Split:
    """Move settled parts to the accounts on which they are reversed: taxes to their own.

    This changes only documents from the opening: 10 of tax that are settled on 3290 are reversed on
    2200.
    """
    if document.opening_id is None:
        return split
    own = {part.tax: part for line in document.lines for part, _ in line.charged}
    return tuple((own[part.tax], amount) for part, amount in split)


def share_out(document: Document, amount: int) -> Split:
    """Split a settlement of the document over what is left of each of its parts.

    Of 8333 net and 1667 tax, 3333 takes 2777 and 556.
    """
    return take(parts(document), document.settled, amount)


def has_left(document: Document, split: Split) -> bool:
    """Return whether a settlement can use a split: it is not empty, and no part is exceeded.

    A document that was replaced since may have other parts.
    """
    if not split:
        return False
    whole = parts(document)
    left_over = rests(whole, added(document.settled, split))
    return all(
        min(0, whole.get(part, 0)) <= rest <= max(0, whole.get(part, 0))
        for part, rest in left_over.items()
    )


def matching(document: Document, split: Split, own: Split, amount: int) -> Split:
    """Split a settlement again by the parts of the credit that settles it, as far as they are left.

    `split` is the current split, and `own` the parts of the credit. Parts are matched by tax code,
    rate and tax part; the rest is split over the remaining parts. If any line has withheld tax, the
    current split is returned.
    """
    left = rests(parts(document), added(document.settled, negative(split)))
    if any(line.withheld for line in document.lines):
        return split
    matched: list[tuple[Part, int]] = []
    for of_own, share in own:
        waiting = share
        for part in left:
            if part.tax is not None and part.tax == of_own.tax:
                taken = min(waiting, left[part])
                matched.append((part, taken))
                left[part] -= taken
                waiting -= taken
    whole = tuple(matched)
    return added(whole, take(left, (), amount - sum(taken for _, taken in whole)))
