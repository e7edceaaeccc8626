"""What came with the opening of the books is not changed by itself."""

from dataclasses import replace

import pytest

from accounting.bank.bank_links import link
from accounting.bank.commands import LinkTransaction
from accounting.opening.commands import OpenWithSide
from accounting.trade import credit_changes, document_changes, payment_changes
from accounting.trade.commands import ChangePayment
from accounting.trade.payments import Payment
from accounting.trade.sides import RECEIVABLE
from tests.accounting.bank.statements import line
from tests.accounting.opening.samples import TODAY, credited, opened, owed, prepaid
from tests.accounting.samples import context_of, day, refused

CONTEXT = context_of(TODAY)


@pytest.fixture
def money() -> Payment:
    [money] = opened(sales=OpenWithSide(prepayments=(prepaid(70),))).sales.payments
    return money


def test_a_document_is_neither_replaced_nor_voided() -> None:
    [invoice] = opened(sales=OpenWithSide(documents=(owed(120),))).sales.documents
    for step in (
        lambda: document_changes.refuse_replacing(RECEIVABLE, invoice, CONTEXT),
        lambda: document_changes.void(RECEIVABLE, invoice, None, CONTEXT),
    ):
        fault = refused(step)
        assert fault.code == "in_opening_balance"
        assert fault.detail == {"opening_balance_id": str(invoice.opening_id)}


def test_a_credit_is_not_voided() -> None:
    [credit] = opened(sales=OpenWithSide(credits=(credited(20),))).sales.credits
    fault = refused(credit_changes.void, RECEIVABLE, credit, None, {}, CONTEXT)
    assert fault.code == "in_opening_balance"


@pytest.mark.parametrize(
    "change",
    [
        ChangePayment(total=71),
        ChangePayment(payment_date=day("13")),
        ChangePayment(method="cash"),
        ChangePayment(processor="stripe"),
        ChangePayment(fee=1),
        ChangePayment(status="failed"),
    ],
)
def test_the_facts_of_a_payment_stay(money: Payment, change: ChangePayment) -> None:
    fault = refused(payment_changes.amend, RECEIVABLE, money, {}, change, CONTEXT)
    assert fault.code == "in_opening_balance"


def test_what_says_the_same_is_no_change(money: Payment) -> None:
    same = ChangePayment(total=70, status="completed")
    assert payment_changes.amend(RECEIVABLE, money, {}, same, CONTEXT).payment is money


def test_its_money_is_on_no_line_of_a_bank(money: Payment) -> None:
    told = LinkTransaction(target_type="invoice_payment", target_id=money.id)
    fault = refused(link, RECEIVABLE, line(70), money, told, CONTEXT)
    assert fault.code == "in_opening_balance"
    other = replace(money, opening_id=None)
    _, linked, _ = link(RECEIVABLE, line(70), other, told, CONTEXT)
    assert linked.linked == 70
