"""Serialization of tax returns and the lines behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.books.chart import Role, Roles
from accounting.books.ledger import TaxPart
from accounting.tax import cash_schemes, return_figures, returns
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.codes import Direction, TaxCodes
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import (
    CREDIT,
    DEBIT,
    Box,
    BoxSource,
    CodeFigures,
    Figures,
    UnsettledAmount,
    contribution,
)
from accounting.tax.returns import JournalRange, ReturnStatus, TaxReturn
from handlers.shared.links import TaxLines
from persistence.books import Books
from persistence.engine.sql import Fetch
from persistence.tax.return_shares import ReturnLine, Selection, Share
from persistence.tax.slice_lines import known
from persistence.tax.tax_returns import TaxReturnRecord

# Figures of tax returns, and the lines behind them, as read from the books.


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

    slices: Sequence[JournalRange]
    counted: CountedCodes
    declared: Sequence[JournalRange]
    codes: TaxCodes
    known_at: datetime | None = None


async def drawn_up(books: Books, draft: TaxReturn) -> tuple[Sequence[JournalRange], Figures]:
    """Compute the entries that a draft covers now, and its figures."""
    has = await members_of(books, draft)
    return has.slices, await worked_out(books, draft, has)


async def worked_out(books: Books, draft: TaxReturn, has: Members) -> Figures:
    """Compute the figures of a draft from the entries that it covers."""
    roles, slices = await books.roles(), cash_schemes.ordinary(has.slices)
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
        unapplied_money(roles, held),
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
    declared = cash_schemes.declared(replace(tax_return, slices=tuple(slices)), filed)
    # If both bases are declared, each document determines whether it counts on the cash basis.
    scheme = Scheme.CASH if declared else tax_return.scheme
    counted = cash_schemes.counted(books.business.country, scheme, codes)
    return Members(slices, counted, declared, codes, known_at)


def unsettled_in(books: Books, has: Members, roles: Roles) -> Fetch[list[UnsettledAmount]]:
    """Read the unsettled amounts of documents in the transition of a return."""
    return books.tax_returns.unsettled(
        cash_schemes.transition(has.slices),
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
        sources = figures.behind(asked["box"]) or ()
        behind = frozenset(each for each in sources if each.of_all_rates in behind)
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


def _is_asked_for(piece: JournalRange, asked: Mapping[str, Any]) -> bool:
    found = {"is_late": piece.late, "is_transition": piece.change is not None}
    return all(asked.get(name, value) is value for name, value in found.items())


def amounts_asked(has: Members, asked: Mapping[str, Any]) -> frozenset[BoxSource]:
    """Return the amounts that match the code and part of a list; all amounts without these."""
    wanted = {*has.counted.when_posted, *has.counted.when_settled}
    if "tax_code" in asked:
        named = has.codes.named(asked["tax_code"])
        wanted &= {named.id} if named is not None else set()
    parts = [TaxPart(asked["tax_part"])] if "tax_part" in asked else list(TaxPart)
    return frozenset(
        BoxSource(code_id, part, side)
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


def unapplied_money(roles: Roles, held: Mapping[UUID, int]) -> tuple[int, int]:
    """Return prepayments received and paid at the end of a period."""
    received, paid = (held.get(each, 0) for each in in_advance(roles))
    return -received, paid


def summarize(record: TaxReturnRecord) -> dict[str, Any]:
    """Serialize a return for a list."""
    found = record.tax_return
    return {
        "id": found.id,
        "start_date": found.start_date,
        "end_date": found.end_date,
        "scheme": found.scheme,
        "status": found.status,
        "filed_at": found.filed_at,
        "reference": found.reference,
        "reason": found.reason,
        "supersedes_id": found.supersedes_id,
        "superseded_by_id": record.superseded_by_id,
        "created_at": found.created_at,
        "updated_at": found.updated_at,
    }


def serialize_tax_return(
    record: TaxReturnRecord, figures: Figures, lines: TaxLines
) -> dict[str, Any]:
    """Serialize a return with its figures."""
    return {
        **summarize(record),
        **serialize_preview(figures, lines),
        **serialize_summary(figures, lines),
        "unapplied_cents": figures.unapplied_received,
        "unapplied_paid_cents": figures.unapplied_paid,
    }


def serialize_preview(figures: Figures, lines: TaxLines) -> dict[str, Any]:
    """Serialize the boxes and the figures by code, with the late and transition amounts."""
    late, transition = lines.only(is_late=True), lines.only(is_transition=True)
    return {
        "boxes": [serialize_box(each, lines) for each in figures.boxes],
        "tax_due_cents": figures.tax_due,
        "codes": [serialize_code(each, lines) for each in figures.codes],
        "late": [serialize_code(each, late) for each in figures.late],
        "transition": [serialize_code(each, transition) for each in figures.transition],
    }


def serialize_box(box: Box, lines: TaxLines) -> dict[str, Any]:
    """Serialize a box of the form, with the address of the lines behind it."""
    explain = lines.only(box=box.number).address
    return {"box": box.number, "amount_cents": box.amount, "explain": explain}


def serialize_summary(figures: Figures, lines: TaxLines) -> dict[str, Any]:
    """Serialize net and tax by code, with withheld tax and amounts without a code."""
    return {
        "tax_due_cents": figures.tax_due,
        "codes": [serialize_code(each, lines) for each in figures.codes],
        "withheld_by_customers_cents": figures.withheld(Direction.SALES),
        "withheld_from_vendors_cents": figures.withheld(Direction.PURCHASES),
        "uncoded": [
            {
                "account_id": each.account_id,
                "account_code": each.code,
                "account_name": each.name,
                "amount_cents": each.amount,
            }
            for each in figures.uncoded
        ],
    }


def serialize_code(figures: CodeFigures, lines: TaxLines) -> dict[str, Any]:
    """Serialize the figures of one code and rate, with the address of the lines behind them."""
    return {
        "tax_code_id": figures.code_id,
        "tax_code": figures.code,
        "name": figures.name,
        "direction": figures.direction,
        "treatment": figures.treatment,
        "tax_rate": float(figures.rate),
        **{f"{part}_cents": figures.parts.get(part, 0) for part in TaxPart},
        "explain": lines.only(tax_code=figures.code_id, tax_rate=figures.rate).address,
    }


def serialize_line(
    line: ReturnLine, country: str | None, codes: TaxCodes, box: str | None
) -> dict[str, Any]:
    """Serialize a posted line with the shares that it has in the return, or in one box of it."""
    return {
        "id": line.id,
        "journal_entry_id": line.entry_id,
        "sequence_number": line.sequence_number,
        "entry_date": line.entry_date,
        "description": line.description,
        "reference": line.reference,
        "source_type": line.source_type,
        "source_id": line.source_id,
        "created_at": line.created_at,
        "account_id": line.account_id,
        "account_code": line.account_code,
        "account_name": line.account_name,
        "shares": serialize_shares(line.shares, country, codes, box),
    }


def serialize_shares(
    shares: Sequence[Share], country: str | None, codes: TaxCodes, box: str | None
) -> list[dict[str, Any]]:
    """Serialize the shares of a line by code and part."""
    known = {each.id: each for each in codes.codes}
    return [
        {
            "tax_code_id": each.mark.code_id,
            "tax_code": known[each.mark.code_id].code,
            "tax_rate": float(each.mark.rate),
            "tax_part": each.mark.part,
            "is_transition": each.is_transition,
            "debit_amount": max(each.amount, 0),
            "credit_amount": max(-each.amount, 0),
            "amount_cents": contribution(
                country, known[each.mark.code_id], each.mark, each.amount, box
            ),
        }
        for each in shares
    ]
