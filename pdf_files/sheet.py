"""A paper under way: texts, rules and tables that go on from page to page.

Lengths are in mm and sizes in points. It is the only module that draws, and it is imported by the
first paper that is asked for.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import as_file
from typing import Final

from fpdf import FPDF

from pdf_files.letters import face, shown, width, wrapped

SIDE: Final = 18.0
TOP: Final = 18.0
BOTTOM: Final = 22.0  # The foot of the page stands in it.
LEADING: Final = 0.5  # Mm that a line is high for each point of its letters.
FONT: Final = "DejaVu Sans"
LARGE: Final = 17.0
NORMAL: Final = 8.5
SMALL: Final = 7.0
SIZES: Final = (NORMAL, 7.5, 6.5, 5.5, 4.5)
BETWEEN: Final = 4.0  # Columns.
LEAST_TEXT: Final = 46.0  # Letters get smaller before a column of text gets narrower.

Colour = tuple[int, int, int]
INK: Final[Colour] = (27, 31, 36)
FAINT: Final[Colour] = (96, 104, 114)
LINE: Final[Colour] = (198, 203, 209)

# It warns of what it takes for odd, of fonts for one; what matters to us it raises.
for _noisy in ("fpdf", "fontTools"):
    logging.getLogger(_noisy).setLevel(logging.ERROR)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; one of text wraps, and the others are as wide as what they hold.

    Text is set `left`, and others are where it is said; else they end on the right.
    """

    title: str
    text: bool = False
    left: bool = False

    @property
    def to_right(self) -> bool:
        """Whether what it holds ends where the column does."""
        return not (self.text or self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row, a cell for each column; `note` stands small below the first cell.

    It is set in by `inset`, and has a `rule` above it, `space` before that and `pad` around it.
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
    """The columns of a table as they are set, from `left` to `right`."""

    columns: Sequence[Column]
    widths: Sequence[float]
    size: float
    left: float
    right: float

    @property
    def has_titles(self) -> bool:
        """Whether any column has a title."""
        return any(column.title for column in self.columns)

    def place(self, column: int) -> tuple[float, float]:
        """Say where a column begins and how wide it is."""
        return self.left + sum(self.widths[:column]) + BETWEEN * column, self.widths[column]


def breadth_of(*, wide: bool) -> float:
    """Say how wide what stands between the margins is on A4, upright or on its side."""
    return (297.0 if wide else 210.0) - 2 * SIDE


class Sheet:
    """A paper of A4 pages, begun with its first one; `y` is how far down its page it is filled."""

    def __init__(
        self, title: str, author: str, language: str, written_at: datetime, *, wide: bool = False
    ) -> None:
        self._pdf = FPDF(orientation="landscape" if wide else "portrait", format="A4")
        self._pdf.alias_nb_pages("")  # A text may have its alias for the number of pages in it.
        for bold, style in ((False, ""), (True, "B")):
            with as_file(face(bold=bold)) as path:
                self._pdf.add_font(FONT, style, path)
        self._pdf.set_auto_page_break(auto=False)
        self._pdf.set_title(shown(title))
        self._pdf.set_author(shown(author))
        self._pdf.set_lang(language)
        self._pdf.set_creation_date(written_at)  # Drawn again, it has the same bytes.
        self.turn()

    @property
    def right(self) -> float:
        """Where the margin on the right begins."""
        return self._pdf.w - SIDE

    @property
    def breadth(self) -> float:
        """How wide what stands between the margins is."""
        return self._pdf.w - 2 * SIDE

    @property
    def room(self) -> float:
        """How much more the page holds."""
        return self._pdf.h - BOTTOM - self.y

    def turn(self) -> None:
        """Begin a new page."""
        self._pdf.add_page()
        self.y = TOP

    def need(self, height: float) -> None:
        """Begin a new page where so much does not fit on this one."""
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
        """Write a text on as many lines as it takes, from page to page; `y` goes below it."""
        for line in wrapped(shown(text), breadth, size, bold=bold):
            self.need(size * LEADING)
            self.write(line, x, size=size, bold=bold, colour=colour)
            self.y += size * LEADING

    def rule(self, x: float, end: float, colour: Colour = LINE) -> None:
        """Draw a line across."""
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
        """Set a table from `left` on; each page that it comes to begins with its titles.

        One that stays `together` begins on a new page where it does not fit on this one.
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
        """Write the foot of each page, and return the bytes of the paper.

        `page_of` has the number of a page and of all of them in braces.
        """
        pages = self._pdf.pages_count
        for page in range(1, pages + 1):
            self._pdf.page = page
            self._pdf.set_font(FONT, "", LARGE)  # The page may have ended with another font than
            self.y = self._pdf.h - 12.0  # the one before it: it is said anew where it changes.
            numbered = page_of.format(page=page, pages=pages)
            room = self.breadth - width(numbered, SMALL) - BETWEEN
            self.write(numbered, self.right, size=SMALL, colour=FAINT, to_right=True)
            self.write(wrapped(shown(foot), room, SMALL)[0], SIDE, size=SMALL, colour=FAINT)
        return bytes(self._pdf.output())

    def _grid(self, columns: Sequence[Column], rows: Sequence[Row], left: float) -> _Grid:
        """Choose the size of the letters and the widths; text shares what numbers leave."""
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
        """Write the titles of the columns, which may have several lines, down to one rule."""
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
        """Break the cells of text of a row into lines."""
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
        """Set a row; one that is higher than a page goes on on the next."""
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
