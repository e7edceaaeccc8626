"""The kind of a file, determined from its bytes."""

import time

import pytest

from accounting.files.uploads import CSV, JPEG, LOOKED_AT_BYTES, PDF, PNG, XML, kind_of

TABLE = b"a,b,c\n1,2,3\n"
LAUGHS = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>'


class TestKindOf:
    @pytest.mark.parametrize(
        ("content", "kind"),
        [
            (b"%PDF-1.7\n", PDF),
            (b"\xef\xbb\xbf\r\n%PDF-2.0", PDF),
            (b"\x89PNG\r\n\x1a\n" + bytes(20), PNG),
            (b"\xff\xd8\xff\xe0" + bytes(20), JPEG),
            (b"\xff\xd8\xff\xdb" + bytes(20), JPEG),
            (b"<?xml version='1.0'?><a/>", XML),
            (b"\xef\xbb\xbf<?xml version='1.0' encoding='utf-8'?>\n<a/>", XML),
            ("\ufeff<?xml version='1.0' encoding='utf-16'?><a/>".encode("utf-16-le"), XML),
            (b"<Invoice xmlns='urn:x'><Total>1</Total></Invoice>\n", XML),
            (b"<a>" + b"<b>x</b>" * 40_000 + b"</a>", XML),
            (TABLE, CSV),
            (b"a;b\r\n1;2\r\n", CSV),
            (b"a\tb\n1\t2", CSV),
            (b"a|b\n1|2", CSV),
            (b"\xef\xbb\xbf" + TABLE, CSV),
            ("Käufer;Betrag\nMüller;1,50\n".encode("cp1252"), CSV),
            ("a\tb\n1\t2\n".encode("utf-16"), CSV),
            (b'"a","b\nc"\n"1","2"\n', CSV),
            (b"Account 7\n\nfrom,to\n" + b"1,2,3,4\n" * 9, CSV),
            (TABLE * 20_000, CSV),
            (b"BM,x\n1,2\n", CSV),
            (b"MZ,x\n1,2\n", CSV),
        ],
    )
    def test_five_kinds_are_known(self, content: bytes, kind: str) -> None:
        assert kind_of(content) == kind

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b" ",
            b"hello",
            b"hello, world",
            b"one line only, with, commas",
            b"Dear all,\nthis is, as you see,\nno table.\n",
            b'{"a": 1,\n"b": 2,\n"c": 3}',
            b"[1,2]\n[3,4]\n",
            b"PK\x03\x04" + bytes(40),
            b"\x1f\x8b\x08" + bytes(40),
            b"MZ" + bytes(40),
            b"\x7fELF" + bytes(40),
            b"GIF89a" + bytes(20),
            b"RIFF....WEBP",
            b"a,b\n1,\x002\n",
            TABLE * 20_000 + b"\0",
            b"<html><body/></html>",
            b"<!DOCTYPE html><html></html>",
            b"<x:html xmlns:x='http://www.w3.org/1999/xhtml'/>",
            b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>",
            b"<a><b></a>",
            b"<a>",
            b"<?xml version='1.0'?>",
            b"<?xml version='1.0' encoding='no-such'?><a/>",
            LAUGHS,
            b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>",
            b"junk %PDF-1.7",
            b"\x89PNG",
            b"\xff\xd8",
            bytes(range(256)) * 10,
        ],
    )
    def test_nothing_else_is(self, content: bytes) -> None:
        assert kind_of(content) is None

    @pytest.mark.parametrize(
        ("start", "unit"),
        [
            (b"<a ", b"b='c' "),
            (b"", b"<a>"),
            (b"", b","),
            (b"", b'"'),
            (b"", b"a,b\n"),
            (b"", b"\n"),
            (b"", b" "),
            (b"", b"x"),
            (b"\xff\xfe", "a,b\n".encode("utf-16-le")),
        ],
    )
    def test_a_hostile_file_costs_as_much_as_any_other(self, start: bytes, unit: bytes) -> None:
        content = start + unit * (10_000_000 // len(unit))
        began = time.process_time()
        kind_of(content)
        assert time.process_time() - began < 0.5
        assert len(content) > 100 * LOOKED_AT_BYTES
