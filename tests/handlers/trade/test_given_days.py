"""Days that a caller gives to later events, in the ledger and in the reports of those days."""

from typing import Any

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Record
from tests.handlers.trade.side import Side
from tests.partner import Business

LATER = "2025-03-20"
MONEY, CONTROL, WAITING = 0, 1, 2
ACCOUNTS = {SALES: ("1100", "1200", "2100"), PURCHASES: ("1100", "2000", "1250")}


def cash_result(shop: Business, last: str) -> int:
    """Return the cash profit from 1 March through a day."""
    query = {"start_date": "2025-03-01", "end_date": last, "basis": "cash"}
    answer = shop.api.get("reports/profit-and-loss/", params=query)
    assert answer.status_code == 200, answer.text
    profit: int = answer.json()["summary"]["net_profit_cents"]
    return profit


class GivenDays:
    def posted(self, side: Side, amounts: dict[int, int]) -> dict[str, int]:
        """Return amounts by account code; they are above zero where sales debit."""
        codes = ACCOUNTS[side.trade]
        return {codes[place]: side.trade.sign * amount for place, amount in amounts.items()}

    def test_a_late_allocation_counts_in_the_reports_of_its_day(self, side: Side) -> None:
        document, payment = side.open(1_000), side.pay(1_000)
        days = ("2025-03-19", LATER)
        before = [cash_result(side.shop, day) for day in days]
        part = side.trade.part(document, 1_000, allocation_date=LATER)
        changed = side.change(payment, allocations=[part])
        shown = [each["allocation_date"] for each in changed["allocations"]]
        applied = self.posted(side, {WAITING: 1_000, CONTROL: -1_000})
        assert side.ledger.postings(payment)[1:] == [(LATER, applied)]
        assert [day[:10] for day in shown] == [LATER]
        after = [cash_result(side.shop, day) for day in days]
        assert after == [before[0], before[1] + side.trade.sign * 1_000]

    def test_a_payment_made_with_its_allocation_applies_on_its_day(self, side: Side) -> None:
        part = side.trade.part(side.open(1_000), 1_000, allocation_date=LATER)
        payment = side.pay(1_000, part)
        applied = self.posted(side, {WAITING: 1_000, CONTROL: -1_000})
        assert side.ledger.postings(payment)[1:] == [(LATER, applied)]

    def test_a_late_allocation_of_a_credit_has_its_day(self, side: Side) -> None:
        document, credit = side.open(1_000), side.credit(400)
        share = side.trade.share(document, 400) | {"allocation_date": LATER}
        answer = side.api.put(side.trade.of_credit(credit), json={"allocations": [share]})
        assert answer.status_code == 200, answer.text
        assert [on for on, _ in side.ledger.postings(credit)][1:] == [LATER]
        [applied] = answer.json()["allocations"]
        assert applied["applied_at"][:10] == LATER

    def test_a_payment_that_comes_back_is_reversed_on_its_day(self, side: Side) -> None:
        document = side.open(1_000)
        payment = side.pay(1_000, side.trade.part(document, 1_000))
        assert side.change(payment, status="failed", status_date=LATER)["allocations"] == []
        came = self.posted(side, {MONEY: 1_000, CONTROL: -1_000})
        went = self.posted(side, {MONEY: -1_000, CONTROL: 1_000})
        assert side.ledger.postings(payment) == [(PAID, came), (LATER, went)]

    @pytest.mark.parametrize(
        ("changes", "detail"),
        [
            ({"status": "failed", "status_date": "2025-03-09"}, {"field": "status_date"}),
            ({"status": "failed", "status_date": "2199-01-01"}, {"field": "status_date"}),
            ({"allocation_date": "2025-03-09"}, {"item": "allocations.0"}),
        ],
        ids=["before it came", "to come", "before the payment"],
    )
    def test_a_day_that_cannot_be_is_refused_and_nothing_changes(
        self, side: Side, changes: Record, detail: dict[str, Any]
    ) -> None:
        document, payment = side.open(1_000), side.pay(1_000)
        if "allocation_date" in changes:
            changes = {"allocations": [side.trade.part(document, 1_000, **changes)]}
        with side.ledger.untouched():
            answer = side.api.patch(side.trade.of_payment(payment), json=changes)
        refusal = answer.json()
        assert (answer.status_code, refusal["error_code"]) == (422, "date_out_of_order")
        assert detail.items() <= refusal["detail"].items()
        assert refusal["detail"]["earliest"] == PAID or "2199" in str(changes)


class TestGivenDaysOfSales(GivenDays):
    trade = SALES


class TestGivenDaysOfPurchases(GivenDays):
    trade = PURCHASES
