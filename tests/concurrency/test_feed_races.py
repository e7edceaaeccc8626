"""The feed of a business to which many clients write: in order, without gaps, each event once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import ClassVar

import httpx
import pytest

from tests.api_server import ApiServer
from tests.builders.sales import invoice_body, sent
from tests.builders.trade import SENT, Record, line
from tests.concurrency.racers import InvoiceContest, Receiver
from tests.concurrency.races import race_until_done, statuses, together
from tests.partner import Business, client

pytestmark = pytest.mark.usefixtures("ledger")

CLIENTS = 16
EVENTS = "SELECT id::text, sequence FROM event WHERE business_id = %s ORDER BY sequence"
TOO_MUCH = {"amount_cents": 999_999}


class Follower(threading.Thread):
    """A client that follows the feed from its beginning, and keeps its events and the pages."""

    def __init__(self, shop: Business) -> None:
        super().__init__(daemon=True)
        self.shop = shop
        self.events: list[Record] = []
        self.pages = 0
        self.stopped = threading.Event()
        self.faults: list[str] = []
        self.start()

    def run(self) -> None:
        headers = {"Authorization": self.shop.api.headers["Authorization"]}
        try:
            with client(self.shop.base_url, headers=headers) as api:
                while not self.read(api):
                    pass
        except Exception as error:  # An undocumented answer raises, too.
            self.faults.append(repr(error))

    def read(self, api: httpx.Client) -> bool:
        """Read a page; return whether it is the last one after all writes."""
        is_last = self.stopped.is_set()
        after = self.events[-1]["sequence"] if self.events else 0
        asked = {"after": after, "page_size": 100, "wait": 0 if is_last else 2}
        page = api.get("events/", params=asked).json()
        self.events += page["results"]
        self.pages += 1
        return is_last and not page["has_more"]


@contextmanager
def followed(shop: Business) -> Iterator[Follower]:
    """Follow the feed during a block, and then read it to its end."""
    follower = Follower(shop)
    try:
        yield follower
    finally:
        follower.stopped.set()
        follower.join()
    assert follower.faults == []


def is_the_table(follower: Follower, api_server: ApiServer) -> None:
    """Check that a follower has read exactly the events that are stored, in order, without gaps."""
    stored = api_server.query(EVENTS, follower.shop.id)
    assert [(each["id"], each["sequence"]) for each in follower.events] == stored
    assert [sequence for _, sequence in stored] == [*range(1, len(stored) + 1)]


def batch_body(buyer: Record, mode: str, *more: Record) -> Record:
    """Return a batch with three invoices, and then other items."""
    body = {"customer_id": buyer["id"], "sent_at": SENT, "line_items": [line()]}
    items = [*[{"operation": "create_invoice", "body": body}] * 3, *more]
    return {
        "mode": mode,
        "items": [{"key": str(number), **each} for number, each in enumerate(items)],
    }


def refused_item(invoice_id: str) -> Record:
    path = {"invoice_id": invoice_id}
    return {"operation": "write_off_invoice", "path": path, "body": TOO_MUCH}


@dataclass
class FeedContest(InvoiceContest):
    """The invoices that all clients change, and the last event that each answer names."""

    last: dict[str, int] = field(default_factory=dict)

    def note(self, move: str, answer: httpx.Response) -> None:
        """Count an answer, and keep its last event by the id of its request."""
        super().note(move, answer)
        if "x-event-sequence" in answer.headers:
            assert answer.status_code < 300
            self.last[answer.headers["x-request-id"]] = int(answer.headers["x-event-sequence"])


class Bookkeeper(Receiver):
    """A client that also sends batches and previews, reads its own events, and is refused."""

    contest: FeedContest
    moves: ClassVar = {
        **Receiver.moves,
        **{"batch": 4, "rejected_batch": 4, "preview": 2, "refused": 2, "own_event": 4},
    }

    def send(self, mode: str, *more: Record) -> httpx.Response:
        """Send a batch with three invoices, and then other items."""
        return self.api.post("batch/", json=batch_body(self.contest.buyer, mode, *more))

    def batch(self) -> httpx.Response:
        return self.send(self.dice.choice(("atomic", "independent")))

    def rejected_batch(self) -> httpx.Response:
        """Send an atomic batch whose last item is refused after the others have taken numbers."""
        answer = self.send("atomic", refused_item(self.one(self.contest.invoices)))
        assert answer.status_code == 422
        return answer

    def preview(self) -> httpx.Response:
        body = invoice_body(self.contest.buyer, sent_at=SENT)
        return self.api.post("invoices/?preview=true", json=body)

    def refused(self) -> httpx.Response:
        path = f"invoices/{self.one(self.contest.invoices)}/write-offs/"
        answer = self.api.post(path, json=TOO_MUCH)
        assert answer.status_code in (409, 422)
        return answer

    def own_event(self) -> httpx.Response:
        """Write, and read the event that the answer names."""
        answer = self.send("atomic")
        last = int(answer.headers["x-event-sequence"])
        page = self.api.get("events/", params={"after": last - 1, "page_size": 1}).json()
        [event] = page["results"]
        told = event["sequence"], event["cause"]["request_id"]
        assert told == (last, answer.headers["x-request-id"])
        return answer


def requests_are_whole(follower: Follower, last: dict[str, int]) -> None:
    """Check that the events of a request are next to each other, and its answer names the last."""
    told = [
        (request, [each["sequence"] for each in events])
        for request, events in groupby(follower.events, lambda each: each["cause"]["request_id"])
    ]
    assert len({request for request, _ in told}) == len(told)
    ends = {request: sequences[-1] for request, sequences in told}
    assert {request: ends.get(request) for request in last} == last


class TestManyWriters:
    def test_a_reader_sees_each_event_once_in_the_order_of_the_commits(
        self, api_server: ApiServer, shop: Business, buyer: Record
    ) -> None:
        contest = FeedContest(buyer, [sent(shop, buyer, 1_000)["id"] for _ in range(5)])
        wanted = {"pay", "reallocate", "credit", "batch", "preview", "own_event", "write_off"}
        with followed(shop) as follower:
            race_until_done(Bookkeeper, contest, shop, clients=CLIENTS, wanted=wanted)
        is_the_table(follower, api_server)
        requests_are_whole(follower, contest.last)
        assert contest.answers["rejected_batch", 422, "batch_rejected"] > 0
        assert follower.pages > 5


class TestRolledBackWrites:
    def test_take_no_sequence(self, shop: Business, buyer: Record) -> None:
        invoice = sent(shop, buyer, 1_000)
        body = batch_body(buyer, "atomic", refused_item(invoice["id"]))
        before = shop.api.get("events/").json()["head_sequence"]
        answers = together([partial(shop.api.post, "batch/", json=body)] * 4)
        assert statuses(answers) == {422: 4}
        answer = shop.api.post("customers/", json={"company_name": "Next"})
        assert answer.headers["x-event-sequence"] == str(before + 1)

    def test_leave_the_other_items_of_an_independent_batch_in_order(
        self, shop: Business, buyer: Record
    ) -> None:
        refused = refused_item(sent(shop, buyer, 1_000)["id"])
        customer = {"operation": "create_customer", "body": {"company_name": "Last"}}
        body = batch_body(buyer, "independent", refused, customer)
        before = shop.api.get("events/").json()["head_sequence"]
        answer = shop.api.post("batch/", json=body)
        found = shop.api.get("events/", params={"after": before}).json()["results"]
        assert answer.json()["failed"] == 1
        assert [each["sequence"] for each in found] == [*range(before + 1, before + 8)]
        types = [each["type"] for each in found]
        assert sorted(types[:6]) == ["invoice.created"] * 3 + ["journal_entry.posted"] * 3
        assert types[6] == "customer.created"
