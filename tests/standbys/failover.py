"""A failover under load: the primary is killed, the standby promoted, and all answers checked."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psycopg

from libraries.embedded.postgres import EmbeddedPostgres
from tests.partner import Business, client
from tests.processes.recording_clients import Traffic, traffic_of
from tests.standbys.standby import kill_outright, promote

INVOICES = "invoices/"
MADE_TWICE = """
SELECT request_id, count(*) FROM audit_record
WHERE business_id = %s AND action = 'create_invoice' AND object_type = 'invoice'
  AND change = 'insert'
GROUP BY request_id HAVING count(*) > 1
"""


@dataclass(frozen=True)
class Failover:
    """The numbers of answered writes and the seconds without one; `readings` by status."""

    before: int
    after: int
    seconds: float
    turned_away: int
    readings: Counter[int]

    def __str__(self) -> str:
        return (
            f"{self.before} writes answered before, {self.after} after, the first within"
            f" {self.seconds:.1f} s; {self.turned_away} were 503, 0 lost, 0 doubled;"
            f" readings {dict(self.readings)}"
        )


def fail_over(
    shop: Business, primary: EmbeddedPostgres, standby: EmbeddedPostgres, documents: Path
) -> Failover:
    """Fail over under load; check that no answered write is lost and none is done twice."""
    # If a check fails, the traffic stops first, because the reader runs until then.
    with ThreadPoolExecutor(1) as thread, traffic_of(shop) as traffic:
        reading = thread.submit(read_on, shop, traffic)
        traffic.wait_for(100)
        kill_outright(primary)  # It stays dead, so that no client can write to it.
        began, before = time.monotonic(), traffic.answers
        promote(standby)
        traffic.wait_for(len(traffic.clients) + 1)  # Some were already pending.
        seconds = time.monotonic() - began
        traffic.wait_for(100)
    assert reading.result().keys() <= {200, 503}
    assert [each.broken for each in traffic.clients] == [0] * len(traffic.clients)
    traffic.hold(standby.url("books"), documents)
    with psycopg.connect(standby.url("books")) as books:
        assert books.execute(MADE_TWICE, (shop.id,)).fetchall() == []
    turned_away = sum(each.turned_away for each in traffic.clients)
    return Failover(before, traffic.answers - before, seconds, turned_away, reading.result())


def read_on(shop: Business, traffic: Traffic) -> Counter[int]:
    """Read until the traffic stops; return the count of each status."""
    seen = Counter[int]()
    headers = {"Authorization": shop.api.headers["Authorization"]}
    with client(shop.partner.url, headers=headers) as api:
        while not traffic.stopped.is_set():
            for path in (f"{shop.base_url}/{INVOICES}", "/health/ready"):
                seen[api.get(path).status_code] += 1
            traffic.stopped.wait(0.02)
    return seen
