"""What a vendor refund is refused with; the books are untouched then, down to the last counter."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_body, bill_paid, part, received, settled
from tests.builders.trade import NOBODY, Record
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    agreed,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
    refund_body,
    refused,
)
from tests.partner import Business


@contextmanager
def no_row_anywhere(ledger: Ledger) -> Iterator[None]:
    """Fail where any table has another number of rows, or a row of the business changed."""
    before, series = ledger.api_server.stored(), _series(ledger)
    with ledger.untouched():
        yield
    assert (ledger.api_server.stored(), _series(ledger)) == (before, series)


def _series(ledger: Ledger) -> list[Any]:
    asked = "SELECT series, last FROM number_series WHERE business_id = %(business)s ORDER BY 1"
    return ledger.ask(asked)


@pytest.fixture(scope="module")
def things(shop: Business, vendor: Record) -> dict[str, Record]:
    other = shop.vendor()
    bill = received(shop, vendor, 1_000)
    bill_paid(shop, vendor, 600, part(bill, 600))
    void = received(shop, vendor, 10)
    assert shop.api.post(f"{BILLS}{void['id']}/void/").status_code == 200
    failed = bill_paid(shop, vendor, 500)
    answer = shop.api.patch(f"bills/payments/{failed['id']}/", json={"status": "failed"})
    assert answer.status_code == 200
    return {
        "bill": bill,
        "draft": shop.made(BILLS, bill_body(vendor)),
        "void": void,
        "unpaid": received(shop, vendor, 100),
        "theirs": settled(shop, other, 100),
        "nobody": {"id": NOBODY},
        "free": bill_paid(shop, vendor, 500),
        "pending": bill_paid(shop, vendor, 500, status="pending"),
        "failed": failed,
        "their_money": bill_paid(shop, other, 500),
    }


class TestRefusedVendorRefunds:
    @pytest.mark.parametrize(
        ("item", "name", "amount", "status", "code"),
        [
            (of_bill, "nobody", 1, 422, "reference_not_found"),
            (of_bill, "draft", 1, 409, "bill_not_open"),
            (of_bill, "void", 1, 409, "bill_not_open"),
            (of_bill, "theirs", 1, 422, "bill_vendor_mismatch"),
            (of_bill, "unpaid", 1, 422, "refund_exceeds_refundable"),
            (of_bill, "bill", 601, 422, "refund_exceeds_refundable"),
            (of_payment, "nobody", 1, 422, "reference_not_found"),
            (of_payment, "pending", 1, 409, "payment_not_completed"),
            (of_payment, "failed", 1, 409, "payment_not_completed"),
            (of_payment, "their_money", 1, 422, "bill_vendor_mismatch"),
            (of_payment, "free", 501, 422, "refund_exceeds_refundable"),
        ],
    )
    def test_a_bill_is_open_and_paid_a_payment_completed_and_both_are_the_vendors(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        things: dict[str, Record],
        item: Callable[[Record, int], Record],
        name: str,
        amount: int,
        status: int,
        code: str,
    ) -> None:
        body = refund_body(vendor, 5_000, item(things[name], amount))
        with no_row_anywhere(ledger):
            assert refused(shop, "POST", REFUND_PAYMENTS, body) == (status, code)

    def test_amounts_that_exceed_their_targets_are_refused(
        self, shop: Business, ledger: Ledger, vendor: Record, things: dict[str, Record]
    ) -> None:
        some, more = as_credit(60), of_bill(things["bill"], 41)
        for body, code in (
            (refund_body(vendor, 100, some, more), "allocation_exceeds_total"),
            (refund_body(vendor, 100, some, processing_fee_cents=41), "fee_exceeds_amount"),
            (refund_body(vendor, 100, some, currency="EUR"), "currency_mismatch"),
            (refund_body({"id": NOBODY}, 100, some), "reference_not_found"),
        ):
            with no_row_anywhere(ledger):
                assert refused(shop, "POST", REFUND_PAYMENTS, body) == (422, code)

    def test_of_one_bill_or_payment_once_in_a_list(
        self, shop: Business, ledger: Ledger, vendor: Record, things: dict[str, Record]
    ) -> None:
        bill, money = things["bill"], things["free"]
        for item in (of_bill(bill, 1), of_payment(money, 1)):
            body = refund_body(vendor, 100, item, as_credit(1), item)
            with no_row_anywhere(ledger):
                answer = shop.api.post(REFUND_PAYMENTS, json=body)
            [field] = answer.json()["detail"]["field_errors"]
            assert (answer.status_code, field.split(".")[:2]) == (400, ["allocations", "2"])

    def test_a_malformed_list_of_a_cancelled_payment_is_400(
        self, shop: Business, ledger: Ledger, vendor: Record, things: dict[str, Record]
    ) -> None:
        payment = agreed(shop, vendor, 100)["payment"]
        cancelled(shop, payment)
        twice = {"allocations": [of_payment(things["free"], 1)] * 2}
        with no_row_anywhere(ledger):
            answer = shop.api.patch(f"{REFUND_PAYMENTS}{payment['id']}/", json=twice)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")

    @pytest.mark.parametrize(
        "item",
        [
            {"allocation_type": "bill", "amount_cents": 1},
            {"allocation_type": "payment", "amount_cents": 1},
            {"allocation_type": "bill", "bill_payment_id": NOBODY, "amount_cents": 1},
            {"allocation_type": "payment", "bill_id": NOBODY, "amount_cents": 1},
            {"allocation_type": "credit", "bill_id": NOBODY, "amount_cents": 1},
            {"allocation_type": "credit", "bill_payment_id": NOBODY, "amount_cents": 1},
            {"allocation_type": "credit", "amount_cents": 0},
            {"allocation_type": "gift", "amount_cents": 1},
            {"allocation_type": "bill", "bill_id": "x", "amount_cents": 1},
        ],
    )
    def test_each_type_comes_with_its_own_id_alone(
        self, shop: Business, ledger: Ledger, vendor: Record, item: Record
    ) -> None:
        made = agreed(shop, vendor, 10)
        with no_row_anywhere(ledger):
            for method, path, body in (
                ("POST", REFUND_PAYMENTS, refund_body(vendor, 100, item)),
                ("PATCH", f"{REFUND_PAYMENTS}{made['payment']['id']}/", {"allocations": [item]}),
            ):
                assert refused(shop, method, path, body) == (400, "validation_error")

    def test_in_a_locked_period(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        made = agreed(shop, vendor, 100)
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        with ledger.locked("2025-03-31"):
            with no_row_anywhere(ledger):
                body = refund_body(vendor, 100, as_credit(10))
                assert refused(shop, "POST", REFUND_PAYMENTS, body) == (409, "period_locked")
                come = {"status": "completed", "payment_date": "2025-03-31"}
                assert refused(shop, "PATCH", path, come) == (409, "period_locked")
            after = changed(shop, made["payment"], status="completed", payment_date="2025-04-01")
            with no_row_anywhere(ledger):
                back = {"payment_date": "2025-03-30"}
                assert refused(shop, "PATCH", path, back) == (409, "period_locked")
        assert ledger.postings(after["payment"])[0][0] == "2025-04-01"


@pytest.fixture(scope="module")
def sound(shop: Business, vendor: Record) -> list[Record]:
    """Allocations of all three types that would be taken, one after the other."""
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


PLACES = (0, 249, 499)


class TestOnePoisonedAllocation:
    """Of five hundred allocations one is wrong, anywhere in the list."""

    @pytest.mark.parametrize("place", PLACES)
    def test_leaves_no_row_anywhere(
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

    def test_not_in_a_refund_that_is_allocated_anew_either(
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

    def test_with_a_key_only_the_answer_is_kept(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        sound: list[Record],
        poisons: dict[str, tuple[int, Record]],
    ) -> None:
        _, poison = poisons["more than was paid of a bill"]
        body = refund_body(vendor, 100_000, *sound, poison)
        key = {"Idempotency-Key": str(uuid4())}
        with ledger.untouched():
            first, again = (
                shop.api.post(REFUND_PAYMENTS, json=body, headers=key) for _ in range(2)
            )
        assert (first.status_code, again.content) == (422, first.content)
        assert "idempotent-replayed" in again.headers

    def test_without_it_all_five_hundred_are_made(
        self, shop: Business, ledger: Ledger, vendor: Record, sound: list[Record]
    ) -> None:
        made = agreed(shop, vendor, 100_000, *sound, as_credit(3))
        assert len(made["allocations"]) == 500
        assert len({each["id"] for each in made["allocations"]}) == 500
        cancelled = shop.api.post(f"{REFUND_PAYMENTS}{made['payment']['id']}/delete/")
        assert cancelled.status_code == 200
