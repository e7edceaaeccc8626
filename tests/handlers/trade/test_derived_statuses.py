"""What settles an invoice decides its status, its `paid_at`, and what may still be done with it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import (
    credited,
    invoice_body,
    paid,
    part,
    refunded,
    sent,
    share,
    written_off,
)
from tests.builders.trade import CREDITED, PAID, Record, line
from tests.clock import today
from tests.partnership import Business, Partnership

LATE = "2025-03-20T00:00:00Z"
GONE = "2025-03-15T12:00:00Z"
TODAY = str(today())


class Desk:
    """An invoice of 1000 and what can happen to it, each by its own request."""

    def __init__(self, shop: Business, buyer: Record, **facts: Any) -> None:
        self.shop, self.buyer = shop, buyer
        self.invoice = sent(shop, buyer, 1_000, **facts)
        self.path = f"invoices/{self.invoice['id']}/"

    def pays(self, amount: int, **facts: Any) -> Record:
        return paid(self.shop, self.buyer, amount, part(self.invoice, amount), **facts)

    def credits(self, amount: int, **facts: Any) -> Record:
        return credited(self.shop, self.buyer, amount, share(self.invoice, amount), **facts)

    def gives_up(self, amount: int) -> Record:
        shown = written_off(self.shop, self.invoice, amount_cents=amount, write_off_at=GONE)
        write_off: Record = shown["write_offs"][-1]
        return write_off

    def refunds(self, amount: int) -> Record:
        return refunded(self.shop, self.invoice, amount_cents=amount)

    def bounces(self, payment: Record) -> None:
        path = f"invoices/payments/{payment['id']}/"
        assert self.shop.api.patch(path, json={"status": "failed"}).status_code == 200

    def state(self) -> tuple[str, int, str | None]:
        """Status, outstanding and paid day, the same in a read, in a list and under its filter."""
        read = self.shop.api.get(self.path).json()
        asked = {"status": read["status"], "search": self.invoice["invoice_number"]}
        [listed] = self.shop.api.get("invoices/", params=asked).json()["results"]
        assert listed == {name: read[name] for name in listed}
        return read["status"], read["outstanding_balance"], (read["paid_at"] or "")[:10] or None


Steps = Callable[[Desk], object]


@pytest.fixture(scope="module")
def shop(acme: Partnership) -> Business:
    return acme.business()


class TestGetInvoice:
    @pytest.mark.parametrize(
        ("steps", "state"),
        [
            (Desk.state, ("sent", 1_000, None)),
            (lambda desk: desk.pays(1_000, status="pending"), ("sent", 1_000, None)),
            (lambda desk: desk.pays(1), ("partially_paid", 999, None)),
            (lambda desk: desk.credits(1), ("partially_paid", 999, None)),
            (lambda desk: desk.pays(1_000), ("paid", 0, PAID)),
            (lambda desk: desk.credits(1_000), ("paid", 0, CREDITED)),
            (lambda desk: (desk.credits(400), desk.pays(600)), ("paid", 0, PAID)),
            (lambda desk: desk.gives_up(1), ("partially_written_off", 999, None)),
            (lambda desk: (desk.pays(500), desk.gives_up(1)), ("partially_written_off", 499, None)),
            (lambda desk: desk.gives_up(1_000), ("written_off", 0, GONE[:10])),
            (lambda desk: (desk.pays(999), desk.gives_up(1)), ("written_off", 0, GONE[:10])),
            (lambda desk: (desk.credits(999), desk.gives_up(1)), ("written_off", 0, GONE[:10])),
            (lambda desk: (desk.pays(1_000), desk.refunds(999)), ("paid", 0, PAID)),
            (lambda desk: (desk.pays(1_000), desk.refunds(1_000)), ("refunded", 0, PAID)),
            (lambda desk: (desk.pays(400), desk.refunds(400)), ("partially_paid", 600, None)),
            (lambda desk: (desk.credits(400), desk.pays(600), desk.refunds(600)),
             ("refunded", 0, PAID)),
            (lambda desk: (desk.pays(300), desk.gives_up(700), desk.refunds(300)),
             ("refunded", 0, GONE[:10])),
            (lambda desk: (desk.pays(300), desk.gives_up(700), desk.refunds(299)),
             ("written_off", 0, GONE[:10])),
            (lambda desk: (desk.pays(300), desk.gives_up(600), desk.refunds(300)),
             ("partially_written_off", 100, None)),
        ],
    )  # fmt: skip
    def test_the_first_status_that_fits_is_shown(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        steps: Steps,
        state: tuple[str, int, str | None],
    ) -> None:
        desk = Desk(shop, buyer)
        steps(desk)
        assert desk.state() == state

    @pytest.mark.parametrize(
        ("steps", "status", "late"),
        [
            (Desk.state, "overdue", True),
            (lambda desk: desk.pays(1), "overdue", True),
            (lambda desk: desk.credits(999), "overdue", True),
            (lambda desk: desk.gives_up(1), "partially_written_off", True),
            (lambda desk: desk.gives_up(1_000), "written_off", False),
            (lambda desk: desk.credits(1_000), "paid", False),
        ],
    )
    def test_it_is_overdue_while_anything_is_owed_past_its_day(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        steps: Steps,
        status: str,
        late: bool,
    ) -> None:
        desk = Desk(shop, buyer, due_at=LATE)
        steps(desk)
        assert desk.state()[0] == status
        assert shop.api.get(desk.path).json()["is_overdue"] is late

    def test_drafts_and_void_ones_have_a_status_of_their_own(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        draft = shop.made("invoices/", invoice_body(buyer, line(0), due_at=LATE))
        assert (draft["status"], draft["paid_at"]) == ("draft", None)
        desk = Desk(shop, buyer, due_at=LATE)
        shop.api.post(f"{desk.path}void/")
        assert desk.state() == ("voided", 0, None)

    def test_what_is_taken_back_opens_it_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        desk = Desk(shop, buyer)
        payment, credit, write_off = desk.pays(500), desk.credits(300), desk.gives_up(200)
        refund = desk.refunds(500)
        assert desk.state() == ("refunded", 0, GONE[:10])
        shop.api.delete(f"invoices/refunds/{refund['id']}/")
        assert desk.state() == ("written_off", 0, GONE[:10])
        shop.api.delete(f"{desk.path}write-offs/{write_off['id']}/")
        assert desk.state() == ("partially_paid", 200, None)
        shop.api.put(f"customer-credits/{credit['id']}/", json={"allocations": []})
        assert desk.state() == ("partially_paid", 500, None)
        desk.bounces(payment)
        assert desk.state() == ("sent", 1_000, None)

    def test_a_payment_that_bounces_reopens_what_was_refunded(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        desk = Desk(shop, buyer)
        payment = desk.pays(1_000)
        desk.refunds(1_000)
        desk.bounces(payment)
        assert desk.state() == ("sent", 1_000, None)
        # Nothing is paid on it now, so it is not refunded either.
        desk.credits(1_000)
        assert desk.state() == ("paid", 0, CREDITED)

    def test_what_settled_it_last_says_when_it_was_paid(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        desk = Desk(shop, buyer)
        desk.pays(600)
        credit = credited(shop, buyer, 400, sent_at="2025-02-01T09:00:00Z")
        body = {"allocations": [share(desk.invoice, 400)]}
        shop.api.put(f"customer-credits/{credit['id']}/", json=body)
        assert desk.state() == ("paid", 0, TODAY)

    def test_it_shows_all_that_settles_it_and_what_was_given_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        desk = Desk(shop, buyer)
        early, late = desk.credits(100), desk.credits(50, sent_at="2025-03-06T00:00:00Z")
        payment, write_off, refund = desk.pays(300), desk.gives_up(40), desk.refunds(20)
        shown = shop.api.get(desk.path).json()
        assert shown["credit_allocations"] == [
            {
                "credit_note_id": credit["id"],
                "applied_at": f"{day}T00:00:00Z",
                "amount_cents": amount,
            }
            for credit, day, amount in ((early, CREDITED, 100), (late, "2025-03-06", 50))
        ]
        assert [each["payment_id"] for each in shown["payment_allocations"]] == [payment["id"]]
        assert shown["write_offs"] == [write_off]
        assert shown["refund_allocations"] == [
            {
                "refund_id": refund["id"],
                "allocated_at": refund["allocations"][0]["allocation_date"],
                "reference_number": None,
                "amount_cents": 20,
            }
        ]
        assert shown["outstanding_balance"] == 510


class TestGetCustomer:
    def test_it_owes_what_is_outstanding_and_no_credit_is_netted(
        self, shop: Business, ledger: Ledger
    ) -> None:
        buyer = shop.customer()
        desk = Desk(shop, buyer)
        shop.made("invoices/", invoice_body(buyer))
        credited(shop, buyer, 5_000)
        paid(shop, buyer, 700)

        def owed() -> int:
            shown = shop.api.get(f"customers/{buyer['id']}/").json()
            return int(shown["outstanding_balance"])

        assert owed() == 1_000
        desk.credits(300)
        desk.gives_up(200)
        assert owed() == 500
        desk.pays(500)
        desk.refunds(500)
        assert owed() == 0


class TestReplaceInvoice:
    @pytest.mark.parametrize(
        ("steps", "affected"),
        [
            (lambda desk: desk.pays(10), {"allocated": 10}),
            (lambda desk: desk.pays(10, status="pending"), {"allocated": 10}),
            (lambda desk: desk.credits(20), {"credited": 20}),
            (lambda desk: desk.gives_up(30), {"written_off": 30}),
            (lambda desk: (desk.pays(40), desk.refunds(15)), {"allocated": 40, "refunded": 15}),
            (lambda desk: _refunded_and_bounced(desk, 15), {"refunded": 15}),
        ],
    )
    def test_it_is_neither_edited_nor_voided_while_something_stands_on_it(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        steps: Steps,
        affected: dict[str, int],
    ) -> None:
        desk = Desk(shop, buyer)
        steps(desk)
        nothing = {"allocated": 0, "credited": 0, "refunded": 0, "written_off": 0}
        with ledger.untouched():
            for answer in (
                shop.api.put(desk.path, json={"line_items": [line(2_000)]}),
                shop.api.post(f"{desk.path}void/"),
            ):
                assert answer.status_code == 409
                assert answer.json()["error_code"] == "invoice_has_allocations"
                assert answer.json()["detail"] == {**nothing, **affected}

    def test_it_is_free_once_all_of_that_is_taken_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        desk = Desk(shop, buyer)
        credit, write_off = desk.credits(20), desk.gives_up(30)
        shop.api.put(f"customer-credits/{credit['id']}/", json={"allocations": []})
        shop.api.delete(f"{desk.path}write-offs/{write_off['id']}/")
        answer = shop.api.put(desk.path, json={"line_items": [line(2_000)]})
        assert (answer.status_code, answer.json()["total_amount"]) == (200, 2_000)
        assert answer.json() == shop.api.get(desk.path).json()
        answer = shop.api.post(f"{desk.path}void/")
        assert (answer.status_code, answer.json()["status"]) == (200, "voided")


def _refunded_and_bounced(desk: Desk, amount: int) -> None:
    payment = desk.pays(40)
    desk.refunds(amount)
    desk.bounces(payment)
