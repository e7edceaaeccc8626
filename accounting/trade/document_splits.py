"""How a settlement of a document is split over the parts that the document is made of."""

from accounting.books.splits import Part, Split, added, negative, rests, summed, take
from accounting.trade.documents import Document
from accounting.values import replace


def parts(document: Document) -> dict[Part, int]:
    """Say what the document is made of: each part's share of the total.

    Lines are net of their discount and of their share of the document's own; taxes stand at
    their accounts, below zero where they are withheld. The parts sum to the total. One that came
    with an opening is all of it from where its nets are: its tax stood on its account before.
    """
    nets = [line.charged[0] for line in document.lines]
    taxes = [
        (part if document.opening_id is None else replace(part, account_id=line.account_id), amount)
        for line in document.lines
        for part, amount in line.charged[1:]
    ]
    return summed([*nets, *taxes])


def on_own_accounts(document: Document, split: Split) -> Split:
    """Say of settled parts where they are given back: tax on the account that has it.

    That is another one only for what came with an opening: 10 of its tax that stand on 3290 in a
    settlement are given back on 2200.
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
    """Tell whether a settlement can be split so: there is a split, and no part comes below zero.

    A document that was drawn up anew since may have other parts.
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
    """Split a settlement, now split so, as what settles it is made of, as far as that is left.

    Parts are matched by code, rate and part; what is not matched is split over the rest. Where tax
    is withheld nothing is matched.
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
