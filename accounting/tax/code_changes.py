"""Creation, change and archiving of tax codes, and the transfer of the default."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from accounting.absent import Absent, or_else, said
from accounting.books.accounts import AccountReference, BookAccounts, named_or
from accounting.books.businesses import Context
from accounting.errors import Conflict, ValidationError
from accounting.tax.codes import (
    CHARGED,
    PURCHASES_ONLY,
    UNTAXED,
    Direction,
    Rate,
    TaxCode,
    Treatment,
    account_role,
)
from accounting.tax.commands import Boxes, ChangeTaxCode, CreateTaxCode


def account_references(command: CreateTaxCode | ChangeTaxCode) -> frozenset[AccountReference]:
    """List the accounts that a command names, so that they can be loaded first."""
    named = command.tax_account
    return frozenset([named] if isinstance(named, AccountReference) else [])


def created(command: CreateTaxCode, accounts: BookAccounts, context: Context) -> TaxCode:
    """Create a tax code; its tax account is the one it names, else that of its treatment.

    Without an account, 20 % on sales uses 2200 VAT payable. Raises ValidationError
    `validation_error`; RuleViolation `reference_not_found` or `control_account`; Conflict
    `account_archived`.
    """
    default = accounts.roles[account_role(command.direction, command.treatment)]
    code = TaxCode(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        code=command.code,
        name=command.name,
        direction=command.direction,
        treatment=command.treatment,
        rates=in_order(command.rates),
        tax_account_id=named_or(default, command.tax_account, accounts),
        boxes=_filled(or_else(command.boxes, {})),
        is_default=command.is_default,
    )
    _refuse_faults(code, command.rates)
    return code


def changed(
    code: TaxCode, command: ChangeTaxCode, in_use: bool, accounts: BookAccounts, context: Context
) -> TaxCode:
    """Change the supplied fields of a tax code; if nothing differs, return the same object.

    Once posted lines name it, its direction, its treatment and its rates up to today stay: a 20 %
    without an end may end today, and 22 % may begin tomorrow. Raises what `created` raises, and
    Conflict `tax_code_in_use` or `tax_code_archived`.
    """
    given = said(command, "code", "name", "direction", "treatment", "is_default")
    if not isinstance(command.rates, Absent):
        given["rates"] = in_order(command.rates)
    if not isinstance(command.boxes, Absent):
        given["boxes"] = _filled(command.boxes)
    if not isinstance(command.tax_account, Absent):
        given["tax_account_id"] = named_or(code.tax_account_id, command.tax_account, accounts)
    active = or_else(command.active, code.archived_at is None)
    if not active:
        given = {"is_default": False, **given}
    archived_at = None if active else code.archived_at or context.now
    amended = replace(code, **given, archived_at=archived_at)
    _refuse_faults(amended, or_else(command.rates, amended.rates))
    if in_use:
        _refuse_rewriting(code, amended, context.today)
    _refuse_archived_default(amended)
    return code if amended == code else replace(amended, updated_at=context.now)


def archived(code: TaxCode, context: Context) -> TaxCode:
    """Archive a tax code, which is then no default; an archived one stays as it is."""
    if code.archived_at is not None:
        return code
    return replace(code, archived_at=context.now, updated_at=context.now, is_default=False)


def displaced(code: TaxCode, others: Iterable[TaxCode], context: Context) -> list[TaxCode]:
    """List the codes that lose the default to another code, as they are then.

    If S5 becomes the default of sales, S20 loses it, and P20 stays that of purchases.
    """
    return [
        replace(each, is_default=False, updated_at=context.now)
        for each in others
        if code.is_default
        and each.is_default
        and each.direction is code.direction
        and each.id != code.id
    ]


def in_order(rates: Iterable[Rate]) -> tuple[Rate, ...]:
    """Sort rates by their first day."""
    return tuple(sorted(rates, key=lambda rate: rate.valid_from or date.min))


def _filled(boxes: Boxes) -> Boxes:
    return {part: numbers for part, numbers in boxes.items() if numbers}


def _refuse_faults(code: TaxCode, given: Sequence[Rate]) -> None:
    """Refuse an inconsistent code; `given` are the rates in the order of the request."""
    faults: dict[str, list[str]] = {}
    for name, fault in (*_kind_faults(code), *_rate_faults(code, given)):
        faults.setdefault(name, []).append(fault)
    if faults:
        raise ValidationError.with_faults(faults)


def _kind_faults(code: TaxCode) -> Iterator[tuple[str, str]]:
    treatment = code.treatment
    if treatment in PURCHASES_ONLY and code.direction is Direction.SALES:
        yield "treatment", f"cannot be {treatment} on sales"
    if code.is_default and treatment not in CHARGED:
        yield "is_default", f"must be false for the treatment {treatment}"


def _rate_faults(code: TaxCode, given: Sequence[Rate]) -> Iterator[tuple[str, str]]:
    reversed_sale = code.treatment is Treatment.REVERSE_CHARGE and code.direction is Direction.SALES
    for place, rate in enumerate(given):
        if rate.rate and (code.treatment in UNTAXED or reversed_sale):
            yield f"rates.{place}.rate", f"must be 0 for {code.treatment} on {code.direction}"
        if _first(rate) > _last(rate):
            yield f"rates.{place}.valid_to", "must not be before valid_from"
    yield from _overlaps(given)


def _overlaps(given: Sequence[Rate]) -> Iterator[tuple[str, str]]:
    for place, rate in enumerate(given):
        for before, other in enumerate(given[:place]):
            if _first(rate) <= _last(other) and _first(other) <= _last(rate):
                yield f"rates.{place}.valid_from", f"must not overlap rates.{before}"
                break


def _refuse_rewriting(code: TaxCode, amended: TaxCode, today: date) -> None:
    stays: dict[str, tuple[Any, Any]] = {
        "direction": (code.direction, amended.direction),
        "treatment": (code.treatment, amended.treatment),
        "rates": (_up_to(today, code.rates), _up_to(today, amended.rates)),
    }
    fields = [name for name, (before, after) in stays.items() if before != after]
    if fields:
        raise Conflict(
            "tax_code_in_use",
            f"Posted lines use this tax code, so its past cannot change: {', '.join(fields)}."
            " Create another tax code, or give a rate its last day.",
            tax_code_id=str(code.id),
            fields=fields,
        )


def _up_to(today: date, rates: Iterable[Rate]) -> list[Rate]:
    """Return the rates of all days up to today, since posted lines may be on any of them."""
    begun = (rate for rate in rates if _first(rate) <= today)
    return [replace(rate, valid_to=min(_last(rate), today)) for rate in begun]


def _refuse_archived_default(code: TaxCode) -> None:
    if code.is_default and code.archived_at is not None:
        raise Conflict(
            "tax_code_archived",
            "The tax code is archived. Unarchive it or choose another tax code.",
            tax_code_id=str(code.id),
        )


def _first(rate: Rate) -> date:
    return rate.valid_from or date.min


def _last(rate: Rate) -> date:
    return rate.valid_to or date.max
