"""The cache of tax codes: each process reads them once, and again after any change."""

import pytest

from accounting.tax.codes import TaxCodes
from persistence.engine.sessions import WriteSession
from persistence.engine.transaction import writing
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.ledger.journal_writer import JournalWriter


@pytest.fixture
def process(api_server: ApiServer, acme: Partner) -> JournalWriter:
    return JournalWriter(api_server, acme.business())


def seen(process: JournalWriter) -> TaxCodes:
    return process.read(lambda books: books.tax_codes.all())


def used(process: JournalWriter) -> tuple[TaxCodes, int]:
    """Return the tax codes that a writing uses, and how often it ran."""
    found: list[TaxCodes] = []
    runs: list[WriteSession] = []

    async def handle(session: WriteSession) -> None:
        runs.append(session)
        found.append(await process.books(session).tax_codes.all())

    process.run(lambda pool: writing(pool, process.writer.work(handle)))
    return found[-1], len(runs)


def names(codes: TaxCodes) -> dict[str, str]:
    return {each.code: each.name for each in codes.codes}


def change(business: Business, code: str, name: str) -> None:
    [found] = [
        each for each in business.api.get("tax-codes/").json()["results"] if each["code"] == code
    ]
    business.api.patch(f"tax-codes/{found['id']}/", json={"name": name})


class TestTaxCodesSeen:
    def test_unchanged_tax_codes_are_not_read_again(self, process: JournalWriter) -> None:
        first = seen(process)
        assert "S20" in names(first)
        assert seen(process) is first

    def test_tax_codes_that_another_process_changed_are_read_again(
        self, process: JournalWriter
    ) -> None:
        assert names(seen(process))["S20"] != "Sold at 20 %"
        change(process.business, "S20", "Sold at 20 %")
        assert names(seen(process))["S20"] == "Sold at 20 %"

    def test_a_restored_database_with_as_many_changes_is_read_again(
        self, api_server: ApiServer, process: JournalWriter
    ) -> None:
        change(process.business, "S20", "Changed, and lost with the database")
        seen(process)
        api_server.watcher.execute(
            "UPDATE tax_code SET name = 'Changed after it came back',"
            " updated_at = updated_at + interval '1 second'"
            " WHERE business_id = %s AND code = 'S20'",
            [process.business.id],
        )
        assert names(seen(process))["S20"] == "Changed after it came back"

    def test_a_writing_uses_the_cached_codes(self, process: JournalWriter) -> None:
        first, _ = used(process)
        assert "S20" in names(first)
        assert used(process) == (first, 1)
        assert seen(process) is first

    def test_a_writing_runs_again_when_another_process_changed_a_code(
        self, process: JournalWriter
    ) -> None:
        used(process)
        change(process.business, "S20", "Sold at 20 %")
        found, runs = used(process)
        assert (names(found)["S20"], runs) == ("Sold at 20 %", 2)
        assert used(process) == (found, 1)
