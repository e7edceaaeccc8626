"""The head of a document and the foot of its pages: issuer, title, recipient and facts."""

from collections.abc import Iterator, Sequence
from typing import Final

from libraries.pdf_files.formats import Formats
from libraries.pdf_files.letters import shown, wrapped
from libraries.pdf_files.papers import Issuer, Recipient
from libraries.pdf_files.sheet import FAINT, LARGE, LEADING, NORMAL, SIDE, SMALL, Sheet
from libraries.pdf_files.words import Words

BETWEEN: Final = 8.0
NAME: Final = 12.0


class Head:
    """The head of one document."""

    def __init__(self, sheet: Sheet, words: Words, formats: Formats) -> None:
        self._sheet = sheet
        self._words = words
        self._formats = formats
        self._half = (sheet.breadth - BETWEEN) / 2

    def draw(
        self,
        issuer: Issuer,
        title: str,
        recipient: Recipient | None,
        addressed: str,
        facts: Sequence[tuple[str, str]],
    ) -> None:
        """Draw the issuer beside the title, and below them the recipient beside the facts.

        `addressed` is the heading of the recipient. Without a recipient, the facts are below the
        title.
        """
        sheet, begin = self._sheet, self._sheet.y
        self._issuer(issuer)
        end, sheet.y = sheet.y, begin
        self._title(title)
        if recipient is None:
            sheet.y += 3
        else:
            sheet.y = begin = max(end, sheet.y) + 9
            self._recipient(recipient, addressed)
            end, sheet.y = sheet.y, begin
        self._facts(facts)
        sheet.y = max(end, sheet.y) + 9

    def foot(self, issuer: Issuer) -> str:
        """Return the text of the foot: the legal name and the registration numbers."""
        return " · ".join((issuer.legal_name, *_numbers(self._words, issuer)))

    def _issuer(self, issuer: Issuer) -> None:
        sheet = self._sheet
        sheet.paragraph(issuer.name, SIDE, self._half, size=NAME, bold=True)
        sheet.y += 1
        legal = issuer.legal_name if issuer.legal_name != issuer.name else ""
        country = self._formats.country(issuer.country)
        for text in (legal, country, issuer.email, issuer.phone_number):
            self._faint(text)
        for text in _numbers(self._words, issuer):
            self._faint(text)

    def _faint(self, text: str | None) -> None:
        if text:
            self._sheet.paragraph(text, SIDE, self._half, size=SMALL + 0.5, colour=FAINT)

    def _title(self, title: str) -> None:
        sheet = self._sheet
        for line in wrapped(shown(title), self._half, LARGE, bold=True):
            sheet.write(line, sheet.right, size=LARGE, bold=True, to_right=True)
            sheet.y += LARGE * LEADING

    def _recipient(self, recipient: Recipient, addressed: str) -> None:
        sheet = self._sheet
        sheet.paragraph(addressed, SIDE, self._half, size=SMALL, bold=True, colour=FAINT)
        sheet.y += 1
        sheet.paragraph(recipient.name, SIDE, self._half, size=NORMAL + 1, bold=True)
        number = f"{self._words.vat_number} {recipient.vat_number}" if recipient.vat_number else ""
        country = self._formats.country(recipient.country)
        for text in (*recipient.address, country, number):
            if text:
                sheet.paragraph(text, SIDE, self._half)

    def _facts(self, facts: Sequence[tuple[str, str]]) -> None:
        """Draw each fact: its name on the left of the right half, its value on the right."""
        sheet, x = self._sheet, SIDE + self._half + BETWEEN
        for name, value in facts:
            sheet.write(name, x, colour=FAINT)
            for line in wrapped(shown(value), self._half * 0.62, NORMAL, bold=True):
                sheet.write(line, sheet.right, bold=True, to_right=True)
                sheet.y += NORMAL * LEADING + 0.6


def _numbers(words: Words, issuer: Issuer) -> Iterator[str]:
    """Return the registration numbers of a business, each after its name."""
    named = (
        (words.vat_number, issuer.vat_number),
        (words.company_number, issuer.company_number),
        (words.tax_number, issuer.tax_number),
    )
    return (f"{name} {number}" for name, number in named if number)
