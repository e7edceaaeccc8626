"""Many clients at one opening: it is created once, and reversed as a whole or not at all."""

from functools import partial

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import DAY, OPENINGS, all_open, open_invoice, opened
from tests.builders.purchases import PAYMENTS as BILL_PAYMENTS
from tests.builders.purchases import bill_payment_body
from tests.builders.purchases import part as bill_part
from tests.builders.sales import INVOICES, PAYMENTS, part, payment_body
from tests.builders.trade import Record
from tests.concurrency.races import statuses, together
from tests.partner import Business


class TestOneDay:
    @pytest.mark.usefixtures("rounds")
    def test_books_are_opened_once_on_a_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        bodies = [{"date": DAY, "invoices": [open_invoice(buyer, 5)]} for _ in range(6)]
        ran = together([partial(shop.api.post, OPENINGS, json=body) for body in bodies])
        assert statuses(ran) == {201: 1, 409: 5}
        assert {each.code for each in ran} == {None, "duplicate_opening_balance"}
        assert ledger.balances() == {"1200": 5, "3290": -5}

    def test_an_unknown_party_is_created_once(self, shop: Business) -> None:
        invoices = [open_invoice({"id": None}, 5, customer_external_id="raced") for _ in range(4)]
        for each in invoices:
            del each["customer_id"]
        bodies = [{"date": f"2024-11-1{n}", "invoices": [each]} for n, each in enumerate(invoices)]
        ran = together([partial(shop.api.post, OPENINGS, json=body) for body in bodies])
        assert statuses(ran) == {201: 4}
        found = shop.api.get("customers/", params={"external_id": "raced"}).json()
        assert found["count"] == 1


class TestOneOpening:
    @pytest.mark.usefixtures("rounds", "ledger")
    def test_an_opening_is_settled_or_reversed(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        opening = opened(shop, **all_open(buyer, vendor))
        invoice, bill = opening["invoices"][0], opening["bills"][0]
        money = payment_body(buyer, 10, allocations=[part(invoice, 10)])
        outlay = bill_payment_body(vendor, 10, allocations=[bill_part(bill, 10)])
        paying = [
            partial(shop.api.post, PAYMENTS, json=money),
            partial(shop.api.post, BILL_PAYMENTS, json=outlay),
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
