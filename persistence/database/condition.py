"""How the database stands, as those who run it want to know: asked now and then, by no request."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from typing import Any

import psycopg
from psycopg import errors
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from accounting.values import dataclass
from persistence.engine.connecting import CONNECT_SECONDS
from persistence.engine.entering import SERVER_ROLE
from persistence.engine.sql import Row

# A login sees when the transactions of its own sessions began; with pg_monitor those of all.
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
# A standby that has nothing to replay has no lag either.
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
# A round that is under way has no end yet; one that never ends is as old as its beginning.
_UPKEEP = """
SELECT coalesce(ended_at, begun_at) AS moved_at, businesses, failures FROM upkeep
"""
# Whoever asks does not wait: a table that is being rebuilt is told of the next time.
# All of it holds for one transaction: a pooler hands the session on to others.
_LIMITS = (
    "SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '500ms'; SET LOCAL jit = off"
)


@dataclass(frozen=True, slots=True)
class ProofRun:
    """What `accounting check-books` found when it looked through all books."""

    ended_at: datetime
    seconds: float
    businesses: int
    faulty: int
    checked: int
    holds: bool


@dataclass(frozen=True, slots=True)
class KeptUp:
    """When the last round of upkeep ended, or the one under way began, and what came of it.

    `failures` of its `businesses` could not be looked after.
    """

    moved_at: datetime
    businesses: int
    failures: int


@dataclass(frozen=True, slots=True)
class Condition:
    """How a database stands; sizes in bytes, `lag` of each standby in seconds and bytes."""

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


def look(url: str) -> Condition:
    """Ask how it stands, as its login sees it; raises what psycopg raises."""
    where = make_conninfo(
        url, connect_timeout=CONNECT_SECONDS, application_name="accounting metrics"
    )
    with psycopg.connect(where, autocommit=True) as connection, connection.transaction():
        connection.execute(_LIMITS)
        [now] = _rows(connection, _NOW)
        connections = {row["state"]: row["number"] for row in _rows(connection, _CONNECTIONS)}
        tables, standbys = list[Row](), list[Row]()
        with suppress(errors.QueryCanceled, errors.LockNotAvailable), connection.transaction():
            tables = _rows(connection, _TABLES)
        if not now["in_recovery"]:
            standbys = _rows(connection, _STANDBYS)
        return Condition(
            **now,
            connections=connections,
            table_bytes={row["name"]: row["size_bytes"] for row in tables},
            table_rows={row["name"]: row["row_count"] for row in tables},
            lag={row["name"]: (row["lag_seconds"], row["lag_bytes"]) for row in standbys},
            **_work_of_ours(connection),
        )


def _work_of_ours(connection: psycopg.Connection[Any]) -> Row:
    """What the server's role may read: the newest proof of all books, and upkeep."""
    connection.execute(f"SET LOCAL ROLE {SERVER_ROLE}")
    proofs, rounds = _rows(connection, _NEWEST_PROOF), _rows(connection, _UPKEEP)
    return {
        "newest_proof": ProofRun(**proofs[0]) if proofs else None,
        "upkeep": KeptUp(**rounds[0]) if rounds else None,
    }


def _rows(connection: psycopg.Connection[Any], text: str) -> list[Row]:
    return connection.cursor(row_factory=dict_row).execute(text).fetchall()
