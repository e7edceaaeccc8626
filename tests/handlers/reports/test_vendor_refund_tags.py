"""Refunds of several bills, payments and credits with their tags, on both bases."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import bill_paid, vendor_credited
from tests.builders.reports import report
from tests.builders.trade import PURCHASES, Record, line
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    agreed,
    agreed_in_parts,
    cancelled,
    changed,
    of_bill,
    of_credit,
    of_payment,
)
from tests.clock import today
from tests.handlers.reports.test_explain import BASES, lines_of, net
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import tamper

EVER = {"start_date": "2025-01-01", "end_date": today().isoformat()}
TAGS = ("van", "desk", "late", "back", "bank")
Moved = dict[str, int]


def bought(shop: Business, vendor: Record, amount: int, *tags: str) -> Record:
    """Create a paid bill: its net is on 6000, its tax of a fifth on 1300."""
    taxed = line(amount, sales_taxes=[{"amount": amount // 5}])
    facts = {"line_items": [taxed], "transaction_tags": list(tags)}
    return PURCHASES.settle(shop, vendor, amount * 6 // 5, **facts)


def moved(shop: Business, basis: str, **cut: Any) -> Moved:
    """Return debits less credits of each account; check the explained figures."""
    found = report(shop, "reports/profit-and-loss", **EVER, basis=basis, **cut)
    for each in lines_of(found):
        assert abs(net(shop, each["explain"])) == abs(each["value_cents"])
    ledger = report(shop, "reports/general-ledger", **EVER, basis=basis, **cut)["accounts"]
    amounts = {e["account_code"]: e["debits_cents"] - e["credits_cents"] for e in ledger}
    return {code: amount for code, amount in amounts.items() if amount}


def by_tag(shop: Business, basis: str) -> dict[str, Moved]:
    """Return the amounts of each tag and of no tag; check that they add up to the whole."""
    found = {tag: moved(shop, basis, tag=tag) for tag in TAGS}
    found["none"] = moved(shop, basis, untagged=True)
    whole = moved(shop, basis)
    for code in {*whole, *(code for each in found.values() for code in each)}:
        assert sum(each.get(code, 0) for each in found.values()) == whole.get(code, 0), code
    return {tag: each for tag, each in found.items() if each}


class TaggedPurchases:
    """Purchases of a van and a desk, both paid, with money in advance and a credit."""

    def __init__(self, acme: Partner) -> None:
        self.shop = shop = acme.business()
        self.vendor = vendor = shop.vendor()
        self.van = bought(shop, vendor, 1_000, "van")
        self.desk = bought(shop, vendor, 500, "desk")
        self.advance = bill_paid(shop, vendor, 700, transaction_tags=["late"])
        self.credit = vendor_credited(shop, vendor, 400, tags=["back"])

    def items(self) -> tuple[Record, ...]:
        return (
            of_bill(self.van, 600),
            of_bill(self.desk, 120),
            of_payment(self.advance, 300),
            of_credit(self.credit, 100),
        )


@pytest.fixture
def given(acme: Partner) -> TaggedPurchases:
    return TaggedPurchases(acme)


VAN = {"6000": 1_000, "1300": 200}
DESK = {"6000": 500, "1300": 100}


class TestRefundOfSeveral:
    def test_each_part_has_the_tags_of_its_target(
        self, given: TaggedPurchases, api_server: Any
    ) -> None:
        shop = given.shop
        made = agreed(shop, given.vendor, 1_500, *given.items())
        waits = {
            "van": {"6000": 500, "1300": 100, "1270": 600},
            "desk": {"6000": 400, "1300": 80, "1270": 120},
            "late": {"1250": 400, "1100": -700, "1270": 300},
            "back": {"1260": 300, "5100": -400, "1270": 100},
            "none": {"1100": -1_800, "1270": 380, "1900": -380},
        }
        assert by_tag(shop, "accrual") == waits
        before = by_tag(shop, "cash")
        assert (before["van"], before["desk"]) == (VAN, DESK)
        facts = {"status": "completed", "transaction_tags": ["bank"], "processing_fee_cents": 20}
        changed(shop, made["payment"], **facts, payment_date="2025-04-01")
        found = by_tag(shop, "accrual")
        assert {tag: found[tag].get("1270") for tag in TAGS[:4]} == dict.fromkeys(TAGS[:4])
        # The unallocated amount has the tags of the money.
        assert found["bank"] == {"1100": 1_480, "6300": 20, "1270": -380}
        cash = by_tag(shop, "cash")
        assert cash["van"] == {"6000": 500, "1300": 100}
        assert cash["desk"] == {"6000": 400, "1300": 80}
        assert cash["late"] == {"1250": 400, "1100": -700}
        assert cash["back"] == {"5100": -100}
        assert cash["bank"] == {"1100": 1_480, "6300": 20, "1900": -380}
        changed(shop, made["payment"], status="failed")
        assert by_tag(shop, "accrual") == waits
        assert by_tag(shop, "cash") == before
        Ledger(api_server, shop).audit()

    def test_several_payments_come_to_each_part_exactly(self, given: TaggedPurchases) -> None:
        shop, items = given.shop, given.items()[:2]
        refund = agreed_in_parts(shop, given.vendor, 720, 1, 332, 387, allocations=list(items))
        came = {"van": 0, "desk": 0}
        for payment in refund["vendor_refund_payments"]:
            changed(shop, payment, status="completed")
            cash = by_tag(shop, "cash")
            now = {
                tag: bill - sum(cash[tag].values()) for tag, bill in (("van", 1_200), ("desk", 600))
            }
            assert all(now[tag] >= came[tag] for tag in came)
            came = now
        assert came == {"van": 600, "desk": 120}
        assert by_tag(shop, "cash")["van"] == {"6000": 500, "1300": 100}
        assert by_tag(shop, "cash")["desk"] == {"6000": 400, "1300": 80}

    @pytest.mark.parametrize("basis", BASES)
    def test_allocated_anew_it_counts_for_another_from_today_on(
        self, given: TaggedPurchases, basis: str, api_server: Any
    ) -> None:
        shop = given.shop
        made = agreed(shop, given.vendor, 600, of_bill(given.van, 600))
        changed(shop, made["payment"], status="completed", payment_date="2025-04-01")
        assert by_tag(shop, basis)["van"]["6000"] == 500
        changed(shop, made["payment"], allocations=[of_bill(given.desk, 600)])
        found = by_tag(shop, basis)
        assert found["van"]["6000"] == 1_000
        assert "6000" not in {**found.get("desk", {}), **found["none"]}
        Ledger(api_server, shop).audit()

    def test_cancelled_it_leaves_nothing_behind(
        self, given: TaggedPurchases, api_server: Any
    ) -> None:
        shop = given.shop
        before = by_tag(shop, "accrual")
        cancelled(shop, agreed(shop, given.vendor, 1_500, *given.items())["payment"])
        assert by_tag(shop, "accrual") == before
        Ledger(api_server, shop).audit()

    @pytest.mark.parametrize("basis", BASES)
    def test_tags_that_are_changed_count_for_what_was_given_back(
        self, given: TaggedPurchases, basis: str
    ) -> None:
        shop = given.shop
        made = agreed(shop, given.vendor, 900, of_payment(given.advance, 300), *given.items()[:1])
        changed(shop, made["payment"], status="completed")
        assert by_tag(shop, basis)["late"] == {"1250": 400, "1100": -700}
        PURCHASES.change(shop, given.advance, transaction_tags=["bank"])
        found = by_tag(shop, basis)
        assert "late" not in found
        assert found["bank"] == {"1250": 400, "1100": -700}
        assert found["van"]["6000"] == 500


class TestListedPayments:
    def test_those_that_have_any_of_some_tags_are_found(self, acme: Partner) -> None:
        shop = acme.business()
        vendor = shop.vendor()
        made = {}
        for name, tags in (("a", ["a"]), ("ab", ["a", "b"]), ("none", [])):
            payment = agreed(shop, vendor, 100)["payment"]
            made[name] = changed(shop, payment, transaction_tags=tags)["payment"]["id"]
        for asked, names in (("b", {"ab"}), ("a,c", {"a", "ab"}), ("c", set())):
            answer = shop.api.get(REFUND_PAYMENTS, params={"transaction_tags": asked})
            assert answer.status_code == 200, answer.text
            found = {each["id"] for each in answer.json()["results"]}
            assert found == {made[name] for name in names}


class TestEarlierRefund:
    def test_a_refund_of_an_earlier_release_is_changed_and_reversed_as_posted(
        self, given: TaggedPurchases, api_server: Any
    ) -> None:
        shop = given.shop
        before = by_tag(shop, "accrual")
        made = agreed(shop, given.vendor, 720, *given.items()[:2])
        payment = made["payment"]
        # An earlier release posted one line for both bills.
        query = "UPDATE vendor_refund SET by_target = false WHERE id = %s"
        tamper(api_server, query, made["refund"]["id"])
        query = "UPDATE journal_line SET document_id = %s WHERE entry_id IN (SELECT id FROM"
        query += " journal_entry WHERE source_id = %s)"
        tamper(api_server, query, *[made["refund"]["id"]] * 2)
        found = changed(shop, payment, status="completed")
        assert found["payment"]["status"] == "completed"
        changed(shop, payment, status="failed")
        shop.api.post(f"{REFUND_PAYMENTS}{payment['id']}/delete/").raise_for_status()
        assert moved(shop, "accrual") == {
            code: sum(each.get(code, 0) for each in before.values())
            for code in moved(shop, "accrual")
        }
