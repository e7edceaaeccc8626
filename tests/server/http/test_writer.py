"""Answers of handlers as bytes: a PDF is drawn in a thread."""

import asyncio
import subprocess
import sys
import threading
from typing import Any

from handlers.results import Pdf
from server.contract.document import Contract
from server.http.writer import ReplyWriter

NOTHING: Any = None
LOADED = (
    "import sys, server.http.dispatch, libraries.pdf_files, handlers.trade.invoices;"
    " print(*sys.modules)"
)


def writer() -> ReplyWriter:
    contract = Contract.load()
    return ReplyWriter(contract.operations["get_invoice_pdf"], contract)


class TestRenderRead:
    def test_draws_off_the_loop(self) -> None:
        drawing, going_on = threading.Event(), threading.Event()
        drawers: list[int] = []

        def draw() -> bytes:
            drawers.append(threading.get_ident())
            drawing.set()
            assert going_on.wait(10), "the loop stands still"
            return b"%PDF-"

        async def beside() -> bytes:
            drawn = asyncio.ensure_future(
                writer().render_read(Pdf("x.pdf", draw), NOTHING, NOTHING)
            )
            await asyncio.to_thread(drawing.wait, 10)
            going_on.set()
            return (await drawn).body

        assert asyncio.run(beside()) == b"%PDF-"
        assert drawers != [threading.get_ident()]


class TestPdfFiles:
    def test_load_what_draws_with_the_first_paper(self) -> None:
        """Check that a worker loads it late: it takes 0.25 s and 28 MB, and most draw no PDF."""
        words = [sys.executable, "-W", "ignore", "-c", LOADED]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        assert {"fpdf", "fontTools", "PIL"}.isdisjoint(done.stdout.split())
