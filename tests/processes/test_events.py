"""Events of a server that is killed: each committed change is told once, to readers and receivers.

It takes EVENT_SECONDS with EVENT_WRITERS. PostgreSQL and the server are each killed once, in a run
of 100 seconds or more three times.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from tests.builders.receivers import OK, Answer, Receiver, Request, receiving
from tests.jobs.webhooks import endpoint
from tests.partner import PATIENCE_SECONDS, Partner, within
from tests.processes.feed_readers import BusinessFeedReader, Event, PartnerFeedReader
from tests.processes.recording_clients import Traffic
from tests.processes.server_process import Server, processes_of
from tests.processes.test_killing import everything_is_gone

SECONDS = float(os.environ.get("EVENT_SECONDS", "9"))
WRITERS = int(os.environ.get("EVENT_WRITERS", "16"))
KILLS = 1 if SECONDS < 100 else 3
BUSINESSES = 4
WRITES_A_SECOND = 25.0  # Of all writers; the receiver must keep up on two cores.
EVENTS = """
SELECT id::text FROM event WHERE business_id = %s AND sequence > 0 ORDER BY sequence"""
TOLD = """
SELECT request_id, max(sequence) FROM event WHERE business_id = %s AND request_id LIKE 'client-%%'
GROUP BY request_id"""
KEPT = """
SELECT DISTINCT request_id FROM audit_record WHERE business_id = %s
  AND request_id LIKE 'client-%%'"""


@dataclass
class Silence:
    """The answers of a receiver: while it is `wanted`, each path leaves one request unanswered."""

    wanted: bool = False
    unanswered: set[str] = field(default_factory=set)

    def answer(self, request: Request) -> Answer:
        if not self.wanted or request.path in self.unanswered:
            return OK
        self.unanswered.add(request.path)
        return 0, {}, ""

    @contextmanager
    def at(self, *paths: str) -> Iterator[None]:
        """Begin a block when requests to the paths wait for their answers; others get one later."""
        self.wanted = True
        assert within(PATIENCE_SECONDS, lambda: self.unanswered >= {*paths})
        self.wanted = False
        yield
        self.unanswered.clear()


@dataclass
class Company:
    """A partner with its businesses and endpoints, and the clients that write and read."""

    partner: Partner
    receiver: Receiver
    paths: tuple[str, ...]
    count: int
    secrets: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in self.paths:
            url, ordered = self.receiver.url(path), "ordered" in path
            self.secrets[path] = endpoint(self.partner, url, ordered=ordered)["secret"]
        self.businesses = [self.partner.business() for _ in range(self.count)]

    @contextmanager
    def at_work(self, writers: int) -> Iterator[None]:
        """Write to all businesses and read the feeds during a block, and then read to the end."""
        pause = writers / WRITES_A_SECOND
        self.traffic = [
            Traffic(each, writers // len(self.businesses), pause=pause) for each in self.businesses
        ]
        self.readers = [PartnerFeedReader(self.partner), BusinessFeedReader(self.businesses[0])]
        try:
            yield
        finally:
            for each in self.traffic:
                each.stop()
            for reader in self.readers:
                reader.finished.set()
            self.whole, self.of_first = (each.finish() for each in self.readers)

    def wait_for(self, more: int) -> None:
        """Return after so many more answered writes to the first business."""
        self.traffic[0].wait_for(more)

    def received(self, path: str) -> list[Request]:
        return self.receiver.to(path)

    def all_arrived(self) -> bool:
        """Return whether each endpoint has received every event."""
        wanted = {each["id"] for each in self.whole}
        return all(
            wanted <= {each.headers["webhook-id"] for each in self.received(path)}
            for path in self.paths
        )


def readers_saw_the_table(books: psycopg.Connection, company: Company) -> None:
    """Check that both feeds have exactly the events of the table, in order, each once."""
    in_order: dict[str, list[Event]] = {each.id: [] for each in company.businesses}
    for event in company.whole:
        in_order[event["business_id"]].append(event)
    for business in company.businesses:
        ids = [id_ for (id_,) in books.execute(EVENTS, (business.id,))]
        assert len(ids) == len(set(ids)) > 0
        assert [each["id"] for each in in_order[business.id]] == ids
        numbers = [each["sequence"] for each in in_order[business.id]]
        assert numbers == [*range(1, len(ids) + 1)]
    assert company.of_first == in_order[company.businesses[0].id]


def each_write_is_told(books: psycopg.Connection, traffic: Traffic) -> None:
    """Check that each answered write has its events, and another one all of its effects or none.

    The header of an answer names the last event of its request.
    """
    about = (traffic.business.id,)
    told = dict(books.execute(TOLD, about).fetchall())
    kept = {name for (name,) in books.execute(KEPT, about)}
    assert told.keys() == kept
    for each in traffic.writes:
        if each.answer is not None:
            assert told[each.name] == int(each.answer.headers["x-event-sequence"]), each


def receiver_saw_each_event(company: Company, path: str) -> int:
    """Check that an endpoint got every event, and no other; return the number of repeats.

    A repeat has the id and the body of the first request.
    """
    known = {each["id"]: each for each in company.whole}
    bodies: dict[str, str] = {}
    for request in company.received(path):
        id_ = request.headers["webhook-id"]
        assert request.event == known[id_]
        assert bodies.setdefault(id_, request.body) == request.body
    assert bodies.keys() == known.keys()
    for request in company.received(path)[::50]:
        request.verify(company.secrets[path])
    return len(company.received(path)) - len(bodies)


def arrived_in_order(company: Company, path: str) -> None:
    """Check that the events of a business arrived in order: the next one, or the last one again."""
    last: Counter[str] = Counter()
    for request in company.received(path):
        event = request.event
        assert event["sequence"] - last[event["business_id"]] in (0, 1), event
        last[event["business_id"]] = event["sequence"]


class TestKilledServer:
    def test_every_change_is_told_once_in_order_to_all_that_follow(
        self, own_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        settings = {"ACCOUNTING_LOG_FORMAT": "json"}
        silence, back = Silence(), list[float]()
        with (
            receiving(silence.answer) as receiver,
            Server(own_folder, "--development", **settings) as server,
        ):
            acme = Company(server.partner(), receiver, ("/any", "/ordered"), BUSINESSES)
            rival = Company(server.partner(), receiver, ("/rival",), 1)
            began = time.monotonic()
            with acme.at_work(WRITERS), rival.at_work(1):
                for number in range(KILLS):
                    go_on(acme)
                    back.append(kill_postgres(server))
                    go_on(acme)
                    with silence.at(*acme.paths):  # So these are repeated.
                        back.append(kill_server(server, all_of_it=number % 2 == 0))
                go_on(acme)
            ended = time.monotonic()
            for company in (acme, rival):
                patience = PATIENCE_SECONDS + SECONDS
                assert within(patience, company.all_arrived, every=0.2), server.log
            took = time.monotonic() - ended
            with psycopg.connect(EmbeddedPostgres(own_folder / "postgres").url()) as books:
                for company in (acme, rival):
                    readers_saw_the_table(books, company)
                    for traffic in company.traffic:
                        each_write_is_told(books, traffic)
            server.command_line.did("check-books", **settings)
        repeats = {
            path: receiver_saw_each_event(company, path)
            for company in (acme, rival)
            for path in company.paths
        }
        assert all(repeats[path] >= KILLS for path in acme.paths), repeats
        arrived_in_order(acme, "/ordered")
        figures = told(acme, ended - began, took, repeats)
        figures["back after seconds"] = [round(each, 1) for each in back]
        with capsys.disabled():
            sys.stdout.write(f"\nevents while killed: {figures}\n")


def go_on(company: Company) -> None:
    """Wait for a share of the time, and for at least some writes."""
    time.sleep(SECONDS / (2 * KILLS + 1))
    company.wait_for(5)


def kill_postgres(server: Server) -> float:
    """Send SIGKILL to PostgreSQL; return the seconds until the server has started it again."""
    began = time.monotonic()
    back = len(server.events("postgres_back"))
    server.kill(server.postgres())
    assert within(PATIENCE_SECONDS, lambda: len(server.events("postgres_back")) > back), server.log
    return time.monotonic() - began


def kill_server(server: Server, *, all_of_it: bool) -> float:
    """Send SIGKILL to the master or every process; return the seconds until it serves again."""
    began = time.monotonic()
    server.kill(*(processes_of(server.folder) if all_of_it else [server.process.pid]))
    server.process.wait()
    everything_is_gone(server, PATIENCE_SECONDS)
    server.start().wait()
    return time.monotonic() - began


def told(company: Company, seconds: float, took: float, repeats: dict[str, int]) -> dict[str, Any]:
    """Return the figures of a run."""
    writes = [each for traffic in company.traffic for each in traffic.writes]
    answered = sum(each.answer is not None for each in writes)
    return {
        "writers": sum(len(each.clients) for each in company.traffic),
        "seconds": round(seconds),
        "kills": 2 * KILLS,
        "writes": answered,
        "without an answer": len(writes) - answered,
        "events": len(company.whole),
        "pages": [each.pages for each in company.readers],
        "last delivery after seconds": round(took, 1),
        "repeats": repeats,
    }
