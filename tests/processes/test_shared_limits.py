"""Limits over two servers of two workers each, on one database."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from server.http.limiter import RETRY_SECONDS
from tests.command_line import CommandLine
from tests.minutes import with_seconds_left
from tests.partner import Partner, client
from tests.processes.server_process import Server

BUSINESSES = "/v1/platform/businesses/"
LIMIT = 600
LIMITS = {"ACCOUNTING_REQUESTS_PER_MINUTE_PARTNER": str(LIMIT)}
A_TENTH_MORE = LIMIT * 11 // 10


@pytest.fixture(scope="module")
def url(lived_in: Path) -> Iterator[str]:
    with EmbeddedPostgres(lived_in / "postgres") as postgres:
        postgres.create_database("limits")
        CommandLine(lived_in).did("migrate", DATABASE_URL=postgres.url("limits"))
        yield postgres.url("limits")


@pytest.fixture(scope="module")
def servers(lived_in: Path, url: str) -> Iterator[list[Server]]:
    both = [
        Server(lived_in, "--development", "--workers", "2", DATABASE_URL=url, **LIMITS)
        for _ in range(2)
    ]
    with both[0], both[1]:
        for server in both:
            server.wait_for_workers(2)
        yield both


@pytest.fixture
def partner(servers: list[Server]) -> Partner:
    return servers[0].partner()


def asked(partner: Partner, at: list[Server], shares: list[int]) -> Counter[int]:
    """Send requests to the servers in turn, each share in a thread; return the statuses."""
    credentials = (str(partner.partner_id), partner.api_key)

    def ask(place: int) -> list[int]:
        with client(at[place % len(at)].url, auth=credentials) as caller:
            return [caller.get(BUSINESSES).status_code for _ in range(shares[place])]

    with ThreadPoolExecutor(len(shares)) as pool:
        return Counter(status for each in pool.map(ask, range(len(shares))) for status in each)


class TestRequests:
    @pytest.mark.parametrize(
        "shares",
        [[100] * 10, [850, 50, 50, 50], [0, 800, 100, 100]],
        ids=["even", "most at one worker", "most at another server"],
    )
    def test_of_a_partner_are_let_through_up_to_the_limit_and_a_tenth_more(
        self, servers: list[Server], partner: Partner, shares: list[int]
    ) -> None:
        with_seconds_left(30)
        statuses = asked(partner, servers, shares)
        assert statuses.keys() == {200, 429}
        # A worker with few requests has not read the shared counts yet, and accepts some more.
        later = asked(partner, servers, [20] * 8)
        assert LIMIT <= statuses[200] + later[200] <= A_TENTH_MORE

    def test_are_counted_on_while_nothing_can_be_shared(
        self, servers: list[Server], partner: Partner, url: str
    ) -> None:
        with_seconds_left(40)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("REVOKE ALL ON request_count FROM accounting_server")
            try:
                alone = asked(partner, servers, [100] * 5)
            finally:
                connection.execute(
                    "GRANT SELECT, INSERT, UPDATE, DELETE ON request_count TO accounting_server"
                )
        assert alone == {200: 500}
        time.sleep(1.5 * RETRY_SECONDS)  # By then each has reported its own counts.
        statuses = asked(partner, servers, [50] * 8)
        assert LIMIT <= 500 + statuses[200] <= A_TENTH_MORE
        assert any(server.events("limits_not_shared") for server in servers)


class TestFailedLogins:
    def test_are_counted_over_workers_and_servers(
        self, servers: list[Server], partner: Partner
    ) -> None:
        with_seconds_left(30)
        wrong = Partner(partner.url, partner.partner_id, f"{partner.api_key[:-1]}-")
        statuses = asked(wrong, servers, [30] * 8)
        assert statuses.keys() == {401, 429}
        assert 100 <= statuses[401] <= 110
