"""Files beside a writing: put when the flush has succeeded, gone again unless it commits."""

from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from accounting.errors import RuleBroken, Unavailable
from persistence import tables
from persistence.blobs import Blobs, Folder
from persistence.pipeline import exchange
from persistence.sessions import Writing
from persistence.transaction import writing
from tests.house import House
from tests.partnership import Business, Partnership
from tests.persistence.test_staging import customer_row, entry_row
from tests.persistence.test_transaction import Desk, Handle, raising


@pytest.fixture
def shop(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture
def desk(house: House, shop: Business) -> Desk:
    return Desk(house, shop)


class Cabinet:
    """A folder for the files of one desk."""

    def __init__(self, desk: Desk, root: Path) -> None:
        self.desk, self.root = desk, root

    def write(self, handle: Handle, **options: object) -> tuple[str, bool]:
        """Do one writing that may keep files."""
        blobs = Blobs(Folder(self.root))

        async def go(pool: object) -> object:
            work = self.desk.work(handle, **options)
            return await writing(pool, replace(work, blobs=blobs))

        return self.desk.together(go)[0]

    @property
    def keys(self) -> list[str]:
        return sorted(
            str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()
        )


@pytest.fixture
def cabinet(desk: Desk, tmp_path: Path) -> Cabinet:
    return Cabinet(desk, tmp_path)


def staging_file(name: str, *failing: str) -> Handle:
    """A handler that stages a row and a file and fails with one state after the other."""
    left = list(failing)
    runs = iter(range(9))

    async def handle(session: Writing) -> None:
        session.staging.insert(tables.customer, customer_row(company_name=name))
        session.staging.contents[f"{name}/{next(runs)}"] = name.encode()
        if left:
            await exchange(session.connection, [raising(left.pop(0))])

    return handle


class TestContents:
    def test_they_are_there_when_the_rows_are(self, cabinet: Cabinet, desk: Desk) -> None:
        assert cabinet.write(staging_file("kept")) == ("run 1", False)
        assert (cabinet.keys, desk.customers()) == (["kept/0"], {"kept"})

    def test_each_run_has_files_of_its_own_and_only_the_last_are_kept(
        self, cabinet: Cabinet, desk: Desk
    ) -> None:
        cabinet.write(staging_file("again", "40001", "40P01"))
        assert (cabinet.keys, desk.customers()) == (["again/2"], {"again"})

    def test_a_preview_puts_none(self, cabinet: Cabinet, desk: Desk) -> None:
        cabinet.write(staging_file("seen"), preview=True)
        assert (cabinet.keys, desk.customers()) == ([], set())

    @pytest.mark.parametrize("key", [None, "kept refusal"])
    def test_a_refusal_puts_none(self, cabinet: Cabinet, desk: Desk, key: str | None) -> None:
        async def refusing(session: Writing) -> None:
            await staging_file("refused")(session)
            raise RuleBroken("negative_amount", "No.")

        if key is None:
            with pytest.raises(RuleBroken):
                cabinet.write(refusing)
        else:
            assert cabinet.write(refusing, key=key) == ("negative_amount", False)
        assert (cabinet.keys, desk.customers()) == ([], set())

    def test_a_replay_puts_none(self, cabinet: Cabinet) -> None:
        cabinet.write(staging_file("once"), key="replayed")
        assert cabinet.write(staging_file("twice"), key="replayed") == ("run 1", True)
        assert cabinet.keys == ["once/0"]

    def test_a_commit_that_is_refused_takes_them_away_again(
        self, cabinet: Cabinet, desk: Desk
    ) -> None:
        async def headless(session: Writing) -> None:
            await staging_file("headless")(session)
            session.staging.insert(tables.journal_entry, entry_row("JE-1"))  # Without lines.

        with pytest.raises(psycopg.errors.CheckViolation):
            cabinet.write(headless)
        assert (cabinet.keys, desk.customers()) == ([], set())

    def test_where_one_cannot_be_put_none_is_and_nothing_is_committed(
        self, cabinet: Cabinet, desk: Desk
    ) -> None:
        (cabinet.root / "blocked").write_text("a file where a folder has to be")

        async def two(session: Writing) -> None:
            await staging_file("first")(session)
            session.staging.contents["blocked/key"] = b"second"

        with pytest.raises(Unavailable):
            cabinet.write(two)
        assert (cabinet.keys, desk.customers()) == (["blocked"], set())
