"""State of the database for monitoring, read periodically and never by a request."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from persistence.engine.connections import CONNECT_SECONDS, SERVER_ROLE
from persistence.engine.sql import Row

# A login sees the start times of its own transactions only; with pg_monitor, of all.
_NOW = """
SELECT
  (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::float8
   FROM pg_stat_activity
   WHERE datname = current_database() AND pid <> pg_backend_pid()
     AND backend_type = 'client backend') AS oldest_transaction_seconds,
  (SELECT count(*) FROM pg_locks l WHERE NOT l.granted
     AND l.pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
  ) AS lock_waiting,
  (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float8
   FROM pg_locks l WHERE NOT l.granted
     AND l.pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())
  ) AS longest_lock_wait_seconds,
  (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()) AS deadlocks,
  pg_database_size(current_database()) AS size_bytes,
  current_setting('max_connections')::int AS connections_max,
  pg_is_in_recovery() AS in_recovery
"""
_CONNECTIONS = """
SELECT coalesce(state, 'unknown') AS state, count(*) AS number FROM pg_stat_activity
WHERE backend_type = 'client backend' GROUP BY 1
"""
_TABLES = """
SELECT c.relname AS name, pg_total_relation_size(c.oid) AS size_bytes,
       greatest(c.reltuples, 0)::bigint AS row_count
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
"""
# `replay_lag` is null for a standby that has nothing to replay: its lag is 0.
_STANDBYS = """
SELECT application_name AS name, coalesce(extract(epoch FROM replay_lag), 0)::float8 AS lag_seconds,
       coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint AS lag_bytes
FROM pg_stat_replication
"""
_NEWEST_PROOF = """
SELECT ended_at, extract(epoch FROM ended_at - began_at)::float8 AS seconds,
       businesses, faulty, checked, holds
FROM proof_run ORDER BY ended_at DESC LIMIT 1
"""
# `ended_at` is null while a round runs: then its start counts, so a stuck round grows older.
_UPKEEP = """
SELECT coalesce(ended_at, begun_at) AS moved_at, businesses, failures FROM upkeep
"""
# Deliveries that wait though their endpoint answers: those of failing endpoints wait by schedule.
_WEBHOOKS = """
SELECT
  (SELECT coalesce(max(extract(epoch FROM clock_timestamp() - d.next_attempt_at)), 0)::float8
   FROM webhook_delivery d JOIN webhook_endpoint e ON e.id = d.endpoint_id
   JOIN webhook_health h ON h.endpoint_id = e.id
   WHERE d.status = 'pending' AND d.next_attempt_at <= clock_timestamp()
     AND e.status = 'active' AND h.failing_since IS NULL AND NOT EXISTS (
       SELECT FROM partner p WHERE p.id = e.partner_id AND p.disabled_at IS NOT NULL
     )) AS lag_seconds,
  (SELECT count(*) FROM webhook_delivery WHERE status = 'pending') AS pending,
  (SELECT count(*) FROM webhook_endpoint) AS endpoints,
  (SELECT count(*) FROM webhook_health WHERE failing_since IS NOT NULL) AS failing,
  (SELECT count(*) FROM webhook_endpoint WHERE status = 'off') AS off,
  (SELECT coalesce(jsonb_object_agg(key_name, number), '{}') FROM (
    SELECT key_name, count(*) AS number FROM webhook_secret
    WHERE expires_at IS NULL OR expires_at > clock_timestamp() GROUP BY key_name
  ) AS s) AS secrets
"""
# Short limits, so that this never waits: while a table is locked, the sizes are left out, and the
# webhooks if it is one of theirs.
# `SET LOCAL`, because a pooler gives the session to other clients after the transaction.
_LIMITS = (
    "SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '500ms'; SET LOCAL jit = off"
)


@dataclass(frozen=True, slots=True)
class ProofRun:
    """The result of `accounting check-books` over all books."""

    ended_at: datetime
    seconds: float
    businesses: int
    faulty: int
    checked: int
    holds: bool


@dataclass(frozen=True, slots=True)
class KeptUp:
    """The last round of upkeep: when it ended or, while it runs, began, and its counts.

    Upkeep failed for `failures` of the `businesses` that were processed.
    """

    moved_at: datetime
    businesses: int
    failures: int


@dataclass(frozen=True, slots=True)
class Webhooks:
    """State of the webhooks: how long the oldest due delivery has waited, and counts.

    `secrets` are counted by the name of the master secret that they are sealed under.
    """

    lag_seconds: float
    pending: int
    endpoints: int
    failing: int
    off: int
    secrets: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Condition:
    """State of a database; sizes in bytes, `lag` of each standby in seconds and bytes."""

    oldest_transaction_seconds: float
    lock_waiting: int
    longest_lock_wait_seconds: float
    deadlocks: int
    size_bytes: int
    connections_max: int
    in_recovery: bool
    connections: Mapping[str, int]
    table_bytes: Mapping[str, int] = field(default_factory=dict)
    table_rows: Mapping[str, int] = field(default_factory=dict)
    lag: Mapping[str, tuple[float, int]] = field(default_factory=dict)
    newest_proof: ProofRun | None = None
    upkeep: KeptUp | None = None
    webhooks: Webhooks | None = None


def look(url: str) -> Condition:
    """Return the state of the database as its login sees it.

    Errors of psycopg are passed on. The sizes are empty if they cannot be read in time, and so are
    the webhooks.
    """
    where = make_conninfo(
        url, connect_timeout=CONNECT_SECONDS, application_name="accounting metrics"
    )
    with psycopg.connect(where, autocommit=True) as connection, connection.transaction():
        connection.execute(_LIMITS)
        [now] = _rows(connection, _NOW)
        connections = {row["state"]: row["number"] for row in _rows(connection, _CONNECTIONS)}
        tables = _rows_in_time(connection, _TABLES)
        standbys = [] if now["in_recovery"] else _rows(connection, _STANDBYS)
        return Condition(
            **now,
            connections=connections,
            table_bytes={row["name"]: row["size_bytes"] for row in tables},
            table_rows={row["name"]: row["row_count"] for row in tables},
            lag={row["name"]: (row["lag_seconds"], row["lag_bytes"]) for row in standbys},
            **_work_of_ours(connection),
        )


def _work_of_ours(connection: psycopg.Connection[Any]) -> Row:
    """Read the newest checks, the last upkeep and the webhooks, in the server's role."""
    connection.execute(f"SET LOCAL ROLE {SERVER_ROLE}")
    proofs, rounds = _rows(connection, _NEWEST_PROOF), _rows(connection, _UPKEEP)
    webhooks = _rows_in_time(connection, _WEBHOOKS)
    return {
        "newest_proof": ProofRun(**proofs[0]) if proofs else None,
        "upkeep": KeptUp(**rounds[0]) if rounds else None,
        "webhooks": Webhooks(**webhooks[0]) if webhooks else None,
    }


def _rows_in_time(connection: psycopg.Connection[Any], text: str) -> list[Row]:
    """Return the rows of a query; none if it is not answered in time."""
    with suppress(errors.QueryCanceled, errors.LockNotAvailable), connection.transaction():
        return _rows(connection, text)
    return []


def _rows(connection: psycopg.Connection[Any], text: str) -> list[Row]:
    return connection.cursor(row_factory=dict_row).execute(text).fetchall()
