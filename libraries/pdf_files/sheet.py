"""A document that is being drawn: texts, rules and tables that continue from page to page.

Lengths are in mm and sizes in points. Only this module draws; it is imported with the first
document.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import as_file
from typing import Final

from fpdf import FPDF

from libraries.pdf_files.letters import face, shown, width, wrapped

SIDE: Final = 18.0
TOP: Final = 18.0
BOTTOM: Final = 22.0  # It includes the foot of the page.
LEADING: Final = 0.5  # The height of a line in mm for each point of the size.
FONT: Final = "DejaVu Sans"
LARGE: Final = 17.0
NORMAL: Final = 8.5
SMALL: Final = 7.0
SIZES: Final = (NORMAL, 7.5, 6.5, 5.5, 4.5)
BETWEEN: Final = 4.0  # The gap between columns.
LEAST_TEXT: Final = 46.0  # The letters are reduced before a text column gets narrower.

Colour = tuple[int, int, int]
INK: Final[Colour] = (27, 31, 36)
FAINT: Final[Colour] = (96, 104, 114)
LINE: Final[Colour] = (198, 203, 209)

# They log warnings about fonts, for example; errors that matter are raised as exceptions.
for _noisy in ("fpdf", "fontTools"):
    logging.getLogger(_noisy).setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; a text column wraps, and other columns are as wide as their contents.

    Text columns and columns with `left` are aligned left, all others right.
    """

    title: str
    text: bool = False
    left: bool = False

    @property
    def to_right(self) -> bool:
        """Return whether the contents are aligned right."""
        return not (self.text or self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row, with a cell for each column; `note` is in small letters below the first cell.

    The row is indented by `inset`. It has a `rule` above it, `space` above that, and `pad` around
    it.
    """

    cells: Sequence[str]
    note: str = ""
    bold: bool = False
    inset: float = 0
    rule: Colour | None = LINE
    space: float = 0
    pad: float = 1.3
    keep_with_next: bool = False


@dataclass(frozen=True, slots=True)
class _Grid:
    """The columns of a table with their widths, from `left` to `right`."""

    columns: Sequence[Column]
    widths: Sequence[float]
    size: float
    left: float
    right: float

    @property
    def has_titles(self) -> bool:
        """Return whether any column has a title."""
        return any(column.title for column in self.columns)

    def place(self, column: int) -> tuple[float, float]:
        """Return the left edge and the width of a column."""
        return self.left + sum(self.widths[:column]) + BETWEEN * column, self.widths[column]


def breadth_of(*, wide: bool) -> float:
    """Return the width between the margins on A4, portrait or (`wide`) landscape."""
    return (297.0 if wide else 210.0) - 2 * SIDE


class Sheet:
    """A document of A4 pages, which begins with a first page; `y` is the current position in mm."""

    def __init__(
        self, title: str, author: str, language: str, written_at: datetime, *, wide: bool = False
    ) -> None:
        self._pdf = FPDF(orientation="landscape" if wide else "portrait", format="A4")
        self._pdf.alias_nb_pages("")  # Else its alias for the page count is replaced in texts.
        for bold, style in ((False, ""), (True, "B")):
            with as_file(face(bold=bold)) as path:
                self._pdf.add_font(FONT, style, path)
        self._pdf.set_auto_page_break(auto=False)
        self._pdf.set_title(shown(title))
        self._pdf.set_author(shown(author))
        self._pdf.set_lang(language)
        self._pdf.set_creation_date(written_at)  # So that equal documents have equal bytes.
        self.turn()

    @property
    def right(self) -> float:
        """The position of the right margin."""
        return self._pdf.w - SIDE

    @property
    def breadth(self) -> float:
        """The width between the margins."""
        return self._pdf.w - 2 * SIDE

    @property
    def room(self) -> float:
        """The height that is left on the page."""
        return self._pdf.h - BOTTOM - self.y

    def turn(self) -> None:
        """Begin a new page."""
        self._pdf.add_page()
        self.y = TOP

    def need(self, height: float) -> None:
        """Begin a new page if this height does not fit on this one."""
        if self.room < height:
            self.turn()

    def write(
        self,
        text: str,
        x: float,
        *,
        size: float = NORMAL,
        bold: bool = False,
        colour: Colour = INK,
        to_right: bool = False,
    ) -> None:
        """Write a text on one line that begins at `x`, or ends there; `y` stays."""
        text = shown(text)
        self._pdf.set_font(FONT, "B" if bold else "", size)
        self._pdf.set_text_color(colour)
        left = x - width(text, size, bold=bold) if to_right else x
        self._pdf.text(left, self.y + size * LEADING * 0.72, text)

    def paragraph(
        self,
        text: str,
        x: float,
        breadth: float,
        *,
        size: float = NORMAL,
        bold: bool = False,
        colour: Colour = INK,
    ) -> None:
        """Write a text on as many lines as it needs, from page to page; `y` moves below it."""
        for line in wrapped(shown(text), breadth, size, bold=bold):
            self.need(size * LEADING)
            self.write(line, x, size=size, bold=bold, colour=colour)
            self.y += size * LEADING

    def rule(self, x: float, end: float, colour: Colour = LINE) -> None:
        """Draw a horizontal line."""
        self._pdf.set_draw_color(colour)
        self._pdf.set_line_width(0.2)
        self._pdf.line(x, self.y, end, self.y)

    def table(
        self,
        columns: Sequence[Column],
        rows: Sequence[Row],
        *,
        left: float = SIDE,
        together: bool = False,
    ) -> None:
        """Draw a table from `left` to the right margin; its titles are repeated on each page.

        A table that stays `together` begins on a new page if it does not fit on this one.
        """
        rows = [
            replace(row, cells=[shown(cell) for cell in row.cells], note=shown(row.note))
            for row in rows
        ]
        grid = self._grid(columns, rows, left)
        broken = [self._broken(grid, row) for row in rows]
        heights = [self._height(grid, row, b) for row, b in zip(rows, broken, strict=True)]
        if together:
            self.need(sum(heights))
        self._titles(grid)
        begun = self.y
        for place, (row, lines) in enumerate(zip(rows, broken, strict=True)):
            kept = 2 if row.keep_with_next else 1
            if self.room < sum(heights[place : place + kept]) and self.y > begun:
                self.turn()
                self._titles(grid)
                begun = self.y
            self._row(grid, row, lines, ruled=self.y > begun)

    def finish(self, foot: str, page_of: str) -> bytes:
        """Write the foot of each page, and return the bytes of the PDF.

        `page_of` has `{page}` and `{pages}`, the number of the page and of all pages.
        """
        pages = self._pdf.pages_count
        for page in range(1, pages + 1):
            self._pdf.page = page
            self._pdf.set_font(FONT, "", LARGE)  # The PDF only gets a font command on a change, and
            self.y = self._pdf.h - 12.0  # this page may have ended with another font: force one.
            numbered = page_of.format(page=page, pages=pages)
            room = self.breadth - width(numbered, SMALL) - BETWEEN
            self.write(numbered, self.right, size=SMALL, colour=FAINT, to_right=True)
            self.write(wrapped(shown(foot), room, SMALL)[0], SIDE, size=SMALL, colour=FAINT)
        return bytes(self._pdf.output())

    def _grid(self, columns: Sequence[Column], rows: Sequence[Row], left: float) -> _Grid:
        """Compute the size of the letters and the widths; text columns share the width left by
        numbers.
        """
        texts = sum(column.text for column in columns)
        breadth = self.right - left - BETWEEN * (len(columns) - 1)
        for size in SIZES:
            natural = [
                0.0 if column.text else self._widest(place, column, rows, size)
                for place, column in enumerate(columns)
            ]
            rest = breadth - sum(natural)
            if rest >= LEAST_TEXT * texts:
                break
        share = max(rest, LEAST_TEXT / 2) / max(texts, 1)
        widths = [share if column.text else natural[at] for at, column in enumerate(columns)]
        return _Grid(columns, widths, size, left, self.right)

    def _widest(self, place: int, column: Column, rows: Sequence[Row], size: float) -> float:
        cells = max((width(row.cells[place], size, bold=row.bold) for row in rows), default=0)
        titles = column.title.split("\n")
        return max(cells, *(width(line, min(size, SMALL), bold=True) for line in titles))

    def _titles(self, grid: _Grid) -> None:
        """Write the column titles, which may have several lines and end at a common rule."""
        if not grid.has_titles:
            return
        size = min(grid.size, SMALL)
        titles = [column.title.split("\n") for column in grid.columns]
        most = max(map(len, titles))
        for at in range(most):
            for place, lines in enumerate(titles):
                x, breadth = grid.place(place)
                number = grid.columns[place].to_right
                line = lines[at - most] if most - at <= len(lines) else ""
                end = x + breadth if number else x
                self.write(line, end, size=size, bold=True, colour=FAINT, to_right=number)
            self.y += size * LEADING
        self.y += 1.5
        self.rule(grid.left, grid.right, INK)

    def _broken(self, grid: _Grid, row: Row) -> list[list[str]]:
        """Split the text cells of a row into lines."""
        lines = []
        for place, (column, cell) in enumerate(zip(grid.columns, row.cells, strict=True)):
            room = grid.widths[place] - (row.inset if place == 0 else 0)
            lines.append(wrapped(cell, room, grid.size, bold=row.bold) if column.text else [cell])
        return lines

    def _height(self, grid: _Grid, row: Row, lines: list[list[str]]) -> float:
        note = len(self._note(grid, row)) * SMALL * LEADING
        return row.space + max(map(len, lines)) * grid.size * LEADING + note + 2 * row.pad

    def _note(self, grid: _Grid, row: Row) -> list[str]:
        return wrapped(row.note, grid.widths[0] - row.inset, SMALL) if row.note else []

    def _row(self, grid: _Grid, row: Row, lines: list[list[str]], *, ruled: bool) -> None:
        """Draw a row; one that is higher than a page continues on the next."""
        self.y += row.space
        if row.rule is not None and (ruled or not grid.has_titles):
            self.rule(grid.left, grid.right, row.rule)
        self.y += row.pad
        for at in range(max(map(len, lines))):
            if self.room < grid.size * LEADING:
                self.turn()
                self._titles(grid)
                self.y += row.pad
            for place, cell in enumerate(lines):
                if at < len(cell):
                    self._cell(grid, row, place, cell[at])
            self.y += grid.size * LEADING
        if row.note:
            x, breadth = grid.place(0)
            room = breadth - row.inset
            self.paragraph(row.note, x + row.inset, room, size=SMALL, colour=FAINT)
        self.y += row.pad

    def _cell(self, grid: _Grid, row: Row, place: int, text: str) -> None:
        x, breadth = grid.place(place)
        column = grid.columns[place]
        x += breadth if column.to_right else row.inset if place == 0 else 0
        self.write(text, x, size=grid.size, bold=row.bold, to_right=column.to_right)
