"""Books that begin in the middle: what is open on the first day comes as documents on 3290."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.partner import Business

DAY = "2025-12-31"
AT = f"{DAY}T12:00:00Z"
ENTRIES = "general-ledger/journal-entries/"


@pytest.fixture(scope="module")
def shop(api_server: ApiServer) -> Business:
    return api_server.partner("Moves in").business()


def opening(amount: int) -> dict[str, Any]:
    """A line that stands for what is open of an older document, its tax included."""
    account = {"type": "AccountCode", "code": "3290"}
    return {"quantity": 1, "unit_price": amount, "account_identifier": account}


class TestOpeningBooks:
    def test_what_was_open_is_settled_like_any_other_and_the_rest_is_equity(
        self, shop: Business, api_server: ApiServer
    ) -> None:
        customer, vendor = shop.customer(), shop.vendor()
        invoice = shop.made(
            "invoices/",
            {
                "customer_id": customer["id"],
                "invoice_number": "2025-0417",
                "sent_at": AT,
                "line_items": [opening(12_000)],
            },
        )
        shop.made(
            "bills/",
            {
                "vendor_id": vendor["id"],
                "bill_date": DAY,
                "received_at": AT,
                "line_items": [opening(5_000)],
            },
        )
        lines = [
            {"account": "1100", "debit_amount": 80_000},
            {"account": "1500", "debit_amount": 20_000},
            {"account": "3000", "credit_amount": 1_000},
            {"account": "3290", "credit_amount": 99_000},
        ]
        shop.made(ENTRIES, {"entry_date": DAY, "lines": lines, "post": True})
        assert [shop.balance(code) for code in ("1200", "2000", "1100")] == [12_000, 5_000, 80_000]
        assert shop.balance("3290") == 99_000 + 12_000 - 5_000

        shop.made(
            "invoices/payments/",
            {
                "customer_id": customer["id"],
                "total_amount_cents": 12_000,
                "currency": "GBP",
                "payment_date": "2026-01-09",
                "payment_method": "bank_transfer",
                "allocations": [{"invoice_id": invoice["id"], "amount_cents": 12_000}],
            },
        )
        assert shop.balance("1200") == 0
        assert [shop.balance(code) for code in ("4000", "2200")] == [0, 0]
        Ledger(api_server, shop).audit()
        assert api_server.prover.faults_of(shop.id) == []
