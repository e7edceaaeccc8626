"""Stored tax returns, and the journal amounts from which they are computed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import DateTime, delete, not_, select

from accounting.books.chart import Roles
from accounting.books.ledger import PostedEntry, TaxPart
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.codes import Direction, Treatment
from accounting.tax.commands import Scheme
from accounting.tax.return_figures import (
    Box,
    BoxSource,
    CodedAmount,
    CodeFigures,
    Figures,
    UncodedAmount,
    UnsettledAmount,
)
from accounting.tax.returns import JournalRange, ReturnStatus, TaxReturn
from persistence.engine.listings import Listing, between, created_filters, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Record, Store, among, in_business
from persistence.tables import tax_return
from persistence.tax import coded_amounts, return_lines, slice_lines
from persistence.tax.declared_tax import amounts_of
from persistence.tax.return_shares import ReturnLine, Selection, line_of

# Conversion of tax returns to and from rows; the slices and figures of filed ones are JSON.


PLAIN = (
    *("id", "version", "created_at", "updated_at", "start_date", "end_date", "filed_at"),
    *("reference", "reason", "supersedes_id"),
)
Json = dict[str, Any]


def row_of(tax_return: TaxReturn) -> Row:
    """Serialize a tax return as a row."""
    figures, settlement = tax_return.figures, tax_return.settlement
    return {
        **{name: getattr(tax_return, name) for name in PLAIN},
        "scheme": tax_return.scheme,
        "status": tax_return.status,
        "slices": [_slice_as_json(each) for each in tax_return.slices],
        "figures": None if figures is None else figures_as_json(figures),
        "settlement": None if settlement is None else {str(k): v for k, v in settlement.items()},
    }


def tax_return_of(row: Row) -> TaxReturn:
    """Make a tax return from a row, which may lack slices, figures and settlement."""
    figures, scheme = row.get("figures"), Scheme(row["scheme"])
    settlement = row.get("settlement")
    return TaxReturn(
        **{name: row[name] for name in PLAIN},
        scheme=scheme,
        status=ReturnStatus(row["status"]),
        slices=tuple(_slice_of(each, scheme) for each in row.get("slices", ())),
        figures=None if figures is None else figures_of(figures),
        settlement=None if settlement is None else amounts_of(settlement),
    )


def figures_as_json(figures: Figures) -> Json:
    """Serialize figures as JSON; rates are strings, so that no digit is lost."""
    return {
        "boxes": [
            {
                "number": each.number,
                "amount": each.amount,
                "behind": [_behind_as_json(part) for part in each.behind],
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
        "rounding": figures.rounding,
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
            UncodedAmount(UUID(each["account_id"]), each["code"], each["name"], each["amount"])
            for each in stored["uncoded"]
        ),
        unapplied_received=stored["unapplied_received"],
        unapplied_paid=stored["unapplied_paid"],
        rounding=stored.get("rounding", 0),  # Missing in older figures.
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


def _behind_as_json(source: BoxSource) -> list[Any]:
    rate = [] if source.rate is None else [str(source.rate)]
    return [source.code_id, source.part, source.side, *rate]


def _behind(code_id: str, part: str, side: int, rate: str | None = None) -> BoxSource:
    at = None if rate is None else Decimal(rate)
    return BoxSource(UUID(code_id), TaxPart(part), side, at)


def _slice_as_json(each: JournalRange) -> list[Any]:
    change = None if each.change is None else each.change.isoformat()
    days = [each.first.isoformat(), each.last.isoformat()]
    return [*days, each.after, each.upto, each.late, each.scheme, change]


def _slice_of(stored: list[Any], scheme: Scheme) -> JournalRange:
    """Parse a slice; an older one has no scheme of its own and is on that of its return."""
    first, last, after, upto, late, own, change = [*stored, scheme, None][:7]
    return JournalRange(
        first=date.fromisoformat(first),
        last=date.fromisoformat(last),
        scheme=Scheme(own),
        after=after,
        upto=upto,
        late=late,
        change=None if change is None else date.fromisoformat(change),
    )


_newer = tax_return.alias("newer")
SUPERSEDED_BY = (
    select(_newer.c.id)
    .where(
        in_business(_newer),
        _newer.c.supersedes_id == tax_return.c.id,
        _newer.c.status != word("draft"),
    )
    .scalar_subquery()
    .label("superseded_by_id")
)
_HEAD = (
    *("id", "version", "created_at", "updated_at", "start_date", "end_date", "scheme"),
    *("status", "filed_at", "reference", "reason", "supersedes_id"),
)
_COLUMNS = (*(tax_return.c[name] for name in _HEAD), SUPERSEDED_BY)
BY_ID = compiled(
    select(*_COLUMNS, tax_return.c.slices, tax_return.c.figures, tax_return.c.settlement).where(
        in_business(tax_return), among(tax_return.c.id)
    )
)
# Returns that were filed and not superseded at a moment, with slices but without figures. A return
# that was superseded later is included.
_known_at = given("known_at", DateTime(timezone=True))
_superseded = (
    select(_newer.c.id)
    .where(
        in_business(_newer),
        _newer.c.supersedes_id == tax_return.c.id,
        _newer.c.filed_at <= _known_at,
    )
    .exists()
)
FILED = compiled(
    select(*_COLUMNS, tax_return.c.slices)
    .where(in_business(tax_return), tax_return.c.filed_at <= _known_at, not_(_superseded))
    .order_by(tax_return.c.start_date, tax_return.c.id)
)
DELETE = compiled(
    delete(tax_return).where(
        in_business(tax_return),
        among(tax_return.c.id),
        tax_return.c.status == word("draft"),
    )
)
LISTING = Listing(
    source=tax_return,
    key=tax_return.c.id,
    scope=in_business(tax_return),
    columns=_COLUMNS,
    filters={
        **created_filters(tax_return),
        **equal(tax_return.c.scheme, tax_return.c.status),
        **between(tax_return.c.start_date, "start_date_from", "start_date_to"),
    },
    sorts={"start_date": tax_return.c.start_date, "created_at": tax_return.c.created_at},
    default_sort="-start_date",
)
# The transaction has closed the gate by then. A change of a business is audited by a separate call.
LOCK_UP_TO = """
UPDATE business SET lock_date = %(lock_date)s, version = version + 1, updated_at = %(now)s
WHERE id = %(business_id)s"""
AUDIT_BUSINESS = "SELECT audit_business(%(business_id)s)"


@dataclass(frozen=True, slots=True)
class TaxReturnRecord(Record):
    """A tax return with the id of the return that superseded it."""

    tax_return: TaxReturn
    superseded_by_id: UUID | None

    @property
    def stored(self) -> TaxReturn:
        return self.tax_return

    @property
    def posted(self) -> tuple[PostedEntry, ...]:
        """The entries that were posted for its settlement."""
        return self.tax_return.posted


class TaxReturnStore(Store[TaxReturnRecord]):
    """The tax returns of one business."""

    table: ClassVar = tax_return
    noun: ClassVar = "tax_return"
    rank: ClassVar = 10

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[TaxReturnRecord]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_record(row, posted.get(row["id"], ())) for row in rows]

    def filed(self, known_at: datetime | None = None) -> Fetch[list[TaxReturn]]:
        """Load the returns filed and not superseded, now or at `known_at`, without figures."""

        def answer(answers: Answers) -> list[TaxReturn]:
            returns = (_record(row).tax_return for row in answers[0])
            return [replace(each, status=ReturnStatus.FILED) for each in returns]

        return self.fetch((Query(FILED, {"known_at": slice_lines.known(known_at)}),), answer)

    def page(self, wanted: PageRequest) -> Fetch[Page[TaxReturnRecord]]:
        """List one page of returns, without slices and figures."""
        return self.listed(LISTING, wanted, _record)

    def added_up(
        self,
        slices: Sequence[JournalRange],
        counted: CountedCodes,
        roles: Roles,
        accounts: Sequence[UUID],
        declared: Sequence[JournalRange],
        known_at: datetime | None,
    ) -> Fetch[tuple[list[CodedAmount], list[UncodedAmount]]]:
        """Add up the amounts in slices of the journal, now or as known at `known_at`.

        Amounts are by code, rate and part. Amounts without a code are by account, for `accounts`.
        """
        text = coded_amounts.BOTH if counted.when_settled else coded_amounts.WHEN_POSTED
        text = coded_amounts.BY_SCHEME if declared else text
        asked = slice_lines.sliced(slices, known_at, by_month=not declared)
        asked |= coded_amounts.counting(counted, roles, declared)
        asked["accounts"] = list(accounts)

        def answer(answers: Answers) -> tuple[list[CodedAmount], list[UncodedAmount]]:
            coded = [_coded(row) for row in answers[0] if row["account_id"] is None]
            uncoded = [_uncoded(row) for row in answers[0] if row["account_id"] is not None]
            return coded, uncoded

        return self.fetch((Query(text, asked, once=True),), answer)

    def unsettled(
        self,
        transition: Sequence[JournalRange],
        counted: CountedCodes,
        roles: Roles,
        declared: Sequence[JournalRange],
        known_at: datetime | None,
    ) -> Fetch[list[UnsettledAmount]]:
        """Add up the unsettled amounts of each document in a transition, if there is one."""
        if not transition:
            return self.fetch((), lambda _: [])
        asked = coded_amounts.counting(counted, roles, declared)
        asked |= slice_lines.sliced(transition, known_at)
        return self.fetch(
            (Query(coded_amounts.UNSETTLED, asked, once=True),),
            lambda answers: [_unsettled(row) for row in answers[0]],
        )

    def held(self, accounts: Sequence[UUID], end_date: date) -> Fetch[dict[UUID, int]]:
        """Load the balances of accounts at the end of a day; debits are positive."""
        query = Query(coded_amounts.HELD, {"accounts": list(accounts), "end_date": end_date})
        return self.fetch(
            (query,), lambda answers: {row["account_id"]: row["net"] for row in answers[0]}
        )

    def reached(self) -> Fetch[Mapping[str, int]]:
        """Load the last entry number of each year, by series such as `JE-2026`."""
        return self.fetch(
            (Query(coded_amounts.REACHED, {}),),
            lambda answers: {row["series"]: row["last"] for row in answers[0]},
        )

    def lines(
        self,
        wanted: PageRequest,
        selection: Selection,
        roles: Roles,
        listing: Listing = return_lines.OF_RETURN,
    ) -> Fetch[Page[ReturnLine]]:
        """List one page of the posted lines behind a return, or behind a summary of days."""
        return self.listed(
            listing,
            wanted,
            lambda row: line_of(row, selection),
            **return_lines.asked(selection),
            **coded_amounts.counting(selection.counted, roles, selection.declared),
        )

    def save(self, value: TaxReturn) -> None:
        """Stage a tax return."""
        self.scope.stage(tax_return, value, row_of(value))

    def delete(self, value: TaxReturn) -> None:
        """Stage the deletion of a draft."""
        parameters = {"business_id": self.scope.business_id, "ids": [value.id]}
        self.scope.staging.lead_with(Query(DELETE, parameters))
        self.scope.note_deleted(tax_return, value)

    def lock_up_to(self, lock_date: date) -> None:
        """Stage the new lock date of the business, and its audit record."""
        own: dict[str, Any] = {"business_id": self.scope.business_id}
        moved = {**own, "lock_date": lock_date, "now": self.scope.now}
        self.scope.staging.follow_with(Query(LOCK_UP_TO, moved))
        self.scope.staging.follow_with(Query(AUDIT_BUSINESS, own))
        self.scope.locks_period = True


def _record(row: Row, posted: tuple[PostedEntry, ...] = ()) -> TaxReturnRecord:
    return TaxReturnRecord(replace(tax_return_of(row), posted=posted), row["superseded_by_id"])


def _coded(row: Row) -> CodedAmount:
    return CodedAmount(
        code_id=row["code_id"],
        rate=Decimal(row["rate"]),
        part=TaxPart(row["part"]),
        debits=row["debits"],
        credits=row["credits"],
        late=row["late"],
    )


def _uncoded(row: Row) -> UncodedAmount:
    return UncodedAmount(row["account_id"], row["account_code"], row["account_name"], row["debits"])


def _unsettled(row: Row) -> UnsettledAmount:
    return UnsettledAmount(
        document_id=row["owner_id"],
        code_id=row["code_id"],
        rate=Decimal(row["rate"]),
        part=TaxPart(row["part"]),
        amount=row["amount"],
    )
