"""The tax on the amounts of a document: charged, blocked, self-assessed and withheld.

Each tax is computed once for each code and rate and spread over the amounts, so that the amounts of
a document by code are the same as in a return.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Final, TypeVar
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.ledger import TaxMark, TaxPart
from accounting.errors import RuleViolation
from accounting.money import included, split_by_rate, times
from accounting.tax.codes import WHOLE, Direction, TaxCode, Treatment

K = TypeVar("K", bound=Hashable)

SELF_ASSESSED: Final = frozenset(
    {Treatment.REVERSE_CHARGE, Treatment.ACQUISITION, Treatment.IMPORT_POSTPONED}
)
"""The treatments for which the buyer owes the tax to the state, and the seller charges none."""


@dataclass(frozen=True, slots=True)
class Tax:
    """An amount of tax, its account, and its mark for a return."""

    amount: int
    account_id: UUID
    mark: TaxMark | None = None


@dataclass(frozen=True, slots=True)
class DayCode:
    """A tax code on a day: its rate, and how much of the tax is recoverable, in percent."""

    code: TaxCode
    rate: Decimal
    recoverable: Decimal = WHOLE

    def mark(self, part: TaxPart) -> TaxMark:
        """Mark a part of what the code taxes."""
        return TaxMark(self.code.id, self.rate, part)

    @property
    def self_assessed(self) -> bool:
        """Return whether the buyer assesses the tax, so that the seller does not charge it."""
        return self.code.treatment in SELF_ASSESSED


@dataclass(frozen=True, slots=True)
class GivenTax:
    """A tax that is taken as it was given, on an account, with a code or without one."""

    amount: int
    account_id: UUID
    code: DayCode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxInstruction:
    """The taxation of an amount: by a code, by a rate without one, or as given; and withholding.

    With `given` taxes nothing is computed, and `code` is only that of the net.
    """

    code: DayCode | None = None
    rate: Decimal | None = None
    given: tuple[GivenTax, ...] | None = None
    withholding: DayCode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxableAmount:
    """An amount to be taxed, less a discount; tax that is not recoverable goes to `account_id`."""

    amount: int
    account_id: UUID
    taxing: TaxInstruction
    discount: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxedAmount:
    """A taxed amount: the net before the discount, the discount, and the taxes.

    `self_assessed` are debits above zero and credits below. All others have the sign of the amount.
    """

    subtotal: int
    discount: int
    taxes: tuple[Tax, ...] = ()
    withheld: tuple[Tax, ...] = ()
    self_assessed: tuple[Tax, ...] = ()


@dataclass(frozen=True, slots=True)
class TaxAccounts:
    """The account of tax without a code, and the account of self-assessed tax that is due."""

    default: UUID
    output: UUID


def tax(
    items: Sequence[TaxableAmount], accounts: TaxAccounts, *, inclusive: bool = False
) -> list[TaxedAmount]:
    """Compute the taxes of amounts, which are net, or gross if `inclusive`.

    100 at 20 % give 100 and 20; 6.03 inclusive at 20 % include 1.01, and are 5.02 net.
    """
    bases = [item.amount - item.discount for item in items]
    charged = _charged(items, bases, inclusive)
    if inclusive:
        before = _charged(items, [item.amount for item in items], inclusive)
        subtotals = [item.amount - amount for item, amount in zip(items, before, strict=True)]
        nets = [base - amount for base, amount in zip(bases, charged, strict=True)]
    else:
        subtotals, nets = [item.amount for item in items], bases
    return [
        TaxedAmount(
            subtotal=subtotal,
            discount=subtotal - net,
            taxes=taxes,
            withheld=withheld,
            self_assessed=owed,
        )
        for subtotal, net, taxes, withheld, owed in zip(
            subtotals,
            nets,
            _taxes(items, charged, accounts),
            _withheld(items, nets),
            _self_assessed(items, nets, accounts),
            strict=True,
        )
    ]


def _charged(items: Sequence[TaxableAmount], bases: Sequence[int], inclusive: bool) -> list[int]:
    """Return the tax charged on each amount, computed by code and rate."""
    amounts = [sum(tax.amount for tax in item.taxing.given or ()) for item in items]
    for (_, rate), places in _grouped(items, _charging).items():
        group = [bases[place] for place in places]
        whole = included(sum(group), rate) if inclusive else times(sum(group), rate.scaleb(-2))
        share = Fraction(rate) / (100 + Fraction(rate) if inclusive else 100)
        _spread(whole, group, share, places, amounts)
    return amounts


def _charging(taxing: TaxInstruction) -> tuple[UUID | None, Decimal] | None:
    """Return the code and rate by which tax must be computed, or None."""
    if taxing.given is not None:
        return None
    if taxing.code is None:
        return None if taxing.rate is None else (None, taxing.rate)
    return None if taxing.code.self_assessed else (taxing.code.code.id, taxing.code.rate)


def _taxes(
    items: Sequence[TaxableAmount], charged: Sequence[int], accounts: TaxAccounts
) -> list[tuple[Tax, ...]]:
    """Return the taxes of each amount by account, with the tax that is not recoverable."""
    recovered = list(charged)
    for place, places in _grouped(items, _charging).items():
        code = items[places[0]].taxing.code
        if place[0] is not None and code is not None and code.recoverable != WHOLE:
            group = [charged[each] for each in places]
            whole = times(sum(group), code.recoverable.scaleb(-2))
            _spread(whole, group, _part(code.recoverable), places, recovered)
    taxes = []
    for item, amount, back in zip(items, charged, recovered, strict=True):
        taxing = item.taxing
        if taxing.given is not None:
            taxes.append(tuple(_of_given(item.account_id, taxing.given)))
        elif taxing.code is not None and taxing.code.rate and not taxing.code.self_assessed:
            account_id = taxing.code.code.tax_account_id
            taxes.append(_coded(taxing.code, account_id, item.account_id, amount, back))
        elif taxing.code is None and taxing.rate is not None:
            taxes.append((Tax(amount, accounts.default),))
        else:
            taxes.append(())
    return taxes


def _of_given(line_account_id: UUID, given: Iterable[GivenTax]) -> Iterable[Tax]:
    for each in given:
        if each.code is None:
            yield Tax(each.amount, each.account_id)
        else:
            back = times(each.amount, each.code.recoverable.scaleb(-2))
            yield from _coded(each.code, each.account_id, line_account_id, each.amount, back)


def _coded(
    code: DayCode, account_id: UUID, line_account_id: UUID, amount: int, recovered: int
) -> tuple[Tax, ...]:
    """Mark the tax of a code; tax that is not recoverable is cost on the line's own account."""
    part = TaxPart.OUTPUT if code.code.direction is Direction.SALES else TaxPart.INPUT
    back = Tax(recovered, account_id, code.mark(part))
    if amount == recovered:
        return (back,)
    return (back, Tax(amount - recovered, line_account_id, code.mark(TaxPart.BLOCKED)))


def _withheld(items: Sequence[TaxableAmount], nets: Sequence[int]) -> list[tuple[Tax, ...]]:
    """Return the tax withheld from each net: 15 % of 1000 is 150."""
    withheld: list[tuple[Tax, ...]] = [()] * len(items)
    grouped = _grouped(items, lambda taxing: taxing.withholding and _named(taxing.withholding))
    for places in grouped.values():
        code = items[places[0]].taxing.withholding
        assert code is not None, "amounts are grouped by it"
        group = [nets[place] for place in places]
        whole = times(sum(group), code.rate.scaleb(-2))
        amounts = split_by_rate(whole, group, _part(code.rate))
        for place, amount in zip(places, amounts, strict=True):
            if amount:
                marked = Tax(amount, code.code.tax_account_id, code.mark(TaxPart.WITHHELD))
                withheld[place] = (marked,)
    return withheld


def _self_assessed(
    items: Sequence[TaxableAmount], nets: Sequence[int], accounts: TaxAccounts
) -> list[tuple[Tax, ...]]:
    """Compute self-assessed tax: the tax due from the buyer, and the recoverable part.

    100 at 20 %, of which half is recoverable, give 20 due, 10 recovered and 10 of cost.
    """
    owed: list[tuple[Tax, ...]] = [()] * len(items)
    for places in _grouped(items, _assessing).values():
        code = items[places[0]].taxing.code
        assert code is not None, "amounts are grouped by it"
        group = [nets[place] for place in places]
        whole = times(sum(group), code.rate.scaleb(-2))
        amounts = split_by_rate(whole, group, _part(code.rate))
        back = times(whole, code.recoverable.scaleb(-2))
        recovered = split_by_rate(back, amounts, _part(code.recoverable))
        for place, amount, back in zip(places, amounts, recovered, strict=True):
            if amount:
                output = Tax(-amount, accounts.output, code.mark(TaxPart.OUTPUT))
                account_id = items[place].account_id
                own = _coded(code, code.code.tax_account_id, account_id, amount, back)
                owed[place] = (output, *own)
    return owed


def _assessing(taxing: TaxInstruction) -> tuple[UUID, Decimal] | None:
    code = taxing.code
    if code is None or taxing.given is not None or not code.self_assessed:
        return None
    return None if code.code.direction is Direction.SALES else _named(code)


def _named(code: DayCode) -> tuple[UUID, Decimal]:
    return code.code.id, code.rate


def _grouped(
    items: Sequence[TaxableAmount], key: Callable[[TaxInstruction], K | None]
) -> dict[K, list[int]]:
    """Group the places of amounts by a key; amounts without a key are left out."""
    places: dict[K, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        named = key(item.taxing)
        if named is not None:
            places[named].append(place)
    return places


def _spread(
    whole: int,
    weights: Sequence[int],
    rate: Fraction,
    places: Sequence[int],
    amounts: list[int],
) -> None:
    """Split an amount that is a rate of some weights over some places of a list."""
    for place, share in zip(places, split_by_rate(whole, weights, rate), strict=True):
        amounts[place] = share


def _part(percent: Decimal) -> Fraction:
    """Return percent as a part of one: 20 is a fifth."""
    return Fraction(percent) / 100


# Refusal of amounts below zero of a code and rate.


TaxedLine = tuple[str, TaxInstruction]
"""The place of a line in the request, and its taxation."""


Code = tuple[str, Decimal]
"""A code, or "" without one, and its rate in percent."""


def refuse_below_zero(lines: Sequence[TaxedLine], nets: Sequence[int]) -> None:
    """Refuse lines below zero that exceed the other lines of their code and rate.

    At 20 %, 1000 less a deposit of 300 is 700; less 1001 it is refused. The lines of a withholding
    code are held to the same. Raises RuleViolation `negative_amount`.
    """
    _refuse_sums(code_and_rate, lines, nets)
    _refuse_sums(_withholding_and_rate, lines, nets)


def refuse_tax_below_zero(lines: Sequence[TaxedLine], taxes: Sequence[int]) -> None:
    """Refuse computed tax below zero that exceeds the given tax of its code and rate.

    Raises RuleViolation `negative_amount`.
    """
    _refuse_sums(code_and_rate, lines, taxes)


def _refuse_sums(
    key: Callable[[TaxInstruction], Code | None], lines: Sequence[TaxedLine], amounts: Sequence[int]
) -> None:
    if min(amounts, default=0) >= 0:
        return
    sums: dict[Code | None, int] = defaultdict(int)
    for (_, taxing), amount in zip(lines, amounts, strict=True):
        sums[key(taxing)] += amount
    for (place, taxing), amount in zip(lines, amounts, strict=True):
        code = key(taxing)
        if amount < 0 and code is not None and sums[code] < 0:
            words = "The lines of a tax code and rate are below zero in sum."
            raise negative(words, place, sums[code])


def _withholding_and_rate(taxing: TaxInstruction) -> Code | None:
    """Return the withholding code of a line and its rate, or None."""
    code = taxing.withholding
    return None if code is None else (code.code.code, code.rate)


def code_and_rate(taxing: TaxInstruction) -> Code:
    """Return the code and the rate of a line; it may have neither."""
    if taxing.code is not None:
        return taxing.code.code.code, taxing.code.rate
    return "", taxing.rate or Decimal(0)


def negative(message: str, field: str, amount: int) -> RuleViolation:
    """Create the error for an amount below zero of a field."""
    return RuleViolation("negative_amount", message, field=field, amount=amount)


# The tax included in gross amounts of money without a document.


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldTax:
    """The tax in a gross amount, by a code at a rate in percent; amounts above zero.

    `self_assessed` is due in addition, for money that goes out: debits above zero.
    """

    code_id: UUID
    rate: Decimal
    taxes: tuple[Tax, ...] = ()
    self_assessed: tuple[Tax, ...] = ()

    @property
    def total(self) -> int:
        """The tax in the amount."""
        return sum(each.amount for each in self.taxes)


@dataclass(frozen=True, slots=True)
class Gross:
    """A gross amount above zero, its account, and the code that taxes it."""

    amount: int
    account_id: UUID
    code: DayCode | None = None


def held_taxes(amounts: Sequence[Gross], roles: Roles) -> list[HeldTax | None]:
    """Compute the tax in gross amounts, once for each code; 120 at 20 % include 20."""
    taxable = [
        TaxableAmount(
            amount=each.amount, account_id=each.account_id, taxing=TaxInstruction(code=each.code)
        )
        for each in amounts
    ]
    output = roles[Role.OUTPUT_TAX]
    taxed = tax(taxable, TaxAccounts(output, output), inclusive=True)
    return [
        None
        if each.code is None
        else HeldTax(
            code_id=each.code.code.id,
            rate=each.code.rate,
            taxes=found.taxes,
            self_assessed=found.self_assessed,
        )
        for each, found in zip(amounts, taxed, strict=True)
    ]


def net_and_taxes(
    amount: int, account_id: UUID, held: HeldTax | None
) -> Iterator[tuple[UUID, int, TaxMark | None]]:
    """Yield a gross amount by account: of 120, 100 on its own and 20 on that of the tax."""
    if held is None:
        yield account_id, amount, None
        return
    yield account_id, amount - held.total, TaxMark.of_net(held.code_id, held.rate)
    for each in held.taxes:
        yield each.account_id, each.amount, each.mark
