"""Staged rows: one flush in the right order, with numbers assigned and stale rows detected."""

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from accounting.books.numbers import PendingNumber
from persistence import tables
from persistence.engine.database_errors import STALE
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import make_pool
from persistence.engine.sql import Query
from persistence.engine.topology import SingleNode
from persistence.engine.unit_of_work import UnitOfWork
from tests.api_server import ApiServer
from tests.partner import Business

NOW = datetime(2025, 3, 1, tzinfo=UTC)
Row = dict[str, Any]


def customer_row(**facts: Any) -> Row:
    return {
        "id": uuid4(),
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
        "company_name": "Blue Door",
        "tax_exempt": False,
        "transaction_tags": ["a"],
        **facts,
    }


def invoice_row(party: UUID, number: Any, **facts: Any) -> Row:
    amounts = ("additional_discount", "subtotal", "discount_total", "tax_total", "total_amount")
    settled = ("paid", "reserved", "credited", "written_off", "refunded")
    return {
        "id": uuid4(),
        "version": 1,
        "created_at": NOW,
        "updated_at": NOW,
        "party_id": party,
        "number": number,
        "state": "open",
        "opened_at": NOW,
        "opened_on": NOW.date(),
        "currency": "GBP",
        "lines": [],
        "settled": [],
        "returned": [],
        "amounts_include_tax": False,
        "dated_by_issue": True,
        "reduced": [],
        "transaction_tags": [],
        **dict.fromkeys((*amounts, *settled), 0),
        **facts,
    }


def entry_row(number: Any, **facts: Any) -> Row:
    return {
        "id": uuid4(),
        "version": 1,
        "created_at": NOW,
        "sequence_number": number,
        "entry_date": date(2025, 3, 1),
        "posted_at": NOW,
        "description": "x",
        "currency": "GBP",
        "total": 5,
        "line_count": 2,
        "stream": "main",
        "created_by": "system",
        "source_type": "invoice",
        "source_id": uuid4(),
        **facts,
    }


@dataclass
class Flusher:
    """A writer that flushes rows of a business into transactions that are rolled back."""

    api_server: ApiServer
    business_id: UUID

    def flush(self, staging: UnitOfWork, *reads: str, as_json: bool = True) -> list[Any]:
        """Return how many rows each statement touched, then the rows that each query reads."""

        async def go() -> list[Any]:
            async with (
                make_pool(self.api_server.database_url, size=1) as pool,
                pool.connection() as connection,
            ):
                await connection.execute("BEGIN")
                await execute_pipeline(connection, [SingleNode().set_tenant(self.business_id)])
                results = await execute_pipeline(connection, [*staging.queries(as_json=as_json)])
                for result in results:
                    staging.learn(result.rows)
                read = [await (await connection.execute(text)).fetchall() for text in reads]
                await connection.rollback()
                return [[result.affected for result in results], *read]

        return asyncio.run(go())


def written(staging: UnitOfWork) -> list[str]:
    """Return the tables that a flush writes to, in its order."""
    texts = [query.text for query in staging.queries()]
    return [re.search(r"(?:INSERT INTO|UPDATE) (\w+)", text)[1] for text in texts]  # type: ignore[index]


@pytest.fixture
def flusher(api_server: ApiServer, shop: Business) -> Flusher:
    return Flusher(api_server, UUID(shop.id))


@pytest.fixture
def staging(shop: Business) -> UnitOfWork:
    return UnitOfWork(UUID(shop.id))


class TestStaging:
    def test_parents_are_inserted_first(self, flusher: Flusher, staging: UnitOfWork) -> None:
        buyer = customer_row()
        staging.insert(tables.invoice, invoice_row(buyer["id"], "A-1"))
        staging.insert(tables.customer, buyer)
        staging.insert(tables.customer, customer_row(company_name='Quote " and \\ and é'))
        affected, names = flusher.flush(
            staging, "SELECT company_name, transaction_tags FROM customer ORDER BY 1"
        )
        assert affected == [2, 1]
        assert [row["company_name"] for row in names] == ["Blue Door", 'Quote " and \\ and é']
        assert names[0]["transaction_tags"] == ["a"]

    @pytest.mark.parametrize("as_json", [True, False])
    def test_numbers_are_taken_once_and_rendered_by_the_database(
        self, flusher: Flusher, staging: UnitOfWork, as_json: bool
    ) -> None:
        buyer = customer_row()
        staging.insert(tables.customer, buyer)
        first, second = staging.take_number("JE-2031"), staging.take_number("JE-2031")
        for each in (first, second):
            staging.insert(tables.journal_entry, entry_row(each, reference=PendingNumber("INV")))
        staging.insert(tables.invoice, invoice_row(buyer["id"], PendingNumber("INV")))
        _, entries, invoices, series = flusher.flush(
            staging,
            "SELECT sequence_number, reference FROM journal_entry ORDER BY 1",
            "SELECT number FROM invoice",
            "SELECT series, last FROM number_series WHERE series <> 'EVENT' ORDER BY 1",
            as_json=as_json,
        )
        assert [tuple(row.values()) for row in entries] == [
            ("JE-2031-000001", "INV-000001"),
            ("JE-2031-000002", "INV-000001"),
        ]
        assert invoices == [{"number": "INV-000001"}]
        assert [tuple(row.values()) for row in series] == [("INV", 1), ("JE-2031", 2)]
        assert staging.number(second) == "JE-2031-000002"
        assert staging.number(PendingNumber("INV")) == "INV-000001"

    def test_several_series_give_their_numbers_to_rows(
        self, flusher: Flusher, staging: UnitOfWork
    ) -> None:
        series = ["JE-2031", "JE-2032", "JE-2033"]
        for name in series:
            staging.insert(tables.journal_entry, entry_row(staging.take_number(name)))
        _, entries, kept = flusher.flush(
            staging,
            "SELECT sequence_number FROM journal_entry ORDER BY 1",
            "SELECT current_setting('taken.JE_2032') AS last",
            as_json=False,
        )
        assert [row["sequence_number"] for row in entries] == [f"{name}-000001" for name in series]
        assert kept == [{"last": "1"}]
        assert staging.not_rolled_up == dict.fromkeys(series, 1)

    @pytest.mark.parametrize(
        ("rows", "pieces"), [(1, [1]), (3, [3]), (4, [4]), (7, [4, 3]), (131, [64, 64, 3])]
    )
    def test_many_rows_are_inserted_in_pieces(
        self, flusher: Flusher, staging: UnitOfWork, rows: int, pieces: list[int]
    ) -> None:
        for _ in range(rows):
            staging.insert(tables.customer, customer_row())
        assert flusher.flush(staging, as_json=False) == [pieces]

    def test_a_raised_series_continues_past_its_six_digits(
        self, flusher: Flusher, staging: UnitOfWork
    ) -> None:
        buyer = customer_row()
        staging.insert(tables.customer, buyer)
        staging.raise_series("INV", 999_998)
        staging.raise_series("INV", 17)
        numbers = [PendingNumber("INV", place) for place in range(2)]
        for each in numbers:
            staging.insert(tables.invoice, invoice_row(buyer["id"], each))
        _, found = flusher.flush(staging, "SELECT number FROM invoice ORDER BY length(number)")
        rendered = [staging.number(each) for each in numbers]
        assert rendered == ["INV-999999", "INV-1000000"]
        assert [row["number"] for row in found] == rendered

    def test_a_row_staged_twice_is_written_once_as_it_was_last(
        self, flusher: Flusher, staging: UnitOfWork
    ) -> None:
        fresh = customer_row()
        staging.insert(tables.customer, fresh)
        staging.update(tables.customer, {**fresh, "email": "a@b.example", "version": 7})
        affected, found = flusher.flush(staging, "SELECT email, version FROM customer")
        assert (affected, found) == ([1], [{"email": "a@b.example", "version": 1}])

    def test_a_change_of_some_columns_leaves_the_others(
        self, flusher: Flusher, shop: Business, staging: UnitOfWork
    ) -> None:
        first, second = (shop.customer(email=f"{name}@b.example") for name in "ab")
        known = {**customer_row(), "id": first["id"], "email": "new@b.example"}
        staging.update(tables.customer, known)
        staging.update(tables.customer, {"id": first["id"], "version": 1, "notes": "Rings twice"})
        staging.update(tables.customer, {"id": second["id"], "version": 1, "notes": "Never in"})
        affected, found = flusher.flush(
            staging,
            f"SELECT email, notes, version FROM customer WHERE business_id = '{shop.id}'"
            f" AND id IN ('{first['id']}', '{second['id']}') ORDER BY id",
        )
        assert affected == [1, 1]
        assert [tuple(row.values()) for row in found] == [
            ("new@b.example", "Rings twice", 2),
            ("b@b.example", "Never in", 2),
        ]

    def test_a_changed_row_may_take_a_number(
        self, flusher: Flusher, shop: Business, staging: UnitOfWork
    ) -> None:
        buyer = customer_row()
        draft = invoice_row(buyer["id"], None, state="draft")
        staging.insert(tables.customer, buyer)
        staging.insert(tables.invoice, draft)
        read = f"SELECT number FROM invoice WHERE id = '{draft['id']}'"
        sent = UnitOfWork(UUID(shop.id))
        number = sent.take_number("INV")
        sent.update(tables.invoice, {**draft, "number": number, "state": "open"})
        staging.follow_with(*sent.queries())
        *_, found = flusher.flush(staging, read)
        assert [row["number"][:4] for row in found] == ["INV-"]

    def test_a_change_counts_only_from_the_version_it_was_made_from(
        self, flusher: Flusher, shop: Business, staging: UnitOfWork
    ) -> None:
        buyer = shop.customer(email="old@b.example")
        known = {**customer_row(), "id": buyer["id"], "email": "new@b.example"}
        read = f"SELECT email, version FROM customer WHERE id = '{buyer['id']}'"
        staging.update(tables.customer, {**known, "version": 2})
        with pytest.raises(STALE):
            flusher.flush(staging, read)
        fresh = UnitOfWork(UUID(shop.id))
        fresh.update(tables.customer, {**known, "version": 1})
        affected, found = flusher.flush(fresh, read)
        assert (affected, found) == ([1], [{"email": "new@b.example", "version": 2}])

    def test_numbers_wait_for_the_first_row_that_carries_one(self, staging: UnitOfWork) -> None:
        known = invoice_row(uuid4(), "A-1")
        staging.update(tables.invoice, known)
        staging.insert(tables.journal_entry, entry_row(staging.take_number("JE-2031")))
        assert written(staging) == ["invoice", "number_series", "journal_entry"]
        staging.raise_series("INV", 7)  # A given number of this form, which the series must skip.
        assert written(staging) == ["number_series"] * 2 + ["invoice", "journal_entry"]

    def test_leading_and_following_statements_surround_the_rows(
        self, shop: Business, staging: UnitOfWork
    ) -> None:
        staging.insert(tables.journal_line, {"id": uuid4()})
        staging.insert(tables.journal_entry, entry_row(staging.take_number("JE-2031")))
        staging.insert(tables.customer, customer_row())
        staging.lead_with(SingleNode().set_tenant(UUID(shop.id)))
        staging.follow_with(SingleNode().set_tenant(UUID(shop.id)))
        texts = [query.text.split()[:3] for query in staging.queries()]
        assert (
            texts[0]
            == texts[-1]
            == ["SELECT", "set_config('app.business_id',", "%(business_id)s::text,"]
        )
        assert [each[2] for each in texts[1:-1]] == [
            "customer",
            "number_series",
            "journal_entry",
            "journal_line",
        ]

    def test_statements_that_precede_the_numbers_follow_the_rows_without_one(
        self, staging: UnitOfWork
    ) -> None:
        staging.precede_numbers(Query("UPDATE account SET version = version", {}))
        assert written(staging) == ["account"]
        staging.insert(tables.customer, customer_row())
        staging.insert(tables.journal_entry, entry_row(staging.take_number("JE-2031")))
        assert written(staging) == ["customer", "account", "number_series", "journal_entry"]

    def test_nothing_staged_sends_nothing(self, staging: UnitOfWork) -> None:
        assert list(staging.queries()) == []

    def test_a_fault_in_one_row_stores_none(self, flusher: Flusher, staging: UnitOfWork) -> None:
        staging.insert(tables.customer, customer_row())
        staging.insert(tables.customer, customer_row(company_name=None))
        with pytest.raises(psycopg.errors.CheckViolation):
            flusher.flush(staging)


class TestAbsorbedUnit:
    """Units of several items of a batch, which one flush sends."""

    @pytest.mark.parametrize("as_json", [True, False])
    def test_its_numbers_follow_those_before_it(
        self,
        flusher: Flusher,
        staging: UnitOfWork,
        shop: Business,
        as_json: bool,
    ) -> None:
        buyer = shop.customer()
        parts = [UnitOfWork(UUID(shop.id)) for _ in range(3)]
        taken = []
        for part in parts:
            numbers = [part.take_number("INV") for _ in range(2)]
            taken.append(numbers)
            for number in numbers:
                part.insert(tables.invoice, invoice_row(buyer["id"], number))
            assert staging.absorb(part)
        read = "SELECT number FROM invoice ORDER BY number"
        _, stored = flusher.flush(staging, read, as_json=as_json)
        names = [f"INV-{number:06d}" for number in range(1, 7)]
        assert [each["number"] for each in stored] == names
        rendered = [
            part.number(each) for part, own in zip(parts, taken, strict=True) for each in own
        ]
        assert rendered == names

    def test_its_statements_are_sent_once(self, staging: UnitOfWork, shop: Business) -> None:
        for _ in range(2):
            part = UnitOfWork(UUID(shop.id))
            part.insert(tables.customer, customer_row())
            part.precede_numbers(SingleNode().set_tenant(UUID(shop.id)))
            part.follow_with(SingleNode().set_tenant(UUID(shop.id)))
            assert staging.absorb(part)
        assert len(list(staging.queries())) == 3

    def test_one_that_does_more_than_insert_is_left_out(
        self, staging: UnitOfWork, shop: Business
    ) -> None:
        changing, leading = UnitOfWork(UUID(shop.id)), UnitOfWork(UUID(shop.id))
        changing.update(tables.customer, customer_row())
        leading.lead_with(SingleNode().set_tenant(UUID(shop.id)))
        assert not staging.absorb(changing)
        assert not staging.absorb(leading)
        assert list(staging.queries()) == []

    def test_one_that_raises_a_series_in_use_is_left_out(
        self, staging: UnitOfWork, shop: Business
    ) -> None:
        taking, raising = UnitOfWork(UUID(shop.id)), UnitOfWork(UUID(shop.id))
        taking.take_number("INV")
        raising.raise_series("INV", 40)
        assert staging.absorb(taking)
        assert not staging.absorb(raising)
        other = UnitOfWork(UUID(shop.id))
        assert other.absorb(raising)
        assert not other.absorb(taking)
