"""Tax returns that are filed, superseded and deleted; later entries are late."""

from datetime import timedelta

from tests.builders.journal_entries import ENTRIES, credit, debit, moved
from tests.builders.tax_returns import (
    ON,
    RETURNS,
    ask,
    boxes,
    brought,
    codes,
    drawn_up,
    filed,
    lines,
    read,
    return_body,
    said,
    sale,
    superseding,
)
from tests.clock import today
from tests.partner import Business, Partner


class TestFileTaxReturn:
    def test_a_filed_return_keeps_the_figures_of_its_draft(self, books: Business) -> None:
        sale(books)
        draft = drawn_up(books)
        answer = ask(books, draft, "file", json={"reference": "VAT-1"})
        done = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (done["status"], done["reference"]) == ("filed", "VAT-1")
        assert done["filed_at"] == done["updated_at"]
        changed = {"status", "filed_at", "reference", "updated_at"}
        assert {name for name in done if done[name] != draft[name]} == changed
        assert read(books, done) == done

    def test_later_entries_are_late_in_the_next_return_only(self, books: Business) -> None:
        sale(books)
        first = filed(books, drawn_up(books, 1))
        sale(books, net=700)
        sale(books, "2025-05-01", 300)
        second = drawn_up(books, 2)
        assert codes(second["late"]) == {"S20": {"net": 700, "output": 140}}
        assert codes(second["codes"]) == {"S20": {"net": 1_000, "output": 200}}
        second = filed(books, second)
        sale(books, net=50)
        third = drawn_up(books, 3)
        assert codes(third["codes"]) == codes(third["late"]) == {"S20": {"net": 50, "output": 10}}
        assert boxes(read(books, first))["6"] == 10_000
        assert codes(read(books, second)["late"]) == {"S20": {"net": 700, "output": 140}}

    def test_a_quarter_that_was_left_out_may_follow(self, books: Business) -> None:
        sale(books)
        filed(books, drawn_up(books, 2))
        sale(books, "2025-05-01", 300)
        first = filed(books, drawn_up(books, 1))
        assert codes(first["codes"]) == {"S20": {"net": 10_000, "output": 2_000}}
        assert codes(drawn_up(books, 3)["codes"]) == {"S20": {"net": 300, "output": 60}}

    def test_numbers_of_another_year_are_kept_apart(self, books: Business) -> None:
        for day in ("2024-12-01", "2024-12-02", "2025-01-02"):
            sale(books, day, 100)
        across = return_body(start_date="2024-12-01", end_date="2025-01-31")
        done = filed(books, books.made(RETURNS, across))
        assert codes(done["codes"])["S20"]["net"] == 300
        sale(books, "2025-01-03", 40)
        sale(books, "2024-12-03", 50)
        after = return_body(start_date="2025-02-01", end_date="2025-02-28")
        late = books.made(RETURNS, after)["late"]
        assert codes(late)["S20"]["net"] == 90
        assert brought(lines(books, done, tax_part="net")) == -300

    def test_a_filing_locks_the_period_on_request(self, books: Business, acme: Partner) -> None:
        sale(books)
        filed(books, drawn_up(books), lock=True)
        own = f"/v1/platform/businesses/{books.id}/"
        assert acme.api.get(own).json()["lock_date"] == "2025-03-31"
        body = {"entry_date": ON, "lines": [debit("6000", 1), credit("2400", 1)], "post": True}
        assert said(books.api.post(ENTRIES, json=body)) == (409, "period_locked")
        [record, *_] = books.api.get("audit/", params={"object_type": "business"}).json()["results"]
        assert record["action"] == "file_tax_return"
        assert record["changes"]["lock_date"] == {"from": None, "to": "2025-03-31"}

    def test_a_later_lock_stays(self, books: Business, acme: Partner) -> None:
        own = f"/v1/platform/businesses/{books.id}/"
        acme.api.patch(own, json={"lock_date": "2025-06-30"})
        filed(books, drawn_up(books), lock=True)
        assert acme.api.get(own).json()["lock_date"] == "2025-06-30"

    def test_a_correction_that_the_lock_moves_on_is_not_late(self, books: Business) -> None:
        entry = sale(books)
        filed(books, drawn_up(books), lock=True)
        moved(books, entry, "reverse", json={"entry_date": "2025-04-01"})
        second = drawn_up(books, 2)
        assert second["late"] == []
        assert boxes(second)["1"] == -2_000

    def test_each_day_is_filed_once(self, books: Business) -> None:
        done = filed(books, drawn_up(books))
        draft = books.made(RETURNS, return_body(start_date=ON, end_date="2025-04-30"))
        answer = ask(books, draft, "file")
        assert said(answer) == (409, "return_overlaps")
        assert answer.json()["detail"]["id"] == done["id"]

    def test_a_return_is_filed_once(self, books: Business) -> None:
        done = filed(books, drawn_up(books))
        assert said(ask(books, done, "file")) == (409, "invalid_state_transition")

    def test_a_period_that_goes_on_is_not_filed(self, books: Business) -> None:
        for ahead, status in ((1, 409), (0, 200)):
            day = str(today() + timedelta(days=ahead))
            draft = books.made(RETURNS, return_body(start_date=day, end_date=day))
            answer = ask(books, draft, "file")
            assert answer.status_code == status, answer.text


class TestSupersedeTaxReturn:
    def test_a_superseding_return_has_the_old_members_and_late_entries(
        self, books: Business
    ) -> None:
        sale(books)
        old = filed(books, drawn_up(books, 1))
        sale(books, net=700)
        answer = ask(books, old, "supersede", json={"reason": "An invoice was forgotten."})
        draft = answer.json()
        assert answer.status_code == 201
        assert (draft["status"], draft["supersedes_id"]) == ("draft", old["id"])
        assert draft["reason"] == "An invoice was forgotten."
        assert codes(draft["codes"]) == {"S20": {"net": 10_700, "output": 2_140}}
        assert codes(draft["late"]) == {"S20": {"net": 700, "output": 140}}
        assert read(books, old) == old
        done = filed(books, draft)
        kept = read(books, old)
        assert (kept["status"], kept["superseded_by_id"]) == ("superseded", done["id"])
        assert boxes(kept) == boxes(old)
        assert drawn_up(books, 2)["late"] == []

    def test_a_superseding_return_omits_entries_of_other_returns(self, books: Business) -> None:
        sale(books)
        old = filed(books, drawn_up(books, 1))
        sale(books, net=700)
        second = filed(books, drawn_up(books, 2))
        sale(books, net=50)
        done = filed(books, superseding(books, old))
        assert codes(done["codes"]) == {"S20": {"net": 10_050, "output": 2_010}}
        assert codes(read(books, second)["codes"]) == {"S20": {"net": 700, "output": 140}}
        assert drawn_up(books, 3)["codes"] == []
        again = superseding(books, done)
        assert codes(again["codes"]) == {"S20": {"net": 10_050, "output": 2_010}}

    def test_only_a_filed_return_is_superseded(self, books: Business) -> None:
        draft, body = drawn_up(books), {"reason": "x"}
        refused = (409, "invalid_state_transition")
        assert said(ask(books, draft, "supersede", json=body)) == refused
        old = filed(books, draft)
        filed(books, superseding(books, old))
        assert said(ask(books, old, "supersede", json=body)) == refused

    def test_a_return_is_superseded_by_one_draft_at_a_time(self, books: Business) -> None:
        old = filed(books, drawn_up(books))
        draft = superseding(books, old)
        answer = ask(books, old, "supersede", json={"reason": "x"})
        assert said(answer) == (409, "already_superseded")
        assert answer.json()["detail"]["id"] == draft["id"]
        assert books.api.delete(f"{RETURNS}{draft['id']}/").status_code == 200
        assert superseding(books, old)["supersedes_id"] == old["id"]

    def test_a_reason_is_needed(self, books: Business) -> None:
        old = filed(books, drawn_up(books))
        for reason in ("", " "):
            assert ask(books, old, "supersede", json={"reason": reason}).status_code == 400


class TestDeleteTaxReturn:
    def test_a_draft_is_gone(self, books: Business) -> None:
        draft = drawn_up(books)
        path = f"{RETURNS}{draft['id']}/"
        answer = books.api.delete(path)
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert said(books.api.get(path)) == (404, "tax_return_not_found")
        assert said(books.api.delete(path)) == (404, "tax_return_not_found")

    def test_a_filed_return_cannot_be_deleted(self, books: Business) -> None:
        done = filed(books, drawn_up(books))
        answer = books.api.delete(f"{RETURNS}{done['id']}/")
        assert said(answer) == (409, "invalid_state_transition")
