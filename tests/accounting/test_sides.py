"""The same machine with the other sign posts what a purchase needs, mirrored."""

from dataclasses import replace
from typing import Any

from accounting import crediting, drawing, postings, refunding, settling, writing_off
from accounting.chart import Role
from accounting.documents import Document
from accounting.postings import Subject
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
    credits=Role.VENDOR_CREDITS,
    credit_line_default=Role.PURCHASE_RETURNS,
    refunds=Role.VENDOR_REFUNDS_RECEIVABLE,
    refund_net=Role.PURCHASE_RETURNS,
    series="BILL",
    credit_series="VC",
    number_field="bill_number",
    credit_number_field="vendor_credit_number",
    credit_account_field="expense_account_identifier",
    opened_field="received_at",
    document_id_field="bill_id",
    write_off_source="bill_write_off",
)


def bill() -> Document:
    """A bill of 1000 and 200 of tax, received on the 5th."""
    body: dict[str, Any] = {
        "line_items": [line(1_000, tax_rate=20)],
        "received_at": moment("5"),
    }
    return drawing.draw_up(OTHER_SIDE, body, ACME, ACCOUNTS, Trade("5").occasion())


def posted(*subjects: Subject) -> list[dict[str, int]]:
    return [
        amounts(entry)
        for subject in subjects
        for entry in postings.entries_for(OTHER_SIDE, subject, ROLES, None)
    ]


def splits_agree(subject: Subject) -> bool:
    """Tell whether what each line settles has the sign of the line, and adds up to it."""
    entries = postings.entries_for(OTHER_SIDE, subject, ROLES, None)
    settling_lines = [each for entry in entries for each in entry.lines if each.settles]
    return bool(settling_lines) and all(
        sum(part for _, part in each.split) == each.amount for each in settling_lines
    )


class TestSign:
    def test_a_purchase_mirrors_a_sale_and_its_fee_does_not(self) -> None:
        received = bill()
        paid = {
            "total_amount_cents": 1_500,
            "payment_date": day("5"),
            "payment_method": "bank_transfer",
            "processing_fee_cents": 3,
            "allocations": [{"bill_id": received.id, "amount_cents": 1_200}],
        }
        occasion = Trade("5").occasion()
        payment = settling.receive(OTHER_SIDE, paid, ACME, {received.id: received}, occasion)
        assert posted(received, payment.payment) == [
            {"6000": 1_000, "1300": 200, "2000": -1_200},
            {"2000": 1_200, "1250": 300, "1100": -1_500},
            {"6300": 3, "1100": -3},
        ]
        assert splits_agree(payment.payment)

    def test_a_credit_from_the_other_side(self) -> None:
        received = bill()
        body = {
            "line_items": [{"amount": 500, "tax_amount_cents": 100}],
            "received_at": moment("5"),
            "allocations": [{"bill_id": received.id, "amount": 300}],
        }
        credited = crediting.draw_up(
            OTHER_SIDE, body, ACME, ACCOUNTS, {received.id: received}, Trade("5").occasion()
        )
        assert posted(credited.credit) == [
            {"1260": 600, "5100": -500, "1300": -100},
            {"2000": 300, "1260": -300},
        ]
        assert splits_agree(credited.credit)

    def test_what_is_not_claimed_any_more(self) -> None:
        received, occasion = bill(), Trade("5").occasion()
        _, given_up = writing_off.write_off(OTHER_SIDE, received, {}, ACCOUNTS, occasion)
        assert posted(given_up) == [{"2000": 1_200, "6200": -1_200}]
        assert splits_agree(given_up)

    def test_money_that_comes_back(self) -> None:
        received, occasion = replace(bill(), paid=1_200), Trade("5").occasion()
        body = {"completed_at": moment("5"), "refund_processing_fee_cents": 3}
        agreed = refunding.agree(OTHER_SIDE, body, received, ROLES, occasion)
        assert agreed.payment is not None
        assert posted(agreed.refund, agreed.payment) == [
            {"1270": 1_200, "5100": -1_000, "1300": -200},
            {"1100": 1_200, "1270": -1_200},
            {"6300": 3, "1100": -3},
        ]
        assert splits_agree(agreed.payment)
