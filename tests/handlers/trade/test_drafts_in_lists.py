"""list_journal_entries over drafts, rejected and posted entries, and the file of the same."""

import csv
from io import StringIO
from typing import Any

import pytest

from tests.builders.journal_entries import ENTRIES, credit, debit, drafted, moved, posted
from tests.builders.sales import sent
from tests.builders.trade import NOBODY, Record
from tests.contract.refusals import is_as_shown
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
def written(own_shop: Business) -> dict[str, Record]:
    """One of each: what an invoice posted, and what was written by hand, by whom and when."""
    sent(own_shop, own_shop.customer(company_name="Tall Ship"), 120)
    lent = [debit("1100", 9), credit("2500", 9)]
    own_shop.api.patch(f"{CHART}2500/", json={"external_id": "loan"})
    entry = posted(own_shop, entry_date="2025-03-02", description="Power", reference="P-1")
    return {
        "posted": entry,
        "mirror": moved(own_shop, entry, "reverse", json={"entry_date": "2025-03-04"}),
        "draft": drafted(own_shop, entry_date="2025-03-01", description="Water 100%", lines=lent),
        "ai": drafted(own_shop, entry_date="2025-03-03", created_by="ai", reference="P-2"),
        "rejected": moved(own_shop, drafted(own_shop, entry_date="2025-03-03"), "reject"),
        "approved": moved(
            own_shop, drafted(own_shop, entry_date="2025-03-05", created_by="import"), "approve"
        ),
    }


def found(own_shop: Business, written: dict[str, Record], **asked: Any) -> list[str]:
    answer = own_shop.api.get(ENTRIES, params=asked)
    assert answer.status_code == 200, answer.text
    names = {entry["id"]: name for name, entry in written.items()}
    shown = [names.get(each["id"], "system") for each in answer.json()["results"]]
    assert answer.json()["count"] == len(shown)
    return shown


class TestListJournalEntries:
    def test_all_stand_together_the_latest_date_first(
        self, own_shop: Business, written: dict[str, Record]
    ) -> None:
        order = ["approved", "mirror", "rejected", "ai", "posted", "draft", "system"]
        assert found(own_shop, written) == order

    @pytest.mark.parametrize(
        ("asked", "expected"),
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
        self, own_shop: Business, written: dict[str, Record], asked: Record, expected: str
    ) -> None:
        assert found(own_shop, written, **asked) == expected.split()

    def test_an_account_is_named_by_its_id_in_any_case(
        self, own_shop: Business, written: dict[str, Record]
    ) -> None:
        account_id = own_shop.api.get(f"{CHART}2500/").json()["id"]
        assert found(own_shop, written, account=account_id) == ["draft"]
        assert found(own_shop, written, account=account_id.upper()) == ["draft"]

    def test_a_filter_by_change_selects_changed_entries(
        self, own_shop: Business, written: dict[str, Record]
    ) -> None:
        since = written["approved"]["posted_at"]
        assert found(own_shop, written, updated_at_from=since) == ["approved"]

    @pytest.mark.parametrize("sort", ["entry_date", "created_at", "sequence_number"])
    @pytest.mark.parametrize("down", [False, True])
    @pytest.mark.parametrize("by", ["cursor", "page"])
    def test_every_walk_meets_each_entry_once(
        self, own_shop: Business, written: dict[str, Record], sort: str, down: bool, by: str
    ) -> None:
        asked = {"sort": ("-" if down else "") + sort}
        whole = own_shop.api.get(ENTRIES, params=asked).json()["results"]
        keys = [(each[sort] or "", each["id"]) for each in whole]
        assert keys == sorted(keys, reverse=down)
        walked: list[Record] = []
        place: Record = {"page": 1}
        for page in range(2, 6):
            answer = own_shop.api.get(ENTRIES, params={"page_size": 2, **asked, **place}).json()
            walked += answer["results"]
            following = answer["page_info"]["next_cursor"]
            place = {"cursor": following} if by == "cursor" else {"page": page}
        assert (walked, following) == (whole, None)

    def test_a_summary_says_what_the_entry_itself_says(
        self, own_shop: Business, written: dict[str, Record]
    ) -> None:
        for listed in own_shop.api.get(ENTRIES).json()["results"]:
            entry = own_shop.api.get(f"{ENTRIES}{listed['id']}/").json()
            assert {name: entry[name] for name in listed} == listed


class TestExportJournalEntries:
    def rows(self, own_shop: Business, **asked: Any) -> list[Record]:
        answer = own_shop.api.get(EXPORT, params=asked, headers={"Accept": "application/json"})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        assert answer.headers["content-disposition"] == (
            'attachment; filename="journal-entries.csv"'
        )
        return list(csv.DictReader(StringIO(answer.text, newline="")))

    def test_each_line_of_each_entry_is_a_row(
        self, own_shop: Business, written: dict[str, Record]
    ) -> None:
        rows = self.rows(own_shop)
        assert list(rows[0]) == COLUMNS
        listed = own_shop.api.get(ENTRIES).json()["results"]
        assert list(dict.fromkeys(row["entry_id"] for row in rows)) == [e["id"] for e in listed]
        for entry in written.values():
            lines = [row for row in rows if row["entry_id"] == entry["id"]]
            shown = [
                (row["line_number"], row["account_code"], row["debit_amount"], row["credit_amount"])
                for row in lines
            ]
            names = ("line_number", "account_code", "debit_amount", "credit_amount")
            assert shown == [tuple(str(each[n]) for n in names) for each in entry["lines"]]
            assert {row["sequence_number"] for row in lines} == {entry["sequence_number"] or ""}
            assert {row["status"] for row in lines} == {entry["status"]}

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"status": "draft"}, "ai draft"),
            ({"account": "2500"}, "draft"),
            ({"search": "p-", "sort": "entry_date"}, "posted ai mirror"),
            ({"is_posted": True, "created_by": "import"}, "approved"),
            ({"date_from": "2030-01-01"}, ""),
        ],
    )
    def test_filters_of_the_export_are_the_filters_of_the_list(
        self, own_shop: Business, written: dict[str, Record], asked: Record, expected: str
    ) -> None:
        names = {entry["id"]: name for name, entry in written.items()}
        shown = dict.fromkeys(names[row["entry_id"]] for row in self.rows(own_shop, **asked))
        assert list(shown) == expected.split()

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

    def test_the_export_requires_a_token_of_the_business(
        self, own_shop: Business, written: dict[str, Record], rival: Partner
    ) -> None:
        stranger = own_shop.partner.client(own_shop.base_url)
        assert stranger.get(EXPORT).status_code == 401
        path = f"/v1/platform/businesses/{own_shop.id}/{EXPORT}"
        assert rival.api.get(path).status_code == 403
        assert own_shop.partner.key.get(path).text == own_shop.api.get(EXPORT).text

    @pytest.mark.parametrize("asked", ["page=2", "status=open", "date_from=x", "sort=id"])
    def test_an_unknown_parameter_or_value_is_400(self, own_shop: Business, asked: str) -> None:
        assert own_shop.api.get(f"{EXPORT}?{asked}").status_code == 400
