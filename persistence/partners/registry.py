"""The businesses of one partner, during one request: the isolation between partners."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime, timedelta
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from sqlalchemy import (
    Boolean,
    Text,
    Uuid,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.accounts import Account
from accounting.books.businesses import Sandbox
from accounting.books.time_zones import UNIVERSAL
from accounting.errors import NotAllowed, NotFound
from accounting.events.changes import change_of
from accounting.tax.codes import TaxCode
from accounting.trade.parties import CreatedParty
from persistence.engine.listings import Filter, Listing, any_part, created_filters
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.engine.tenants import PartnerTenant
from persistence.engine.topology import CLOSE_GATE
from persistence.engine.unit_of_work import UnitOfWork
from persistence.feed import overdue
from persistence.feed.staged_events import ChangedObject, stage_changes
from persistence.files.blobs import key_in
from persistence.ledger.exchange_rates import PartnerExchangeRates
from persistence.partners.copied_books import CopiedBooks, copied, reading_all
from persistence.partners.webhook_endpoints import WebhookEndpoints
from persistence.scope import Precondition
from persistence.tables import (
    account,
    business,
    tax_code,
)
from persistence.tax.tax_codes import row_of

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
    unknown_parties: str = "create"


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

# Row 0 of a feed: the moment at which it begins, after all rows that have no event in it.
BEGIN_FEED = """
INSERT INTO event (business_id, sequence, id, occurred_at, type, change, object_type, object_id,
                   version, actor_kind)
VALUES (%(business_id)s, 0, %(business_id)s, clock_timestamp(), 'start', 'start', 'business',
        %(business_id)s, 1, 'operator')
"""

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

    created_parties: ClassVar[Sequence[CreatedParty]] = ()  # As `Books`; it has no customers.

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
        self._loaded: dict[UUID, RegisteredBusiness] = {}

    @property
    def partner_id(self) -> UUID:
        return self._tenant.caller.partner_id

    @property
    def webhooks(self) -> WebhookEndpoints:
        """The webhook endpoints of this partner."""
        return WebhookEndpoints(
            self.session, self.partner_id, self.now, self._versions, self._precondition
        )

    @property
    def exchange_rates(self) -> PartnerExchangeRates:
        """The exchange rates of this partner for all of its businesses."""
        return PartnerExchangeRates(self.session, self.partner_id, self._versions)

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
        parts = [*(("account", each) for each in chart), *(("tax_code", each) for each in codes)]
        self._stage_events(("business", opened), *parts)

    def open_copied(self, opened: RegisteredBusiness, books: CopiedBooks) -> None:
        """Stage a new business with copied books; `keep_files` stages the contents of the files.

        Its feed begins with the business: the copied records have no events.
        """
        self._stage_opened(opened)
        for table, rows in books.rows.items():
            for row in rows:
                self._staging().insert(table, row)
        self._stage_events(("business", opened))
        self._staging().follow_with(Query(BEGIN_FEED, {"business_id": opened.id}))

    def keep_files(self, opened: RegisteredBusiness, contents: Mapping[str, bytes]) -> None:
        """Stage the contents of a new business's files by their storage keys."""
        self._staging().contents |= {
            key_in(opened.id, key): content for key, content in contents.items()
        }

    def save(self, changed: RegisteredBusiness) -> None:
        """Stage a changed business and its event; a sandbox that is given up has none."""
        row = {**_row(changed), "partner_id": self.partner_id}
        staging = self._staging()
        if changed.sandbox is not Sandbox.GIVEN_UP:
            staging.business_id = changed.id
            staging.lead_with(self.session.connection.machines.set_tenant(changed.id))
            self._stage_events(("business", changed))
        staging.update(business, {**row, "version": self._versions[changed.id]})
        staging.follow_with(Query(AUDIT, {"business_id": changed.id}))

    async def record_overdue(self, moved: RegisteredBusiness) -> None:
        """Stage the events of documents that become overdue as the clock of a sandbox moves."""
        confined = self.session.connection.machines.set_tenant(moved.id)
        now = self.now_in(moved)

        async def read(query: Query) -> list[Row]:
            return await Fetch(self.session, (confined, query), lambda answers: answers[1])

        async for _, told in overdue.pages(moved.id, now, moved.timezone, read):
            stage_changes(self._staging(), now, self._cause, told)

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
        named = {"partner_id": self.partner_id, "id": token_id}
        staging = self._staging()
        staging.follow_with(Query(REVOKE, {**named, "expires_at": expires_at}))
        staging.follow_with(Query(AUDIT_REVOCATION, named))
        staging.follow_with(Query(FORGET, {"partner_id": self.partner_id, "now": self.now}))

    def etag(self, id_: UUID) -> int:
        """Return the version of a business after the commit of this transaction."""
        loaded = self._versions.get(id_)
        if loaded is None:
            return 1
        return loaded + 1 if self.session.holds_change(id_) else loaded

    def now_in(self, found: RegisteredBusiness) -> datetime:
        """Return the current time of a business; the clock of a sandbox may be ahead."""
        return self.now + timedelta(seconds=found.clock_seconds_ahead)

    def _stage_events(self, *changed: tuple[str, Any]) -> None:
        """Stage the events of new and changed objects, each with its type."""
        changes = []
        for kind, each in changed:
            found = change_of(kind, self._loaded.get(each.id), each, None)
            version = self._versions.get(each.id, 0) + 1
            named = getattr(each, "external_id", None)
            changes.append(ChangedObject(kind, each.id, named, version, found))
        stage_changes(self._staging(), self.now, self._cause, changes)

    @property
    def _cause(self) -> Row:
        return self._tenant.audited.cause(self._tenant.caller)

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
        self._versions[found.id], self._loaded[found.id] = found.version, found
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
