"""A business from before the feed: its feed begins with what later migrations create."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import psycopg
import pytest

from access import api_keys
from persistence.database.migrate import migrate
from persistence.engine.pool import make_pool
from persistence.integrity.event_checks import EVENT_RECORDS
from persistence.partners import partners
from tests.api_server import ApiServer, Databases
from tests.handlers.platform.test_events import every_event, feed
from tests.partner import Business, Partner, within
from tests.persistence.database.earlier_schema import Connection, migrate_to, migrated_from
from tests.persistence.integrity.book_faults import faults_in

BEFORE = "0046"
PARTNER, BUSINESS, CUSTOMER = (UUID(int=number) for number in (1, 2, 3))
WAITING = (
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%event_table%'"
)
BOOKS = (
    f"INSERT INTO partner (id, name, created_at, tokens_valid_from)"
    f" VALUES ('{PARTNER}', 'x', '2025-01-01', '2025-01-01')",
    f"""INSERT INTO business (id, partner_id, version, created_at, updated_at, external_id,
      legal_name, name, entity_type, email, base_currency, accounting_method, fiscal_year_end,
      coa_language, activation_at, tokens_valid_from)
    VALUES ('{BUSINESS}', '{PARTNER}', 4, '2025-01-01', now(), 'old', 'x', 'x', 'limited',
      'x@example.com', 'GBP', 'accrual', '2000-12-31', 'en', '2025-01-01', '2025-01-01')""",
    f"""INSERT INTO customer (business_id, id, version, created_at, updated_at, company_name,
      tax_exempt, transaction_tags)
    VALUES ('{BUSINESS}', '{CUSTOMER}', 6, '2025-01-01', now(), 'x', false, '[]')""",
)


def keep(connection: Connection) -> None:
    for text in BOOKS:
        connection.execute(text.encode())


@pytest.fixture
def server(databases: Databases) -> Iterator[ApiServer]:
    with (
        migrated_from(databases, BEFORE, keep) as connection,
        ApiServer(databases.postgres.url(connection.info.dbname)) as server,
    ):
        yield server


@pytest.fixture
def shop(server: ApiServer) -> Business:
    key = api_keys.make_key("test")

    async def add() -> None:
        async with make_pool(server.database_url, size=1) as pool:
            sealed = api_keys.seal_key(key.text)
            await partners.add_key(pool, PARTNER, key.key_id, sealed, datetime.now(UTC))

    asyncio.run(add())
    partner = Partner(server.url, PARTNER, key.text)
    server.partners.append(partner)
    return Business(partner, {"id": str(BUSINESS)})


class TestMigration:
    def test_the_next_change_is_the_first_event_of_a_request(
        self, server: ApiServer, shop: Business
    ) -> None:
        accounts = feed(shop)["results"]  # Those of unrealised exchange.
        assert [each["type"] for each in accounts] == ["account.created"] * 2
        assert every_event(shop.partner) == accounts
        assert faults_in(server, shop) == set()
        answer = shop.api.patch(f"customers/{CUSTOMER}/", json={"notes": "Call first"})
        assert (answer.status_code, answer.headers["x-event-sequence"]) == (200, "3")
        found = feed(shop)
        *_, event = found["results"]
        assert (event["sequence"], event["type"], found["head_sequence"]) == (
            *(3, "customer.updated"),
            3,
        )
        assert event["object"]["version"] == 7
        assert every_event(shop.partner) == [*accounts, event]
        assert faults_in(server, shop) == set()

    def test_a_change_that_the_migration_waits_for_is_older_than_the_feed(
        self, databases: Databases
    ) -> None:
        name = f"beside_{BEFORE}"
        databases.postgres.create_database(name)
        url = databases.postgres.url(name)
        migrate_to(url, BEFORE)
        with psycopg.connect(url) as old_server, ThreadPoolExecutor(1) as pool:
            keep(old_server)
            old_server.commit()
            old_server.execute("UPDATE customer SET notes = 'x' WHERE false")  # Locks the table.
            migrated = pool.submit(migrate, url)
            with psycopg.connect(url, autocommit=True) as watcher:
                assert within(2, lambda: watcher.execute(WAITING).fetchone() is not None)
            old_server.execute("UPDATE customer SET version = version + 1")
            old_server.commit()
            migrated.result()
            checked = {"business_id": BUSINESS}
            found = old_server.execute(EVENT_RECORDS, checked).fetchall()
            assert [name for name, holds in found if not holds] == []
