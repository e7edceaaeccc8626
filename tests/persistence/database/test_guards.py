"""Refusals of the database itself, tested with plain SQL in the server's role."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import paid, part, sent
from tests.partner import Business, Partner
from tests.persistence.server_role import as_server

Connection = psycopg.Connection[tuple[Any, ...]]
JUNE = date(2025, 6, 1)


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def ledger(api_server: ApiServer, shop: Business) -> Iterator[Ledger]:
    """The ledger of a business with an invoice of 100, of which 60 are paid and 30 reserved."""
    buyer = shop.customer()
    invoice = sent(shop, buyer, 100)
    paid(shop, buyer, 60, part(invoice, 60))
    paid(shop, buyer, 30, part(invoice, 30), status="pending")
    ledger = Ledger(api_server, shop)
    yield ledger
    ledger.audit()


@pytest.fixture
def server(api_server: ApiServer, shop: Business, ledger: Ledger) -> Iterator[Connection]:
    with ledger.untouched(), as_server(api_server, shop.id) as connection:
        yield connection


@contextmanager
def broken(constraint: str) -> Iterator[None]:
    """Check that a statement is refused by a constraint."""
    with pytest.raises(errors.IntegrityError) as refused:
        yield
    assert refused.value.diag.constraint_name == constraint


def post(connection: Connection, business: str, on: date, total: int, **facts: Any) -> UUID:
    """Insert the head of an entry of two lines, by default; return its id."""
    entry = uuid4()
    connection.execute(
        "INSERT INTO journal_entry (business_id, id, version, created_at, sequence_number,"
        " entry_date, posted_at, description, currency, total, stream, created_by, source_type,"
        " source_id, reversal_of_id, line_count) VALUES (%(business)s, %(id)s, 1, now(),"
        " %(number)s, %(on)s, now(), 'x', 'GBP', %(total)s, 'main', 'system', 'invoice', %(id)s,"
        " %(reversal_of)s, %(lines)s)",
        {
            "business": business,
            "id": entry,
            "number": f"T-{entry}",
            "on": on,
            "total": total,
            "reversal_of": None,
            "lines": 2,
            **facts,
        },
    )
    return entry


def add_lines(
    connection: Connection,
    business: str,
    entry: UUID,
    *lines: tuple[str, int],
    first: int = 1,
    count: int | None = None,
) -> None:
    """Insert lines in one statement: account codes and signed amounts."""
    connection.execute(
        "INSERT INTO journal_line (business_id, id, entry_id, line_number, line_count, account_id,"
        " entry_date, debit, credit, split)"
        " SELECT %(business)s, gen_random_uuid(), %(entry)s, %(first)s + row_number() OVER () - 1,"
        " %(count)s, a.id, '2025-06-01', greatest(l.amount, 0), greatest(-l.amount, 0), '[]'"
        " FROM unnest(%(codes)s::text[], %(amounts)s::bigint[]) AS l (code, amount)"
        " JOIN account a ON a.business_id = %(business)s AND a.code = l.code",
        {
            "business": business,
            "entry": entry,
            "first": first,
            "count": count or len(lines),
            "codes": [code for code, _ in lines],
            "amounts": [amount for _, amount in lines],
        },
    )


class TestEntries:
    def test_a_balanced_entry_is_accepted(self, server: Connection, shop: Business) -> None:
        entry = post(server, shop.id, JUNE, 5, lines=3)
        add_lines(server, shop.id, entry, ("1100", 5), ("4000", -3), ("4500", -2))
        server.execute("SET CONSTRAINTS ALL IMMEDIATE")

    @pytest.mark.parametrize(
        ("on", "lines"),
        [
            (JUNE, [("1100", 5), ("4000", -4)]),
            (JUNE, [("1100", 5)]),
            (JUNE, [("1100", 4), ("4000", -4)]),
            (JUNE, [("1100", 6), ("4000", -6)]),
            (JUNE, []),
            (date(2025, 6, 2), [("1100", 5), ("4000", -5)]),  # Its lines are on another day.
        ],
    )
    def test_an_entry_that_does_not_balance_on_its_day_is_refused(
        self, server: Connection, shop: Business, on: date, lines: list[tuple[str, int]]
    ) -> None:
        entry = post(server, shop.id, on, 5, lines=len(lines))
        add_lines(server, shop.id, entry, *lines)
        with broken("journal_entry_balanced"):
            server.execute("SET CONSTRAINTS ALL IMMEDIATE")

    @pytest.mark.parametrize(
        ("at", "count", "constraint"),
        [
            (3, 4, "journal_line_business_id_entry_id_line_count_fkey"),
            (3, 2, "journal_line_counted_check"),
            (0, 2, "journal_line_counted_check"),
            (1, 2, "journal_line_business_id_entry_id_line_number_key"),
        ],
    )
    def test_no_line_is_added_later(
        self,
        server: Connection,
        shop: Business,
        ledger: Ledger,
        at: int,
        count: int,
        constraint: str,
    ) -> None:
        [first, *_] = ledger.entries()
        added = ("1100", 100), ("4000", -100)
        with broken(constraint):
            add_lines(server, shop.id, UUID(first.id), *added, first=at, count=count)

    @pytest.mark.parametrize(("debit", "credit"), [(0, 0), (5, 5), (-5, 0), (0, -5)])
    def test_a_line_has_a_debit_or_a_credit(
        self, server: Connection, shop: Business, debit: int, credit: int
    ) -> None:
        entry = post(server, shop.id, JUNE, 5)
        with pytest.raises(errors.CheckViolation):
            server.execute(
                "INSERT INTO journal_line (business_id, id, entry_id, line_number, line_count,"
                " account_id, entry_date, debit, credit, split)"
                " SELECT business_id, gen_random_uuid(), %s, 1, 2, id, '2025-06-01', %s, %s,"
                " '[]' FROM account WHERE code = '1100'",
                (entry, debit, credit),
            )

    def test_an_entry_in_the_locked_period_is_refused(
        self, api_server: ApiServer, shop: Business, ledger: Ledger
    ) -> None:
        with ledger.locked("2025-05-31"), as_server(api_server, shop.id) as server:
            post(server, shop.id, JUNE, 5)
            with broken("journal_entry_after_lock_date"):
                post(server, shop.id, date(2025, 5, 31), 5)

    def test_an_entry_in_the_locked_period_among_others_is_refused(
        self, api_server: ApiServer, shop: Business, ledger: Ledger
    ) -> None:
        among = (
            "INSERT INTO journal_entry (business_id, id, created_at, version, sequence_number,"
            " entry_date, posted_at, description, currency, total, stream, created_by, source_type,"
            " source_id, line_count) SELECT %s, gen_random_uuid(), now(), 1, gen_random_uuid(),"
            " day, now(), 'x', 'GBP', 5, 'main', 'system', 'invoice', gen_random_uuid(), 2"
            " FROM unnest(%s::date[]) AS day"
        )
        days = [date(2025, 5, 31), JUNE, date(2025, 7, 1)]
        with ledger.locked("2025-05-31"), as_server(api_server, shop.id) as server:
            assert server.execute(among, (shop.id, days[1:])).rowcount == 2
            with broken("journal_entry_after_lock_date"):
                server.execute(among, (shop.id, days))

    def test_an_entry_is_reversed_once(
        self, server: Connection, shop: Business, ledger: Ledger
    ) -> None:
        [first, *_] = ledger.entries()
        post(server, shop.id, JUNE, 5, reversal_of=first.id)
        with pytest.raises(errors.UniqueViolation):
            post(server, shop.id, JUNE, 5, reversal_of=first.id)

    def test_a_number_is_given_once(self, server: Connection, shop: Business) -> None:
        post(server, shop.id, JUNE, 5, number="once")
        with pytest.raises(errors.UniqueViolation):
            post(server, shop.id, JUNE, 5, number="once")


class TestAmounts:
    @pytest.mark.parametrize(
        "change",
        [
            "paid = paid + 11",
            "reserved = reserved + 11",
            "credited = 11",
            "written_off = 11",
            "total_amount = 89",
            "paid = -1",
            "refunded = -1",
        ],
    )
    def test_an_invoice_is_never_settled_beyond_its_total(
        self, server: Connection, change: str
    ) -> None:
        with pytest.raises(errors.CheckViolation):
            server.execute(f"UPDATE invoice SET {change}")

    def test_an_invoice_is_settled_up_to_its_total(self, server: Connection) -> None:
        assert server.execute("UPDATE invoice SET paid = paid + 10").rowcount == 1

    @pytest.mark.parametrize(
        "change",
        ["allocated = total + 1", "applied = allocated + 1", "total = 0", "fee = -1"],
    )
    def test_a_payment_never_gives_more_than_it_has(self, server: Connection, change: str) -> None:
        with pytest.raises(errors.CheckViolation):
            server.execute(f"UPDATE invoice_payment SET {change}")

    def test_a_payment_settles_an_invoice_through_one_live_allocation(
        self, server: Connection
    ) -> None:
        with pytest.raises(errors.UniqueViolation):
            server.execute(
                "INSERT INTO invoice_allocation (business_id, id, version, payment_id,"
                " document_id, document_date, amount, split) SELECT business_id,"
                " gen_random_uuid(), 1, payment_id, document_id, document_date, 1, '[]'"
                " FROM invoice_allocation LIMIT 1"
            )

    @pytest.mark.parametrize(
        "change", ["state = 'paid'", "number = NULL", "opened_at = NULL", "party_id = id"]
    )
    def test_an_open_invoice_has_a_state_a_number_a_day_and_a_customer(
        self, server: Connection, change: str
    ) -> None:
        with pytest.raises(errors.IntegrityError):
            server.execute(f"UPDATE invoice SET {change}")
