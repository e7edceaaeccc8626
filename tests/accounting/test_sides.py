"""The same machine with the other sign posts what a purchase needs, mirrored."""

from dataclasses import replace
from typing import Any

from accounting import drawing, postings, settling
from accounting.chart import Role
from accounting.sides import RECEIVABLE
from tests.accounting.trade import ACCOUNTS, ACME, ROLES, Trade, amounts, day, line, moment

OTHER_SIDE = replace(
    RECEIVABLE,
    sign=-1,
    control=Role.ACCOUNTS_PAYABLE,
    prepayments=Role.VENDOR_PREPAYMENTS,
    line_default=Role.GENERAL_EXPENSES,
    tax=Role.INPUT_TAX,
    fee=Role.BANK_CHARGES,
    series="BILL",
    number_field="bill_number",
    opened_field="received_at",
    document_id_field="bill_id",
)


class TestSign:
    def test_a_purchase_mirrors_a_sale_and_its_fee_does_not(self) -> None:
        occasion = Trade("5").occasion()
        body: dict[str, Any] = {
            "line_items": [line(1_000, tax_rate=20)],
            "received_at": moment("5"),
        }
        bill = drawing.draw_up(OTHER_SIDE, body, ACME, ACCOUNTS, occasion)
        paid = {
            "total_amount_cents": 1_500,
            "payment_date": day("5"),
            "payment_method": "bank_transfer",
            "processing_fee_cents": 3,
            "allocations": [{"bill_id": bill.id, "amount_cents": 1_200}],
        }
        payment = settling.receive(OTHER_SIDE, paid, ACME, {bill.id: bill}, occasion).payment
        posted = [
            amounts(entry)
            for subject in (bill, payment)
            for entry in postings.entries_for(OTHER_SIDE, subject, ROLES, None)
        ]
        assert posted == [
            {"6000": 1_000, "1300": 200, "2000": -1_200},
            {"2000": 1_200, "1250": 300, "1100": -1_500},
            {"6300": 3, "1100": -3},
        ]
