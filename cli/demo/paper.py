"""A one-page PDF for the documents of the demo, made without a PDF library."""

from collections.abc import Sequence


def page(title: str, lines: Sequence[str]) -> bytes:
    """Return a PDF of one A4 page with a title and lines of text; the output is deterministic."""
    shown = [f"BT /F1 18 Tf 72 770 Td 16 TL {_literal(title)} Tj /F1 11 Tf T*"]
    shown += [f"T* {_literal(line)} Tj" for line in lines]
    content = "\n".join([*shown, "ET"])
    return _file(
        (
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            " /Resources << /Font << /F1 5 0 R >> >> >>",
            f"<< /Length {len(_bytes(content))} >>\nstream\n{content}\nendstream",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        )
    )


def _file(objects: Sequence[str]) -> bytes:
    """Return a PDF file of numbered objects, with the cross-reference table of their offsets."""
    body, places = _bytes("%PDF-1.4\n"), []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += _bytes(f"{number} 0 obj\n{content}\nendobj\n")
    count = len(objects) + 1
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return body + _bytes(f"xref\n0 {count}\n0000000000 65535 f \n{table}{trailer}")


def _literal(text: str) -> str:
    """Return a PDF string literal: in parentheses, with backslashes and parentheses escaped."""
    for character in "\\()":
        text = text.replace(character, f"\\{character}")
    return f"({text})"


def _bytes(text: str) -> bytes:
    return text.encode("cp1252")
