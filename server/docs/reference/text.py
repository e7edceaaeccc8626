"""Text of the contract as HTML: Markdown, highlighted JSON, and anchors.

No HTML of the contract is passed through: Markdown is parsed with HTML disabled, and everything
else is escaped.
"""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import orjson
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

JSON_PART: Final = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<text>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)|(?P<word>true|false|null)"
)
HEADING: Final = re.compile(r"^## +(.+)$", re.MULTILINE)
NOT_IN_ANCHOR: Final = re.compile(r"[^a-z0-9]+")
PATH_PARAMETER: Final = re.compile(r"(\{[^}]+\})")


class Writer:
    """A converter from Markdown to HTML; code that is a key of `places` becomes a link."""

    def __init__(self, places: Mapping[str, str] = MappingProxyType({})) -> None:
        self.places = places
        self.line = cache(self.rendered_line)  # Many pages repeat the text of a code or a field.
        self.markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.markdown.disable("image")  # The pages load no images.
        self.markdown.add_render_rule("fence", fence)
        self.markdown.renderer.rules["code_inline"] = self.code_inline  # type: ignore[attr-defined]
        self.markdown.add_render_rule("heading_open", heading)

    def block(self, text: str) -> Markup:
        """Render paragraphs, lists, tables and code."""
        return Markup(self.markdown.render(text))

    def article(self, text: str) -> Markup:
        """Render a text whose headings have anchors."""
        return Markup(self.markdown.render(text, {"anchors": True}))

    def rendered_line(self, text: str) -> Markup:
        """Render a text within a line."""
        return Markup(self.markdown.renderInline(text))

    def code(self, text: str) -> Markup:
        """Render code; the name of a page becomes a link that may break at underscores."""
        if text in self.places:
            name = Markup("_<wbr>").join(text.split("_"))
            return Markup('<a href="{}"><code>{}</code></a>').format(self.places[text], name)
        return Markup("<code>{}</code>").format(text)

    def code_inline(self, tokens: Any, index: int, *_: Any) -> str:
        """Render code within a line."""
        return self.code(tokens[index].content)


def sections(text: str) -> tuple[str, dict[str, str]]:
    """Split a text at its second-level headings; return the text before them, and the sections."""
    lead, *parts = HEADING.split(text)
    return lead, dict(zip(parts[::2], parts[1::2], strict=True))


def fence(_: Any, tokens: Any, index: int, *__: Any) -> str:
    """Render a block of code; JSON is highlighted."""
    token = tokens[index]
    code = json_markup(token.content) if token.info.strip() == "json" else escape(token.content)
    return f'<pre tabindex="0"><code>{code}</code></pre>\n'


def heading(renderer: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Render the start of a heading."""
    if env.get("anchors"):
        tokens[index].attrSet("id", slug(tokens[index + 1].content))
    started: str = renderer.renderToken(tokens, index, options, env)
    return started


def json_markup(text: str) -> Markup:
    """Escape JSON and mark keys, texts, numbers and literals."""
    pieces, end = [], 0
    for match in JSON_PART.finditer(text):
        pieces.append(escape(text[end : match.start()]))
        pieces.append(Markup(f'<i class="{match.lastgroup}">{escape(match.group())}</i>'))
        end = match.end()
    return Markup("").join([*pieces, escape(text[end:])])


def pretty(value: Any) -> Markup:
    """Return a value as highlighted JSON over several lines."""
    return json_markup(indented(value))


def indented(value: Any) -> str:
    """Return a value as JSON over several lines."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()


def path_markup(path: str) -> Markup:
    """Mark the variable parts of a path, and allow a line break after each slash."""
    parts = [
        Markup("<var>{}</var>").format(part)
        if part.startswith("{")
        else Markup("/<wbr>").join(part.split("/"))
        for part in PATH_PARAMETER.split(path)
    ]
    return Markup("").join(parts)


def slug(text: str) -> str:
    """Return the anchor of a heading: "Repeating safely" is `repeating-safely`."""
    return NOT_IN_ANCHOR.sub("-", text.lower()).strip("-")
