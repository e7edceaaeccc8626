"""Books that begin with the balances and open documents of the last day of earlier books."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import PURCHASES, SALES, Trade
from tests.partner import Business

DAY = "2025-12-31"
OPENINGS = "opening-balances/"
ENTRIES = "general-ledger/journal-entries/"


@pytest.fixture
def shop(api_server: ApiServer) -> Business:
    return api_server.partner("Moves in").business()


@pytest.fixture
def books(shop: Business) -> dict[str, Any]:
    """The earlier books: two customers and a vendor, by external ids."""
    return {
        "date": DAY,
        "accounts": [
            {"account": "1100", "debit_amount": 80_000},
            {"account": "1200", "debit_amount": 17_000},
            {"account": "1250", "debit_amount": 4_000},
            {"account": "1500", "debit_amount": 20_000},
            {"account": "2000", "credit_amount": 9_000},
            {"account": "2100", "credit_amount": 3_000},
            {"account": "2250", "credit_amount": 1_000},
            {"account": "3000", "credit_amount": 1_000},
            {"account": "3300", "credit_amount": 107_000},
        ],
        "invoices": [
            {
                "customer_external_id": "blue",
                "invoice_number": "2025-0417",
                "issue_date": "2025-11-03",
                "due_at": "2025-12-03T00:00:00Z",
                "outstanding_amount_cents": 12_000,
            },
            {
                "customer_external_id": "museum",
                "invoice_number": "2025-0431",
                "issue_date": "2025-12-20",
                "outstanding_amount_cents": 5_000,
            },
        ],
        "bills": [
            {
                "vendor_external_id": "beans",
                "vendor_bill_number": "GB-19",
                "bill_date": "2025-12-12",
                "outstanding_amount_cents": 9_000,
            }
        ],
        "customer_credits": [
            {
                "customer_external_id": "museum",
                "credit_note_number": "2025-CN-2",
                "sent_at": "2025-12-22T00:00:00Z",
                "unapplied_amount_cents": 1_000,
            }
        ],
        "prepayments": [
            {
                "customer_external_id": "blue",
                "payment_date": "2025-12-29",
                "unapplied_amount_cents": 3_000,
            },
            {
                "vendor_external_id": "beans",
                "payment_date": "2025-12-30",
                "unapplied_amount_cents": 4_000,
            },
        ],
    }


def holds(shop: Business, *codes: str) -> list[int]:
    return [shop.balance(code) for code in codes]


def green(shop: Business) -> bool:
    answer = shop.api.get("integrity/").json()
    return bool(answer["status"] == "green")


def pay(shop: Business, trade: Trade, document: dict[str, Any], amount: int) -> None:
    """Pay an amount of a document on 9 January 2026."""
    party = {"id": document[f"{trade.party}_id"]}
    trade.pay(shop, party, amount, trade.part(document, amount), payment_date="2026-01-09")


class TestOpeningBooks:
    def test_a_preview_tells_which_invoice_was_forgotten(
        self, shop: Business, books: dict[str, Any]
    ) -> None:
        forgotten = {**books, "invoices": books["invoices"][:1]}
        preview = shop.api.post(OPENINGS, params={"preview": "true"}, json=forgotten).json()
        [off] = [each for each in preview["control_accounts"] if each["difference_cents"]]
        assert (off["account"]["code"], off["difference_cents"]) == ("1200", 5_000)
        answer = shop.api.post(OPENINGS, json=forgotten)
        assert answer.json()["error_code"] == "opening_does_not_tie"

    def test_what_was_open_is_settled_like_any_other_and_the_rest_is_equity(
        self, shop: Business, api_server: ApiServer, books: dict[str, Any]
    ) -> None:
        opening = shop.made(OPENINGS, books)
        assert (opening["ties"], opening["difference_cents"]) == (True, 0)
        assert holds(shop, "1200", "2000", "2100", "2250", "1250") == [
            *[17_000, 9_000, 3_000, 1_000],
            4_000,
        ]
        assert holds(shop, "1100", "1500", "3290") == [80_000, 20_000, 0]
        overdue = shop.api.get("invoices/", params={"status": "overdue"}).json()["results"]
        assert "2025-0417" in [each["invoice_number"] for each in overdue]

        first, second, bill = self.settle(shop, opening)
        statuses = [
            shop.api.get(f"{path}/{each['id']}/").json()["status"]
            for path, each in (("invoices", first), ("invoices", second), ("bills", bill))
        ]
        assert statuses == ["paid", "paid", "paid"]
        assert holds(shop, "1200", "2000", "2100", "2250", "1250") == [0] * 5
        assert holds(shop, "1100", "4000", "2200", "3290") == [80_000 + 13_000 - 5_000, 0, 0, 0]
        Ledger(api_server, shop).audit()
        assert api_server.prover.faults_of(shop.id) == []
        assert green(shop)

        # An opening with a settled item cannot be reversed.
        answer = shop.api.post(f"{OPENINGS}{opening['id']}/reverse/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "opening_balance_settled")

    def test_an_opening_is_taken_back_and_entered_anew(
        self, shop: Business, api_server: ApiServer, books: dict[str, Any]
    ) -> None:
        first = shop.made(OPENINGS, books)
        taken_back = shop.api.post(
            f"{OPENINGS}{first['id']}/reverse/", json={"entry_date": DAY}
        ).json()
        assert (taken_back["status"], taken_back["date"]) == ("reversed", DAY)
        codes = ("1100", "1200", "1250", "1500", "2000", "2100", "2250", "3000", "3290")
        assert holds(shop, *codes) == [0] * len(codes)

        books["invoices"][1]["outstanding_amount_cents"] = 6_000
        books["accounts"][1]["debit_amount"] = 18_000
        second = shop.made(OPENINGS, books)
        assert (second["difference_cents"], shop.balance("3290")) == (1_000, 1_000)
        assert shop.balance("1200") == 18_000
        listed = shop.api.get(OPENINGS).json()["results"]
        assert sorted(each["status"] for each in listed) == ["open", "reversed"]
        entries = shop.api.get(ENTRIES, params={"date_to": DAY, "page_size": 100}).json()
        assert entries["count"] == 7 + 7 + 7
        Ledger(api_server, shop).audit()
        assert green(shop)

    def settle(self, shop: Business, opening: dict[str, Any]) -> list[dict[str, Any]]:
        """Settle all documents by prepayments, a credit and payments; return the documents."""
        first, second = opening["invoices"]
        [bill], [credit] = opening["bills"], opening["customer_credits"]
        came, went = opening["prepayments"]
        SALES.change(shop, came, allocations=[SALES.part(first, 3_000)])
        pay(shop, SALES, first, 9_000)
        used = {"allocations": [SALES.share(second, 1_000)]}
        assert shop.api.put(SALES.of_credit(credit), json=used).status_code == 200
        pay(shop, SALES, second, 4_000)
        PURCHASES.change(shop, went, allocations=[PURCHASES.part(bill, 4_000)])
        for amount in (2_000, 3_000):
            pay(shop, PURCHASES, bill, amount)
        return [first, second, bill]
