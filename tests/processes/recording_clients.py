"""Clients that pay, refund, credit and write off as fast as they can, and record every answer.

The answers before the server died are compared with the books afterwards.
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import psycopg

from tests.builders.files import CSV, PDF, in_json
from tests.builders.sales import credit_body, invoice_body, part, payment_body, share
from tests.builders.trade import SENT, Record
from tests.partner import PATIENCE_SECONDS, Business, client, within

PAYMENTS, CREDITS, REFUNDS = "invoices/payments/", "customer-credits/", "invoices/refunds/"
EFFECTS = "SELECT count(*) FROM audit_record WHERE business_id = %s AND request_id = %s"
KEPT = "SELECT count(*) FROM reply WHERE business_id = %s AND key = %s"
NAMED = "SELECT storage_key, sha256 FROM stored_document WHERE business_id = %s"
_numbers = count(1)


@dataclass
class Write:
    """A request and its answer, or None if no answer or a 503 arrived."""

    method: str
    path: str
    content: Record
    key: str
    name: str
    answer: httpx.Response | None = None

    @property
    def brings_file(self) -> bool:
        return "files" in self.content or "document" in self.content.get("json", {})


class NoAnswer(Exception):
    """A missing answer; the client gives up the requests that depend on it."""


class RecordingClient(threading.Thread):
    """A client with its own connection and customer, and an idempotency key for each write."""

    def __init__(self, traffic: "Traffic") -> None:
        super().__init__(daemon=True)
        self.traffic = traffic
        self.buyer = traffic.business.customer()
        self.writes: list[Write] = []
        self.broken = self.turned_away = 0  # Connections that broke; answers of 503.
        self.fault: Exception | None = None

    def run(self) -> None:
        while not self.traffic.stopped.is_set():
            try:
                with self.traffic.caller() as self.api:
                    self.work()
            except NoAnswer:
                self.traffic.stopped.wait(max(0.02, self.traffic.pause))
            except Exception as error:  # Unexpected answers, too.
                self.fault = error
                return

    def write(self, method: str, path: str, **content: Any) -> Record:
        """Send a write once, with a key of its own."""
        self.traffic.stopped.wait(self.traffic.pause * random.uniform(0.5, 1.5))
        write = Write(method, path, content, str(uuid4()), f"client-{next(_numbers)}")
        self.writes.append(write)
        try:
            answer = send(self.api, write)
        except httpx.TransportError:
            self.broken += 1
            raise NoAnswer from None
        if answer.status_code == 503:
            self.turned_away += 1
            raise NoAnswer
        assert answer.status_code in (200, 201), (path, answer.text)
        write.answer = answer
        body: Record = answer.json()
        return body.get("payment", body)

    def work(self) -> None:
        """Send one round of writes: invoices, a payment, and the other steps in random order."""
        buyer = self.buyer
        sent = invoice_body(buyer, sent_at=SENT, document=in_json(PDF))
        invoice, other = (self.write("POST", "invoices/", json=sent) for _ in range(2))
        take = {"allocations": [part(invoice, 600), part(other, 100)]}
        payment = self.write("POST", PAYMENTS, json=payment_body(buyer, 900, **take))
        moved = {"allocations": [part(invoice, 500), part(other, 200)]}
        self.write("PATCH", f"{PAYMENTS}{payment['id']}/", json=moved)
        for step in random.sample((self.give_back, self.credit, self.write_off), 3):
            step(invoice, other)

    def give_back(self, invoice: Record, _: Record) -> None:
        paper = {"files": {"document": ("slip.csv", CSV, "text/csv")}}
        given = {"invoice_id": invoice["id"], "amount_cents": "90", "document_type": "receipt"}
        refund = self.write("POST", REFUNDS, data=given, **paper)
        path = f"{REFUNDS}{refund['id']}/payments/"
        for amount in (20, 30):
            paid = self.write("POST", path, json={"amount_cents": amount})
        self.write("POST", f"{path}{paid['id']}/delete/")

    def credit(self, invoice: Record, other: Record) -> None:
        apply = {"sent_at": SENT, "allocations": [share(invoice, 50)], "document": in_json(PDF)}
        credit = self.write("POST", CREDITS, json=credit_body(self.buyer, {"amount": 80}, **apply))
        self.write("PUT", f"{CREDITS}{credit['id']}/", json={"allocations": [share(other, 70)]})

    def write_off(self, _: Record, other: Record) -> None:
        path = f"invoices/{other['id']}/write-offs/"
        for amount in (40, 60):
            shown = self.write("POST", path, json={"amount_cents": amount})
        self.write("DELETE", f"{path}{shown['write_offs'][0]['id']}/")

    @property
    def answered(self) -> list[Write]:
        return [each for each in self.writes if each.answer is not None]


class Traffic:
    """Several clients of one business, each with a pause of some seconds before each write."""

    def __init__(self, business: Business, clients: int = 4, *, pause: float = 0.0) -> None:
        self.business = business
        self.pause = pause
        self.headers = {"Authorization": business.api.headers["Authorization"]}
        self.stopped = threading.Event()
        self.left_behind: set[str] = set()  # Files without a record, set by `hold_files`.
        self.clients = [RecordingClient(self) for _ in range(clients)]
        for each in self.clients:
            each.start()

    def caller(self) -> httpx.Client:
        return client(self.business.base_url, headers=self.headers)

    def wait_for(self, more: int) -> None:
        """Return after so many more answered writes."""
        target = self.answers + more
        assert within(PATIENCE_SECONDS, lambda: self.answers >= target or bool(self.faults)), (
            self.answers
        )
        assert self.faults == []

    def stop(self) -> None:
        self.stopped.set()
        for each in self.clients:
            each.join()
        assert self.faults == []

    @property
    def answers(self) -> int:
        return sum(len(each.answered) for each in self.clients)

    @property
    def faults(self) -> list[Exception]:
        return [each.fault for each in self.clients if each.fault is not None]

    @property
    def writes(self) -> list[Write]:
        return [each for each in self.clients for each in each.writes]

    def lost(self) -> list[Write]:
        """Return the writes without an answer."""
        return [each for each in self.writes if each.answer is None]

    def hold(self, database_url: str, documents: Path) -> None:
        """Compare the recorded answers with the books and the files, then repeat each write."""
        with psycopg.connect(database_url, autocommit=True) as books:
            self.hold_whole(books)
            self.hold_files(books, documents)
        with self.caller() as api:
            for each in self.writes:
                hold_repeat(api, each)

    def hold_whole(self, books: psycopg.Connection) -> None:
        """Check that each answered write is stored, and each other write entirely or not at all."""
        for each in self.writes:
            done = exists(books, EFFECTS, self.business.id, each.name)
            assert done or each.answer is None, each
            if each.method != "DELETE":  # It has no key.
                assert exists(books, KEPT, self.business.id, each.key) == done, each

    def hold_files(self, books: psycopg.Connection, documents: Path) -> None:
        """Check that each record has its file, and that other files belong to unanswered writes.

        The server may also have written a file twice when it repeated a write after its database
        died.
        """
        folder = documents / self.business.id
        named = dict(books.execute(NAMED, (self.business.id,)).fetchall())
        there = {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*")}
        assert named.items() <= there.items(), named.items() - there.items()
        self.left_behind = there.keys() - named.keys()
        lost = [each for each in self.lost() if each.brings_file]
        assert len(self.left_behind) <= len(lost) + len(self.clients), (self.left_behind, lost)


@contextmanager
def traffic_of(business: Business) -> Iterator[Traffic]:
    """Run clients of a business during a block."""
    traffic = Traffic(business)
    try:
        yield traffic
    finally:
        traffic.stop()


def send(api: httpx.Client, write: Write) -> httpx.Response:
    """Send a write with its key and its name."""
    headers = {"Idempotency-Key": write.key, "X-Request-ID": write.name}
    if write.method == "DELETE":
        headers.pop("Idempotency-Key")
    return api.request(write.method, write.path, headers=headers, **write.content)


def exists(books: psycopg.Connection, question: str, *about: str) -> bool:
    """Return whether a query counts any row."""
    row = books.execute(question, about).fetchone()
    return row is not None and row[0] > 0


def hold_repeat(api: httpx.Client, write: Write) -> None:
    """Check that a repeated write gets the answer of the first one, or always the same one."""
    told = write.answer or send(api, write)
    again = send(api, write)
    if write.method == "DELETE":  # It is already reversed.
        assert again.status_code == 409
        return
    assert told.status_code in (200, 201), told.text
    assert (again.status_code, again.content) == (told.status_code, told.content), again.text
    assert again.headers["idempotent-replayed"] == "true", write
