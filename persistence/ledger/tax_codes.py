"""The stored tax codes of a business, each with its tax account."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from accounting.tax.codes import TaxCode, TaxCodes
from persistence.engine.faults import StaleRow
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.filters import any_part, created_filters, equal
from persistence.engine.listings import SKIPPED, Filter, Listing, either_way
from persistence.engine.memory import NEVER_SEEN, TaxCodesSeen
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Query, Row, compiled, given, word
from persistence.ledger.accounts_beside import account_beside, account_columns
from persistence.ledger.tax_code_rows import STORED, row_of, tax_code_of
from persistence.store import Store, among, in_business
from persistence.tables import (
    account,
    bill,
    customer_credit,
    invoice,
    journal_line,
    tax_code,
    vendor_credit,
)


@dataclass(frozen=True, slots=True)
class TaxCodeRecord:
    """A tax code with its tax account."""

    tax_code: TaxCode
    ledger: Account

    @property
    def id(self) -> UUID:
        return self.tax_code.id

    @property
    def version(self) -> int:
        return self.tax_code.version


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
        for each in codes.codes:
            self.scope.note_version(each.id, each.version)
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
        self.scope.stage(tax_code, value.id, row_of(value))


def _record(row: Row) -> TaxCodeRecord:
    ledger = account_beside(row)
    assert ledger is not None, "a tax code names an account"
    return TaxCodeRecord(tax_code_of(row), ledger)
