"""The targets of vendor refunds: bills, bill payments, credits, or none yet."""

import pytest

from accounting.books.numbers import PendingNumber
from accounting.trade import credits, payments, refunds
from accounting.trade.commands import TaxGiven
from accounting.trade.documents import outstanding
from tests.accounting.samples import by_code, day, named, refusal_of, refused
from tests.accounting.trade.business import TAXED, items, line
from tests.accounting.trade.purchases import BILL, CREDIT, PAYMENT, Purchases, returned


@pytest.fixture
def trade() -> Purchases:
    return Purchases("5")


class TestOfABill:
    def test_each_account_of_the_bill_gives_its_share(self, trade: Purchases) -> None:
        taxes = (TaxGiven(50, named("2400")),)
        other = line(950, taxes=taxes, account=named("5000"))
        bill = trade.paid(TAXED, other)
        refund = trade.on("9").agree(11_000, returned(BILL, 11_000, bill), refund_date=day("7"))
        assert trade.book(refund) == [
            ("7", {"1270": 11_000, "6000": -8_333, "1300": -1_667, "5000": -950, "2400": -50})
        ]
        assert trade.status(bill) == "refunded"
        assert outstanding(trade.documents[bill]) == 0

    def test_the_last_part_closes_every_share_today(self, trade: Purchases) -> None:
        bill = trade.paid()
        first = trade.agree(3_333, returned(BILL, 3_333, bill))
        assert trade.book(first) == [("5", {"1270": 3_333, "6000": -2_777, "1300": -556})]
        assert trade.status(bill) == "paid"
        last = trade.on("9").agree(6_667, returned(BILL, 6_667, bill))
        assert trade.book(last) == [("9", {"1270": 6_667, "6000": -5_556, "1300": -1_111})]
        assert trade.status(bill) == "refunded"

    def test_before_the_bill_stands_in_the_books_it_waits(self, trade: Purchases) -> None:
        bill = trade.document(500, issue_date=day("14"))
        trade.pay(500, (bill, 500))
        refund = trade.agree(200, returned(BILL, 200, bill))
        assert trade.book(refund) == [
            ("5", {"1270": 200, "1900": -200}),
            ("14", {"1900": 200, "6000": -200, "1270": 0}),
        ]

    def test_at_most_what_was_paid_and_is_not_refunded(self, trade: Purchases) -> None:
        bill = trade.document(1_000)
        trade.pay(600, (bill, 600))
        trade.credit(100, to=[(bill, 100)])
        trade.agree(200, returned(BILL, 200, bill))
        sums = {"paid": 600, "refunded": 200, "refundable": 400, "amount": 401}
        refusal = refusal_of(trade.agree, 500, returned(BILL, 401, bill))
        assert refusal == ("refund_exceeds_refundable", {"bill_id": str(bill), **sums})

    def test_a_returned_payment_may_leave_less_paid_than_refunded(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        trade.agree(400, returned(BILL, 400, bill))
        by_hand = refused(trade.change, payment, allocations=items((bill, 399)))
        assert by_hand.code == "refund_exceeds_refundable"
        assert (by_hand.detail["paid"], by_hand.detail["refunded"]) == (399, 400)
        trade.change(payment, status="failed")
        document = trade.documents[bill]
        assert (document.paid, document.refunded, outstanding(document)) == (0, 400, 500)
        assert refused(trade.agree, 1, returned(BILL, 1, bill)).detail["refundable"] == 0

    def test_a_refunded_bill_stays_as_it_is(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        trade.agree(400, returned(BILL, 400, bill))
        trade.change(payment, status="failed")
        assert refused(trade.void, bill).code == "bill_has_allocations"
        assert refused(trade.replace, bill, 5).detail["refunded"] == 400


class TestOfAPayment:
    def test_free_money_comes_back_from_prepayments(self, trade: Purchases) -> None:
        bill = trade.document(300)
        payment = trade.pay(1_000, (bill, 300))
        refund = trade.on("9").agree(700, returned(PAYMENT, 700, payment))
        assert trade.book(refund) == [("9", {"1270": 700, "1250": -700})]
        assert len(trade.book(payment)) == 1
        value = trade.payments[payment]
        assert (payments.remaining(value), value.refunded, value.total) == (0, 700, 1_000)
        assert trade.held(payment) == {bill: 300}

    def test_the_newest_bill_first_and_the_last_one_in_part(self, trade: Purchases) -> None:
        (old, middle, new), payment = trade.paid_in_parts(500, 400, 300)
        refund = trade.on("9").agree(500, returned(PAYMENT, 500, payment), refund_date=day("8"))
        assert trade.held(payment) == {old: 500, middle: 200}
        assert trade.book(payment)[1:] == [("8", {"1250": 500, "2000": -500})]
        assert trade.book(refund) == [("8", {"1270": 500, "1250": -500})]
        assert [outstanding(trade.documents[each]) for each in (old, middle, new)] == [0, 200, 300]
        assert [trade.documents[each].paid_on for each in (middle, new)] == [None, None]
        assert trade.status(new) == "received"
        assert trade.balances() == {"1100": -1_200, "1270": 500, "2000": -500, "6000": 1_200}

    def test_the_later_id_of_a_day_is_released_first(self, trade: Purchases) -> None:
        first, second = trade.document(500), trade.document(500)
        payment = trade.pay(1_000, (first, 500), (second, 500))
        trade.agree(100, returned(PAYMENT, 100, payment))
        assert trade.held(payment) == {first: 500, second: 400}

    def test_the_later_day_is_released_before_the_later_id(self, trade: Purchases) -> None:
        new = trade.document(400, issue_date=day("4"))
        old = trade.document(500, issue_date=day("2"))
        payment = trade.pay(900, (new, 400), (old, 500))
        [part] = trade.refunds[trade.agree(100, returned(PAYMENT, 100, payment))].allocations
        assert trade.held(payment) == {new: 300, old: 500}
        assert [(each.document_id, each.amount) for each in part.released] == [(new, 100)]

    def test_free_money_goes_before_any_bill(self, trade: Purchases) -> None:
        bill = trade.document(500)
        payment = trade.pay(600, (bill, 500))
        trade.agree(30, returned(PAYMENT, 30, payment))
        assert trade.held(payment) == {bill: 500}
        trade.agree(71, returned(PAYMENT, 71, payment))
        assert trade.held(payment) == {bill: 499}

    def test_the_rest_of_a_bill_counts_from_its_own_application(self, trade: Purchases) -> None:
        old = trade.on("3").document(500, issue_date=day("1"))
        new, payment = trade.document(500, issue_date=day("3")), trade.pay(1_000)
        trade.on("5").change(payment, allocations=items((new, 500)))
        trade.on("9").change(payment, allocations=items((new, 500), (old, 500)))
        trade.agree(1, returned(PAYMENT, 1, payment), refund_date=day("4"))
        assert trade.book(payment)[3:] == [("5", {"1250": 1, "2000": -1})]
        rest = payments.live_allocations(trade.payments[payment])[-1]
        assert payments.applied_days(trade.payments[payment], rest) == [(day("5"), None)]
        trade.agree(599, returned(PAYMENT, 599, payment), refund_date=day("7"))
        assert trade.book(payment)[4:] == [
            ("7", {"1250": 499, "2000": -499}),
            ("9", {"1250": 100, "2000": -100}),
        ]

    def test_a_release_is_not_before_its_application(self, trade: Purchases) -> None:
        bill, payment = trade.document(500), trade.pay(500)
        trade.on("9").change(payment, allocations=items((bill, 500)))
        refund = trade.on("14").agree(200, returned(PAYMENT, 200, payment), refund_date=day("7"))
        assert trade.book(payment)[2:] == [("9", {"1250": 200, "2000": -200})]
        assert trade.book(refund) == [("7", {"1270": 200, "1250": -200})]
        rest = payments.live_allocations(trade.payments[payment])[0]
        assert payments.applied_days(trade.payments[payment], rest) == [(day("9"), None)]

    def test_the_rest_of_an_application_keeps_its_day(self, trade: Purchases) -> None:
        (old, _), payment = trade.paid_in_parts(500, 300)
        before = payments.live_allocations(trade.payments[payment])[0]
        trade.on("9").agree(300, returned(PAYMENT, 300, payment))
        assert payments.live_allocations(trade.payments[payment]) == (before,)
        assert trade.documents[old].paid_on == day("5")

    def test_never_before_the_payment(self, trade: Purchases) -> None:
        payment = trade.pay(500)
        refund = trade.agree(200, returned(PAYMENT, 200, payment), refund_date=day("3"))
        assert trade.book(refund) == [
            ("3", {"1270": 200, "1900": -200}),
            ("5", {"1900": 200, "1250": -200, "1270": 0}),
        ]

    def test_at_most_its_total_less_its_refunds(self, trade: Purchases) -> None:
        _, payment = trade.paid_document(500)
        trade.agree(200, returned(PAYMENT, 200, payment))
        named = {"bill_payment_id": str(payment), "status": "completed"}
        sums = {"refunded": 200, "allocated_amount_cents": 500, "refundable": 300, "amount": 301}
        refusal = refusal_of(trade.agree, 301, returned(PAYMENT, 301, payment))
        assert refusal == ("refund_exceeds_refundable", {**named, **sums})
        trade.agree(300, returned(PAYMENT, 300, payment))

    def test_not_below_what_is_refunded_of_the_bill(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        trade.agree(400, returned(BILL, 400, bill))
        refusal = refused(trade.agree, 101, returned(PAYMENT, 101, payment))
        assert refusal.code == "refund_exceeds_refundable"
        assert (refusal.detail["paid"], refusal.detail["refunded"]) == (399, 400)
        trade.agree(100, returned(PAYMENT, 100, payment))
        assert refused(trade.agree, 1, returned(BILL, 1, bill)).detail["refundable"] == 0

    def test_a_list_refunds_no_payment_twice(self, trade: Purchases) -> None:
        bill, payment = trade.paid_document(500)
        parts = [returned(BILL, 300, bill), returned(PAYMENT, 201, payment)]
        for each in (parts, reversed(parts)):
            assert refused(trade.agree, 501, *each).code == "refund_exceeds_refundable"
        trade.agree(500, returned(BILL, 300, bill), returned(PAYMENT, 200, payment))
        assert trade.held(payment) == {bill: 300}

    def test_refunded_money_is_neither_allocated_nor_lowered_away(self, trade: Purchases) -> None:
        bill, payment = trade.document(500), trade.pay(500)
        trade.agree(200, returned(PAYMENT, 200, payment))
        refusal = refused(trade.change, payment, allocations=items((bill, 301)))
        assert refusal.code == "allocation_exceeds_total"
        sums = {"allocated_amount_cents": 200, "amount_cents": 199}
        assert refusal_of(trade.change, payment, total=199) == ("total_below_allocated", sums)
        trade.change(payment, allocations=items((bill, 300)))

    def test_a_returned_payment_leaves_the_claim(self, trade: Purchases) -> None:
        payment = trade.pay(500)
        trade.agree(200, returned(PAYMENT, 200, payment))
        trade.change(payment, status="failed")
        assert trade.balances() == {"1250": -200, "1270": 200}


class TestKeptAsACredit:
    def test_a_credit_is_made_for_later_use(self, trade: Purchases) -> None:
        refund = trade.on("9").agree(500, returned(CREDIT, 500), refund_date=day("7"))
        id_ = trade.credit_of(refund)
        assert (trade.book(refund), trade.book(id_)) == ([], [("7", {"1260": 500, "5100": -500})])
        credit = trade.credits[id_]
        assert (credit.state, credit.refund_id) == ("open", refund)
        assert credit.number == PendingNumber("VC")
        assert [(each.amount, each.tax_amount) for each in credit.lines] == [(500, 0)]
        [payment] = trade.payments_of(refund)
        assert (payment.amount, payment.status) == (0, "pending")
        assert trade.status(refund) == "allocated"
        trade.complete(refund)
        assert (trade.book(payment.id), trade.status(refund)) == ([], "completed")

    def test_only_the_rest_is_money(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(500, returned(BILL, 300, bill), returned(CREDIT, 200))
        assert trade.book(refund) == [("5", {"1270": 300, "6000": -300})]
        assert [each.amount for each in trade.payments_of(refund)] == [300]

    def test_two_credits_take_two_numbers(self, trade: Purchases) -> None:
        trade.agree(500, returned(CREDIT, 200), returned(CREDIT, 300))
        numbers = [each.number for each in trade.credits.values()]
        assert numbers == [PendingNumber("VC", 0), PendingNumber("VC", 1)]

    def test_a_credit_of_a_refund_cannot_be_voided(self, trade: Purchases) -> None:
        bill, refund = trade.document(500), trade.agree(500, returned(CREDIT, 500))
        credit = trade.credit_of(refund)
        held = ("credit_of_refund", {"refund_id": str(refund)})
        assert refusal_of(trade.void_credit, credit) == held
        trade.apply(credit, (bill, 300))
        assert outstanding(trade.documents[bill]) == 200
        assert credits.unapplied(trade.credits[credit]) == 200
        assert trade.book(credit)[1:] == [("5", {"2000": 300, "1260": -300})]
        assert by_code(trade.credits[credit].settled) == {"5100": 300}


class TestNotAllocated:
    def test_an_unallocated_amount_is_posted_on_suspense(self, trade: Purchases) -> None:
        bill = trade.paid(500)
        refund = trade.agree(1_000, returned(BILL, 400, bill), returned(CREDIT, 100))
        assert trade.book(refund) == [("5", {"1270": 900, "6000": -400, "1900": -500})]
        value = trade.refunds[refund]
        sums = refunds.allocated(value), refunds.unallocated(value), refunds.cash(value)
        assert sums == (500, 500, 900)

    def test_an_unallocated_refund_is_described(self, trade: Purchases) -> None:
        refunds_ = [trade.agree(500, reference_number="n", external_id="r")]
        refunds_.append(trade.agree(500, external_id="r2"))
        entries = [trade.posted(each)[0] for each in refunds_]
        assert {each.description for each in entries} == {"Refund from Acme Ltd"}
        assert [each.reference for each in entries] == ["n", "r2"]
        assert {each.source_type for each in entries} == {"vendor_refund"}
