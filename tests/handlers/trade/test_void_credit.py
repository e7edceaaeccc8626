"""void_customer_credit and void_vendor_credit: a credit that is open is taken back."""

from datetime import timedelta

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import CREDITED, CREDITED_AT, PURCHASES, SALES, Record, Trade, read
from tests.clock import today
from tests.partner import Business

ENTRIES = "general-ledger/journal-entries/"
TODAY = str(today())


@pytest.fixture
def credit(shop: Business, trade: Trade, party: Record) -> Record:
    return trade.credit(shop, party, 10)


class Voiding:
    def test_a_void_reverses_the_posting_on_the_given_day_with_a_link(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        lines = [{"amount": 300, "tax_amount_cents": 60}, {"amount": 40}]
        credit = trade.credit(shop, party, 0, line_items=lines, memo="kept")
        day = {"voided_at": "2025-03-20T12:00:00Z"}
        answer = shop.api.post(trade.of_credit(credit, "void"), json=day)
        shown = answer.json()
        changed = {"status": "void", "unapplied_amount": 0, "updated_at": shown["updated_at"]}
        assert (answer.status_code, shown) == (200, {**credit, **day, **changed})
        assert answer.headers["etag"] == '"2"'
        assert read(shop, trade.credits, credit) == shown
        standing, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-03-20", standing.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in standing.lines)
        title = f"{trade.credit_title[0].lower()}{trade.credit_title[1:]}"
        assert mirror.description == f"Reversal of {title} {party['company_name']}"
        assert mirror.reference == credit[trade.credit_number]
        assert mirror.source_type == f"{trade.party}_credit"
        linked = shop.api.get(f"{ENTRIES}{standing.id}/").json()
        assert linked["reversed_by_id"] == mirror.id
        assert shop.api.get(f"{ENTRIES}{mirror.id}/").json()["reversal_of_id"] == standing.id

    @pytest.mark.parametrize("options", [{}, {"json": {}}])
    def test_without_a_day_it_is_voided_today(
        self, shop: Business, ledger: Ledger, trade: Trade, credit: Record, options: Record
    ) -> None:
        shown = shop.api.post(trade.of_credit(credit, "void"), **options).json()
        assert shown["voided_at"][:10] == TODAY
        assert ledger.entries(credit)[-1].on == TODAY

    def test_a_void_is_dated_no_earlier_than_the_posting(
        self, shop: Business, ledger: Ledger, trade: Trade, credit: Record
    ) -> None:
        day = {"voided_at": "2025-02-01T00:00:00Z"}
        shop.api.post(trade.of_credit(credit, "void"), json=day)
        assert ledger.entries(credit)[-1].on == CREDITED

    def test_its_number_stays_taken(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, credit: Record
    ) -> None:
        shop.api.post(trade.of_credit(credit, "void"))
        number = {trade.credit_number: credit[trade.credit_number]}
        body = trade.credit_body(party, **number)
        fault = ledger.refused("POST", trade.credits, json=body)
        assert fault == (409, f"duplicate_{trade.credit_number}")

    def test_an_applied_credit_can_be_voided_once_released(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        share = trade.share(trade.open(shop, party, 100), 60)
        credit = trade.credit(shop, party, 100, share)
        path = trade.of_credit(credit, "void")
        with ledger.untouched():
            answer = shop.api.post(path)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_applied")
        named = {f"{trade.noun}_ids": [share[f"{trade.noun}_id"]]}
        used = {"applied_amount": 60, "refunded_amount": 0}
        assert answer.json()["detail"] == {**used, **named}
        shop.api.put(trade.of_credit(credit), json={"allocations": []})
        assert shop.api.post(path).json()["status"] == "void"
        main, applied, released, mirror = ledger.entries(credit)
        assert main.amounts == trade.posted_by_credit(100)
        assert (released.on, released.amounts) == (TODAY, trade.posted_by_applying(-60))
        assert (mirror.reversal_of, mirror.amounts) == (main.id, trade.posted_by_credit(-100))
        assert applied.reversal_of is released.reversal_of is None

    def test_its_document_is_free_to_be_voided_after_it(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        credit = trade.credit(shop, party, 100, trade.share(document, 100))
        shop.api.put(trade.of_credit(credit), json={"allocations": []})
        shop.api.post(trade.of_credit(credit, "void"))
        assert shop.api.post(trade.of(document, "void")).json()["status"] == "voided"

    def test_only_an_open_one_is_voided_and_only_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, credit: Record
    ) -> None:
        draft = shop.made(trade.credits, trade.credit_body(party))
        shop.api.post(trade.of_credit(credit, "void"))
        for each, state, following in ((draft, "draft", [trade.opened]), (credit, "void", [])):
            with ledger.untouched():
                answer = shop.api.post(trade.of_credit(each, "void"))
            assert answer.json()["error_code"] == "invalid_state_transition"
            detail = {"current_state": state, "allowed_next_states": following}
            assert (answer.status_code, answer.json()["detail"]) == (409, detail)

    def test_a_void_one_stays_as_it_is_and_settles_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, credit: Record
    ) -> None:
        shop.api.post(trade.of_credit(credit, "void"))
        shares = [trade.share(trade.open(shop, party, 10), 5)]
        for body in ({"memo": "x"}, {"allocations": shares}, {trade.moment: CREDITED_AT}):
            with ledger.untouched():
                answer = shop.api.put(trade.of_credit(credit), json=body)
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invalid_state_transition"
            assert answer.json()["detail"]["current_state"] == "void"

    def test_a_credit_in_a_locked_period_is_voided_after_the_lock(
        self, shop: Business, ledger: Ledger, trade: Trade, credit: Record
    ) -> None:
        path = trade.of_credit(credit, "void")
        inside, after = (
            {"voided_at": moment} for moment in ("2025-03-31T23:59:59Z", "2025-04-01T00:00:00Z")
        )
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("POST", path, json=inside)
            shop.api.post(path, json=after)
        assert fault == (409, "period_locked")
        first, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-04-01", first.id)

    def test_today_inside_the_lock_counts_as_the_day_after_it(
        self, shop: Business, ledger: Ledger, trade: Trade, credit: Record
    ) -> None:
        until, after = (str(today() + timedelta(days=days)) for days in (0, 1))
        with ledger.locked(until):
            assert shop.api.post(trade.of_credit(credit, "void")).status_code == 200
        first, mirror = ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == (after, first.id)

    def test_a_preview_shows_the_mirror(
        self, shop: Business, ledger: Ledger, trade: Trade, credit: Record
    ) -> None:
        seen = shop.api.post(f"{trade.of_credit(credit, 'void')}?preview=true").json()
        assert (seen["status"], seen["unapplied_amount"]) == ("void", 0)
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(credit)[0].id


class TestVoidCustomerCredit(Voiding):
    trade = SALES


class TestVoidVendorCredit(Voiding):
    trade = PURCHASES
