"""Our own server on a private PostgreSQL with durable settings, with a business in it."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import orjson
import psycopg

from bench.load import Driver, post
from bench.servers import Server, program, started
from embedded.postgres import EmbeddedPostgres
from persistence.engine.migrate import migrate

_numbers = count(1)

CUSTOMER: dict[str, Any] = {
    "reference_number": "K-1027",
    "company_name": "Blue Door Cafe Ltd",
    "individual_name": "Maya Lindqvist",
    "email": "hello@bluedoor.co.uk",
    "mobile_phone": "+447700900123",
    "office_phone": "+441174960123",
    "address_line1": "4 Quay Street",
    "address_line2": "Harbourside",
    "city": "Bristol",
    "state_county": "Somerset",
    "postal_code": "BS1 4RW",
    "country": "GB",
    "vat_number": "GB980780684",
    "notes": "Delivers to the back door, before eight.",
    "transaction_tags": ["wholesale", "south-west"],
    "payment_terms_days": 14,
    "credit_limit_cents": 250_000,
    "metadata": {"route": "7", "since": 2019},
}


@dataclass(frozen=True, slots=True)
class Business:
    """Our server with one business: its address in the API and a token for it."""

    server: Server
    database_url: str
    postgres_home: Path
    partner_id: UUID
    id: UUID
    token: str

    @property
    def path(self) -> str:
        return f"/v1/platform/businesses/{self.id}"

    def add(self, driver: Driver, path: str, bodies: Sequence[dict[str, Any]]) -> None:
        """Send every body once."""
        requests = [post(f"{self.path}/{path}", self.token, orjson.dumps(body)) for body in bodies]
        driver.drive(self.server.port, requests, expected=201, connections=8)

    def ids(self, table: str) -> list[UUID]:
        """The ids of the business's rows in a table, in their order."""
        text = f"SELECT id FROM {table} WHERE business_id = %s ORDER BY id"
        with psycopg.connect(self.database_url) as connection:
            return [row[0] for row in connection.execute(text, [self.id])]

    def settle(self) -> None:
        """Bring the planner's statistics up to what was added."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")


def customers(number: int) -> list[dict[str, Any]]:
    """Bodies of customers who can be told apart, by telephone above all."""
    return [
        {
            **CUSTOMER,
            "company_name": f"Blue Door Cafe {place} Ltd",
            "email": f"hello-{place}@bluedoor.co.uk",
            "mobile_phone": f"+4477009{place:05}",
            "office_phone": f"+4411749{place:05}",
        }
        for place in range(number)
    ]


def invoice(customer_id: UUID, place: int) -> dict[str, Any]:
    """An invoice that was sent on one of the days of a year."""
    month, day, minute = place % 12 + 1, place // 12 % 28 + 1, place % 60
    return {
        "customer_id": str(customer_id),
        "sent_at": f"2025-{month:02}-{day:02}T09:{minute:02}:00Z",
        "line_items": [
            {"description": "Espresso beans, 1 kg", "quantity": 3, "unit_price": 1850},
            {"description": "Oat milk, case", "quantity": 2, "unit_price": 1420 + place % 100},
        ],
    }


@contextmanager
def set_up(home: Path) -> Iterator[Business]:
    """Run PostgreSQL and our server below a folder, and open a business."""
    with serving(home) as open_business:
        yield open_business()


@contextmanager
def serving(home: Path) -> Iterator[Callable[[], Business]]:
    """Run PostgreSQL and our server below a folder; lend what opens businesses of one partner."""
    with EmbeddedPostgres(home / "postgres") as postgres:
        postgres.create_database()
        url = postgres.url()
        migrate(url)
        environment = {"DATABASE_URL": url, "ACCOUNTING_DATA_DIR": str(home / "data")}
        partner = _make_partner(environment)
        command = ["accounting", "serve", "--development", "--workers", "1", "--port", "PORT"]
        with started("accounting", command, environment, home / "accounting.log") as server:
            yield lambda: _open_business(server, url, postgres.home, partner)


def _make_partner(environment: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(
        [program("accounting"), "partner", "create", "Bench", "--json"],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    made: dict[str, str] = json.loads(done.stdout)
    return made


def _open_business(server: Server, url: str, home: Path, partner: dict[str, str]) -> Business:
    body = {
        "external_id": f"bench-{next(_numbers)}",
        "legal_name": "Harbour Coffee Ltd",
        "entity_type": "limited",
        "email": "books@harbour.co.uk",
        "country": "GB",
    }
    key = (partner["partner_id"], partner["api_key"])
    with httpx.Client(base_url=server.url + "/v1/platform/") as client:
        form = {"grant_type": "client_credentials"}
        granted = client.post("oauth2/token/", auth=key, data=form).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {granted['access_token']}"
        opened = client.post("businesses/", json=body).raise_for_status().json()
        granted = client.post(f"{opened['id']}/oauth2/token/").raise_for_status().json()
    return Business(
        server, url, home, UUID(partner["partner_id"]), UUID(opened["id"]), granted["access_token"]
    )
