"""The peers' statements do the measured work, each alone and as one; the books balance."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from starlette.testclient import TestClient

from libraries.embedded.binaries import find_programs
from tests.api_server import Databases
from tools.bench import pgbench
from tools.bench.cases import CASES, CREATE, PAY, Case, Crowd
from tools.bench.peers import environment
from tools.bench.peers.fill import PARTNER, fill, id_of
from tools.bench.peers.raw import create_app
from tools.bench.requests import Tenant, write
from tools.bench.seed import UNPAID, Size

SIZES = [Size(4, 30), Size(3, 20, UNPAID), Size(3, 20, UNPAID)]
WRITTEN = range(2, 4)  # The businesses that receive writes.
KEY = "0" * 64


@pytest.fixture(scope="module")
def url(databases: Databases) -> str:
    name = f"peers_{secrets.token_hex(4)}"
    databases.postgres.create_database(name)
    fill(databases.postgres.url(name), SIZES)
    return databases.postgres.url(name)


@pytest.fixture(scope="module")
def raw(url: str) -> Iterator[TestClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_DATABASE_URL", url)
        patch.setenv("BENCH_SECRET", KEY)
        with TestClient(create_app()) as client:
            yield client


def number(url: str, text: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(text).fetchone()
    assert row is not None
    return int(row[0])


MADE = "SELECT (SELECT count(*) FROM invoice) + (SELECT count(*) FROM payment)"
UNBALANCED = (
    "SELECT count(*) FROM"
    " (SELECT FROM entry_line GROUP BY entry_id HAVING sum(debit - credit) <> 0) AS entry"
)
GAPS = (
    "SELECT count(*) FROM counter k WHERE series = 'JE' AND last <>"
    " (SELECT count(*) FROM entry e WHERE e.business_id = k.business_id)"
)


class TestPgbench:
    @pytest.mark.parametrize("as_one", [False, True], ids=["one by one", "as one"])
    @pytest.mark.parametrize("case", [CREATE, PAY], ids=lambda case: case.name)
    def test_a_posting_is_whole(self, url: str, tmp_path: Path, case: Case, as_one: bool) -> None:
        file = tmp_path / "case.sql"
        text = pgbench.script(case, WRITTEN, SIZES[1].customers, SIZES[1].invoices, as_one=as_one)
        file.write_text(text, encoding="utf-8")
        before = number(url, MADE)
        load = pgbench.drive(find_programs().folder / "pgbench", url, file, Crowd(2), 1)
        assert load.errors == 0
        assert 0 < load.p50_ms <= load.p99_ms
        assert number(url, MADE) - before == load.answers > 0
        assert number(url, UNBALANCED) == number(url, GAPS) == 0


class TestRaw:
    @pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
    def test_each_request_is_answered(self, url: str, raw: TestClient, case: Case) -> None:
        head, _, body = first_request(case).partition(b"\r\n\r\n")
        [first, *lines] = head.decode().split("\r\n")
        method, path, _ = first.split(" ")
        headers = dict(line.split(": ") for line in lines)
        before = number(url, MADE)
        answer = raw.request(method, path, headers=headers, content=body)
        assert answer.status_code == (201 if case.writes else 200), answer.text
        assert number(url, MADE) - before == case.writes
        assert number(url, UNBALANCED) == number(url, GAPS) == 0

    def test_a_list_tells_a_third_of_the_invoices(self, raw: TestClient) -> None:
        path = f"/v1/platform/businesses/{id_of(1)}/invoices/"
        token = environment.issue(PARTNER, id_of(1), KEY)
        found = raw.get(path, headers={"Authorization": f"Bearer {token}"}).json()
        assert found["total"] == len(found["results"]) == SIZES[0].invoices // 3


def first_request(case: Case) -> bytes:
    business = 2 if case.writes else 1
    token = environment.issue(PARTNER, id_of(business), KEY)
    customers, unpaid = [id_of(business, 2)], [(id_of(business, 1), id_of(business, 2))]
    return write(case, [Tenant(id_of(business), token, customers, unpaid)])[0]
