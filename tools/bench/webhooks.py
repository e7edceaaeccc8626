"""`python -m tools.bench.webhooks`: deliveries a second, and what they cost the API meanwhile.

Customers are created, and their events are replayed to several endpoints of a receiver on this
machine, beside one that hangs and one that answers 500. It prints the rate of the deliveries that
succeed, and the times of reads with and without deliveries. `--no-reads` leaves the reads out.
"""

import argparse
import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

import httpx

from libraries.embedded.postgres import EmbeddedPostgres
from tools.bench.seed import customer
from tools.bench.stage import Business, Stage, serving

ENDPOINTS = "/v1/platform/webhook-endpoints/"
READS_SECONDS = 5.0
ANSWERS = {"/500": b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"}
GOOD = b"HTTP/1.1 204 Good\r\n\r\n"


async def receive(port: "Synchronized[int]", good: "Synchronized[int]") -> None:
    """Answer webhooks by their path, and count those that succeed."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            if path == "/hangs":
                await reader.read()
                return
            length = head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]
            await reader.readexactly(int(length))
            writer.write(ANSWERS.get(path, GOOD))
            if path not in ANSWERS:
                good.value += 1
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1024)
    port.value = server.sockets[0].getsockname()[1]
    await server.serve_forever()


def run_receiver(port: "Synchronized[int]", good: "Synchronized[int]") -> None:
    """Run the receiver in a process of its own."""
    asyncio.run(receive(port, good))


@contextmanager
def receiving() -> Iterator[tuple[int, "Synchronized[int]"]]:
    """Run a receiver; yield its port and the number of webhooks that it took."""
    port, good = multiprocessing.Value("i", 0), multiprocessing.Value("i", 0)
    process = multiprocessing.Process(target=run_receiver, args=(port, good), daemon=True)
    process.start()
    wait_for(lambda: bool(port.value > 0))
    try:
        yield port.value, good
    finally:
        process.kill()
        process.join()


def wait_for(what: Callable[[], bool], seconds: float = 600) -> None:
    """Wait until something is so; raise TimeoutError after some seconds."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.005)


def partner_client(stage: Stage) -> httpx.Client:
    """Return a client with the key of the partner."""
    key = (stage.partner["partner_id"], stage.partner["api_key"])
    return httpx.Client(base_url=stage.server.url, auth=key, timeout=60)


def endpoint(api: httpx.Client, url: str) -> str:
    """Create an endpoint for new customers, and return its id."""
    body = {"url": url, "types": ["customer.created"]}
    made: dict[str, Any] = api.post(ENDPOINTS, json=body).raise_for_status().json()
    return str(made["id"])


class Reads:
    """Reads of one client until they are stopped, with their times in milliseconds."""

    def __init__(self, business: Business) -> None:
        self._stopping = threading.Event()
        self._times: list[float] = []
        self._thread = threading.Thread(target=self._read, args=(business,))
        self._thread.start()

    def stop(self) -> str:
        """Stop reading; return the median and the 99th percentile."""
        self._stopping.set()
        self._thread.join()
        cuts = statistics.quantiles(self._times, n=100)
        return f"{len(self._times)} reads, p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms"

    def _read(self, business: Business) -> None:
        with business.client() as api:
            while not self._stopping.is_set():
                began = time.perf_counter()
                api.get("customers/").raise_for_status()
                self._times.append((time.perf_counter() - began) * 1000)


def replay(api: httpx.Client, endpoint_id: str, business: Business) -> int:
    """Make all events of a business due at an endpoint; return their number."""
    after = count = 0
    while True:
        body = {"business_id": str(business.id), "after": after}
        done = api.post(f"{ENDPOINTS}{endpoint_id}/replay/", json=body).raise_for_status().json()
        after, count = int(done["last_sequence"]), count + int(done["replayed"])
        if not done["has_more"]:
            return count


def measure(stage: Stage, customers: int, endpoints: int, *, with_reads: bool) -> None:
    """Deliver, and print the rate and the times of reads."""
    business = stage.open("webhooks")
    with business.client() as api:
        for place in range(customers):
            api.post("customers/", json=customer(place)).raise_for_status()
    if with_reads:
        idle = Reads(business)
        time.sleep(READS_SECONDS)
        print(f"without deliveries: {idle.stop()}")
    with receiving() as (port, good), partner_client(stage) as partner:
        url = f"http://127.0.0.1:{port}"
        for path in ("/hangs", "/500"):
            replay(partner, endpoint(partner, f"{url}{path}"), business)
        made = [endpoint(partner, f"{url}/{place}") for place in range(endpoints)]
        reads = Reads(business) if with_reads else None
        began = time.monotonic()
        wanted: int = sum(replay(partner, each, business) for each in made)
        wait_for(lambda: bool(good.value >= wanted))
        seconds = time.monotonic() - began
        if reads is not None:
            print(f"while delivering: {reads.stop()}")
        print(f"{wanted} deliveries in {seconds:.1f} s: {wanted / seconds:.0f} a second")


def main() -> int:
    """Start a server, measure and print."""
    options = argparse.ArgumentParser(prog="python -m tools.bench.webhooks", description=__doc__)
    options.add_argument("--customers", type=int, default=1_000)
    options.add_argument("--endpoints", type=int, default=5)
    options.add_argument("--no-reads", action="store_true")
    chosen = options.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as postgres,
        serving(postgres, "webhooks", Path(folder) / "server") as stage,
    ):
        measure(stage, chosen.customers, chosen.endpoints, with_reads=not chosen.no_reads)
    return 0


if __name__ == "__main__":
    sys.exit(main())
