"""The characters of the font: replacement of missing ones, widths and line breaks.

The font is DejaVu Sans, reduced to the Latin, Greek, Cyrillic, Armenian and Georgian letters with
punctuation, currencies and a few signs; `fonts/README.md` describes how.
"""

import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from typing import Final

from fontTools.ttLib import TTFont

BOX: Final = "□"
POINT: Final = 25.4 / 72  # In mm.
FACES: Final = {False: "DejaVuSans.ttf", True: "DejaVuSans-Bold.ttf"}
# Categories of characters that are invisible, such as joiners and direction marks.
_UNSEEN: Final = frozenset({"Cf", "Mn", "Me"})
_BLANKS: Final = frozenset({"Zs", "Zl", "Zp", "Cc"})


def face(*, bold: bool) -> Traversable:
    """Return the file of a face."""
    return files("libraries.pdf_files") / "fonts" / FACES[bold]


def shown(text: str) -> str:
    """Replace characters that the font lacks by a box, and any blank character that it lacks by a
    space.

    `Bon Café 店` becomes `Bon Café □`; line breaks stay.
    """
    if text.isascii() and text.isprintable():
        return text
    widths = _widths(False)
    lines = unicodedata.normalize("NFC", text).splitlines()
    return "\n".join("".join(_letters(line, widths)) for line in lines)


def _letters(line: str, widths: Mapping[str, float]) -> Iterator[str]:
    for letter in line:
        kind = unicodedata.category(letter)
        if kind in _BLANKS and letter not in widths:
            yield " "
        elif kind in _UNSEEN:
            continue
        else:
            yield letter if letter in widths else BOX


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width in mm of a shown text, at a size in points."""
    widths = _widths(bold)
    return sum(widths[letter] for letter in text) * size * POINT


def wrapped(text: str, room: float, size: float, *, bold: bool = False) -> list[str]:
    """Split a shown text into lines of at most `room` mm, between words where possible."""
    return [line for whole in text.split("\n") for line in _lines(whole.rstrip(), room, size, bold)]


def _lines(text: str, room: float, size: float, bold: bool) -> Iterator[str]:
    widths, most = _widths(bold), room / (size * POINT)
    begin, blank, taken = 0, -1, 0.0
    for place, letter in enumerate(text):
        taken += widths[letter]
        if letter == " ":
            blank = place
        if taken > most and place > begin:
            end = blank if blank > begin else place
            yield text[begin:end].rstrip()
            begin = end + 1 if end == blank else end
            taken = sum(widths[each] for each in text[begin : place + 1])
            blank = -1
    yield text[begin:]


@cache
def _widths(bold: bool) -> Mapping[str, float]:
    """Load the width of each character, as a fraction of the size; it takes 10 ms, once."""
    with as_file(face(bold=bold)) as path, TTFont(path, lazy=True) as font:
        advances, units = font["hmtx"].metrics, font["head"].unitsPerEm
        return {chr(code): advances[glyph][0] / units for code, glyph in font.getBestCmap().items()}
