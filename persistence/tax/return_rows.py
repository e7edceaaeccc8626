"""Conversion of tax returns to and from rows; the slices and figures of filed ones are JSON."""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from accounting.books.tax_marks import TaxPart
from accounting.tax.codes import Direction, Treatment
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import Behind, Box, CodeFigures, Figures, Uncoded
from accounting.tax.returns import ReturnStatus, Slice, TaxReturn
from persistence.engine.sql import Row

PLAIN = (
    *("id", "version", "created_at", "updated_at", "start_date", "end_date", "filed_at"),
    *("reference", "reason", "supersedes_id"),
)
Json = dict[str, Any]


def row_of(tax_return: TaxReturn) -> Row:
    """Serialize a tax return as a row."""
    figures = tax_return.figures
    return {
        **{name: getattr(tax_return, name) for name in PLAIN},
        "scheme": tax_return.scheme,
        "status": tax_return.status,
        "slices": [_slice_as_json(each) for each in tax_return.slices],
        "figures": None if figures is None else figures_as_json(figures),
    }


def tax_return_of(row: Row) -> TaxReturn:
    """Make a tax return from a row, which may lack the slices and the figures."""
    figures, scheme = row.get("figures"), Scheme(row["scheme"])
    return TaxReturn(
        **{name: row[name] for name in PLAIN},
        scheme=scheme,
        status=ReturnStatus(row["status"]),
        slices=tuple(_slice_of(each, scheme) for each in row.get("slices", ())),
        figures=None if figures is None else figures_of(figures),
    )


def figures_as_json(figures: Figures) -> Json:
    """Serialize figures as JSON; rates are strings, so that no digit is lost."""
    return {
        "boxes": [
            {
                "number": each.number,
                "amount": each.amount,
                "behind": [[part.code_id, part.part, part.side] for part in each.behind],
            }
            for each in figures.boxes
        ],
        "codes": _codes_as_json(figures.codes),
        "late": _codes_as_json(figures.late),
        "transition": _codes_as_json(figures.transition),
        "uncoded": [
            {
                "account_id": each.account_id,
                "code": each.code,
                "name": each.name,
                "amount": each.amount,
            }
            for each in figures.uncoded
        ],
        "unapplied_received": figures.unapplied_received,
        "unapplied_paid": figures.unapplied_paid,
    }


def figures_of(stored: Json) -> Figures:
    """Parse figures from JSON."""
    return Figures(
        boxes=tuple(
            Box(each["number"], each["amount"], tuple(_behind(*part) for part in each["behind"]))
            for each in stored["boxes"]
        ),
        codes=tuple(map(_code_of, stored["codes"])),
        late=tuple(map(_code_of, stored["late"])),
        # Missing in figures that are older than changes of scheme.
        transition=tuple(map(_code_of, stored.get("transition", ()))),
        uncoded=tuple(
            Uncoded(UUID(each["account_id"]), each["code"], each["name"], each["amount"])
            for each in stored["uncoded"]
        ),
        unapplied_received=stored["unapplied_received"],
        unapplied_paid=stored["unapplied_paid"],
    )


def _codes_as_json(codes: Iterable[CodeFigures]) -> list[Json]:
    return [
        {
            "code_id": each.code_id,
            "code": each.code,
            "name": each.name,
            "direction": each.direction,
            "treatment": each.treatment,
            "rate": str(each.rate),
            "parts": {part.value: amount for part, amount in each.parts.items()},
        }
        for each in codes
    ]


def _code_of(stored: Mapping[str, Any]) -> CodeFigures:
    return CodeFigures(
        code_id=UUID(stored["code_id"]),
        code=stored["code"],
        name=stored["name"],
        direction=Direction(stored["direction"]),
        treatment=Treatment(stored["treatment"]),
        rate=Decimal(stored["rate"]),
        parts={TaxPart(part): amount for part, amount in stored["parts"].items()},
    )


def _behind(code_id: str, part: str, side: int) -> Behind:
    return Behind(UUID(code_id), TaxPart(part), side)


def _slice_as_json(each: Slice) -> list[Any]:
    change = None if each.change is None else each.change.isoformat()
    days = [each.first.isoformat(), each.last.isoformat()]
    return [*days, each.after, each.upto, each.late, each.scheme, change]


def _slice_of(stored: list[Any], scheme: Scheme) -> Slice:
    """Parse a slice; an older one has no scheme of its own and is on that of its return."""
    first, last, after, upto, late, own, change = [*stored, scheme, None][:7]
    return Slice(
        first=date.fromisoformat(first),
        last=date.fromisoformat(last),
        scheme=Scheme(own),
        after=after,
        upto=upto,
        late=late,
        change=None if change is None else date.fromisoformat(change),
    )
