"""Refusals of vendor refunds, which change no row and no counter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    bill_body,
    bill_paid,
    part,
    received,
    settled,
    vendor_credited,
)
from tests.builders.trade import NOBODY, Record
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    agreed,
    as_credit,
    cancelled,
    of_bill,
    of_credit,
    of_payment,
    refund_body,
)
from tests.partner import Business


@contextmanager
def no_row_anywhere(ledger: Ledger) -> Iterator[None]:
    """Fail if a table has another number of rows, or a row of the business has changed."""
    before, series = ledger.api_server.stored(), _series(ledger)
    with ledger.untouched():
        yield
    assert (ledger.api_server.stored(), _series(ledger)) == (before, series)


def _series(ledger: Ledger) -> list[Any]:
    query = "SELECT series, last FROM number_series WHERE business_id = %(business)s ORDER BY 1"
    return ledger.ask(query)


class TestRefusedVendorRefunds:
    def test_a_target_that_occurs_twice_is_refused(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill, money = settled(shop, vendor, 100), bill_paid(shop, vendor, 100)
        credit = vendor_credited(shop, vendor, 100)
        for item in (of_bill(bill, 1), of_payment(money, 1), of_credit(credit, 1)):
            body = refund_body(vendor, 100, item, as_credit(1), item)
            with no_row_anywhere(ledger):
                answer = shop.api.post(REFUND_PAYMENTS, json=body)
            [(field, faults)] = answer.json()["detail"]["field_errors"].items()
            assert (answer.status_code, field.split(".")[:2]) == (400, ["allocations", "2"])
            assert faults == ["repeats the target of an earlier item"]

    def test_a_malformed_list_of_a_cancelled_payment_is_400(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = agreed(shop, vendor, 100)["payment"]
        cancelled(shop, payment)
        twice = {"allocations": [of_payment(bill_paid(shop, vendor, 500), 1)] * 2}
        with no_row_anywhere(ledger):
            answer = shop.api.patch(f"{REFUND_PAYMENTS}{payment['id']}/", json=twice)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")

    @pytest.mark.parametrize(
        "item",
        [
            {"allocation_type": "bill"},
            {"allocation_type": "payment"},
            {"allocation_type": "vendor_credit"},
            {"allocation_type": "bill", "bill_payment_id": NOBODY},
            {"allocation_type": "bill", "bill_id": NOBODY, "vendor_credit_id": NOBODY},
            {"allocation_type": "payment", "bill_id": NOBODY},
            {"allocation_type": "credit", "bill_id": NOBODY},
            {"allocation_type": "credit", "bill_payment_id": NOBODY},
            {"allocation_type": "credit", "vendor_credit_id": NOBODY},
            {"allocation_type": "vendor_credit", "vendor_credit_id": NOBODY, "bill_id": NOBODY},
        ],
    )
    def test_each_type_requires_its_own_id_alone(
        self, shop: Business, ledger: Ledger, vendor: Record, item: Record
    ) -> None:
        made = agreed(shop, vendor, 10)
        allocations = [{**item, "amount_cents": 1}]
        for method, path, body in (
            ("POST", REFUND_PAYMENTS, refund_body(vendor, 100, *allocations)),
            ("PATCH", f"{REFUND_PAYMENTS}{made['payment']['id']}/", {"allocations": allocations}),
        ):
            with no_row_anywhere(ledger):
                answer = shop.api.request(method, path, json=body)
            faults = answer.json()["detail"]["field_errors"]
            assert (answer.status_code, [*faults]) == (400, ["allocations.0.allocation_type"])


@pytest.fixture(scope="module")
def sound(shop: Business, vendor: Record) -> list[Record]:
    """A list of 499 valid allocations of three types."""
    bills = [received(shop, vendor, 10) for _ in range(60)]
    bill_paid(shop, vendor, 600, *(part(each, 10) for each in bills))
    held = [received(shop, vendor, 10) for _ in range(20)]
    money = [bill_paid(shop, vendor, 10, part(each, 10)) for each in held]
    money += [bill_paid(shop, vendor, 10) for _ in range(20)]
    items = [of_bill(each, 7) for each in bills] + [of_payment(each, 9) for each in money]
    items += [as_credit(3)] * (499 - len(items))
    return items[::2] + items[1::2]


@pytest.fixture(scope="module")
def poisons(shop: Business, vendor: Record) -> dict[str, tuple[int, Record]]:
    theirs = settled(shop, shop.vendor(), 100)
    bill = settled(shop, vendor, 100)
    return {
        "an unknown bill": (422, of_bill({"id": NOBODY}, 1)),
        "an unknown payment": (422, of_payment({"id": NOBODY}, 1)),
        "a draft": (409, of_bill(shop.made(BILLS, bill_body(vendor)), 1)),
        "another vendor's bill": (422, of_bill(theirs, 1)),
        "more than was paid of a bill": (422, of_bill(bill, 101)),
        "money on its way": (409, of_payment(bill_paid(shop, vendor, 9, status="pending"), 1)),
        "more than the refund": (422, as_credit(1_000_000)),
        "nothing at all": (400, as_credit(0)),
    }


class TestOnePoisonedAllocation:
    """A list of five hundred allocations with a wrong one, at any place."""

    @pytest.mark.parametrize("place", [0, 249, 499])
    def test_a_new_refund_leaves_no_row_anywhere(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        sound: list[Record],
        poisons: dict[str, tuple[int, Record]],
        place: int,
    ) -> None:
        for what, (status, poison) in poisons.items():
            items = [*sound[:place], poison, *sound[place:]]
            body = refund_body(vendor, 100_000, *items, external_id=f"never {place}")
            with no_row_anywhere(ledger):
                answer = shop.api.post(REFUND_PAYMENTS, json=body)
                assert answer.status_code == status, (what, answer.text)

    def test_a_changed_refund_leaves_no_row_anywhere(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        sound: list[Record],
        poisons: dict[str, tuple[int, Record]],
    ) -> None:
        made = agreed(shop, vendor, 100_000, as_credit(5))
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        for what, (status, poison) in poisons.items():
            with no_row_anywhere(ledger):
                answer = shop.api.patch(path, json={"allocations": [*sound, poison]})
                assert answer.status_code == status, (what, answer.text)

    def test_five_hundred_valid_allocations_are_created(
        self, shop: Business, vendor: Record, sound: list[Record]
    ) -> None:
        made = agreed(shop, vendor, 100_000, *sound, as_credit(3))
        assert len({each["id"] for each in made["allocations"]}) == 500
        cancelled(shop, made["payment"])
