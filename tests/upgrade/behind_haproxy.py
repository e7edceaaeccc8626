"""HAProxy with the sample in docs/ops, in front of real servers, and clients that count answers."""

import shutil
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self
from uuid import uuid4

import httpx

from tests.builders.sales import invoice_body, part, payment_body
from tests.builders.trade import SENT
from tests.partner import PATIENCE_SECONDS, Business, client, within
from tests.ports import free_port, is_free
from tests.processes.server_process import Server

SAMPLE = Path(__file__).parents[2] / "docs" / "ops" / "haproxy.cfg"
PAUSE_SECONDS = 0.2  # Between two rounds of a caller: a starting server needs the processors.
HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
TLS = "bind :443 ssl crt /etc/haproxy/accounting.pem alpn h2,http/1.1"
PLACES = ("server one 10.0.0.11:8000", "server two 10.0.0.12:8000")


class HaProxy:
    """HAProxy with the sample and the addresses of this machine; partners use plain HTTP."""

    def __init__(self, folder: Path, *servers: Server) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.path = folder / "haproxy.cfg"
        places = {TLS: f"bind 127.0.0.1:{self.port}"}
        for place, server in zip(PLACES, servers, strict=True):
            places[place] = f"{place.rpartition(' ')[0]} 127.0.0.1:{server.port}"
        self.path.write_text(sample(places), encoding="utf-8")

    def __enter__(self) -> Self:
        assert HAPROXY is not None, "whoever asks for it has looked for it"
        with self.path.with_suffix(".log").open("wb") as log:
            self.process = subprocess.Popen(
                [HAPROXY, "-db", "-f", str(self.path)], stdout=log, stderr=log
            )
        assert within(PATIENCE_SECONDS, lambda: not is_free(self.port))
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)


def sample(places: dict[str, str]) -> str:
    """Return the sample with some texts replaced, each of which must be present."""
    text = SAMPLE.read_text(encoding="utf-8")
    for place, other in places.items():
        assert place in text
        text = text.replace(place, other)
    return text


class Caller(threading.Thread):
    """A client that invoices, pays and reads over one connection, with a key for each write."""

    def __init__(self, load: "Load") -> None:
        super().__init__(daemon=True)
        self.load = load
        self.seen: Counter[str] = Counter()
        self.repeats = 0
        self.buyer = load.business.customer()

    def run(self) -> None:
        try:
            with client(self.load.business.base_url, headers=self.load.headers) as self.api:
                while not self.load.stopped.wait(PAUSE_SECONDS):
                    self.work()
        except Exception as error:  # Also for answers that violate the contract.
            self.seen[repr(error)] += 1

    def work(self) -> None:
        body = invoice_body(self.buyer, sent_at=SENT)
        if (invoice := self.ask("POST", "invoices/", json=body)) is not None:
            paid = payment_body(self.buyer, 100, allocations=[part(invoice, 100)])
            self.ask("POST", "invoices/payments/", json=paid)
            self.ask("GET", f"invoices/{invoice['id']}/")
        self.ask("POST", "customers/", json={"company_name": "Hurried Bakery"})
        self.ask("GET", "customers/?page_size=5")
        self.ask("GET", "general-ledger/chart-of-accounts/1200/")

    def ask(self, method: str, path: str, **content: object) -> dict[str, object] | None:
        """Send a request; return the body, or None after a failure.

        A 503 with Retry-After is repeated with the same key: on a busy machine PostgreSQL may take
        too long to connect. HAProxy itself sends no such header.
        """
        headers = {"Idempotency-Key": str(uuid4())} if method == "POST" else {}
        try:
            answer = self.api.request(method, path, headers=headers, **content)
            while answer.status_code == 503 and "Retry-After" in answer.headers:
                self.repeats += 1
                time.sleep(float(answer.headers["Retry-After"]))
                answer = self.api.request(method, path, headers=headers, **content)
        except (httpx.TransportError, OSError) as error:
            self.seen[repr(error)] += 1
            return None
        good = answer.status_code == (201 if method == "POST" else 200)
        self.seen[f"{method} {path.partition('/')[0]}" if good else answer.text] += 1
        body: dict[str, object] | None = answer.json() if good else None
        return body


class Load:
    """Several callers of a business during a block; `seen` counts requests and failures."""

    GOOD = frozenset(
        {
            *("POST invoices", "POST customers"),
            *("GET invoices", "GET customers", "GET general-ledger"),
        }
    )

    def __init__(self, business: Business, callers: int = 4) -> None:
        self.business = business
        self.headers = dict(business.api.headers)
        self.stopped = threading.Event()
        self.callers = [Caller(self) for _ in range(callers)]

    def __enter__(self) -> Self:
        for caller in self.callers:
            caller.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        for caller in self.callers:
            caller.join()

    @property
    def seen(self) -> Counter[str]:
        return sum((caller.seen for caller in self.callers), Counter())

    @property
    def repeats(self) -> int:
        return sum(caller.repeats for caller in self.callers)

    @property
    def losses(self) -> Counter[str]:
        """Return the failures and the unexpected answers."""
        return Counter({told: n for told, n in self.seen.items() if told not in self.GOOD})
