"""void_customer_credit: a credit note that was sent is taken back."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import credit_body, credited, sent, share
from tests.builders.trade import CREDITED, NOBODY, Record
from tests.clock import today
from tests.partner import Business, Partner

CREDITS = "customer-credits/"
ENTRIES = "general-ledger/journal-entries/"
TODAY = str(today())


def path_of(credit: Record) -> str:
    return f"{CREDITS}{credit['id']}/void/"


class TestVoidCustomerCredit:
    def test_it_mirrors_what_it_posted_on_the_day_given_and_links_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        lines = {"amount": 300, "tax_amount_cents": 60}, {"amount": 40}
        body = credit_body(buyer, *lines, sent_at=f"{CREDITED}T09:00:00Z", memo="kept")
        credit = shop.made(CREDITS, body)
        answer = shop.api.post(path_of(credit), json={"voided_at": "2025-03-20T12:00:00Z"})
        shown = answer.json()
        changed = {
            "status": "void",
            "voided_at": "2025-03-20T12:00:00Z",
            "unapplied_amount": 0,
            "updated_at": shown["updated_at"],
        }
        assert (answer.status_code, shown) == (200, {**credit, **changed})
        assert answer.headers["etag"] == '"2"'
        assert shop.api.get(f"{CREDITS}{credit['id']}/").json() == shown
        standing, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-03-20", standing.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in standing.lines)
        assert mirror.description == "Reversal of credit note to Blue Door Bakery"
        assert (mirror.reference, mirror.source_type) == (
            credit["credit_note_number"],
            "customer_credit",
        )
        linked = shop.api.get(f"{ENTRIES}{standing.id}/").json()
        assert linked["reversed_by_id"] == mirror.id
        assert shop.api.get(f"{ENTRIES}{mirror.id}/").json()["reversal_of_id"] == standing.id

    @pytest.mark.parametrize("options", [{}, {"json": {}}])
    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, buyer: Record, options: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        shown = shop.api.post(path_of(credit), **options).json()
        assert shown["voided_at"][:10] == TODAY
        assert ledger.entries(credit)[-1].on == TODAY

    def test_it_is_not_taken_back_before_the_day_it_was_posted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        shop.api.post(path_of(credit), json={"voided_at": "2025-02-01T00:00:00Z"})
        assert ledger.entries(credit)[-1].on == CREDITED

    def test_its_number_stays_taken(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        credit = credited(shop, buyer, 10)
        shop.api.post(path_of(credit))
        with ledger.untouched():
            body = credit_body(buyer, credit_note_number=credit["credit_note_number"])
            answer = shop.api.post(CREDITS, json=body)
        assert answer.json()["error_code"] == "duplicate_credit_note_number"

    def test_one_that_was_applied_is_free_once_that_is_released(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 100, share(sent(shop, buyer, 100), 60))
        with ledger.untouched():
            answer = shop.api.post(path_of(credit))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_applied")
        assert answer.json()["detail"] == {"applied_amount": 60}
        shop.api.put(f"{CREDITS}{credit['id']}/", json={"allocations": []})
        assert shop.api.post(path_of(credit)).json()["status"] == "void"
        main, applied, released, mirror = ledger.entries(credit)
        assert (released.on, released.amounts) == (TODAY, {"2250": -60, "1200": 60})
        assert (mirror.reversal_of, mirror.amounts) == (main.id, {"4100": -100, "2250": 100})
        assert applied.reversal_of is released.reversal_of is None

    @pytest.mark.parametrize(
        ("voided_before", "state", "next_states"),
        [(False, "draft", ["sent"]), (True, "void", [])],
    )
    def test_only_one_that_is_sent_is_voided_and_only_once(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        voided_before: bool,
        state: str,
        next_states: list[str],
    ) -> None:
        credit = shop.made(CREDITS, credit_body(buyer))
        if voided_before:
            credit = credited(shop, buyer, 10)
            shop.api.post(path_of(credit))
        with ledger.untouched():
            answer = shop.api.post(path_of(credit))
        assert answer.json()["error_code"] == "invalid_state_transition"
        detail = {"current_state": state, "allowed_next_states": next_states}
        assert (answer.status_code, answer.json()["detail"]) == (409, detail)

    def test_a_void_one_stays_as_it_is_and_settles_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        shop.api.post(path_of(credit))
        shares = [share(sent(shop, buyer, 10), 5)]
        for body in ({"memo": "x"}, {"allocations": shares}, {"sent_at": credit["sent_at"]}):
            with ledger.untouched():
                answer = shop.api.put(f"{CREDITS}{credit['id']}/", json=body)
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invalid_state_transition"
            assert answer.json()["detail"]["current_state"] == "void"

    def test_what_stands_in_a_locked_period_is_taken_back_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        with ledger.locked("2025-03-31"):
            with ledger.untouched():
                refused = shop.api.post(path_of(credit), json={"voided_at": "2025-03-31T23:59:59Z"})
            shop.api.post(path_of(credit), json={"voided_at": "2025-04-01T00:00:00Z"})
        assert (refused.status_code, refused.json()["error_code"]) == (409, "period_locked")
        first, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-04-01", first.id)

    def test_today_inside_the_lock_counts_as_the_day_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        until, after = today() + timedelta(days=1), str(today() + timedelta(days=2))
        with ledger.locked(str(until)):
            assert shop.api.post(path_of(credit)).status_code == 200
        first, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == (after, first.id)

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 10)
        with ledger.untouched():
            stale = shop.api.post(path_of(credit), headers={"If-Match": '"2"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        first = shop.api.post(path_of(credit), headers=headers)
        with ledger.untouched():
            again = shop.api.post(path_of(credit), headers=headers)
        assert (first.status_code, again.content) == (200, first.content)

    def test_a_preview_voids_nothing(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        credit = credited(shop, buyer, 10)
        with ledger.untouched():
            seen = shop.api.post(f"{path_of(credit)}?preview=true").json()
        assert (seen["status"], seen["unapplied_amount"]) == ("void", 0)
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(credit)[0].id
        assert mirror["sequence_number"] is None

    def test_one_of_another_business_is_not_there(
        self, shop: Business, ledger: Ledger, rival: Partner
    ) -> None:
        elsewhere = rival.business()
        foreign = credited(elsewhere, elsewhere.customer(), 10)
        for id_ in (foreign["id"], NOBODY):
            answer = shop.api.post(f"{CREDITS}{id_}/void/")
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "customer_credit_not_found"
        assert elsewhere.api.get(f"{CREDITS}{foreign['id']}/").json()["status"] == "sent"
