"""What a return says, and what stands behind it, as it is read from the books."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.tax_marks import TaxPart
from accounting.tax import cash_schemes, return_figures, returns
from accounting.tax.cash_schemes import Counted
from accounting.tax.codes import TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import CREDIT, DEBIT, Behind, Figures
from accounting.tax.returns import ReturnStatus, Slice, TaxReturn
from persistence.books import Books
from persistence.tax.coded_amounts import SETTLED_ON
from persistence.tax.tax_returns import Behindhand

TAX_ROLES = (
    Role.OUTPUT_TAX,
    Role.INPUT_TAX,
    Role.WITHHOLDING_TAX_RECEIVABLE,
    Role.WITHHOLDING_TAX_PAYABLE,
)


async def drawn_up(
    books: Books, draft: TaxReturn, *, whole: bool = False
) -> tuple[Sequence[Slice], Figures]:
    """Work out what a draft has of the journal by now, and what it says.

    The `whole` of its days has what was filed before, too, and nothing is late.
    """
    roles = await books.roles()
    filed, codes = await books.fetch(books.tax_returns.filed(), books.tax_codes.all())
    slices = returns.members(draft, () if whole else filed)
    country = books.business.country
    counted = cash_schemes.counted(country, draft.scheme, codes)
    coded, uncoded, held = await books.fetch(
        books.tax_returns.coded(slices, counted, await settling_accounts(books)),
        books.tax_returns.uncoded(slices, tax_accounts(roles, codes)),
        books.tax_returns.held(in_advance(roles), draft.end_date),
    )
    unapplied = unapplied_money(draft, roles, held)
    figures = return_figures.drawn_up(country, coded, codes, uncoded, unapplied)
    return slices, figures


def read(filed: TaxReturn) -> Figures:
    """Read what a filed return says."""
    assert filed.figures is not None, "what was filed keeps its figures"
    return filed.figures


async def what_is_listed(
    books: Books, tax_return: TaxReturn, asked: Mapping[str, Any]
) -> tuple[Behindhand, TaxCodes]:
    """Say which lines of a return a list asks for: by box, code, part, or only what is late."""
    if tax_return.status is ReturnStatus.DRAFT:
        slices, figures = await drawn_up(books, tax_return)
    else:
        slices, figures = tax_return.slices, read(tax_return)
    codes = await books.tax_codes.all()
    if "is_late" in asked:
        slices = [each for each in slices if each.late is asked["is_late"]]
    counted = cash_schemes.counted(books.business.country, tax_return.scheme, codes)
    return Behindhand(slices, counted, behind(figures, counted, codes, asked)), codes


def behind(
    figures: Figures, counted: Counted, codes: TaxCodes, asked: Mapping[str, Any]
) -> frozenset[Behind]:
    """Say which amounts a list asks for; without a box, code or part all of them."""
    named = codes.named(asked["tax_code"]) if "tax_code" in asked else None
    wanted = {*counted.when_posted, *counted.when_settled}
    if "tax_code" in asked:
        wanted &= {named.id} if named is not None else set()
    parts = [TaxPart(asked["tax_part"])] if "tax_part" in asked else list(TaxPart)
    every = {
        Behind(code_id, part, side)
        for code_id in wanted
        for part in parts
        for side in (DEBIT, CREDIT)
    }
    if "box" in asked:
        every &= set(figures.behind(asked["box"]) or ())
    return frozenset(every)


async def settling_accounts(books: Books) -> list[UUID]:
    """Name the accounts on which documents are settled."""
    roles = await books.roles()
    return [roles[role] for role in SETTLED_ON]


def tax_accounts(roles: Roles, codes: TaxCodes) -> list[UUID]:
    """Name the accounts that tax stands on."""
    own = {roles[role] for role in TAX_ROLES if role in roles}
    return sorted(own | {each.tax_account_id for each in codes.codes})


def in_advance(roles: Roles) -> list[UUID]:
    """Name the accounts of money that settles nothing yet."""
    return [roles[Role.CUSTOMER_PREPAYMENTS], roles[Role.VENDOR_PREPAYMENTS]]


def unapplied_money(
    draft: TaxReturn, roles: Roles, held: Mapping[UUID, int]
) -> tuple[int | None, int | None]:
    """Say how much money settles nothing at the end of a period, where tax follows money."""
    if draft.scheme is not Scheme.CASH:
        return None, None
    received, paid = (held.get(each, 0) for each in in_advance(roles))
    return -received, paid
