"""A refund allocated anew by its payment: what goes back, what stays, and what is dated today."""

from tests.bookkeeping import Ledger
from tests.builders.purchases import CREDITS, bill_paid, part, received, share, status_of
from tests.builders.trade import NOBODY, Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    agreed,
    agreed_in_parts,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
    refund_of,
    refused,
    taxed,
)
from tests.clock import today
from tests.partner import Business


def path(made: Record) -> str:
    return f"{REFUND_PAYMENTS}{made['payment']['id']}/"


def allocate(shop: Business, made: Record, *items: Record) -> Record:
    return changed(shop, made["payment"], allocations=list(items))


class TestReplacedAllocations:
    def test_the_old_ones_are_taken_back_and_the_difference_is_dated_today(
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
        # What is claimed of one bill, and of none, is claimed of the other now.
        moved = sorted(
            amount for code, amount in ledger.entries(made["refund"])[1].lines if code == "1270"
        )
        assert moved == [-300, -200, 500]
        assert (after["refund"]["status"], after["refund"]["allocated_amount"]) == (
            "allocated",
            500,
        )
        assert refund_of(shop, made) == after["refund"]

    def test_an_empty_list_takes_everything_back(
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

    def test_an_unchanged_allocation_keeps_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
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

    def test_more_or_less_credit_makes_its_payment_less_or_more(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        refund = agreed_in_parts(shop, vendor, 500, 300, 200)
        first, second = refund["vendor_refund_payments"]
        after = changed(shop, second, allocations=[as_credit(150)])
        shown = after["refund"]["vendor_refund_payments"]
        assert [each["refunded_amount"] for each in shown] == [300, 50]
        body = {"allocations": [as_credit(201)]}
        with ledger.untouched():
            much = refused(shop, "PATCH", f"{REFUND_PAYMENTS}{second['id']}/", body)
            assert much == (422, "allocation_exceeds_total")
        assert changed(shop, first, allocations=[as_credit(450)])["payment"]["refunded_amount"] == 0

    def test_after_the_money_came_it_is_split_anew_today(
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
        assert shop.balance("1270") == shop.balance("1270")
        assert _splits(ledger, made)[3:] == [{"5000": 500, "1300": 100}]

    def test_after_the_money_came_the_credits_come_to_the_same(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        made = agreed(shop, vendor, 500, as_credit(200))
        changed(shop, made["payment"], status="completed")
        with ledger.untouched():
            for items in ([], [as_credit(201)], [of_bill(bill, 300)]):
                assert refused(shop, "PATCH", path(made), {"allocations": items}) == (
                    409,
                    "vendor_refund_paid",
                )
        after = allocate(shop, made, as_credit(150), as_credit(50), of_bill(bill, 300))
        assert after["refund"]["status"] == "completed"
        changed(shop, made["payment"], status="failed")
        assert allocate(shop, made, as_credit(201))["payment"]["refunded_amount"] == 299

    def test_a_cancelled_one_is_not_allocated(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        with ledger.untouched():
            both = {"status": "cancelled", "allocations": []}
            assert refused(shop, "PATCH", path(made), both) == (409, "invalid_state_transition")
        cancelled(shop, made["payment"])
        with ledger.untouched():
            assert refused(shop, "PATCH", path(made), {"allocations": []}) == (
                409,
                "invalid_state_transition",
            )

    def test_a_refused_list_leaves_everything_as_it_was(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        payment = bill_paid(shop, vendor, 500, part(bill, 500))
        made = agreed(shop, vendor, 900, of_payment(payment, 400), as_credit(100))
        other = received(shop, shop.vendor(), 500)
        for item, code in (
            (of_bill(bill, 501), "refund_exceeds_refundable"),
            (of_bill({"id": NOBODY}, 1), "reference_not_found"),
            (of_payment({"id": NOBODY}, 1), "reference_not_found"),
            (of_bill(other, 1), "bill_vendor_mismatch"),
            (as_credit(900), "allocation_exceeds_total"),
        ):
            with ledger.untouched():
                body = {"allocations": [as_credit(1), item]}
                assert refused(shop, "PATCH", path(made), body) == (422, code)

    def test_with_the_status_it_is_allocated_first_and_comes_then(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        made = agreed(shop, vendor, 500)
        items = [of_bill(bill, 300), as_credit(200)]
        after = changed(
            shop,
            made["payment"],
            allocations=items,
            status="completed",
            payment_date="2025-03-28",
            processing_fee_cents=300,
        )
        assert after["refund"]["status"] == "completed"
        assert ledger.postings(after["payment"]) == [("2025-03-28", {"6300": 300, "1270": -300})]

    def test_cancelled_after_that_everything_is_taken_back(
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
    """Which accounts the lines of a payment pay, in the order they were posted."""
    codes = dict(ledger.ask("SELECT id::text, code FROM account WHERE business_id = %(business)s"))
    rows = ledger.ask(
        "SELECT l.split FROM journal_line l JOIN journal_entry e"
        " ON e.business_id = l.business_id AND e.id = l.entry_id"
        " WHERE l.business_id = %(business)s AND l.settles_id = %(refund)s"
        " ORDER BY e.created_at, e.id, l.line_number",
        refund=made["refund"]["id"],
    )
    return [{codes[account]: amount for account, amount in split} for (split,) in rows]
