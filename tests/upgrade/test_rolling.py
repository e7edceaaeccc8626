"""Two servers behind HAProxy: each is restarted or upgraded in turn, and no request fails."""

import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.outbound.tests.certificates import write_certificate
from persistence.database.migrate import migrate
from persistence.database.revisions import HEAD
from tests.command_line import ACCOUNTING
from tests.partner import PATIENCE_SECONDS, Partner, within
from tests.processes.conftest import make_folder
from tests.processes.server_process import Server, remove, secrets
from tests.upgrade.behind_haproxy import HAPROXY, TLS, HaProxy, Load, sample

ROOT = Path(__file__).parents[2]
LEAVING_SECONDS = 3  # HAProxy with the sample notices within two.
NEXT = "9999"
MIGRATION = f'''
from persistence.migrations.texts import run_texts

revision, down_revision, serves_from = "{NEXT}", "{HEAD}", "{HEAD}"


def upgrade() -> None:
    run_texts(__file__, "{NEXT}_probe.sql")
'''
ADDED = """
ALTER TABLE customer ADD COLUMN shoe_size BIGINT;
ALTER TABLE invoice ADD COLUMN shoe_size BIGINT NOT NULL DEFAULT 42;
ALTER TABLE journal_line ADD COLUMN shoe_size BIGINT;
SELECT audit_columns('customer', ARRAY['shoe_size'], 'NULL');
"""

pytestmark = pytest.mark.skipif(HAPROXY is None, reason="there is no haproxy on this machine")


@dataclass(frozen=True)
class House:
    """Two servers on one database, with a proxy and a partner."""

    folder: Path
    database_url: str
    servers: tuple[Server, Server]
    proxy: HaProxy
    partner: Partner

    def restart(self, server: Server, load: Load) -> None:
        """Restart a server as the sample describes, and wait until HAProxy uses it again."""
        server.process.terminate()
        assert server.process.wait(PATIENCE_SECONDS) == 0
        asked = len(asked_of(server))
        server.start().wait()
        assert within(PATIENCE_SECONDS, lambda: len(asked_of(server)) > asked, every=0.2), load.seen


def is_ready(server: Server) -> bool:
    return server.get("/health/ready").status_code == 200


def asked_of(server: Server) -> list[dict[str, object]]:
    return [event for event in server.events("request") if event["path"].startswith("/v1/")]


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    folder = make_folder()
    with EmbeddedPostgres(folder / "postgres") as postgres:
        postgres.create_database()
        url = postgres.url()
        migrate(url)
        settings = {
            "DATABASE_URL": url,
            "PYTHONPATH": str(ROOT),
            "ACCOUNTING_SECRET_KEYS": secrets(),
            "ACCOUNTING_FORWARDED_ALLOW_IPS": "127.0.0.1",
            "ACCOUNTING_LEAVING_SECONDS": str(LEAVING_SECONDS),
        }
        one, two = (Server(folder, "--workers", "1", **settings).start() for _ in range(2))
        try:
            made = one.wait().partner()
            with HaProxy(folder, one, two.wait()) as proxy:
                assert within(PATIENCE_SECONDS, lambda: is_ready(one) and is_ready(two)), one.log
                partner = Partner(proxy.url, made.partner_id, made.api_key)
                yield House(folder, url, (one, two), proxy, partner)
                for caller in partner.clients:
                    caller.close()
        finally:
            for server in (one, two):
                server.process.send_signal(signal.SIGINT)  # HAProxy sends no more requests.
            for server in (one, two):
                server.stop()
    remove(folder)


@pytest.fixture(scope="module")
def next_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this tree with one more migration, as in a next release."""
    tree = tmp_path_factory.mktemp("next")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in project["tool"]["setuptools"]["packages"]:
        if "." not in package:
            shutil.copytree(ROOT / package, tree / package)
    versions = tree / "persistence" / "migrations" / "versions"
    (versions / f"{NEXT}_probe.py").write_text(MIGRATION, encoding="utf-8")
    (versions / f"{NEXT}_probe.sql").write_text(ADDED, encoding="utf-8")
    return tree


def migrated(environment: dict[str, str]) -> str:
    """Migrate, and repeat if a lock was unavailable, which changes nothing."""
    for _ in range(3):
        told = subprocess.run(
            [ACCOUNTING, "migrate"], env=environment, capture_output=True, text=True, check=False
        )
        if told.returncode == 0:
            break
    return told.stdout or told.stderr


def hold(house: House, load: Load, began: float) -> None:
    """Check that each request was answered and each write done once, and check the books."""
    asked, losses = load.seen, load.losses
    sys.stdout.write(
        f"Upgrade: {asked.total()} requests, {losses.total()} losses, {load.repeats} repeats,"
        f" {time.monotonic() - began:.1f} seconds\n"
    )
    assert losses == {}
    made = load.business.api.get("customers/").json()["count"]
    assert made == asked["POST customers"] + len(load.callers)
    command = house.servers[0].command_line
    assert "hold (" in command.did("check-books", DATABASE_URL=house.database_url).out


class TestSample:
    def test_haproxy_takes_it_as_it_is(self, tmp_path: Path) -> None:
        certificate, key = write_certificate(tmp_path)
        both = tmp_path / "accounting.pem"
        both.write_bytes(certificate.read_bytes() + key.read_bytes())
        path = tmp_path / "haproxy.cfg"
        path.write_text(sample({"/etc/haproxy/accounting.pem": str(both)}), encoding="utf-8")
        assert HAPROXY is not None
        checked = subprocess.run(
            [HAPROXY, "-c", "-f", str(path)], capture_output=True, text=True, check=False
        )
        assert (checked.returncode, "WARNING" in checked.stderr) == (0, False), checked.stderr
        assert TLS in sample({})


class TestTwoServers:
    def test_they_are_upgraded_one_after_the_other_and_fail_no_request(
        self, house: House, next_tree: Path
    ) -> None:
        began = time.monotonic()
        to_come = {"PYTHONPATH": str(next_tree), "DATABASE_URL": house.database_url}
        environment = house.servers[0].command_line.environment(**to_come)
        with Load(house.partner.business()) as load:
            assert migrated(environment) == f"The database stands at {NEXT}.\n"
            for server in house.servers:
                server.settings = {**server.settings, **to_come}
                house.restart(server, load)
        hold(house, load, began)
