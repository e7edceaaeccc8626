"""The lines of a foreign document or credit in base: what each part is worth.

The base total is the converted total. Each tax is converted by itself, so that a return has what
the paper says, and the nets have the rest. Design: `currency.md` section 3.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from accounting.books.foreign import ForeignAmount, Worth, at_rate, in_base, share_of
from accounting.books.ledger import Part, Split, TaxMark, TaxPart, negative, summed
from accounting.money import round_together, split
from accounting.tax.taxed_amounts import HeldTax, Tax
from accounting.trade.credits import CreditLine
from accounting.trade.documents import Document, LineItem

K = TypeVar("K", bound=Hashable)
L = TypeVar("L", LineItem, CreditLine)
Keyed = Sequence[tuple[K, int]]


def translated(lines: Sequence[LineItem], worth: Worth | None) -> tuple[LineItem, ...]:
    """Return the lines of a document with base amounts; those of a base document are unchanged.

    At 0.91234, nets of 33.33, 33.33 and 33.34 with 20.00 tax are worth 109.48 in total: 18.25 tax
    and three times 30.41.
    """
    if worth is None or worth.base_total is None:
        return tuple(lines)
    discounts = [(line.net_mark, line.discount_share) for line in lines]
    of_discounts = _over(discounts, _converted(discounts, worth), worth)
    return tuple(
        replace(line, subtotal=net + discount, discount_share=discount, **taxes)
        for (line, net, taxes), discount in zip(_in_base(lines, worth), of_discounts, strict=True)
    )


def translated_credit(lines: Sequence[CreditLine], worth: Worth | None) -> tuple[CreditLine, ...]:
    """Return the lines of a credit with base amounts, as `translated` does."""
    if worth is None or worth.base_total is None:
        return tuple(lines)
    return tuple(replace(line, amount=net, **taxes) for line, net, taxes in _in_base(lines, worth))


def _in_base(lines: Sequence[L], worth: Worth) -> Iterator[tuple[L, int, dict[str, Any]]]:
    """Yield each line with the base of its net and of its taxes."""
    nets = [line.charged[0] for line in lines]
    taxes = [part for line in lines for part in line.charged[1:]]
    of_nets, of_taxes = _translated_parts(nets, taxes, worth)
    charged = iter(of_taxes)
    assessed = iter(_assessed([tax for line in lines for tax in line.self_assessed], worth))
    for line, net in zip(lines, of_nets, strict=True):
        yield (
            line,
            net,
            {
                "taxes": _with_amounts(line.taxes, charged),
                "withheld": _with_amounts(line.withheld, charged, -1),
                "self_assessed": _with_amounts(line.self_assessed, assessed),
            },
        )


def translated_gross(
    amounts: Sequence[tuple[UUID, int, HeldTax | None]], worth: Worth
) -> list[tuple[int, HeldTax | None]]:
    """Return gross amounts above zero on accounts, and the tax held in them, with base amounts.

    At 0.91234, a gross 120.00 with 20.00 tax is worth 109.48: 18.25 tax and 91.23 net.
    """
    nets = [(_net_part(each, held), gross - _total(held)) for each, gross, held in amounts]
    own = [() if held is None else held.taxes for _, _, held in amounts]
    taxes = [(Part(tax.account_id, tax.mark), tax.amount) for each in own for tax in each]
    owed = [() if held is None else held.self_assessed for _, _, held in amounts]
    of_nets, of_taxes = _translated_parts(nets, taxes, worth)
    charged = iter(of_taxes)
    assessed = iter(_assessed([tax for each in owed for tax in each], worth))
    translated = []
    for (_, _, held), net in zip(amounts, of_nets, strict=True):
        tax = None if held is None else _held_in_base(held, charged, assessed)
        translated.append((net + _total(tax), tax))
    return translated


def _net_part(account_id: UUID, held: HeldTax | None) -> Part:
    mark = None if held is None else TaxMark.of_net(held.code_id, held.rate)
    return Part(account_id, mark)


def _held_in_base(held: HeldTax, charged: Iterator[int], assessed: Iterator[int]) -> HeldTax:
    return replace(
        held,
        taxes=_with_amounts(held.taxes, charged),
        self_assessed=_with_amounts(held.self_assessed, assessed),
    )


def _total(held: HeldTax | None) -> int:
    return 0 if held is None else held.total


def _translated_parts(
    nets: Keyed[Part], taxes: Keyed[Part], worth: Worth
) -> tuple[Sequence[int], Sequence[int]]:
    of_nets, of_taxes = _bases_of_parts(summed(nets), summed(taxes), worth)
    return _over(nets, of_nets, worth), _over(taxes, of_taxes, worth)


def _bases_of_parts(
    nets: Mapping[Part, int], taxes: Mapping[Part, int], worth: Worth
) -> tuple[Mapping[Part, int], Mapping[Part, int]]:
    """Return the base of each net part and of each tax part, which sum to the base total.

    At 0.5, a net of 0.01 and three taxes of 0.01 are worth 0.02. Each tax would be 0.01, and the
    net below zero, so all are rounded together: the net and the first tax are 0.01, the others 0.
    """
    assert worth.base_total is not None, "a draft has no base amounts"
    of_taxes = {part: at_rate(amount, worth.rate) for part, amount in taxes.items()}
    rest = worth.base_total - sum(of_taxes.values())
    if sum(nets.values()) > 0 <= rest:
        return dict(zip(nets, split(rest, list(nets.values())), strict=True)), of_taxes
    exact = [int(amount) * worth.rate for amount in (*nets.values(), *taxes.values())]
    together = round_together(worth.base_total, exact)
    of_nets, rounded = together[: len(nets)], together[len(nets) :]
    return dict(zip(nets, of_nets, strict=True)), dict(zip(taxes, rounded, strict=True))


def _converted(amounts: Keyed[K], worth: Worth) -> Mapping[K, int]:
    return {key: at_rate(amount, worth.rate) for key, amount in summed(amounts).items()}


def _over(amounts: Keyed[K], bases: Mapping[K, int], worth: Worth) -> Sequence[int]:
    """Spread the base of each key over its amounts by largest remainder."""
    found = [0] * len(amounts)
    for key, base in bases.items():
        places = [place for place, (own_key, _) in enumerate(amounts) if own_key == key]
        own = [amounts[place][1] for place in places]
        for place, share in zip(places, _spread(base, own), strict=True):
            found[place] = share
    return [
        ForeignAmount(amount, base, worth.currency)
        for (_, amount), base in zip(amounts, found, strict=True)
    ]


def _spread(base: int, own: Sequence[int]) -> list[int]:
    """Split a base over own amounts; over amounts that come to nothing, the first has all of it."""
    if base and not sum(own):
        return [base, *[0] * (len(own) - 1)]
    return split(base, own)


def _assessed(taxes: Sequence[Tax], worth: Worth) -> Sequence[int]:
    """Return self-assessed taxes with their base.

    What is owed and what is recovered are converted each by itself; what is not recovered is the
    rest, so that the tax of a code still sums to zero.
    """
    amounts = [(Part(tax.account_id, tax.mark), tax.amount) for tax in taxes]
    parts = summed(amounts)
    bases = {part: at_rate(amount, worth.rate) for part, amount in parts.items()}
    bases |= _costs(parts, bases)
    return _over(amounts, bases, worth)


def assessed_with_base(document: Document, taken: Split, before: Mapping[Part, int]) -> Split:
    """Return amounts that are taken of self-assessed tax, with their base; both as posted.

    `before` are the own amounts that were taken of each part earlier. By code the base sums to
    zero, and steps that take all of a part take all of its base.
    """
    if document.worth is None:
        return taken
    wholes = summed(part for line in document.lines for part in line.assessed)
    after = summed([*before.items(), *negative(taken)])
    now, earlier = _bases_of_taken(wholes, after), _bases_of_taken(wholes, before)
    own = dict(taken)
    amounts = (
        (part, ForeignAmount(own.get(part, 0), earlier.get(part, 0) - base, document.currency))
        for part, base in now.items()
    )
    return tuple(pair for pair in amounts if pair[1])


def _bases_of_taken(wholes: Mapping[Part, int], taken: Mapping[Part, int]) -> Mapping[Part, int]:
    """Return the base of all that was taken so far: what is not recovered has the rest."""
    bases = {part: in_base(share_of(wholes[part], amount)) for part, amount in taken.items()}
    return {**bases, **_costs(dict(taken), bases)}


def _costs(parts: Mapping[Part, int], bases: Mapping[Part, int]) -> dict[Part, int]:
    """Return the base of tax that is not recovered, so that the tax of each code sums to zero."""
    costs: dict[Part, int] = {}
    for code in {_code(part.tax) for part in parts}:
        of_code = [part for part in parts if _code(part.tax) == code]
        cost = [part for part in of_code if part.tax and part.tax.part is TaxPart.BLOCKED]
        if cost:
            rest = -sum(bases[part] for part in of_code if part not in cost)
            shares = _spread(rest, [parts[part] for part in cost])
            costs.update(zip(cost, shares, strict=True))
    return costs


def _code(mark: TaxMark | None) -> object:
    return None if mark is None else (mark.code_id, mark.rate)


def _with_amounts(taxes: Sequence[Tax], amounts: Iterator[int], sign: int = 1) -> tuple[Tax, ...]:
    return tuple(replace(tax, amount=sign * next(amounts)) for tax in taxes)
