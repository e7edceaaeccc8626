"""create_journal_entry and replace_journal_entry: manual entries before they are posted."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import (
    ENTRIES,
    ON,
    credit,
    debit,
    drafted,
    entry_body,
    moved,
    posted,
)
from tests.builders.sales import sent
from tests.builders.trade import NOBODY, Record
from tests.clock import today
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"
MOST = 99_999_999_999_999  # The largest amount of a line.


class TestCreateJournalEntry:
    def test_an_entry_is_a_draft_that_counts_nowhere(self, shop: Business, ledger: Ledger) -> None:
        before = ledger.balances()
        lines = [
            debit("6000", 70, description="Light"),
            debit("6000", 30, credit_amount=0),
            credit("2400", 100, description=" Owed "),
        ]
        body = entry_body(reference="ACC-3", description="Accrued power", lines=lines)
        answer = shop.api.post(ENTRIES, json=body)
        entry = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        assert answer.headers["location"].endswith(f"{ENTRIES}{entry['id']}/")
        shown = {
            "sequence_number": None,
            "entry_date": ON,
            "accounting_period": "2025-03",
            "reference": "ACC-3",
            "source_reference": "ACC-3",
            "description": "Accrued power",
            "currency": "GBP",
            "total_debit": 100,
            "total_credit": 100,
            "is_balanced": True,
            "created_by": "manual",
            "created_by_display": "Manual",
            "status": "draft",
            "status_display": "Draft",
            "is_posted": False,
            "posted_at": None,
            "bank_transaction_id": None,
            "source_type": "manual",
            "source_id": entry["id"],
            "reversal_of_id": None,
            "reversed_by_id": None,
        }
        assert {name: entry[name] for name in shown} == shown
        names = ("line_number", "account_code", "debit_amount", "credit_amount", "description")
        assert [tuple(each[name] for name in names) for each in entry["lines"]] == [
            (1, "6000", 70, 0, "Light"),
            (2, "6000", 30, 0, None),
            (3, "2400", 0, 100, " Owed "),
        ]
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry
        assert ledger.balances() == before
        assert ledger.entries(entry) == []

    def test_an_entry_without_description_is_a_manual_entry(self, shop: Business) -> None:
        entry = drafted(shop)
        assert (entry["description"], entry["reference"]) == ("Manual entry", None)

    def test_an_entry_is_posted_immediately_on_request(
        self, shop: Business, ledger: Ledger
    ) -> None:
        entry = posted(shop, 250, reference="R-1")
        assert entry["sequence_number"].startswith("JE-2025-")
        assert (entry["status"], entry["is_posted"]) == ("approved", True)
        assert entry["posted_at"] == entry["created_at"]
        assert entry["source_id"] == entry["id"]
        [kept] = ledger.entries(entry)
        assert (kept.id, kept.source_type, kept.on) == (entry["id"], "manual", ON)
        assert kept.lines == (("6000", 250), ("2400", -250))
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry

    @pytest.mark.parametrize(("author", "shown"), [("ai", "AI"), ("import", "Import")])
    def test_an_entry_without_a_human_author_stays_a_draft(
        self, shop: Business, ledger: Ledger, author: str, shown: str
    ) -> None:
        entry = drafted(shop, created_by=author, post=True)
        assert (entry["status"], entry["created_by"]) == ("draft", author)
        assert entry["created_by_display"] == shown
        assert ledger.entries(entry) == []

    def test_an_account_is_named_by_id_code_or_external_id(self, shop: Business) -> None:
        made = shop.api.patch(f"{CHART}1400/", json={"external_id": "prepaid"}).json()
        for name in (made["id"], made["id"].upper(), "1400", "prepaid"):
            entry = drafted(shop, lines=[debit(name, 5), credit("2400", 5)])
            assert entry["lines"][0]["account_id"] == made["id"]

    def test_clearing_takes_what_explains_a_variance(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop, lines=[debit("6400", 3), credit("1150", 3)])
        assert ledger.postings(entry) == [(ON, {"6400": 3, "1150": -3})]

    @pytest.mark.parametrize(
        "line",
        [
            debit("6000", 5, credit_amount=5),
            {"account": "6000"},
            debit("6000", 0),
            debit("6000", 0, credit_amount=0),
        ],
    )
    def test_a_line_has_one_account_and_one_side(self, shop: Business, line: Record) -> None:
        answer = shop.api.post(ENTRIES, json=entry_body(lines=[line, credit("2400", 5)]))
        assert answer.status_code == 400
        assert "lines.0.debit_amount" in answer.json()["detail"]["field_errors"]

    @pytest.mark.parametrize("post", [False, True])
    @pytest.mark.parametrize(
        ("lines", "code"),
        [
            ([debit("6000", 100), credit("2400", 60)], "entry_not_balanced"),
            ([debit("6000", 100), debit("2400", 100)], "entry_not_balanced"),
            ([debit("6000", 5), credit("no-such", 5)], "reference_not_found"),
            ([debit("6000", 5), credit(NOBODY, 5)], "reference_not_found"),
            ([debit("6000", MOST)] * 2 + [credit("2400", MOST)] * 2, "amount_too_large"),
            ([debit("6000", 5), credit("1200", 5)], "control_account"),
        ],
    )
    def test_an_entry_that_breaks_a_rule_is_422(
        self, ledger: Ledger, lines: list[Record], code: str, post: bool
    ) -> None:
        body = entry_body(lines=lines, post=post)
        assert ledger.refused("POST", ENTRIES, json=body) == (422, code)

    def test_a_locked_period_takes_drafts_and_no_posted_entries(
        self, shop: Business, ledger: Ledger
    ) -> None:
        with ledger.locked(ON):
            assert drafted(shop)["status"] == "draft"
            body = entry_body(post=True)
            assert ledger.refused("POST", ENTRIES, json=body) == (409, "period_locked")

    def test_a_preview_shows_what_it_would_post_and_keeps_nothing(
        self, shop: Business, ledger: Ledger
    ) -> None:
        with ledger.untouched():
            path = f"{ENTRIES}?preview=true"
            waiting = shop.api.post(path, json=entry_body())
            counting = shop.api.post(path, json=entry_body(post=True))
        assert (waiting.status_code, waiting.json()["journal_entries"]) == (200, [])
        shown = counting.json()
        [entry] = shown.pop("journal_entries")
        assert entry == shown
        assert (entry["status"], entry["sequence_number"]) == ("approved", None)


class TestReplaceJournalEntry:
    def test_a_replacement_replaces_all_fields(self, shop: Business) -> None:
        entry = drafted(shop, reference="R", description="Before", created_by="ai")
        body = {"entry_date": "2024-12-31", "lines": [debit("1400", 8), credit("1000", 8)]}
        answer = shop.api.put(f"{ENTRIES}{entry['id']}/", json=body)
        after = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (after["entry_date"], after["reference"]) == ("2024-12-31", None)
        assert (after["description"], after["created_by"]) == ("Manual entry", "ai")
        assert [each["account_code"] for each in after["lines"]] == ["1400", "1000"]
        assert after["created_at"] == entry["created_at"]
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == after

    def test_only_a_draft_is_replaced(self, shop: Business, ledger: Ledger) -> None:
        rejected = moved(shop, drafted(shop), "reject")
        sent(shop, shop.customer())
        system = shop.api.get(ENTRIES, params={"created_by": "system"}).json()["results"][0]
        for entry in (posted(shop), rejected, system):
            with ledger.untouched():
                answer = shop.api.put(f"{ENTRIES}{entry['id']}/", json=entry_body())
            refusal = answer.json()
            assert (answer.status_code, refusal["error_code"]) == (409, "invalid_state_transition")
            assert refusal["detail"] == {
                "current_state": entry["status"],
                "allowed_next_states": [],
            }

    def test_a_replacement_that_breaks_a_rule_changes_nothing(
        self, shop: Business, ledger: Ledger
    ) -> None:
        path = f"{ENTRIES}{drafted(shop)['id']}/"
        body = entry_body(lines=[debit("6000", 1), credit("2400", 2)])
        assert ledger.refused("PUT", path, json=body) == (422, "entry_not_balanced")

    def test_an_approval_makes_a_new_version(self, shop: Business) -> None:
        path = f"{ENTRIES}{drafted(shop)['id']}/"
        approved = shop.api.post(f"{path}approve/", headers={"If-Match": '"1"'})
        assert (approved.status_code, approved.headers["etag"]) == (200, '"2"')
        assert shop.api.get(path).headers["etag"] == '"2"'
        assert shop.api.post(f"{path}reverse/", headers={"If-Match": '"1"'}).status_code == 412

    def test_a_draft_may_have_a_future_date(self, shop: Business) -> None:
        later = f"{today().year + 1}-01-01"
        assert drafted(shop, entry_date=later)["entry_date"] == later
