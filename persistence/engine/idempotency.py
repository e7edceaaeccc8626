"""Idempotency-Key: an answer is stored with its key and repeated byte for byte.

A claim is an advisory lock until the end of the transaction, then a look-up. The record is one
insert with the answer, in the transaction of the work; there is no "started" row to clean up.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb

from accounting.books.numbers import EVENTS
from accounting.errors import RuleViolation
from persistence.engine.sql import Query, Row

KEPT_FOR = timedelta(days=30)
EVENT_SEQUENCE = "x-event-sequence"  # The header with the last event of a request.


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer as it is sent: status, headers, body bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def kept(cls, row: Row) -> "Outcome":
        """Read an answer from its record."""
        outcome = cls(row["status"], row["headers"], bytes(row["body"]))
        return outcome.after_event(row["event_sequence"])

    def after_event(self, sequence: int | None) -> "Outcome":
        """Return the answer with the sequence of the last event of its request, if it has any."""
        if sequence is not None:
            self.headers[EVENT_SEQUENCE] = str(sequence)
        return self


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The owner within which a key is unique: a business, or a partner above its businesses."""

    table: str
    column: str
    owner: UUID


def of_business(business_id: UUID) -> KeySpace:
    """Return the key space of the work inside one business."""
    return KeySpace("reply", "business_id", business_id)


def of_partner(partner_id: UUID) -> KeySpace:
    """Return the key space of a partner's work above its businesses."""
    return KeySpace("partner_reply", "partner_id", partner_id)


_CLAIM = "SELECT claim_key(%(claim)s)"
BUSY = "idempotency_key_busy"  # The constraint that a claim names when it fails.

_FIND = """
SELECT operation, fingerprint, status, headers, body, created_at, event_sequence FROM {table}
WHERE {column} = %(owner)s AND key = %(key)s AND created_at > %(oldest)s
"""

# A limited number at a time, so that no transaction becomes long.
MOST_FORGOTTEN = 1_000
_FORGET = """
DELETE FROM reply WHERE business_id = %(business_id)s AND id = ANY (ARRAY(
  SELECT old.id FROM reply AS old
  WHERE old.business_id = %(business_id)s AND old.created_at <= %(oldest)s LIMIT %(most)s
))
"""
_FORGET_OF_PARTNERS = "DELETE FROM partner_reply WHERE created_at <= %(oldest)s"

# Text as UTF-8, whatever the encoding of the session is.
_DIGEST = """sha256(record_send(ROW(
    {owner}, convert_to({key}, 'UTF8'), convert_to({operation}, 'UTF8'), {fingerprint}, {status},
    convert_to({headers}::text, 'UTF8'), {body}, {created_at}
  )))"""
_COLUMNS = ("key", "operation", "fingerprint", "status", "headers", "body", "created_at")


def reply_digest(key_space_column: str) -> str:
    """Return the SQL of the digest of a stored answer: of its columns, and of the key's owner."""
    return _DIGEST.format(owner=key_space_column, **{name: name for name in _COLUMNS})


_DIGEST_OF_NEW = _DIGEST.format(
    owner="%(owner)s::uuid",
    key="%(key)s::text",
    operation="%(operation)s::text",
    fingerprint="%(fingerprint)s::bytea",
    status="%(status)s::integer",
    headers="%(headers)s::jsonb",
    body="%(body)s::bytea",
    created_at="%(now)s::timestamptz",
)

# Taking numbers has stored the last one of each series in a setting of the transaction.
_LAST_EVENT = f"nullif(current_setting('taken.{EVENTS}', true), '')::bigint"

# A key whose record has expired is free again: the new answer overwrites the row of the old one.
_RECORD = f"""
INSERT INTO {{table}}
  ({{column}}, {{extra}}key, operation, fingerprint, status, headers, body, created_at, digest,
   event_sequence)
VALUES (%(owner)s, {{extra_value}}%(key)s, %(operation)s, %(fingerprint)s, %(status)s, %(headers)s,
        %(body)s, %(now)s, {_DIGEST_OF_NEW}, {_LAST_EVENT})
ON CONFLICT ({{column}}, key) DO UPDATE SET operation = excluded.operation,
  fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers,
  body = excluded.body, created_at = excluded.created_at, digest = excluded.digest,
  event_sequence = excluded.event_sequence
"""


def used_for_another(row: Row) -> RuleViolation:
    """Return the error for a key that another request used, with its operation and time."""
    when = row["created_at"].astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    operation = row["operation"] or "another request"  # Older records have no operation.
    return RuleViolation(
        "idempotency_key_reused",
        f"This Idempotency-Key was used for {operation} at {when}. Use a new key.",
        operation=row["operation"],
        used_at=when,
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of one request to a key.

    A batch of several transactions stores an answer for each transaction. `first` is the index of
    its first item.
    """

    key_space: KeySpace
    key: str
    operation: str
    fingerprint: bytes
    id: UUID
    now: datetime
    first: int = 0

    @property
    def stored_key(self) -> str:
        """The key of the stored answer; no client can send one with a tab."""
        return f"{self.key}\t{self.first}" if self.first else self.key

    def queries(self) -> tuple[Query, Query]:
        """Return the statements that claim the key, then look for its earlier answer."""
        key_space = self.key_space
        key = self.stored_key
        where = {"owner": key_space.owner, "key": key, "oldest": self.now - KEPT_FOR}
        return (
            Query(_CLAIM, {"claim": f"{key_space.owner}/{key}"}),
            Query(_FIND.format(table=key_space.table, column=key_space.column), where),
        )

    def record(self, outcome: Outcome, now: datetime) -> Query:
        """Return the statement that stores an answer under the key."""
        tenant = self.key_space.table == "reply"
        text = _RECORD.format(
            table=self.key_space.table,
            column=self.key_space.column,
            extra="id, " if tenant else "",
            extra_value="%(id)s, " if tenant else "",
        )
        return Query(
            text,
            {
                "owner": self.key_space.owner,
                "id": self.id,
                "key": self.stored_key,
                "operation": self.operation,
                "fingerprint": self.fingerprint,
                "status": outcome.status,
                "headers": Jsonb(outcome.headers, dumps=orjson.dumps),
                "body": outcome.body,
                "now": now,
            },
        )


def forgetting(business_id: UUID, now: datetime) -> Query:
    """Return the statement that deletes some of the expired answers of a business."""
    told = {"business_id": business_id, "oldest": now - KEPT_FOR, "most": MOST_FORGOTTEN}
    return Query(_FORGET, told)


def forgetting_of_partners(now: datetime) -> Query:
    """Return the statement that deletes the expired answers of all partners."""
    return Query(_FORGET_OF_PARTNERS, {"oldest": now - KEPT_FOR})
