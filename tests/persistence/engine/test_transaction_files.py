"""Files of a writing: stored before its rows are sent, and deleted unless it commits."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from accounting.books.numbers import PendingNumber
from accounting.errors import RuleViolation, Unavailable
from persistence import tables
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import WriteSession
from persistence.engine.transaction import writing
from persistence.files.blobs import Blobs, Folder
from tests.partner import PATIENCE_SECONDS
from tests.persistence.engine.test_transaction import Handle, Writer, raising
from tests.persistence.engine.test_unit_of_work import customer_row, entry_row, invoice_row


class Cabinet:
    """A folder for the files of one writer."""

    def __init__(self, writer: Writer, root: Path) -> None:
        self.writer, self.root = writer, root

    def write(self, handle: Handle, **options: object) -> tuple[str, bool]:
        """Perform a writing that may store files; return its body and whether it was a replay."""
        blobs = Blobs(Folder(self.root))

        async def go(pool: object) -> object:
            work = self.writer.work(handle, **options)
            return await writing(pool, replace(work, contents=blobs))

        return self.writer.together(go)[0]

    @property
    def stored(self) -> tuple[list[str], set[str]]:
        """Return the names of the stored files and customers."""
        return self.keys, self.writer.customers()

    @property
    def keys(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()
        )


@pytest.fixture
def cabinet(writer: Writer, tmp_path: Path) -> Cabinet:
    return Cabinet(writer, tmp_path)


def staging_file(name: str, *failing: str) -> Handle:
    """Return a handler that stages a row and a file and fails with one state after the other."""
    left = list(failing)
    runs = iter(range(9))

    async def handle(session: WriteSession) -> None:
        session.staging.insert(tables.customer, customer_row(company_name=name))
        session.staging.contents[f"{name}/{next(runs)}"] = name.encode()
        if left:
            await execute_pipeline(session.connection, [raising(left.pop(0))])

    return handle


class TestContents:
    def test_files_are_stored_when_the_rows_are_committed(self, cabinet: Cabinet) -> None:
        assert cabinet.write(staging_file("kept")) == ("run 1", False)
        assert cabinet.stored == (["kept/0"], {"kept"})

    def test_each_run_has_files_of_its_own_and_only_the_last_are_kept(
        self, cabinet: Cabinet
    ) -> None:
        cabinet.write(staging_file("again", "40001", "40P01"))
        assert cabinet.stored == (["again/2"], {"again"})

    def test_a_preview_stores_no_file(self, cabinet: Cabinet) -> None:
        cabinet.write(staging_file("seen"), preview=True)
        assert cabinet.stored == ([], set())

    @pytest.mark.parametrize("key", [None, "kept refusal"])
    def test_a_refusal_stores_no_file(self, cabinet: Cabinet, key: str | None) -> None:
        async def refusing(session: WriteSession) -> None:
            await staging_file("refused")(session)
            raise RuleViolation("negative_amount", "No.")

        if key is None:
            with pytest.raises(RuleViolation):
                cabinet.write(refusing)
        else:
            assert cabinet.write(refusing, key=key) == ("negative_amount", False)
        assert cabinet.stored == ([], set())

    def test_a_replay_stores_no_file(self, cabinet: Cabinet) -> None:
        cabinet.write(staging_file("once"), key="replayed")
        assert cabinet.write(staging_file("twice"), key="replayed") == ("run 1", True)
        assert cabinet.keys == ["once/0"]

    def test_a_refused_commit_deletes_its_files(self, cabinet: Cabinet) -> None:
        async def headless(session: WriteSession) -> None:
            await staging_file("headless")(session)
            session.staging.insert(tables.journal_entry, entry_row("JE-1"))  # It has no lines.

        with pytest.raises(psycopg.errors.CheckViolation):
            cabinet.write(headless)
        assert cabinet.stored == ([], set())

    def test_a_file_that_cannot_be_stored_leaves_no_file_and_no_row(self, cabinet: Cabinet) -> None:
        (cabinet.root / "blocked").write_text("a file where a folder has to be")

        async def two(session: WriteSession) -> None:
            await staging_file("first")(session)
            session.staging.contents["blocked/key"] = b"second"

        with pytest.raises(Unavailable):
            cabinet.write(two)
        assert cabinet.stored == (["blocked"], set())

    def test_a_number_does_not_wait_for_the_file_of_another_transaction(
        self, writer: Writer, tmp_path: Path
    ) -> None:
        at_work, numbered = threading.Event(), threading.Event()

        class Slow(Folder):
            def put(self, key: str, content: bytes) -> None:
                at_work.set()
                assert numbered.wait(PATIENCE_SECONDS)
                super().put(key, content)

        async def numbering(session: WriteSession) -> None:
            buyer = customer_row()
            session.staging.insert(tables.customer, buyer)
            session.staging.insert(tables.invoice, invoice_row(buyer["id"], PendingNumber("INV")))

        async def filing(session: WriteSession) -> None:
            await numbering(session)
            session.staging.contents["slow/0"] = b"a file"

        async def first(pool: Pool) -> object:
            return await writing(pool, replace(writer.work(filing), contents=Blobs(Slow(tmp_path))))

        async def second(pool: Pool) -> object:
            assert await asyncio.to_thread(at_work.wait, PATIENCE_SECONDS)
            try:
                return await writing(pool, writer.work(numbering))
            finally:
                numbered.set()

        assert len(writer.together(first, second)) == 2
        assert (tmp_path / "slow/0").read_bytes() == b"a file"
