"""The rests of the lines of documents, from which refunds, credits and tax relief take."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from tests.model.arithmetic import Part, capped, half_up, shares
from tests.model.codes import Mark
from tests.model.pricing import Line, Tax, Taxation
from tests.model.sides import Side

Split = Counter[tuple[Line, Part]]
"""Amounts taken, by line and part, in the sign of the document."""
Rests = Mapping[Line, Counter[Part]]


def rest_of(side: Side, line: Line, taken: Iterable[Split]) -> Counter[Part]:
    """Return the rest of a line by part, without self-assessed tax."""
    return left(line.parts(side, side.returns), line, taken)


def left(whole: Counter[Part], line: Line, taken: Iterable[Split]) -> Counter[Part]:
    """Subtract the splits of a line from its parts."""
    found = Counter(whole)
    for split in taken:
        for (each, part), amount in split.items():
            if each is line and part in found:
                found[part] -= amount
    return found


def net_part(side: Side, line: Line) -> Part:
    """Return the part of a line that is its net."""
    return side.returns or line.account, line.net_mark


def left_of(side: Side, rests: Rests) -> Counter[Part]:
    """Return what is left of each part of a document; no part passes zero.

    Where a line is below zero, less may be left of a part than of one of its lines.
    """
    whole, found = Counter[Part](), Counter[Part]()
    for line, rest in rests.items():
        for part, n in line.parts(side, side.returns).items():
            whole[part] += n
            found[part] += rest[part]
    return Counter({part: capped(n, found[part]) for part, n in whole.items()})


def over_all(side: Side, rests: Rests, amount: int) -> Split:
    """Split an amount over parts, and then within each over its lines."""
    parts = left_of(side, rests)
    split: Split = Counter()
    for part, share in zip(parts, shares(amount, list(parts.values())), strict=True):
        lines = [line for line, rest in rests.items() if part in rest]
        within = shares(share, [rests[line][part] for line in lines])
        for line, n in zip(lines, within, strict=True):
            split[line, part] += n
    return split


def over_lines(rests: Rests, amounts: Mapping[Line, int]) -> Split:
    """Split the amount of each line over the rest of that line."""
    split: Split = Counter()
    for line, amount in amounts.items():
        rest = rests[line]
        for part, n in zip(rest, shares(amount, list(rest.values())), strict=True):
            split[line, part] += n
    return split


def with_assessed(side: Side, rests: Rests, taken: Sequence[Split], split: Split) -> Split:
    """Add the self-assessed tax of the nets in a split."""
    whole: Split = Counter(split)
    for line, rest in rests.items():
        net = net_part(side, line)
        for part, n in assessed_with(line, taken, split[line, net], rest[net]).items():
            whole[line, part] += n
    return whole


def assessed_with(line: Line, taken: Iterable[Split], net: int, whole: int) -> Counter[Part]:
    """Return the self-assessed tax of a part of a net: the tax owed, and its counterparts."""
    rest = left(line.assessed, line, taken)
    back: Counter[Part] = Counter()
    borne = [p for p, n in line.assessed.items() if n and p[1] and p[1].part != "output"]
    for part in rest.keys() - borne:
        back[part] = in_proportion(rest[part], net, whole)
    amounts = shares(-sum(back.values()), [rest[part] for part in borne])
    back.update(dict(zip(borne, amounts, strict=True)))
    return back


def of_net(side: Side, line: Line, taken: Sequence[Split], net: int) -> Counter[Part]:
    """Split a net and its taxes in proportion from the rest of a line, each kind in one sum."""
    rest, own = rest_of(side, line, taken), net_part(side, line)
    part: Counter[Part] = Counter({own: net})
    for kept in (False, True):
        kind = [p for p in rest if p != own and is_withheld(p) == kept]
        amounts = [abs(rest[each]) for each in kind]
        whole = in_proportion(sum(amounts), net, rest[own])
        for each, n in zip(kind, shares(whole, amounts), strict=True):
            part[each] = -n if kept else n
    return part


def is_withheld(part: Part) -> bool:
    return part[1] is not None and part[1].part == "withheld"


def credited_by(side: Side, line: Line, taken: Sequence[Split], net: int) -> tuple[Line, Split]:
    """Return the line of a credit for a net of a document's line, and its split of that line."""
    parts = of_net(side, line, taken, net)
    own = net_part(side, line)
    assessed = assessed_with(line, taken, net, rest_of(side, line, taken)[own])
    made = Line(line.account, net, net, line.taxed, [], line.withholding, given=True)
    made.assessed = assessed
    for part, n in parts.items():
        mark = part[1]
        if part == own:
            continue
        if is_withheld(part):
            made.withheld = -n
        elif mark is not None and mark.part == "blocked":
            tax = next(each for each in made.taxes if each.taxed and marks(each.taxed, mark))
            tax.amount, tax.blocked = tax.amount + n, n
        else:
            made.taxes.append(Tax(n, part[0], like(line, mark)))
    split: Split = Counter({(line, part): n for part, n in (*parts.items(), *assessed.items())})
    return made, split


def like(line: Line, mark: Mark | None) -> Taxation | None:
    """Return the tax of a line that has a mark."""
    every = [each.taxed for each in line.taxes if each.taxed]
    return next((each for each in every if mark and marks(each, mark)), None)


def marks(taxed: Taxation, mark: Mark) -> bool:
    """Return whether a mark belongs to a tax."""
    return taxed.mark(mark.part) == mark


def in_proportion(amount: int, share: int, whole: int) -> int:
    """Return a proportional part of an amount, rounded half away from zero."""
    return half_up(Fraction(amount * share, whole)) if whole else 0
