"""Causes of a 503, and queries in the log."""

from typing import get_args

import psycopg
import pytest

from accounting.errors import ApiError, Unavailable
from persistence.engine import database_errors, transaction
from persistence.engine.sql import Query
from persistence.files.blobs import StorageUnavailable
from server.config.environment import LogLevel
from server.telemetry.request_watch import CAUSES_OF_503, cause_of_503, shape_of


def behind(error: BaseException | None) -> ApiError:
    try:
        raise database_errors.unavailable() from error
    except Unavailable as refusal:
        return refusal


class TestCauseOf503:
    @pytest.mark.parametrize(
        ("error", "cause"),
        [
            (psycopg.errors.LockNotAvailable(), "lock_timeout"),
            (psycopg.errors.QueryCanceled(), "statement_timeout"),
            (psycopg.errors.DeadlockDetected(), "deadlock"),
            (psycopg.errors.ReadOnlySqlTransaction(), "read_only"),
            (psycopg.errors.IdleInTransactionSessionTimeout(), "other"),
            (psycopg.OperationalError(), "database_away"),
            (psycopg.InterfaceError(), "database_away"),
            (database_errors.StaleRow(), "stale"),
            (transaction.OutcomeUnknown(), "outcome_unknown"),
            (StorageUnavailable(), "file_store"),
            (PermissionError(), "file_store"),
            (TimeoutError(), "deadline"),
            (ValueError(), "other"),
            (None, "crowd"),
        ],
    )
    def test_the_cause_of_503_is_named_after_the_exception(
        self, error: Exception | None, cause: str
    ) -> None:
        assert cause_of_503(behind(error)) == cause

    def test_names_only_what_can_be_raised(self) -> None:
        ours = {database_errors.StaleRow, transaction.OutcomeUnknown, StorageUnavailable}
        known = {kind.__name__ for kind in ours} | {"TimeoutError", "CancelledError", "OSError"}
        theirs = {name for name in CAUSES_OF_503 if name not in known}
        assert all(hasattr(psycopg, each) or hasattr(psycopg.errors, each) for each in theirs)


class TestShape:
    def test_the_shape_of_a_query_is_a_line_without_values(self) -> None:
        query = Query("SELECT a\n  FROM b WHERE c = %(c)s", {"c": "geheim"})
        assert shape_of(query) == "SELECT a FROM b WHERE c = %(c)s"


def test_the_levels_are_those_of_the_standard_library() -> None:
    assert get_args(LogLevel) == ("debug", "info", "warning", "error")
