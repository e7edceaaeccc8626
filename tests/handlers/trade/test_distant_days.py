"""Records dated more than a year ahead are accepted, and named in `warnings`."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.openings import opened
from tests.builders.payouts import paid_out
from tests.builders.sales import paid, refund_paid, refunded
from tests.builders.trade import PURCHASES, SALES, Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed, agreed_refund
from tests.handlers.trade.side import Side
from tests.partner import Business

NEAR, FAR = (f"{datetime.now(UTC).date() + timedelta(days=days)}" for days in (360, 370))


def at(day: str) -> str:
    return f"{day}T08:00:00Z"


def warned(field: str) -> list[Record]:
    return [{"field": field, "message": "is more than a year ahead"}]


def check(make: Callable[[str], Record], field: str) -> Record:
    """Make a record within a year without warnings, and one beyond it; return the second."""
    assert make(NEAR)["warnings"] == []
    made = make(FAR)
    assert made["warnings"] == warned(field)
    return made


class DistantDays:
    def test_of_documents_are_warned_of(self, side: Side) -> None:
        moment, dated = side.trade.moment, side.trade.dated
        made = check(lambda day: side.open(**{moment: at(day), dated: None}), moment)
        assert side.read(made)["warnings"] == warned(moment)
        check(lambda day: side.open(**{dated: day}), dated)
        check(lambda day: side.draft(**{dated: day}), dated)
        check(lambda day: side.draft(due_at=at(day)), "due_at")
        check(lambda day: side.draft(delivery_date=day), "delivery_date")

    def test_of_write_offs_are_warned_of(self, side: Side) -> None:
        def make(day: str) -> Record:
            return side.write_off(side.open(), write_off_at=at(day))

        made = check(make, "write_offs.0.write_off_at")
        assert side.read(made)["warnings"] == warned("write_offs.0.write_off_at")

    def test_of_payments_are_warned_of(self, side: Side) -> None:
        made = check(lambda day: side.pay(100, payment_date=day), "payment_date")
        shown = side.api.get(side.trade.of_payment(made)).json()
        assert shown["warnings"] == warned("payment_date")
        assert side.change(made, payment_date=NEAR)["warnings"] == []

    def test_of_credits_are_warned_of(self, side: Side) -> None:
        moment = side.trade.moment
        made = check(lambda day: side.credit(100, **{moment: at(day)}), moment)
        shown = side.api.get(side.trade.of_credit(made)).json()
        assert shown["warnings"] == warned(moment)


class TestOnSales(DistantDays):
    trade = SALES

    def test_of_refunds_are_warned_of(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        def make(day: str) -> Record:
            return refunded(shop, paid(shop, buyer, 100), completed_at=at(day))

        made = check(make, "completed_at")
        assert made["refund_payments"][0]["warnings"] == warned("completed_at")
        refund = refunded(shop, paid(shop, buyer, 100))
        assert refund["warnings"] == []
        check(
            lambda day: refund_paid(shop, refund, amount_cents=10, completed_at=at(day)),
            "completed_at",
        )


class TestOnPurchases(DistantDays):
    trade = PURCHASES

    def test_of_refunds_are_warned_of(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        check(lambda day: agreed(shop, vendor, 100, refund_date=day)["refund"], "refund_date")
        check(
            lambda day: agreed_refund(shop, vendor, 100, expected_completion_date=day),
            "expected_completion_date",
        )
        payment = agreed(shop, vendor, 100)["payment"]

        def date_payment(day: str) -> Record:
            path = f"{REFUND_PAYMENTS}{payment['id']}/"
            shown: Record = shop.api.patch(path, json={"payment_date": day}).json()["payment"]
            return shown

        check(date_payment, "payment_date")


class TestOthers:
    def test_of_entries_are_warned_of(self, shop: Business, ledger: Ledger) -> None:
        lines = [debit("1100", 5), credit("2500", 5)]

        def make(day: str) -> Record:
            return shop.made(ENTRIES, {"entry_date": day, "lines": lines, "post": True})

        made = check(make, "entry_date")
        shown = shop.api.get(f"{ENTRIES}{made['id']}/").json()
        assert shown["warnings"] == warned("entry_date")

    def test_of_payouts_are_warned_of(self, shop: Business, ledger: Ledger) -> None:
        check(lambda day: paid_out(shop, 100, completed_at=at(day)), "completed_at")

    def test_of_an_opening_is_warned_of(self, own_shop: Business) -> None:
        assert opened(own_shop, date=FAR)["warnings"] == warned("date")
