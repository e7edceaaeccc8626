"""create_journal_entry and replace_journal_entry: what is written by hand, before it counts."""

from typing import Any

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
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"


def refused(shop: Business, body: Record) -> tuple[int, Any]:
    answer = shop.api.post(ENTRIES, json=body)
    said = answer.json()
    faults = said["detail"].get("field_errors")
    return answer.status_code, faults or said["error_code"]


class TestCreateJournalEntry:
    def test_an_entry_is_a_draft_that_counts_nowhere(self, shop: Business, ledger: Ledger) -> None:
        before = ledger.balances()
        lines = [
            debit("6000", 70, description="Light"),
            debit("6000", 30, credit_amount=0),
            credit("2400", 100, description=" Owed "),
        ]
        answer = shop.api.post(
            ENTRIES,
            json={
                "entry_date": ON,
                "reference": "ACC-3",
                "description": "Accrued power",
                "lines": lines,
            },
        )
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
        ("lines", "fault"),
        [
            ([debit("6000", 1)], "lines"),
            ([], "lines"),
            ([debit("6000", 5, credit_amount=5), credit("2400", 5)], "lines.0.debit_amount"),
            ([{"account": "6000"}, credit("2400", 5)], "lines.0.debit_amount"),
            ([debit("6000", 0), credit("2400", 5)], "lines.0.debit_amount"),
            ([debit("6000", 0, credit_amount=0), credit("2400", 5)], "lines.0.debit_amount"),
            ([debit("6000", -5), credit("2400", 5)], "lines.0.debit_amount"),
            ([debit("6000", 5), {"credit_amount": 5}], "lines.1.account"),
            ([debit("6000", 10**14), credit("2400", 10**14)], "lines.0.debit_amount"),
        ],
    )
    def test_a_line_has_one_account_and_one_side(
        self, shop: Business, lines: list[Record], fault: str
    ) -> None:
        status, faults = refused(shop, {"entry_date": ON, "lines": lines})
        assert status == 400
        assert fault in faults

    @pytest.mark.parametrize("facts", [{"entry_date": None}, {"created_by": "system"}, {"id": "x"}])
    def test_an_entry_outside_the_contract_is_400(self, shop: Business, facts: Record) -> None:
        assert refused(shop, entry_body(**facts))[0] == 400

    @pytest.mark.parametrize("post", [False, True])
    @pytest.mark.parametrize(
        ("lines", "code"),
        [
            ([debit("6000", 100), credit("2400", 60)], "entry_not_balanced"),
            ([debit("6000", 100), debit("2400", 100)], "entry_not_balanced"),
            ([debit("6000", 5), credit("no-such", 5)], "reference_not_found"),
            ([debit("6000", 5), credit(NOBODY, 5)], "reference_not_found"),
            (
                [debit("6000", 99_999_999_999_999)] * 2 + [credit("2400", 99_999_999_999_999)] * 2,
                "amount_too_large",
            ),
            *(
                ([debit("6000", 5), credit(code, 5)], "control_account")
                for code in ("1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300")
            ),
        ],
    )
    def test_an_entry_that_breaks_a_rule_is_422(
        self, shop: Business, ledger: Ledger, lines: list[Record], code: str, post: bool
    ) -> None:
        with ledger.untouched():
            body = {"entry_date": ON, "lines": lines, "post": post}
            assert refused(shop, body) == (422, code)

    def test_an_archived_account_is_refused(self, shop: Business, ledger: Ledger) -> None:
        assert shop.api.delete(f"{CHART}1500/").status_code == 200
        with ledger.untouched():
            body = entry_body(lines=[debit("1500", 5), credit("2400", 5)])
            assert refused(shop, body) == (409, "account_archived")

    def test_an_account_of_another_business_is_unknown(
        self, shop: Business, rival: Partner
    ) -> None:
        foreign = rival.business().api.get(f"{CHART}6000/").json()["id"]
        body = entry_body(lines=[debit(foreign, 5), credit("2400", 5)])
        assert refused(shop, body) == (422, "reference_not_found")

    def test_inside_the_lock_it_may_wait_and_not_count(
        self, shop: Business, ledger: Ledger
    ) -> None:
        with ledger.locked(ON):
            assert drafted(shop)["status"] == "draft"
            with ledger.untouched():
                assert refused(shop, entry_body(post=True)) == (409, "period_locked")

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
    def test_everything_it_says_is_said_anew(self, shop: Business) -> None:
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
            said = answer.json()
            assert (answer.status_code, said["error_code"]) == (409, "invalid_state_transition")
            assert said["detail"] == {
                "current_state": entry["status"],
                "allowed_next_states": [],
            }

    def test_a_rule_broken_leaves_it_as_it_was(self, shop: Business, ledger: Ledger) -> None:
        entry = drafted(shop)
        with ledger.untouched():
            body = entry_body(lines=[debit("6000", 1), credit("2400", 2)])
            answer = shop.api.put(f"{ENTRIES}{entry['id']}/", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "entry_not_balanced")

    def test_who_saw_an_older_version_changes_nothing(self, shop: Business) -> None:
        path = f"{ENTRIES}{drafted(shop)['id']}/"
        first = {"If-Match": '"1"'}
        assert shop.api.put(path, json=entry_body(5), headers=first).status_code == 200
        answer = shop.api.put(path, json=entry_body(6), headers=first)
        assert (answer.status_code, answer.json()["error_code"]) == (412, "precondition_failed")
        # Posting is a step too: what was read as a draft is another version of the entry.
        approved = shop.api.post(f"{path}approve/", headers={"If-Match": '"2"'})
        assert (approved.status_code, approved.headers["etag"]) == (200, '"3"')
        assert shop.api.get(path).headers["etag"] == '"3"'
        stale = shop.api.post(f"{path}reverse/", headers={"If-Match": '"2"'})
        assert stale.status_code == 412

    def test_a_date_to_come_is_a_date(self, shop: Business) -> None:
        later = f"{today().year + 1}-01-01"
        assert drafted(shop, entry_date=later)["entry_date"] == later
