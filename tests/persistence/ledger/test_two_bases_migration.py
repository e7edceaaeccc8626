"""Books from before the cash basis get it from the settlements of their lines."""

from collections.abc import Iterator

import pytest

from persistence.integrity import ledger_checks
from persistence.integrity.definitions import verdict
from tests.api_server import Databases
from tests.persistence.database.earlier_schema import Connection, migrated_from

CHECKS = {**ledger_checks.CASH_CHECKS, **ledger_checks.TAGS_CHECKS}
BUSINESS = "b0000000-0000-0000-0000-000000000001"
ACCOUNTS = {
    code: f"a0000000-0000-0000-0000-00000000{code}"
    for code in ("1000", "1200", "1300", "2100", "2200", "2250", "2300", "4000", "4100", "6200")
}
INVOICE, PAYMENT, CREDIT, WRITE_OFF, REFUND, PAID_BACK, BILL, ALLOCATION = (
    f"d0000000-0000-0000-0000-00000000000{n}" for n in range(1, 9)
)
CODE = "c0000000-0000-0000-0000-000000000001"


def part(code: str, amount: int, *mark: str) -> str:
    return f'["{ACCOUNTS[code]}", {amount}{"".join(f""", "{each}" """ for each in mark)}]'


NET, OUTPUT = (CODE, "20", "net"), (CODE, "20", "output")
SETTLED = f"[{part('4000', -500, *NET)}, {part('2200', -100, *OUTPUT)}]"
ENTRIES: list[tuple[str, str, str, list[tuple[str, int, str | None, str]]]] = [
    (
        *("invoice", "main", INVOICE),
        [("1200", 1200, None, "[]"), ("4000", -1000, None, "[]"), ("2200", -200, None, "[]")],
    ),
    (
        *("payment", "main", PAYMENT),
        [("1000", 700, None, "[]"), ("1200", -600, INVOICE, SETTLED), ("2100", -100, None, "[]")],
    ),
    ("customer_credit", "main", CREDIT, [("4100", 60, None, "[]"), ("2250", -60, None, "[]")]),
    (
        *("customer_credit", "applied", CREDIT),
        [
            ("2250", 60, CREDIT, f"[{part('4100', 60)}]"),
            ("1200", -60, INVOICE, f"[{part('4000', -50, *NET)}, {part('2200', -10, *OUTPUT)}]"),
        ],
    ),
    (
        *("write_off", "main", WRITE_OFF),
        [("6200", 120, None, "[]"), ("1200", -120, INVOICE, f"[{part('4000', -120)}]")],
    ),
    ("refund", "main", REFUND, [("4100", 40, None, "[]"), ("2300", -40, None, "[]")]),
    (
        *("refund_payment", "main", PAID_BACK),
        [("2300", 40, REFUND, f"[{part('4100', 40)}]"), ("1000", -40, None, "[]")],
    ),
    ("bill", "self_assessed", BILL, [("1300", 20, None, "[]"), ("2200", -20, None, "[]")]),
]
# By code, debits less credits: each remaining line, and each part.
ON_CASH = {
    PAYMENT: {"1000": 700, "2100": -100},
    INVOICE: {"4000": -550, "2200": -110, "4100": 40},
    CREDIT: {"4100": 60},
    PAID_BACK: {"1000": -40},
    BILL: {"1300": 20, "2200": -20},
}


@pytest.fixture(scope="module")
def migrated(databases: Databases) -> Iterator[Connection]:
    with migrated_from(databases, "0023", post) as connection:
        yield connection


def post(connection: Connection) -> None:
    """Post as the previous version did; the last two entries are not rolled up yet."""
    connection.execute("SET session_replication_role = replica")
    connection.execute(
        "INSERT INTO business (id, partner_id, version, created_at, updated_at, external_id,"
        " legal_name, name, entity_type, email, base_currency, accounting_method, fiscal_year_end,"
        " coa_language, activation_at, tokens_valid_from) VALUES (%s, gen_random_uuid(), 1, now(),"
        " now(), 'x', 'x', 'x', 'limited', 'x@example.com', 'GBP', 'cash', '2000-12-31', 'en',"
        " now(), now())",
        (BUSINESS,),
    )
    for code, id_ in ACCOUNTS.items():
        connection.execute(
            "INSERT INTO account (business_id, id, version, created_at, updated_at, code, name,"
            " account_type, account_subtype) VALUES (%s, %s, 1, now(), now(), %s, 'x', 'asset',"
            " 'current_assets')",
            (BUSINESS, id_, code),
        )
    connection.execute(
        "INSERT INTO tax_code (business_id, id, version, created_at, updated_at, code, name,"
        " direction, treatment, rates, tax_account_id, boxes, is_default) VALUES (%s, %s, 1, now(),"
        " now(), 'S20', 'x', 'sales', 'standard', '[]', %s, '{}', true)",
        (BUSINESS, CODE, ACCOUNTS["2200"]),
    )
    connection.execute(
        "INSERT INTO number_series (business_id, series, last, rolled_up)"
        " VALUES (%s, 'JE-2026', %s, %s)",
        (BUSINESS, len(ENTRIES), len(ENTRIES) - 2),
    )
    connection.execute(
        "INSERT INTO write_off (business_id, id, version, created_at, updated_at, document_id,"
        " amount, account_id, write_off_at, split, tags)"
        " VALUES (%s, %s, 1, now(), now(), %s, 120, %s, now(), '[]', '[]')",
        (BUSINESS, WRITE_OFF, INVOICE, ACCOUNTS["6200"]),
    )
    connection.execute(
        "INSERT INTO invoice_refund_allocation (business_id, id, version, refund_id, document_id,"
        " amount, split, released) VALUES (%s, %s, 1, %s, %s, 40, '[]', '[]')",
        (BUSINESS, ALLOCATION, REFUND, INVOICE),
    )
    connection.execute(
        "INSERT INTO invoice (business_id, id, version, created_at, updated_at, party_id, number,"
        " state, currency, opened_at, opened_on, lines, additional_discount, subtotal,"
        " discount_total, tax_total, total_amount, paid, reserved, credited, written_off, refunded,"
        " settled, returned, transaction_tags) VALUES (%s, %s, 1, now(), now(), %s, 'N', 'open',"
        " 'GBP', now(), now(), '[]', 0, 1000, 0, 200, 1200, 600, 0, 60, 120, 40, '[]', '[]',"
        ' \'["fair", "web"]\')',
        (BUSINESS, INVOICE, INVOICE),
    )
    for place, (source, stream, source_id, lines) in enumerate(ENTRIES, start=1):
        total = sum(amount for _, amount, *_ in lines if amount > 0)
        [(entry_id,)] = connection.execute(
            "INSERT INTO journal_entry (business_id, id, version, created_at, sequence_number,"
            " entry_date, posted_at, description, currency, total, stream, created_by,"
            " source_type, source_id, line_count) VALUES (%s, gen_random_uuid(), 1, now(), %s,"
            " '2026-01-31', now(), 'x', 'GBP', %s, %s, 'system', %s, %s, %s) RETURNING id",
            (BUSINESS, f"JE-2026-{place:06}", total, stream, source, source_id, len(lines)),
        ).fetchall()
        for number, (code, amount, settles, split) in enumerate(lines, start=1):
            connection.execute(
                "INSERT INTO journal_line (business_id, id, entry_id, line_number, line_count,"
                " account_id, entry_date, debit, credit, settles_id, split)"
                " VALUES (%s, gen_random_uuid(), %s, %s, %s, %s, '2026-01-31', %s, %s, %s, %s)",
                (
                    *(BUSINESS, entry_id, number, len(lines), ACCOUNTS[code]),
                    *(max(amount, 0), max(-amount, 0), settles, split),
                ),
            )


class TestMigration:
    def test_each_document_has_its_paid_parts_on_cash(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT document_id::text, a.code, sum(l.debit - l.credit)::bigint FROM ("
            "  SELECT document_id, account_id, debit, credit FROM journal_line WHERE in_cash"
            "  UNION ALL SELECT document_id, account_id, debit, credit FROM cash_line"
            ") AS l JOIN account a ON a.id = l.account_id GROUP BY 1, 2"
        )
        found: dict[str, dict[str, int]] = {}
        for document, code, amount in rows:
            found.setdefault(document, {})[code] = amount
        assert found == ON_CASH

    def test_every_line_names_its_document(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT source_type, array_agg(DISTINCT document_id::text) FROM journal_line l"
            " JOIN journal_entry e ON e.id = l.entry_id GROUP BY 1"
        )
        assert {source: set(about) for source, about in rows} == {
            "invoice": {INVOICE},
            "payment": {PAYMENT, INVOICE},
            "customer_credit": {CREDIT, INVOICE},
            "write_off": {INVOICE},
            "refund": {INVOICE},
            "refund_payment": {INVOICE, PAID_BACK},
            "bill": {BILL},
        }

    def test_parts_keep_their_tax(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT tax_part, sum(credit)::bigint, min(tax_rate::text) FROM cash_line"
            " WHERE tax_code_id = %s GROUP BY 1 ORDER BY 1",
            (CODE,),
        )
        assert rows.fetchall() == [("net", 550, "20"), ("output", 110, "20")]

    def test_months_have_the_rolled_up_amounts(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT a.code, cash_debits, cash_credits, cash_debit_count, cash_credit_count"
            " FROM account_month m JOIN account a ON a.id = m.account_id"
            " WHERE cash_debit_count + cash_credit_count > 0 ORDER BY 1"
        )
        # They do not contain the returned refund and the self-assessed tax yet.
        assert rows.fetchall() == [
            ("1000", 700, 0, 1, 0),
            ("2100", 0, 100, 0, 1),
            ("2200", 0, 110, 0, 2),
            ("4000", 0, 550, 0, 2),
            ("4100", 60, 0, 1, 0),
        ]

    def test_months_of_tax_have_the_settled_amounts(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT month::text, tax_part, debits, credits, cash_debits, cash_credits"
            " FROM tax_month ORDER BY tax_part"
        )
        assert rows.fetchall() == [
            ("2026-01-01", "net", 0, 0, 0, 550),
            ("2026-01-01", "output", 0, 0, 0, 110),
        ]

    def test_months_have_the_amounts_without_a_code(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT a.code, uncoded FROM account_month m JOIN account a ON a.id = m.account_id"
            " ORDER BY 1"
        )
        assert rows.fetchall() == [
            *(("1000", 700), ("2100", -100), ("2200", -200), ("4000", -1_000), ("4100", 100)),
        ]

    def test_the_lines_of_documents_are_found_by_their_tags(self, migrated: Connection) -> None:
        rows = migrated.execute(
            "SELECT t.tag, a.code, sum(debit - credit)::bigint FROM tagged_line t"
            " JOIN account a ON a.id = t.account_id WHERE in_cash GROUP BY 1, 2"
        )
        found: dict[str, dict[str, int]] = {}
        for tag, code, amount in rows:
            found.setdefault(tag, {})[code] = amount
        assert found == dict.fromkeys(("", "fair", "web"), ON_CASH[INVOICE])

    @pytest.mark.parametrize("name", CHECKS)
    def test_migrated_books_pass_each_check_of_the_cash_basis(
        self, migrated: Connection, name: str
    ) -> None:
        told = {"business_id": BUSINESS}
        [(checked, offender)] = migrated.execute(verdict(CHECKS[name]), told).fetchall()
        assert (checked > 0, offender) == (True, None)
