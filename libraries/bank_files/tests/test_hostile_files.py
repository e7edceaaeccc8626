"""Hostile files soon yield lines or a refusal; `python -m tests.fuzz.bank_files` tries more."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libraries.bank_files import NAMES, Format
from libraries.bank_files.tests.hostile import check, damaged_samples, much_of
from libraries.bank_files.tests.statements import FILES, format_of

FEW = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


class TestHostileFiles:
    @pytest.mark.parametrize("kind", sorted(NAMES))
    @given(content=st.binary(max_size=2_000))
    @FEW
    def test_random_bytes(self, kind: Format, content: bytes) -> None:
        check(kind, content)

    @pytest.mark.parametrize("name", sorted(FILES))
    @given(data=st.data())
    @FEW
    def test_samples_that_are_cut_mixed_up_and_written_over(
        self, name: str, data: st.DataObject
    ) -> None:
        check(format_of(name), data.draw(damaged_samples(name)))

    @pytest.mark.parametrize(
        ("kind", "piece"),
        [
            *(("ofx", b"<OFX><STMTRS>"), ("ofx", b"<OFX><STMTRS><STMTTRN>")),
            *(("ofx", b"<OFX><![CDATA["), ("ofx", b"<OFX><A</A>"), ("ofx", b"<OFX>&amp;")),
            *(("camt053", b"<Ntry>"), ("camt053", b"<a b='c'>")),
            *(("mt940", b":20:\n:61:"), ("mt940", b":61:2607150715D1,00NTRFX\n:86:")),
            *(("mt940", b":20:\n:61:2607150715D1,00NTRFX\n:86:166?20SVWZ+/NAME/"),),
            *(("csv", b'"a\n",'), ("csv", b",;\t|"), ("csv", b"2026-07-15,1.00\n")),
        ],
    )
    def test_much_of_the_same_does_not_take_long(self, kind: Format, piece: bytes) -> None:
        check(kind, much_of(piece))
