"""`python -m bench.chart`: the chart of a business with a million lines beside one of ten thousand.

Every page is read of both in each round, over one connection. Then entries are posted with the
roll-up and without, in turns. Exit 1 where the chart of the large business costs more than three
times that of the small one, in processor time or on the clock.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import httpx
import psycopg

from access.principal import Caller, CallerKind
from accounting.books.ledger import Entry, Line
from bench import cpu
from bench.ledgers import plant
from bench.load import Driver, get
from bench.stage import Business, serving
from persistence.books import Books
from persistence.engine.idempotency import Outcome
from persistence.engine.identifiers import new_id
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sessions import Writing
from persistence.engine.tenants import BusinessTenant
from persistence.engine.transaction import Work, writing
from persistence.ledger.accounts import RoleMemory

SMALL, LARGE = 10_000, 1_000_000
MOST_OF_SMALL = 3.0
ACCOUNTS = "general-ledger/chart-of-accounts/"
MUST = ("chart", "chart, a month")
PAGES = {
    "chart": "?page_size=100",
    "chart, a month": "?page_size=100&period_year=2025&period_month=5",
    "chart, from the 15th to the 14th": "?page_size=100&date_from=2025-01-15&date_to=2025-06-14",
    "chart as a tree": "hierarchy/",
    "one account": "1200/",
    "entries of one account": "1200/entries/",
}
SUM_OF_ALL = (
    "SELECT account_id, sum(debit), sum(credit) FROM journal_line WHERE business_id = %s GROUP BY 1"
)
POSTINGS = 300  # Of a round: the roll-up advances three times in them.


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of server and PostgreSQL, and time on the clock, in microseconds."""

    cpu: float
    wall: float

    @classmethod
    def least(cls, costs: Sequence["Cost"]) -> "Cost":
        """Take the least of several rounds."""
        return cls(min(cost.cpu for cost in costs), min(cost.wall for cost in costs))


def far_down(business: Business) -> str:
    """Walk 200 pages into the entries of an account, as far as the small business has any."""
    path = f"{business.path}/{ACCOUNTS}1200/entries/?page_size=20"
    with httpx.Client(
        base_url=business.server.url, headers={"Authorization": f"Bearer {business.token}"}
    ) as client:
        following = path
        for _ in range(100):
            answer = client.get(following).raise_for_status().json()
            following = f"{path}&cursor={answer['page_info']['next_cursor']}"
    return following


def measure(
    driver: Driver, businesses: dict[str, Business], rounds: int, seconds: float
) -> dict[tuple[str, str], Cost]:
    """Read every page of every business in every round; return the least of each."""
    found: dict[tuple[str, str], list[Cost]] = {}
    asked = {
        (page, name): f"{business.path}/{ACCOUNTS}{rest}"
        for page, rest in PAGES.items()
        for name, business in businesses.items()
    }
    for name, business in businesses.items():
        asked["the same, page 101 by cursor", name] = far_down(business)
    one = next(iter(businesses.values()))
    server, postgres = one.server.meter, cpu.of_postgres(one.postgres_home)
    for turn in range(rounds + 1):  # The first warms up, and is not counted.
        for (page, name), path in asked.items():
            before = server.seconds() + postgres.seconds()
            load = driver.drive(
                one.server.port,
                [get(path, businesses[name].token)],
                expected=200,
                connections=1,
                seconds=seconds,
            )
            used = server.seconds() + postgres.seconds() - before
            if turn:
                cost = Cost(used / load.requests * 1e6, load.median_ms * 1000)
                found.setdefault((page, name), []).append(cost)
    return {each: Cost.least(costs) for each, costs in found.items()}


def report(costs: dict[tuple[str, str], Cost]) -> bool:
    """Print one table; return whether the chart keeps within three times."""
    print("\n| page | small CPU us | large | times | small wall us | large | times |")
    print("|---|---|---|---|---|---|---|")
    kept = True
    for page in dict.fromkeys(page for page, _ in costs):
        small, large = costs[page, "small"], costs[page, "large"]
        by_cpu, by_wall = large.cpu / small.cpu, large.wall / small.wall
        print(
            f"| {page} | {small.cpu:.0f} | {large.cpu:.0f} | {by_cpu:.2f}"
            f" | {small.wall:.0f} | {large.wall:.0f} | {by_wall:.2f} |"
        )
        if page in MUST:
            kept = kept and max(by_cpu, by_wall) <= MOST_OF_SMALL
    return kept


def tell_sums(businesses: dict[str, Business]) -> None:
    """Print what adding up all lines costs PostgreSQL alone, as the chart did before."""
    for name, business in businesses.items():
        with psycopg.connect(business.database_url) as connection:
            connection.execute("SET max_parallel_workers_per_gather = 0")
            best = min(_clocked(connection, business.id) for _ in range(5))
        print(f"Adding up all lines of the {name} one in PostgreSQL: {best * 1000:.1f} ms.")


def _clocked(connection: psycopg.Connection, business_id: UUID) -> float:
    began = time.perf_counter()
    connection.execute(SUM_OF_ALL, [business_id]).fetchall()
    return time.perf_counter() - began


class Poster:
    """Posts entries of four lines into a business, one in a transaction, with no HTTP around it."""

    def __init__(self, business: Business, pool: Pool) -> None:
        self.business, self.pool = business, pool
        self.accounts = business.ids("account")

    async def post(self, number: int, *, rolled_up: bool) -> None:
        """Post entries one after the other."""
        for n in range(number):
            await writing(self.pool, self._work(n, rolled_up=rolled_up))

    def _work(self, n: int, *, rolled_up: bool) -> Work:
        caller = Caller(CallerKind.PARTNER_KEY, self.business.partner_id)
        now = datetime.now(UTC)

        async def handle(session: Writing) -> Callable[[], Outcome]:
            assert isinstance(session.tenant, BusinessTenant)
            books = Books(session, session.tenant, now, RoleMemory())
            await books.fetch()
            books.post([self._entry(n)])
            if rolled_up:
                books.balances.advance()
            return lambda: Outcome(201, {}, b"")

        return Work(
            tenant=lambda: BusinessTenant(caller, self.business.id),
            now=now,
            business_id=self.business.id,
            claim=None,
            preview=False,
            handle=handle,
            render_refusal=_refused,
        )

    def _entry(self, n: int) -> Entry:
        chosen = [self.accounts[(n * 7 + place) % len(self.accounts)] for place in range(4)]
        amounts = (100 + n, -100 - n, 50, -50)
        return Entry(
            entry_date=date(2026, 7, n % 28 + 1),
            stream="bench",
            lines=tuple(map(Line, chosen, amounts)),
            description="An entry",
            source_type="manual",
            source_id=new_id(),
        )


def _refused(refusal: Exception) -> Outcome:
    raise refusal


async def post_in_turns(with_it: Business, without: Business, rounds: int) -> dict[str, Cost]:
    """Post as many entries into one business with the roll-up and into another without."""
    postgres = cpu.of_postgres(with_it.postgres_home)
    found: dict[str, list[Cost]] = {"with the roll-up": [], "without": []}
    async with make_pool(with_it.database_url, size=1) as pool:
        posters = {"with the roll-up": Poster(with_it, pool), "without": Poster(without, pool)}
        for turn in range(rounds + 1):
            for name, poster in posters.items():
                post = partial(poster.post, POSTINGS, rolled_up=name != "without")
                cost = await _cost(postgres, post)
                if turn:
                    found[name].append(cost)
    return {name: Cost.least(costs) for name, costs in found.items()}


async def _cost(postgres: cpu.Meter, work: Callable[[], Awaitable[None]]) -> Cost:
    used, began = time.process_time() + postgres.seconds(), time.perf_counter()
    await work()
    wall = time.perf_counter() - began
    used = time.process_time() + postgres.seconds() - used
    return Cost(used / POSTINGS * 1e6, wall / POSTINGS * 1e6)


def report_postings(costs: dict[str, Cost]) -> None:
    """Print what one posting costs either way."""
    print("\n| one posting of four lines | CPU us, ours + PostgreSQL | wall us |\n|---|---|---|")
    for name, cost in costs.items():
        print(f"| {name} | {cost.cpu:.0f} | {cost.wall:.0f} |")


def main() -> int:
    """Plant, measure, print, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m bench.chart", description=__doc__)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=0.5, help="of each page in each round")
    chosen = options.parse_args()
    driver = Driver()
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as folder,
        serving(Path(folder)) as open_business,
    ):
        businesses = {"small": open_business(), "large": open_business()}
        for name, lines in (("small", SMALL), ("large", LARGE)):
            plant(businesses[name], lines)
        businesses["small"].settle()
        print(f"{SMALL} and {LARGE} lines; CPU of server and PostgreSQL, the least of the rounds")
        kept = report(measure(driver, businesses, chosen.rounds, chosen.seconds))
        tell_sums(businesses)
        posted = post_in_turns(open_business(), open_business(), chosen.rounds)
        report_postings(asyncio.run(posted))
    driver.close()
    if not kept:
        print("\nThe chart of a large business costs too much.", file=sys.stderr)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
