"""What a return says, and what stands behind it, as it is read from the books."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.tax_marks import TaxPart
from accounting.tax import cash_schemes, return_figures, returns, scheme_changes
from accounting.tax.cash_schemes import Counted
from accounting.tax.codes import TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import CREDIT, DEBIT, Behind, Figures, Unsettled
from accounting.tax.returns import ReturnStatus, Slice, TaxReturn
from accounting.values import dataclass, replace
from persistence.books import Books
from persistence.engine.fetches import Fetch
from persistence.tax.return_shares import Selection
from persistence.tax.slice_lines import known

TAX_ROLES = (
    Role.OUTPUT_TAX,
    Role.INPUT_TAX,
    Role.WITHHOLDING_TAX_RECEIVABLE,
    Role.WITHHOLDING_TAX_PAYABLE,
)


@dataclass(frozen=True, slots=True)
class Members:
    """What of the journal a return has, and how it counts.

    Where the scheme has changed, `declared` says which one what is on. With `known_at` it is what
    was posted up to then.
    """

    slices: Sequence[Slice]
    counted: Counted
    declared: Sequence[Slice]
    codes: TaxCodes
    known_at: datetime | None = None


async def drawn_up(books: Books, draft: TaxReturn) -> tuple[Sequence[Slice], Figures]:
    """Work out what a draft has of the journal by now, and what it says."""
    has = await members_of(books, draft)
    return has.slices, await worked_out(books, draft, has)


async def worked_out(books: Books, draft: TaxReturn, has: Members) -> Figures:
    """Work out what a draft says of what it has."""
    roles, slices = await books.roles(), scheme_changes.ordinary(has.slices)
    accounts = tax_accounts(roles, has.codes)
    (coded, uncoded), unsettled, held = await books.fetch(
        books.tax_returns.added_up(
            slices, has.counted, roles, accounts, has.declared, has.known_at
        ),
        unsettled_in(books, has, roles),
        books.tax_returns.held(in_advance(roles), draft.end_date),
    )
    return return_figures.drawn_up(
        books.business.country,
        [*coded, *(each.coded for each in unsettled)],
        has.codes,
        uncoded,
        unapplied_money(draft, roles, held),
    )


async def members_of(
    books: Books,
    tax_return: TaxReturn,
    *,
    known_at: datetime | None = None,
    whole: bool = False,
) -> Members:
    """Say what a return has: a draft what is there by now, another one what it was filed with.

    With `known_at` it is what was there then. The `whole` of its days has what was filed before,
    too, and nothing is late.
    """
    filed, codes, reached = await books.fetch(
        books.tax_returns.filed(known_at), books.tax_codes.all(), books.tax_returns.reached()
    )
    filed, slices = [] if whole else filed, tax_return.slices
    if tax_return.status is ReturnStatus.DRAFT:
        slices = returns.members(tax_return, filed, reached)
    declared = scheme_changes.declared(replace(tax_return, slices=tuple(slices)), filed)
    # Where both schemes are declared, each document says whether it counts as on cash.
    scheme = Scheme.CASH if declared else tax_return.scheme
    counted = cash_schemes.counted(books.business.country, scheme, codes)
    return Members(slices, counted, declared, codes, known_at)


def unsettled_in(books: Books, has: Members, roles: Roles) -> Fetch[list[Unsettled]]:
    """Read what of each document is in the transition of a return."""
    return books.tax_returns.unsettled(
        scheme_changes.transition(has.slices),
        has.counted,
        roles,
        has.declared,
        has.known_at,
    )


def read(filed: TaxReturn) -> Figures:
    """Read what a filed return says."""
    assert filed.figures is not None, "what was filed keeps its figures"
    return filed.figures


async def selected(
    books: Books, tax_return: TaxReturn, has: Members, asked: Mapping[str, Any]
) -> Selection:
    """Say which lines of what a return has a list asks for.

    By box, code, rate or part, or only what is late or in a transition.
    """
    behind = amounts_asked(has, asked)
    if "box" in asked:
        is_draft = tax_return.status is ReturnStatus.DRAFT
        figures = await worked_out(books, tax_return, has) if is_draft else read(tax_return)
        behind &= set(figures.behind(asked["box"]) or ())
    (unsettled,) = await books.fetch(unsettled_in(books, has, await books.roles()))
    return Selection(
        slices=[each for each in has.slices if _is_asked_for(each, asked)],
        counted=has.counted,
        behind=behind,
        known_at=known(has.known_at),
        rate=asked.get("tax_rate"),
        declared=has.declared,
        unsettled=frozenset(each.document_id for each in unsettled),
    )


def _is_asked_for(piece: Slice, asked: Mapping[str, Any]) -> bool:
    found = {"is_late": piece.late, "is_transition": piece.change is not None}
    return all(asked.get(name, value) is value for name, value in found.items())


def amounts_asked(has: Members, asked: Mapping[str, Any]) -> frozenset[Behind]:
    """Say which amounts a list asks for by code and part; without them all."""
    wanted = {*has.counted.when_posted, *has.counted.when_settled}
    if "tax_code" in asked:
        named = has.codes.named(asked["tax_code"])
        wanted &= {named.id} if named is not None else set()
    parts = [TaxPart(asked["tax_part"])] if "tax_part" in asked else list(TaxPart)
    return frozenset(
        Behind(code_id, part, side)
        for code_id in wanted
        for part in parts
        for side in (DEBIT, CREDIT)
    )


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
