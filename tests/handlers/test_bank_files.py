"""Files of banks are read: what each dialect says, and that only lines or a refusal come out."""

from datetime import date
from decimal import Decimal
from time import process_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bank_files
from bank_files import BadLine, FileLine, Unreadable, camt, mt940_text, ofx, table
from bank_files.lines import decoded, iban_in, tidy
from bank_files.written import Amounts, Days, way
from handlers.bank_transactions import guess_format
from tests.handlers.statements import FILES, MAPPINGS, content_of

ANY = {"date": "1", "amount": "2", "description": "3"}
SHARDS_OF_MARKUP = (
    *(b"<OFX><STMTRS>", b"<STMTTRN>", b"<![CDATA[", b"<NAME>", b"<A</A>"),
    *(b"<Ntry>", b"<Document><BkToCstmrStmt><Stmt>", b"<a b='c'>", b"&amp;"),
)
SHARDS_OF_TEXT = (
    *(b":20:\n:61:", b":61:2607150715D1,00NTRFX\n:86:", b"?20", b"/NAME/", b"\n"),
    *(b'"', b'"a\n",', b",;\t|", b"1,", b"9999999999999999999", b"2026-07-15,1.00\n", b"\x00"),
)
SHARDS = (*SHARDS_OF_MARKUP, *SHARDS_OF_TEXT, b"1e999999", b"-0", b"\xff\xfe")
READERS = {
    "csv": lambda content: table.read(content, ANY),
    "ofx": ofx.read,
    "camt053": camt.read,
    "mt940": mt940_text.read,
}
KINDS = {"csv": "csv", "tab": "csv", "ofx": "ofx", "xml": "camt053", "sta": "mt940"}
CALM = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)


def sample(name: str) -> list[Any]:
    kind = KINDS[name.rpartition(".")[2]]
    return bank_files.read(content_of(name), kind, MAPPINGS.get(name))


def good(name: str) -> list[FileLine]:
    return [line for line in sample(name) if isinstance(line, FileLine)]


def entry(inside: str, amount: str = "10.00", way_: str = "CRDT") -> bytes:
    return (
        "<Document><BkToCstmrStmt><Stmt><Ntry>"
        f"<Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>{way_}</CdtDbtInd>"
        f"<BookgDt><Dt>2026-07-15</Dt></BookgDt>{inside}"
        "</Ntry></Stmt></BkToCstmrStmt></Document>"
    ).encode()


class TestGuess:
    @pytest.mark.parametrize("name", sorted(FILES))
    def test_it_knows_every_sample_by_its_content(self, name: str) -> None:
        assert guess_format(content_of(name)) == KINDS[name.rpartition(".")[2]]

    @pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"hello", b"<html></html>", b"{}"])
    def test_it_knows_nothing_else(self, content: bytes) -> None:
        assert guess_format(content) is None


class TestCamt:
    def test_a_batch_becomes_its_transactions(self) -> None:
        batch = good("nl_camt_02.xml")[1:4]
        assert [line.amount for line in batch] == [Decimal(-100), Decimal(-100), Decimal("-150.75")]
        assert [line.counterparty_name for line in batch] == ["Jansen", "Jansen", "De Vries"]
        assert [line.reference for line in batch] == ["BATCH-1", "BATCH-2", "RF18539007547034"]
        assert len({line.external_id for line in batch}) == 3

    def test_a_batch_with_its_own_directions_is_taken_apart_too(self) -> None:
        assert [line.amount for line in good("de_camt_08.xml")[1:3]] == [100, -30]

    def test_a_batch_that_is_told_in_another_currency_stays_whole(self) -> None:
        line = good("de_camt_08.xml")[3]
        assert (line.amount, line.external_id) == (-500, "AUSLAND-1")

    def test_a_batch_that_does_not_add_up_stays_whole(self) -> None:
        part = "<TxDtls><Amt Ccy='EUR'>3.00</Amt></TxDtls>"
        [line] = camt.read(entry(f"<NtryDtls>{part}{part}</NtryDtls>"))
        assert isinstance(line, FileLine)
        assert line.amount == 10

    def test_a_reversal_goes_the_way_it_says_and_names_the_other_side(self) -> None:
        line = good("nl_camt_02.xml")[4]
        assert (line.amount, line.counterparty_name) == (-55, "Trage Betaler")

    def test_what_is_not_booked_is_no_line(self) -> None:
        assert not any(line.amount == Decimal("-9.99") for line in good("nl_camt_02.xml"))
        assert camt.read(entry("<Sts><Cd>PDNG</Cd></Sts>")) == []
        assert len(camt.read(entry("<Sts><Cd>BOOK</Cd></Sts>"))) == 1

    def test_letters_are_read_as_the_file_declares_them(self) -> None:
        assert good("de_camt_08.xml")[0].counterparty_name == "Müller & Söhne GmbH"

    @pytest.mark.parametrize("amount", ["", "ten", "1e3", "NaN", "9" * 40, "1.000,00"])
    def test_a_wrong_amount_is_a_bad_line(self, amount: str) -> None:
        assert camt.read(entry("", amount)) == [BadLine("The amount is not a number.")]

    def test_a_report_of_the_day_is_no_statement(self) -> None:
        with pytest.raises(Unreadable, match="no CAMT"):
            camt.read(b"<Document><BkToCstmrAcctRpt><Rpt/></BkToCstmrAcctRpt></Document>")

    def test_no_document_type_is_read_and_no_other_file_fetched(self) -> None:
        for content in (
            b"<!DOCTYPE a [<!ENTITY b 'c'>]><Document><BkToCstmrStmt/>&b;</Document>",
            b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:9/x.dtd'><Document><BkToCstmrStmt/></Document>",
        ):
            with pytest.raises(Unreadable, match="document type"):
                camt.read(content)

    def test_elements_within_elements_have_an_end(self) -> None:
        with pytest.raises(Unreadable):
            camt.read(b"<a>" * 100_000)


class TestMt940:
    def test_dutch_fields_between_slashes_are_taken_apart(self) -> None:
        line = good("nl_abn.sta")[0]
        assert (line.counterparty_name, line.reference) == ("BAKKERIJ BLAUWE DEUR", "INV-000017")
        assert (line.description, line.iban) == ("FACTUUR INV-000017", "NL91ABNA0417164300")
        web = good("nl_ing.sta")[0]
        assert web.counterparty_name == "ING BANK NV INZAKE WEB"
        assert (web.external_id, web.description) == ("26197000001234", "EV10001REP1000000T1000")
        rabo = good("nl_rabo.sta")
        assert [line.counterparty_name for line in rabo] == [
            "J.Janssen Koffiebar",
            "Belastingdienst",
        ]
        assert [line.amount for line in rabo] == [250, -104]

    def test_german_fields_are_taken_apart(self) -> None:
        line = good("de_deutsche.sta")[0]
        assert line.counterparty_name == "Müller + Söhne GmbH"
        assert line.description == "Rechnung RE-2026-0042 vielen Dank"
        assert line.reference == "RE-2026-0042"

    def test_reversals_go_the_other_way(self) -> None:
        assert good("nl_abn.sta")[3].amount == -10
        assert good("de_deutsche.sta")[2].amount == 30

    def test_a_line_that_cannot_be_read_fails_alone(self) -> None:
        lines = sample("de_deutsche.sta")
        assert [isinstance(line, BadLine) for line in lines] == [False, False, True, False]

    def test_the_day_is_that_of_booking(self) -> None:
        text = b":20:X\n:60F:C251231EUR1,00\n:61:2512311230D1,00NTRFX\n:61:2601011231D1,00NTRFX\n"
        days = [line.booked_on for line in mt940_text.read(text) if isinstance(line, FileLine)]
        assert days == [date(2025, 12, 30), date(2025, 12, 31)]

    def test_the_name_of_a_file_is_not_opened(self) -> None:
        with pytest.raises(Unreadable):
            mt940_text.read(b"/etc/hostname")


class TestOfx:
    def test_the_old_writing_without_ends_is_read(self) -> None:
        lines = good("gb_102.ofx")
        assert [line.amount for line in lines] == [600, Decimal("-1234.56"), Decimal("-8.50")]
        assert lines[0].description == "INV-000001 & THANKS"
        assert lines[1].reference == "000117"
        assert lines[2].counterparty_name == "ACCOUNT FEE Café €"

    def test_a_day_is_the_banks_own_whatever_its_hour(self) -> None:
        assert good("gb_102.ofx")[0].booked_on == date(2026, 7, 15)

    def test_the_new_writing_is_read(self) -> None:
        paid, abroad, bad = sample("gb_211.ofx")
        assert (paid.amount, paid.counterparty_name, paid.reference) == (
            920,
            "Card Processor plc",
            "PO-2026-07",
        )
        assert abroad.currency == "EUR"
        assert bad == BadLine("The date is not a day.")

    def test_a_file_of_one_line_with_empty_fields_is_read(self) -> None:
        lines = good("gb_one_line.ofx")
        assert [line.amount for line in lines] == [Decimal("-3.20"), Decimal("-3.20"), 12]
        assert (lines[2].description, lines[2].counterparty_name) == ("Cup & saucer <2>", None)


class TestCsv:
    def test_a_header_below_other_lines_is_found(self) -> None:
        first, second, third, bad = sample("de.csv")
        assert (first.amount, first.counterparty_name) == (1119, "Müller & Söhne GmbH")
        assert (second.amount, second.description) == (Decimal("-89.95"), 'Strom "Juli"')
        assert second.reference is None
        assert (third.booked_on, third.amount) == (date(2026, 7, 17), Decimal("-12.9"))
        assert isinstance(bad, BadLine)

    def test_a_word_says_which_way_the_money_went(self) -> None:
        assert [line.amount for line in good("nl.csv")] == [1210, -104, Decimal("-2.50")]

    def test_two_columns_say_which_way_the_money_went(self) -> None:
        assert [line.amount for line in good("gb_in_out.csv")] == [600, -250]
        both = table.read(
            b"D,In,Out\n2026-07-15,1,2\n", {"date": "D", "credit": "In", "debit": "Out"}
        )
        assert both == [BadLine("The line has money going both ways.")]

    def test_columns_may_be_numbers_where_there_is_no_header(self) -> None:
        lines = good("nl_without_header.tab")
        assert [line.amount for line in lines] == [1210, Decimal("-45.32")]
        assert {line.currency for line in lines} == {"EUR"}
        headed = table.read(b"Day,Sum\n2026-07-15,1.50\n", {"date": "1", "amount": "2"})
        assert [line.amount for line in headed if isinstance(line, FileLine)] == [Decimal("1.50")]

    def test_a_column_that_is_not_there_is_named(self) -> None:
        with pytest.raises(Unreadable) as refused:
            table.read(b"D,A\n2026-07-15,1\n", {"date": "D", "amount": "A", "reference": "R"})
        assert refused.value.field == "mapping.reference"

    def test_utf_16_is_read(self) -> None:
        text = "Day\tSum\tWhat\n2026-07-15\t1,50\tKäse\n"
        mapping = {"date": "Day", "amount": "Sum", "description": "What"}
        [line] = table.read(text.encode("utf-16"), mapping)
        assert isinstance(line, FileLine)
        assert (line.amount, line.description) == (Decimal("1.50"), "Käse")


class TestAmounts:
    @pytest.mark.parametrize(
        ("text", "comma", "amount"),
        [
            ("1,234.50", False, "1234.50"),
            ("1.234,50", True, "1234.50"),
            ("1'234.50", False, "1234.50"),
            ("1 234,50", True, "1234.50"),
            ("1\u00a0234,50 €", True, "1234.50"),
            ("-12.50", False, "-12.50"),
            ("12.50-", False, "-12.50"),
            ("(12.50)", False, "-12.50"),
            ("\u221212,50", True, "-12.50"),
            ("+12", False, "12"),
            ("£8.5", False, "8.5"),
            (".50", False, "0.50"),
            ("GBP 1,000", False, "1000"),
        ],
    )
    def test_it_reads(self, text: str, comma: bool, amount: str) -> None:
        assert Amounts.of([], comma).read(text) == Decimal(amount)

    @pytest.mark.parametrize(
        "text", ["", "-", "12,50", "1,23,4.00", "1.2.3", "ten", "1e9", "9" * 50]
    )
    def test_it_does_not_read(self, text: str) -> None:
        with pytest.raises(ValueError, match="not a number"):
            Amounts.of([], False).read(text)

    @pytest.mark.parametrize(
        ("cells", "decimal"),
        [
            (["1.234,50", "3"], ","),
            (["1,234.50"], "."),
            (["1,234"], "."),
            (["12,5"], ","),
            ([], "."),
            (["", "7"], "."),
        ],
    )
    def test_the_amounts_of_a_file_show_what_stands_before_the_cents(
        self, cells: list[str], decimal: str
    ) -> None:
        assert Amounts.of(cells, None).decimal == decimal

    def test_amounts_that_show_both_are_not_guessed(self) -> None:
        with pytest.raises(Unreadable) as refused:
            Amounts.of(["1,50", "1.50"], None)
        assert refused.value.field == "mapping.decimal_comma"


class TestDays:
    @pytest.mark.parametrize(
        ("text", "written"),
        [
            ("2026-07-03", None),
            ("2026-07-03T10:00:00", None),
            ("20260703", None),
            ("03/07/2026", None),
            ("3.7.2026 14:22", None),
            ("03-07-26", None),
            ("03 Jul 2026", None),
            ("07/03/2026", "MM/DD/YYYY"),
            ("3 JUL 26", "D MMM YY"),
            ("030726", "DDMMYY"),
        ],
    )
    def test_it_reads(self, text: str, written: str | None) -> None:
        assert Days(written).read(text) == date(2026, 7, 3)

    @pytest.mark.parametrize("text", ["", "31/02/2026", "07/25/2026", "2026-07", "tomorrow", "1"])
    def test_it_does_not_read(self, text: str) -> None:
        with pytest.raises(ValueError, match="date"):
            Days(None).read(text)

    @pytest.mark.parametrize("written", ["YYYY", "DDDD", "YYYYYYMM", "MM/MM/YYYY"])
    def test_what_is_no_way_to_write_a_day_is_refused(self, written: str) -> None:
        with pytest.raises(Unreadable):
            Days(written)


class TestTexts:
    @pytest.mark.parametrize(
        ("content", "declared", "text"),
        [
            ("Müller €".encode(), "", "Müller €"),
            (b"\xef\xbb\xbfMuller", "", "Muller"),
            ("Müller €".encode("cp1252"), "", "Müller €"),
            ("Müller €".encode("iso-8859-15"), "ISO-8859-15", "Müller €"),
            (b"\x81\x8d", "", "\x81\x8d"),
        ],
    )
    def test_bytes_become_text(self, content: bytes, declared: str, text: str) -> None:
        assert decoded(content, declared) == text

    def test_what_cannot_be_seen_is_left_out(self) -> None:
        assert tidy("  a\x00b\r\n\tc  ") == "a b c"
        assert tidy(" \x00 ") is None

    @pytest.mark.parametrize(
        ("text", "iban"),
        [
            ("NL91ABNA0417164300", "NL91ABNA0417164300"),
            ("nl91 abna 0417 1643 00 EUR", "NL91ABNA0417164300"),
            ("NL92ABNA0417164300", None),
            ("37040044/0532013000", None),
            ("", None),
        ],
    )
    def test_an_iban_is_told_from_other_numbers(self, text: str, iban: str | None) -> None:
        assert iban_in(text) == iban

    def test_a_word_has_to_say_a_way(self) -> None:
        assert (way(" Bij "), way("AF")) == (1, -1)
        with pytest.raises(ValueError, match="which way"):
            way("sideways")


def lines_or_refusal(kind: str, content: bytes) -> None:
    """Read, and look at what came out; any exception but the room's own fails the test."""
    try:
        lines = READERS[kind](content)
    except Unreadable:
        return
    for line in lines:
        assert isinstance(line, FileLine | BadLine)
        if isinstance(line, FileLine):
            assert line.amount.is_finite()
            texts = (line.description, line.counterparty_name, line.reference, line.external_id)
            assert all(text is None or (text and "\0" not in text) for text in texts)


class TestHostileFiles:
    @pytest.mark.parametrize("kind", sorted(READERS))
    @given(content=st.binary(max_size=2_000))
    @CALM
    def test_random_bytes(self, kind: str, content: bytes) -> None:
        guess_format(content)
        lines_or_refusal(kind, content)

    @pytest.mark.parametrize("name", sorted(FILES))
    @given(data=st.data())
    @CALM
    def test_samples_that_are_cut_mixed_up_and_written_over(
        self, name: str, data: st.DataObject
    ) -> None:
        content = bytearray(content_of(name))
        for _ in range(data.draw(st.integers(0, 4))):
            start = data.draw(st.integers(0, len(content)))
            end = min(len(content), start + data.draw(st.integers(0, 40)))
            content[start:end] = data.draw(st.binary(max_size=20) | st.sampled_from(SHARDS))
        cut = data.draw(st.integers(0, len(content)))
        kept = bytes(content[:cut]) if data.draw(st.booleans()) else bytes(content)
        lines_or_refusal(KINDS[name.rpartition(".")[2]], kept)

    @pytest.mark.parametrize("kind", sorted(READERS))
    @pytest.mark.parametrize("piece", [*SHARDS_OF_MARKUP, *SHARDS_OF_TEXT])
    def test_much_of_the_same_does_not_take_long(self, kind: str, piece: bytes) -> None:
        content = piece * (1_000_000 // len(piece))
        began = process_time()
        lines_or_refusal(kind, content)
        assert process_time() - began < 10
