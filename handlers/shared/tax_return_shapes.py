"""Serialization of tax returns and the lines behind them."""

from collections.abc import Sequence
from typing import Any

from accounting.books.tax_marks import TaxPart
from accounting.tax.codes import Direction, TaxCodes
from accounting.tax.return_figures import Box, CodeFigures, Figures
from handlers.shared.addresses import TaxLines
from persistence.tax.return_shares import ReturnLine, Share
from persistence.tax.tax_returns import TaxReturnRecord


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


def shape_tax_return(record: TaxReturnRecord, figures: Figures, lines: TaxLines) -> dict[str, Any]:
    """Serialize a return with its figures."""
    return {
        **summarize(record),
        **shape_preview(figures, lines),
        **shape_summary(figures, lines),
        "unapplied_cents": figures.unapplied_received,
        "unapplied_paid_cents": figures.unapplied_paid,
    }


def shape_preview(figures: Figures, lines: TaxLines) -> dict[str, Any]:
    """Serialize the boxes and the figures by code, with the late and transition amounts."""
    late, transition = lines.only(is_late=True), lines.only(is_transition=True)
    return {
        "boxes": [shape_box(each, lines) for each in figures.boxes],
        "tax_due_cents": figures.tax_due,
        "codes": [shape_code(each, lines) for each in figures.codes],
        "late": [shape_code(each, late) for each in figures.late],
        "transition": [shape_code(each, transition) for each in figures.transition],
    }


def shape_box(box: Box, lines: TaxLines) -> dict[str, Any]:
    """Serialize a box of the form, with the address of the lines behind it."""
    explain = lines.only(box=box.number).address
    return {"box": box.number, "amount_cents": box.amount, "explain": explain}


def shape_summary(figures: Figures, lines: TaxLines) -> dict[str, Any]:
    """Serialize net and tax by code, with withheld tax and amounts without a code."""
    return {
        "tax_due_cents": figures.tax_due,
        "codes": [shape_code(each, lines) for each in figures.codes],
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


def shape_code(figures: CodeFigures, lines: TaxLines) -> dict[str, Any]:
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


def shape_line(line: ReturnLine, codes: TaxCodes) -> dict[str, Any]:
    """Serialize a posted line with the shares that it has in the return."""
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
        "shares": shape_shares(line.shares, codes),
    }


def shape_shares(shares: Sequence[Share], codes: TaxCodes) -> list[dict[str, Any]]:
    """Serialize the shares of a line by code and part; debits are positive."""
    names = {each.id: each.code for each in codes.codes}
    return [
        {
            "tax_code_id": each.mark.code_id,
            "tax_code": names[each.mark.code_id],
            "tax_rate": float(each.mark.rate),
            "tax_part": each.mark.part,
            "is_transition": each.is_transition,
            "debit_amount": max(each.amount, 0),
            "credit_amount": max(-each.amount, 0),
        }
        for each in shares
    ]
