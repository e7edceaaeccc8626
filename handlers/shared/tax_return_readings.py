"""Figures of tax returns, and the lines behind them, as read from the books."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    """The journal entries that a return covers, and how they count.

    Where the accounting basis has changed, `declared` has the basis of each part of the journal.
    With `known_at` only entries posted up to then count.
    """

    slices: Sequence[Slice]
    counted: Counted
    declared: Sequence[Slice]
    codes: TaxCodes
    known_at: datetime | None = None


async def drawn_up(books: Books, draft: TaxReturn) -> tuple[Sequence[Slice], Figures]:
    """Compute the entries that a draft covers now, and its figures."""
    has = await members_of(books, draft)
    return has.slices, await worked_out(books, draft, has)


async def worked_out(books: Books, draft: TaxReturn, has: Members) -> Figures:
    """Compute the figures of a draft from the entries that it covers."""
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
    """Return the entries that a return covers: current ones for a draft, else those filed.

    With `known_at` they are the entries of that moment. With `whole`, entries of its period that
    other returns filed are included, and nothing is late.
    """
    filed, codes, reached = await books.fetch(
        books.tax_returns.filed(known_at), books.tax_codes.all(), books.tax_returns.reached()
    )
    filed, slices = [] if whole else filed, tax_return.slices
    if tax_return.status is ReturnStatus.DRAFT:
        slices = returns.members(tax_return, filed, reached)
    declared = scheme_changes.declared(replace(tax_return, slices=tuple(slices)), filed)
    # If both bases are declared, each document determines whether it counts on the cash basis.
    scheme = Scheme.CASH if declared else tax_return.scheme
    counted = cash_schemes.counted(books.business.country, scheme, codes)
    return Members(slices, counted, declared, codes, known_at)


def unsettled_in(books: Books, has: Members, roles: Roles) -> Fetch[list[Unsettled]]:
    """Read the unsettled amounts of documents in the transition of a return."""
    return books.tax_returns.unsettled(
        scheme_changes.transition(has.slices),
        has.counted,
        roles,
        has.declared,
        has.known_at,
    )


def read(filed: TaxReturn) -> Figures:
    """Return the figures with which a return was filed."""
    assert filed.figures is not None, "what was filed keeps its figures"
    return filed.figures


async def selected(
    books: Books, tax_return: TaxReturn, has: Members, asked: Mapping[str, Any]
) -> Selection:
    """Return the selection of lines that a list requests from a return.

    The filters are box, code, rate and part, and whether lines are late or in a transition.
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
    """Return the amounts that match the code and part of a list; all amounts without these."""
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
    """Return the accounts to which tax is posted."""
    own = {roles[role] for role in TAX_ROLES if role in roles}
    return sorted(own | {each.tax_account_id for each in codes.codes})


def in_advance(roles: Roles) -> list[UUID]:
    """Return the accounts for prepayments of customers and to vendors."""
    return [roles[Role.CUSTOMER_PREPAYMENTS], roles[Role.VENDOR_PREPAYMENTS]]


def unapplied_money(
    draft: TaxReturn, roles: Roles, held: Mapping[UUID, int]
) -> tuple[int | None, int | None]:
    """Return prepayments received and paid at the end of a period; None on the accrual basis."""
    if draft.scheme is not Scheme.CASH:
        return None, None
    received, paid = (held.get(each, 0) for each in in_advance(roles))
    return -received, paid
