"""reverse_opening_balance: an opening is taken back with all that came with it."""

from collections.abc import Callable

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import DAY, OPENINGS, all_open, open_invoice, opened, reversed_
from tests.builders.purchases import bill_paid, vendor_credited
from tests.builders.sales import credited, paid, refunded, written_off
from tests.builders.trade import NOBODY, PURCHASES, SALES, Record
from tests.clock import today
from tests.partner import Business

PATHS = {
    "invoices": "invoices/",
    "bills": "bills/",
    "customer_credits": "customer-credits/",
    "vendor_credits": "vendor-credits/",
}


class TestReverseOpeningBalance:
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
        ledger.audit()

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
        found = shop.api.get("invoices/", params={"search": numbers[0]}).json()["results"]
        assert sorted(each["status"] for each in found) == ["sent", "voided"]
        assert ledger.balances()["3290"] == -4_900
        ledger.audit()

    def test_before_its_own_day_nothing_is_taken_back(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        reversed_(shop, opening, "2024-06-30")
        assert {entry.on for entry in ledger.entries()} == {DAY}

    @pytest.mark.parametrize("move", ["pay", "pay later", "credit", "write off"])
    def test_not_while_an_invoice_is_settled(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record, move: str
    ) -> None:
        invoice = opening["invoices"][0]
        moves: dict[str, Callable[[], Record]] = {
            "pay": lambda: paid(shop, buyer, 10, SALES.part(invoice, 10)),
            "pay later": lambda: paid(shop, buyer, 9, SALES.part(invoice, 9), status="pending"),
            "credit": lambda: credited(shop, buyer, 10, SALES.share(invoice, 10)),
            "write off": lambda: written_off(shop, invoice, amount_cents=10),
        }
        moves[move]()
        self.is_held(ledger, opening, {"invoice_ids": [invoice["id"]]})

    def test_not_while_a_credit_of_its_lines_is_open_used_or_not(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record
    ) -> None:
        invoice = opening["invoices"][0]
        [line] = shop.api.get(f"invoices/{invoice['id']}/").json()["line_items"]
        body = {
            "customer_id": buyer["id"],
            "source_invoice_id": invoice["id"],
            "line_items": [{"amount": 10, "source_line_id": line["id"]}],
            "sent_at": f"{DAY}T00:00:00Z",
        }
        credit = shop.made("customer-credits/", body)
        self.is_held(ledger, opening, {"invoice_ids": [invoice["id"]]})
        shop.api.post(f"customer-credits/{credit['id']}/void/").raise_for_status()
        reversed_(shop, opening)

    def test_not_while_a_bill_is_settled(
        self, shop: Business, ledger: Ledger, opening: Record, vendor: Record
    ) -> None:
        bill = opening["bills"][0]
        bill_paid(shop, vendor, 10, PURCHASES.part(bill, 10))
        self.is_held(ledger, opening, {"bill_ids": [bill["id"]]})

    def test_not_while_a_credit_is_applied(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        credit, invoice = opening["customer_credits"][0], opening["invoices"][0]
        body = {"allocations": [SALES.share(invoice, 10)]}
        shop.api.put(f"customer-credits/{credit['id']}/", json=body)
        told = {"invoice_ids": [invoice["id"]], "customer_credit_ids": [credit["id"]]}
        self.is_held(ledger, opening, told)

    def test_not_while_a_credit_is_paid_out(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        credit = opening["customer_credits"][0]
        shop.made("invoices/refunds/", {"credit_id": credit["id"], "amount_cents": 10})
        self.is_held(ledger, opening, {"customer_credit_ids": [credit["id"]]})

    def test_not_while_money_in_advance_is_used(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        money, outlay = opening["prepayments"]
        refunded(shop, money, amount_cents=5)
        bill = opening["bills"][0]
        body = {"allocations": [PURCHASES.part(bill, 10)]}
        shop.api.patch(f"bills/payments/{outlay['id']}/", json=body)
        told = {
            "payment_ids": [money["id"]],
            "bill_ids": [bill["id"]],
            "bill_payment_ids": [outlay["id"]],
        }
        self.is_held(ledger, opening, told)

    def test_an_opening_can_be_reversed_once_its_items_are_unsettled(
        self, shop: Business, ledger: Ledger, opening: Record, buyer: Record, vendor: Record
    ) -> None:
        invoice, credit = opening["invoices"][0], opening["customer_credits"][0]
        bill, outlay = opening["bills"][0], opening["prepayments"][1]
        after = written_off(shop, invoice, amount_cents=10)
        shop.api.delete(
            f"invoices/{invoice['id']}/write-offs/{after['write_offs'][0]['id']}/"
        ).raise_for_status()
        for body in ({"allocations": [SALES.share(invoice, 10)]}, {"allocations": []}):
            shop.api.put(f"customer-credits/{credit['id']}/", json=body).raise_for_status()
        for body in ({"allocations": [PURCHASES.part(bill, 10)]}, {"allocations": []}):
            shop.api.patch(f"bills/payments/{outlay['id']}/", json=body).raise_for_status()
        back = vendor_credited(shop, vendor, 10)
        reversed_(shop, opening)
        shop.api.post(f"vendor-credits/{back['id']}/void/").raise_for_status()
        assert ledger.balances() == {}
        ledger.audit()

    def is_held(self, ledger: Ledger, opening: Record, told: Record) -> None:
        with ledger.untouched():
            answer = ledger.business.api.post(f"{OPENINGS}{opening['id']}/reverse/")
        said = answer.json()
        assert (answer.status_code, said["error_code"]) == (409, "opening_balance_settled")
        assert said["detail"] == told

    def test_no_more_than_twenty_of_a_kind_are_told(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        opening = opened(shop, invoices=[open_invoice(buyer, 10) for _ in range(21)])
        parts = [SALES.part(each, 1) for each in opening["invoices"]]
        paid(shop, buyer, 21, *parts)
        answer = shop.api.post(f"{OPENINGS}{opening['id']}/reverse/")
        assert len(answer.json()["detail"]["invoice_ids"]) == 20

    def test_an_opening_is_reversed_once(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        reversed_(shop, opening)
        path = f"{OPENINGS}{opening['id']}/reverse/"
        assert ledger.refused("POST", path) == (409, "invalid_state_transition")

    def test_not_on_a_day_that_is_locked_and_without_one_on_the_first_that_is_open(
        self, shop: Business, ledger: Ledger, opening: Record
    ) -> None:
        path = f"{OPENINGS}{opening['id']}/reverse/"
        with ledger.locked(DAY):
            fault = ledger.refused("POST", path, json={"entry_date": DAY})
            assert fault == (409, "period_locked")
        with ledger.locked(str(today())):
            reversed_(shop, opening)
        assert ledger.balances() == {}
        assert max(entry.on for entry in ledger.entries()) > str(today())

    def test_a_preview_keeps_nothing(self, shop: Business, ledger: Ledger, opening: Record) -> None:
        path = f"{OPENINGS}{opening['id']}/reverse/"
        with ledger.untouched():
            answer = shop.api.post(path, params={"preview": "true"})
        assert (answer.status_code, answer.json()["status"]) == (200, "reversed")
        assert len(answer.json()["journal_entries"]) == 8

    def test_only_as_it_was_read(self, shop: Business, ledger: Ledger, opening: Record) -> None:
        path = f"{OPENINGS}{opening['id']}/reverse/"
        fault = ledger.refused("POST", path, headers={"If-Match": '"7"'})
        assert fault == (412, "precondition_failed")

    def test_a_reversal_of_an_unknown_opening_is_404(self, ledger: Ledger) -> None:
        fault = ledger.refused("POST", f"{OPENINGS}{NOBODY}/reverse/")
        assert fault == (404, "opening_balance_not_found")
