"""The tax included in gross amounts of money without a document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.tax_marks import TaxMark
from accounting.tax.taxed_amounts import DayCode, Tax, Taxable, TaxAccounts, Taxing, tax


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
        Taxable(amount=each.amount, account_id=each.account_id, taxing=Taxing(code=each.code))
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
