"""create_opening_balance: what is refused, and leaves nothing behind."""

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
from tests.partner import Business

Made = Callable[..., Record]
BALANCE = {"account": "1100", "debit_amount": 5}
ALL = {
    "invoices": ("customer", open_invoice),
    "bills": ("vendor", open_bill),
    "customer_credits": ("customer", open_customer_credit),
    "vendor_credits": ("vendor", open_vendor_credit),
    "prepayments": ("customer", prepaid),
}
"""Each list of things that are open, whose they are, and how one is said."""


class TestCreateOpeningBalance:
    def refused(self, ledger: Ledger, **facts: Any) -> Record:
        with ledger.untouched():
            answer = ledger.business.api.post(OPENINGS, json={"date": DAY, **facts})
        said: Record = answer.json()
        return {"status": answer.status_code, **said}

    def fault(self, ledger: Ledger, **facts: Any) -> tuple[int, str]:
        said = self.refused(ledger, **facts)
        return said["status"], said["error_code"]

    def test_balances_that_do_not_tie_are_reported_by_account(
        self, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        body = all_open(buyer, vendor)
        body["accounts"][1]["debit_amount"] = 1_600
        said = self.refused(ledger, **body)
        assert (said["status"], said["error_code"]) == (422, "opening_does_not_tie")
        [first, *others] = said["detail"]["control_accounts"]
        assert {name: first[name] for name in first if name != "account_id"} == {
            "account_code": "1200",
            "stated_cents": 1_600,
            "documented_cents": 1_500,
            "difference_cents": 100,
        }
        assert {each["difference_cents"] for each in others} == {0}
        assert said["detail"]["difference_cents"] == 5_000

    @pytest.mark.parametrize("code", ["1200", "1250", "1260", "1270"])
    def test_a_control_account_that_no_documents_hold_does_not_tie(
        self, ledger: Ledger, code: str
    ) -> None:
        balances = [{"account": code, "debit_amount": 1}]
        assert self.fault(ledger, accounts=balances) == (422, "opening_does_not_tie")

    @pytest.mark.parametrize("code", ["2000", "2100", "2250", "2300"])
    def test_a_control_balance_on_the_other_side_is_refused(
        self, ledger: Ledger, code: str
    ) -> None:
        balances = [{"account": code, "credit_amount": 1}]
        assert self.fault(ledger, accounts=balances) == (422, "opening_does_not_tie")

    def test_books_are_opened_once_on_a_day(self, shop: Business, ledger: Ledger) -> None:
        first = opened(shop, accounts=[BALANCE])
        said = self.refused(ledger, accounts=[BALANCE])
        assert (said["status"], said["error_code"]) == (409, "duplicate_opening_balance")
        assert said["detail"] == {"id": first["id"]}
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

    def test_nothing_is_opened_within_a_locked_period(self, ledger: Ledger) -> None:
        with ledger.locked(DAY):
            assert self.fault(ledger, accounts=[BALANCE]) == (409, "period_locked")

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
        whose, say = ALL[listed]
        party = buyer if whose == "customer" else vendor
        said = self.refused(ledger, **{listed: [say(party, 1), say(party, 1, **dated)]})
        assert (said["status"], said["error_code"]) == (422, "dated_after_opening")
        told = {"item": f"{listed}.1", "date": "2025-01-01", "opening_date": DAY}
        assert said["detail"] == told

    @pytest.mark.parametrize("listed", ALL)
    def test_each_is_of_a_party_that_there_is_and_in_the_currency_of_the_books(
        self, shop: Business, ledger: Ledger, listed: str
    ) -> None:
        whose, say = ALL[listed]
        nobody = {"id": NOBODY}
        assert self.fault(ledger, **{listed: [say(nobody, 1)]}) == (422, "reference_not_found")
        party = shop.customer() if whose == "customer" else shop.vendor()
        said = self.refused(ledger, **{listed: [say(party, 1, currency="SEK")]})
        assert (said["error_code"], said["detail"]["item"]) == ("currency_mismatch", f"{listed}.0")
        both = say(party, 1, **{f"{whose}_external_id": "somebody else"})
        said = self.refused(ledger, **{listed: [both]})
        assert (said["error_code"], said["detail"]["item"]) == ("reference_mismatch", f"{listed}.0")

    def test_a_party_that_is_out_of_use_takes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        shop.api.post(f"customers/{buyer['id']}/archive/")
        shop.api.patch(f"vendors/{vendor['id']}/", json={"status": "BLOCKED"})
        said = self.refused(ledger, invoices=[open_invoice(buyer, 1)])
        assert (said["status"], said["error_code"]) == (409, "customer_archived")
        assert said["detail"]["item"] == "invoices.0"
        assert self.fault(ledger, bills=[open_bill(vendor, 1)]) == (409, "vendor_not_active")

    def test_accounts_are_such_as_there_are_and_in_use(
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
    def test_no_two_have_one_number(
        self, ledger: Ledger, buyer: Record, vendor: Record, listed: str, number: str
    ) -> None:
        whose, say = ALL[listed]
        party = buyer if whose == "customer" else vendor
        twins = [say(party, amount, **{number: "ONE"}) for amount in (1, 2)]
        code = "duplicate_bill_number" if listed == "bills" else f"duplicate_{number}"
        assert self.fault(ledger, **{listed: twins}) == (409, code)

    def test_a_number_that_is_taken_is_refused_with_who_has_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        other = sent(shop, buyer, 100, invoice_number="TAKEN")
        twin = open_invoice(buyer, 1, invoice_number="TAKEN")
        said = self.refused(ledger, invoices=[twin])
        assert (said["status"], said["error_code"]) == (409, "duplicate_invoice_number")
        assert said["detail"] == {"id": other["id"]}

    @pytest.mark.parametrize("listed", ALL)
    def test_an_external_id_is_of_one_thing(
        self, ledger: Ledger, buyer: Record, vendor: Record, listed: str
    ) -> None:
        whose, say = ALL[listed]
        party = buyer if whose == "customer" else vendor
        twins = [say(party, amount, external_id="one") for amount in (1, 2)]
        assert self.fault(ledger, **{listed: twins}) == (409, "duplicate_external_id")

    def test_amounts_together_are_not_beyond_what_books_hold(
        self, ledger: Ledger, buyer: Record
    ) -> None:
        most = 99_999_999_999_999
        much = [open_invoice(buyer, most), open_invoice(buyer, 1)]
        assert self.fault(ledger, invoices=much) == (422, "amount_too_large")
        balances = [{"account": code, "debit_amount": most} for code in ("1000", "1100")]
        assert self.fault(ledger, accounts=balances) == (422, "amount_too_large")

    @pytest.mark.parametrize(
        ("facts", "field", "fault"),
        [
            ({"accounts": [{"account": "1100"}]}, "accounts.0.debit_amount", "exactly one of"),
            (
                {"accounts": [{**BALANCE, "credit_amount": 5}]},
                "accounts.0.debit_amount",
                "exactly one of",
            ),
            ({"accounts": [BALANCE] * 501}, "accounts", "at most 500"),
            ({"date": "31.12.2024"}, "date", "must be a date"),
            (
                {"prepayments": [{"payment_date": DAY, "unapplied_amount_cents": 1}]},
                "prepayments.0.customer_id",
                "either a customer or a vendor must be named",
            ),
            (
                {"prepayments": [prepaid({"id": NOBODY}, 1, vendor_id=NOBODY)]},
                "prepayments.0.customer_id",
                "either a customer or a vendor must be named",
            ),
            (
                {"invoices": [{"invoice_number": "1", "issue_date": DAY}]},
                "invoices.0.customer_id",
                "customer_id or customer_external_id is required",
            ),
            (
                {"bills": [open_bill({"id": NOBODY}, 0)]},
                "bills.0.outstanding_amount_cents",
                "must be at least 1",
            ),
        ],
    )
    def test_a_malformed_opening_is_400(
        self, ledger: Ledger, facts: Record, field: str, fault: str
    ) -> None:
        said = self.refused(ledger, **facts)
        assert said["status"] == 400
        [told] = said["detail"]["field_errors"][field]
        assert fault in told

    def test_an_archived_business_is_not_opened(self, shop: Business, ledger: Ledger) -> None:
        path = f"/v1/platform/businesses/{shop.id}/archive/"
        shop.partner.api.post(path)
        answer = shop.partner.api.post(f"{shop.base_url}/{OPENINGS}", json={"date": DAY})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "business_archived")
