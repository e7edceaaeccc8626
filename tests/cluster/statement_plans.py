"""Detection of statements that go to more than one shard of a cluster, by EXPLAIN."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from persistence.engine.pipeline import Pipeline
from persistence.engine.sql import Query

# Accepted statements with several tasks, by their beginning, each with its reason.
LISTED = {
    "WITH changed AS (UPDATE business SET": "a change of the copies that all machines have",
}

_PLANNED = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_TASKS = re.compile(r"Task Count: (\d+)")


@contextmanager
def heard() -> Iterator[dict[str, Query]]:
    """Record the first query of each text that is sent in a block."""
    found: dict[str, Query] = {}
    exchange = Pipeline.exchange

    def listening(pipeline: Pipeline, queries: Sequence[Query]) -> Any:
        for query in queries:
            found.setdefault(query.text, query)
        return exchange(pipeline, queries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "exchange", listening)
        yield found


def scattered(url: str, queries: Sequence[Query]) -> dict[str, str]:
    """Return the statements with several tasks, with the tasks or the error of EXPLAIN."""
    found: dict[str, str] = {}
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        for query in queries:
            if not _PLANNED.match(query.text) or query.text.startswith((*LISTED,)):
                continue
            try:
                plan = connection.execute(f"EXPLAIN {query.text}", query.parameters).fetchall()
            except psycopg.Error as error:
                found[query.text] = str(error)
                continue
            tasks = [int(many) for many in _TASKS.findall("\n".join(line for (line,) in plan))]
            if any(many != 1 for many in tasks) or len(tasks) > 1:
                found[query.text] = f"tasks: {tasks}"
    return found
