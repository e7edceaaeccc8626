import re

from accounting.files.uploads import PDF, kind_of
from cli.demo import paper

LINES = ("To Tidewater Roasters Ltd", "", "1 x Café (au lait) \\ tasting")


class TestPage:
    def test_is_a_pdf_and_the_same_for_the_same_words(self) -> None:
        page = paper.page("Order 1", LINES)
        assert kind_of(page) == PDF
        assert page == paper.page("Order 1", LINES)
        assert page != paper.page("Order 2", LINES)

    def test_carries_its_words_with_brackets_marked(self) -> None:
        page = paper.page("Order 1", LINES)
        for shown in (b"(Order 1) Tj", b"(1 x Caf\xe9 \\(au lait\\) \\\\ tasting) Tj"):
            assert shown in page

    def test_says_where_each_object_is_and_how_long_its_text_is(self) -> None:
        page = paper.page("Order 1", LINES)
        [table] = re.findall(rb"startxref\n(\d+)\n%%EOF\n$", page)
        places = re.findall(rb"(\d{10}) 00000 n \n", page[int(table) :])
        assert page[int(table) :].startswith(b"xref\n0 6\n0000000000 65535 f \n")
        for number, place in enumerate(places, start=1):
            assert page[int(place) :].startswith(b"%d 0 obj\n" % number)
        [(length, text)] = re.findall(rb"/Length (\d+) >>\nstream\n(.*)\nendstream", page, re.S)
        assert len(places) == 5
        assert int(length) == len(text)
