"""Many clients at one opening of the books: it is made once, and taken back whole or not at all."""

from functools import partial

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import DAY, OPENINGS, all_open, open_invoice, opened, reversed_
from tests.builders.purchases import BILLS, bill_payment_body
from tests.builders.purchases import part as bill_part
from tests.builders.sales import INVOICES, PAYMENTS, part, payment_body
from tests.builders.trade import Record
from tests.concurrency.racing import statuses, together
from tests.partner import Business


class TestOneDay:
    @pytest.mark.parametrize("_round", range(2))
    def test_books_are_opened_once_on_it(self, shop: Business, ledger: Ledger, _round: int) -> None:
        customer, day = shop.customer(), f"2024-12-0{1 + _round}"
        bodies = [{"date": day, "invoices": [open_invoice(customer, 5)]} for _ in range(6)]
        ran = together([partial(shop.api.post, OPENINGS, json=body) for body in bodies])
        assert statuses(ran) == {201: 1, 409: 5}
        assert {each.code for each in ran} == {None, "duplicate_opening_balance"}
        assert ledger.balances() == {"1200": 5, "3290": -5}
        [made] = [each.answer.json() for each in ran if each.status == 201]
        reversed_(shop, made, day)

    def test_a_party_that_nobody_knows_is_made_once(self, shop: Business) -> None:
        invoices = [open_invoice({"id": None}, 5, customer_external_id="raced") for _ in range(4)]
        for each in invoices:
            del each["customer_id"]
        bodies = [{"date": f"2024-11-1{n}", "invoices": [each]} for n, each in enumerate(invoices)]
        ran = together([partial(shop.api.post, OPENINGS, json=body) for body in bodies])
        assert statuses(ran) == {201: 4}
        found = shop.api.get("customers/", params={"external_id": "raced"}).json()
        assert found["count"] == 1


class TestOneOpening:
    @pytest.mark.parametrize("_round", range(3))
    def test_it_is_settled_or_taken_back(self, shop: Business, ledger: Ledger, _round: int) -> None:
        customer, vendor = shop.customer(), shop.vendor()
        opening = opened(shop, **all_open(customer, vendor))
        invoice, bill = opening["invoices"][0], opening["bills"][0]
        money = payment_body(customer, 10, allocations=[part(invoice, 10)])
        outlay = bill_payment_body(vendor, 10, allocations=[bill_part(bill, 10)])
        paying = [
            partial(shop.api.post, PAYMENTS, json=money),
            partial(
                shop.api.post,
                f"{BILLS}payments/",
                json=outlay,
            ),
        ]
        path = f"{OPENINGS}{opening['id']}/reverse/"
        *ran, first, second = together(
            [*paying, *[partial(shop.api.post, path, json={"entry_date": DAY})] * 2]
        )
        paid = [each for each in ran if each.status == 201]
        if paid:
            assert {first.code, second.code} == {"opening_balance_settled"}
            assert len(paid) == 2
        else:
            assert sorted([first.status, second.status]) == [200, 409]
            assert {each.code for each in ran} == {"invoice_not_open", "bill_not_open"}
        state = "open" if paid else "reversed"
        assert shop.api.get(f"{OPENINGS}{opening['id']}/").json()["status"] == state
        left = shop.api.get(f"{INVOICES}{invoice['id']}/").json()["outstanding_balance"]
        assert left == (1_190 if paid else 0)
        ledger.audit()
        if paid:
            self.make_room(shop, opening)

    def make_room(self, shop: Business, opening: Record) -> None:
        """Let the next round open the books on the same day."""
        for path in ("invoices/payments/", f"{BILLS}payments/"):
            for each in shop.api.get(path, params={"status": "completed"}).json()["results"]:
                if each["opening_balance_id"] is None:
                    shop.api.patch(f"{path}{each['id']}/", json={"status": "failed"})
        reversed_(shop, opening, DAY)
