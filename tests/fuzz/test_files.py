"""What the fuzzer sends as files is what the server keeps, in JSON and on the wire."""

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


class TestPutStatement:
    @pytest.mark.parametrize("drawn", range(len(files.STATEMENTS)))
    def test_gives_a_form_a_statement_with_its_columns(self, drawn: int) -> None:
        body = {"file": "0", "mapping": {"date": "x"}}
        files.put_real_ones("import_bank_transactions", body, drawn)
        content = str(body["file"]).encode()
        assert guess_format(content) == sorted(files.STATEMENTS)[drawn]
        columns = columns_of(RequestObject(body["mapping"])) if "mapping" in body else None
        assert read(content, guess_format(content), columns)
        assert files.on_the_wire("import_bank_transactions", body)["file"] == content

    @pytest.mark.parametrize("kind", files.STATEMENTS)
    def test_is_of_the_kind_that_the_form_says(self, kind: str) -> None:
        body = {"file": "0", "format": kind}
        files.put_real_ones("import_bank_transactions", body, 0)
        assert guess_format(body["file"].encode()) == kind

    def test_leaves_lines_in_json(self) -> None:
        body = {"transactions": []}
        files.put_real_ones("import_bank_transactions", body, 0)
        assert body == {"transactions": []}


class TestPutRealOnes:
    @pytest.mark.parametrize("drawn", range(len(files.KINDS)))
    def test_gives_what_is_no_file_a_real_one(self, drawn: int) -> None:
        form, body = {"file": "0" * 20, "tags": ["a"]}, {"document": {"file": "MDAw"}}
        files.put_real_ones("create_document", form, drawn)
        files.put_real_ones("create_customer", body, drawn)
        assert form == {"file": files.TEXTS[drawn], "tags": ["a"]}
        assert body == {"document": {"file": files.BASE64[drawn]}}

    def test_leaves_a_real_one_and_a_body_without_any(self) -> None:
        for body in ({"file": files.TEXTS[2]}, {"document": {"file": files.BASE64[1]}}, {}):
            before = repr(body)
            files.put_real_ones("create_document", body, 0)
            assert repr(body) == before

    def test_writes_its_bytes(self) -> None:
        for text, content in zip(files.TEXTS, files.KINDS.values(), strict=True):
            sent = files.on_the_wire("create_document", {"file": text, "tags": ["a"]})
            assert sent == {"file": content, "tags": ["a"]}
        assert files.on_the_wire("create_document", {"file": "\u00e9"}) == {"file": b"\xc3\xa9"}
        told = {"metadata": "a", "document_metadata": [1]}
        sent = files.on_the_wire("create_invoice_refund", told)
        assert sent == {"metadata": '"a"', "document_metadata": "[1]"}
        for other in ({"file": None}, [], 5):
            assert files.on_the_wire("create_document", other) == other
