"""Invoices from before they were dated by their issue date keep the day of their sending."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from persistence.integrity.definitions import verdict
from persistence.integrity.trade_checks import DOCUMENT_CHECKS
from tests.api_server import Databases
from tests.persistence.database.earlier_schema import Connection, migrated_from

BUSINESS, PARTY = UUID(int=1), UUID(int=2)
INSERT = (
    "INSERT INTO {table} (business_id, id, version, created_at, updated_at, party_id, number,"
    " state, currency, issue_date, opened_at, opened_on, paid_on, lines, additional_discount,"
    " subtotal, discount_total, tax_total, total_amount, amounts_include_tax, paid, reserved,"
    " credited, written_off, refunded, settled, returned, reduced, transaction_tags)"
    " VALUES (%s, gen_random_uuid(), 1, now(), now(), %s, %s, %s, 'GBP', '2026-01-05',"
    " {opened}, {day}, {day}, '[]', 0, 0, 0, 0, 0, false, 0, 0, 0, 0, 0, '[]', '[]', '[]', '[]')"
)
SENT = "'2026-02-03T10:00:00Z'"


@pytest.fixture(scope="module")
def migrated(databases: Databases) -> Iterator[Connection]:
    with migrated_from(databases, "0037", keep) as connection:
        yield connection


def keep(connection: Connection) -> None:
    """Keep an invoice that was sent after its issue date, a draft, and a bill."""
    connection.execute("SET session_replication_role = replica")
    for table, number, state, opened, day in (
        ("invoice", "I", "open", SENT, "'2026-02-03'"),
        ("invoice", "D", "draft", "NULL", "NULL"),
        ("bill", "B", "open", SENT, "'2026-01-05'"),
    ):
        text = INSERT.format(table=table, opened=opened, day=day)
        connection.execute(text.encode(), (BUSINESS, PARTY, number, state))


class TestMigration:
    def test_each_says_what_dated_it(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT number, dated_by_issue, opened_on::text, delivery_date FROM invoice"
            " UNION ALL SELECT number, dated_by_issue, opened_on::text, delivery_date FROM bill"
            " ORDER BY number"
        )
        assert rows.fetchall() == [
            ("B", True, "2026-01-05", None),
            ("D", False, None, None),
            ("I", False, "2026-02-03", None),
        ]

    @pytest.mark.parametrize("name", ["invoice_days", "bill_days"])
    def test_their_days_hold_until_another_rule_is_claimed(
        self, migrated: Connection, name: str
    ) -> None:
        def holds() -> bool:
            text = verdict(DOCUMENT_CHECKS[name]).encode()
            [(checked, offender)] = migrated.execute(text, {"business_id": BUSINESS}).fetchall()
            return checked > 0 and offender is None

        assert holds()
        table = name.removesuffix("_days")
        migrated.execute(f"UPDATE {table} SET dated_by_issue = NOT dated_by_issue".encode())
        assert not holds()
        migrated.rollback()
