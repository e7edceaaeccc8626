"""Stores of files, a folder and an object store: durability and refusals."""

import asyncio
import os
import pickle
import socket
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from accounting.errors import Unavailable
from persistence.files.blobs import (
    Blobs,
    BlobStorage,
    Folder,
    UnusableFileStore,
    refuse_unwritable,
)
from tests.object_store import ObjectStore

CONTENT = bytes(range(256)) * 3

with_wrong_settings = pytest.mark.parametrize(
    "changes",
    [{"secret_access_key": "wrong"}, {"access_key_id": "nobody"}, {"name": "no-such-bucket"}],
)


@pytest.fixture
def object_store() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


@pytest.fixture(params=["folder", "object store"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStorage:
    if request.param == "folder":
        return Folder(tmp_path / "deep" / "documents")
    store: ObjectStore = request.getfixturevalue("object_store")
    return store.bucket()


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        return await work()

    return asyncio.run(go())


class TestBlobStorage:
    def test_a_file_exists_until_it_is_deleted(self, storage: BlobStorage) -> None:
        storage.put("business/key", CONTENT)
        assert storage.get("business/key") == CONTENT
        storage.delete("business/key")
        assert storage.get("business/key") is None

    def test_a_missing_file_is_no_error(self, storage: BlobStorage) -> None:
        assert storage.get("business/nothing") is None
        storage.delete("business/nothing")
        assert list(storage.under("business")) == []

    def test_the_list_has_the_files_of_a_business_with_their_times(
        self, storage: BlobStorage
    ) -> None:
        for key in ("one/a", "one/b", "other/c"):
            storage.put(key, CONTENT)
        found = dict(storage.under("one"))
        assert set(found) == {"one/a", "one/b"}
        assert all(abs(at - datetime.now(UTC)) < timedelta(minutes=1) for at in found.values())

    def test_a_file_of_ten_mebibytes_is_stored(self, storage: BlobStorage) -> None:
        storage.put("business/large", b"x" * 10 * 1024 * 1024)
        assert len(storage.get("business/large") or b"") == 10 * 1024 * 1024


class TestFolder:
    def test_file_and_names_are_on_the_disk_when_put_returns(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        steps: list[str] = []
        fsync, rename = os.fsync, Path.rename

        def synchronising(descriptor: int) -> None:
            steps.append(f"fsync {os.readlink(f'/proc/self/fd/{descriptor}')}")
            fsync(descriptor)

        def renaming(path: Path, target: Path) -> Path:
            steps.append(f"rename {path}")
            return rename(path, target)

        monkeypatch.setattr(os, "fsync", synchronising)
        monkeypatch.setattr(Path, "rename", renaming)
        root = tmp_path / "documents"
        Folder(root).put("business/key", CONTENT)
        assert steps == [
            f"fsync {tmp_path}",
            f"fsync {root}",
            f"fsync {root}/business/key.part",
            f"rename {root}/business/key.part",
            f"fsync {root}/business",
        ]

    def test_only_the_owner_reads_a_file(self, tmp_path: Path) -> None:
        root = tmp_path / "documents"
        Folder(root).put("business/key", CONTENT)
        modes = [path.stat().st_mode & 0o777 for path in (root, root / "business")]
        assert modes == [0o700, 0o700]
        assert (root / "business" / "key").stat().st_mode & 0o777 == 0o600

    def test_a_failed_write_leaves_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "business").write_text("a file where a folder has to be")
        with pytest.raises(OSError, match="business"):
            Folder(tmp_path).put("business/key", CONTENT)
        assert [path.name for path in tmp_path.rglob("*")] == ["business"]

    def test_an_unfinished_file_is_listed_for_the_sweep(self, tmp_path: Path) -> None:
        Folder(tmp_path).put("business/key", CONTENT)
        (tmp_path / "business" / "other.part").write_bytes(b"half")
        listed = {key for key, _ in Folder(tmp_path).under("business")}
        assert listed == {"business/key", "business/other.part"}


class TestSeemsWritable:
    def test_a_folder_is_looked_at(self, tmp_path: Path) -> None:
        folder = tmp_path / "documents"
        assert run(Blobs(Folder(folder)).seem_writable) is False
        folder.mkdir()
        assert run(Blobs(Folder(folder)).seem_writable) is True
        (folder / "file").touch()
        assert run(Blobs(Folder(folder / "file")).seem_writable) is False

    def test_a_bucket_is_not_checked(self, object_store: ObjectStore) -> None:
        blobs = Blobs(object_store.bucket())
        object_store.stop()
        assert run(blobs.seem_writable) is None


class TestRefuseUnwritable:
    def test_a_writable_storage_is_left_unchanged(self, storage: BlobStorage) -> None:
        refuse_unwritable(storage)
        refuse_unwritable(storage)
        assert list(storage.under("")) == []

    def test_a_bucket_keeps_nothing_open_that_would_travel_to_workers(
        self, object_store: ObjectStore
    ) -> None:
        bucket = object_store.bucket()
        refuse_unwritable(bucket)
        assert pickle.loads(pickle.dumps(bucket)) == bucket
        assert "_store" not in vars(bucket)

    def test_an_unusable_folder_is_named_with_the_reason(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for root, why in ((tmp_path / "file", "File exists"), (Path("/proc/x"), "No such file")):
            with pytest.raises(UnusableFileStore, match=f"kept in {root}: {why}"):
                refuse_unwritable(Folder(root))

    @with_wrong_settings
    def test_a_bucket_is_named_without_its_key(
        self, object_store: ObjectStore, changes: dict[str, str]
    ) -> None:
        bucket = object_store.bucket(**changes)
        named = f"kept in the bucket {bucket.name} at "
        with pytest.raises(UnusableFileStore, match=named) as refused:
            refuse_unwritable(bucket)
        assert "\n" not in str(refused.value)
        assert bucket.secret_access_key not in str(refused.value)

    def test_a_bucket_that_is_away_is_refused_in_time(self, object_store: ObjectStore) -> None:
        bucket = object_store.bucket()
        object_store.stop()
        with pytest.raises(UnusableFileStore):
            refuse_unwritable(bucket)


class TestBlobs:
    def test_all_are_put_or_none(self, tmp_path: Path) -> None:
        (tmp_path / "taken").write_text("a file where a folder has to be")
        blobs = Blobs(Folder(tmp_path))
        with pytest.raises(Unavailable) as refused:
            run(lambda: blobs.put({"business/a": CONTENT, "taken/b": CONTENT}))
        assert refused.value.code == "service_unavailable"
        assert refused.value.detail["retry_after_seconds"] == 1
        assert list((tmp_path / "business").iterdir()) == []

    def test_a_store_that_is_away_is_503_in_time(self, object_store: ObjectStore) -> None:
        blobs = Blobs(object_store.bucket())
        run(lambda: blobs.put({"business/a": CONTENT}))
        object_store.stop()
        for call in (
            lambda: blobs.put({"business/b": CONTENT}),
            lambda: blobs.get("business/a"),
            lambda: blobs.delete("business/a"),
            lambda: anext(aiter(blobs.under("business"))),
        ):
            with pytest.raises(Unavailable):
                run(call)
        object_store.start()
        assert run(lambda: blobs.get("business/a")) == CONTENT

    @with_wrong_settings
    def test_a_store_that_refuses_is_away_and_the_log_says_why(
        self, object_store: ObjectStore, changes: dict[str, str]
    ) -> None:
        blobs = Blobs(object_store.bucket(**changes))
        with capture_logs() as logged, pytest.raises(Unavailable) as refused:
            run(lambda: blobs.put({"business/a": CONTENT}))
        assert "documents" not in refused.value.message
        assert "storage_out_of_reach" in {each["event"] for each in logged}
        assert object_store.keys == set()

    def test_a_store_that_does_not_answer_is_503_in_time(
        self, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("persistence.files.blobs.ANSWER_SECONDS", 0.5)

        async def ask(silent: socket.socket) -> None:
            endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with pytest.raises(Unavailable):
                await Blobs(object_store.bucket(endpoint=endpoint)).put({"business/a": CONTENT})
            # Disconnect only now, so that the requesting thread ends as well.
            silent.shutdown(socket.SHUT_RDWR)

        with socket.create_server(("127.0.0.1", 0)) as silent:
            run(lambda: ask(silent))

    def test_settings_of_the_machine_change_nothing(
        self, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in (
            ("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9"),
            ("AWS_SKIP_SIGNATURE", "true"),
            ("AWS_ACCESS_KEY_ID", "another"),
            ("AWS_SESSION_TOKEN", "another"),
        ):
            monkeypatch.setenv(name, value)
        object_store.bucket().put("business/a", CONTENT)
        assert object_store.keys == {"business/a"}
