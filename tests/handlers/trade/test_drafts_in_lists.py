"""list_journal_entries of drafts, rejected and posted entries, and their file."""

import csv
from io import StringIO
from typing import Any

import pytest

from tests.builders.journal_entries import ENTRIES, credit, debit, drafted, moved, posted
from tests.builders.sales import sent
from tests.builders.trade import NOBODY, Record, read
from tests.contract.refusals import is_as_shown
from tests.handlers.trade.named_records import NamedRecords
from tests.partner import Business, Partner

EXPORT = f"{ENTRIES}export/"
CHART = "general-ledger/chart-of-accounts/"
COLUMNS = [
    *("entry_id", "sequence_number", "entry_date", "status", "created_by", "source_type"),
    *("reference", "description", "line_number", "account_code", "account_name"),
    *("debit_amount", "credit_amount", "line_description", "currency", "posted_at"),
    "reversal_of_id",
    "tax_code_id",
    "tax_rate",
    "tax_part",
]


@pytest.fixture(scope="module")
def own_shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def entries(own_shop: Business) -> NamedRecords:
    """An entry of an invoice, and manual entries in every status, by several authors and days."""
    sent(own_shop, own_shop.customer(company_name="Tall Ship"), 120)
    lent = [debit("1100", 9), credit("2500", 9)]
    own_shop.api.patch(f"{CHART}2500/", json={"external_id": "loan"})
    [system] = own_shop.api.get(ENTRIES).json()["results"]
    entry = posted(own_shop, entry_date="2025-03-02", description="Power", reference="P-1")
    made = {
        "system": system,
        "posted": entry,
        "mirror": moved(own_shop, entry, "reverse", json={"entry_date": "2025-03-04"}),
        "draft": drafted(own_shop, entry_date="2025-03-01", description="Water 100%", lines=lent),
        "ai": drafted(own_shop, entry_date="2025-03-03", created_by="ai", reference="P-2"),
        "rejected": moved(own_shop, drafted(own_shop, entry_date="2025-03-03"), "reject"),
        "approved": moved(
            own_shop, drafted(own_shop, entry_date="2025-03-05", created_by="import"), "approve"
        ),
    }
    return NamedRecords(own_shop, ENTRIES, made)


class TestListJournalEntries:
    def test_all_stand_together_the_latest_date_first(self, entries: NamedRecords) -> None:
        order = ["approved", "mirror", "rejected", "ai", "posted", "draft", "system"]
        assert entries.names() == order

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({"status": "draft"}, "ai draft"),
            ({"status": "rejected"}, "rejected"),
            ({"status": "approved"}, "approved mirror posted system"),
            ({"is_posted": True}, "approved mirror posted system"),
            ({"is_posted": False}, "rejected ai draft"),
            ({"is_posted": False, "status": "approved"}, ""),
            ({"is_posted": True, "status": "draft"}, ""),
            ({"created_by": "ai"}, "ai"),
            ({"created_by": "import"}, "approved"),
            ({"created_by": "manual"}, "mirror rejected posted draft"),
            ({"created_by": "system"}, "system"),
            ({"account": "2500"}, "draft"),
            ({"account": "loan"}, "draft"),
            ({"account_id": "1100", "account": "loan"}, "draft"),
            ({"account_id": "2400", "account": "loan"}, ""),
            ({"account": "2400", "is_posted": False}, "rejected ai"),
            ({"account": "1200"}, "system"),
            ({"account": NOBODY}, ""),
            ({"date_from": "2025-03-03", "date_to": "2025-03-03"}, "rejected ai"),
            ({"search": "p-"}, "mirror ai posted"),
            ({"search": "100%"}, "draft"),
            ({"search": "WATER"}, "draft"),
            ({"search": "je-2025"}, "approved mirror posted system"),
            ({"created_at_from": "2199-01-01T00:00:00Z"}, ""),
            ({"updated_at_from": "2199-01-01T00:00:00Z"}, ""),
        ],
    )
    def test_filters_select_drafts_and_entries(
        self, entries: NamedRecords, query: Record, expected: str
    ) -> None:
        assert entries.names(**query) == expected.split()

    def test_the_entries_of_a_record_are_found_by_its_id(self, entries: NamedRecords) -> None:
        invoice_id = entries.records["system"]["source_id"]
        assert entries.names(source_id=invoice_id) == ["system"]
        assert entries.names(source_id=entries.records["draft"]["source_id"]) == ["draft"]
        assert entries.names(source_id=NOBODY) == []
        exported = entries.shop.api.get(EXPORT, params={"source_id": invoice_id}).text
        ids = {row["entry_id"] for row in csv.DictReader(StringIO(exported.lstrip("\ufeff")))}
        assert ids == {entries.records["system"]["id"]}

    def test_an_account_is_named_by_its_id_in_any_case(self, entries: NamedRecords) -> None:
        account_id = entries.shop.api.get(f"{CHART}2500/").json()["id"]
        assert entries.names(account=account_id) == ["draft"]
        assert entries.names(account=account_id.upper()) == ["draft"]

    def test_a_filter_by_change_selects_changed_entries(self, entries: NamedRecords) -> None:
        since = entries.records["approved"]["posted_at"]
        assert entries.names(updated_at_from=since) == ["approved"]

    @pytest.mark.parametrize("sort", ["entry_date", "created_at", "sequence_number"])
    @pytest.mark.parametrize("down", ["", "-"])
    @pytest.mark.parametrize("by", ["cursor", "page"])
    def test_every_walk_meets_each_entry_once(
        self, entries: NamedRecords, sort: str, down: str, by: str
    ) -> None:
        whole = entries.rows(sort=down + sort)
        keys = [(row[sort] or "", row["id"]) for row in whole]
        assert keys == sorted(keys, reverse=bool(down))
        walked: list[Record] = []
        place: Record = {"page": 1}
        for number in range(2, 6):
            page = entries.page(page_size=2, sort=down + sort, **place)
            walked += page["results"]
            following = page["page_info"]["next_cursor"]
            place = {"cursor": following} if by == "cursor" else {"page": number}
        assert (walked, following) == (whole, None)

    def test_a_summary_says_what_the_entry_itself_says(self, entries: NamedRecords) -> None:
        for row in entries.rows():
            entry = read(entries.shop, ENTRIES, row)
            assert {name: entry[name] for name in row} == row


class TestExportJournalEntries:
    def rows(self, shop: Business, **query: Any) -> list[Record]:
        answer = shop.api.get(EXPORT, params=query, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        disposition = 'attachment; filename="journal-entries.csv"'
        assert answer.headers["content-disposition"] == disposition
        return list(csv.DictReader(StringIO(answer.text, newline="")))

    def test_each_line_of_each_entry_is_a_row(self, entries: NamedRecords) -> None:
        rows = self.rows(entries.shop)
        assert list(rows[0]) == COLUMNS
        ids = dict.fromkeys(row["entry_id"] for row in rows)
        assert list(ids) == [row["id"] for row in entries.rows()]
        names = ("line_number", "account_code", "debit_amount", "credit_amount")
        for name in entries.records.keys() - {"system"}:
            entry = entries.records[name]
            lines = [row for row in rows if row["entry_id"] == entry["id"]]
            shown = [[row[name] for name in names] for row in lines]
            assert shown == [[str(line[name]) for name in names] for line in entry["lines"]]
            assert {row["sequence_number"] for row in lines} == {entry["sequence_number"] or ""}
            assert {row["status"] for row in lines} == {entry["status"]}

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ({"status": "draft"}, "ai draft"),
            ({"account": "2500"}, "draft"),
            ({"search": "p-", "sort": "entry_date"}, "posted ai mirror"),
            ({"is_posted": True, "created_by": "import"}, "approved"),
            ({"date_from": "2030-01-01"}, ""),
        ],
    )
    def test_filters_of_the_export_are_the_filters_of_the_list(
        self, entries: NamedRecords, query: Record, expected: str
    ) -> None:
        names = {entry["id"]: name for name, entry in entries.records.items()}
        rows = self.rows(entries.shop, **query)
        assert list(dict.fromkeys(names[row["entry_id"]] for row in rows)) == expected.split()

    def test_no_cell_is_a_formula(self, acme: Partner) -> None:
        shop = acme.business()
        lines = [debit("6000", 5, description="-2+3"), credit("2400", 5, description="@now")]
        drafted(shop, reference="=1+1", description="+cmd|' /C calc'!A0", lines=lines)
        first, second = self.rows(shop)
        assert (first["reference"], first["description"]) == ("'=1+1", "'+cmd|' /C calc'!A0")
        assert (first["line_description"], second["line_description"]) == ("'-2+3", "'@now")
        assert (first["debit_amount"], first["credit_amount"]) == ("5", "0")

    def test_a_file_has_so_many_lines_and_no_more(self, acme: Partner) -> None:
        shop = acme.business()
        lines = [debit("6000", 1)] * 250 + [credit("2400", 1)] * 250
        for _ in range(40):
            drafted(shop, lines=lines)
        assert len(self.rows(shop)) == 20_000
        drafted(shop)
        answer = shop.api.get(EXPORT)
        assert answer.status_code == 422
        assert is_as_shown("ExportTooLarge", answer)
        assert answer.json()["detail"] == {"limit": 20_000}
