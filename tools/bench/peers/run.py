"""The peers as servers on their own database, on the same PostgreSQL as this server."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from libraries.embedded.binaries import find_programs
from libraries.embedded.postgres import EmbeddedPostgres
from tools.bench.cases import CASES, READ, TENANTS
from tools.bench.peers import environment
from tools.bench.peers.fill import PARTNER, fill, id_of
from tools.bench.requests import Tenant
from tools.bench.seed import UNPAID, Size
from tools.bench.servers import started
from tools.bench.targets import HttpTarget, PgbenchTarget, Target

WORKERS = 2
DATABASE = "peers"
# Two workers each on uvicorn, as this server has; Django has three with six threads each.
UVICORN = (
    "uvicorn --factory tools.bench.peers.{0}:create_app --host 127.0.0.1 --port PORT"
    f" --workers {WORKERS} --loop uvloop --http httptools --no-access-log --log-level warning"
)
GUNICORN = "gunicorn tools.bench.peers.drf.wsgi --bind 127.0.0.1:PORT --workers 3 --threads 6"
COMMANDS = {
    "bare": UVICORN.format("bare"),
    "raw": UVICORN.format("raw"),
    "fastapi": UVICORN.format("fastapi_app"),
    "connexion": UVICORN.format("connexion_app"),
    "drf": GUNICORN,
}
PGBENCH, PGBENCH_ONE = "pgbench", "pgbench, one statement"
NAMES = (*COMMANDS, PGBENCH, PGBENCH_ONE)


@contextmanager
def running(
    postgres: EmbeddedPostgres, folder: Path, read: Size, written: Size, names: Sequence[str]
) -> Iterator[list[Target]]:
    """Run the named peers, with one business for reads and TENANTS others for writes."""
    postgres.create_database(DATABASE)
    url, key = postgres.url(DATABASE), secrets.token_hex(32)
    sizes = [read, *[written] * TENANTS]
    fill(url, sizes)
    tenants = [_tenant(number, size, key) for number, size in enumerate(sizes, start=1)]
    environment = {"BENCH_DATABASE_URL": url, "BENCH_SECRET": key}
    targets: list[Target] = []
    with ExitStack() as stack:
        for name, command in COMMANDS.items():
            if name in names:
                log = folder / f"{name}.log"
                server = stack.enter_context(started(name, command.split(), environment, log))
                cases = (READ,) if name == "bare" else CASES
                targets.append(HttpTarget(server, tenants, folder, cases, name))
        program = find_programs().folder / "pgbench"
        each = {False: (read.customers, read.invoices), True: (written.customers, written.invoices)}
        if PGBENCH in names:
            targets.append(PgbenchTarget(program, url, folder, CASES, each))
        if PGBENCH_ONE in names:
            written_to = [case for case in CASES if case.writes]
            targets.append(
                PgbenchTarget(program, url, folder, written_to, each, PGBENCH_ONE, as_one=True)
            )
        yield targets


def _tenant(number: int, size: Size, key: str) -> Tenant:
    customers = [id_of(number, place) for place in range(1, size.customers + 1)]
    # The customer of an invoice follows from its place, as in `fill`.
    unpaid = [
        (id_of(number, place), id_of(number, place % size.customers + 1))
        for place in range(1, size.invoices + 1)
    ]
    token = environment.issue(PARTNER, id_of(number), key)
    return Tenant(id_of(number), token, customers, unpaid if size.kinds == UNPAID else ())
