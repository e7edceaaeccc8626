"""The tax codes that callers name, with their rates on the day of the taxed amount."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from uuid import UUID

from accounting.books.accounts import BookAccounts
from accounting.books.chart import Roles
from accounting.books.ledger import TaxMark, TaxPart
from accounting.errors import AboutItem, Conflict, RuleViolation
from accounting.tax.codes import UNTAXED, Direction, TaxCode, TaxCodes, Treatment, rate_on
from accounting.tax.taxed_amounts import DayCode


@dataclass(frozen=True, slots=True)
class DayCodes:
    """The tax codes of a business on the day of a taxed amount, of one direction or of both."""

    codes: TaxCodes
    direction: Direction | None
    day: date

    def named(self, reference: str, place: str) -> DayCode:
        """Find the code that taxes an amount, by its id or by the code itself.

        `place` is its path in the request. Raises RuleViolation `reference_not_found`,
        `tax_code_mismatch` or `tax_rate_missing`; Conflict `tax_code_archived`.
        """
        with AboutItem(place):
            code = self._usable(reference)
            if code.treatment is Treatment.WITHHOLDING:
                raise mismatch(
                    code, "This tax code is for withholding tax. Send it as withholding tax."
                )
            return self._on_day(code)

    def withholding(self, reference: str, place: str) -> DayCode:
        """Find a code of withholding tax; raises what `named` raises."""
        with AboutItem(place):
            code = self._usable(reference)
            if code.treatment is not Treatment.WITHHOLDING:
                raise mismatch(code, "This tax code is not for withholding tax.")
            return self._on_day(code)

    def part(self, reference: str, part: TaxPart, place: str) -> TaxMark:
        """Mark an amount as a part of what a code taxes: `withheld` for withholding tax only.

        Raises what `named` raises.
        """
        with AboutItem(place):
            code = self._usable(reference)
            if (code.treatment is Treatment.WITHHOLDING) != (part is TaxPart.WITHHELD):
                raise mismatch(
                    code,
                    "A withholding tax code needs the tax part withheld, and no other tax code"
                    " may have it.",
                )
            return self._on_day(code).mark(part)

    def of_rate(self, rate: Decimal) -> DayCode | None:
        """Find the code of a rate that is given without a code, or None."""
        assert self.direction is not None, "a rate alone names a code of one direction"
        code = self.codes.for_rate(self.direction, rate, self.day)
        return None if code is None else self._on_day(code)

    def kept(self, id: UUID) -> DayCode:
        """Find a code that a stored record names, as it is on this day.

        Raises RuleViolation `tax_rate_missing`.
        """
        code = self.codes.named(str(id))
        assert code is not None, "a code that stands somewhere is never deleted"
        return self._on_day(code)

    def _usable(self, reference: str) -> TaxCode:
        code = self.codes.named(reference)
        if code is None:
            raise RuleViolation(
                "reference_not_found",
                "The business has no such tax code.",
                resource="tax_code",
                reference=reference,
            )
        if code.archived_at is not None:
            raise Conflict(
                "tax_code_archived",
                "The tax code is archived. Unarchive it or choose another tax code.",
                tax_code_id=str(code.id),
                tax_code=code.code,
            )
        if self.direction is not None and code.direction is not self.direction:
            raise mismatch(code, f"This tax code is not for {self.direction}.")
        return code

    def _on_day(self, code: TaxCode) -> DayCode:
        held = rate_on(code, self.day)
        if held is not None:
            return DayCode(code, held.rate, held.recoverable_percent)
        if code.treatment in UNTAXED:
            return DayCode(code, Decimal(0))
        raise RuleViolation(
            "tax_rate_missing",
            f"The tax code {code.code} has no rate on {self.day}.",
            tax_code_id=str(code.id),
            tax_code=code.code,
            date=self.day.isoformat(),
        )


def mismatch(code: TaxCode, message: str) -> RuleViolation:
    """Create the error for a code that cannot tax what it is named for."""
    return RuleViolation(
        "tax_code_mismatch",
        message,
        tax_code_id=str(code.id),
        tax_code=code.code,
        direction=code.direction,
        treatment=code.treatment,
    )


@dataclass(frozen=True, slots=True)
class MarkedByHand:
    """A source of tax marks for the lines of manual entries, by codes of either direction."""

    codes: TaxCodes

    def marked(self, reference: str, part: TaxPart, on: date, place: str) -> TaxMark:
        """Mark a line: as output by S20, it is tax at 20 % in Great Britain."""
        return DayCodes(self.codes, None, on).part(reference, part, place)


@dataclass(frozen=True, slots=True)
class TaxReferences:
    """The records that a taxed record refers to: accounts, and the tax codes of the business."""

    accounts: BookAccounts
    codes: TaxCodes

    @classmethod
    def by_role(cls, roles: Roles) -> "TaxReferences":
        """Create one with account roles only, if no account is named and nothing is taxed anew."""
        return cls(BookAccounts(roles, {}), TaxCodes(()))

    def of(self, currency: str, base_currency: str) -> "TaxReferences":
        """Return the references of a record in a currency."""
        accounts = self.accounts.of(currency, base_currency)
        return self if accounts is self.accounts else replace(self, accounts=accounts)

    @property
    def roles(self) -> Roles:
        """The accounts of the business by role."""
        return self.accounts.roles

    def codes_on(self, direction: Direction | None, day: date) -> DayCodes:
        """Return the codes of a direction, or of both, as they are on a day."""
        return DayCodes(self.codes, direction, day)
