"""Settings of the storage of documents."""

from pathlib import Path

import pytest

from persistence.files.blobs import Folder
from persistence.files.buckets import Bucket
from server.config import settings
from server.config.settings import SettingsError

BUCKET = {
    "ACCOUNTING_S3_BUCKET": "documents",
    "ACCOUNTING_S3_ENDPOINT": "https://storage.example.com/",
    "ACCOUNTING_S3_REGION": "eu-west-1",
    "ACCOUNTING_S3_ACCESS_KEY_ID": "name",
    "ACCOUNTING_S3_SECRET_ACCESS_KEY": "geheim",
}


class TestDocuments:
    def test_documents_are_in_the_data_folder_by_default(self, tmp_path: Path) -> None:
        stores = settings.load_stores({"ACCOUNTING_DATA_DIR": str(tmp_path)})
        assert stores.documents == Folder(tmp_path / "documents")

    def test_documents_are_in_the_folder_that_the_setting_names(self, tmp_path: Path) -> None:
        stores = settings.load_stores({"ACCOUNTING_DOCUMENTS_DIR": str(tmp_path / "papers")})
        assert stores.documents == Folder(tmp_path / "papers")
        (tmp_path / "file").touch()
        with pytest.raises(SettingsError, match=r"ACCOUNTING_DOCUMENTS_DIR: .* is not a folder"):
            settings.load_stores({"ACCOUNTING_DOCUMENTS_DIR": str(tmp_path / "file")})

    def test_documents_are_in_the_bucket_that_the_settings_name(self) -> None:
        stores = settings.load_stores(BUCKET)
        assert stores.documents == Bucket(
            name="documents",
            endpoint="https://storage.example.com",
            region="eu-west-1",
            access_key_id="name",
            secret_access_key="geheim",
        )
        assert "geheim" not in repr(stores)

    def test_a_bucket_is_amazons_unless_told(self) -> None:
        less = {name: BUCKET[name] for name in BUCKET if name[-6:] not in ("DPOINT", "REGION")}
        found = settings.load_stores(less).documents
        assert isinstance(found, Bucket)
        assert found.endpoint == "https://s3.us-east-1.amazonaws.com"

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"ACCOUNTING_S3_ACCESS_KEY_ID": ""}, "S3_ACCESS_KEY_ID is required beside"),
            ({"ACCOUNTING_S3_SECRET_ACCESS_KEY": ""}, "S3_SECRET_ACCESS_KEY is required beside"),
            ({"ACCOUNTING_S3_BUCKET": ""}, "ACCOUNTING_S3_ENDPOINT is of no use without"),
            ({"ACCOUNTING_S3_BUCKET": "a/b"}, "'a/b' is no name of a bucket"),
            ({"ACCOUNTING_S3_ENDPOINT": "storage"}, "ACCOUNTING_S3_ENDPOINT must look like"),
            ({"ACCOUNTING_S3_ENDPOINT": "https://a:geheim@b"}, "must look like"),
            ({"ACCOUNTING_DOCUMENTS_DIR": "/papers"}, "are two places; name one"),
        ],
    )
    def test_a_bucket_that_is_not_whole_is_refused(self, change: dict[str, str], told: str) -> None:
        with pytest.raises(SettingsError, match=told) as caught:
            settings.load_stores({**BUCKET, **change})
        assert "geheim" not in str(caught.value)
