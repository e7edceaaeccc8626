"""Changes of a refund's allocations: reversals, kept postings, and postings of today."""

from tests.bookkeeping import Ledger
from tests.builders.purchases import CREDITS, bill_paid, part, received, share, status_of
from tests.builders.trade import Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    agreed,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
    refund_of,
    taxed,
)
from tests.clock import today
from tests.partner import Business


def path(made: Record) -> str:
    return f"{REFUND_PAYMENTS}{made['payment']['id']}/"


def allocate(shop: Business, made: Record, *items: Record) -> Record:
    return changed(shop, made["payment"], allocations=list(items))


class TestReplacedAllocations:
    def test_replaced_allocations_are_reversed_and_the_difference_is_dated_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first, second = taxed(shop, vendor), taxed(shop, vendor)
        made = agreed(shop, vendor, 500, of_bill(first, 300))
        after = allocate(shop, made, of_bill(second, 500))
        [shown] = after["allocations"]
        assert (shown["bill_id"], shown["amount"]) == (second["id"], 500)
        assert shown["allocation_date"] == f"{today()}T00:00:00Z"
        assert ledger.postings(made["refund"]) == [
            (AGREED, {"1270": 500, "5000": -250, "1300": -50, "1900": -200}),
            (today().isoformat(), {"1900": 200, "5000": -167, "1300": -33, "1270": 0}),
        ]
        # The claims of the first bill, and the unallocated ones, are now claims of the other bill.
        moved = sorted(
            amount for code, amount in ledger.entries(made["refund"])[1].lines if code == "1270"
        )
        assert moved == [-300, -200, 500]
        refund = after["refund"]
        assert (refund["status"], refund["allocated_amount"]) == ("allocated", 500)
        assert refund_of(shop, made) == refund

    def test_an_empty_list_reverses_all_allocations(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        made = agreed(shop, vendor, 700, of_payment(payment, 400), as_credit(100))
        with ledger.moving() as moved:
            after = allocate(shop, made)
        assert moved == {"1270": 100, "1900": -500, "2000": 400, "1260": -100, "5100": 100}
        assert after["refund"]["status"] == "pending"
        assert after["payment"]["refunded_amount"] == 700
        assert status_of(shop, bill) == ("paid", 0)

    def test_an_unchanged_allocation_keeps_its_day(self, shop: Business, vendor: Record) -> None:
        bill, owed = taxed(shop, vendor), received(shop, vendor, 900)
        made = agreed(shop, vendor, 900, of_bill(bill, 300), as_credit(100))
        id_ = made["allocations"][1]["vendor_credit_id"]
        body = {"allocations": [share(owed, 60)]}
        assert shop.api.put(f"{CREDITS}{id_}/", json=body).status_code == 200
        items = as_credit(100), of_bill(bill, 300, description="damp"), as_credit(50)
        after = allocate(shop, made, *items)
        kept, same, new = after["allocations"]
        assert (kept["id"], same["id"]) == tuple(each["id"] for each in made["allocations"])
        assert (kept["allocation_date"], kept["description"]) == (f"{AGREED}T00:00:00Z", "damp")
        assert (same["vendor_credit_id"], new["amount"]) == (id_, 50)
        assert after["payment"]["refunded_amount"] == 750
        assert status_of(shop, owed) == ("partially_paid", 840)

    def test_completed_money_is_split_anew_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 600)
        changed(shop, made["payment"], status="completed", payment_date="2025-03-28")
        after = allocate(shop, made, of_bill(taxed(shop, vendor), 600))
        assert (after["refund"]["status"], after["payment"]["status"]) == ("completed",) * 2
        come, anew = ledger.entries(after["payment"])
        assert (come.on, come.amounts) == ("2025-03-28", {"1100": 600, "1270": -600})
        assert (anew.on, anew.lines) == (today().isoformat(), (("1270", 600), ("1270", -600)))
        assert _splits(ledger, made) == [
            {"1900": -600},
            {"1900": 600},
            {"5000": -500, "1300": -100},
        ]
        changed(shop, made["payment"], status="failed")
        assert _splits(ledger, made)[3:] == [{"5000": 500, "1300": 100}]

    def test_a_refund_is_not_cancelled_and_allocated_in_one_request(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        both = {"status": "cancelled", "allocations": []}
        refusal = ledger.refused("PATCH", path(agreed(shop, vendor, 500)), json=both)
        assert refusal == (409, "invalid_state_transition")

    def test_a_cancellation_reverses_all_allocations_of_the_refund(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        with ledger.moving() as moved:
            made = agreed(shop, vendor, 500, of_bill(bill, 100))
            allocate(shop, made, of_payment(payment, 400))
            allocate(shop, made, as_credit(50), of_payment(payment, 300))
            cancelled(shop, made["payment"])
        assert moved == {}
        assert status_of(shop, bill) == ("paid", 0)
        assert read(shop, "bills/payments/", payment)["refunded_amount_cents"] == 0


def _splits(ledger: Ledger, made: Record) -> list[dict[str, int]]:
    """Return the splits of the lines that pay a refund, by account, in the order of posting."""
    codes = dict(ledger.ask("SELECT id::text, code FROM account WHERE business_id = %(business)s"))
    rows = ledger.ask(
        "SELECT l.split FROM journal_line l JOIN journal_entry e"
        " ON e.business_id = l.business_id AND e.id = l.entry_id"
        " WHERE l.business_id = %(business)s AND l.settles_id = %(refund)s"
        " ORDER BY e.created_at, e.id, l.line_number",
        refund=made["refund"]["id"],
    )
    return [{codes[account]: amount for account, amount in split} for (split,) in rows]
