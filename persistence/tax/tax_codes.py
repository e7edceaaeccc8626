"""The stored tax codes of a business, each with its tax account."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Integer,
    Table,
    Uuid,
    and_,
    func,
    literal_column,
    or_,
    select,
)

from accounting.books.accounts import Account
from accounting.books.ledger import TaxPart
from accounting.tax.codes import Direction, Rate, TaxCode, TaxCodes, Treatment
from persistence.engine.caches import NEVER_SEEN, TaxCodesSeen
from persistence.engine.database_errors import StaleRow
from persistence.engine.listings import (
    SKIPPED,
    Filter,
    Listing,
    any_part,
    created_filters,
    either_way,
    equal,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.accounts import account_beside, account_columns
from persistence.store import Record, Store, among, in_business
from persistence.tables import (
    account,
    bill,
    customer_credit,
    invoice,
    journal_line,
    tax_code,
    vendor_credit,
)

# Conversion of tax codes to and from rows; rates and boxes are JSON.


STORED = tuple(item.name for item in fields(TaxCode))


def row_of(code: TaxCode) -> Row:
    """Serialize a tax code as a row."""
    row = {name: getattr(code, name) for name in STORED}
    return {**row, "rates": rates_as_json(code.rates), "boxes": boxes_as_json(code.boxes)}


def tax_code_of(row: Row) -> TaxCode:
    """Make a tax code from its row."""
    return TaxCode(
        **{
            **row,
            "direction": Direction(row["direction"]),
            "treatment": Treatment(row["treatment"]),
            "rates": tuple(_rate(each) for each in row["rates"]),
            "boxes": {TaxPart(part): tuple(each) for part, each in row["boxes"].items()},
        }
    )


def rates_as_json(rates: Iterable[Rate]) -> list[dict[str, str | None]]:
    """Serialize rates as JSON; percentages are strings, so that no digit is lost."""
    return [
        {
            "rate": str(each.rate),
            "recoverable_percent": str(each.recoverable_percent),
            "valid_from": _written(each.valid_from),
            "valid_to": _written(each.valid_to),
        }
        for each in rates
    ]


def boxes_as_json(boxes: Mapping[TaxPart, tuple[str, ...]]) -> dict[str, list[str]]:
    """Serialize the return boxes of each tax part as JSON."""
    return {part.value: list(numbers) for part, numbers in boxes.items()}


def _rate(stored: Mapping[str, Any]) -> Rate:
    return Rate(
        rate=Decimal(stored["rate"]),
        recoverable_percent=Decimal(stored["recoverable_percent"]),
        valid_from=_day(stored["valid_from"]),
        valid_to=_day(stored["valid_to"]),
    )


def _written(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


@dataclass(frozen=True, slots=True)
class TaxCodeRecord(Record):
    """A tax code with its tax account."""

    tax_code: TaxCode
    ledger: Account

    @property
    def stored(self) -> TaxCode:
        return self.tax_code


_SOURCE = tax_code.join(
    account,
    and_(in_business(account), account.c.id == tax_code.c.tax_account_id),
)
_OWN = tuple(tax_code.c[name] for name in STORED)
_COLUMNS = (*_OWN, *account_columns(account))
BY_ID = compiled(
    select(*_COLUMNS).select_from(_SOURCE).where(in_business(tax_code), among(tax_code.c.id))
)

# Returns a row if the tax codes differ from the cached ones. The statement reads a single table,
# because Citus caches plans only of such statements.
_CHANGED = (
    select(literal_column("1", Integer))
    .select_from(tax_code)
    .where(in_business(tax_code))
    .having(
        or_(
            func.count() != given("number", BigInteger),
            func.sum(tax_code.c.version) != given("versions", BigInteger),
            func.max(tax_code.c.updated_at).is_distinct_from(
                given("changed_at", tax_code.c.updated_at.type)
            ),
        )
    )
)
CHANGED = compiled(_CHANGED)
# All tax codes, or no row if they equal the cached ones.
ALL_IF_CHANGED = compiled(
    select(*_OWN)
    .where(in_business(tax_code), _CHANGED.correlate(None).exists())
    .order_by(tax_code.c.code, tax_code.c.id)
)
POSTED_WITH = compiled(
    select(journal_line.c.id)
    .where(in_business(journal_line), journal_line.c.tax_code_id == given("id", Uuid))
    .limit(literal_column("1"))
)


def _opened_with(table: Table) -> str:
    """Return the statement that finds a record of an opening that uses a tax code.

    The posted lines of such a record have no tax code, so `POSTED_WITH` does not find it.
    """
    named = func.jsonb_build_array(func.jsonb_build_object(word("tax_code_id"), given("id", Uuid)))
    came = and_(in_business(table), table.c.opening_id.is_not(None))
    found = select(table.c.id).where(came, table.c.lines.op("@>")(named))
    return compiled(found.limit(literal_column("1")))


IN_USE = (
    POSTED_WITH,
    *(_opened_with(table) for table in (invoice, bill, customer_credit, vendor_credit)),
)


def _asked(seen: TaxCodesSeen) -> Row:
    return {name: getattr(seen, name) for name in ("number", "versions", "changed_at")}


def _filled(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove `include_archived` if the filter `is_active` is given."""
    if "is_active" not in asked:
        return asked
    return {name: value for name, value in asked.items() if name != "include_archived"}


LISTING = Listing(
    source=_SOURCE,
    key=tax_code.c.id,
    scope=in_business(tax_code),
    columns=_COLUMNS,
    filters={
        **created_filters(tax_code),
        **equal(tax_code.c.direction, tax_code.c.treatment),
        **either_way(
            "is_active", tax_code.c.archived_at.is_(None), tax_code.c.archived_at.is_not(None)
        ),
        "include_archived": Filter(
            tax_code.c.archived_at.is_(None), lambda included: SKIPPED if included else False
        ),
        "search": any_part("search", tax_code.c.code, tax_code.c.name),
    },
    sorts={"code": tax_code.c.code, "created_at": tax_code.c.created_at},
    default_sort="code",
    filled=_filled,
)


class TaxCodeStore(Store[TaxCodeRecord]):
    """The tax codes of one business."""

    table: ClassVar = tax_code
    noun: ClassVar = "tax_code"
    rank: ClassVar = 0

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[TaxCodeRecord]:
        return [_record(row) for row in answers[0]]

    def all(self) -> Fetch[TaxCodes]:
        """Load all tax codes, also archived ones; they are read again only if they changed."""
        memory, business_id = self.scope.memory.tax_codes, self.scope.business_id
        seen = memory.get(business_id)
        if seen is not None and self.scope.runs_again:
            return self._unless_changed(seen)
        seen = seen or NEVER_SEEN

        def answer(answers: Answers) -> TaxCodes:
            codes = seen.codes
            if answers[0]:
                codes = TaxCodes(tuple(tax_code_of(row) for row in answers[0]))
                memory.keep(business_id, TaxCodesSeen.of(codes))
            return self._noted(codes)

        return self.fetch((Query(ALL_IF_CHANGED, _asked(seen)),), answer)

    def _unless_changed(self, seen: TaxCodesSeen) -> Fetch[TaxCodes]:
        """Check that the cached tax codes are current; raises StaleRow to rerun the handler."""

        def answer(answers: Answers) -> TaxCodes:
            if answers[0]:
                self.scope.memory.tax_codes.forget(self.scope.business_id)
                raise StaleRow
            return self._noted(seen.codes)

        return self.fetch((Query(CHANGED, _asked(seen)),), answer)

    def _noted(self, codes: TaxCodes) -> TaxCodes:
        self.scope.note_loaded(codes.codes)
        return codes

    def for_use(self, *, needed: bool) -> Fetch[TaxCodes]:
        """Load all tax codes if `needed`, else none."""
        return self.all() if needed else self.fetch((), lambda _: TaxCodes(()))

    def in_use(self, id: UUID) -> Fetch[bool]:
        """Return whether a posted line, or a document or credit of an opening, has the tax code."""
        queries = [Query(text, {"id": id}) for text in IN_USE]
        return self.fetch(queries, any)

    def page(self, wanted: PageRequest) -> Fetch[Page[TaxCodeRecord]]:
        """List one page of tax codes; archived ones only if requested."""
        return self.listed(LISTING, wanted, _record)

    def save(self, value: TaxCode) -> None:
        """Stage a tax code."""
        self.scope.stage(tax_code, value, row_of(value))


def _record(row: Row) -> TaxCodeRecord:
    ledger = account_beside(row)
    assert ledger is not None, "a tax code names an account"
    return TaxCodeRecord(tax_code_of(row), ledger)
