"""Remaining amounts of each document line, after credits, refunds and tax relief.

A line has a net, taxes, withheld tax and self-assessed tax. Each credit, refund or relief takes
from all of these, and never more than earlier ones have left.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from uuid import UUID

from accounting.books.ledger import Part, Split, added, negative, summed
from accounting.money import EXACT, round_half_away, split
from accounting.trade.documents import Document, LineItem, LineShares

Amounts = tuple[int, ...]
"""Amounts of one line, as `LineItem.charged` and then `LineItem.assessed` have them."""


def rest_of(document: Document, line: LineItem) -> Amounts:
    """Return what is left of a line, in its own currency: 100 and 20 less 40 and 8 is 60 and 12."""
    whole = tuple(int(amount) for _, amount in (*line.charged, *line.assessed))
    taken = dict(document.reduced).get(line.id)
    if taken is None:
        return whole
    return tuple(amount - gone for amount, gone in zip(whole, taken, strict=True))


def gross_left(line: LineItem, rest: Amounts) -> int:
    """Return the gross amount that is left of a line: 60 and 12 is 72."""
    return sum(rest[: len(line.charged)])


def by_net(line: LineItem, rest: Amounts, net: int) -> Amounts:
    """Take a net amount of a line, and its taxes in proportion to what is left.

    Of 100.00 and 20.00, nets of 33.33, 33.33 and 33.34 take 6.67, 6.66 and 6.67. Taxes, recoverable
    or not, are rounded as one sum: half of 1 and 2 is 2 in total.
    """
    taxes, withheld = 1 + len(line.taxes), len(line.charged)
    charged = [
        net,
        *_together(rest[1:taxes], net, rest[0]),
        *_together(rest[taxes:withheld], net, rest[0]),
    ]
    return _with_assessed(rest, charged)


def by_gross(line: LineItem, rest: Amounts, gross: int) -> Amounts:
    """Take a gross amount of a line, split over what is left: 60 of 100 and 20 is 50 and 10.

    Taxes of the same part are split as one: 145 of 462 and twice 1 is 144, 1 and 0.
    """
    places: dict[Part, list[int]] = defaultdict(list)
    for place, (part, _) in enumerate(line.charged):
        places[part].append(place)
    charged = [0] * len(line.charged)
    shares = split(gross, [sum(rest[place] for place in each) for each in places.values()])
    for each, share in zip(places.values(), shares, strict=True):
        for place, own in zip(each, split(share, [rest[place] for place in each]), strict=True):
            charged[place] = own
    return _with_assessed(rest, charged)


def parts_left(document: Document, net_account_id: UUID | None = None) -> dict[Part, int]:
    """Return what is left of each part that the document charged.

    With `net_account_id`, all nets are on that account.
    """
    return summed(
        (part, amount)
        for line in document.lines
        for part, amount in zip(_parts(line, net_account_id), rest_of(document, line), strict=False)
    )


def charged_parts(document: Document, net_account_id: UUID | None = None) -> dict[Part, int]:
    """Return each part that the document charged, with its base, whatever was taken of it."""
    return summed(
        (part, amount)
        for line in document.lines
        for part, (_, amount) in zip(_parts(line, net_account_id), line.charged, strict=True)
    )


def over_lines(document: Document, taken: Split, net_account_id: UUID | None = None) -> LineShares:
    """Spread amounts by part over the lines with that part, by what is left of each line."""
    rests = {line.id: rest_of(document, line) for line in document.lines}
    charged = {line.id: [0] * len(line.charged) for line in document.lines}
    places: dict[Part, list[tuple[UUID, int]]] = defaultdict(list)
    for line in document.lines:
        for place, part in enumerate(_parts(line, net_account_id)):
            places[part].append((line.id, place))
    for part, amount in taken:
        shares = split(amount, [rests[id_][place] for id_, place in places[part]])
        for (id_, place), share in zip(places[part], shares, strict=True):
            charged[id_][place] = share
    shares_of = ((id_, _with_assessed(rests[id_], own)) for id_, own in charged.items())
    return tuple((id_, own) for id_, own in shares_of if any(own))


def charged_split(
    document: Document, shares: LineShares, net_account_id: UUID | None = None
) -> Split:
    """Sum by part the amounts that are taken from what the lines charged."""
    return added(
        tuple(
            (part, amount)
            for line, amounts in _of_lines(document, shares)
            for part, amount in zip(_parts(line, net_account_id), amounts, strict=False)
        )
    )


def moved_parts(
    before: Document, after: Document, shares: LineShares, net_account_id: UUID | None = None
) -> list[tuple[Part, Part, int]]:
    """Return the amounts taken from what the lines charged, with their old and new parts."""
    lines = {line.id: line for line in after.lines}
    return [
        (old, new, amount)
        for line, amounts in _of_lines(before, shares)
        for old, new, amount in zip(
            _parts(line, net_account_id),
            _parts(lines[line.id], net_account_id),
            amounts[: len(line.charged)],
            strict=True,
        )
        if amount
    ]


def assessed_split(document: Document, shares: LineShares) -> Split:
    """Sum by part the self-assessed amounts that are taken, as posted: debits above zero."""
    return negative(
        added(
            tuple(
                (part, amount)
                for line, amounts in _of_lines(document, shares)
                for (part, _), amount in zip(
                    line.assessed, amounts[len(line.charged) :], strict=True
                )
            )
        )
    )


def assessed_taken(document: Document) -> dict[Part, int]:
    """Return the self-assessed amounts that were taken so far: by part, with its sign."""
    return summed(
        (part, int(amount) - left)
        for line in document.lines
        for (part, amount), left in zip(
            line.assessed, rest_of(document, line)[len(line.charged) :], strict=True
        )
    )


def record_credited_lines(document: Document, shares: LineShares, sign: int = 1) -> Document:
    """Record amounts taken from lines; a `sign` below zero undoes that."""
    held = dict(document.reduced)
    for id_, amounts in shares:
        before = held.get(id_, (0,) * len(amounts))
        held[id_] = tuple(had + sign * each for had, each in zip(before, amounts, strict=True))
    kept = tuple((id_, amounts) for id_, amounts in held.items() if any(amounts))
    return replace(document, reduced=kept)


def _parts(line: LineItem, net_account_id: UUID | None) -> list[Part]:
    """Return the parts charged for a line; with `net_account_id`, its net is on that account."""
    (net, _), *taxes = line.charged
    moved = net if net_account_id is None else replace(net, account_id=net_account_id)
    return [moved, *(part for part, _ in taxes)]


def _with_assessed(rest: Amounts, charged: list[int]) -> Amounts:
    """Append the self-assessed amounts in the proportion of the net taken.

    The tax owed and its recovered and non-recoverable amounts still sum to zero.
    """
    owed, *borne = rest[len(charged) :] or (0,)
    back = _in_proportion(owed, charged[0], rest[0])
    return (*charged, *([back, *split(-back, borne)] if borne else []))


def _together(amounts: Sequence[int], part: int, whole: int) -> list[int]:
    """Take a proportion of a sum, rounded once, and split it over what is left of each amount."""
    return split(_in_proportion(sum(amounts), part, whole), amounts)


def _in_proportion(amount: int, part: int, whole: int) -> int:
    if not whole:
        return 0
    share = EXACT.divide(EXACT.multiply(Decimal(amount), Decimal(part)), Decimal(whole))
    return round_half_away(share)


def _of_lines(document: Document, shares: LineShares) -> Iterator[tuple[LineItem, Amounts]]:
    lines = {line.id: line for line in document.lines}
    return ((lines[id_], amounts) for id_, amounts in shares)
