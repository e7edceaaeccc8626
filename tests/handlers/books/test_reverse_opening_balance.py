"""reverse_opening_balance: an opening is reversed with all its items."""

from collections.abc import Callable

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import DAY, OPENINGS, all_open, open_invoice, opened, reversed_
from tests.builders.purchases import bill_paid, vendor_credited
from tests.builders.sales import paid, refunded, written_off
from tests.builders.trade import PURCHASES, SALES, Record
from tests.clock import today
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

Ids = dict[str, tuple[str, int]]
PATHS = {
    "invoices": "invoices/",
    "bills": "bills/",
    "customer_credits": "customer-credits/",
    "vendor_credits": "vendor-credits/",
}


def pay_later(shop: Business, opening: Record) -> None:
    invoice = opening["invoices"][0]
    paid(shop, {"id": invoice["customer_id"]}, 10, SALES.part(invoice, 10), status="pending")


def pay_bill(shop: Business, opening: Record) -> None:
    bill = opening["bills"][0]
    bill_paid(shop, {"id": bill["vendor_id"]}, 10, PURCHASES.part(bill, 10))


def apply_credit(shop: Business, opening: Record) -> None:
    body = {"allocations": [SALES.share(opening["invoices"][0], 10)]}
    path = SALES.of_credit(opening["customer_credits"][0])
    shop.api.put(path, json=body).raise_for_status()


def refund_credit(shop: Business, opening: Record) -> None:
    refunded(shop, opening["customer_credits"][0], amount_cents=10)


def use_prepayments(shop: Business, opening: Record) -> None:
    money, outlay = opening["prepayments"]
    refunded(shop, money, amount_cents=5)
    body = {"allocations": [PURCHASES.part(opening["bills"][0], 10)]}
    shop.api.patch(PURCHASES.of_payment(outlay), json=body).raise_for_status()


INVOICE: Ids = {"invoice_ids": ("invoices", 0)}
BILL: Ids = {"bill_ids": ("bills", 0)}
CREDIT: Ids = {"customer_credit_ids": ("customer_credits", 0)}
MONEY: Ids = {"payment_ids": ("prepayments", 0), "bill_payment_ids": ("prepayments", 1)}
USES: dict[str, tuple[Callable[[Business, Record], None], Ids]] = {
    "a pending payment": (pay_later, INVOICE),
    "a bill payment": (pay_bill, BILL),
    "an applied credit": (apply_credit, INVOICE | CREDIT),
    "a refunded credit": (refund_credit, CREDIT),
    "used prepayments": (use_prepayments, BILL | MONEY),
}
"""Uses of the items of an opening, and the items that the refusal names."""


class TestReverseOpeningBalance(UnopenedBooks):
    @pytest.fixture
    def opening(self, shop: Business, buyer: Record, vendor: Record) -> Record:
        return opened(shop, **all_open(buyer, vendor))

    def test_on_its_own_day_it_is_as_if_the_books_were_never_opened(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        answer = shop.api.post(f"{OPENINGS}{opening['id']}/reverse/", json={"entry_date": DAY})
        shown = answer.json()
        changed = {
            "status": "reversed",
            "reversed_at": f"{DAY}T00:00:00Z",
            "updated_at": shown["updated_at"],
        }
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert shown == {**opening, **changed}
        assert shop.api.get(f"{OPENINGS}{opening['id']}/").json() == shown
        assert ledger.balances() == {}
        assert {entry.on for entry in ledger.entries()} == {DAY}

    def test_each_entry_has_its_linked_mirror(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        before = ledger.entries()
        reversed_(shop, opening)
        entries = ledger.entries()
        mirrors = {entry.reversal_of: entry for entry in entries if entry.reversal_of}
        assert len(mirrors) == len(before) == len(entries) - len(mirrors)
        for entry in before:
            mirror = mirrors[entry.id]
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
            assert (mirror.on, mirror.source_type) == (str(today()), entry.source_type)

    def test_items_of_a_reversed_opening_are_void_or_cancelled(
        self, shop: Business, opening: Record, buyer: Record
    ) -> None:
        reversed_(shop, opening)
        for kind, path in PATHS.items():
            for each in opening[kind]:
                status = shop.api.get(f"{path}{each['id']}/").json()["status"]
                assert status == ("void" if "credits" in kind else "voided")
        money, outlay = opening["prepayments"]
        for path, each in (("invoices/payments/", money), ("bills/payments/", outlay)):
            assert shop.api.get(f"{path}{each['id']}/").json()["status"] == "cancelled"
        assert shop.api.post(f"customers/{buyer['id']}/archive/").status_code == 200

    def test_an_equal_opening_can_be_created_after_the_reversal(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        body = all_open(buyer, vendor)
        for kind in (*PATHS, "prepayments"):
            body[kind][0]["external_id"] = f"own {kind}"
        body["bills"][0] |= {"bill_number": "B-1", "vendor_bill_number": "V-1"}
        body["vendor_credits"][0]["vendor_credit_number"] = "VC-000001"
        first = opened(shop, **body)
        reversed_(shop, first, DAY)
        second = opened(shop, **body)
        assert second["id"] != first["id"]
        numbers = [each["invoice_number"] for each in second["invoices"]]
        assert numbers == [each["invoice_number"] for each in first["invoices"]]
        listed = shop.api.get("invoices/", params={"search": numbers[0]}).json()["results"]
        assert sorted(each["status"] for each in listed) == ["sent", "voided"]
        assert ledger.balances()["3290"] == -4_900

    def test_an_opening_is_not_reversed_before_its_own_day(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        reversed_(shop, opening, "2024-06-30")
        assert {entry.on for entry in ledger.entries()} == {DAY}

    @pytest.mark.parametrize("use", USES)
    def test_an_opening_is_not_reversed_while_an_item_is_used(
        self, shop: Business, ledger: Ledger, opening: Record, use: str
    ) -> None:
        act, ids = USES[use]
        act(shop, opening)
        named = {name: [opening[listed][place]["id"]] for name, (listed, place) in ids.items()}
        self.is_held(ledger, opening, named)

    def test_an_opening_is_not_reversed_while_a_credit_of_its_lines_is_open(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record
    ) -> None:
        invoice = opening["invoices"][0]
        [line] = shop.api.get(f"invoices/{invoice['id']}/").json()["line_items"]
        source = {"amount": 10, "source_line_id": line["id"]}
        facts = {"source_invoice_id": invoice["id"], "sent_at": f"{DAY}T00:00:00Z"}
        credit = shop.made(SALES.credits, SALES.credit_body(buyer, source, **facts))
        self.is_held(ledger, opening, {"invoice_ids": [invoice["id"]]})
        shop.api.post(f"customer-credits/{credit['id']}/void/").raise_for_status()
        reversed_(shop, opening)

    def test_an_opening_can_be_reversed_once_its_items_are_unsettled(
        self, shop: Business, ledger: Ledger, opening: Record, vendor: Record
    ) -> None:
        invoice, credit = opening["invoices"][0], opening["customer_credits"][0]
        bill, outlay = opening["bills"][0], opening["prepayments"][1]
        after = written_off(shop, invoice, amount_cents=10)
        shop.api.delete(
            f"invoices/{invoice['id']}/write-offs/{after['write_offs'][0]['id']}/"
        ).raise_for_status()
        for shares in ([SALES.share(invoice, 10)], []):
            body = {"allocations": shares}
            shop.api.put(SALES.of_credit(credit), json=body).raise_for_status()
        for parts in ([PURCHASES.part(bill, 10)], []):
            body = {"allocations": parts}
            shop.api.patch(PURCHASES.of_payment(outlay), json=body).raise_for_status()
        back = vendor_credited(shop, vendor, 10)
        reversed_(shop, opening)
        shop.api.post(f"vendor-credits/{back['id']}/void/").raise_for_status()
        assert ledger.balances() == {}

    def is_held(self, ledger: Ledger, opening: Record, ids: Record) -> None:
        with ledger.untouched():
            answer = ledger.business.api.post(f"{OPENINGS}{opening['id']}/reverse/")
        refusal = answer.json()
        assert (answer.status_code, refusal["error_code"]) == (409, "opening_balance_settled")
        assert refusal["detail"] == ids

    def test_a_refusal_names_at_most_twenty_items_of_a_kind(
        self, shop: Business, buyer: Record
    ) -> None:
        opening = opened(shop, invoices=[open_invoice(buyer, 10) for _ in range(21)])
        parts = [SALES.part(each, 1) for each in opening["invoices"]]
        paid(shop, buyer, 21, *parts)
        answer = shop.api.post(f"{OPENINGS}{opening['id']}/reverse/")
        assert len(answer.json()["detail"]["invoice_ids"]) == 20
