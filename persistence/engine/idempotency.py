"""Idempotency-Key: the answer that was given once, kept to be given again, byte for byte.

A claim is an advisory lock held to the end of the transaction, then a look-up. The record is one
insert with the answer, in the transaction of the work; there is no "started" row to clean up.
"""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import orjson
from psycopg.types.json import Jsonb

from accounting.errors import RuleBroken
from accounting.values import dataclass
from persistence.engine.sql import Query, Row

KEPT_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer as it goes over the wire: status, headers, body bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    def kept(cls, row: Row) -> "Outcome":
        """Take an answer out of its record."""
        return cls(row["status"], row["headers"], bytes(row["body"]))


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Where a key is unique: a business, or a partner for the work above businesses."""

    table: str
    column: str
    owner: UUID


def of_business(business_id: UUID) -> KeySpace:
    """Keys of the work inside one business."""
    return KeySpace("reply", "business_id", business_id)


def of_partner(partner_id: UUID) -> KeySpace:
    """Keys of a partner's work above its businesses."""
    return KeySpace("partner_reply", "partner_id", partner_id)


_CLAIM = "SELECT claim_key(%(claim)s)"
BUSY = "idempotency_key_busy"  # The constraint that a claim names when it fails.

_FIND = """
SELECT operation, fingerprint, status, headers, body, created_at FROM {table}
WHERE {column} = %(owner)s AND key = %(key)s AND created_at > %(oldest)s
"""

# A few at a time: nobody waits for them, and no transaction grows long.
MOST_FORGOTTEN = 1_000
_FORGET = """
DELETE FROM reply WHERE business_id = %(business_id)s AND id = ANY (ARRAY(
  SELECT old.id FROM reply AS old
  WHERE old.business_id = %(business_id)s AND old.created_at <= %(oldest)s LIMIT %(most)s
))
"""
_FORGET_OF_PARTNERS = "DELETE FROM partner_reply WHERE created_at <= %(oldest)s"

# A key whose record has expired is free again: its new answer takes the old one's row.
_RECORD = """
INSERT INTO {table}
  ({column}, {extra}key, operation, fingerprint, status, headers, body, created_at)
VALUES (%(owner)s, {extra_value}%(key)s, %(operation)s, %(fingerprint)s, %(status)s, %(headers)s,
        {body}, %(now)s)
ON CONFLICT ({column}, key) DO UPDATE SET operation = excluded.operation,
  fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers,
  body = excluded.body, created_at = excluded.created_at
"""


def used_for_another(row: Row) -> RuleBroken:
    """The refusal of a key whose record belongs to another request: which, and when that was."""
    when = row["created_at"].astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    operation = row["operation"] or "another request"  # Older records do not tell.
    return RuleBroken(
        "idempotency_key_reused",
        f"This Idempotency-Key was used for {operation} at {when}. Use a new key.",
        operation=row["operation"],
        used_at=when,
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """One request's claim to a key."""

    key_space: KeySpace
    key: str
    operation: str
    fingerprint: bytes
    id: UUID
    now: datetime

    def queries(self) -> tuple[Query, Query]:
        """Try to claim the key, then look for the answer it was given before."""
        key_space = self.key_space
        where = {"owner": key_space.owner, "key": self.key, "oldest": self.now - KEPT_FOR}
        return (
            Query(_CLAIM, {"claim": f"{key_space.owner}/{self.key}"}),
            Query(_FIND.format(table=key_space.table, column=key_space.column), where),
        )

    def record(self, outcome: Outcome, now: datetime, numbered: Query | None = None) -> Query:
        """Keep an answer under the key.

        `numbered` is the expression of a body that names numbers which are not known yet.
        """
        tenant = self.key_space.table == "reply"
        text = _RECORD.format(
            table=self.key_space.table,
            column=self.key_space.column,
            extra="id, " if tenant else "",
            extra_value="%(id)s, " if tenant else "",
            body=numbered.text if numbered else "%(body)s",
        )
        return Query(
            text,
            {
                "owner": self.key_space.owner,
                "id": self.id,
                "key": self.key,
                "operation": self.operation,
                "fingerprint": self.fingerprint,
                "status": outcome.status,
                "headers": Jsonb(outcome.headers, dumps=orjson.dumps),
                "body": outcome.body,
                "now": now,
                **(numbered.parameters if numbered else {}),
            },
        )


def forgetting(business_id: UUID, now: datetime) -> Query:
    """Forget some of a business's answers that nobody may ask for any more."""
    told = {"business_id": business_id, "oldest": now - KEPT_FOR, "most": MOST_FORGOTTEN}
    return Query(_FORGET, told)


def forgetting_of_partners(now: datetime) -> Query:
    """The same for the work above businesses, of all partners."""
    return Query(_FORGET_OF_PARTNERS, {"oldest": now - KEPT_FOR})
