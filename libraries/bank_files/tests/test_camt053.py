"""CAMT.053 files and the lines read from them."""

from decimal import Decimal

import pytest

from libraries.bank_files import BadLine, FileLine, Unreadable, camt053
from libraries.bank_files.tests.statements import good_lines


def entry(inside: str, amount: str = "10.00", direction: str = "CRDT") -> bytes:
    return (
        "<Document><BkToCstmrStmt><Stmt><Ntry>"
        f"<Amt Ccy='EUR'>{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>"
        f"<BookgDt><Dt>2026-07-15</Dt></BookgDt>{inside}"
        "</Ntry></Stmt></BkToCstmrStmt></Document>"
    ).encode()


class TestCamt053:
    def test_a_batch_becomes_its_transactions(self) -> None:
        batch = good_lines("nl_camt_02.xml")[1:4]
        assert [line.amount for line in batch] == [Decimal(-100), Decimal(-100), Decimal("-150.75")]
        assert [line.counterparty_name for line in batch] == ["Jansen", "Jansen", "De Vries"]
        assert [line.reference for line in batch] == ["BATCH-1", "BATCH-2", "RF18539007547034"]
        assert len({line.external_id for line in batch}) == 3

    def test_a_batch_with_its_own_directions_is_taken_apart_too(self) -> None:
        assert [line.amount for line in good_lines("de_camt_08.xml")[1:3]] == [100, -30]

    def test_a_batch_that_is_told_in_another_currency_stays_whole(self) -> None:
        line = good_lines("de_camt_08.xml")[3]
        assert (line.amount, line.external_id) == (-500, "AUSLAND-1")

    def test_a_batch_that_does_not_add_up_stays_whole(self) -> None:
        part = "<TxDtls><Amt Ccy='EUR'>3.00</Amt></TxDtls>"
        [line] = camt053.read(entry(f"<NtryDtls>{part}{part}</NtryDtls>"))
        assert isinstance(line, FileLine)
        assert line.amount == 10

    def test_a_reversal_goes_the_way_it_says_and_names_the_other_side(self) -> None:
        line = good_lines("nl_camt_02.xml")[4]
        assert (line.amount, line.counterparty_name) == (-55, "Trage Betaler")

    def test_what_is_not_booked_is_no_line(self) -> None:
        assert not any(line.amount == Decimal("-9.99") for line in good_lines("nl_camt_02.xml"))
        assert camt053.read(entry("<Sts><Cd>PDNG</Cd></Sts>")) == []
        assert len(camt053.read(entry("<Sts><Cd>BOOK</Cd></Sts>"))) == 1

    def test_letters_are_read_as_the_file_declares_them(self) -> None:
        assert good_lines("de_camt_08.xml")[0].counterparty_name == "Müller & Söhne GmbH"

    @pytest.mark.parametrize("amount", ["", "ten", "1e3", "NaN", "9" * 40, "1.000,00"])
    def test_a_wrong_amount_is_a_bad_line(self, amount: str) -> None:
        assert camt053.read(entry("", amount)) == [BadLine("The amount is not a number.")]

    def test_a_report_of_the_day_is_no_statement(self) -> None:
        with pytest.raises(Unreadable, match="not CAMT"):
            camt053.read(b"<Document><BkToCstmrAcctRpt><Rpt/></BkToCstmrAcctRpt></Document>")

    def test_no_document_type_is_read_and_no_other_file_fetched(self) -> None:
        for content in (
            b"<!DOCTYPE a [<!ENTITY b 'c'>]><Document><BkToCstmrStmt/>&b;</Document>",
            b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:9/x.dtd'><Document><BkToCstmrStmt/></Document>",
        ):
            with pytest.raises(Unreadable, match="document type"):
                camt053.read(content)

    def test_elements_within_elements_have_an_end(self) -> None:
        with pytest.raises(Unreadable):
            camt053.read(b"<a>" * 100_000)
