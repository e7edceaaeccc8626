"""The figures of a tax return: amounts by code and part, and the boxes of the country's form.

Amounts come from the ledger as debits and credits. A return shows them as its form does: the net
and the tax of a sale above zero, and credited amounts below.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final
from uuid import UUID

from accounting.books.ledger import TaxMark, TaxPart
from accounting.tax import german_form
from accounting.tax.codes import Direction, TaxCode, TaxCodes, Treatment

WHOLE_UNIT: Final = 100  # The currencies of both forms have two digits.

CREDIT, DEBIT = -1, 1

# The side of the ledger on which an amount is above zero in a return; else debit.
_SIDES: Final = {
    Direction.SALES: {TaxPart.NET: CREDIT, TaxPart.OUTPUT: CREDIT},
    Direction.PURCHASES: {
        TaxPart.OUTPUT: CREDIT,
        TaxPart.WITHHELD: CREDIT,
        TaxPart.RELIEF_NET: CREDIT,
        TaxPart.RELIEF: CREDIT,
    },
}

# The parts that bad-debt relief reverses, of a sale and of a purchase.
_RELIEVED: Final = {
    Direction.SALES: {TaxPart.RELIEF_NET: TaxPart.NET, TaxPart.RELIEF: TaxPart.OUTPUT},
    Direction.PURCHASES: {TaxPart.RELIEF_NET: TaxPart.NET, TaxPart.RELIEF: TaxPart.INPUT},
}


@dataclass(frozen=True, slots=True)
class BoxSource:
    """The amounts that go into a box: a part of a code, on one side of the ledger.

    Without a `rate` they are those of all rates.
    """

    code_id: UUID
    part: TaxPart
    side: int
    rate: Decimal | None = None

    @property
    def of_all_rates(self) -> "BoxSource":
        """The same amounts at all rates."""
        return BoxSource(self.code_id, self.part, self.side)


@dataclass(frozen=True, slots=True)
class CodedAmount:
    """Posted amounts of one code, rate and part: its debits and its credits, both positive.

    `late` amounts should have been in a filed return; `transition` amounts were unsettled before a
    change from cash to accrual.
    """

    code_id: UUID
    rate: Decimal
    part: TaxPart
    debits: int
    credits: int
    late: bool = False
    transition: bool = False

    def on(self, side: int) -> int:
        """Return the amount on one side of the ledger."""
        return self.debits if side == DEBIT else self.credits


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsettledAmount:
    """A document's unsettled amount before a change from cash to accrual; debits above zero."""

    document_id: UUID
    code_id: UUID
    rate: Decimal
    part: TaxPart
    amount: int

    @property
    def coded(self) -> CodedAmount:
        """The amount as it goes into a return."""
        return CodedAmount(
            self.code_id,
            self.rate,
            self.part,
            debits=max(self.amount, 0),
            credits=max(-self.amount, 0),
            transition=True,
        )


@dataclass(frozen=True, slots=True)
class Box:
    """A box of the form, in minor units, and the amounts that go into it."""

    number: str
    amount: int
    behind: tuple[BoxSource, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeFigures:
    """The figures of a return for one code and rate."""

    code_id: UUID
    code: str
    name: str
    direction: Direction
    treatment: Treatment
    rate: Decimal
    parts: Mapping[TaxPart, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UncodedAmount:
    """The amount posted to a tax account without a code, debits less credits."""

    account_id: UUID
    code: str
    name: str
    amount: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a return; `late` and `transition` amounts are in the other figures, too.

    `unapplied_received` and `unapplied_paid` are money that settles nothing yet: without tax on
    cash, and perhaps a deposit with tax on accrual. They are None in older filed returns.
    `rounding` is the tax owed less the tax that the form declares.
    """

    boxes: tuple[Box, ...]
    codes: tuple[CodeFigures, ...]
    late: tuple[CodeFigures, ...]
    uncoded: tuple[UncodedAmount, ...]
    transition: tuple[CodeFigures, ...] = ()
    unapplied_received: int | None = None
    unapplied_paid: int | None = None
    rounding: int = 0

    @property
    def tax_due(self) -> int:
        """The tax owed less the tax recovered: 1060 of output 2000 less input 940."""
        due = {TaxPart.OUTPUT: 1, TaxPart.INPUT: -1}
        relieved = {Direction.SALES: -1, Direction.PURCHASES: 1}
        return sum(
            (relieved[each.direction] if part is TaxPart.RELIEF else due.get(part, 0)) * amount
            for each in self.codes
            for part, amount in each.parts.items()
        )

    def withheld(self, direction: Direction) -> int:
        """Return the tax that customers withheld (sales), or that was withheld from vendors."""
        return sum(
            each.parts.get(TaxPart.WITHHELD, 0)
            for each in self.codes
            if each.direction is direction
        )

    def behind(self, number: str) -> tuple[BoxSource, ...] | None:
        """Return the amounts that go into a box; None if the form has no such box."""
        return next((each.behind for each in self.boxes if each.number == number), None)


def drawn_up(
    country: str | None,
    coded: Sequence[CodedAmount],
    codes: TaxCodes,
    uncoded: Sequence[UncodedAmount],
    unapplied: tuple[int, int],
) -> Figures:
    """Compute all figures of a return; `unapplied` is money received and paid in advance."""
    received, paid = unapplied
    filled = boxes(country, coded, codes)
    return Figures(
        boxes=filled,
        codes=by_code(coded, codes),
        late=by_code((each for each in coded if each.late), codes),
        transition=by_code((each for each in coded if each.transition), codes),
        uncoded=tuple(uncoded),
        unapplied_received=received,
        unapplied_paid=paid,
        rounding=_rounding(country, filled, coded, codes),
    )


def by_code(coded: Iterable[CodedAmount], codes: TaxCodes) -> tuple[CodeFigures, ...]:
    """Sum amounts by code and rate, in the order of the codes.

    Credits of 10000 as net and 2000 as output by S20, and a debit of 1000 as net, give a net of
    9000 and an output of 2000.
    """
    sums: dict[tuple[UUID, Decimal], dict[TaxPart, int]] = defaultdict(lambda: defaultdict(int))
    known = {each.id: each for each in codes.codes}
    for each in coded:
        side = _side(known[each.code_id], each.part)
        sums[each.code_id, each.rate][each.part] += each.on(side) - each.on(-side)
    figures = [
        CodeFigures(
            code_id=code.id,
            code=code.code,
            name=code.name,
            direction=code.direction,
            treatment=code.treatment,
            rate=rate,
            parts={part: amount for part, amount in parts.items() if amount},
        )
        for (code_id, rate), parts in sums.items()
        for code in [known[code_id]]
        if any(parts.values())
    ]
    return tuple(sorted(figures, key=lambda each: (each.code, each.rate)))


def boxes(country: str | None, coded: Sequence[CodedAmount], codes: TaxCodes) -> tuple[Box, ...]:
    """Fill in the form of a country; all but Great Britain have only the boxes that codes name.

    In Great Britain, sales of 100.00 and purchases of 60.00 at 20 % give 20.00 in boxes 1 and 3,
    12.00 in box 4, 8.00 in box 5, 100.00 in box 6 and 60.00 in box 7.
    """
    amounts: dict[str, int] = defaultdict(int)
    behind: dict[str, dict[BoxSource, None]] = defaultdict(dict)
    whole: set[str] = set()
    known = {each.id: each for each in codes.codes}
    for each in coded:
        code = known[each.code_id]
        for side in (DEBIT, CREDIT):
            for number, sign, is_net in _placed(country, code, each.part, each.rate, side):
                amounts[number] += sign * each.on(side)
                source = BoxSource(code.id, each.part, side, _rate_in(country, number, each.rate))
                behind[number][source] = None
                whole |= {number} if is_net else set()
    found = [
        Box(number, _whole(amount) if number in whole else amount, tuple(behind[number]))
        for number, amount in amounts.items()
    ]
    if country == "GB":
        return _british(found)
    if country == "DE":
        found = [each for each in found if each.number != german_form.SUM]
        found.append(_german_sum(found, coded, known))
    return tuple(sorted(found, key=_in_order))


def contribution(
    country: str | None, code: TaxCode, mark: TaxMark, amount: int, box: str | None = None
) -> int:
    """Return what a posted amount, a debit above zero, adds to a box, or else to its code's figure.

    In Great Britain a credit of 100.00 as the net of a sale adds 100.00 to box 6, and a debit of
    60.00 for services from abroad adds 60.00. Box 4 counts against box 5.
    """
    side, part = DEBIT if amount > 0 else CREDIT, mark.part
    if country == "DE" and box == german_form.SUM:
        return _sign_in_sum(code, part, mark.rate, side) * abs(amount)
    placed = {number: sign for number, sign, _ in _placed(country, code, part, mark.rate, side)}
    if box is None or not placed:
        return amount * _side(code, part)
    sign = placed.get(box, next(iter(placed.values())))
    against = country == "GB" and box == "5" and "4" in placed
    return abs(amount) * (-sign if against else sign)


def _placed(
    country: str | None, code: TaxCode, part: TaxPart, rate: Decimal, side: int
) -> Iterator[tuple[str, int, bool]]:
    """Yield the boxes that an amount goes into, its sign there, and whether they are of a net."""
    if part not in code.boxes and country == "GB" and part in _RELIEVED[code.direction]:
        yield from _relieved_in_britain(code, part, side)
        return
    told = _told(code, part)
    is_german = country == "DE"
    found = german_form.at_rate(code.boxes, told, rate) if is_german else code.boxes.get(told, ())
    for number in found:
        yield number, side * _side(code, told), told in (TaxPart.NET, TaxPart.RELIEF_NET)


def _told(code: TaxCode, part: TaxPart) -> TaxPart:
    """Return the part as which a code declares a part: relief is the tax that it reverses."""
    return part if part in code.boxes else _RELIEVED[code.direction].get(part, part)


def _rate_in(country: str | None, box: str, rate: Decimal) -> Decimal | None:
    return rate if country == "DE" and box in german_form.DEPEND_ON_RATE else None


def _relieved_in_britain(
    code: TaxCode, part: TaxPart, side: int
) -> Iterator[tuple[str, int, bool]]:
    """Yield the box of bad-debt relief: 4 for a sale, or 1 if it is reversed; its net has none.

    Relief on a purchase reduces box 4.
    """
    sold = code.direction is Direction.SALES
    if part is not TaxPart.RELIEF or (TaxPart.OUTPUT if sold else TaxPart.INPUT) not in code.boxes:
        return
    if sold:
        yield ("4", 1, False) if side == DEBIT else ("1", 1, False)
    else:
        yield "4", side, False


def _side(code: TaxCode, part: TaxPart) -> int:
    return _SIDES[code.direction].get(part, DEBIT)


def _british(found: Iterable[Box]) -> tuple[Box, ...]:
    """Return the nine boxes of the form; 3 and 5 are computed from 1, 2 and 4."""
    by_number = {str(number): Box(str(number), 0) for number in range(1, 10)}
    by_number |= {each.number: each for each in found}
    owed = by_number["1"].amount + by_number["2"].amount
    due = _together(by_number, "1", "2")
    by_number["3"] = Box("3", owed, due)
    by_number["5"] = Box(
        "5", abs(owed - by_number["4"].amount), tuple(dict.fromkeys((*due, *by_number["4"].behind)))
    )
    return tuple(sorted(by_number.values(), key=_in_order))


def _german_sum(
    found: Iterable[Box], coded: Iterable[CodedAmount], known: Mapping[UUID, TaxCode]
) -> Box:
    """Return box 83, computed from the other boxes, and the tax behind it."""
    behind = {
        BoxSource(each.code_id, each.part, side, each.rate): None
        for each in coded
        for side in (DEBIT, CREDIT)
        if each.on(side) and _sign_in_sum(known[each.code_id], each.part, each.rate, side)
    }
    summed = german_form.summed({each.number: each.amount for each in found})
    return Box(german_form.SUM, summed, tuple(behind))


def _sign_in_sum(code: TaxCode, part: TaxPart, rate: Decimal, side: int) -> int:
    """Return the sign with which an amount on a side of the ledger is in box 83, or 0."""
    told = _told(code, part)
    if told is TaxPart.NET:
        return 0
    return german_form.sign_in_sum(code.boxes, told, rate) * side * _side(code, told)


def _rounding(
    country: str | None, filled: Iterable[Box], coded: Iterable[CodedAmount], codes: TaxCodes
) -> int:
    """Return the posted tax less the tax that the form computes from its bases.

    In Germany, 900.50 at 19 % have 171.10 of tax, and the form computes 171.00 from 900.00.
    """
    if country != "DE":
        return 0
    known = {each.id: each for each in codes.codes}
    posted = sum(
        (each.on(side) * side * _side(code, TaxPart.OUTPUT))
        for each in coded
        for code in [known[each.code_id]]
        if german_form.is_computed(code.boxes, _told(code, each.part), each.rate)
        for side in (DEBIT, CREDIT)
    )
    return posted - german_form.computed({each.number: each.amount for each in filled})


def _together(found: Mapping[str, Box], *numbers: str) -> tuple[BoxSource, ...]:
    return tuple(dict.fromkeys(each for number in numbers for each in found[number].behind))


def _whole(amount: int) -> int:
    """Drop the fraction of a pound or euro: 123.45 is 123.00, and -123.45 is -123.00."""
    return amount - (amount % WHOLE_UNIT if amount >= 0 else -(-amount % WHOLE_UNIT))


def _in_order(box: Box) -> tuple[int, str]:
    return (int(box.number), "") if box.number.isdecimal() else (10**20, box.number)
