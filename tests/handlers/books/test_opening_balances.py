"""create_opening_balance, get_opening_balance and list_opening_balances."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.journal_entries import ENTRIES
from tests.builders.openings import (
    BEFORE,
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
from tests.builders.trade import Record
from tests.handlers.books.unopened import UnopenedBooks
from tests.partner import Business


def shown(shop: Business, path: str, id_: str) -> Record:
    answer: Record = shop.api.get(f"{path}{id_}/").json()
    return answer


def names(account: Record) -> str:
    code: str = account["account"]["code"]
    return code


class TestCreateOpeningBalance(UnopenedBooks):
    def test_balances_and_open_items_are_in_the_books_on_the_opening_day(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        body = {"date": DAY, "memo": "old books", **all_open(buyer, vendor)}
        answer = shop.api.post(OPENINGS, json=body)
        opening = answer.json()
        assert answer.status_code == 201
        facts = {
            "business_id": shop.id,
            "date": DAY,
            "status": "open",
            "currency": "GBP",
            "memo": "old books",
            "ties": True,
            "total_debit": 6_570,
            "total_credit": 1_670,
            "difference_cents": 4_900,
            "opening_balance_equity_cents": 4_900,
            "receivables_cents": 1_500,
            "payables_cents": 500,
            "customer_credits_cents": 100,
            "vendor_credits_cents": 40,
            "customer_prepayments_cents": 70,
            "vendor_prepayments_cents": 30,
            "reversed_at": None,
        }
        assert {name: opening[name] for name in facts} == facts
        assert {entry.on for entry in ledger.entries()} == {DAY}
        assert ledger.balances() == {
            **{"1100": 5_000, "1200": 1_500, "1250": 30, "1260": 40, "2000": -500},
            **{"2100": -70, "2250": -100, "3000": -1_000, "3290": -4_900},
        }

    def test_an_opening_shows_stated_balances_and_ties(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        opening = opened(shop, **all_open(buyer, vendor))
        stated = [(names(a), a["debit_amount"], a["credit_amount"]) for a in opening["accounts"]]
        assert stated[:2] == [("1100", 5_000, 0), ("1200", 1_500, 0)]
        assert stated[6:] == [("2250", 0, 100), ("3000", 0, 1_000)]
        ties = [(names(a), a["stated_cents"]) for a in opening["control_accounts"]]
        assert ties == [
            *[("1200", 1_500), ("1250", 30), ("1260", 40)],
            *[("2000", 500), ("2100", 70), ("2250", 100)],
        ]
        assert all(
            (a["documented_cents"], a["difference_cents"]) == (a["stated_cents"], 0)
            for a in opening["control_accounts"]
        )

    def test_its_own_entry_has_the_balances_that_no_documents_account_for(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        opening = opened(shop, **all_open(buyer, vendor))
        [entry] = ledger.entries(opening)
        assert (entry.source_type, entry.description) == ("opening_balance", "Opening balances")
        assert entry.amounts == {"1100": 5_000, "3000": -1_000, "3290": -4_000}
        shown = shop.api.get(f"{ENTRIES}{entry.id}/").json()
        assert (shown["source_id"], shown["created_by"]) == (opening["id"], "system")

    def test_each_open_item_names_its_currency(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        foreign = {"currency": "USD", "exchange_rate": 0.9}
        opening = opened(
            shop,
            invoices=[open_invoice(buyer, 1_000, **foreign), open_invoice(buyer, 1_000)],
            bills=[open_bill(vendor, 1_000, **foreign)],
            customer_credits=[open_customer_credit(buyer, 1_000, **foreign)],
            vendor_credits=[open_vendor_credit(vendor, 1_000, **foreign)],
            prepayments=[prepaid(buyer, 1_000, **foreign), prepaid(vendor, 1_000, "vendor")],
        )
        mixed = ["USD", "GBP"]
        currencies = {
            **{"invoices": mixed, "prepayments": mixed, "bills": ["USD"]},
            **{"customer_credits": ["USD"], "vendor_credits": ["USD"]},
        }
        shown = {kind: [each["currency"] for each in opening[kind]] for kind in currencies}
        assert shown == currencies
        owed = ("currency", "receivables_cents", "payables_cents")
        assert [opening[name] for name in owed] == ["GBP", 1_900, 900]

    def test_documents_come_with_their_numbers_and_their_own_days(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        sold = {
            "invoice_number": "2024-0417",
            "sent_at": "2024-11-04T10:00:00Z",
            "due_at": "2024-12-04T00:00:00Z",
            "external_id": "inv",
            "memo": "Thanks",
        }
        bought = {
            "bill_number": "B-7",
            "vendor_bill_number": "V-7",
            "received_at": "2024-11-05T08:00:00Z",
            "external_id": "bill",
            "memo": "Beans",
        }
        opening = opened(
            shop,
            invoices=[open_invoice(buyer, 1_200, **sold, currency="GBP")],
            bills=[open_bill(vendor, 500, **bought)],
        )
        [item], [also] = opening["invoices"], opening["bills"]
        assert item == {
            "id": item["id"],
            "invoice_number": "2024-0417",
            "external_id": "inv",
            "customer_id": buyer["id"],
            "currency": "GBP",
            "outstanding_amount_cents": 1_200,
            "tax": [],
        }
        record = shown(shop, "invoices/", item["id"])
        facts = {
            "status": "overdue",
            "issue_date": BEFORE,
            "total_amount": 1_200,
            "outstanding_balance": 1_200,
            "tax_total": 0,
            "opening_balance_id": opening["id"],
            **sold,
        }
        assert {name: record[name] for name in facts} == facts
        assert record["imported_at"] == record["created_at"]
        assert ledger.postings(item) == [(DAY, {"1200": 1_200, "3290": -1_200})]
        record = shown(shop, "bills/", also["id"])
        facts = {
            "bill_date": BEFORE,
            "outstanding_balance": 500,
            "opening_balance_id": opening["id"],
            **bought,
        }
        assert {name: record[name] for name in facts} == facts
        assert ledger.postings(also) == [(DAY, {"3290": 500, "2000": -500})]

    def test_without_its_moment_a_document_is_sent_at_the_start_of_its_day(
        self, shop: Business
    ) -> None:
        slow, late = shop.customer(payment_terms_days=30), shop.vendor(payment_terms_days=10)
        opening = opened(shop, invoices=[open_invoice(slow, 1)], bills=[open_bill(late, 1)])
        invoice = shown(shop, "invoices/", opening["invoices"][0]["id"])
        bill = shown(shop, "bills/", opening["bills"][0]["id"])
        assert (invoice["sent_at"], bill["received_at"]) == (moment(BEFORE), moment(BEFORE))
        assert (invoice["due_at"], bill["due_at"]) == (moment("2024-12-03"), moment("2024-11-13"))

    def test_credits_and_prepayments_can_be_used(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        opening = opened(
            shop,
            customer_credits=[open_customer_credit(buyer, 100, credit_note_number="C-1")],
            vendor_credits=[open_vendor_credit(vendor, 40, external_id="back")],
            prepayments=[
                prepaid(vendor, 30, "vendor", payment_method="check", memo="deposit"),
                prepaid(buyer, 70, external_id="paid", payment_reference="TX 9"),
            ],
        )
        [credit], [back] = opening["customer_credits"], opening["vendor_credits"]
        money, outlay = opening["prepayments"]
        record = shown(shop, "customer-credits/", credit["id"])
        assert (record["status"], record["unapplied_amount"]) == ("sent", 100)
        assert (record["credit_note_number"], record["sent_at"]) == ("C-1", moment(BEFORE))
        record = shown(shop, "vendor-credits/", back["id"])
        assert (record["status"], record["vendor_credit_number"]) == ("received", "VC-000001")
        record = shown(shop, "invoices/payments/", money["id"])
        facts = {
            "status": "completed",
            "remaining_amount_cents": 70,
            "payment_date": BEFORE,
            "payment_method": "bank_transfer",
            "payment_reference": "TX 9",
            "external_id": "paid",
            "opening_balance_id": opening["id"],
        }
        assert {name: record[name] for name in facts} == facts
        record = shown(shop, "bills/payments/", outlay["id"])
        facts = {"unallocated_amount_cents": 30, "payment_method": "check", "memo": "deposit"}
        assert {name: record[name] for name in facts} == facts
        assert (money["customer_id"], money["vendor_id"]) == (buyer["id"], None)
        assert (outlay["customer_id"], outlay["vendor_id"]) == (None, vendor["id"])
        assert [ledger.postings(each) for each in (credit, back, money, outlay)] == [
            [(DAY, {"3290": 100, "2250": -100})],
            [(DAY, {"1260": 40, "3290": -40})],
            [(DAY, {"3290": 70, "2100": -70})],
            [(DAY, {"1250": 30, "3290": -30})],
        ]

    def test_unknown_parties_are_created_once(self, shop: Business) -> None:
        invoices = [open_invoice({"id": None}, n, customer_external_id="new") for n in (1, 2)]
        bills = [open_bill({"id": None}, 3, vendor_external_id="fresh")]
        for each in (*invoices, *bills):
            each.pop("customer_id", None)
            each.pop("vendor_id", None)
        opening = opened(shop, invoices=invoices, bills=bills)
        [customer] = shop.api.get("customers/", params={"external_id": "new"}).json()["results"]
        assert customer["company_name"] == "new"
        assert {each["customer_id"] for each in opening["invoices"]} == {customer["id"]}
        [vendor] = shop.api.get("vendors/", params={"external_id": "fresh"}).json()["results"]
        assert [each["vendor_id"] for each in opening["bills"]] == [vendor["id"]]

    def test_numbers_move_their_series_and_what_has_none_takes_the_next(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        bills = [
            open_bill(vendor, 1),
            open_bill(vendor, 2, bill_number="BILL-000041"),
            open_bill(vendor, 3),
        ]
        invoices = [open_invoice(buyer, 1, invoice_number="INV-000007")]
        opening = opened(shop, invoices=invoices, bills=bills)
        numbers = [each["bill_number"] for each in opening["bills"]]
        assert numbers == ["BILL-000042", "BILL-000041", "BILL-000043"]
        assert sent(shop, buyer)["invoice_number"] == "INV-000008"

    def test_balances_of_one_account_are_added_up_and_accounts_named_in_any_way(
        self, shop: Business, ledger: Ledger
    ) -> None:
        path = "general-ledger/chart-of-accounts/"
        bank = shop.api.get(f"{path}1100/").json()
        shop.api.patch(f"{path}1500/", json={"external_id": "stock"})
        balances = [
            {"account": bank["id"], "debit_amount": 70},
            {"account": "1100", "credit_amount": 20},
            {"account": "stock", "debit_amount": 5, "credit_amount": 0},
        ]
        opening = opened(shop, accounts=balances)
        assert [(names(a), a["debit_amount"]) for a in opening["accounts"]] == [
            ("1100", 50),
            ("1500", 5),
        ]
        assert ledger.balances() == {"1100": 50, "1500": 5, "3290": -55}

    def test_a_trial_balance_that_names_3290_leaves_no_difference(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        balances = [
            {"account": "1100", "debit_amount": 100},
            {"account": "1200", "debit_amount": 20},
            {"account": "3290", "credit_amount": 120},
        ]
        opening = opened(shop, accounts=balances, invoices=[open_invoice(buyer, 20)])
        assert (opening["difference_cents"], opening["opening_balance_equity_cents"]) == (0, 120)
        assert ledger.balances() == {"1100": 100, "1200": 20, "3290": -120}

    def test_a_balance_without_any_documents_and_documents_without_balances_will_do(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        opened(shop, date="2023-12-31", accounts=[{"account": "1100", "debit_amount": 9}])
        opening = opened(shop, invoices=[open_invoice(buyer, 4)])
        assert ledger.entries(opening) == []
        assert opening["control_accounts"][0]["stated_cents"] is None
        assert ledger.balances() == {"1100": 9, "1200": 4, "3290": -13}

    def test_a_preview_shows_what_does_not_tie(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        balances = [
            {"account": "1200", "debit_amount": 130},
            {"account": "2000", "credit_amount": 50},
        ]
        body = {"date": DAY, "accounts": balances, "invoices": [open_invoice(buyer, 100)]}
        with ledger.untouched():
            answer = shop.api.post(OPENINGS, params={"preview": "true"}, json=body)
        opening = answer.json()
        assert (answer.status_code, opening["ties"]) == (200, False)
        amounts = ("stated_cents", "documented_cents", "difference_cents")
        assert {
            names(each): tuple(each[name] for name in amounts)
            for each in opening["control_accounts"]
        } == {"1200": (130, 100, 30), "2000": (50, 0, 50)}
        assert (opening["total_debit"], opening["total_credit"]) == (130, 50)
        assert opening["difference_cents"] == 80
        assert [entry["source_type"] for entry in opening["journal_entries"]] == ["invoice"]


class TestGetOpeningBalance(UnopenedBooks):
    def test_an_opening_is_read_as_it_was_created(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        opening = opened(shop, **all_open(buyer, vendor))
        answer = shop.api.get(f"{OPENINGS}{opening['id']}/")
        assert (answer.status_code, answer.json()) == (200, opening)


class TestListOpeningBalances(UnopenedBooks):
    @pytest.fixture(autouse=True)
    def made(self, shop: Business) -> list[Record]:
        balances: list[dict[str, Any]] = [{"account": "1100", "debit_amount": 9}]
        days = ("2023-12-31", "2021-12-31", "2022-12-31")
        made = [opened(shop, date=day, accounts=balances) for day in days]
        return [*made[:2], reversed_(shop, made[2])]

    @pytest.mark.parametrize(
        ("query", "years"),
        [
            ({}, [2023, 2022, 2021]),
            ({"sort": "date"}, [2021, 2022, 2023]),
            ({"sort": "created_at"}, [2023, 2021, 2022]),
            ({"sort": "-created_at"}, [2022, 2021, 2023]),
            ({"date_from": "2022-12-31"}, [2023, 2022]),
            ({"date_to": "2022-12-31"}, [2022, 2021]),
        ],
    )
    def test_openings_are_filtered_and_sorted(
        self, shop: Business, query: Record, years: list[int]
    ) -> None:
        listed = shop.api.get(OPENINGS, params=query).json()["results"]
        assert [int(each["date"][:4]) for each in listed] == years

    def test_a_listed_opening_has_no_items(self, shop: Business, made: list[Record]) -> None:
        listed = shop.api.get(OPENINGS).json()["results"]
        by_id = {each["id"]: each for each in listed}
        for each in made:
            shown = by_id[each["id"]]
            assert shown == {name: each[name] for name in shown}
            assert "invoices" not in shown
        assert [each["status"] for each in listed] == ["open", "reversed", "open"]
