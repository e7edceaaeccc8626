"""Items of an opening, which change only with it."""

from dataclasses import replace
from typing import Any

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
from tests.accounting.samples import context_of, day, refusal_of, refused

CONTEXT = context_of(TODAY)


@pytest.fixture
def money() -> Payment:
    [money] = opened(sales=OpenWithSide(prepayments=(prepaid(70),))).sales.payments
    return money


def test_a_document_is_neither_replaced_nor_voided() -> None:
    [invoice] = opened(sales=OpenWithSide(documents=(owed(120),))).sales.documents
    held = ("in_opening_balance", {"opening_balance_id": str(invoice.opening_id)})
    replacing = refusal_of(document_changes.refuse_replacing, RECEIVABLE, invoice, CONTEXT)
    assert replacing == held
    assert refusal_of(document_changes.void, RECEIVABLE, invoice, None, CONTEXT) == held


def test_a_credit_is_not_voided() -> None:
    [credit] = opened(sales=OpenWithSide(credits=(credited(20),))).sales.credits
    fault = refused(credit_changes.void, RECEIVABLE, credit, None, {}, CONTEXT)
    assert fault.code == "in_opening_balance"


@pytest.mark.parametrize(
    "change",
    [
        *({"total": 71}, {"payment_date": day("13")}, {"method": "cash"}),
        *({"processor": "stripe"}, {"fee": 1}, {"status": "failed"}),
    ],
)
def test_the_facts_of_a_payment_stay(money: Payment, change: Any) -> None:
    command = ChangePayment(**change)
    fault = refused(payment_changes.amend, RECEIVABLE, money, {}, command, CONTEXT)
    assert fault.code == "in_opening_balance"
    same = ChangePayment(total=70, status="completed")
    assert payment_changes.amend(RECEIVABLE, money, {}, same, CONTEXT).payment is money


def test_its_money_is_on_no_line_of_a_bank(money: Payment) -> None:
    told = LinkTransaction(target_type="invoice_payment", target_id=money.id)
    assert refused(link, RECEIVABLE, line(70), money, told, CONTEXT).code == "in_opening_balance"
    other = replace(money, opening_id=None)
    _, linked, _ = link(RECEIVABLE, line(70), other, told, CONTEXT)
    assert linked.linked == 70
