"""Bank files made to do harm. Reading one ends soon, with lines or with a refusal."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from hypothesis import strategies as st

from libraries import bank_files
from libraries.bank_files import BadLine, Columns, FileLine, Format, Unreadable, guess
from libraries.bank_files.tests.statements import content_of

MARKUP = (
    *(b"<OFX><STMTRS>", b"<STMTTRN>", b"</STMTTRN>", b"<![CDATA[", b"]]>", b"<NAME>", b"<MEMO/>"),
    *(
        b"<A</A>",
        b"<Ntry>",
        b"</Ntry>",
        b"<TxDtls>",
        b"<Document><BkToCstmrStmt><Stmt>",
        b"<a b='c'>",
        b"&amp;",
    ),
)
TEXT = (
    *(b":20:\n:61:", b":61:2607150715D1,00NTRFX\n:86:", b"166?20", b"?21", b"?32", b"SVWZ+"),
    *(b"/NAME/", b"/CNTP/", b"\n:NS:", b"\n-", b"\n"),
    *(b'"', b'"a\n",', b",;\t|", b"1,", b"9999999999999999999", b"2026-07-15,1.00\n", b"\x00"),
)
PIECES = (*MARKUP, *TEXT, b"1e999999", b"-0", b"\xff\xfe")
COLUMNS = Columns(date="1", amount="2", description="3")
SECONDS_PER_MEGABYTE = 5


def check(kind: Format, content: bytes) -> None:
    """Read a file and check the result; any exception but Unreadable fails the test."""
    with at_most(SECONDS_PER_MEGABYTE * max(1, len(content) / 1_000_000)):
        guess(content)
        try:
            lines = bank_files.read(content, kind, COLUMNS if kind == "csv" else None)
        except Unreadable:
            lines = []
    for line in lines:
        assert isinstance(line, FileLine | BadLine)
        if isinstance(line, FileLine):
            assert line.amount.is_finite()
            texts = (line.description, line.counterparty_name, line.reference, line.external_id)
            assert all(text is None or (text and "\0" not in text) for text in texts)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeoutError when the block takes more processor time than that."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def much_of(piece: bytes, size: int = 1_000_000) -> bytes:
    """Return a file that repeats one piece up to a size in bytes."""
    return piece * (size // len(piece))


@st.composite
def damaged_samples(draw: st.DrawFn, name: str) -> bytes:
    """Create a sample overwritten with pieces, random bytes and its own parts, and perhaps cut."""
    sample = content_of(name)
    content = bytearray(sample)
    parts = st.integers(0, len(sample)).flatmap(
        lambda start: st.integers(1, 40).map(lambda size: sample[start : start + size])
    )
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 40)))
        content[start:end] = draw(st.binary(max_size=20) | st.sampled_from(PIECES) | parts)
    cut = draw(st.integers(0, len(content)))
    return bytes(content[:cut]) if draw(st.booleans()) else bytes(content)
