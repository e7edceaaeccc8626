"""The files of the fuzzer have kinds that the server stores and reads."""

import pytest

from accounting.absent import RequestObject
from accounting.files.uploads import ENDINGS, kind_of
from handlers.bank.bank_commands import columns_of
from handlers.bank.bank_transactions import guess_format
from libraries.bank_files import read
from tests.fuzz import files


class TestKinds:
    def test_are_all_that_the_server_keeps(self) -> None:
        assert {kind_of(content) for content in files.KINDS.values()} == set(ENDINGS)


class TestStatements:
    @pytest.mark.parametrize("drawn", range(len(files.STATEMENTS)))
    def test_are_read_by_the_columns_that_are_sent_with_them(self, drawn: int) -> None:
        body = {"file": "0", "mapping": {"date": "x"}}
        files.put_real_ones("import_bank_transactions", body, drawn)
        content = str(body["file"]).encode()
        assert guess_format(content) == sorted(files.STATEMENTS)[drawn]
        columns = columns_of(RequestObject(body["mapping"])) if "mapping" in body else None
        assert read(content, guess_format(content), columns)
        assert files.on_the_wire("import_bank_transactions", body)["file"] == content
