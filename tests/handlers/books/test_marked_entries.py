"""Manual entries whose lines count in a tax return."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import (
    ENTRIES,
    credit,
    debit,
    drafted,
    entry_body,
    marked,
    moved,
    posted,
)
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.trade import Record
from tests.partner import Business

NOTHING = {"tax_code_id": None, "tax_rate": None, "tax_part": None}


@pytest.fixture(scope="module")
def lines() -> list[Record]:
    return [
        marked("2200", -2_000, "S20", "output"),
        credit("4000", 10_000, tax_code="S20"),
        debit("1100", 12_000),
    ]


def marks(entry: Record) -> list[Record]:
    return [{name: line[name] for name in NOTHING} for line in entry["lines"]]


def refused(shop: Business, **facts: Any) -> tuple[int, str]:
    lines = [debit("1300", 5, **facts), credit("2400", 5)]
    answer = shop.api.post(ENTRIES, json=entry_body(lines=lines))
    return answer.status_code, answer.json()["error_code"]


class TestCreateJournalEntry:
    def test_its_lines_say_which_part_of_which_code_they_are(
        self, shop: Business, ledger: Ledger, lines: list[Record]
    ) -> None:
        code = codes_of(shop)["S20"]["id"]
        entry = posted(shop, lines=lines)
        assert marks(entry) == [
            {"tax_code_id": code, "tax_rate": 20, "tax_part": "output"},
            {"tax_code_id": code, "tax_rate": 20, "tax_part": "net"},
            NOTHING,
        ]
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry
        kept = ledger.ask(
            "SELECT tax_rate::text, tax_part FROM journal_line WHERE entry_id = %(id)s"
            " ORDER BY line_number",
            id=entry["id"],
        )
        assert kept == [("20", "output"), ("20", "net"), (None, None)]

    @pytest.mark.parametrize("part", ["net", "output", "input", "blocked", "relief_net", "relief"])
    def test_a_line_may_be_any_part(self, shop: Business, part: str) -> None:
        taxed = [marked("1300", 5, "P20", part), credit("2400", 5)]
        assert posted(shop, lines=taxed)["lines"][0]["tax_part"] == part

    def test_a_part_is_given_with_a_code(self, shop: Business) -> None:
        lines = [debit("1300", 5, tax_part="input"), credit("2400", 5)]
        answer = shop.api.post(ENTRIES, json=entry_body(lines=lines))
        faults = answer.json()["detail"]["field_errors"]
        assert faults == {"lines.0.tax_part": ["is allowed only with a tax_code"]}

    def test_tax_withheld_has_codes_of_its_own(self, shop: Business) -> None:
        shop.made(CODES, code_body("HELD", treatment="withholding"))
        for code, part in (("P20", "withheld"), ("HELD", "net")):
            assert refused(shop, tax_code=code, tax_part=part) == (422, "tax_code_mismatch")


class TestReplaceJournalEntry:
    def test_a_draft_says_anew_what_its_lines_are(
        self, shop: Business, lines: list[Record]
    ) -> None:
        draft = drafted(shop, lines=lines)
        assert marks(draft)[0]["tax_part"] == "output"
        assert shop.api.get(f"{ENTRIES}{draft['id']}/").json() == draft
        answer = shop.api.put(f"{ENTRIES}{draft['id']}/", json=entry_body())
        assert marks(answer.json()) == [NOTHING, NOTHING]


class TestApproveJournalEntry:
    def test_an_approved_entry_has_the_tax_marks_of_its_draft(
        self, shop: Business, lines: list[Record]
    ) -> None:
        draft = drafted(shop, lines=lines)
        entry = moved(shop, draft, "approve")
        assert marks(entry) == marks(draft)
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry

    def test_its_codes_are_looked_at_again(self, shop: Business, ledger: Ledger) -> None:
        code = shop.made(CODES, code_body("GOING", rates=[{"rate": 9}]))
        draft = drafted(shop, lines=[marked("2200", -5, "GOING", "output"), debit("1100", 5)])
        shop.api.patch(f"{CODES}{code['id']}/", json={"rates": [{"rate": 10}], "is_active": False})
        with ledger.untouched():
            answer = shop.api.post(f"{ENTRIES}{draft['id']}/approve/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "tax_code_archived")
        shop.api.patch(f"{CODES}{code['id']}/", json={"is_active": True})
        assert moved(shop, draft, "approve")["lines"][0]["tax_rate"] == 10


class TestReverseJournalEntry:
    def test_the_mirror_is_for_the_same_parts(self, shop: Business, lines: list[Record]) -> None:
        entry = posted(shop, lines=lines)
        assert marks(moved(shop, entry, "reverse")) == marks(entry)


class TestListAccountEntries:
    def test_each_line_says_what_it_is(self, shop: Business, lines: list[Record]) -> None:
        posted(shop, lines=lines, entry_date="2026-01-31")
        path = "general-ledger/chart-of-accounts/4000/entries/"
        [line] = shop.api.get(
            path, params={"date_from": "2026-01-31", "date_to": "2026-01-31"}
        ).json()["results"]
        assert (line["tax_rate"], line["tax_part"]) == (20, "net")


class TestExportJournalEntries:
    def test_rows_say_what_lines_are(self, shop: Business, lines: list[Record]) -> None:
        posted(shop, lines=lines, entry_date="2026-02-28")
        drafted(shop, lines=lines, entry_date="2026-02-28")
        asked = {"date_from": "2026-02-28", "date_to": "2026-02-28"}
        rows = shop.api.get(f"{ENTRIES}export/", params=asked).text.splitlines()[1:]
        code = codes_of(shop)["S20"]["id"]
        shown = [["", "", ""], [code, "20", "output"], [code, "20", "net"]]
        assert sorted(row.split(",")[-3:] for row in rows) == sorted(shown * 2)
