"""The sweep deletes files that no record names, and no other file."""

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
from persistence.files.sweep import SweepResult, sweep
from persistence.partners.upkeep_rows import every_business
from tests.api_server import ApiServer
from tests.builders.files import PDF, follow, names, upload
from tests.object_store import ObjectStore
from tests.partner import Business, Partner


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def object_store() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


def swept(api_server: ApiServer, storage: BlobStorage, *, only_look: bool = False) -> SweepResult:
    """Run the sweep of all businesses; return the sum of the results."""

    async def go() -> list[SweepResult]:
        now, blobs = datetime.now(UTC), Blobs(storage)
        async with make_pool(api_server.database_url, size=1) as pool:
            return [
                await sweep(pool, blobs, business_id, now, only_look=only_look)
                async for business_id in every_business(pool)
            ]

    found = asyncio.run(go())
    left_behind = [key for each in found for key in each.left_behind]
    return SweepResult(sum(each.seen for each in found), tuple(left_behind))


def left_behind(folder: Path, business: str, *, minutes: int = 61, name: str = "") -> Path:
    """Create a file without a record, so many minutes old."""
    path = folder / business / (name or uuid4().hex)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(PDF)
    age(path, minutes)
    return path


def age(path: Path, minutes: int) -> None:
    then = time.time() - 60 * minutes
    os.utime(path, (then, then))


class TestSweep:
    def test_a_file_without_a_record_is_deleted_and_a_file_with_a_record_stays(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        made = upload(shop).json()
        for name in names(api_server, shop):
            age(api_server.folder / shop.id / name, 100_000)
        stray = left_behind(api_server.folder, shop.id)
        unfinished = left_behind(api_server.folder, shop.id, name="half.part")
        found = swept(api_server, Folder(api_server.folder))
        assert set(found.left_behind) == {f"{shop.id}/{each.name}" for each in (stray, unfinished)}
        assert found.seen >= 3
        assert len(names(api_server, shop)) == 1
        assert follow(shop, made["url"]).content == PDF

    def test_a_file_younger_than_an_hour_stays(self, api_server: ApiServer, shop: Business) -> None:
        young = left_behind(api_server.folder, shop.id, minutes=59)
        assert swept(api_server, Folder(api_server.folder)).left_behind == ()
        assert young.exists()

    def test_looking_takes_nothing_away(self, api_server: ApiServer, shop: Business) -> None:
        stray = left_behind(api_server.folder, shop.id)
        found = swept(api_server, Folder(api_server.folder), only_look=True)
        assert found.left_behind == (f"{shop.id}/{stray.name}",)
        assert stray.exists()
        stray.unlink()

    def test_a_business_that_this_database_does_not_have_is_left_alone(
        self, api_server: ApiServer
    ) -> None:
        foreign = left_behind(api_server.folder, str(uuid4()))
        assert swept(api_server, Folder(api_server.folder)).left_behind == ()
        assert foreign.exists()

    def test_a_record_of_another_business_names_nothing_here(
        self, api_server: ApiServer, shop: Business, rival: Partner
    ) -> None:
        other = rival.business()
        upload(other)
        [name] = names(api_server, other)
        stray = left_behind(api_server.folder, shop.id, name=name)
        assert swept(api_server, Folder(api_server.folder)).left_behind == (f"{shop.id}/{name}",)
        assert not stray.exists()
        assert names(api_server, other) == [name]

    def test_more_than_one_batch_is_looked_through(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        strays = [left_behind(api_server.folder, shop.id) for _ in range(1_203)]
        assert len(swept(api_server, Folder(api_server.folder)).left_behind) == len(strays)
        assert names(api_server, shop) == []

    def test_an_object_store_is_swept_alike(
        self, api_server: ApiServer, shop: Business, object_store: ObjectStore
    ) -> None:
        left_behind(object_store.folder, shop.id)
        young = left_behind(object_store.folder, shop.id, minutes=1)
        assert len(swept(api_server, object_store.bucket()).left_behind) == 1
        assert object_store.keys == {f"{shop.id}/{young.name}"}

    def test_a_storage_that_is_away_is_503(
        self, api_server: ApiServer, shop: Business, object_store: ObjectStore
    ) -> None:
        bucket = object_store.bucket()
        object_store.stop()
        with pytest.raises(Unavailable):
            swept(api_server, bucket)
