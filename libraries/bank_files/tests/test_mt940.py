"""MT940 files and the lines read from them."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from libraries.bank_files import BadLine, FileLine, Unreadable, mt940
from libraries.bank_files.tests.statements import good_lines, lines_of

BAD = BadLine("The line is not valid MT940.")


def only_line(field_61: str, field_86: str = "") -> Any:
    text = (
        f":20:A\n:25:1\n:60F:C260714EUR1,00\n:61:{field_61}\n:86:{field_86}\n:62F:C260716EUR1,00\n"
    )
    [line] = mt940.read(text.encode())
    return line


class TestMt940:
    def test_dutch_fields_between_slashes_are_taken_apart(self) -> None:
        line = good_lines("nl_abn.sta")[0]
        assert (line.counterparty_name, line.reference) == ("BAKKERIJ BLAUWE DEUR", "INV-000017")
        assert (line.description, line.account) == ("FACTUUR INV-000017", "NL91ABNA0417164300")
        web = good_lines("nl_ing.sta")[0]
        assert web.counterparty_name == "ING BANK NV INZAKE WEB"
        assert (web.external_id, web.description) == ("26197000001234", "EV10001REP1000000T1000")
        rabo = good_lines("nl_rabo.sta")
        assert [line.counterparty_name for line in rabo] == [
            "J.Janssen Koffiebar",
            "Belastingdienst",
        ]
        assert [line.amount for line in rabo] == [250, -104]

    def test_german_fields_are_taken_apart(self) -> None:
        line = good_lines("de_deutsche.sta")[0]
        assert line.counterparty_name == "Müller + Söhne GmbH"
        assert line.description == "Rechnung RE-2026-0042 vielen Dank"
        assert line.reference == "RE-2026-0042"

    def test_reversals_go_the_other_way(self) -> None:
        assert good_lines("nl_abn.sta")[3].amount == -10
        assert good_lines("de_deutsche.sta")[2].amount == 30

    def test_a_line_that_cannot_be_read_fails_alone(self) -> None:
        read = lines_of("de_deutsche.sta")
        assert [isinstance(line, BadLine) for line in read] == [False, False, True, False]

    def test_the_day_is_that_of_booking(self) -> None:
        text = b":20:X\n:60F:C251231EUR1,00\n:61:2512311230D1,00NTRFX\n:61:2601011231D1,00NTRFX\n"
        days = [line.booked_on for line in mt940.read(text) if isinstance(line, FileLine)]
        assert days == [date(2025, 12, 30), date(2025, 12, 31)]

    def test_the_name_of_a_file_is_not_opened(self) -> None:
        with pytest.raises(Unreadable):
            list(mt940.read(b"/etc/hostname"))

    def test_a_file_without_a_statement_is_refused(self) -> None:
        with pytest.raises(Unreadable, match="has no MT940 statement"):
            list(mt940.read(b":20:STARTUMS\n:86:X\n"))

    @pytest.mark.parametrize(
        ("field_61", "booked_on", "amount"),
        [
            ("2607150716D1,00NTRFX", date(2026, 7, 16), "-1.00"),
            ("260715C12,NTRFX", date(2026, 7, 15), "12"),
            ("260715    CR,5NTRFX", date(2026, 7, 15), "0.5"),
            ("260230D1,00NTRFX", date(2026, 2, 28), "-1.00"),
            ("2402300229d1,00ntrfx", date(2024, 2, 29), "-1.00"),
            ("260715RC1,00NTRFX", date(2026, 7, 15), "-1.00"),
            ("260715RD1,00NTRFX//Y\n/OCMT/EUR1,00/", date(2026, 7, 15), "1.00"),
        ],
    )
    def test_a_field_61_is_read(self, field_61: str, booked_on: date, amount: str) -> None:
        line = only_line(field_61)
        assert (line.booked_on, line.amount) == (booked_on, Decimal(amount))
        assert (line.currency, line.description) == ("EUR", None)

    @pytest.mark.parametrize(
        "field_61",
        [
            *(
                "",
                "2607150715D",
                "2613150715D1,00NTRFX",
                "2607150732D1,00NTRFX",
                "260715X1,00NTRFX",
            ),
            *(
                "260715D1.50NTRFX",
                "260715D1,5,0NTRFX",
                "260715D,NTRFX",
                "260715D1234567890123456NTRF",
            ),
        ],
    )
    def test_another_is_a_bad_line(self, field_61: str) -> None:
        assert only_line(field_61) == BAD

    def test_details_of_many_pages_are_a_bad_line(self) -> None:
        assert only_line("260715D1,00NTRFX", "x" * 19_000) != BAD
        assert only_line("260715D1,00NTRFX", "x" * 20_000) == BAD

    @pytest.mark.parametrize(
        ("field_86", "description", "name", "reference"),
        [
            ("166?00POSTING", "POSTING", None, "X"),
            ("166?00POSTING?20EREF+E-1?21MREF+M-1", "POSTING", None, "E-1"),
            ("166?20EREF+E-1?21SVWZ+Inv?22oice?60so?32Max?33 M.", "Invoice so", "Max M.", "E-1"),
            ("166?20KREF+K-1?21SVWZ+A+B?22C IBAN", "A+BC", None, "X K-1"),
            ("166?20no keyword?31DE1?34000?", "no keyword", None, "X"),
            ("/NAME/J. Jansen/REMI/Invoice\n 7/EREF/E-1", "Invoice 7", "J. Jansen", "E-1"),
            ("/CNTP/NL20INGB0001/INGBNL2A/Max///REMI/USTD//Invoice 7/", "Invoice 7", "Max", "X"),
            ("plain text\nof two rows", "plain text of two rows", None, "X"),
        ],
    )  # fmt: skip
    def test_a_field_86_is_read(
        self, field_86: str, description: str, name: str | None, reference: str
    ) -> None:
        line = only_line("260715D1,00NTRFX", field_86)
        assert (line.description, line.counterparty_name) == (description, name)
        assert line.reference == reference
