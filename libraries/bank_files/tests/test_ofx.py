"""OFX files in SGML and in XML."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from libraries.bank_files import BadLine, Unreadable, ofx
from libraries.bank_files.tests.statements import good_lines, lines_of

FACTS = "<DTPOSTED>20260715<TRNAMT>-3.20<NAME>Coffee"


def statement(transactions: str, kind: str = "STMTRS") -> bytes:
    return f"<OFX><{kind}><CURDEF>GBP{transactions}</{kind}></OFX>".encode()


def read(transactions: str) -> list[Any]:
    return list(ofx.read(statement(transactions)))


class TestOfx:
    def test_the_old_writing_without_ends_is_read(self) -> None:
        lines = good_lines("gb_102.ofx")
        assert [line.amount for line in lines] == [600, Decimal("-1234.56"), Decimal("-8.50")]
        assert lines[0].description == "INV-000001 & THANKS"
        assert lines[1].reference == "000117"
        assert lines[2].counterparty_name == "ACCOUNT FEE Café €"

    def test_a_day_is_the_banks_own_whatever_its_hour(self) -> None:
        assert good_lines("gb_102.ofx")[0].booked_on == date(2026, 7, 15)

    def test_the_new_writing_is_read(self) -> None:
        paid, abroad, bad = lines_of("gb_211.ofx")
        assert (paid.amount, paid.counterparty_name, paid.reference) == (
            920,
            "Card Processor plc",
            "PO-2026-07",
        )
        assert abroad.currency == "EUR"
        assert bad == BadLine("The date is not valid.")

    def test_a_file_of_one_line_with_empty_fields_is_read(self) -> None:
        lines = good_lines("gb_one_line.ofx")
        assert [line.amount for line in lines] == [Decimal("-3.20"), Decimal("-3.20"), 12]
        assert (lines[2].description, lines[2].counterparty_name) == ("Cup & saucer <2>", None)

    def test_bank_and_card_statements_of_one_file_have_their_own_currencies(self) -> None:
        transaction = f"<STMTTRN>{FACTS}</STMTTRN>"
        card = f"<CCSTMTRS><CURDEF>EUR{transaction}</CCSTMTRS>"
        content = f"<OFX><STMTRS><CURDEF>GBP{transaction}</STMTRS>{card}</OFX>".encode()
        assert [line.currency for line in ofx.read(content)] == ["GBP", "EUR"]

    @pytest.mark.parametrize("empty", ["<MEMO>", "<MEMO></MEMO>", "<MEMO/>", "<MEMO />", "<A.B>\n"])
    def test_an_empty_element_takes_nothing_of_what_follows(self, empty: str) -> None:
        [first, second] = read(
            f"<STMTTRN>{empty}{FACTS}</STMTTRN><STMTTRN>{FACTS}{empty}</STMTTRN>"
        )
        assert first == second
        assert (first.description, first.currency) == ("Coffee", "GBP")

    def test_a_transaction_without_an_end_ends_with_the_next(self) -> None:
        [first, second] = read(f"<STMTTRN>{FACTS}<STMTTRN>{FACTS}<MEMO>Two")
        assert (first.description, second.description) == ("Coffee", "Two")

    def test_a_smaller_sign_in_a_text_ends_the_text_alone(self) -> None:
        [line] = read(f"<STMTTRN><MEMO>5 < 6</MEMO>{FACTS}</STMTTRN>")
        assert (line.description, line.amount) == ("5", Decimal("-3.20"))

    def test_entities_of_a_document_type_are_not_resolved(self) -> None:
        bomb = b"<!DOCTYPE OFX [<!ENTITY a 'boom'>]>"
        [line] = ofx.read(bomb + statement(f"<STMTTRN><MEMO>&a;{FACTS}</STMTTRN>"))
        assert line.description == "&a;"

    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (b"<html></html>", "is not OFX: it has no <OFX>"),
            (b"<OFX><A>1</OFX>", "is not a bank statement: it has no STMTRS"),
            (statement(f"{FACTS}</STMTTRN>"), "is not valid OFX: its tags do not match"),
            (statement("<A>1</A> 2"), "is not valid OFX: its tags do not match"),
            (statement("<A/> 2"), "is not valid OFX: its tags do not match"),
            (statement("") * 2, "is not valid OFX: its tags do not match"),
            (statement("<MEMO><![CDATA[no end"), "has a CDATA section without an end"),
            (b"<OFX>" + b"<A>" * 100, "has elements that are nested too deeply"),
            (b"<OFX>" + b"<A>1" * 500_000, "has too many tags"),
        ],
    )
    def test_a_file_that_cannot_be_read_says_why(self, content: bytes, why: str) -> None:
        with pytest.raises(Unreadable) as refused:
            list(ofx.read(content))
        assert refused.value.why == why
