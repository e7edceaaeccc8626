"""Which code a caller named, as it stands on the day of what is taxed."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from accounting.books.accounts import BookAccounts
from accounting.books.chart import Roles
from accounting.books.tax_marks import TaxMark, TaxPart
from accounting.errors import AboutItem, Conflict, RuleBroken
from accounting.tax.codes import UNTAXED, Direction, TaxCode, TaxCodes, Treatment, rate_on
from accounting.tax.taxed_amounts import DayCode


@dataclass(frozen=True, slots=True)
class DayCodes:
    """The codes of a business on the day of what is taxed by them, of one direction or of both."""

    codes: TaxCodes
    direction: Direction | None
    day: date

    def named(self, reference: str, place: str) -> DayCode:
        """Find the code that taxes an amount, by its id or by the code itself.

        `place` is where it stands in the request. Raises RuleBroken `reference_not_found`,
        `tax_code_mismatch` or `tax_rate_missing`; Conflict `tax_code_archived`.
        """
        with AboutItem(place):
            code = self._usable(reference)
            if code.treatment is Treatment.WITHHOLDING:
                raise mismatch(code, "The code is of tax that is withheld: give it as that.")
            return self._on_day(code)

    def withholding(self, reference: str, place: str) -> DayCode:
        """Find the code that tax is withheld by; raises what `named` raises."""
        with AboutItem(place):
            code = self._usable(reference)
            if code.treatment is not Treatment.WITHHOLDING:
                raise mismatch(code, "The code is not of tax that is withheld.")
            return self._on_day(code)

    def part(self, reference: str, part: TaxPart, place: str) -> TaxMark:
        """Mark an amount as a part of what a code taxes: withheld where it is of tax withheld.

        Raises what `named` raises.
        """
        with AboutItem(place):
            code = self._usable(reference)
            if (code.treatment is Treatment.WITHHOLDING) != (part is TaxPart.WITHHELD):
                raise mismatch(
                    code,
                    "The code is of tax that is withheld, and the part is not; or the other way"
                    " round.",
                )
            return self._on_day(code).mark(part)

    def of_rate(self, rate: Decimal) -> DayCode | None:
        """Find the code that a rate alone names, if one does."""
        assert self.direction is not None, "a rate alone names a code of one direction"
        code = self.codes.for_rate(self.direction, rate, self.day)
        return None if code is None else self._on_day(code)

    def kept(self, id: UUID) -> DayCode:
        """Find a code that stands on what was written before, as it is on this day.

        Raises RuleBroken `tax_rate_missing`.
        """
        code = self.codes.named(str(id))
        assert code is not None, "a code that stands somewhere is never deleted"
        return self._on_day(code)

    def _usable(self, reference: str) -> TaxCode:
        code = self.codes.named(reference)
        if code is None:
            raise RuleBroken(
                "reference_not_found",
                "The business has no such tax code.",
                resource="tax_code",
                reference=reference,
            )
        if code.archived_at is not None:
            raise Conflict(
                "tax_code_archived",
                "The tax code is archived. Make it active again, or name another one.",
                tax_code_id=str(code.id),
                tax_code=code.code,
            )
        if self.direction is not None and code.direction is not self.direction:
            raise mismatch(code, f"The code is not one of {self.direction}.")
        return code

    def _on_day(self, code: TaxCode) -> DayCode:
        held = rate_on(code, self.day)
        if held is not None:
            return DayCode(code, held.rate, held.recoverable_percent)
        if code.treatment in UNTAXED:
            return DayCode(code, Decimal(0))
        raise RuleBroken(
            "tax_rate_missing",
            f"The tax code {code.code} has no rate on {self.day}.",
            tax_code_id=str(code.id),
            tax_code=code.code,
            date=self.day.isoformat(),
        )


def mismatch(code: TaxCode, message: str) -> RuleBroken:
    """Say that a code cannot tax what it is named for."""
    return RuleBroken(
        "tax_code_mismatch",
        message,
        tax_code_id=str(code.id),
        tax_code=code.code,
        direction=code.direction,
        treatment=code.treatment,
    )


@dataclass(frozen=True, slots=True)
class MarkedByHand:
    """Marks the lines of entries that are written by hand, by codes of either direction."""

    codes: TaxCodes

    def marked(self, reference: str, part: TaxPart, on: date, place: str) -> TaxMark:
        """Mark a line: by S20 as output, it is tax at 20 % in Great Britain."""
        return DayCodes(self.codes, None, on).part(reference, part, place)


@dataclass(frozen=True, slots=True)
class Referenced:
    """What something that is taxed refers to: accounts, and the tax codes of the business."""

    accounts: BookAccounts
    codes: TaxCodes

    @classmethod
    def by_role(cls, roles: Roles) -> "Referenced":
        """The accounts with a role, where nothing is named and nothing is taxed anew."""
        return cls(BookAccounts(roles, {}), TaxCodes(()))

    @property
    def roles(self) -> Roles:
        """Which account has which role."""
        return self.accounts.roles

    def codes_on(self, direction: Direction | None, day: date) -> DayCodes:
        """The codes of a direction, or of both, as they stand on a day."""
        return DayCodes(self.codes, direction, day)
