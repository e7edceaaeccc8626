"""Books from before tax codes get the codes of their country, and stay proven."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounting.books.chart import STARTING_CHART, Role
from accounting.tax.starting_codes import starting_codes
from persistence.integrity.checks import CHECKS
from persistence.integrity.definitions import verdict
from tests.api_server import Databases
from tests.persistence.database.earlier_schema import Connection, migrated_from

WITHHELD = (Role.WITHHOLDING_TAX_RECEIVABLE, Role.WITHHOLDING_TAX_PAYABLE)
BRITISH, SPANISH, NOWHERE = (f"b0000000-0000-0000-0000-00000000000{n}" for n in (1, 2, 3))
BUSINESS = """
INSERT INTO business (id, partner_id, version, created_at, updated_at, external_id, legal_name,
  name, entity_type, email, country, base_currency, accounting_method, fiscal_year_end,
  coa_language, activation_at, tokens_valid_from)
SELECT %(id)s, id, 1, now(), now(), %(id)s, 'x', 'x', 'limited', 'x@example.com', %(country)s,
  'GBP', 'accrual', '2000-12-31', %(language)s, now(), now() FROM partner
"""
ACCOUNT = """
INSERT INTO account (business_id, id, version, created_at, updated_at, code, name, role,
  account_type, account_subtype)
VALUES (%s, gen_random_uuid(), 1, now(), now(), %s, %s, %s, %s, %s)
"""
# 5.00 are spent from cash on hand.
ENTRY = """
INSERT INTO number_series (business_id, series, last, rolled_up)
VALUES (%(id)s, 'JE-2026', 1, 0);
INSERT INTO journal_entry (business_id, id, version, created_at, sequence_number, entry_date,
  posted_at, description, currency, total, stream, created_by, source_type, source_id, line_count)
VALUES (%(id)s, %(id)s, 1, now(), 'JE-2026-000001', '2026-01-31', now(), 'x', 'GBP', 500, 'manual',
  'manual', 'manual', %(id)s, 2);
INSERT INTO journal_line (business_id, id, entry_id, line_number, account_id, entry_date, debit,
  credit, split, line_count)
SELECT %(id)s, gen_random_uuid(), %(id)s, CASE role WHEN 'cash' THEN 2 ELSE 1 END, id, '2026-01-31',
  CASE role WHEN 'cash' THEN 0 ELSE 500 END, CASE role WHEN 'cash' THEN 500 ELSE 0 END, '[]', 2
FROM account WHERE business_id = %(id)s AND role IN ('cash', 'general_expenses');
"""


@pytest.fixture(scope="module")
def migrated(databases: Databases) -> Iterator[Connection]:
    """A British, a Spanish and a third business with books, migrated."""
    with migrated_from(databases, "0017", fill) as connection:
        yield connection


def fill(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO partner (id, name, created_at, tokens_valid_from)"
        " VALUES (gen_random_uuid(), 'x', now(), now())"
    )
    opened(connection, BRITISH, "GB", "en")
    opened(connection, SPANISH, "ES", "es")
    opened(connection, NOWHERE, None, "de")
    own = (("1310", "Deposits", "asset", "current_assets"), ("1311", "B", "asset", "x"))
    for code, name, kind, subtype in own:
        connection.execute(ACCOUNT, (BRITISH, code, name, None, kind, subtype))
    connection.execute("SELECT seal_audit_trail(id) FROM business")


def opened(connection: Connection, business: str, country: str | None, language: str) -> None:
    """Open a business as the previous version did, and post an entry."""
    told = {"id": business, "country": country, "language": language}
    connection.execute(BUSINESS, told)
    for each in STARTING_CHART:
        if each.role not in WITHHELD:
            row = (business, each.code, each.name, each.role, each.account_type)
            connection.execute(ACCOUNT, (*row, each.account_subtype))
    connection.execute(ENTRY, {"id": business})


def rows_of(connection: Connection, text: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return connection.execute(text, parameters).fetchall()


class TestMigration:
    @pytest.mark.parametrize("business", [BRITISH, SPANISH, NOWHERE])
    def test_the_books_are_proven_as_before(self, migrated: Connection, business: str) -> None:
        told = {"business_id": business}
        faults = {
            (name, offender)
            for name, text in CHECKS.items()
            for _, offender in migrated.execute(verdict(text), told)
            if offender is not None
        }
        assert faults == set()

    def test_each_change_is_in_the_trail_as_the_operators(self, migrated: Connection) -> None:
        records = rows_of(
            migrated,
            "SELECT object_type, change, actor_kind, count(*) FROM audit_record"
            " WHERE business_id = %s AND (object_type = 'tax_code' OR object_id IN ("
            "   SELECT id FROM account WHERE business_id = %s AND role LIKE 'withholding%%'))"
            " GROUP BY 1, 2, 3 ORDER BY 1",
            BRITISH,
            BRITISH,
        )
        assert records == [
            ("account", "insert", "operator", 2),
            ("tax_code", "insert", "operator", len(starting_codes("GB"))),
        ]

    @pytest.mark.parametrize(
        ("business", "accounts"),
        [
            (BRITISH, ["1312 Withholding tax recoverable", "2210 Withholding tax payable"]),
            (SPANISH, ["1310 Retenciones por recuperar", "2210 Retenciones por pagar"]),
            (NOWHERE, ["1310 Anrechenbare Quellensteuer", "2210 Abzuführende Quellensteuer"]),
        ],
    )
    def test_each_gets_two_accounts_in_its_language_and_next_to_its_own(
        self, migrated: Connection, business: str, accounts: list[str]
    ) -> None:
        found = rows_of(
            migrated,
            "SELECT code || ' ' || name FROM account"
            " WHERE business_id = %s AND role = ANY(%s) ORDER BY code",
            business,
            list(WITHHELD),
        )
        assert [each for (each,) in found] == accounts

    @pytest.mark.parametrize(
        ("business", "country"), [(BRITISH, "GB"), (SPANISH, "ES"), (NOWHERE, None)]
    )
    def test_each_gets_the_codes_that_its_country_starts_with(
        self, migrated: Connection, business: str, country: str | None
    ) -> None:
        found = rows_of(
            migrated,
            "SELECT c.code, c.name, c.treatment, c.is_default, a.role FROM tax_code c"
            " JOIN account a ON a.business_id = c.business_id AND a.id = c.tax_account_id"
            " WHERE c.business_id = %s",
            business,
        )
        expected = {
            (each.code, each.name, each.treatment.value, each.is_default, each.role.value)
            for each in starting_codes(country)
        }
        assert set(found) == expected

    def test_earlier_postings_name_no_tax_code(self, migrated: Connection) -> None:
        found = rows_of(
            migrated, "SELECT DISTINCT tax_code_id, tax_rate, tax_part FROM journal_line"
        )
        assert found == [(None, None, None)]
