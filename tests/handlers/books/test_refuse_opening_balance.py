"""Refusals of create_opening_balance; nothing is stored."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.openings import (
    DAY,
    OPENINGS,
    all_open,
    moment,
    open_bill,
    open_customer_credit,
    open_invoice,
    open_vendor_credit,
    opened,
    prepaid,
    reversed_,
)
from tests.builders.sales import sent
from tests.builders.trade import NOBODY, Record
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business

Made = Callable[..., Record]
BALANCE = {"account": "1100", "debit_amount": 5}
ONE_SIDE = ("accounts.0.debit_amount", "exactly one of")
ONE_PARTY = ("prepayments.0.customer_id", "either a customer or a vendor must be named")
ALL: dict[str, tuple[str, Made]] = {
    "invoices": ("customer", open_invoice),
    "bills": ("vendor", open_bill),
    "customer_credits": ("customer", open_customer_credit),
    "vendor_credits": ("vendor", open_vendor_credit),
    "prepayments": ("customer", prepaid),
}
"""Each list of open items, with its type of party and the builder of an item."""


class TestCreateOpeningBalance(UnopenedBooks):
    def refusal(self, ledger: Ledger, **facts: Any) -> Record:
        with ledger.untouched():
            answer = ledger.business.api.post(OPENINGS, json={"date": DAY, **facts})
        refusal: Record = answer.json()
        return {"status": answer.status_code, **refusal}

    def fault(self, ledger: Ledger, **facts: Any) -> tuple[int, str]:
        return ledger.refused("POST", OPENINGS, json={"date": DAY, **facts})

    def test_balances_that_do_not_tie_are_reported_by_account(
        self, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        body = all_open(buyer, vendor)
        body["accounts"][1]["debit_amount"] = 1_600
        refusal = self.refusal(ledger, **body)
        assert (refusal["status"], refusal["error_code"]) == (422, "opening_does_not_tie")
        [first, *others] = refusal["detail"]["control_accounts"]
        assert {name: first[name] for name in first if name != "account_id"} == {
            "account_code": "1200",
            "stated_cents": 1_600,
            "documented_cents": 1_500,
            "difference_cents": 100,
        }
        assert {each["difference_cents"] for each in others} == {0}
        assert refusal["detail"]["difference_cents"] == 5_000

    @pytest.mark.parametrize(
        ("side", "code"),
        [
            *(("debit_amount", code) for code in ("1200", "1250", "1260", "1270")),
            *(("credit_amount", code) for code in ("2000", "2100", "2250", "2300")),
        ],
    )
    def test_a_control_account_that_no_documents_hold_does_not_tie(
        self, ledger: Ledger, side: str, code: str
    ) -> None:
        balances = [{"account": code, side: 1}]
        assert self.fault(ledger, accounts=balances) == (422, "opening_does_not_tie")

    def test_books_are_opened_once_on_a_day(self, shop: Business, ledger: Ledger) -> None:
        first = opened(shop, accounts=[BALANCE])
        refusal = self.refusal(ledger, accounts=[BALANCE])
        assert (refusal["status"], refusal["error_code"]) == (409, "duplicate_opening_balance")
        assert refusal["detail"] == {"id": first["id"]}
        opened(shop, date="2025-12-31", accounts=[BALANCE])
        reversed_(shop, first)
        opened(shop, accounts=[BALANCE])

    def test_a_duplicate_opening_is_refused_in_a_preview(
        self, shop: Business, ledger: Ledger
    ) -> None:
        opened(shop, accounts=[BALANCE])
        options: Record = {"params": {"preview": "true"}, "json": {"date": DAY}}
        fault = ledger.refused("POST", OPENINGS, **options)
        assert fault == (409, "duplicate_opening_balance")

    @pytest.mark.parametrize(
        ("listed", "dated"),
        [
            ("invoices", {"issue_date": "2025-01-01"}),
            ("invoices", {"sent_at": moment("2025-01-01")}),
            ("bills", {"bill_date": "2025-01-01"}),
            ("bills", {"received_at": moment("2025-01-01")}),
            ("customer_credits", {"sent_at": moment("2025-01-01")}),
            ("vendor_credits", {"received_at": moment("2025-01-01")}),
            ("prepayments", {"payment_date": "2025-01-01"}),
        ],
    )
    def test_an_item_dated_after_the_opening_is_refused(
        self, ledger: Ledger, buyer: Record, vendor: Record, listed: str, dated: Record
    ) -> None:
        whose, item = ALL[listed]
        party = buyer if whose == "customer" else vendor
        refusal = self.refusal(ledger, **{listed: [item(party, 1), item(party, 1, **dated)]})
        assert (refusal["status"], refusal["error_code"]) == (422, "dated_after_opening")
        days = {"date": "2025-01-01", "opening_date": DAY}
        assert refusal["detail"] == {"item": f"{listed}.1", **days}

    @pytest.mark.parametrize("listed", ALL)
    def test_an_item_of_an_unknown_party_or_without_a_rate_is_refused(
        self, shop: Business, ledger: Ledger, listed: str
    ) -> None:
        whose, item = ALL[listed]
        nobody = {"id": NOBODY}
        assert self.fault(ledger, **{listed: [item(nobody, 1)]}) == (422, "reference_not_found")
        party = shop.customer() if whose == "customer" else shop.vendor()
        for facts, code in (
            ({"currency": "SEK"}, "exchange_rate_missing"),
            ({f"{whose}_external_id": "somebody else"}, "reference_mismatch"),
        ):
            refusal = self.refusal(ledger, **{listed: [item(party, 1, **facts)]})
            assert refusal["error_code"] == code
            assert refusal["detail"]["item"] == f"{listed}.0"

    def test_an_item_of_an_archived_or_blocked_party_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        shop.api.post(f"customers/{buyer['id']}/archive/")
        shop.api.patch(f"vendors/{vendor['id']}/", json={"status": "BLOCKED"})
        refusal = self.refusal(ledger, invoices=[open_invoice(buyer, 1)])
        assert (refusal["status"], refusal["error_code"]) == (409, "customer_archived")
        assert refusal["detail"]["item"] == "invoices.0"
        assert self.fault(ledger, bills=[open_bill(vendor, 1)]) == (409, "vendor_not_active")

    def test_an_unknown_or_archived_account_is_refused(
        self, shop: Business, ledger: Ledger
    ) -> None:
        unknown = [{"account": "9999", "debit_amount": 1}]
        assert self.fault(ledger, accounts=unknown) == (422, "reference_not_found")
        shop.api.delete("general-ledger/chart-of-accounts/4600/")
        gone = [{"account": "4600", "debit_amount": 1}]
        assert self.fault(ledger, accounts=gone) == (409, "account_archived")

    @pytest.mark.parametrize(
        ("listed", "number"),
        [
            ("invoices", "invoice_number"),
            ("customer_credits", "credit_note_number"),
            ("vendor_credits", "vendor_credit_number"),
            ("bills", "bill_number"),
            ("bills", "vendor_bill_number"),
        ],
    )
    def test_two_items_with_one_number_are_refused(
        self, ledger: Ledger, buyer: Record, vendor: Record, listed: str, number: str
    ) -> None:
        whose, item = ALL[listed]
        party = buyer if whose == "customer" else vendor
        twins = [item(party, amount, **{number: "ONE"}) for amount in (1, 2)]
        code = "duplicate_bill_number" if listed == "bills" else f"duplicate_{number}"
        assert self.fault(ledger, **{listed: twins}) == (409, code)

    def test_a_number_that_is_taken_is_refused_with_its_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        other = sent(shop, buyer, 100, invoice_number="TAKEN")
        twin = open_invoice(buyer, 1, invoice_number="TAKEN")
        refusal = self.refusal(ledger, invoices=[twin])
        assert (refusal["status"], refusal["error_code"]) == (409, "duplicate_invoice_number")
        assert refusal["detail"] == {"id": other["id"]}

    @pytest.mark.parametrize("listed", ALL)
    def test_an_external_id_belongs_to_one_item(
        self, ledger: Ledger, buyer: Record, vendor: Record, listed: str
    ) -> None:
        whose, item = ALL[listed]
        party = buyer if whose == "customer" else vendor
        twins = [item(party, amount, external_id="one") for amount in (1, 2)]
        assert self.fault(ledger, **{listed: twins}) == (409, "duplicate_external_id")

    def test_items_larger_in_total_than_the_books_hold_are_refused(
        self, ledger: Ledger, buyer: Record
    ) -> None:
        items = [open_invoice(buyer, 99_999_999_999_999), open_invoice(buyer, 1)]
        assert self.fault(ledger, invoices=items) == (422, "amount_too_large")

    @pytest.mark.parametrize(
        ("facts", "field", "fault"),
        [
            ({"accounts": [{"account": "1100"}]}, *ONE_SIDE),
            ({"accounts": [{**BALANCE, "credit_amount": 5}]}, *ONE_SIDE),
            (
                {"prepayments": [{"payment_date": DAY, "unapplied_amount_cents": 1}]},
                *ONE_PARTY,
            ),
            ({"prepayments": [prepaid({"id": NOBODY}, 1, vendor_id=NOBODY)]}, *ONE_PARTY),
            (
                {"invoices": [{"invoice_number": "1", "issue_date": DAY}]},
                "invoices.0.customer_id",
                "customer_id or customer_external_id is required",
            ),
        ],
    )
    def test_a_malformed_opening_is_400(
        self, ledger: Ledger, facts: Record, field: str, fault: str
    ) -> None:
        refusal = self.refusal(ledger, **facts)
        assert refusal["status"] == 400
        [message] = refusal["detail"]["field_errors"][field]
        assert fault in message
