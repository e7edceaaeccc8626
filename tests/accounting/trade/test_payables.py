"""What bills, bill payments and vendor credits post, on which days, and what they refuse."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.books.numbers import Pending
from accounting.trade import credits, documents, payments
from accounting.trade.documents import is_overdue, left, outstanding
from accounting.trade.payment_changes import record_with
from accounting.trade.sides import PAYABLE
from tests.accounting.purchases import (
    INACTIVE,
    NOT_ACTIVE,
    TAXED,
    Purchases,
    to_bills,
    uses_of,
    vendor_credit_line,
    word,
)
from tests.accounting.trade import (
    ACME,
    OTHER,
    account_id,
    account_named,
    by_code,
    day,
    line,
    moment,
    refused,
)


class TestBillReceived:
    def test_expenses_and_taxes_are_owed(self) -> None:
        trade = Purchases("5")
        tax = {"amount": 50, "tax_account": account_named("2400")}
        other = line(1_000, account_identifier=account_named("5000"), discount_amount=50)
        bill = trade.bill(TAXED, {**other, "sales_taxes": [tax]}, external_id="b")
        assert trade.book(bill) == [
            ("5", {"6000": 8_333, "1300": 1_667, "5000": 950, "2400": 50, "2000": -11_000})
        ]
        [entry] = trade.posted(bill)
        assert entry.description == "Bill from Acme Ltd"
        assert (entry.source_type, entry.source_id) == ("bill", bill)
        assert entry.reference == Pending("BILL")

    def test_its_own_discount_lessens_its_lines(self) -> None:
        trade = Purchases("5")
        lines = [line(900), line(300, account_identifier=account_named("5000"))]
        bill = trade.bill(*lines, additional_discount=120)
        assert trade.book(bill) == [("5", {"6000": 810, "5000": 270, "2000": -1_080})]
        parts = tuple(documents.parts(trade.documents[bill]).items())
        assert by_code(parts) == {"6000": 810, "5000": 270}

    def test_a_rate_is_taken_after_the_discount(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(line(1_000, tax_rate=20), additional_discount=100)
        assert trade.book(bill) == [("5", {"6000": 900, "1300": 180, "2000": -1_080})]

    @pytest.mark.parametrize(("dated", "on"), [(None, "9"), ("3", "3"), ("14", "14")])
    def test_it_is_dated_by_its_own_date_else_by_its_receipt(
        self, dated: str | None, on: str
    ) -> None:
        trade = Purchases("9")
        bill = trade.bill(1_000, bill_date=None if dated is None else day(dated))
        assert trade.book(bill) == [(on, {"6000": 1_000, "2000": -1_000})]
        assert trade.documents[bill].opened_at == moment("9")

    def test_it_is_due_the_terms_after_its_day(self) -> None:
        trade = Purchases("9")
        party = replace(ACME, payment_terms_days=30)
        dated = trade.documents[trade.bill(5, party=party, bill_date=day("3"))]
        assert dated.due_at == moment("02-02")
        given = trade.bill(5, party=party, bill_date=day("3"), due_at=moment("20"))
        assert trade.documents[given].due_at == moment("20")
        assert is_overdue(dated, day("02-03"))
        assert not is_overdue(dated, day("02-02"))

    def test_a_draft_posts_nothing_until_it_is_received(self) -> None:
        trade = Purchases("9")
        bill = trade.bill(1_000, received_at=None, bill_date=day("3"))
        assert (trade.book(bill), word(trade, bill)) == ([], "draft")
        trade.send(bill, "8")
        assert trade.book(bill) == [("3", {"6000": 1_000, "2000": -1_000})]
        document = trade.documents[bill]
        assert (document.number, document.opened_at) == (Pending("BILL"), moment("8"))
        assert word(trade, bill) == "received"

    def test_a_number_given_stays(self) -> None:
        trade = Purchases("9")
        facts = {"bill_number": "B1", "vendor_bill_number": "V1", "terms": "net 30"}
        document = trade.documents[trade.bill(5, **facts)]
        assert (document.number, document.party_number, document.terms) == ("B1", "V1", "net 30")

    def test_nothing_owed_posts_nothing_and_is_paid(self) -> None:
        trade = Purchases("9")
        bill = trade.bill(0, bill_date=day("3"))
        assert (trade.book(bill), word(trade, bill)) == ([], "paid")
        assert trade.documents[bill].paid_on == day("3")

    def test_replaced_on_its_own_day_and_moved_with_its_date(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(1_000, bill_date=day("3"), vendor_bill_number="V1")
        trade.today = "9"
        trade.replace(bill, 800)
        assert trade.book(bill)[1:] == [("3", {"6000": -200, "2000": 200})]
        assert trade.documents[bill].party_number == "V1"
        trade.replace(bill, 800, bill_date=day("7"))
        assert trade.book(bill)[2:] == [
            ("3", {"6000": -800, "2000": 800}),
            ("7", {"6000": 800, "2000": -800}),
        ]
        undated = trade.replace(trade.bill(5), 6)
        assert trade.documents[undated].issue_date is None

    @pytest.mark.parametrize(("at", "on"), [(None, "9"), ("7", "7"), ("2", "3")])
    def test_voided_by_a_linked_mirror(self, at: str | None, on: str) -> None:
        trade = Purchases("5")
        bill = trade.bill(TAXED, bill_date=day("3"))
        trade.today = "9"
        trade.void(bill, at)
        assert trade.book(bill)[1:] == [(on, {"6000": -8_333, "1300": -1_667, "2000": 10_000})]
        first, second = trade.posted(bill)
        assert (first.reversed, second.reversal_of_id) == (True, first.id)
        assert (word(trade, bill), outstanding(trade.documents[bill])) == ("voided", 0)


class TestBillPayment:
    @pytest.mark.parametrize(
        ("method", "account"),
        [
            ("cash", "1000"),
            *((each, "1100") for each in ("bank_transfer", "ach", "wire", "check", "other")),
            *((each, "1100") for each in ("credit_card", "debit_card")),
        ],
    )
    def test_the_money_account_pays_what_is_owed(self, method: str, account: str) -> None:
        trade = Purchases("5")
        bill = trade.bill(TAXED)
        payment = trade.pay(5_000, (bill, 3_333), payment_method=method, external_id="p")
        assert trade.book(payment) == [("5", {"2000": 3_333, "1250": 1_667, account: -5_000})]
        [entry] = trade.posted(payment)
        assert entry.description == "Payment to Acme Ltd"
        assert (entry.source_type, entry.reference) == ("bill_payment", "p")
        [control] = [each for each in entry.lines if each.settles]
        assert (control.settles, control.amount) == (bill, 3_333)
        assert control.split == ((account_id("6000"), 2_777), (account_id("1300"), 556))

    def test_its_fee_is_an_entry_of_its_own(self) -> None:
        trade = Purchases("5")
        payment = trade.pay(500, processing_fee_cents=7, payment_date=day("3"))
        assert trade.book(payment) == [
            ("3", {"1250": 500, "1100": -500}),
            ("3", {"6300": 7, "1100": -7}),
        ]
        assert payments.net_amount(trade.payments[payment]) == 493

    def test_applied_later_and_released_today(self) -> None:
        trade = Purchases("5")
        bill, payment = trade.bill(600), trade.pay(500)
        trade.today = "9"
        trade.change(payment, allocations=to_bills((bill, 500)))
        trade.today = "14"
        trade.change(payment, allocations=[])
        assert trade.book(payment)[1:] == [
            ("9", {"2000": 500, "1250": -500}),
            ("14", {"2000": -500, "1250": 500}),
        ]

    def test_money_in_advance_waits_until_the_bill_stands_in_the_books(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(500, bill_date=day("14"))
        payment = trade.pay(500, (bill, 500))
        assert trade.book(payment) == [
            ("5", {"1250": 500, "1100": -500}),
            ("14", {"2000": 500, "1250": -500}),
        ]
        assert trade.documents[bill].paid_on == day("14")

    @pytest.mark.parametrize("before", ["pending", "processing"])
    def test_on_its_way_it_reserves_and_posts_nothing(self, before: str) -> None:
        trade = Purchases("5")
        bill = trade.bill(600)
        payment = trade.pay(500, (bill, 500), status=before, payment_date=day("7"))
        assert (trade.book(payment), left(trade.documents[bill])) == ([], 100)
        trade.today = "9"
        trade.change(payment, status="completed")
        assert trade.book(payment) == [("7", {"2000": 500, "1100": -500})]

    def test_returned_it_is_owed_again_and_the_fee_is_posted_back(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(500)
        payment = trade.pay(500, (bill, 500), processing_fee_cents=7)
        assert word(trade, bill) == "paid"
        trade.today = "9"
        trade.change(payment, status="failed")
        assert trade.book(payment)[2:] == [
            ("9", {"2000": -500, "1100": 500}),
            ("9", {"6300": -7, "1100": 7}),
        ]
        assert word(trade, bill) == "received"
        trade.today = "14"
        trade.change(payment, status="completed")
        assert trade.book(payment)[4:] == [
            ("14", {"1250": 500, "1100": -500}),
            ("14", {"6300": 7, "1100": -7}),
        ]

    def test_a_corrected_fact_is_posted_on_its_own_day(self) -> None:
        trade = Purchases("5")
        payment = trade.pay(500, check_number="7", memo="m")
        trade.today = "9"
        trade.change(payment, amount_cents=400, payment_method="cash")
        assert trade.book(payment)[1:] == [("5", {"1100": 500, "1000": -400, "1250": -100})]
        trade.change(payment, payment_date=day("7"))
        assert [on for on, _ in trade.book(payment)[2:]] == ["5", "7"]
        value = trade.payments[payment]
        assert (value.check_number, value.note) == ("7", "m")

    def test_what_is_said_of_an_allocation_changes_nothing_else(self) -> None:
        trade = Purchases("5")
        bill = trade.bill(500)
        payment = trade.pay(500, (bill, 500))
        [part] = to_bills((bill, 500))
        trade.change(payment, allocations=[{**part, "description": "half"}])
        [allocation] = trade.payments[payment].allocations
        assert (allocation.description, allocation.end) == ("half", None)
        assert len(trade.book(payment)) == 1

    def test_payments_that_come_with_a_bill(self) -> None:
        trade = Purchases("9")
        document = trade.documents[trade.bill(1_000, bill_date=day("5"))]
        bodies: list[dict[str, Any]] = [
            {"payment_method": "cash", "amount_cents": 400},
            {"payment_method": "cash"},
        ]
        paid, [made] = record_with(PAYABLE, document, bodies[:1], trade.context())
        assert (paid.paid, made.total, made.payment_date) == (400, 400, day("5"))
        whole, [made] = record_with(PAYABLE, document, bodies[1:], trade.context())
        assert (outstanding(whole), made.total) == (0, 1_000)


class TestVendorCredit:
    def test_returns_and_taxes_are_credited(self) -> None:
        trade = Purchases("5")
        lines = [vendor_credit_line(1_000, 200), vendor_credit_line(500, 25, "6000")]
        id_ = trade.credit(*lines, received_at=moment("3"), external_id="c")
        assert trade.book(id_) == [
            ("3", {"1260": 1_725, "5100": -1_000, "6000": -500, "1300": -225})
        ]
        [entry] = trade.posted(id_)
        assert entry.description == "Credit from Acme Ltd"
        assert (entry.source_type, entry.reference) == ("vendor_credit", Pending("VC"))

    def test_applied_on_create_it_is_dated_with_the_credit(self) -> None:
        trade = Purchases("2")
        bill = trade.bill(TAXED)
        trade.today = "5"
        lines = [vendor_credit_line(900, 100)]
        id_ = trade.credit(*lines, to=[(bill, 333)], received_at=moment("3"))
        assert trade.book(id_)[1:] == [("3", {"2000": 333, "1260": -333})]
        control, own = trade.posted(id_)[1].lines
        assert (control.settles, own.settles) == (bill, id_)
        assert control.split == ((account_id("6000"), 277), (account_id("1300"), 56))
        assert own.split == ((account_id("5100"), -300), (account_id("1300"), -33))

    def test_applied_later_and_released_today(self) -> None:
        trade = Purchases("2")
        bill, id_ = trade.bill(1_000), trade.credit(1_000)
        assert credits.status(PAYABLE, trade.credits[id_]) == "received"
        trade.today = "9"
        trade.apply(id_, (bill, 400))
        assert credits.status(PAYABLE, trade.credits[id_]) == "partially_applied"
        assert word(trade, bill) == "partially_paid"
        trade.today = "14"
        trade.apply(id_)
        assert trade.book(id_)[1:] == [
            ("9", {"2000": 400, "1260": -400}),
            ("14", {"2000": -400, "1260": 400}),
        ]

    def test_a_credit_that_settles_all_pays_the_bill(self) -> None:
        trade = Purchases("2")
        bill = trade.bill(1_000)
        id_ = trade.credit(1_000, to=[(bill, 1_000)], source_bill_id=bill)
        assert (word(trade, bill), trade.documents[bill].paid_on) == ("paid", day("2"))
        value = trade.credits[id_]
        assert (credits.status(PAYABLE, value), value.source_document_id) == ("applied", bill)

    def test_voided_by_a_linked_mirror(self) -> None:
        trade = Purchases("5")
        id_ = trade.credit(vendor_credit_line(1_000, 200))
        trade.today = "9"
        trade.void_credit(id_)
        assert trade.book(id_)[1:] == [("9", {"1260": -1_200, "5100": 1_000, "1300": 200})]
        assert trade.posted(id_)[0].reversed

    @pytest.mark.parametrize(
        ("total", "part", "body", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"party": OTHER}, "bill_vendor_mismatch"),
            (500, 5, {"received_at": None}, "credit_not_sent"),
            (500, 5, {"received_at": moment("7")}, "period_locked"),
            (500, 5, {"currency": "EUR"}, "currency_mismatch"),
            *((500, 5, {"party": each}, "vendor_not_active") for each in NOT_ACTIVE),
        ],
    )
    def test_refusals(self, total: int, part: int, body: dict[str, Any], code: str) -> None:
        trade = Purchases("9", lock="7")
        bill = trade.bill(600)
        assert refused(trade.credit, total, to=[(bill, part)], **body).code == code

    def test_refusals_of_a_change(self) -> None:
        trade = Purchases("9")
        bill, draft = trade.bill(600), trade.bill(600, received_at=None)
        id_ = trade.credit(500, to=[(bill, 100)])
        refusal = refused(trade.void_credit, id_)
        assert (refusal.code, refusal.detail) == ("credit_applied", {"applied_amount": 100})
        assert refused(trade.apply, id_, (draft, 1)).code == "bill_not_open"
        changed = refused(trade.change_credit, id_, received_at=moment("8"))
        assert (changed.code, changed.detail) == ("immutable_field", {"field": "received_at"})
        trade.apply(id_)
        trade.void_credit(id_)
        assert refused(trade.void_credit, id_).code == "invalid_state_transition"

    def test_a_draft_of_a_vendor_who_is_not_active_any_more(self) -> None:
        trade = Purchases("9")
        id_ = trade.credit(500, received_at=None)
        trade.credits[id_] = replace(trade.credits[id_], party=INACTIVE)
        refusal = refused(trade.change_credit, id_, received_at=moment("9"))
        assert refusal.code == "vendor_not_active"

    def test_the_credit_of_an_inactive_vendor_may_be_used(self) -> None:
        trade = Purchases("9")
        bill, id_ = trade.bill(600), trade.credit(500)
        trade.credits[id_] = replace(trade.credits[id_], party=INACTIVE)
        trade.change_credit(id_, allocations=uses_of((bill, 500)))
        assert left(trade.documents[bill]) == 100
