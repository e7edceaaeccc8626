import os
import time
from pathlib import Path

from tests.builders.files import PDF, follow, names, upload
from tests.cli.desk import Desk
from tests.house import House


class TestSweepDocuments:
    def test_it_tells_what_it_finds_and_takes_it_away(self, desk: Desk, premises: House) -> None:
        shop = premises.partner("Tidy").business()
        document = upload(shop).json()
        stray: Path = premises.folder / shop.id / "stray"
        stray.write_bytes(PDF)
        old = time.time() - 4_000
        os.utime(stray, (old, old))
        place = {"ACCOUNTING_DOCUMENTS_DIR": str(premises.folder)}

        told = desk.run("sweep-documents", "--dry-run", **place)
        assert (told.code, told.err) == (0, "")
        assert told.out == (f"{shop.id}/stray\n1 of 2 files have no record and would be removed.\n")
        assert stray.exists()

        told = desk.run("sweep-documents", **place)
        assert told.out.endswith("1 of 2 files have no record and were removed.\n")
        assert not stray.exists()
        assert len(names(premises, shop)) == 1
        assert follow(shop, document["url"]).content == PDF

        told = desk.run("sweep-documents", **place)
        assert told.out == "0 of 1 files have no record and were removed.\n"

    def test_a_storage_that_is_away_is_told_without_a_traceback(
        self, desk: Desk, premises: House
    ) -> None:
        premises.partner("Away").business()
        place = {
            "ACCOUNTING_S3_BUCKET": "documents",
            "ACCOUNTING_S3_ENDPOINT": "http://127.0.0.1:9",
            "ACCOUNTING_S3_ACCESS_KEY_ID": "a",
            "ACCOUNTING_S3_SECRET_ACCESS_KEY": "b",
        }
        told = desk.run("sweep-documents", **place)
        assert told.code == 2
        assert "Traceback" not in told.err
        assert told.err.splitlines()[-1].startswith("accounting: ")
