"""`accounting rebuild-balances`: wrong monthly balances are corrected."""

import psycopg
import pytest

from tests.api_server import ApiServer
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import sent
from tests.command_line import CommandLine
from tests.partner import Business
from tests.persistence.database.furnished_business import furnish
from tests.persistence.integrity.book_faults import faults_in, tamper

SPOILT = (
    "INSERT INTO account_month"
    " SELECT business_id, id, '2026-01-01', 7, 0, 1, 0 FROM account"
    " WHERE business_id = %s AND code = '1200'"
)


@pytest.fixture
def shops(own_server: ApiServer) -> list[Business]:
    partner = own_server.partner("Months")
    found = [partner.business(name=name) for name in ("One Ltd", "Two Ltd")]
    for shop in found:
        sent(shop, shop.customer(), 100)
        tamper(own_server, SPOILT, shop.id)
        assert faults_in(own_server, shop) == {"roll_ups"}
    return found


def balance(shop: Business) -> int:
    return shop.balance("1200")


class TestRebuildBalances:
    def test_mends_one_business_or_all(
        self, command_line: CommandLine, own_server: ApiServer, shops: list[Business]
    ) -> None:
        one, two = shops
        assert balance(one) == 107
        told = command_line.did("rebuild-balances", "--business", one.id)
        assert told.out == "The balances of 1 business are rolled up anew (2 months).\n"
        assert told.err == ""
        assert (balance(one), balance(two)) == (100, 107)
        assert (faults_in(own_server, one), faults_in(own_server, two)) == (set(), {"roll_ups"})
        assert "businesses are rolled up anew (" in command_line.did("rebuild-balances").out
        assert balance(two) == 100
        assert faults_in(own_server, two) == set()


class TestTaggedLines:
    def test_of_entries_by_hand_are_found_missing_and_written_again(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        shop = own_server.partner("Tags").business()
        lines = [debit("6000", 7, tags=["van", "north"]), credit("2400", 7)]
        shop.made(ENTRIES, {"entry_date": "2025-03-01", "lines": lines, "post": True})
        assert faults_in(own_server, shop) == set()
        tamper(own_server, "DELETE FROM tagged_line WHERE business_id = %s", shop.id)
        assert faults_in(own_server, shop) == {"tagged_lines"}
        command_line.did("rebuild-balances", "--business", shop.id)
        assert faults_in(own_server, shop) == set()


class TestLinesOfAServerBeforeTheCashBasis:
    """Lines of an older server, which ran after the migration without the cash basis."""

    ON_CASH = (
        "SELECT line_id, account_id, entry_date, debit, credit, document_id, tax_code_id, tax_rate,"
        " tax_part FROM cash_line WHERE business_id = %(b)s"
        " UNION ALL SELECT id, account_id, entry_date, debit, credit, document_id, NULL, NULL,"
        " in_cash::text FROM journal_line WHERE business_id = %(b)s"
    )

    # Such a server posts no vendor refund by the kind of its allocations.
    OF_BEFORE = (
        "business_id = %s AND entry_id NOT IN (SELECT id FROM journal_entry"
        " WHERE source_type IN ('vendor_refund', 'vendor_refund_payment'))"
    )

    def on_cash(self, server: ApiServer, business_id: str) -> set[tuple[object, ...]]:
        with psycopg.connect(server.database_url) as connection:
            return set(connection.execute(self.ON_CASH, {"b": business_id}).fetchall())

    def test_are_found_and_put_on_it(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        shop = furnish(own_server, own_server.partner("Before")).shop
        before = self.on_cash(own_server, shop.id)
        unmarked = "UPDATE journal_line SET in_cash = NULL, document_id = NULL"
        tamper(own_server, f"{unmarked} WHERE {self.OF_BEFORE}", shop.id)
        tamper(own_server, f"DELETE FROM cash_line WHERE {self.OF_BEFORE}", shop.id)
        assert faults_in(own_server, shop) == {"cash_lines", "tagged_lines", "roll_ups"}
        told = command_line.did("rebuild-balances", "--business", shop.id).out
        assert "Lines that a server before the cash basis posted are on it now (" in told
        assert self.on_cash(own_server, shop.id) == before
        assert faults_in(own_server, shop) == set()
        assert "cash basis" not in command_line.did("rebuild-balances", "--business", shop.id).out

    def test_need_the_login_that_owns_the_schema(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        shop = own_server.partner("Bound").business()
        sent(shop, shop.customer(), 100)
        statement = "UPDATE journal_line SET in_cash = NULL WHERE business_id = %s"
        tamper(own_server, statement, shop.id)
        with psycopg.connect(own_server.database_url, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS bound_login")
            connection.execute("CREATE ROLE bound_login LOGIN IN ROLE accounting_server")
        bound = own_server.database_url.replace("//accounting@", "//bound_login@")
        words = ("rebuild-balances", "--business", shop.id)
        told = command_line.run(*words, DATABASE_URL=bound)
        assert (told.code, "ACCOUNTING_ADMIN_DATABASE_URL" in told.err) == (2, True)
        settings = {"ACCOUNTING_ADMIN_DATABASE_URL": own_server.database_url}
        command_line.did(*words, DATABASE_URL=bound, **settings)
        assert faults_in(own_server, shop) == set()
