"""void_customer_credit and void_vendor_credit."""

import pytest

from tests.builders.trade import CREDITED, PURCHASES, SALES, Record, read
from tests.clock import today
from tests.handlers.trade.side import Side

ENTRIES = "general-ledger/journal-entries/"
TODAY = str(today())


@pytest.fixture
def credit(side: Side) -> Record:
    return side.credit(10)


class Voiding:
    def test_a_void_reverses_the_posting_on_the_given_day_with_a_link(self, side: Side) -> None:
        lines = [{"amount": 300, "tax_amount_cents": 60}, {"amount": 40}]
        credit = side.credit(0, line_items=lines, memo="kept")
        day = {"voided_at": "2025-03-20T12:00:00Z"}
        answer = side.api.post(side.trade.of_credit(credit, "void"), json=day)
        shown = answer.json()
        left = {"unapplied_amount": 0, "base_outstanding_cents": 0}
        changed = {"status": "void", **left, "updated_at": shown["updated_at"]}
        assert (answer.status_code, shown) == (200, {**credit, **day, **changed})
        assert answer.headers["etag"] == '"2"'
        assert read(side.shop, side.trade.credits, credit) == shown
        standing, mirror = side.ledger.entries(credit)
        assert (mirror.on, mirror.reversal_of) == ("2025-03-20", standing.id)
        assert mirror.lines == tuple((code, -amount) for code, amount in standing.lines)
        title = f"{side.trade.credit_title[0].lower()}{side.trade.credit_title[1:]}"
        assert mirror.description == f"Reversal of {title} {side.counterparty['company_name']}"
        assert mirror.reference == credit[side.trade.credit_number]
        assert mirror.source_type == f"{side.trade.party}_credit"
        linked = side.api.get(f"{ENTRIES}{standing.id}/").json()
        assert linked["reversed_by_id"] == mirror.id
        assert side.api.get(f"{ENTRIES}{mirror.id}/").json()["reversal_of_id"] == standing.id

    @pytest.mark.parametrize("body", [None, {}])
    def test_without_a_day_it_is_voided_today(
        self, side: Side, credit: Record, body: Record | None
    ) -> None:
        shown = side.api.post(side.trade.of_credit(credit, "void"), json=body).json()
        assert shown["voided_at"][:10] == TODAY
        assert side.ledger.entries(credit)[-1].on == TODAY

    def test_a_void_is_dated_no_earlier_than_the_posting(self, side: Side, credit: Record) -> None:
        day = {"voided_at": "2025-02-01T00:00:00Z"}
        side.api.post(side.trade.of_credit(credit, "void"), json=day)
        assert side.ledger.entries(credit)[-1].on == CREDITED

    def test_its_number_stays_taken(self, side: Side, credit: Record) -> None:
        side.api.post(side.trade.of_credit(credit, "void"))
        body = side.credit_body(**{side.trade.credit_number: credit[side.trade.credit_number]})
        fault = side.ledger.refused("POST", side.trade.credits, json=body)
        assert fault == (409, f"duplicate_{side.trade.credit_number}")

    def test_an_applied_credit_can_be_voided_once_released(self, side: Side) -> None:
        share = side.trade.share(side.open(100), 60)
        credit = side.credit(100, share)
        path = side.trade.of_credit(credit, "void")
        with side.ledger.untouched():
            answer = side.api.post(path)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_applied")
        assert answer.json()["detail"] == {
            **{"applied_amount": 60, "refunded_amount": 0},
            f"{side.trade.noun}_ids": [share[f"{side.trade.noun}_id"]],
        }
        side.api.put(side.trade.of_credit(credit), json={"allocations": []})
        assert side.api.post(path).json()["status"] == "void"
        main, applied, released, mirror = side.ledger.entries(credit)
        assert main.amounts == side.trade.posted_by_credit(100)
        assert (released.on, released.amounts) == (TODAY, side.trade.posted_by_applying(-60))
        assert (mirror.reversal_of, mirror.amounts) == (main.id, side.trade.posted_by_credit(-100))
        assert applied.reversal_of is released.reversal_of is None


class TestVoidCustomerCredit(Voiding):
    trade = SALES


class TestVoidVendorCredit(Voiding):
    trade = PURCHASES
