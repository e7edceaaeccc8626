"""Returns on one scheme and then the other declare each document exactly once."""

from collections import Counter
from typing import Any

import pytest

from tests.builders.sales import refund_paid, refunded, written_off
from tests.builders.tax_returns import (
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
    superseding,
)
from tests.builders.taxed_quarters import bought, credited, of, paid, sold
from tests.builders.trade import PURCHASES, SALES, Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, of_bill
from tests.clock import today
from tests.partner import Business, Partner

Codes = dict[str, dict[str, int]]


def quarter(books: Business, number: int, scheme: str) -> Record:
    """Create and file a return of a quarter of 2025."""
    return filed(books, drawn_up(books, number, scheme))


def added(*returns: Record) -> Codes:
    """Return the sums of several returns by code and part, without zeros."""
    total = Counter[tuple[str, str]]()
    for each in returns:
        for code, parts in codes(each["codes"]).items():
            total.update({(code, part): amount for part, amount in parts.items()})
    found: Codes = {}
    for (code, part), amount in total.items():
        if amount:
            found.setdefault(code, {})[part] = amount
    return found


def rest(books: Business, scheme: str) -> Record:
    """Create and file a return of all days from the third quarter of 2025 to today."""
    body = return_body(3, scheme, end_date=str(today()))
    return filed(books, books.made(RETURNS, body))


def changed(books: Business, method: str, path: str, **body: Any) -> Record:
    answer = books.api.request(method, path, json=body or None)
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown


def voided(books: Business, invoice: Record, on: str) -> None:
    changed(books, "POST", SALES.of(invoice, "void"), voided_at=f"{on}T09:00:00Z")


def traded(books: Business) -> dict[str, Record]:
    """Create trade of a first quarter that is open at its end, or half open.

    In cents, with tax: an invoice of 12,000 at 20 %, nothing paid; one of 1,050 at 5 %, of which
    630 is paid; a credit of 2,400 at 20 %, not applied; a bill of 3,600 at 20 %, of which 1,200 is
    paid; one of 6,000 that is paid, of which 1,200 is to be refunded.
    """
    invoice = sold(books, "2025-01-10", of("S20", 10_000))
    half = sold(books, "2025-01-11", of("S5", 1_000))
    paid(books, half, 630, "2025-02-01")
    bill = bought(books, "2025-01-12", of("P20", 3_000))
    paid(books, bill, 1_200, "2025-02-02")
    whole = bought(books, "2025-01-13", of("P20", 5_000))
    paid(books, whole, 6_000, "2025-02-03")
    credit = credited(books, invoice, 2_000, "2025-02-10")
    refund = agreed(books, whole["vendor"], 1_200, of_bill(whole, 1_200), refund_date="2025-03-01")
    return {"invoice": invoice, "half": half, "bill": bill, "credit": credit, "refund": refund}


def settle(books: Business, trade: dict[str, Record]) -> None:
    """Settle the open amounts after the second quarter: 2,400 of the invoice by the credit."""
    shares = [SALES.share(trade["invoice"], 2_400)]
    changed(books, "PUT", f"customer-credits/{trade['credit']['id']}/", allocations=shares)
    paid(books, trade["invoice"], 9_600, "2025-07-02")
    paid(books, trade["half"], 420, "2025-07-03")
    paid(books, trade["bill"], 2_400, "2025-07-04")
    payment = trade["refund"]["payment"]
    path = f"{REFUND_PAYMENTS}{payment['id']}/"
    changed(books, "PATCH", path, status="completed", payment_date="2025-07-05")


# The whole trade: 10,000 less a credit of 2,000; 3,000 and 5,000 less a refund of 1,000.
WHOLE: Codes = {
    "S20": {"net": 8_000, "output": 1_600},
    "S5": {"net": 1_000, "output": 50},
    "P20": {"net": 7_000, "input": 1_400},
}
# Settled in the first quarter, and declared on cash.
SETTLED: Codes = {
    "S5": {"net": 600, "output": 30},
    "P20": {"net": 6_000, "input": 1_200},
}
# Unsettled: 8,000; 400; 2,000 less 1,000.
OPEN: Codes = {
    "S20": {"net": 8_000, "output": 1_600},
    "S5": {"net": 400, "output": 20},
    "P20": {"net": 1_000, "input": 200},
}
OPEN_GROSS = 1_200 - 9_600 - 420


class TestFileTaxReturn:
    def test_tax_declared_on_accrual_is_not_declared_at_settlement(self, books: Business) -> None:
        trade = traded(books)
        first = quarter(books, 1, "accrual")
        assert codes(first["codes"]) == WHOLE
        settle(books, trade)
        invoice = sold(books, "2025-07-10", of("S20", 900))
        paid(books, invoice, 540, "2025-07-11")
        second, third = quarter(books, 2, "cash"), rest(books, "cash")
        assert (second["codes"], second["transition"]) == ([], [])
        assert codes(third["codes"]) == {"S20": {"net": 450, "output": 90}}
        assert brought(lines(books, third)) == -540

    def test_the_first_on_accrual_has_what_is_unsettled(self, books: Business) -> None:
        trade = traded(books)
        first = quarter(books, 1, "cash")
        assert codes(first["codes"]) == SETTLED
        second = drawn_up(books, 2, "accrual")
        assert codes(second["transition"]) == codes(second["codes"]) == OPEN
        expected = {"1": 1_620, "3": 1_620, "4": 200, "5": 1_420, "6": 8_400, "7": 1_000}
        assert boxes(second) == expected
        second = filed(books, second)
        settle(books, trade)
        sold(books, "2025-07-10", of("S20", 900))
        third = rest(books, "accrual")
        assert third["transition"] == []
        assert codes(third["codes"]) == {"S20": {"net": 900, "output": 180}}
        assert added(first, second) == WHOLE

    def test_the_lines_of_a_transition_show_what_is_unsettled(self, books: Business) -> None:
        traded(books)
        quarter(books, 1, "cash")
        sold(books, "2025-04-10", of("S20", 900))
        second = drawn_up(books, 2, "accrual")
        for done in (False, True):
            second = filed(books, second) if done else second
            found = lines(books, second, is_transition=True)
            shares = [share for line in found for share in line["shares"]]
            assert all(share["is_transition"] for share in shares)
            assert brought(found) == OPEN_GROSS
            own = lines(books, second, is_transition=False)
            assert brought(own) == -1_080
            assert brought(lines(books, second, box="1")) == -1_620 - 180
            half = lines(books, second, tax_code="S5")
            shown = [(each["source_type"], brought([each])) for each in half]
            assert shown == [("invoice", -1_000), ("invoice", -50), ("payment", 630)]

    def test_tax_settled_before_the_change_is_not_declared_by_the_change(
        self, books: Business
    ) -> None:
        """Report 6,000 of 12,000 as late: their payment was entered after its quarter was filed."""
        invoice = sold(books, "2025-01-10", of("S20", 10_000))
        quarter(books, 1, "cash")
        paid(books, invoice, 6_000, "2025-02-01")
        sold(books, "2025-02-10", of("S20", 500))
        second = quarter(books, 2, "accrual")
        half: Codes = {"S20": {"net": 5_000, "output": 1_000}}
        assert codes(second["late"]) == half
        assert codes(second["transition"]) == {"S20": {"net": 5_500, "output": 1_100}}
        assert codes(second["codes"]) == {"S20": {"net": 10_500, "output": 2_100}}

    def test_late_entries_of_cash_periods_are_on_accrual_after_the_change(
        self, books: Business
    ) -> None:
        known = sold(books, "2025-01-10", of("S20", 10_000))
        quarter(books, 1, "cash")
        quarter(books, 2, "accrual")
        late = sold(books, "2025-02-10", of("S20", 500))
        paid(books, late, 600, "2025-02-11")
        paid(books, known, 12_000, "2025-02-12")
        third = quarter(books, 3, "accrual")
        assert codes(third["codes"]) == codes(third["late"]) == {"S20": {"net": 500, "output": 100}}

    @pytest.mark.parametrize("scheme", ["cash", "accrual"])
    def test_late_entries_of_accrual_periods_are_on_accrual(
        self, books: Business, scheme: str
    ) -> None:
        quarter(books, 1, "accrual")
        late = sold(books, "2025-02-10", of("S20", 500))
        paid(books, late, 300, "2025-02-11")
        paid(books, late, 300, "2025-04-11")
        second = quarter(books, 2, scheme)
        assert codes(second["codes"]) == codes(second["late"])
        assert codes(second["codes"]) == {"S20": {"net": 500, "output": 100}}

    def test_a_void_counts_back_what_is_on_accrual_and_nothing_else(self, books: Business) -> None:
        before, gone = (sold(books, "2025-01-10", of("S20", net)) for net in (1_000, 700))
        first = quarter(books, 1, "accrual")
        after = sold(books, "2025-04-10", of("S20", 400))
        for each in (before, after):
            voided(books, each, "2025-05-01")
        second = quarter(books, 2, "cash")
        assert codes(second["codes"]) == {"S20": {"net": -1_000, "output": -200}}
        voided(books, gone, "2025-07-01")
        third = quarter(books, 3, "accrual")
        assert (codes(third["transition"]), added(first, second, third)) == ({}, {})

    def test_relief_counts_for_what_is_on_accrual(self, books: Business) -> None:
        before = sold(books, "2025-01-10", of("S20", 1_000))
        quarter(books, 1, "accrual")
        after = sold(books, "2025-04-10", of("S20", 400))
        at = {"write_off_at": "2025-05-01T09:00:00Z"}
        for each in (before, after):
            written_off(books, each, tax_relief=True, **at)
        second = quarter(books, 2, "cash")
        assert codes(second["codes"]) == {"S20": {"relief_net": 1_000, "relief": 200}}
        assert quarter(books, 3, "accrual")["codes"] == []

    @pytest.mark.parametrize("relief", [True, False])
    def test_a_write_off_from_before_the_change_counts_once_it_is_taken_back(
        self, books: Business, relief: bool
    ) -> None:
        """Report 600 of 1,200 and, once the write-off of the others is reversed, those 600."""
        invoice = sold(books, "2025-01-10", of("S20", 1_000))
        at = {"write_off_at": "2025-02-01T09:00:00Z"}
        document = written_off(books, invoice, tax_relief=relief, amount_cents=600, **at)
        [gone] = document["write_offs"]
        quarter(books, 1, "cash")
        half: Codes = {"S20": {"net": 500, "output": 100}}
        assert codes(quarter(books, 2, "accrual")["codes"]) == half
        changed(books, "DELETE", f"{SALES.of(invoice, 'write-offs')}{gone['id']}/")
        paid(books, invoice, 1_200, str(today()))
        third = rest(books, "accrual")
        assert codes(third["codes"]) == half
        assert brought(lines(books, third)) == -600

    @pytest.mark.parametrize("first", ["accrual", "cash"])
    def test_a_credit_that_is_paid_out_counts_as_the_credit(
        self, books: Business, first: str
    ) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 1_000))
        paid(books, invoice, 1_200, "2025-01-11")
        credit = credited(books, invoice, 500, "2025-02-01")
        one = quarter(books, 1, first)
        refund = refunded(books, credit, amount_cents=600)
        refund_paid(books, refund)
        two = quarter(books, 2, "cash" if first == "accrual" else "accrual")
        three = rest(books, "cash")
        assert added(one, two, three) == {"S20": {"net": 500, "output": 100}}

    def test_money_that_bounces_after_a_change_counts_nothing(self, books: Business) -> None:
        bill = bought(books, "2025-01-10", of("P20", 10_000))
        payment = paid(books, bill, 12_000, "2025-02-01")
        first = quarter(books, 1, "cash")
        quarter(books, 2, "accrual")
        PURCHASES.change(books, payment, status="failed")
        body = return_body(3, end_date="2030-12-31")
        assert books.made(RETURNS, body)["codes"] == []
        assert codes(first["codes"]) == {"P20": {"net": 10_000, "input": 2_000}}

    def test_money_that_paid_a_refund_before_its_day_is_declared_once(
        self, books: Business
    ) -> None:
        """Report once a refund of today that was paid in the second quarter."""
        invoice = sold(books, "2025-01-10", of("S20", 1_000))
        paid(books, invoice, 1_200, "2025-01-11")
        refund = refunded(books, invoice, amount_cents=600)
        refund_paid(books, refund, completed_at="2025-05-02T09:00:00Z")
        first, second = quarter(books, 1, "cash"), quarter(books, 2, "cash")
        assert added(second) == {"S20": {"net": -500, "output": -100}}
        third = rest(books, "accrual")
        assert added(first, second, third) == {"S20": {"net": 500, "output": 100}}

    def test_days_that_were_left_out_stay_on_the_scheme_of_what_follows(
        self, books: Business
    ) -> None:
        quarter(books, 1, "accrual")
        quarter(books, 3, "cash")
        answer = ask(books, drawn_up(books, 2, "accrual"), "file")
        assert said(answer) == (409, "tax_scheme_changed")
        assert answer.json()["detail"]["scheme"] == "cash"
        quarter(books, 2, "cash")
        quarter(books, 4, "accrual")

    def test_days_left_out_before_a_change_to_accrual_are_on_cash(self, books: Business) -> None:
        invoice = sold(books, "2025-04-10", of("S20", 1_000))
        paid(books, invoice, 600, "2025-04-11")
        first, third = quarter(books, 1, "cash"), quarter(books, 3, "accrual")
        half: Codes = {"S20": {"net": 500, "output": 100}}
        assert codes(third["transition"]) == half
        answer = ask(books, drawn_up(books, 2, "accrual"), "file")
        assert said(answer) == (409, "tax_scheme_changed")
        second = quarter(books, 2, "cash")
        assert codes(second["codes"]) == half
        assert added(first, second, third) == {"S20": {"net": 1_000, "output": 200}}

    def test_days_before_the_first_return_are_on_its_scheme(self, books: Business) -> None:
        """Refuse the earlier quarter on cash; on accrual its return declares the invoice."""
        invoice = sold(books, "2024-12-10", of("S20", 3_000))
        for day in ("2025-05-01", "2025-08-01"):
            paid(books, invoice, 1_200, day)
        assert quarter(books, 1, "accrual")["codes"] == []
        second = quarter(books, 2, "cash")
        assert (second["codes"], lines(books, second)) == ([], [])
        third = quarter(books, 3, "accrual")
        assert (third["transition"], third["codes"]) == ([], [])
        days = {"start_date": "2024-10-01", "end_date": "2024-12-31"}
        refused = ask(books, books.made(RETURNS, {**days, "scheme": "cash"}), "file")
        assert said(refused) == (409, "tax_scheme_changed")
        before = filed(books, books.made(RETURNS, {**days, "scheme": "accrual"}))
        assert codes(before["codes"]) == {"S20": {"net": 3_000, "output": 600}}

    def test_an_invoice_in_no_return_on_cash_counts_at_settlement(self, books: Business) -> None:
        """Report a third of an earlier invoice, paid in the first quarter, and then the rest."""
        invoice = sold(books, "2024-12-10", of("S20", 3_000))
        paid(books, invoice, 1_200, "2025-02-01")
        first, second = quarter(books, 1, "cash"), quarter(books, 2, "accrual")
        assert codes(first["codes"]) == {"S20": {"net": 1_000, "output": 200}}
        moved = {"S20": {"net": 2_000, "output": 400}}
        assert codes(second["transition"]) == codes(second["codes"]) == moved

    def test_an_invoice_left_out_on_accrual_is_not_declared_at_settlement(
        self, books: Business
    ) -> None:
        quarter(books, 1, "accrual")
        invoice = sold(books, "2025-04-10", of("S20", 3_000))
        quarter(books, 3, "accrual")
        paid(books, invoice, 3_600, "2025-11-01")
        assert quarter(books, 4, "cash")["codes"] == []
        second = quarter(books, 2, "accrual")
        assert codes(second["codes"]) == {"S20": {"net": 3_000, "output": 600}}

    def test_in_germany_a_bill_was_declared_before(self, acme: Partner) -> None:
        shop = acme.business(country="DE", entity_type="gmbh")
        bought(shop, "2025-01-10", of("P19", 1_000))
        sold(shop, "2025-01-10", of("S19", 1_000))
        quarter(shop, 1, "cash")
        second = quarter(shop, 2, "accrual")
        assert codes(second["transition"]) == {"S19": {"net": 1_000, "output": 190}}


class TestSupersedeTaxReturn:
    def test_the_transition_stays_what_it_was(self, books: Business) -> None:
        trade = traded(books)
        first = quarter(books, 1, "cash")
        second = quarter(books, 2, "accrual")
        settle(books, trade)
        assert rest(books, "cash")["codes"] == []
        sold(books, "2025-04-10", of("S20", 900))
        again = filed(books, superseding(books, second))
        assert codes(again["transition"]) == OPEN
        assert added(again) == {**OPEN, "S20": {"net": 8_000 + 900, "output": 1_600 + 180}}
        assert read(books, second)["transition"] == second["transition"]
        once_more = filed(books, superseding(books, first))
        assert codes(once_more["codes"]) == SETTLED
        assert brought(lines(books, again, is_transition=True)) == OPEN_GROSS

    def test_late_entries_of_a_superseded_cash_return_are_on_accrual_after_a_change(
        self, books: Business
    ) -> None:
        first = quarter(books, 1, "cash")
        quarter(books, 2, "accrual")
        late = sold(books, "2025-02-10", of("S20", 500))
        paid(books, late, 300, "2025-02-11")
        again = filed(books, superseding(books, first))
        assert codes(again["codes"]) == {"S20": {"net": 500, "output": 100}}
        paid(books, late, 300, "2025-07-11")
        assert quarter(books, 3, "cash")["codes"] == []

    def test_late_entries_of_another_accrual_return_are_not_declared_at_settlement(
        self, books: Business
    ) -> None:
        quarter(books, 1, "accrual")
        second = quarter(books, 2, "cash")
        late = sold(books, "2025-02-10", of("S20", 500))
        paid(books, late, 600, "2025-05-11")
        assert filed(books, superseding(books, second))["codes"] == []
        assert codes(quarter(books, 3, "cash")["codes"]) == {"S20": {"net": 500, "output": 100}}

    def test_a_return_across_a_year_keeps_its_transition(self, books: Business) -> None:
        invoice = sold(books, "2024-12-10", of("S20", 1_000))
        paid(books, invoice, 600, "2025-01-05")
        body = return_body(start_date="2024-12-01", end_date="2025-01-31", scheme="cash")
        filed(books, books.made(RETURNS, body))
        body = return_body(start_date="2025-02-01", end_date="2025-02-28")
        second = filed(books, books.made(RETURNS, body))
        assert codes(second["transition"]) == {"S20": {"net": 500, "output": 100}}
        assert codes(superseding(books, second)["codes"]) == codes(second["codes"])
