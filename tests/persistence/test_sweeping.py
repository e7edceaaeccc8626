"""The sweep takes away what no record names, and nothing else."""

import asyncio
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from accounting.errors import Unavailable
from persistence.engine.pool import make_pool
from persistence.files.blobs import Blobs, BlobStorage, Folder
from persistence.files.sweeping import Swept, sweep
from tests.builders.files import PDF, follow, names, upload
from tests.house import House
from tests.object_store import ObjectStore
from tests.partnership import Business, Partnership


@pytest.fixture
def shop(acme: Partnership) -> Business:
    return acme.business()


@pytest.fixture
def object_store() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


def swept(house: House, storage: BlobStorage, *, only_look: bool = False) -> Swept:
    async def go() -> Swept:
        async with make_pool(house.database_url, size=1) as pool:
            return await sweep(pool, Blobs(storage), datetime.now(UTC), only_look=only_look)

    return asyncio.run(go())


def left_behind(folder: Path, business: str, *, minutes: int = 61, name: str = "") -> Path:
    """A file without a record, so many minutes old."""
    path = folder / business / (name or uuid4().hex)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(PDF)
    age(path, minutes)
    return path


def age(path: Path, minutes: int) -> None:
    then = time.time() - 60 * minutes
    os.utime(path, (then, then))


class TestSweep:
    def test_what_has_no_record_goes_and_what_has_one_stays_however_old(
        self, house: House, shop: Business
    ) -> None:
        made = upload(shop).json()
        for name in names(house, shop):
            age(house.folder / shop.id / name, 100_000)
        stray = left_behind(house.folder, shop.id)
        unfinished = left_behind(house.folder, shop.id, name="half.part")
        found = swept(house, Folder(house.folder))
        assert set(found.left_behind) == {f"{shop.id}/{each.name}" for each in (stray, unfinished)}
        assert found.seen >= 3
        assert len(names(house, shop)) == 1
        assert follow(shop, made["url"]).content == PDF

    def test_what_is_younger_than_an_hour_may_still_get_its_record(
        self, house: House, shop: Business
    ) -> None:
        young = left_behind(house.folder, shop.id, minutes=59)
        assert swept(house, Folder(house.folder)).left_behind == ()
        assert young.exists()

    def test_looking_takes_nothing_away(self, house: House, shop: Business) -> None:
        stray = left_behind(house.folder, shop.id)
        found = swept(house, Folder(house.folder), only_look=True)
        assert found.left_behind == (f"{shop.id}/{stray.name}",)
        assert stray.exists()
        stray.unlink()

    def test_a_business_that_this_database_does_not_have_is_left_alone(self, house: House) -> None:
        foreign = left_behind(house.folder, str(uuid4()))
        assert swept(house, Folder(house.folder)).left_behind == ()
        assert foreign.exists()

    def test_a_record_of_another_business_names_nothing_here(
        self, house: House, shop: Business, rival: Partnership
    ) -> None:
        other = rival.business()
        upload(other)
        [name] = names(house, other)
        stray = left_behind(house.folder, shop.id, name=name)
        assert swept(house, Folder(house.folder)).left_behind == (f"{shop.id}/{name}",)
        assert not stray.exists()
        assert names(house, other) == [name]

    def test_more_than_one_batch_is_looked_through(self, house: House, shop: Business) -> None:
        strays = [left_behind(house.folder, shop.id) for _ in range(1_203)]
        assert len(swept(house, Folder(house.folder)).left_behind) == len(strays)
        assert names(house, shop) == []

    def test_an_object_store_is_swept_alike(
        self, house: House, shop: Business, object_store: ObjectStore
    ) -> None:
        left_behind(object_store.folder, shop.id)
        young = left_behind(object_store.folder, shop.id, minutes=1)
        assert len(swept(house, object_store.bucket()).left_behind) == 1
        assert object_store.keys == {f"{shop.id}/{young.name}"}

    def test_a_storage_that_is_away_is_said(
        self, house: House, shop: Business, object_store: ObjectStore
    ) -> None:
        bucket = object_store.bucket()
        object_store.stop()
        with pytest.raises(Unavailable):
            swept(house, bucket)
