"""The businesses of one partner, during one request: the isolation between partners."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import (
    Boolean,
    Column,
    Numeric,
    Table,
    Text,
    Uuid,
    cast,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.accounts import Account
from accounting.books.businesses import Sandbox
from accounting.books.time_zones import UNIVERSAL
from accounting.errors import NotAllowed, NotFound
from accounting.tax.codes import TaxCode
from persistence import tables
from persistence.engine.ids import new_id
from persistence.engine.listings import Filter, Listing, any_part, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sessions import PartnerTenant, ReadSession, WriteSession
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.engine.topology import CLOSE_GATE, Topology
from persistence.engine.unit_of_work import UnitOfWork
from persistence.files.blobs import key_in
from persistence.ledger.line_digests import with_new_digests
from persistence.store import Precondition, in_business
from persistence.tables import (
    account,
    business,
    journal_entry,
    journal_line,
    metadata,
    stored_document,
    tax_code,
)
from persistence.tax.tax_codes import row_of

# Copies of the books of a business to another one: every row, under new ids.


# Replies belong to requests, and the database writes an audit trail of the copy itself.
NOT_COPIED = {tables.reply, tables.audit_record, tables.audit_seal}
COPIED = tuple(
    table
    for table in metadata.sorted_tables
    if table.info.get("tenant") and table not in NOT_COPIED
)


def _read_template(item: Column[Any]) -> ColumnElement[Any]:
    """Select a column as the flush takes it: a decimal as text, since JSON would round it."""
    return cast(item, Text).label(item.name) if isinstance(item.type, Numeric) else item


READING = {
    table: compiled(
        select(
            *(_read_template(c) for c in table.c if c.computed is None and c.name != "business_id")
        )
        .where(in_business(table))
        .order_by(*table.primary_key)
    )
    for table in COPIED
}


@dataclass(frozen=True, slots=True)
class CopiedBooks:
    """The rows of each table, parents first."""

    rows: Mapping[Table, list[Row]]

    @property
    def storage_keys(self) -> list[str]:
        """The storage keys of the files, which both businesses use."""
        return [row["storage_key"] for row in self.rows[stored_document]]


def reading_all(business_id: UUID, machines: Topology) -> tuple[Query, ...]:
    """Return the statements that read all rows of one business in an open transaction."""
    scope = {"business_id": business_id}
    return machines.set_tenant(business_id), *(Query(text, scope) for text in READING.values())


def copied(answers: Answers) -> CopiedBooks:
    """Assign new ids to the rows that were read; their order is that of the old ids."""
    read = dict(zip(READING, answers[1:], strict=True))
    old = sorted(row["id"] for rows in read.values() for row in rows if "id" in row)
    names: dict[Any, Any] = {each: new_id() for each in old}
    names |= {str(each): str(new) for each, new in names.items()}
    rows = {
        table: [{name: renamed(value, names) for name, value in row.items()} for row in old_rows]
        for table, old_rows in read.items()
    }
    rows[journal_entry] = with_new_digests(rows[journal_entry], rows[journal_line])
    return CopiedBooks(rows)


def renamed(value: Any, names: Mapping[Any, Any]) -> Any:
    """Replace each old id by the new one, also inside JSON."""
    match value:
        case dict():
            return {names.get(key, key): renamed(each, names) for key, each in value.items()}
        case list():
            return [renamed(each, names) for each in value]
        case UUID() | str():
            return names.get(value, value)
    return value


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredBusiness:
    """A business as its partner registered it."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    external_id: str
    legal_name: str
    name: str
    entity_type: str
    email: str
    phone_number: str | None
    tin: str | None
    vat_number: str | None
    company_number: str | None
    country: str | None
    province: str | None
    eu_nace_industry_code: str | None
    base_currency: str
    accounting_method: str
    fiscal_year_end: date
    coa_language: str
    lock_date: date | None
    activation_at: datetime
    archived_at: datetime | None
    tokens_valid_from: datetime
    metadata: Any
    sandbox: Sandbox | None = None
    clock_seconds_ahead: int = 0
    matching_tolerance_cents: int = 0
    timezone: str = UNIVERSAL


ACCOUNT = tuple(item.name for item in fields(Account))
NAMES = tuple(item.name for item in fields(RegisteredBusiness))
COLUMNS = tuple(business.c[name] for name in NAMES)


def _mine() -> ColumnElement[bool]:
    return business.c.partner_id == given("partner_id", Uuid)


def _with_id() -> ColumnElement[bool]:
    return business.c.id == given("id", Uuid)


BY_ID = compiled(select(*COLUMNS).where(_mine(), _with_id()))
SANDBOX_BY_ID = compiled(
    select(*COLUMNS).where(_mine(), _with_id(), business.c.sandbox == word(Sandbox.OPEN.value))
)
BY_EXTERNAL_ID = compiled(
    select(*COLUMNS).where(_mine(), business.c.external_id == given("external_id", Text))
)
# No client can open the template, and every partner may copy its books.
NEWEST_TEMPLATE = compiled(
    select(*COLUMNS)
    .where(business.c.sandbox == word(Sandbox.TEMPLATE.value))
    .order_by(business.c.created_at.desc())
    .limit(literal_column("1"))
    .with_for_update(read=True, key_share=True)  # So that it is not deleted while it is copied.
)
LOCK = compiled(select(business.c.id).where(_mine(), _with_id()).with_for_update(key_share=True))
# A trigger writes the audit record on a single node. On a cluster, where the table is copied to
# each node, this call does.
AUDIT = "SELECT audit_business(%(business_id)s)"
# Waits for all postings in progress, and blocks new ones until the transaction ends.
CLOSE_MY_GATE = (
    f"{CLOSE_GATE} FROM business WHERE id = %(business_id)s AND partner_id = %(partner_id)s"
)

TOKENS_VALID_FROM = "SELECT tokens_valid_from FROM partner WHERE id = %(partner_id)s"
IS_REVOKED = "SELECT id FROM revoked_token WHERE id = %(token_id)s"
REVOKE = """
INSERT INTO revoked_token (id, partner_id, expires_at)
VALUES (%(id)s, %(partner_id)s, %(expires_at)s) ON CONFLICT (id) DO NOTHING
"""
AUDIT_REVOCATION = "SELECT audit_revocation(%(partner_id)s, %(id)s)"
FORGET = "DELETE FROM revoked_token WHERE partner_id = %(partner_id)s AND expires_at <= %(now)s"

LISTING = Listing(
    source=business,
    key=business.c.id,
    scope=_mine(),
    columns=COLUMNS,
    filters={
        **created_filters(business),
        "country": Filter(business.c.country == given("country", Text), str.upper),
        "entity_type": Filter(business.c.entity_type == given("entity_type", Text), str.lower),
        "is_archived": Filter(business.c.archived_at.is_not(None) == given("is_archived", Boolean)),
        "legal_name": any_part("legal_name", business.c.legal_name),
        "search": any_part(
            "search",
            business.c.name,
            business.c.legal_name,
            business.c.external_id,
            business.c.vat_number,
            business.c.company_number,
        ),
    },
    sorts={
        "created_at": business.c.created_at,
        "updated_at": business.c.updated_at,
        "legal_name": func.lower(business.c.legal_name, type_=Text),
        "name": func.lower(business.c.name, type_=Text),
    },
    default_sort="-created_at",
)


class Registry:
    """The businesses and tokens of one partner, in one transaction."""

    def __init__(
        self,
        session: ReadSession | WriteSession,
        tenant: PartnerTenant,
        now: datetime,
        precondition: Precondition | None = None,
    ) -> None:
        self.session = session
        self.now = now
        self._tenant = tenant
        self._precondition = precondition
        self._versions: dict[UUID, int] = {}

    @property
    def partner_id(self) -> UUID:
        return self._tenant.caller.partner_id

    def get(self, business_id: UUID) -> Fetch[RegisteredBusiness]:
        """Find a business of this partner; raises NotFound."""
        return self._fetch([Query(BY_ID, {"id": business_id})], self._only)

    def lock(
        self, business_id: UUID, *, against_posting: bool = False
    ) -> Fetch[RegisteredBusiness]:
        """Lock a business of this partner, then read it.

        With `against_posting`, it waits for postings in progress and blocks new ones until the
        transaction ends. Raises NotFound, and Stale if If-Match names an older version.
        """
        return self._locked(business_id, BY_ID, self._only, against_posting=against_posting)

    def sandbox(self, sandbox_id: UUID) -> Fetch[RegisteredBusiness]:
        """Find an open sandbox of this partner; raises NotFound."""
        return self._fetch([Query(SANDBOX_BY_ID, {"id": sandbox_id})], self._only_sandbox)

    def lock_sandbox(self, sandbox_id: UUID) -> Fetch[RegisteredBusiness]:
        """Lock a sandbox against posting, then read it.

        Raises NotFound, and Stale if If-Match names an older version.
        """
        return self._locked(sandbox_id, SANDBOX_BY_ID, self._only_sandbox, against_posting=True)

    def with_external_id(self, external_id: str) -> Fetch[RegisteredBusiness | None]:
        """Find a business by the partner's own identifier; None if there is none."""
        query = Query(BY_EXTERNAL_ID, {"external_id": external_id})
        return self._fetch([query], lambda answers: self._seen(answers[-1]))

    def page(self, wanted: PageRequest) -> Fetch[Page[RegisteredBusiness]]:
        """List one page of this partner's businesses."""
        return LISTING.fetch(self.session, wanted, self._scope(), _read)

    async def template(self) -> RegisteredBusiness:
        """Find the newest template of sandboxes; raises NotAllowed `no_sandboxes`."""
        found = await self._fetch([Query(NEWEST_TEMPLATE, {})], lambda answers: answers[-1])
        if not found:
            raise NotAllowed("no_sandboxes", "This server has no sandboxes.")
        return _read(found[0])

    async def copy(self, template: RegisteredBusiness) -> CopiedBooks:
        """Read all rows of the books of a template, and assign new ids."""
        machines = self.session.connection.machines
        return await Fetch(self.session, reading_all(template.id, machines), copied)

    def open(self, opened: RegisteredBusiness, chart: list[Account], codes: list[TaxCode]) -> None:
        """Stage a new business with its starting chart and tax codes."""
        self._stage_opened(opened)
        for one in chart:
            self._staging().insert(account, {name: getattr(one, name) for name in ACCOUNT})
        for code in codes:
            self._staging().insert(tax_code, row_of(code))

    def open_copied(self, opened: RegisteredBusiness, books: CopiedBooks) -> None:
        """Stage a new business with copied books; `keep_files` stages the contents of the files."""
        self._stage_opened(opened)
        for table, rows in books.rows.items():
            for row in rows:
                self._staging().insert(table, row)

    def keep_files(self, opened: RegisteredBusiness, contents: Mapping[str, bytes]) -> None:
        """Stage the contents of a new business's files by their storage keys."""
        self._staging().contents |= {
            key_in(opened.id, key): content for key, content in contents.items()
        }

    def save(self, changed: RegisteredBusiness) -> None:
        """Stage a changed business."""
        row = {**_row(changed), "partner_id": self.partner_id}
        staging = self._staging()
        staging.update(business, {**row, "version": self._versions[changed.id]})
        staging.follow_with(Query(AUDIT, {"business_id": changed.id}))

    def tokens_valid_from(self) -> Fetch[datetime]:
        """Return the time before which all issued tokens of this partner are revoked."""
        query = Query(TOKENS_VALID_FROM, {})
        return self._fetch([query], lambda answers: answers[-1][0]["tokens_valid_from"])

    def is_revoked(self, token_id: UUID) -> Fetch[bool]:
        """Return whether this single token is revoked."""
        query = Query(IS_REVOKED, {"token_id": token_id})
        return self._fetch([query], lambda answers: bool(answers[-1]))

    async def revoke(self, token_id: UUID, expires_at: datetime) -> None:
        """Stage the revocation of one token of this partner, unless it is revoked already.

        It also deletes the revocations of tokens that have expired.
        """
        if await self.is_revoked(token_id):
            return
        told = {"partner_id": self.partner_id, "id": token_id}
        staging = self._staging()
        staging.follow_with(Query(REVOKE, {**told, "expires_at": expires_at}))
        staging.follow_with(Query(AUDIT_REVOCATION, told))
        staging.follow_with(Query(FORGET, {"partner_id": self.partner_id, "now": self.now}))

    def etag(self, id_: UUID) -> int:
        """Return the version of a business after the commit of this transaction."""
        loaded = self._versions.get(id_)
        if loaded is None:
            return 1
        changed = isinstance(self.session, WriteSession) and self._staging().holds_change(id_)
        return loaded + 1 if changed else loaded

    def now_in(self, found: RegisteredBusiness) -> datetime:
        """Return the current time of a business; the clock of a sandbox may be ahead."""
        return self.now + timedelta(seconds=found.clock_seconds_ahead)

    def _stage_opened(self, opened: RegisteredBusiness) -> None:
        staging = self._staging()
        staging.business_id = opened.id
        staging.lead_with(self.session.connection.machines.set_tenant(opened.id))
        staging.insert(business, {**_row(opened), "partner_id": self.partner_id, "version": 1})
        staging.follow_with(Query(AUDIT, {"business_id": opened.id}))

    def _fetch(self, queries: list[Query], answer: Callable[[Answers], T]) -> Fetch[T]:
        scoped = tuple(Query(q.text, {**q.parameters, **self._scope()}) for q in queries)
        return Fetch(self.session, scoped, answer)

    def _locked(
        self,
        business_id: UUID,
        by_id: str,
        only: Callable[[Answers], RegisteredBusiness],
        *,
        against_posting: bool,
    ) -> Fetch[RegisteredBusiness]:
        queries = [Query(LOCK, {"id": business_id}), Query(by_id, {"id": business_id})]
        if against_posting:
            gate = Query(CLOSE_MY_GATE, {"business_id": business_id})
            queries[:0] = [gate]

        def answer(answers: Answers) -> RegisteredBusiness:
            found = only(answers)
            if self._precondition is not None:
                self._precondition.refuse_stale(found.version)
            return found

        return self._fetch(queries, answer)

    def _scope(self) -> Row:
        return {"partner_id": self.partner_id}

    def _only(self, answers: Answers) -> RegisteredBusiness:
        found = self._seen(answers[-1])
        if found is None:
            raise NotFound("business_not_found", "There is no such business.")
        return found

    def _only_sandbox(self, answers: Answers) -> RegisteredBusiness:
        found = self._seen(answers[-1])
        if found is None:
            raise NotFound("sandbox_not_found", "There is no such sandbox.")
        return found

    def _seen(self, rows: list[Row]) -> RegisteredBusiness | None:
        if not rows:
            return None
        found = _read(rows[0])
        self._versions[found.id] = found.version
        return found

    def _staging(self) -> UnitOfWork:
        assert isinstance(self.session, WriteSession), "a reading changes nothing"
        return self.session.staging


def _read(row: Row) -> RegisteredBusiness:
    sandbox = row["sandbox"] and Sandbox(row["sandbox"])
    ahead = row["clock_seconds_ahead"] or 0
    return RegisteredBusiness(**{**row, "sandbox": sandbox, "clock_seconds_ahead": ahead})


def _row(value: RegisteredBusiness) -> Row:
    row = {name: getattr(value, name) for name in NAMES}
    return {**row, "clock_seconds_ahead": value.clock_seconds_ahead or None}
