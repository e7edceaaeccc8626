"""The reference: many small HTML pages from the contract, which load nothing from other origins.

The entry points are `site(document)` for all pages and `Site.files` for single pages. Style,
scripts and the search index are files beside the pages; the content security policy allows a page
to load only these.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import chain, groupby
from typing import Any, Final

import orjson
from jinja2 import Environment, FunctionLoader, StrictUndefined

from server.docs.guides import Guide, all_guides
from server.docs.reference import ROOT
from server.docs.reference.built_files import BuiltFile
from server.docs.reference.changelog import changelog
from server.docs.reference.codes import codes_of_any, error_codes
from server.docs.reference.event_types import event_types
from server.docs.reference.fields import Describer
from server.docs.reference.first_calls import TOKEN, exports
from server.docs.reference.generators import generators
from server.docs.reference.languages import HOST
from server.docs.reference.objects import flat, objects
from server.docs.reference.operations import OperationEntry, chapters
from server.docs.reference.search_index import SearchEntry, search_index
from server.docs.reference.text import Writer, indented, pretty, sections

FILES: Final = ("style.css", "find.js", "script.js", "samples.js", "try.js")
# Entries of the navigation besides guides and operations.
LISTS: Final = (
    ("errors", "Error codes"),
    ("events", "Event types"),
    ("objects", "Objects"),
    ("changelog", "Changelog"),
    ("downloads", "Downloads"),
)
# All files have one origin. The search fetches its index.
POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A page; its kind is the folder of its address."""

    kind: str
    title: str
    address: str


Neighbours = tuple[Place | None, Place | None]


Render = Callable[[], str]


def site(document: Mapping[str, Any], built: Sequence[BuiltFile] = ()) -> dict[str, str]:
    """Render every page and file by address; `document` is the contract with its `$ref`s.

    `built` has the files beside the pages that people download.
    """
    return {address: render() for address, render in Site(document, built).files()}


class Site:
    """The data of all pages."""

    def __init__(self, document: Mapping[str, Any], built: Sequence[BuiltFile]) -> None:
        describer = Describer(document)
        self.codes = error_codes(document)
        self.codes_of_any = codes_of_any(document, self.codes, describer)
        self.chapters = list(chapters(document, self.codes, describer))
        self.operations = [each for chapter in self.chapters for each in chapter.operations]
        self.objects = list(objects(document, self.operations, describer))
        self.event_types = event_types(document, self.operations)
        text = document["info"].get("description", "")
        self.lead, _ = sections(text)
        self.guides = list(all_guides(text))
        self.changelog = dict(changelog(static("changelog.md")))
        named = {each.name: place("operations", each.name) for each in self.operations}
        named |= {name: place("errors", name) for name in self.codes}
        self.writer = Writer(named)
        self.info = document["info"]
        self.templates = self.environment()
        self.downloads = self.text("downloads.md", built=built, generators=generators(), host=HOST)

    def environment(self) -> Environment:
        """Create the template environment, with the data that all pages share."""
        templates = Environment(
            loader=FunctionLoader(template),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        templates.globals |= {
            "info": self.info,
            "policy": POLICY,
            "host": HOST,
            "set_up": f"{exports(HOST)}\n{TOKEN}",
            "root": ROOT,
            "chapters": self.chapters,
            "guides": [guide_place(guide) for guide in self.guides],
            "guide_groups": [
                (group, [guide_place(guide) for guide in each])
                for group, each in groupby(self.guides, lambda guide: guide.group)
            ],
            "lists": LISTS,
            "codes_of_any": self.codes_of_any,
            "place": place,
            "article": self.writer.article,
            "block": self.writer.block,
            "line": self.writer.line,
            "code": self.writer.code,
            "pretty": pretty,
            "indented": indented,
        }
        return templates

    def files(self) -> Iterator[tuple[str, Render]]:
        """Yield the address of every file with the function that renders it."""
        yield from self.lists()
        yield from self.guide_pages()
        yield from self.operation_pages()
        yield from self.error_pages()
        yield from self.object_pages()
        for name in FILES:
            yield f"{ROOT}{name}", partial(static, name)
        for each in generators():
            if each.settings:
                yield f"{ROOT}downloads/{each.settings}", partial(getattr, each, "text")
        yield f"{ROOT}search.json", self.index

    def index(self) -> str:
        """Return the index of the search as JSON."""
        synonyms = orjson.loads(static("synonyms.json"))
        return orjson.dumps(search_index(list(self.searched()), synonyms)).decode()

    def page(
        self, name: str, shown: Place, around: Neighbours = (None, None), **facts: Any
    ) -> tuple[str, Render]:
        """Return the address of a page and its function, with links to its neighbours."""
        before, after = around
        facts |= {"page": shown, "before": before, "after": after}
        return shown.address, lambda: self.templates.get_template(name).render(facts)

    def text(self, name: str, **facts: Any) -> str:
        """Render a template of Markdown, in which nothing is escaped yet."""
        return self.templates.overlay(autoescape=False).get_template(name).render(**facts)

    def lists(self) -> Iterator[tuple[str, Render]]:
        """Render the overview pages."""
        start = Place("", self.info["title"], ROOT)
        yield self.page("index.html", start, lead=self.lead, operations=len(self.operations))
        yield self.page("missing.html", Place("", "Page not found", f"{ROOT}404.html"))
        told: dict[str, dict[str, Any]] = {
            "errors": {"codes": self.codes.values()},
            "events": {
                "groups": self.event_types,
                "entry": next((each for each in self.objects if each.field.name == "Event"), None),
            },
            "objects": {"objects": self.objects},
            "changelog": {"releases": self.changelog},
            "downloads": {"text": self.downloads},
        }
        for kind, title in LISTS:
            yield self.page(f"{kind}.html", Place(kind, title, f"{ROOT}{kind}/"), **told[kind])

    def guide_pages(self) -> Iterator[tuple[str, Render]]:
        """Render a page for each guide."""
        row = [guide_place(guide) for guide in self.guides]
        for guide, (shown, around) in zip(self.guides, in_row(row), strict=True):
            yield self.page("guide.html", shown, around, guide=guide)

    def operation_pages(self) -> Iterator[tuple[str, Render]]:
        """Render a page for each operation; the operations of a tag follow one another."""
        for chapter in self.chapters:
            row = [
                Place("operations", each.summary, place("operations", each.name))
                for each in chapter.operations
            ]
            for operation, (shown, around) in zip(chapter.operations, in_row(row), strict=True):
                yield self.page(
                    "operation.html", shown, around, operation=operation, chapter=chapter
                )

    def error_pages(self) -> Iterator[tuple[str, Render]]:
        """Render a page for each error code, with the operations that may return it."""
        answering: defaultdict[str, list[OperationEntry]] = defaultdict(list)
        for operation in self.operations:
            for code in operation.codes:
                answering[code.name].append(operation)
        row = [Place("errors", name, place("errors", name)) for name in self.codes]
        for error, (shown, around) in zip(self.codes.values(), in_row(row), strict=True):
            yield self.page(
                "error.html",
                shown,
                around,
                error=error,
                operations=None if error in self.codes_of_any else answering[error.name],
            )

    def object_pages(self) -> Iterator[tuple[str, Render]]:
        """Render a page for each named schema."""
        for entry in self.objects:
            name = entry.field.name
            yield self.page(
                "object.html", Place("objects", name, place("objects", name)), entry=entry
            )

    def plain(self, text: str) -> str:
        """Return a text without its markup."""
        return self.writer.block(text).striptags()

    def searched(self) -> Iterator[SearchEntry]:
        """Yield the searchable text of each page."""
        first, *others = self.guides
        texts = [(first, self.lead), *((guide, guide.text) for guide in others)]
        for guide, text in texts:  # The first repeats in short what the others state.
            address = place("guides", guide.name)
            yield SearchEntry("Guide", guide.title, address, self.plain(text), text)
        for chapter in self.chapters:
            for each in chapter.operations:
                fields = chain.from_iterable(entries for _, entries in each.parameters)
                yield SearchEntry(
                    "Operation",
                    each.summary,
                    place("operations", each.name),
                    f"{each.method} {each.path}",
                    f"{each.name} {each.path} {chapter.name} {each.text}",
                    tuple(field.name for field in fields),
                    "parameter-",
                )
        for error in self.codes.values():
            text = " ".join((error.when, error.do, *dict(error.detail).values()))
            yield SearchEntry(
                "Error code",
                error.name,
                place("errors", error.name),
                self.plain(error.when),
                text,
                tuple(dict(error.detail)),
                "field-",
            )
        for entry in self.objects:
            name = entry.field.name
            yield SearchEntry(
                "Object",
                name,
                place("objects", name),
                self.plain(entry.field.text) or ", ".join(field.name for field in entry.fields),
                " ".join((entry.field.text, *(field.text for field in flat(entry.fields)))),
                tuple(field.name for field in entry.fields),
                "field-",
            )
        for anchor, (title, text) in self.changelog.items():
            address = f"{ROOT}changelog/#{anchor}"
            yield SearchEntry("Changelog", title, address, self.plain(text), text)
        types = chain.from_iterable(group.types for group in self.event_types)
        told = {
            "errors": " ".join(self.codes),
            "events": " ".join(f"{each.name} {each.text}" for each in types),
            "downloads": self.downloads,
        }
        for kind, title in LISTS:
            note = self.plain(self.downloads) if kind == "downloads" else ""
            yield SearchEntry("Page", title, f"{ROOT}{kind}/", note, told.get(kind, ""))


def in_row(row: Sequence[Place]) -> Iterator[tuple[Place, Neighbours]]:
    """Yield each page with the page before and the page after it."""
    for before, page, after in zip([None, *row], row, [*row[1:], None], strict=False):
        yield page, (before, after)


def place(kind: str, name: str) -> str:
    """Return the address of a page."""
    return f"{ROOT}{kind}/{name}/"


def guide_place(guide: Guide) -> Place:
    """Return the page of a guide."""
    return Place("guides", guide.title, place("guides", guide.name))


def template(name: str) -> str:
    """Read a template."""
    return (files("server.docs.reference.pages") / name).read_text(encoding="utf-8")


def static(name: str) -> str:
    """Read a file from the folder of this package."""
    return (files("server.docs.reference") / name).read_text(encoding="utf-8")
