import os
import time
from pathlib import Path

from tests.api_server import ApiServer
from tests.builders.files import PDF, follow, names, upload
from tests.cli.refusals import AWAY, refusal
from tests.command_line import CommandLine


class TestSweepDocuments:
    def test_it_tells_what_it_finds_and_takes_it_away(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        shop = own_server.partner("Tidy").business()
        document = upload(shop).json()
        stray: Path = own_server.folder / shop.id / "stray"
        stray.write_bytes(PDF)
        old = time.time() - 4_000
        os.utime(stray, (old, old))
        place = {"ACCOUNTING_DOCUMENTS_DIR": str(own_server.folder)}

        told = command_line.run("sweep-documents", "--dry-run", **place)
        assert (told.code, told.err) == (0, "")
        assert told.out == (f"{shop.id}/stray\n1 of 2 files have no record and would be removed.\n")
        assert stray.exists()

        told = command_line.run("sweep-documents", **place)
        assert "1 of 2 files have no record and were removed.\n" in told.out
        [[records]] = own_server.query("SELECT count(*) FROM audit_record")
        assert told.out.endswith(f"\n{records} new records of audit trails were sealed.\n")
        assert not stray.exists()
        assert len(names(own_server, shop)) == 1
        assert follow(shop, document["url"]).content == PDF

        told = command_line.run("sweep-documents", **place)
        assert told.out == "0 of 1 files have no record and were removed.\n"

    def test_a_storage_that_is_away_is_told_without_a_traceback(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        own_server.partner("Away").business()
        assert refusal(command_line, "sweep-documents", **AWAY)
