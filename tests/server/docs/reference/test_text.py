from server.docs.reference.text import Writer, json_markup, sections, slug


class TestText:
    def test_json_is_marked_and_reads_as_before(self) -> None:
        text = '{"a<b": [1, -2.5e3, "x\\"y", true, null]}'
        marked = json_markup(text)
        assert marked.striptags() == text
        assert marked.count("<i class=") == 6

    def test_a_long_text_is_divided_at_its_headings(self) -> None:
        lead, parts = sections("Hello.\n\n## One thing\n\nX.\n\n### Not alone\n\n## Another\nY.")
        assert lead == "Hello.\n\n"
        assert parts == {"One thing": "\n\nX.\n\n### Not alone\n\n", "Another": "\nY."}

    def test_code_leads_to_what_it_names(self) -> None:
        writer = Writer({"change_thing": "/there/"})
        html = writer.line("`change_thing` and `<b>`")
        assert html == (
            '<a href="/there/"><code>change_<wbr>thing</code></a> and <code>&lt;b&gt;</code>'
        )

    def test_headings_of_an_article_have_anchors(self) -> None:
        writer = Writer({})
        assert '<h2 id="size-limits">Size limits</h2>' in writer.article("## Size limits")
        assert "<h2>Size limits</h2>" in writer.block("## Size limits")

    def test_an_anchor_has_only_plain_characters(self) -> None:
        assert slug("  Größe & Form! ") == "gr-e-form"
