"""The schema: every table, in one MetaData.

The schema can be distributed over the nodes of a cluster by `business_id`. For this it follows
rules, which `tests/persistence/test_tables.py` checks: a tenant table has the primary key
(business_id, id), each of its unique and foreign keys starts with business_id, no deletion sets a
column to null, enumerations are text with a check, and timestamps are parameters. Values that are
unique over all tenants are in tables of the partner level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    Computed,
    Date,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    }
)

Moment = DateTime(timezone=True)


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """A unique key within a tenant: its columns without the tenant's, for the rows of `where`."""

    table: Table
    columns: tuple[str, ...]
    where: ColumnElement[bool] | None


@cache
def unique_key(name: str) -> UniqueKey:
    """Return the unique key of the constraint or index with this name."""
    [(table, found)] = [
        (table, each)
        for table in metadata.sorted_tables
        for each in (*table.constraints, *table.indexes)
        if isinstance(each, UniqueConstraint | Index) and each.name == name
    ]
    _, *columns = (column.name for column in found.columns)
    return UniqueKey(table, tuple(columns), found.dialect_options["postgresql"].get("where"))


def cents(name: str, *, nullable: bool = False) -> Column[int]:
    """Create a column of money in minor units."""
    return Column(name, BigInteger, nullable=nullable)


def number(name: str, *, nullable: bool) -> Column[str]:
    """Create a text column whose number may be assigned by the flush."""
    return Column(name, Text, nullable=nullable, info={"number": True})


def place(name: str) -> Column[int]:
    """Create a column of places in a series, which the flush may assign: 42 for EVENT-000042."""
    return Column(name, BigInteger, nullable=False, info={"number": True})


def stored_day(name: str) -> Column[Any]:
    """Create the column of the day that a moment was in the time zone of the business.

    In rows of earlier servers it is null, and the day is that in UTC.
    """
    return Column(name, Date)


def worth() -> tuple[Column[Any], ...]:
    """Create the columns of what a foreign record is worth; they are null in base records.

    The rate is exact: `rate_base` minor units of the base currency are worth `rate_own` of the own.
    """
    return (
        Column("rate_base", Numeric),
        Column("rate_own", Numeric),
        cents("base_total", nullable=True),
    )


def one_of(column: str, *words: str) -> CheckConstraint:
    """Create a check constraint that replaces an enumeration type."""
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


def kept_up() -> tuple[Column[int], Column[object], Column[object]]:
    """Create the columns of rows that change: version (the ETag) and times."""
    return (
        Column("version", BigInteger, nullable=False),
        Column("created_at", Moment, nullable=False),
        Column("updated_at", Moment, nullable=False),
    )


def rate_columns() -> tuple[Column[Any], ...]:
    """Create the columns of the exchange rates of a day: decimals as text, by currency."""
    return (
        *kept_up(),
        Column("day", Date, nullable=False),
        Column("reference_currency", Text, nullable=False),
        Column("rates", JSONB, nullable=False),
    )


# ── Partner level ──────────────────────────────────────────────────────────────────────────────

partner = Table(
    "partner",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("disabled_at", Moment),
    Column("tokens_valid_from", Moment, nullable=False),
)

api_key = Table(
    "api_key",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("partner_id", ForeignKey("partner.id"), nullable=False),
    Column("key_id", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("revoked_at", Moment),
    UniqueConstraint("partner_id", "key_id"),
)

business = Table(
    "business",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("partner_id", ForeignKey("partner.id"), nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("external_id", Text, nullable=False),
    Column("legal_name", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("entity_type", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("phone_number", Text),
    Column("tin", Text),
    Column("vat_number", Text),
    Column("company_number", Text),
    Column("country", Text),
    Column("province", Text),
    Column("eu_nace_industry_code", Text),
    Column("base_currency", Text, nullable=False),
    Column("accounting_method", Text, nullable=False),
    Column("fiscal_year_end", Date, nullable=False),
    Column("coa_language", Text, nullable=False),
    Column("lock_date", Date),
    Column("activation_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Column("tokens_valid_from", Moment, nullable=False),
    Column("metadata", JSONB),
    Column("sandbox", Text),  # Null in a real business.
    Column("clock_seconds_ahead", BigInteger),  # Null for the real time.
    cents("matching_tolerance_cents"),
    Column("timezone", Text, nullable=False),  # IANA name.
    Column("unknown_parties", Text, nullable=False),
    one_of("accounting_method", "cash", "accrual"),
    one_of("unknown_parties", "create", "refuse"),
    one_of("sandbox", "template", "open", "given_up"),
    CheckConstraint(
        "clock_seconds_ahead IS NULL OR clock_seconds_ahead > 0 AND sandbox IS NOT NULL",
        name="clock_moved",
    ),
    CheckConstraint("matching_tolerance_cents BETWEEN 0 AND 500", name="matching_tolerance_small"),
    UniqueConstraint("partner_id", "external_id"),
    Index(None, "partner_id", "created_at", "id"),
    Index(
        "business_sandbox_idx",
        "sandbox",
        "created_at",
        postgresql_where=text("sandbox IS NOT NULL"),
    ),
)

partner_reply = Table(
    "partner_reply",
    metadata,
    Column("partner_id", ForeignKey("partner.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("operation", Text),  # Null in old replies.
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("digest", LargeBinary),  # Of all other columns; null in old replies.
    Column("event_sequence", BigInteger),
    PrimaryKeyConstraint("partner_id", "key"),
    Index(None, "partner_id", "created_at"),
)

# Single revoked tokens by `token_id` of access/tokens.py, kept until they expire.
revoked_token = Table(
    "revoked_token",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("partner_id", ForeignKey("partner.id"), nullable=False),
    Column("expires_at", Moment, nullable=False),
    Index(None, "partner_id", "expires_at"),
)

# Requests that each worker admitted per minute since 1970 (persistence/partners/request_counts.py).
request_count = Table(
    "request_count",
    metadata,
    Column("minute", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("worker", Uuid, nullable=False),
    Column("counted", BigInteger, nullable=False),
    PrimaryKeyConstraint("minute", "name", "worker"),
    prefixes=["UNLOGGED"],
    info={"local": True},  # In a cluster, only the coordinator has it.
)

# The exchange rates of a day for all businesses of a partner. In a cluster only the coordinator has
# them: each write would otherwise be one on every machine, and no statement joins them.
partner_exchange_rate_table = Table(
    "partner_exchange_rate_table",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("partner_id", Uuid, nullable=False),
    *rate_columns(),
    UniqueConstraint("partner_id", "day"),
    Index(None, "partner_id", "created_at", "id"),
    info={"local": True},
)

# ── Webhooks ───────────────────────────────────────────────────────────────────────────────────

# Tables of partners that processes on all servers read and lock row by row, so in a cluster only
# the coordinator has them (docs/decisions/0057). They refer to no business: a sandbox may be gone.

# The order of a partner's events over all its businesses: position by position, each with some
# events of one business. `place_events` writes it.
event_placement = Table(
    "event_placement",
    metadata,
    Column("partner_id", Uuid, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("business_id", Uuid, nullable=False),
    Column("first_sequence", BigInteger, nullable=False),
    Column("last_sequence", BigInteger, nullable=False),
    PrimaryKeyConstraint("partner_id", "position"),
    CheckConstraint("first_sequence <= last_sequence", name="sequences_ordered"),
    info={"local": True},
)

# The last position of which deliveries were made, for each partner that has had an endpoint.
webhook_feed = Table(
    "webhook_feed",
    metadata,
    Column("partner_id", Uuid, primary_key=True),
    Column("position", BigInteger, nullable=False),
    info={"local": True},
)

webhook_endpoint = Table(
    "webhook_endpoint",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("partner_id", Uuid, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("url", Text, nullable=False),
    Column("types", JSONB),  # Null for all types.
    Column("business_ids", JSONB),  # Null for all businesses, new ones included.
    Column("ordered", Boolean, nullable=False),
    Column("description", Text),
    Column("status", Text, nullable=False),
    Column("off_reason", Text),
    Column("off_at", Moment),
    one_of("status", "active", "paused", "off"),
    one_of("off_reason", "gone", "failing"),
    CheckConstraint(
        "(status = 'off') = (off_reason IS NOT NULL) AND (status = 'off') = (off_at IS NOT NULL)",
        name="off_explained",
    ),
    Index(None, "partner_id", "created_at", "id"),
    info={"local": True},
)

# The state of an endpoint that deliveries change. The audit trail has only what its partner
# configures.
webhook_health = Table(
    "webhook_health",
    metadata,
    Column("endpoint_id", ForeignKey("webhook_endpoint.id"), primary_key=True),
    Column("partner_id", Uuid, nullable=False),
    Column("after_position", BigInteger, nullable=False),  # Events up to it are not delivered.
    Column("failing_since", Moment),  # The first failure after the last success.
    Column("slow_until", Moment),
    info={"local": True},
)

# Encrypted: access/webhook_secrets.py.
webhook_secret = Table(
    "webhook_secret",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("endpoint_id", ForeignKey("webhook_endpoint.id"), nullable=False),
    Column("partner_id", Uuid, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),  # Null for the newest one.
    Column("key_name", Text, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index(None, "endpoint_id"),
    info={"local": True},
)

# One event for one endpoint. A process holds it until `next_attempt_at`, and renews that while it
# sends. It outlives its endpoint until upkeep deletes it.
webhook_delivery = Table(
    "webhook_delivery",
    metadata,
    Column("id", Uuid, primary_key=True),  # Ordered by time.
    Column("endpoint_id", Uuid, nullable=False),
    Column("partner_id", Uuid, nullable=False),
    Column("business_id", Uuid, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("event_id", Uuid, nullable=False),
    Column("event_type", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_attempt_at", Moment),
    Column("held_by", Uuid),
    Column("last_attempt_at", Moment),
    Column("status_code", Integer),
    Column("milliseconds", Integer),
    Column("answer", Text),
    Column("error", Text),
    one_of("status", "pending", "delivered", "failed"),
    CheckConstraint("(status = 'pending') = (next_attempt_at IS NOT NULL)", name="pending_due"),
    UniqueConstraint("endpoint_id", "business_id", "sequence"),
    Index(None, "endpoint_id", "created_at", "id"),
    Index(
        "webhook_delivery_pending_idx",
        "endpoint_id",
        "next_attempt_at",
        postgresql_where=text("status = 'pending'"),
    ),
    Index(
        "webhook_delivery_held_idx",
        "endpoint_id",
        postgresql_where=text("held_by IS NOT NULL"),
    ),
    Index(
        "webhook_delivery_undelivered_idx",
        "endpoint_id",
        "business_id",
        "sequence",
        postgresql_where=text("status <> 'delivered'"),
    ),
    info={"local": True},
)

# ── Tenant level ───────────────────────────────────────────────────────────────────────────────


def of_business(*items: SchemaItem) -> Column[UUID]:
    """Create the tenant column, with a foreign key to the business only if one is needed.

    A row with a required reference to another row of its business needs none. For each foreign key
    PostgreSQL looks up and locks a row on every insert.
    """
    needed = {each.name for each in items if isinstance(each, Column) and not each.nullable}
    references = (each for each in items if isinstance(each, ForeignKeyConstraint))
    if any(each.column_keys[-1] in needed for each in references):
        return Column("business_id", Uuid, nullable=False)
    return Column("business_id", ForeignKey("business.id"), nullable=False)


def tenant_table(name: str, *items: SchemaItem, object_type: str | None = None) -> Table:
    """Create a table whose rows each belong to one business.

    `object_type` is the type of its records in events, where that is not the name of the table.
    """
    return Table(
        name,
        metadata,
        of_business(*items),
        Column("id", Uuid, nullable=False),
        PrimaryKeyConstraint("business_id", "id"),
        *items,
        info={"tenant": True, "object_type": object_type or name},
    )


def within_business(column: str, table: str) -> ForeignKeyConstraint:
    """Create a foreign key to a row of the same business."""
    return ForeignKeyConstraint(["business_id", column], [f"{table}.business_id", f"{table}.id"])


def unique(*columns: str) -> UniqueConstraint:
    """Create a unique key within each business."""
    return UniqueConstraint("business_id", *columns)


def index(
    *columns: str,
    where: str | None = None,
    include: Sequence[str] | None = None,
    name: str | None = None,
) -> Index:
    """Create an index that begins with the business."""
    options: dict[str, Any] = {"postgresql_include": include}
    if where is not None:
        options["postgresql_where"] = text(where)
    return Index(name, "business_id", *columns, **options)


def listed(name: str, type_: Any, said: str) -> Column[Any]:
    """Create a generated column by which lists filter or sort rows.

    An expression index would not do: with row security, PostgreSQL uses an index only for
    leakproof functions. A generated column cannot refer to another one.
    """
    return Column(f"listed_{name}", type_, Computed(said, persisted=True))


reply = tenant_table(
    "reply",
    Column("key", Text, nullable=False),
    Column("operation", Text),  # Null in old replies.
    Column("fingerprint", LargeBinary, nullable=False),
    Column("status", Integer, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("digest", LargeBinary),  # Of all other columns; null in old replies.
    Column("event_sequence", BigInteger),  # Of the last event of the request, if it has any.
    unique("key"),
    index("created_at"),
)

number_series = Table(
    "number_series",
    metadata,
    Column("business_id", ForeignKey("business.id"), nullable=False),
    Column("series", Text, nullable=False),
    Column("last", BigInteger, nullable=False),
    # Only of journal entries: account_month and tax_month contain the entries up to this number.
    Column("rolled_up", BigInteger),
    CheckConstraint("rolled_up BETWEEN 0 AND last", name="rolled_up_counted"),
    PrimaryKeyConstraint("business_id", "series"),
    info={"tenant": True},
    # Half-empty pages leave space for updates on the same page, which need no new index entry.
    postgresql_with={"fillfactor": "50"},
)

# ── Parties and the chart ──────────────────────────────────────────────────────────────────────


def party_table(name: str, *own: SchemaItem) -> Table:
    """Create the table of customers or vendors."""
    return tenant_table(
        name,
        *kept_up(),
        Column("external_id", Text),
        Column("individual_name", Text),
        Column("company_name", Text),
        Column("email", Text),
        Column("mobile_phone", Text),
        Column("office_phone", Text),
        Column("country", Text),
        Column("address_string", Text),
        Column("vat_number", Text),
        Column("transaction_tags", JSONB, nullable=False),
        Column("metadata", JSONB),
        Column("payment_terms_days", Integer),
        Column("archived_at", Moment),
        listed("name", Text, "lower(coalesce(company_name, individual_name))"),
        *own,
        CheckConstraint("individual_name IS NOT NULL OR company_name IS NOT NULL", name="named"),
        unique("external_id"),
        index("created_at", "id"),
        index("updated_at", "id"),
        index("listed_name", "id"),
        index("company_name"),
        index("individual_name"),
    )


customer = party_table(
    "customer",
    Column("reference_number", Text),
    Column("address_line1", Text),
    Column("address_line2", Text),
    Column("city", Text),
    Column("state_county", Text),
    Column("postal_code", Text),
    Column("tax_exempt", Boolean, nullable=False),
    Column("notes", Text),
    cents("credit_limit_cents", nullable=True),
    listed("email", Text, "lower(email)"),
    index("listed_email"),
)

vendor = party_table(
    "vendor",
    Column("memo", Text),
    Column("standing", Text, nullable=False),
    one_of("standing", "ACTIVE", "INACTIVE", "BLOCKED"),
)

account = tenant_table(
    "account",
    *kept_up(),
    Column("code", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("role", Text),
    Column("account_type", Text, nullable=False),
    Column("account_subtype", Text, nullable=False),
    Column("balance_behavior", Text),
    Column("parent_id", Uuid),
    Column("external_id", Text),
    Column("description", Text),
    Column("institution_name", Text),
    Column("iban", Text),
    Column("sort_code", Text),
    Column("account_number_mask", Text),
    Column("archived_at", Moment),
    one_of("account_type", "asset", "liability", "equity", "revenue", "expense"),
    one_of("balance_behavior", "debit_positive", "credit_positive"),
    within_business("parent_id", "account"),
    unique("code"),
    unique("role"),
    unique("external_id"),
    index("parent_id"),
    index(where="archived_at IS NOT NULL", name="account_archived_idx"),
    Column("cash_flow", Text),  # If null, the rules derive it.
    Column("currency", Text),  # Null if the account is kept in base.
    one_of("cash_flow", "cash", "operating", "investing", "financing", "non_cash"),
    CheckConstraint(
        "cash_flow IS NULL OR account_type IN ('asset', 'liability', 'equity')",
        name="cash_flow_of_balance_sheet",
    ),
)

tax_code = tenant_table(
    "tax_code",
    *kept_up(),
    Column("code", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("treatment", Text, nullable=False),
    Column("rates", JSONB, nullable=False),
    Column("tax_account_id", Uuid, nullable=False),
    Column("boxes", JSONB, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("archived_at", Moment),
    one_of("direction", "sales", "purchases"),
    one_of(
        "treatment",
        "standard",
        "reduced",
        "zero",
        "exempt",
        "out_of_scope",
        "reverse_charge",
        "acquisition",
        "import_postponed",
        "withholding",
    ),
    CheckConstraint(
        "NOT is_default OR archived_at IS NULL AND treatment IN ('standard', 'reduced')",
        name="default_charged",
    ),
    within_business("tax_account_id", "account"),
    unique("code"),
    index("created_at", "id"),
)

# The exchange rates of a day for one business.
exchange_rate_table = tenant_table(
    "exchange_rate_table",
    *rate_columns(),
    unique("day"),
    index("created_at", "id"),
)

tax_return = tenant_table(
    "tax_return",
    *kept_up(),
    Column("start_date", Date, nullable=False),
    Column("end_date", Date, nullable=False),
    Column("scheme", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("filed_at", Moment),
    Column("reference", Text),
    Column("reason", Text),
    Column("supersedes_id", Uuid),
    # The journal ranges (days and numbers) of a filed return, and its amounts.
    Column("slices", JSONB, nullable=False),
    Column("figures", JSONB),
    Column("settlement", JSONB),  # What its filing posted, by account.
    one_of("scheme", "accrual", "cash"),
    one_of("status", "draft", "filed", "superseded"),
    CheckConstraint("start_date <= end_date", name="days_in_order"),
    CheckConstraint("num_nulls(reason, supersedes_id) IN (0, 2)", name="superseding_reasoned"),
    CheckConstraint(
        "num_nulls(filed_at, figures) = CASE WHEN status = 'draft' THEN 2 ELSE 0 END",
        name="filed_whole",
    ),
    within_business("supersedes_id", "tax_return"),
    unique("supersedes_id"),
    index("start_date", "id"),
    index("created_at", "id"),
)

# ── The opening of books ───────────────────────────────────────────────────────────────────────

opening_balance = tenant_table(
    "opening_balance",
    *kept_up(),
    Column("opened_on", Date, nullable=False),
    Column("currency", Text, nullable=False),
    Column("memo", Text),
    Column("stated", JSONB, nullable=False),  # Entered balances in base by account.
    Column("stated_own", JSONB),  # The own amounts of accounts with a currency.
    Column("documented", JSONB, nullable=False),  # Totals of documents by role.
    Column("reversed_at", Moment),
    stored_day("reversed_on"),
    # One opening per day, apart from reversed ones.
    Index(
        "opening_balance_opened_on_key",
        "business_id",
        "opened_on",
        unique=True,
        postgresql_where=text("reversed_at IS NULL"),
    ),
    index("opened_on", "id"),
    index("created_at", "id"),
    index("updated_at"),
)


revaluation = tenant_table(
    "revaluation",
    *kept_up(),
    Column("revalued_on", Date, nullable=False),
    Column("currency", Text, nullable=False),
    Column("rates", JSONB, nullable=False),  # The given ones, as decimals in text.
    Column("items", JSONB, nullable=False),  # Balances with their rates and differences.
    Column("reversed_at", Moment),
    index("revalued_on", "id"),
    index("created_at", "id"),
    index("updated_at"),
)


def of_opening(name: str) -> tuple[SchemaItem, ...]:
    """Create the reference of a row to its opening; most rows have none."""
    return (
        Column("opening_id", Uuid),
        within_business("opening_id", "opening_balance"),
        index("opening_id", where="opening_id IS NOT NULL", name=f"{name}_opening_idx"),
    )


def number_key(name: str) -> Index:
    """Create the unique index of numbers; void documents of an opening free their numbers."""
    return Index(
        f"{name}_business_id_number_key",
        "business_id",
        "number",
        unique=True,
        postgresql_where=text("(state <> 'void' OR opening_id IS NULL)"),
    )


# ── Tables that sales and purchases share ──────────────────────────────────────────────────────


def document_table(name: str, party: str, opened: str) -> Table:
    """Create the table of invoices or bills.

    Both have all columns, also those that one side uses, as `terms` of bills.
    `opened` is the status of an open document without settlements.
    """
    settled = "paid + credited + written_off = total_amount"
    return tenant_table(
        name,
        *kept_up(),
        Column("party_id", Uuid, nullable=False),
        Column("external_id", Text),
        number("number", nullable=True),
        Column("state", Text, nullable=False),
        Column("currency", Text, nullable=False),
        Column("issue_date", Date),
        Column("delivery_date", Date),
        Column("dated_by_issue", Boolean, nullable=False),
        Column("opened_at", Moment),
        Column("opened_on", Date),
        Column("due_at", Moment),
        Column("voided_at", Moment),
        stored_day("voided_on"),
        Column("paid_on", Date),
        Column("imported_at", Moment),
        Column("lines", JSONB, nullable=False),
        cents("additional_discount"),
        cents("subtotal"),
        cents("discount_total"),
        cents("tax_total"),
        cents("total_amount"),
        Column("amounts_include_tax", Boolean, nullable=False),
        cents("paid"),
        cents("reserved"),
        cents("credited"),
        cents("written_off"),
        cents("refunded"),
        Column("settled", JSONB, nullable=False),
        Column("returned", JSONB, nullable=False),
        Column("reduced", JSONB, nullable=False),
        Column(
            "outstanding",
            BigInteger,
            Computed(
                "CASE WHEN state = 'open' THEN total_amount - paid - credited - written_off"
                " ELSE 0 END",
                persisted=True,
            ),
        ),
        # Documents that were never opened come first.
        listed("at", Moment, "coalesce(opened_at, '-infinity')"),
        listed("due_at", Moment, "coalesce(due_at, '-infinity')"),
        listed("number", Text, "coalesce(number, '')"),
        # The status as the rules derive it, except `overdue`, which depends on the day. A test
        # compares the two.
        listed(
            "status",
            Text,
            "CASE WHEN state = 'void' THEN 'voided' WHEN state = 'draft' THEN 'draft'"
            f" WHEN {settled} AND paid > 0 AND refunded >= paid THEN 'refunded'"
            f" WHEN {settled} AND written_off > 0 THEN 'written_off' WHEN {settled} THEN 'paid'"
            " WHEN written_off > 0 THEN 'partially_written_off'"
            f" WHEN paid + credited > 0 THEN 'partially_paid' ELSE '{opened}' END",
        ),
        Column("party_number", Text),
        Column("terms", Text),
        Column("memo", Text),
        Column("transaction_tags", JSONB, nullable=False),
        Column("metadata", JSONB),
        *worth(),
        cents("base_settled", nullable=True),
        one_of("state", "draft", "open", "void"),
        CheckConstraint(
            "state <> 'open' OR opened_at IS NOT NULL AND opened_on IS NOT NULL", name="opened"
        ),
        CheckConstraint("state = 'draft' OR number IS NOT NULL", name="numbered"),
        CheckConstraint(
            "least(total_amount, paid, reserved, credited, written_off, refunded) >= 0",
            name="amounts_positive",
        ),
        CheckConstraint(
            "paid + reserved + credited + written_off <= total_amount", name="not_over_allocated"
        ),
        within_business("party_id", party),
        unique("external_id"),
        number_key(name),
        *of_opening(name),
        index("listed_at", "id"),
        index("listed_status", "listed_at", "id", include=["due_at"]),
        index("party_id", "listed_at", "id"),
        index("listed_due_at", "id"),
        index("total_amount", "id"),
        index("listed_number", "id"),
        index("created_at", "id"),
        index("updated_at"),
        # For open documents only: those of a party, and all by due date.
        index(
            "party_id",
            "id",
            where="outstanding > 0",
            include=["outstanding", "due_at"],
            name=f"{name}_open_idx",
        ),
        index(
            "party_id",
            "id",
            where="outstanding > 0 AND base_total IS NOT NULL",
            include=["currency", "outstanding", "base_total", "base_settled"],
            name=f"{name}_open_foreign_idx",
        ),
        # The number of the vendor is unique per party, apart from void documents.
        Index(
            f"{name}_party_number_key",
            "business_id",
            "party_id",
            "party_number",
            unique=True,
            postgresql_where=text("state <> 'void'"),
        ),
    )


# Whether completed money ever came back: a completed payment has one span that has not ended.
EVER_RETURNED = "jsonb_array_length(completions) > (status = 'completed')::integer"


def held_columns(name: str, moved: str) -> tuple[SchemaItem, ...]:
    """Create the columns of a payment for its bank lines and its payout.

    `moved` is SQL for the amount that arrives at or leaves the account. `unlinked` is the part that
    no bank line shows yet, null if none can; it is a column for the same reason as `listed_at`. It
    does not count the returns of money.
    """
    unlinked = (
        f"CASE WHEN status IN ('pending', 'processing', 'completed') AND payout_id IS NULL"
        f" AND {moved} > linked THEN {moved} - linked END"
    )
    return (
        cents("linked"),
        cents("linked_back"),
        # Of foreign money: the base of what lines in base show, and its account at the bank.
        cents("linked_base", nullable=True),
        cents("linked_back_base", nullable=True),
        Column("own_account_id", Uuid),
        within_business("own_account_id", "account"),
        Column("money_account_id", Uuid),
        Column("bank_account_id", Uuid),  # The bank account that the money names.
        Column("payout_id", Uuid),
        CheckConstraint("linked >= 0 AND linked_back >= 0", name="linked_positive"),
        CheckConstraint(
            "(linked + linked_back > 0) = (money_account_id IS NOT NULL)", name="linked_whole"
        ),
        CheckConstraint("linked + linked_back = 0 OR payout_id IS NULL", name="linked_or_paid_out"),
        within_business("money_account_id", "account"),
        within_business("bank_account_id", "bank_account"),
        within_business("payout_id", "payout"),
        index("payout_id"),
        Column("unlinked", BigInteger, Computed(unlinked, persisted=True)),
        index("updated_at", where=EVER_RETURNED, name=f"{name}_returned_idx"),
    )


def payment_table(name: str, party: str, moved: str) -> Table:
    """Create the table of invoice payments or bill payments."""
    return tenant_table(
        name,
        *kept_up(),
        Column("party_id", Uuid, nullable=False),
        Column("external_id", Text),
        cents("total"),
        cents("allocated"),
        cents("applied"),
        cents("refunded"),
        Column("currency", Text, nullable=False),
        Column("payment_date", Date, nullable=False),
        Column("method", Text, nullable=False),
        Column("processor", Text),
        cents("fee"),
        Column("status", Text, nullable=False),
        Column("note", Text),
        Column("payment_reference", Text),
        Column("bank_reference", Text),
        Column("processor_reference", Text),
        Column("check_number", Text),
        Column("references", JSONB, nullable=False),
        Column("transaction_tags", JSONB, nullable=False),
        Column("metadata", JSONB),
        Column("idempotency_key", Text),
        Column("completions", JSONB, nullable=False),
        *worth(),
        cents("base_allocated", nullable=True),
        cents("base_refunded", nullable=True),
        *held_columns(name, moved),
        index("unlinked", "payment_date", where="unlinked IS NOT NULL"),
        CheckConstraint("total >= 1 AND fee >= 0", name="amounts_positive"),
        CheckConstraint(
            "least(applied, refunded) >= 0 AND applied + refunded <= allocated"
            " AND allocated <= total",
            name="within_total",
        ),
        within_business("party_id", party),
        unique("external_id"),
        *of_opening(name),
        index("payment_date", "id"),
        index("payment_date", "id", where="allocated < total", name=f"{name}_unallocated_idx"),
        index("status", "payment_date", "id"),
        index("party_id", "payment_date", "id"),
        index("total", "id"),
        index("created_at", "id"),
        index("updated_at"),
    )


def allocation_table(
    name: str, holder: str, holder_id: str, document: str, *own: SchemaItem
) -> Table:
    """Create the table of allocations of payments or credits to documents, with their periods."""
    return tenant_table(
        name,
        Column("version", BigInteger, nullable=False),
        Column(holder_id, Uuid, nullable=False),
        Column("document_id", Uuid, nullable=False),
        Column("document_date", Date, nullable=False),
        cents("amount"),
        Column("start_on", Date),
        Column("end_on", Date),
        Column("split", JSONB, nullable=False),
        Column("description", Text),
        *own,
        CheckConstraint("amount >= 1", name="amount_positive"),
        within_business(holder_id, holder),
        within_business("document_id", document),
        index(holder_id),
        index("document_id"),
        Index(
            f"{name}_live_key",
            "business_id",
            holder_id,
            "document_id",
            unique=True,
            postgresql_where=text("end_on IS NULL"),
        ),
    )


def of_foreign_money() -> tuple[Column[int], ...]:
    """Create the columns of an allocation of foreign money, or to a document of another currency.

    `base_amount` is the base that the money brings.
    """
    return (cents("document_amount", nullable=True), cents("base_amount", nullable=True))


def write_off_table(name: str, document: str) -> Table:
    """Create the table of write-offs of invoices or of bills."""
    return tenant_table(
        name,
        *kept_up(),
        Column("document_id", Uuid, nullable=False),
        Column("external_id", Text),
        cents("amount"),
        Column("account_id", Uuid, nullable=False),
        Column("write_off_at", Moment, nullable=False),
        stored_day("written_off_on"),
        Column("reversed_at", Moment),
        stored_day("reversed_on"),
        Column("split", JSONB, nullable=False),
        Column("tax_relief", Boolean, nullable=False),
        Column("relieved", JSONB, nullable=False),
        Column("lines", JSONB, nullable=False),
        Column("memo", Text),
        Column("tags", JSONB, nullable=False),
        CheckConstraint("amount >= 1", name="amount_positive"),
        within_business("document_id", document),
        within_business("account_id", "account"),
        unique("external_id"),
        index("document_id"),
    )


def credit_table(name: str, party: str, document: str, opened: str) -> Table:
    """Create the table of customer or vendor credits; `opened` is the status of an unused one."""
    return tenant_table(
        name,
        *kept_up(),
        Column("party_id", Uuid, nullable=False),
        Column("external_id", Text),
        number("number", nullable=True),
        Column("state", Text, nullable=False),
        Column("currency", Text, nullable=False),
        Column("opened_at", Moment),
        Column("voided_at", Moment),
        Column("source_document_id", Uuid),
        Column("refund_id", Uuid),
        Column("lines", JSONB, nullable=False),
        Column("tax_account_id", Uuid, nullable=False),
        cents("tax_total"),
        cents("total_amount"),
        cents("applied"),
        cents("refunded"),
        Column("settled", JSONB, nullable=False),
        *worth(),
        cents("base_used", nullable=True),
        listed("at", Moment, "coalesce(opened_at, '-infinity')"),
        listed("number", Text, "coalesce(number, '')"),
        # The status as the rules derive it; a test compares the two.
        listed(
            "status",
            Text,
            "CASE WHEN state <> 'open' THEN state"
            " WHEN applied + refunded = total_amount THEN 'applied'"
            f" WHEN applied + refunded > 0 THEN 'partially_applied' ELSE '{opened}' END",
        ),
        Column("memo", Text),
        Column("transaction_tags", JSONB, nullable=False),
        Column("metadata", JSONB),
        one_of("state", "draft", "open", "void"),
        CheckConstraint("state <> 'open' OR opened_at IS NOT NULL", name="opened"),
        CheckConstraint("state = 'draft' OR number IS NOT NULL", name="numbered"),
        CheckConstraint("total_amount >= 1 AND tax_total >= 0", name="amounts_positive"),
        CheckConstraint(
            "least(applied, refunded) >= 0 AND applied + refunded <= total_amount",
            name="within_total",
        ),
        CheckConstraint("applied + refunded = 0 OR state = 'open'", name="applied_while_open"),
        within_business("party_id", party),
        within_business("source_document_id", document),
        within_business("tax_account_id", "account"),
        unique("external_id"),
        number_key(name),
        *of_opening(name),
        index("listed_at", "id"),
        index("listed_status", "listed_at", "id"),
        index("party_id", "listed_at", "id"),
        index("total_amount", "id"),
        index("listed_number", "id"),
        index("created_at", "id"),
        index("updated_at"),
        index("source_document_id"),
        stored_day("opened_on"),
        stored_day("voided_on"),
    )


def refund_table(name: str, party: str, *own: SchemaItem) -> Table:
    """Create the table of refunds to customers or from vendors."""
    return tenant_table(
        name,
        *kept_up(),
        Column("party_id", Uuid, nullable=False),
        Column("external_id", Text),
        cents("amount"),
        cents("paid"),
        Column("currency", Text, nullable=False),
        Column("agreed_on", Date, nullable=False),
        Column("completed_at", Moment),
        Column("cancelled_at", Moment),
        stored_day("cancelled_on"),
        Column("settled", JSONB, nullable=False),
        Column("is_foreign", Boolean),
        Column("memo", Text),
        Column("reference_number", Text),
        Column("metadata", JSONB),
        *own,
        CheckConstraint("0 <= paid AND paid <= amount", name="within_amount"),
        CheckConstraint("paid = 0 OR cancelled_at IS NULL", name="cancelled_unpaid"),
        within_business("party_id", party),
        unique("external_id"),
        index("created_at", "id"),
        index("party_id", "created_at", "id"),
        index("amount", "id"),
        index("updated_at"),
    )


def refund_allocation_table(
    name: str, refund: str, document: str, payment: str, credit: str, *own: SchemaItem
) -> Table:
    """Create the table of allocations of refunds: to a document, a payment or a credit.

    `refunded_credit_id` is a credit that the refund pays out.
    """
    return tenant_table(
        name,
        Column("version", BigInteger, nullable=False),
        Column("refund_id", Uuid, nullable=False),
        Column("document_id", Uuid),
        Column("payment_id", Uuid),
        Column("refunded_credit_id", Uuid),
        cents("amount"),
        Column("split", JSONB, nullable=False),
        Column("start_on", Date),
        Column("end_on", Date),
        Column("lines", JSONB, nullable=False),
        Column("self_assessed", JSONB, nullable=False),
        Column("released", JSONB, nullable=False),
        Column("description", Text),
        Column("metadata", JSONB),
        *own,
        CheckConstraint("amount >= 1", name="amount_positive"),
        within_business("refund_id", refund),
        within_business("document_id", document),
        within_business("payment_id", payment),
        within_business("refunded_credit_id", credit),
        index("refund_id"),
        index("document_id"),
        index("payment_id"),
        index("refunded_credit_id"),
    )


def refund_payment_table(name: str, refund: str, moved: str, *own: SchemaItem) -> Table:
    """Create the table of payments of refunds."""
    return tenant_table(
        name,
        *kept_up(),
        Column("refund_id", Uuid, nullable=False),
        Column("external_id", Text),
        cents("amount"),
        Column("currency", Text, nullable=False),
        Column("method", Text, nullable=False),
        Column("processor", Text),
        cents("fee"),
        Column("status", Text, nullable=False),
        Column("payment_date", Date),
        Column("completed_at", Moment),
        stored_day("completed_on"),  # Null where `payment_date` is the day.
        Column("cancelled_at", Moment),
        Column("completions", JSONB, nullable=False),
        Column("splits", JSONB, nullable=False),
        *worth(),
        *held_columns(name, moved),
        index("unlinked", "created_at", where="unlinked IS NOT NULL"),
        Column("memo", Text),
        Column("transaction_tags", JSONB),
        Column("metadata", JSONB),
        *own,
        CheckConstraint("(status = 'cancelled') = (cancelled_at IS NOT NULL)", name="cancelled"),
        within_business("refund_id", refund),
        unique("external_id"),
        index("refund_id", "created_at", "id"),
    )


# ── Sales and purchases ────────────────────────────────────────────────────────────────────────

invoice = document_table("invoice", party="customer", opened="sent")
invoice_payment = payment_table("invoice_payment", party="customer", moved="total - fee")
invoice_allocation = allocation_table(
    "invoice_allocation", "invoice_payment", "payment_id", "invoice", *of_foreign_money()
)

write_off = write_off_table("write_off", "invoice")

bill = document_table("bill", party="vendor", opened="received")
bill_payment = payment_table("bill_payment", party="vendor", moved="total + fee")
bill_allocation = allocation_table(
    "bill_allocation", "bill_payment", "payment_id", "bill", *of_foreign_money()
)
bill_write_off = write_off_table("bill_write_off", "bill")

customer_credit = credit_table(
    "customer_credit", party="customer", document="invoice", opened="sent"
)
customer_credit_allocation = allocation_table(
    "customer_credit_allocation",
    "customer_credit",
    "credit_id",
    "invoice",
    Column("own_split", JSONB, nullable=False),
)

vendor_credit = credit_table("vendor_credit", party="vendor", document="bill", opened="received")
vendor_credit_allocation = allocation_table(
    "vendor_credit_allocation",
    "vendor_credit",
    "credit_id",
    "bill",
    Column("own_split", JSONB, nullable=False),
)

invoice_refund = refund_table(
    "invoice_refund",
    "customer",
    Column("method", Text, nullable=False),
    Column("processor", Text),
    cents("fee"),
    Column("bank_account_id", Uuid),
    within_business("bank_account_id", "bank_account"),
    # The status as the rules derive it; a test compares the two.
    listed(
        "status",
        Text,
        "CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN paid = amount THEN 'paid'"
        " WHEN paid > 0 THEN 'processing' ELSE 'pending' END",
    ),
    CheckConstraint("amount >= 1 AND fee >= 0", name="amounts_positive"),
    index("listed_status", "created_at", "id"),
)
invoice_refund_allocation = refund_allocation_table(
    "invoice_refund_allocation",
    "invoice_refund",
    "invoice",
    "invoice_payment",
    "customer_credit",
    CheckConstraint(
        "num_nonnulls(document_id, payment_id, refunded_credit_id) = 1", name="one_target"
    ),
)
invoice_refund_payment = refund_payment_table(
    "invoice_refund_payment",
    "invoice_refund",
    "amount + fee",
    CheckConstraint("amount >= 1 AND fee >= 0", name="amounts_positive"),
)

vendor_refund = refund_table(
    "vendor_refund",
    "vendor",
    Column("refund_type", Text, nullable=False),
    Column("by_target", Boolean, nullable=False),
    Column("expected_completion_date", Date),
    Column("description", Text),
    Column("reason", Text),
    CheckConstraint("amount >= 1", name="amounts_positive"),
    index("agreed_on", "id"),
)
vendor_refund_allocation = refund_allocation_table(
    "vendor_refund_allocation",
    "vendor_refund",
    "bill",
    "bill_payment",
    "vendor_credit",
    Column("credit_id", Uuid),
    Column("created_at", Moment, nullable=False),
    CheckConstraint(
        "num_nonnulls(document_id, payment_id, credit_id, refunded_credit_id) = 1",
        name="one_target",
    ),
    within_business("credit_id", "vendor_credit"),
    index("credit_id"),
)
vendor_refund_payment = refund_payment_table(
    "vendor_refund_payment",
    "vendor_refund",
    "amount - fee",
    Column("shares", JSONB, nullable=False),
    Column("payment_reference", Text),
    Column("processor_payment_id", Text),
    Column("submitted_at", Moment),
    Column("failed_at", Moment),
    Column("failure_reason", Text),
    Column("description", Text),
    # The amount is 0 if the whole refund is kept as a credit.
    CheckConstraint("0 <= fee AND fee <= amount", name="amounts_positive"),
    index("created_at", "id"),
    listed("payment_date", Date, "coalesce(payment_date, '-infinity')"),
    index("listed_payment_date", "id"),
    index("amount", "id"),
    index("status", "created_at", "id"),
    index("updated_at"),
)

# ── Payouts ────────────────────────────────────────────────────────────────────────────────────

payout = tenant_table(
    "payout",
    *kept_up(),
    Column("external_id", Text),
    Column("processor", Text, nullable=False),
    Column("processor_payout_id", Text),
    cents("paid_out"),
    cents("fee"),
    cents("additional_refunds"),
    Column("currency", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("completed_at", Moment),
    stored_day("completed_on"),
    Column("imported_at", Moment),
    Column("deleted_at", Moment),
    Column("reference_number", Text),
    Column("memo", Text),
    Column("metadata", JSONB),
    cents("gross_payments"),
    cents("total_refunds"),
    Column("fee_steps", JSONB, nullable=False),
    # Amounts that the processor charged or paid besides payments and refunds.
    Column("other_items", JSONB, nullable=False),
    Column("completions", JSONB, nullable=False),
    *worth(),
    cents("linked"),
    cents("linked_base", nullable=True),
    Column("own_account_id", Uuid),
    within_business("own_account_id", "account"),
    Column("money_account_id", Uuid),
    Column("bank_account_id", Uuid),
    # Payouts without a date come first.
    listed("at", Moment, "coalesce(completed_at, '-infinity')"),
    # The reconciliation status as the rules derive it; a test compares the two.
    listed(
        "reconciliation",
        Text,
        "CASE WHEN linked = 0 THEN 'unreconciled' WHEN linked = abs(paid_out)"
        " THEN 'fully_reconciled' ELSE 'partially_reconciled' END",
    ),
    # The part that no bank line shows yet, as in payments.
    Column(
        "unlinked",
        BigInteger,
        Computed(
            "CASE WHEN status IN ('pending', 'processing', 'paid') AND abs(paid_out) > linked"
            " THEN abs(paid_out) - linked END",
            persisted=True,
        ),
    ),
    one_of("status", "pending", "processing", "paid", "failed", "cancelled"),
    CheckConstraint(
        "least(additional_refunds, gross_payments, total_refunds) >= 0",
        name="amounts_positive",
    ),
    CheckConstraint("0 <= linked AND linked <= abs(paid_out)", name="within_paid_out"),
    CheckConstraint("(linked > 0) = (money_account_id IS NOT NULL)", name="linked_whole"),
    CheckConstraint("status <> 'paid' OR completed_at IS NOT NULL", name="paid_on_a_day"),
    CheckConstraint(
        "deleted_at IS NULL OR status = 'cancelled' AND external_id IS NULL", name="deleted_whole"
    ),
    within_business("money_account_id", "account"),
    within_business("bank_account_id", "bank_account"),
    unique("external_id"),
    index("created_at", "id"),
    index("listed_at", "id"),
    index("status", "listed_at", "id"),
    index("listed_reconciliation", "listed_at", "id"),
    index("paid_out", "id"),
    index("updated_at"),
    index("unlinked", where="unlinked IS NOT NULL"),
)

payout_item = tenant_table(
    "payout_item",
    Column("version", BigInteger, nullable=False),
    Column("payout_id", Uuid, nullable=False),
    Column("payment_id", Uuid),
    Column("refund_payment_id", Uuid),
    Column("listed", Boolean, nullable=False),
    CheckConstraint("num_nonnulls(payment_id, refund_payment_id) = 1", name="one_kind"),
    within_business("payout_id", "payout"),
    within_business("payment_id", "invoice_payment"),
    within_business("refund_payment_id", "invoice_refund_payment"),
    index("payout_id"),
    index("payment_id"),
    index("refund_payment_id"),
)

# ── The journal ────────────────────────────────────────────────────────────────────────────────


def marked(*, base_may_be_zero: bool = False) -> tuple[SchemaItem, ...]:
    """Create the columns of a tax mark, and the check that only debit or credit is above 0.

    The base of a small foreign amount may be 0 alone.
    """
    one_side = "(debit > 0 AND credit = 0) OR (credit > 0 AND debit = 0)"
    if base_may_be_zero:
        one_side += " OR (debit = 0 AND credit = 0 AND coalesce(currency_amount, 0) <> 0)"
    return (
        Column("tax_code_id", Uuid),
        Column("tax_rate", Numeric),
        Column("tax_part", Text),
        CheckConstraint(one_side, name="one_side_only"),
        CheckConstraint("num_nulls(tax_code_id, tax_rate, tax_part) IN (0, 3)", name="mark_whole"),
        one_of(
            "tax_part",
            "net",
            "output",
            "input",
            "blocked",
            "withheld",
            "relief_net",
            "relief",
        ),
    )


# Entries and their lines are never updated or deleted: the server's role may only insert them.
journal_entry = tenant_table(
    "journal_entry",
    Column("version", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    number("sequence_number", nullable=False),
    Column("entry_date", Date, nullable=False),
    Column("posted_at", Moment, nullable=False),
    number("reference", nullable=True),
    Column("description", Text, nullable=False),
    Column("currency", Text, nullable=False),
    cents("total"),
    Column("stream", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("source_type", Text, nullable=False),
    Column("source_id", Uuid, nullable=False),
    Column("reversal_of_id", Uuid),
    Column("line_count", Integer, nullable=False),
    # Only of entries by hand; null in those from before.
    Column("lines_digest", Text),
    CheckConstraint("total >= 0", name="total_positive"),
    one_of("created_by", "ai", "manual", "system", "import"),
    within_business("reversal_of_id", "journal_entry"),
    unique("sequence_number"),
    unique("reversal_of_id"),
    unique("id", "line_count"),
    # The two parts of its number: the series, and the position in it.
    Column("series", Text, Computed("left(sequence_number, 7)", persisted=True)),
    Column(
        "place",
        BigInteger,
        Computed(
            "substring(sequence_number from '^JE-[0-9]{4}-([0-9]{6,12})$')::bigint", persisted=True
        ),
    ),
    index("series", "place", include=("id",)),
    index("source_id"),
    index("entry_date", "id"),
    index("entry_date", "id", where="source_type = 'manual'", name="journal_entry_manual_idx"),
    index("created_at", "id"),
    index("posted_at"),
)

# Manual entries with their lines, until they are posted under the same id.
journal_draft = tenant_table(
    "journal_draft",
    *kept_up(),
    Column("entry_date", Date, nullable=False),
    Column("reference", Text),
    Column("description", Text, nullable=False),
    Column("currency", Text, nullable=False),
    cents("total"),
    Column("created_by", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("lines", JSONB, nullable=False),
    # For lists that sort by number: drafts have none and come first.
    Column("listed_number", Text, Computed("''", persisted=True)),
    CheckConstraint("total > 0", name="total_positive"),
    one_of("created_by", "ai", "manual", "import"),
    one_of("status", "draft", "rejected"),
    index("entry_date", "id"),
    index("created_at", "id"),
    index("listed_number", "id"),
    object_type="journal_entry",
)

journal_line = tenant_table(
    "journal_line",
    Column("entry_id", Uuid, nullable=False),
    Column("line_number", Integer, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("entry_date", Date, nullable=False),
    cents("debit"),
    cents("credit"),
    Column("description", Text),
    Column("settles_id", Uuid),
    Column("split", JSONB, nullable=False),
    # The line count of the entry: with the constraints below, it admits no further lines.
    Column("line_count", Integer, nullable=False),
    *marked(base_may_be_zero=True),
    # Whether the line itself counts on the cash basis, and its document. Both are null in lines of
    # servers of the previous release.
    Column("in_cash", Boolean),
    Column("document_id", Uuid),
    Column("tags", JSONB),  # Its own tags; null without any, and in lines of documents.
    # The amount of a foreign record in its own currency, a debit above zero.
    Column("currency", Text),
    cents("currency_amount", nullable=True),
    CheckConstraint("(currency IS NULL) = (currency_amount IS NULL)", name="own_amount"),
    CheckConstraint("line_number BETWEEN 1 AND line_count", name="counted"),
    ForeignKeyConstraint(
        ["business_id", "entry_id", "line_count"],
        ["journal_entry.business_id", "journal_entry.id", "journal_entry.line_count"],
    ),
    within_business("account_id", "account"),
    within_business("tax_code_id", "tax_code"),
    unique("entry_id", "line_number"),
    # Covering index for balances: sums by account and period need no access to the table.
    index("account_id", "entry_date", "id", include=("debit", "credit", "in_cash")),
    index("tax_code_id", "entry_date", where="tax_code_id IS NOT NULL"),
    index("document_id"),
    # Balances in foreign currencies; most businesses have no such lines.
    index(
        "account_id",
        "currency",
        "entry_date",
        where="currency IS NOT NULL",
        include=("currency_amount", "debit", "credit"),
        name="journal_line_foreign_idx",
    ),
)

# On the cash basis, these replace a journal line: the parts that it settles, each on its account.
cash_line = tenant_table(
    "cash_line",
    Column("line_id", Uuid, nullable=False),
    Column("entry_id", Uuid, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("entry_date", Date, nullable=False),
    cents("debit"),
    cents("credit"),
    Column("document_id", Uuid, nullable=False),
    *marked(),
    within_business("line_id", "journal_line"),
    within_business("account_id", "account"),
    index("document_id"),
    index("entry_id"),
    index("account_id", "entry_date", "id", include=("debit", "credit")),
)

# The journal and cash lines of documents with tags: once for each tag of the document, and once
# under '', which represents any tag.
tagged_line = Table(
    "tagged_line",
    metadata,
    Column("business_id", Uuid, nullable=False),
    Column("tag", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("entry_date", Date, nullable=False),
    Column("line_id", Uuid, nullable=False),
    Column("entry_id", Uuid, nullable=False),
    Column("document_id", Uuid, nullable=False),
    cents("debit"),
    cents("credit"),
    Column("in_ledger", Boolean, nullable=False),
    Column("in_cash", Boolean, nullable=False),
    # For the tag '': whether the document, or the line itself, has more than one tag.
    Column("has_several", Boolean, nullable=False),
    PrimaryKeyConstraint("business_id", "tag", "account_id", "entry_date", "line_id"),
    CheckConstraint("in_ledger OR in_cash", name="counted"),
    within_business("account_id", "account"),
    index("document_id"),
    # Covering index for the sums of a tag.
    index(
        "tag",
        "account_id",
        "entry_date",
        include=("debit", "credit", "in_ledger", "in_cash"),
        name="tagged_line_sums_idx",
    ),
    index(
        "entry_date",
        where="has_several",
        include=("in_ledger", "in_cash"),
        name="tagged_line_several_idx",
    ),
    info={"tenant": True},
)

# Monthly sums of each account over the entries that are rolled up. Rows have no id, since they are
# found by account and month only.
account_month = Table(
    "account_month",
    metadata,
    Column("business_id", Uuid, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("month", Date, nullable=False),
    cents("debits"),
    cents("credits"),
    Column("debit_count", BigInteger, nullable=False),
    Column("credit_count", BigInteger, nullable=False),
    # The same on the cash basis.
    cents("cash_debits"),
    cents("cash_credits"),
    Column("cash_debit_count", BigInteger, nullable=False),
    Column("cash_credit_count", BigInteger, nullable=False),
    # Debits less credits of lines without a tax code, except those of openings.
    cents("uncoded"),
    PrimaryKeyConstraint("business_id", "account_id", "month"),
    CheckConstraint("extract(day FROM month) = 1", name="first_of_month"),
    CheckConstraint("least(debits, credits, debit_count, credit_count) >= 0", name="sums_positive"),
    CheckConstraint(
        "least(cash_debits, cash_credits, cash_debit_count, cash_credit_count) >= 0",
        name="cash_sums_positive",
    ),
    within_business("account_id", "account"),
    info={"tenant": True},
)

# Monthly sums of each tax code over the same entries, by rate and part: as posted and, on the cash
# basis, as paid.
tax_month = Table(
    "tax_month",
    metadata,
    Column("business_id", Uuid, nullable=False),
    Column("month", Date, nullable=False),
    Column("tax_code_id", Uuid, nullable=False),
    Column("tax_rate", Numeric, nullable=False),
    Column("tax_part", Text, nullable=False),
    cents("debits"),
    cents("credits"),
    cents("cash_debits"),
    cents("cash_credits"),
    PrimaryKeyConstraint("business_id", "month", "tax_code_id", "tax_rate", "tax_part"),
    CheckConstraint("extract(day FROM month) = 1", name="first_of_month"),
    CheckConstraint("least(debits, credits, cash_debits, cash_credits) >= 0", name="sums_positive"),
    within_business("tax_code_id", "tax_code"),
    info={"tenant": True},
)

# ── Bank ───────────────────────────────────────────────────────────────────────────────────────

bank_account = tenant_table(
    "bank_account",
    *kept_up(),
    Column("external_id", Text),
    Column("display_name", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("account_id", Uuid, nullable=False),
    Column("iban", Text),
    Column("mask", Text),
    Column("institution_name", Text),
    within_business("account_id", "account"),
    unique("account_id"),
    unique("external_id"),
    index("created_at", "id"),
)

bank_transaction = tenant_table(
    "bank_transaction",
    *kept_up(),
    Column("bank_account_id", Uuid, nullable=False),
    # The id of the bank or, if it has none, one derived from the line.
    Column("external_id", Text, nullable=False),
    Column("booked_on", Date, nullable=False),
    cents("amount"),
    Column("direction", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("description", Text),
    Column("counterparty_name", Text),
    Column("reference", Text),
    Column("imported_at", Moment, nullable=False),
    Column("source_format", Text, nullable=False),
    cents("linked"),
    cents("categorized"),
    Column("category_account_id", Uuid),
    Column("category_memo", Text),
    # `linked` less the linked amounts of the targets; below zero if these are greater.
    cents("rounding"),
    # The categorized parts. Null if there are none, or if the single part is in the two category
    # columns above, as in old lines.
    Column("parts", JSONB),
    *worth(),  # Of what is categorized of a foreign line.
    # What a line in base has more than it shows of foreign money, by that money; null if nothing.
    Column("exchanged", JSONB),
    Column("rule_id", Uuid),  # The bank rule that categorized the line.
    # Whether the statement of its day was closed when the line was imported, and still is.
    Column("after_closing", Boolean, nullable=False),
    Column("remaining", BigInteger, Computed("amount - linked - categorized", persisted=True)),
    one_of("direction", "credit", "debit"),
    one_of("source_format", "json", "csv", "ofx", "camt053", "mt940"),
    CheckConstraint("amount >= 1", name="amount_positive"),
    CheckConstraint(
        "linked >= 0 AND categorized >= 0 AND linked + categorized <= amount",
        name="within_amount",
    ),
    CheckConstraint(
        "(categorized > 0) = (category_account_id IS NOT NULL OR parts IS NOT NULL)",
        name="categorized_whole",
    ),
    within_business("bank_account_id", "bank_account"),
    within_business("category_account_id", "account"),
    within_business("rule_id", "bank_rule"),
    unique("bank_account_id", "external_id"),
    index("booked_on", "id"),
    index("booked_on", "id", where="remaining > 0", name="bank_transaction_unreconciled_idx"),
    index("remaining", "booked_on", where="remaining > 0", name="bank_transaction_open_idx"),
    index("bank_account_id", "booked_on", "id"),
    index("amount", "id"),
    index("created_at", "id"),
    index("updated_at"),
)

# The target may be a row of several tables, so it is no foreign key.
bank_link = tenant_table(
    "bank_link",
    Column("version", BigInteger, nullable=False),
    Column("transaction_id", Uuid, nullable=False),
    Column("target_type", Text, nullable=False),
    Column("target_id", Uuid, nullable=False),
    cents("amount"),
    # [own amount, base, currency] of the foreign money that a line in base shows, else null.
    Column("target_amount", JSONB),
    cents("rounding"),
    Column("linked_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("memo", Text),
    Column("back", Boolean, nullable=False),
    one_of(
        "target_type",
        "invoice_payment",
        "invoice_refund_payment",
        "bill_payment",
        "vendor_refund_payment",
        "payout",
        "journal_entry",
        "transfer",
    ),
    CheckConstraint("amount >= 1", name="amount_positive"),
    within_business("transaction_id", "bank_transaction"),
    index("transaction_id"),
    index("target_id"),
)

# Deleted rules are kept, since lines refer to the rule that categorized them.
bank_rule = tenant_table(
    "bank_rule",
    *kept_up(),
    Column("name", Text, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("text", Text),
    Column("direction", Text),
    cents("min_amount", nullable=True),
    cents("max_amount", nullable=True),
    Column("bank_account_id", Uuid),
    Column("account_id", Uuid, nullable=False),
    Column("tax_code_id", Uuid),
    Column("customer_id", Uuid),
    Column("vendor_id", Uuid),
    Column("memo", Text),
    Column("apply", Text, nullable=False),
    Column("deleted_at", Moment),
    one_of("direction", "credit", "debit"),
    one_of("apply", "suggest", "automatic"),
    CheckConstraint(
        "num_nonnulls(text, direction, min_amount, max_amount, bank_account_id) > 0",
        name="conditioned",
    ),
    CheckConstraint("num_nonnulls(customer_id, vendor_id) <= 1", name="one_party"),
    within_business("bank_account_id", "bank_account"),
    within_business("account_id", "account"),
    within_business("tax_code_id", "tax_code"),
    within_business("customer_id", "customer"),
    within_business("vendor_id", "vendor"),
    index("priority", "id"),
    index("created_at", "id"),
)

# Transfers between two own bank accounts, linked with their lines. One line may not exist yet.
bank_transfer = tenant_table(
    "bank_transfer",
    *kept_up(),
    cents("amount"),
    # The currency and the base of an amount that is not in base; and what arrived, in that case
    # with its currency, if the two accounts have two currencies.
    Column("currency", Text),
    cents("base_amount", nullable=True),
    cents("arrived", nullable=True),
    Column("arrived_currency", Text),
    Column("from_account_id", Uuid, nullable=False),
    Column("to_account_id", Uuid, nullable=False),
    Column("out_transaction_id", Uuid),
    Column("in_transaction_id", Uuid),
    Column("moved_on", Date, nullable=False),
    Column("ended_at", Moment),
    CheckConstraint("amount >= 1", name="amount_positive"),
    CheckConstraint("from_account_id <> to_account_id", name="two_accounts"),
    CheckConstraint("num_nonnulls(out_transaction_id, in_transaction_id) > 0", name="begun"),
    within_business("from_account_id", "account"),
    within_business("to_account_id", "account"),
    within_business("out_transaction_id", "bank_transaction"),
    within_business("in_transaction_id", "bank_transaction"),
    index("in_transaction_id"),
    index(
        "to_account_id",
        where="in_transaction_id IS NULL AND ended_at IS NULL",
        name="bank_transfer_coming_idx",
    ),
    index(
        "from_account_id",
        where="out_transaction_id IS NULL AND ended_at IS NULL",
        name="bank_transfer_leaving_idx",
    ),
)

# While a reconciliation is closed, triggers (migrations/versions/0021_bank.sql) forbid changes of
# the postings to its account up to its date, and of the links of its lines.
bank_reconciliation = tenant_table(
    "bank_reconciliation",
    *kept_up(),
    Column("bank_account_id", Uuid, nullable=False),
    Column("account_id", Uuid, nullable=False),  # Copied: a bank account keeps it.
    Column("statement_date", Date, nullable=False),
    cents("closing_balance"),
    Column("status", Text, nullable=False),
    Column("closed_at", Moment),
    Column("reopened_at", Moment),
    one_of("status", "open", "closed"),
    CheckConstraint("(status = 'closed') = (closed_at IS NOT NULL)", name="closed_whole"),
    within_business("bank_account_id", "bank_account"),
    within_business("account_id", "account"),
    UniqueConstraint(
        "business_id", "bank_account_id", "statement_date", name="bank_reconciliation_day_key"
    ),
    index("bank_account_id", "statement_date", "id", name="bank_reconciliation_listed_idx"),
    index("bank_account_id", "created_at", "id", name="bank_reconciliation_made_idx"),
    index(
        "account_id",
        "statement_date",
        where="status = 'closed'",
        name="bank_reconciliation_closed_idx",
    ),
)

# ── Stored documents ───────────────────────────────────────────────────────────────────────────

stored_document = tenant_table(
    "stored_document",
    Column("created_at", Moment, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("file_size", BigInteger, nullable=False),
    Column("mime_type", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("document_type", Text, nullable=False),
    Column("upload_source", Text),
    Column("metadata", JSONB, nullable=False),
    Column("tags", JSONB, nullable=False),
    Column("linked_type", Text),
    Column("linked_id", Uuid),
    Column("storage_key", Text, nullable=False),
    one_of(
        "linked_type",
        "customer",
        "invoice",
        "invoice_refund",
        "customer_credit",
        "vendor",
        "bill",
        "vendor_credit",
        "vendor_refund",
        "invoice_payment",
        "bill_payment",
        "bank_transaction",
        "journal_entry",
    ),
    CheckConstraint("(linked_type IS NULL) = (linked_id IS NULL)", name="linked_whole"),
    unique("storage_key"),
    index("created_at", "id"),
    listed("name", Text, "lower(file_name)"),
    index("linked_id", "created_at", "id"),
    index("linked_type", "created_at", "id"),
    index("listed_name", "id"),
    index("file_size", "id"),
    object_type="document",
)

# ── The audit trail ────────────────────────────────────────────────────────────────────────────

# Only functions of the database write it (migrations/versions/0014_digests.sql); the server's role
# may only read. It has no foreign keys: the changed row may be deleted later, and its business was
# checked for that row already.
audit_record = Table(
    "audit_record",
    metadata,
    Column("business_id", Uuid, nullable=False),
    Column("id", Uuid, nullable=False),  # Ordered by time: persistence/integrity/audit_trail.py.
    Column("created_at", Moment, nullable=False),
    Column("object_type", Text, nullable=False),
    Column("object_id", Uuid, nullable=False),
    Column("change", Text, nullable=False),
    Column("action", Text),
    Column("actor_kind", Text, nullable=False),
    Column("partner_id", Uuid),
    Column("key_id", Text),
    Column("request_id", Text),
    Column("before_digest", LargeBinary),
    Column("after_digest", LargeBinary),
    Column("changes", JSONB),
    Column("digest", LargeBinary),  # Of all other columns; null in records of seal 0.
    PrimaryKeyConstraint("business_id", "id"),
    one_of("change", "insert", "update", "delete", "start"),
    one_of("actor_kind", "partner_key", "partner_token", "business_token", "operator"),
    index("object_id", "id"),
    index("request_id"),
    info={"tenant": True},
)

audit_seal = Table(
    "audit_seal",
    metadata,
    Column("business_id", Uuid, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("record_ids", ARRAY(Uuid), nullable=False),
    Column("record_digests", ARRAY(LargeBinary), nullable=False),
    Column("before_digest", LargeBinary),  # The digest of the previous seal.
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("business_id", "number"),
    info={"tenant": True},
)

partner_audit_record = Table(
    "partner_audit_record",
    metadata,
    Column("partner_id", Uuid, nullable=False),
    Column("id", Uuid, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("object_type", Text, nullable=False),
    Column("object_id", Uuid, nullable=False),
    Column("change", Text, nullable=False),
    Column("action", Text),
    Column("before_digest", LargeBinary),
    Column("after_digest", LargeBinary),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("partner_id", "id"),
    one_of("change", "insert", "update", "delete", "start"),
    info={"local": True},  # In a cluster, only the coordinator has it.
)

# The feed of a business: its sequence has no gaps, and is the order of the commits. Row 0 of a
# business that is older than its feed is the moment at which the feed began.
event = Table(
    "event",
    metadata,
    Column("business_id", Uuid, nullable=False),
    place("sequence"),
    Column("id", Uuid, nullable=False),
    Column("occurred_at", Moment, nullable=False),
    Column("type", Text, nullable=False),
    Column("change", Text, nullable=False),
    Column("object_type", Text, nullable=False),
    Column("object_id", Uuid, nullable=False),
    Column("external_id", Text),
    Column("holder_id", Uuid),  # The record in its address, as the refund of a payment.
    Column("version", BigInteger, nullable=False),
    Column("previous_status", Text),
    Column("status", Text),
    Column("changed", JSONB),  # Null for an object that is new or deleted.
    Column("journal_entry_ids", JSONB),
    Column("counts", JSONB),  # Only of an import of bank transactions.
    Column("operation", Text),
    Column("request_id", Text),
    Column("actor_kind", Text, nullable=False),
    Column("key_id", Text),
    PrimaryKeyConstraint("business_id", "sequence"),
    one_of("change", "created", "updated", "deleted", "start"),
    index("object_id", "sequence"),
    info={"tenant": True},
)

# The events of a transaction that the feed of the partner does not have yet.
unplaced_event = Table(
    "unplaced_event",
    metadata,
    Column("business_id", Uuid, nullable=False),
    place("first_sequence"),
    place("last_sequence"),
    PrimaryKeyConstraint("business_id", "last_sequence"),
    info={"tenant": True},
)

# The lease and the progress of upkeep: one row for all servers (partners/upkeep_rows.py).
upkeep = Table(
    "upkeep",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("held_by", Uuid),
    Column("held_until", Moment, nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("ended_at", Moment),  # Null while a round runs.
    Column("after_id", Uuid),  # The last business that this round has done.
    *(
        Column(name, BigInteger, nullable=False)
        for name in ("businesses", "answers", "files", "records", "failures")
    ),
    CheckConstraint("id = 1", name="single"),
    info={"local": True},
)

# The result of each run of `accounting check-books` over all books.
proof_run = Table(
    "proof_run",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("began_at", Moment, nullable=False),
    Column("ended_at", Moment, nullable=False),
    Column("businesses", BigInteger, nullable=False),
    Column("faulty", BigInteger, nullable=False),
    Column("checked", BigInteger, nullable=False),
    Column("holds", Boolean, nullable=False),
    info={"local": True},
)

# The configuration of audited tables, which only migrations read and write.
audited_table = Table(
    "audited_table",
    metadata,
    Column("name", Text, primary_key=True),
    Column("object_type", Text, nullable=False),
    Column("trail", Text, nullable=False),
    Column("owner_column", Text, nullable=False),
    Column("column_lists", JSONB, nullable=False),
    info={"local": True},
)
