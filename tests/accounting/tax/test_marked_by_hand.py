"""Manual entries whose lines count in a return: written, approved and reversed."""

from dataclasses import replace
from decimal import Decimal

import pytest

from accounting.books import manual_entries
from accounting.books.accounts import AccountReference
from accounting.books.commands import EntryLineGiven, WriteEntry
from accounting.books.ledger import TaxMark, TaxPart
from accounting.books.manual_entries import ManualEntry
from accounting.tax.codes import Direction, TaxCode, TaxCodes, Treatment
from accounting.tax.day_codes import MarkedByHand
from tests.accounting.samples import account, account_id, context_of, day, moment, refused
from tests.accounting.tax.test_codes import code_of, percent

SOLD = code_of("S20", percent("20", None, "2026-06-30"), percent("22", "2026-07-01"))
BOUGHT = replace(code_of("P20", percent("20", "2026-01-01")), direction=Direction.PURCHASES)
EXEMPT = replace(code_of("SE"), treatment=Treatment.EXEMPT)
GONE = replace(code_of("OLD", percent("5")), archived_at=moment("06-01"))
KEPT_BACK = replace(code_of("SW15", percent("15")), treatment=Treatment.WITHHOLDING)
ALL = (SOLD, BOUGHT, EXEMPT, GONE, KEPT_BACK)
CODES = MarkedByHand(TaxCodes(ALL))
NOW = context_of("07-15")
NAMED = {
    AccountReference(kind, value): each
    for each in (account("2200"), account("2400"))
    for kind, value in (("any", each.code), ("id", each.id))
}


def marked(code: TaxCode | str, part: TaxPart, on: str = "06-30") -> TaxMark:
    reference = code if isinstance(code, str) else str(code.id)
    return CODES.marked(reference, part, day(on), "lines.1")


def write(on: str = "06-30", codes: MarkedByHand = CODES) -> ManualEntry:
    lines = (
        EntryLineGiven(AccountReference("any", "2400"), 20),
        EntryLineGiven(
            AccountReference("any", "2200"), -20, tax_code="S20", tax_part=TaxPart.OUTPUT
        ),
    )
    command = WriteEntry(entry_date=day(on), lines=lines)
    return manual_entries.write(command, NAMED, codes, NOW)


class TestMarked:
    @pytest.mark.parametrize(("on", "rate"), [("06-30", 20), ("07-01", 22)])
    def test_the_rate_is_that_of_the_day(self, on: str, rate: int) -> None:
        assert marked("S20", TaxPart.OUTPUT, on) == TaxMark(SOLD.id, Decimal(rate), TaxPart.OUTPUT)

    def test_a_code_of_either_direction_is_taken_by_its_id_or_its_code(self) -> None:
        assert marked(BOUGHT, TaxPart.INPUT) == marked("P20", TaxPart.INPUT)
        assert marked("SE", TaxPart.NET).rate == 0
        assert marked("SW15", TaxPart.WITHHELD).rate == 15

    @pytest.mark.parametrize(
        ("code", "part", "on", "refusal"),
        [
            ("none", TaxPart.NET, "06-30", "reference_not_found"),
            ("OLD", TaxPart.NET, "06-30", "tax_code_archived"),
            ("SW15", TaxPart.NET, "06-30", "tax_code_mismatch"),
            ("S20", TaxPart.WITHHELD, "06-30", "tax_code_mismatch"),
        ],
    )
    def test_a_wrong_mark_is_refused(self, code: str, part: TaxPart, on: str, refusal: str) -> None:
        raised = refused(marked, code, part, on)
        assert (raised.code, raised.detail["item"]) == (refusal, "lines.1")

    def test_a_day_without_a_rate_is_refused(self) -> None:
        raised = refused(CODES.marked, "P20", TaxPart.INPUT, day("01-01").replace(year=2025), "x")
        assert raised.code == "tax_rate_missing"


class TestEntries:
    def test_a_line_is_what_it_says_and_the_others_are_for_no_return(self) -> None:
        mark = TaxMark(SOLD.id, Decimal(20), TaxPart.OUTPUT)
        entry = write()
        assert [line.tax for line in entry.lines] == [None, mark]
        assert entry.lines[1].account_id == account_id("2200")
        assert manual_entries.any_is_marked(entry.lines)
        assert not manual_entries.any_is_marked(entry.lines[:1])

    def test_a_reversal_has_the_marks_of_its_entry(self) -> None:
        entry = replace(write(), status="approved", sequence_number="JE-2026-000001")
        mirror = manual_entries.reverse(entry, None, NOW)
        taken_back = [(line.amount, line.tax) for line in mirror.lines]
        assert taken_back == [(-line.amount, line.tax) for line in entry.lines]

    def test_a_draft_has_the_rate_of_its_day_when_it_is_approved(self) -> None:
        raised = MarkedByHand(TaxCodes((replace(SOLD, rates=(percent("21"),)), BOUGHT)))
        entry = manual_entries.approve(write(), NAMED, raised, NOW)
        assert [line.tax and line.tax.rate for line in entry.lines] == [None, 21]

    def test_a_draft_whose_code_was_archived_is_not_approved(self) -> None:
        gone = MarkedByHand(TaxCodes((replace(SOLD, archived_at=moment("07-01")),)))
        refusal = refused(manual_entries.approve, write(), NAMED, gone, NOW)
        assert refusal.code == "tax_code_archived"
