"""approve_journal_entry, reject_journal_entry and reverse_journal_entry."""

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES, ON, credit, debit, drafted, moved, posted
from tests.builders.sales import sent
from tests.builders.trade import Record
from tests.clock import today
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


def refusal_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def ask(shop: Business, entry: Record, move: str, **options: object) -> httpx.Response:
    return shop.api.post(f"{ENTRIES}{entry['id']}/{move}/", **options)


@pytest.fixture(scope="module")
def system(shop: Business) -> Record:
    """An entry posted by an invoice."""
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

    def test_an_approval_checks_the_accounts_again(self, shop: Business, ledger: Ledger) -> None:
        draft = drafted(shop, lines=[debit("7000", 5), credit("2400", 5)])
        assert shop.api.delete(f"{CHART}7000/").status_code == 200
        path = f"{ENTRIES}{draft['id']}/approve/"
        assert ledger.refused("POST", path) == (409, "account_archived")
        shop.api.patch(f"{CHART}7000/", json={"is_active": True})
        assert moved(shop, draft, "approve")["is_posted"] is True


class TestNoDraft:
    @pytest.mark.parametrize("move", ["approve", "reject"])
    def test_an_entry_that_is_no_draft_cannot_be_approved_or_rejected(
        self, shop: Business, ledger: Ledger, system: Record, move: str
    ) -> None:
        rejected = moved(shop, drafted(shop), "reject")
        for entry in (posted(shop), rejected, system):
            with ledger.untouched():
                answer = ask(shop, entry, move)
            assert refusal_of(answer) == (409, "invalid_state_transition")
            assert answer.json()["detail"]["current_state"] == entry["status"]


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

    def test_a_draft_in_a_locked_period_can_be_rejected(
        self, shop: Business, ledger: Ledger
    ) -> None:
        draft = drafted(shop)
        with ledger.locked(ON):
            assert moved(shop, draft, "reject")["status"] == "rejected"


class TestReverseJournalEntry:
    def test_a_reversal_mirrors_each_line(self, shop: Business, ledger: Ledger) -> None:
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

    def test_a_reversal_without_a_date_is_dated_today(self, shop: Business) -> None:
        entry = posted(shop, created_by="manual")
        assert moved(shop, entry, "reverse")["entry_date"] == today().isoformat()

    def test_an_approved_draft_can_be_reversed(self, shop: Business) -> None:
        entry = moved(shop, drafted(shop, created_by="import"), "approve")
        mirror = moved(shop, entry, "reverse")
        assert (mirror["reversal_of_id"], mirror["created_by"]) == (entry["id"], "manual")

    def test_a_reversal_may_be_reversed_itself(self, shop: Business, ledger: Ledger) -> None:
        entry = posted(shop, 9)
        before = ledger.balances()
        again = moved(shop, moved(shop, entry, "reverse"), "reverse")
        assert again["source_id"] == entry["id"]
        assert ledger.balances() == before

    def test_an_entry_of_a_document_cannot_be_reversed(
        self, shop: Business, ledger: Ledger, system: Record
    ) -> None:
        with ledger.untouched():
            answer = ask(shop, system, "reverse")
        assert refusal_of(answer) == (409, "system_entry")
        assert answer.json()["detail"]["source_id"] == system["source_id"]

    def test_an_archived_account_is_active_again(self, shop: Business) -> None:
        lines = [debit("8000", 5), credit("2450", 5)]
        entry = posted(shop, lines=lines)
        offset = posted(shop, lines=[debit("2450", 5), credit("8000", 5)])
        assert shop.api.delete(f"{CHART}8000/").status_code == 200
        moved(shop, entry, "reverse")
        assert shop.api.get(f"{CHART}8000/").json()["is_active"] is True
        moved(shop, offset, "reverse")

    def test_a_long_description_is_cut(self, shop: Business) -> None:
        entry = posted(shop, description="x" * 1000)
        assert len(moved(shop, entry, "reverse")["description"]) == 1000
