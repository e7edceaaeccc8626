"""Three planted years equal the years that the API itself would have created."""

import asyncio
from uuid import UUID

import psycopg

from persistence.engine.pool import make_pool
from persistence.integrity.checks import CHECKS
from persistence.integrity.definitions import verdict
from persistence.ledger.rebuild import rebuild
from tests.api_server import ApiServer
from tools.bench import years

# Copies leave no trail and make no events, and have gaps in their numbers.
UNPROVEN = {"audit_rows", "event_records", "entry_numbers"}


class TestPlant:
    def test_copies_agree_in_all_that_reports_read(self, fresh_server: ApiServer) -> None:
        business = fresh_server.partner("Bench").business()
        url = fresh_server.database_url
        years.plant(business.api, url, UUID(business.id), 1_000)

        async def rebuilt() -> None:
            async with make_pool(url, size=1) as pool:
                await rebuild(pool, UUID(business.id))

        asyncio.run(rebuilt())
        offenders = {}
        with psycopg.connect(url) as connection:
            for name in CHECKS.keys() - UNPROVEN:
                told = {"business_id": business.id}
                found = connection.execute(verdict(CHECKS[name]), told).fetchone()
                assert found is not None
                offenders[name] = found[1]
        assert set(offenders.values()) == {None}, offenders
        text = (
            "SELECT count(*) FILTER (WHERE outstanding > 0), count(DISTINCT opened_on),"
            " (SELECT count(*) FROM journal_line), (SELECT count(*) FROM cash_line),"
            " (SELECT count(*) FROM tagged_line WHERE tag = 'wholesale' AND in_ledger) FROM invoice"
        )
        assert fresh_server.query(text) == [(9, 18, 927, 360, 108)]
