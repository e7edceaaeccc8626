"""Refusal of amounts below zero: of a tax code and rate, of a discount, and of a total."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal

from accounting.errors import RuleViolation
from accounting.tax.taxed_amounts import TaxInstruction

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


def refuse_larger(discount: int, subtotal: int) -> None:
    """Refuse a discount on the document that is larger than its subtotal.

    Raises RuleViolation `negative_amount`.
    """
    if discount > subtotal:
        raise RuleViolation(
            "negative_amount",
            "The discount is larger than the subtotal.",
            field="additional_discount",
            amount=subtotal - discount,
        )


def negative(message: str, field: str, amount: int) -> RuleViolation:
    """Create the error for an amount below zero of a field."""
    return RuleViolation("negative_amount", message, field=field, amount=amount)


def refuse_withheld(total: int) -> None:
    """Refuse a total below zero, which only withheld tax can cause.

    Raises RuleViolation `negative_amount`.
    """
    if total < 0:
        raise RuleViolation(
            "negative_amount", "The withholding tax exceeds the total amount.", amount=total
        )
