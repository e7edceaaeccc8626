"""The server of this repository on a PostgreSQL, and the businesses in it."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import httpx
import psycopg

from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.migrate import migrate
from tools.bench.requests import Tenant
from tools.bench.seed import Size, plant
from tools.bench.servers import Server, program, started

LIMITED = ("PARTNER", "BUSINESS")
OURS = "accounting"
BEFORE = "before"  # Another tree of this server.
WORKERS = 2


@dataclass(frozen=True, slots=True)
class Business:
    """A business on this server: its path in the API and a token for it."""

    server: Server
    database_url: str
    postgres_home: Path
    partner_id: UUID
    id: UUID
    token: str

    @property
    def path(self) -> str:
        return f"/v1/platform/businesses/{self.id}"

    def client(self) -> httpx.Client:
        """Create an HTTP client of the business."""
        return httpx.Client(
            base_url=f"{self.server.url}{self.path}/",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
        )

    def tenant(self) -> Tenant:
        """Return the data that requests need: token, customers and unpaid invoices."""
        customers = "SELECT id FROM customer WHERE business_id = %s ORDER BY id"
        unpaid = (
            "SELECT id, party_id FROM invoice WHERE business_id = %s AND outstanding > 0"
            " AND due_at > now() ORDER BY id LIMIT 20000"
        )
        with psycopg.connect(self.database_url) as connection:
            ids = [row[0] for row in connection.execute(customers, [self.id])]
            return Tenant(
                self.id, self.token, ids, connection.execute(unpaid, [self.id]).fetchall()
            )


@dataclass(frozen=True, slots=True)
class Stage:
    """A running server of this repository, with a partner that creates businesses."""

    server: Server
    database_url: str
    postgres_home: Path
    partner: dict[str, str]

    def open(self, name: str) -> Business:
        """Create a business over the API."""
        body = {
            "external_id": name,
            "legal_name": "Harbour Coffee Ltd",
            "entity_type": "limited",
            "email": "books@harbour.co.uk",
            "country": "GB",
        }
        key = (self.partner["partner_id"], self.partner["api_key"])
        with httpx.Client(base_url=self.server.url + "/v1/platform/", timeout=60) as client:
            form = {"grant_type": "client_credentials"}
            granted = client.post("oauth2/token/", auth=key, data=form).raise_for_status().json()
            client.headers["Authorization"] = f"Bearer {granted['access_token']}"
            opened = client.post("businesses/", json=body).raise_for_status().json()
            granted = client.post(f"{opened['id']}/oauth2/token/").raise_for_status().json()
        return Business(
            self.server,
            self.database_url,
            self.postgres_home,
            UUID(self.partner["partner_id"]),
            UUID(opened["id"]),
            granted["access_token"],
        )

    def planted(self, name: str, size: Size) -> Business:
        """Create a business and fill it."""
        business = self.open(name)
        with business.client() as api:
            plant(api, self.database_url, business.id, size)
        return business

    def settle(self) -> None:
        """Rebuild the monthly balances and the planner's statistics after filling."""
        _run(["rebuild-balances"], {"DATABASE_URL": self.database_url})
        self.analyze()

    def analyze(self) -> None:
        """Update the planner's statistics after filling, with VACUUM (ANALYZE)."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")


@contextmanager
def serving(
    postgres: EmbeddedPostgres, database: str, home: Path, **settings: str
) -> Iterator[Stage]:
    """Run this server on a new database, with a new partner and additional settings."""
    postgres.create_database(database)
    url = postgres.url(database)
    migrate(url)
    with served(url, postgres.home, home, **settings) as stage:
        yield stage


@contextmanager
def served(url: str, postgres_home: Path, home: Path, **settings: str) -> Iterator[Stage]:
    """Run this server on a migrated database with additional settings, and create a partner."""
    home.mkdir(parents=True, exist_ok=True)
    # Requests are counted, but the limit is never reached: this measures full capacity.
    limits = {f"ACCOUNTING_REQUESTS_PER_MINUTE_{whose}": "999999999" for whose in LIMITED}
    environment = {"DATABASE_URL": url, "ACCOUNTING_DATA_DIR": str(home / "data"), **limits}
    partner = json.loads(_run(["partner", "create", "Bench", "--json"], environment))
    command = ["accounting", "serve", "--development", "--workers", str(WORKERS), "--port", "PORT"]
    with started(OURS, command, {**environment, **settings}, home / "accounting.log") as server:
        yield Stage(server, url, postgres_home, partner)


def _run(words: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(
        [program("accounting"), *words],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout
