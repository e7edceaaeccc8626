"""Settlements of an invoice: its status, its `paid_at`, and the changes that they forbid."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders.sales import refunded
from tests.builders.trade import CREDITED, PAID, SALES, Record, line
from tests.clock import today
from tests.handlers.trade.side import Side

LATE = "2025-03-20T00:00:00Z"
GONE = "2025-03-15T12:00:00Z"
TODAY = str(today())

IDS_OF = {
    "allocated": "payment_ids",
    "credited": "credit_ids",
    "refunded": "refund_ids",
    "written_off": "write_off_ids",
}


class InvoiceHistory:
    """An invoice of 1000, and requests that settle it."""

    def __init__(self, side: Side, **facts: Any) -> None:
        self.side = side
        self.invoice = side.open(1_000, **facts)
        self.path = side.trade.of(self.invoice)

    def pays(self, amount: int, **facts: Any) -> Record:
        return self.side.pay(amount, self.side.trade.part(self.invoice, amount), **facts)

    def credits(self, amount: int, **facts: Any) -> Record:
        return self.side.credit(amount, self.side.trade.share(self.invoice, amount), **facts)

    def gives_up(self, amount: int) -> Record:
        shown = self.side.write_off(self.invoice, amount_cents=amount, write_off_at=GONE)
        write_off: Record = shown["write_offs"][-1]
        return write_off

    def refunds(self, amount: int) -> Record:
        return refunded(self.side.shop, self.invoice, amount_cents=amount)

    def bounces(self, payment: Record) -> None:
        self.side.change(payment, status="failed")

    def releases(self, credit: Record) -> None:
        path = self.side.trade.of_credit(credit)
        assert self.side.api.put(path, json={"allocations": []}).status_code == 200

    def takes_up(self, write_off: Record) -> None:
        path = f"{self.path}write-offs/{write_off['id']}/"
        assert self.side.api.delete(path).status_code == 200

    def state(self) -> tuple[str, int, str | None]:
        """Return status, open amount and paid day; check that a filtered list shows the same."""
        read = self.side.read(self.invoice)
        query = {"status": read["status"], "search": self.invoice["invoice_number"]}
        [listed] = self.side.api.get(self.side.trade.path, params=query).json()["results"]
        assert listed == {name: read[name] for name in listed}
        return read["status"], read["outstanding_balance"], (read["paid_at"] or "")[:10] or None


Steps = Callable[[InvoiceHistory], object]


@pytest.fixture
def history(side: Side) -> InvoiceHistory:
    return InvoiceHistory(side)


class TestGetInvoice:
    trade = SALES

    @pytest.mark.parametrize(
        ("steps", "state"),
        [
            (InvoiceHistory.state, ("sent", 1_000, None)),
            (lambda each: each.pays(1_000, status="pending"), ("sent", 1_000, None)),
            (lambda each: each.pays(1), ("partially_paid", 999, None)),
            (lambda each: each.credits(1), ("partially_paid", 999, None)),
            (lambda each: each.pays(1_000), ("paid", 0, PAID)),
            (lambda each: each.credits(1_000), ("paid", 0, CREDITED)),
            (lambda each: (each.credits(400), each.pays(600)), ("paid", 0, PAID)),
            (lambda each: each.gives_up(1), ("partially_written_off", 999, None)),
            (lambda each: (each.pays(500), each.gives_up(1)), ("partially_written_off", 499, None)),
            (lambda each: each.gives_up(1_000), ("written_off", 0, GONE[:10])),
            (lambda each: (each.pays(999), each.gives_up(1)), ("written_off", 0, GONE[:10])),
            (lambda each: (each.credits(999), each.gives_up(1)), ("written_off", 0, GONE[:10])),
            (lambda each: (each.pays(1_000), each.refunds(999)), ("paid", 0, PAID)),
            (lambda each: (each.pays(1_000), each.refunds(1_000)), ("refunded", 0, PAID)),
            (lambda each: (each.pays(400), each.refunds(400)), ("partially_paid", 600, None)),
            (lambda each: (each.credits(400), each.pays(600), each.refunds(600)),
             ("refunded", 0, PAID)),
            (lambda each: (each.pays(300), each.gives_up(700), each.refunds(300)),
             ("refunded", 0, GONE[:10])),
            (lambda each: (each.pays(300), each.gives_up(700), each.refunds(299)),
             ("written_off", 0, GONE[:10])),
            (lambda each: (each.pays(300), each.gives_up(600), each.refunds(300)),
             ("partially_written_off", 100, None)),
        ],
    )  # fmt: skip
    def test_the_first_status_that_fits_is_shown(
        self, history: InvoiceHistory, steps: Steps, state: tuple[str, int, str | None]
    ) -> None:
        steps(history)
        assert history.state() == state

    @pytest.mark.parametrize(
        ("steps", "status", "late"),
        [
            (InvoiceHistory.state, "overdue", True),
            (lambda history: history.pays(1), "overdue", True),
            (lambda history: history.credits(999), "overdue", True),
            (lambda history: history.gives_up(1), "partially_written_off", True),
            (lambda history: history.gives_up(1_000), "written_off", False),
            (lambda history: history.credits(1_000), "paid", False),
        ],
    )
    def test_an_invoice_is_overdue_while_an_amount_is_open_after_its_due_date(
        self, side: Side, steps: Steps, status: str, late: bool
    ) -> None:
        history = InvoiceHistory(side, due_at=LATE)
        steps(history)
        assert history.state()[0] == status
        assert side.read(history.invoice)["is_overdue"] is late

    def test_drafts_and_void_ones_have_a_status_of_their_own(self, side: Side) -> None:
        draft = side.draft(line(0), due_at=LATE)
        assert (draft["status"], draft["paid_at"]) == ("draft", None)
        history = InvoiceHistory(side, due_at=LATE)
        side.api.post(f"{history.path}void/")
        assert history.state() == ("voided", 0, None)

    def test_an_undone_settlement_reopens_the_invoice(self, history: InvoiceHistory) -> None:
        payment, credit, write_off = history.pays(500), history.credits(300), history.gives_up(200)
        refund = history.refunds(500)
        assert history.state() == ("refunded", 0, GONE[:10])
        history.side.api.delete(f"invoices/refunds/{refund['id']}/")
        assert history.state() == ("written_off", 0, GONE[:10])
        history.takes_up(write_off)
        assert history.state() == ("partially_paid", 200, None)
        history.releases(credit)
        assert history.state() == ("partially_paid", 500, None)
        history.bounces(payment)
        assert history.state() == ("sent", 1_000, None)

    def test_a_payment_that_bounces_reopens_what_was_refunded(
        self, history: InvoiceHistory
    ) -> None:
        payment = history.pays(1_000)
        history.refunds(1_000)
        history.bounces(payment)
        assert history.state() == ("sent", 1_000, None)
        # The invoice is now unpaid, so it is not refunded either.
        history.credits(1_000)
        assert history.state() == ("paid", 0, CREDITED)

    def test_paid_at_is_the_day_of_the_last_settlement(
        self, side: Side, history: InvoiceHistory
    ) -> None:
        history.pays(600)
        credit = side.credit(400, sent_at="2025-02-01T09:00:00Z")
        body = {"allocations": [side.trade.share(history.invoice, 400)]}
        side.api.put(side.trade.of_credit(credit), json=body)
        assert history.state() == ("paid", 0, TODAY)

    def test_an_invoice_shows_all_settlements_and_refunds(self, history: InvoiceHistory) -> None:
        early, late = history.credits(100), history.credits(50, sent_at="2025-03-06T00:00:00Z")
        payment, write_off, refund = history.pays(300), history.gives_up(40), history.refunds(20)
        shown = history.side.read(history.invoice)
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
    trade = SALES

    def test_a_customer_owes_open_amounts_without_netting_credits(self, side: Side) -> None:
        side = side.with_new_party()
        history = InvoiceHistory(side)
        side.draft()
        side.credit(5_000)
        side.pay(700)

        def owed() -> int:
            shown = side.api.get(side.trade.of_party(side.counterparty)).json()
            return int(shown["outstanding_balance"])

        assert owed() == 1_000
        history.credits(300)
        history.gives_up(200)
        assert owed() == 500
        history.pays(500)
        history.refunds(500)
        assert owed() == 0


class TestReplaceInvoice:
    trade = SALES

    @pytest.mark.parametrize(
        ("steps", "affected"),
        [
            (lambda history: history.pays(10), {"allocated": 10}),
            (lambda history: history.pays(10, status="pending"), {"allocated": 10}),
            (lambda history: history.credits(20), {"credited": 20}),
            (lambda history: history.gives_up(30), {"written_off": 30}),
            (lambda each: (each.pays(40), each.refunds(15)), {"allocated": 40, "refunded": 15}),
            (lambda history: _refunded_and_bounced(history, 15), {"refunded": 15}),
        ],
    )
    def test_a_settled_invoice_cannot_be_replaced_or_voided(
        self, side: Side, history: InvoiceHistory, steps: Steps, affected: dict[str, int]
    ) -> None:
        steps(history)
        nothing = {"allocated": 0, "credited": 0, "refunded": 0, "written_off": 0}
        with side.ledger.untouched():
            for answer in (
                side.api.put(history.path, json={"line_items": [line(2_000)]}),
                side.api.post(f"{history.path}void/"),
            ):
                assert answer.status_code == 409
                assert answer.json()["error_code"] == "invoice_has_allocations"
                detail = answer.json()["detail"]
                assert {kind: detail.pop(kind) for kind in nothing} == {**nothing, **affected}
                assert {ids for ids, named in detail.items() if named} == {
                    IDS_OF[kind] for kind in affected
                }

    def test_an_invoice_can_be_replaced_once_all_settlements_are_undone(
        self, side: Side, history: InvoiceHistory
    ) -> None:
        credit, write_off = history.credits(20), history.gives_up(30)
        history.releases(credit)
        history.takes_up(write_off)
        answer = side.api.put(history.path, json={"line_items": [line(2_000)]})
        assert (answer.status_code, answer.json()["total_amount"]) == (200, 2_000)
        assert answer.json() == side.read(history.invoice)
        answer = side.api.post(f"{history.path}void/")
        assert (answer.status_code, answer.json()["status"]) == (200, "voided")


def _refunded_and_bounced(history: InvoiceHistory, amount: int) -> None:
    payment = history.pays(40)
    history.refunds(amount)
    history.bounces(payment)
