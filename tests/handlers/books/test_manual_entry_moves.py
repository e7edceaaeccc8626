"""approve_journal_entry, reject_journal_entry and reverse_journal_entry."""

from datetime import timedelta

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES, ON, credit, debit, drafted, moved, posted
from tests.builders.sales import sent
from tests.builders.trade import Record
from tests.clock import today
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def ask(shop: Business, entry: Record, move: str, **options: object) -> httpx.Response:
    return shop.api.post(f"{ENTRIES}{entry['id']}/{move}/", **options)


@pytest.fixture(scope="module")
def system(shop: Business) -> Record:
    """An entry that an invoice has posted."""
    sent(shop, shop.customer())
    found = shop.api.get(ENTRIES, params={"created_by": "system"}).json()
    entry: Record = found["results"][0]
    return entry


class TestApproveJournalEntry:
    def test_the_draft_is_posted_under_its_id(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop, 40, reference="A", description="Rent", created_by="ai")
        entry = moved(shop, draft, "approve")
        changed = {"sequence_number", "status", "status_display", "is_posted", "posted_at"}
        assert {name for name in entry if entry[name] != draft[name]} == changed
        assert (entry["status"], entry["created_by"]) == ("approved", "ai")
        assert entry["sequence_number"].startswith("JE-2025-")
        assert ledger.postings(entry) == [(ON, {"6000": 40, "2400": -40})]
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry
        assert ledger.ask("SELECT id FROM journal_draft WHERE id = %(id)s", id=entry["id"]) == []

    def test_the_trail_tells_of_one_thing(self, shop: Business) -> None:
        entry = moved(shop, drafted(shop), "approve")
        trail = shop.api.get("audit/", params={"object_id": entry["id"], "sort": "created_at"})
        names = ("action", "change", "object_type")
        assert [tuple(each[n] for n in names) for each in trail.json()["results"]] == [
            ("create_journal_entry", "insert", "journal_entry"),
            ("approve_journal_entry", "delete", "journal_entry"),
            ("approve_journal_entry", "insert", "journal_entry"),
        ]

    def test_an_entry_that_is_no_draft_cannot_be_approved(
        self, shop: Business, ledger: Ledger, system: Record
    ) -> None:
        rejected = moved(shop, drafted(shop), "reject")
        for entry in (posted(shop), rejected, system):
            with ledger.untouched():
                answer = ask(shop, entry, "approve")
            assert said(answer) == (409, "invalid_state_transition")
            assert answer.json()["detail"]["current_state"] == entry["status"]

    def test_its_day_is_looked_at_now(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop)
        with ledger.locked(ON), ledger.untouched():
            assert said(ask(shop, draft, "approve")) == (409, "period_locked")
        assert moved(shop, draft, "approve")["status"] == "approved"

    def test_an_approval_checks_the_accounts_again(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop, lines=[debit("7000", 5), credit("2400", 5)])
        assert shop.api.delete(f"{CHART}7000/").status_code == 200
        with ledger.untouched():
            assert said(ask(shop, draft, "approve")) == (409, "account_archived")
        shop.api.patch(f"{CHART}7000/", json={"is_active": True})
        assert moved(shop, draft, "approve")["is_posted"] is True

    def test_a_preview_posts_nothing(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop)
        with ledger.untouched():
            shown = moved(shop, draft, "approve", params={"preview": True})
        [entry] = shown.pop("journal_entries")
        assert entry == shown
        assert (entry["id"], entry["sequence_number"]) == (draft["id"], None)


class TestRejectJournalEntry:
    def test_a_rejected_entry_stays_readable_and_is_not_posted(
        self, shop: Business, ledger: Ledger
    ) -> None:
        draft = drafted(shop)
        answer = ask(shop, draft, "reject")
        entry = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert entry == {**draft, "status": "rejected", "status_display": "Rejected"}
        assert shop.api.get(f"{ENTRIES}{entry['id']}/").json() == entry
        assert ledger.entries(entry) == []

    def test_an_entry_that_is_no_draft_cannot_be_rejected(
        self, shop: Business, ledger: Ledger, system: Record
    ) -> None:
        rejected = moved(shop, drafted(shop), "reject")
        for entry in (posted(shop), rejected, system):
            with ledger.untouched():
                assert said(ask(shop, entry, "reject")) == (409, "invalid_state_transition")

    def test_a_draft_in_a_locked_period_can_be_rejected(
        self, shop: Business, ledger: Ledger
    ) -> None:
        draft = drafted(shop)
        with ledger.locked(ON):
            assert moved(shop, draft, "reject")["status"] == "rejected"


class TestReverseJournalEntry:
    def test_the_mirror_takes_it_back(self, shop: Business, ledger: Ledger) -> None:
        before = ledger.balances()
        entry = posted(
            shop,
            reference="M-1",
            description="Rent",
            lines=[debit("6000", 30), debit("1400", 20, description="Next"), credit("2400", 50)],
        )
        answer = ask(shop, entry, "reverse", json={"entry_date": "2025-04-01"})
        mirror = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        assert answer.headers["location"].endswith(f"{ENTRIES}{mirror['id']}/")
        shown = {
            "entry_date": "2025-04-01",
            "reference": "M-1",
            "description": f"Reversal of {entry['sequence_number']}: Rent",
            "created_by": "manual",
            "status": "approved",
            "source_type": "manual",
            "source_id": entry["id"],
            "reversal_of_id": entry["id"],
            "reversed_by_id": None,
        }
        assert {name: mirror[name] for name in shown} == shown
        sides = [(each["debit_amount"], each["credit_amount"]) for each in mirror["lines"]]
        assert sides == [(0, 30), (0, 20), (50, 0)]
        assert mirror["lines"][1]["description"] == "Next"
        assert ledger.balances() == before
        read = shop.api.get(f"{ENTRIES}{entry['id']}/")
        assert read.json() == {**entry, "reversed_by_id": mirror["id"]}
        assert read.headers["etag"] == '"2"'
        assert shop.api.get(f"{ENTRIES}{mirror['id']}/").json() == mirror

    def test_without_a_date_it_is_todays(self, shop: Business) -> None:
        entry = posted(shop, created_by="manual")
        assert moved(shop, entry, "reverse")["entry_date"] == today().isoformat()

    def test_a_reversal_is_dated_no_earlier_than_its_entry(self, shop: Business) -> None:
        later = (today() + timedelta(days=40)).isoformat()
        assert moved(shop, posted(shop, entry_date=later), "reverse")["entry_date"] == later
        early = moved(shop, posted(shop), "reverse", json={"entry_date": "2025-01-01"})
        assert early["entry_date"] == ON

    def test_an_approved_entry_is_reversed_alike(self, shop: Business) -> None:
        entry = moved(shop, drafted(shop, created_by="import"), "approve")
        mirror = moved(shop, entry, "reverse")
        assert (mirror["reversal_of_id"], mirror["created_by"]) == (entry["id"], "manual")

    def test_a_reversal_may_be_reversed_itself(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop, 9)
        before = ledger.balances()
        again = moved(shop, moved(shop, entry, "reverse"), "reverse")
        assert again["source_id"] == entry["id"]
        assert ledger.balances() == before

    def test_an_entry_is_reversed_once(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop)
        mirror = moved(shop, entry, "reverse")
        with ledger.untouched():
            answer = ask(shop, entry, "reverse")
        assert said(answer) == (409, "already_reversed")
        assert answer.json()["detail"] == {"reversed_by_id": mirror["id"]}

    def test_an_entry_of_a_document_cannot_be_reversed(
        self, shop: Business, ledger: Ledger, system: Record
    ) -> None:
        with ledger.untouched():
            answer = ask(shop, system, "reverse")
        assert said(answer) == (409, "system_entry")
        assert answer.json()["detail"]["source_id"] == system["source_id"]

    def test_an_entry_that_is_not_posted_cannot_be_reversed(
        self, shop: Business, ledger: Ledger
    ) -> None:
        draft, rejected = drafted(shop), moved(shop, drafted(shop), "reject")
        for entry, following in ((draft, ["approved", "rejected"]), (rejected, [])):
            with ledger.untouched():
                answer = ask(shop, entry, "reverse")
            assert said(answer) == (409, "invalid_state_transition")
            assert answer.json()["detail"]["allowed_next_states"] == following

    def test_a_reversal_is_posted_in_an_open_period(self, shop: Business, ledger: Ledger) -> None:
        entry, end = posted(shop), today()
        with ledger.locked(end.isoformat()):
            for day in (ON, end.isoformat()):
                with ledger.untouched():
                    answer = ask(shop, entry, "reverse", json={"entry_date": day})
                assert said(answer) == (409, "period_locked")
            mirror = moved(shop, entry, "reverse")
        assert mirror["entry_date"] == (end + timedelta(days=1)).isoformat()

    def test_an_archived_account_is_active_again(self, shop: Business, ledger: Ledger) -> None:
        lines = [debit("8000", 5), credit("2450", 5)]
        entry = posted(shop, lines=lines)
        offset = posted(shop, lines=[debit("2450", 5), credit("8000", 5)])
        assert shop.api.delete(f"{CHART}8000/").status_code == 200
        moved(shop, entry, "reverse")
        assert shop.api.get(f"{CHART}8000/").json()["is_active"] is True
        moved(shop, offset, "reverse")

    def test_a_preview_posts_nothing(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop)
        with ledger.untouched():
            shown = moved(shop, entry, "reverse", params={"preview": True})
        [mirror] = shown.pop("journal_entries")
        assert mirror == shown
        assert mirror["reversal_of_id"] == entry["id"]

    def test_a_long_description_is_cut(self, shop: Business) -> None:
        entry = posted(shop, description="x" * 1000)
        assert len(moved(shop, entry, "reverse")["description"]) == 1000
