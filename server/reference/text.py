"""Text of the contract as HTML: Markdown, JSON with its parts marked, names for anchors.

Nothing here lets HTML of the contract through: Markdown is read with HTML switched off, and
everything else is escaped.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import orjson
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

JSON_PART: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>true|false|null)"
)
NOT_IN_ANCHOR: Final = re.compile(r"[^a-z0-9]+")
PATH_PARAMETER: Final = re.compile(r"(\{[^}]+\})")


@dataclass(frozen=True, slots=True)
class Heading:
    """One entry of the guide's own table of contents."""

    anchor: str
    text: str


class Writer:
    """Turn Markdown into HTML."""

    def __init__(self) -> None:
        self.markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.markdown.disable("image")  # A page that loads nothing has no pictures.
        self.markdown.add_render_rule("fence", fence)

    def block(self, text: str) -> Markup:
        """Render paragraphs, lists, tables and code."""
        return Markup(self.markdown.render(text))

    def line(self, text: str) -> Markup:
        """Render a text that stands within a line."""
        return Markup(self.markdown.renderInline(text))

    def guide(self, text: str) -> tuple[Markup, list[Heading]]:
        """Render a long text, its second-level headings anchored and listed."""
        tokens = self.markdown.parse(text)
        headings = []
        for token, content in pairwise(tokens):
            if token.type == "heading_open" and token.tag == "h2":
                anchor = f"guide-{slug(content.content)}"
                token.attrSet("id", anchor)
                headings.append(Heading(anchor, content.content))
        html = self.markdown.renderer.render(tokens, self.markdown.options, {})
        return Markup(html), headings


def fence(_: Any, tokens: Any, index: int, *__: Any) -> str:
    """Render a block of code, JSON with its parts marked."""
    token = tokens[index]
    code = json_markup(token.content) if token.info.strip() == "json" else escape(token.content)
    return f"<pre><code>{code}</code></pre>\n"


def json_markup(text: str) -> Markup:
    """Escape JSON and mark keys, texts, numbers and words."""
    pieces, end = [], 0
    for match in JSON_PART.finditer(text):
        pieces.append(escape(text[end : match.start()]))
        pieces.append(Markup('<i class="{}">{}</i>').format(match.lastgroup, match.group()))
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])


def pretty(value: Any) -> Markup:
    """Write a value as JSON over several lines, its parts marked."""
    return json_markup(orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode())


def path_markup(path: str) -> Markup:
    """Mark the variable parts of a path, and let it break after each slash."""
    parts = [
        Markup("<var>{}</var>").format(part)
        if part.startswith("{")
        else Markup("/<wbr>").join(part.split("/"))
        for part in PATH_PARAMETER.split(path)
    ]
    return Markup("").join(parts)


def slug(text: str) -> str:
    """Make an anchor of a heading: "Repeating safely" is `repeating-safely`."""
    return NOT_IN_ANCHOR.sub("-", text.lower()).strip("-")
