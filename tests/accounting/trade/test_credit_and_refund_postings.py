"""Postings of write-offs, refunds and credits, their days, and their reversals."""

from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import Part, times_sign
from accounting.books.numbers import PendingNumber
from accounting.trade.commands import TaxGiven
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ROLES, code_of, day, moment, named, part_on
from tests.accounting.trade.business import BOTH_SIDES, TAXED, Trade, credit_line, line


def links(trade: Trade, id_: UUID) -> list[int | None]:
    """Return, for each entry of a subject, the place of the entry that it reverses."""
    places = {entry.id: place for place, entry in enumerate(trade.posted(id_))}
    return [
        None if entry.reversal_of_id is None else places[entry.reversal_of_id]
        for entry in trade.posted(id_)
    ]


class TestWriteOff:
    def test_bad_debts_take_what_receivables_lose(self, trade: Trade) -> None:
        invoice = trade.document(TAXED)
        id_ = trade.on("20").write_off(invoice, 3_333, write_off_at=moment("12"))
        assert trade.book(id_) == [("12", {"6200": 3_333, "1200": -3_333})]
        [entry] = trade.posted(id_)
        assert entry.lines[1].settles == invoice
        assert entry.lines[1].split == ((part_on("4000"), -2_777), (part_on("2200"), -556))

    @pytest.mark.parametrize(
        ("facts", "on", "account"),
        [({"account": named("6000")}, "20", "6000"), ({"write_off_at": moment("2")}, "5", "6200")],
    )
    def test_a_write_off_is_of_today_and_never_before_the_invoice(
        self, trade: Trade, facts: dict[str, Any], on: str, account: str
    ) -> None:
        invoice = trade.document(1_000)
        id_ = trade.on("20").write_off(invoice, **facts)
        assert trade.book(id_) == [(on, {account: 1_000, "1200": -1_000})]
        assert trade.documents[invoice].paid_on == day(on)

    def test_reversed_today_by_a_linked_mirror(self, trade: Trade) -> None:
        id_ = trade.write_off(trade.document(1_000))
        trade.on("9").reverse(id_)
        assert trade.book(id_)[1:] == [("9", {"6200": -1_000, "1200": 1_000})]
        assert links(trade, id_) == [None, 0]

    def test_not_reversed_before_its_day_nor_inside_the_lock(self, trade: Trade) -> None:
        later = trade.write_off(trade.document(1_000), write_off_at=moment("20"))
        early = trade.write_off(trade.document(1_000))
        trade.reverse(later)
        trade.on("10", lock="31").reverse(early)
        assert [on for on, _ in trade.book(later)] == ["20", "20"]
        assert [on for on, _ in trade.book(early)] == ["5", "2-1"]
        assert links(trade, early) == [None, 0]

    def test_a_write_off_has_a_description_and_a_reference(self, trade: Trade) -> None:
        id_ = trade.write_off(trade.document(1_000, number="2026/7"), external_id="w")
        [entry] = trade.posted(id_)
        assert entry.description == "Write-off of an invoice to Acme Ltd"
        assert (entry.source_type, entry.source_id, entry.reference) == ("write_off", id_, "2026/7")


class TestInvoiceRefund:
    def test_returns_and_taxes_take_their_shares(self, trade: Trade) -> None:
        other = line(950, taxes=(TaxGiven(50, named("2400")),))
        invoice = trade.paid(TAXED, other)
        id_ = trade.on("9").refund(invoice)
        assert trade.book(id_) == [
            ("9", {"4100": 9_283, "2200": 1_667, "2400": 50, "2300": -11_000})
        ]

    def test_a_part_on_the_day_of_its_payment(self, trade: Trade) -> None:
        invoice = trade.paid()
        id_ = trade.on("9").refund(invoice, 3_333, completed_at=moment("7"))
        assert trade.book(id_) == [("7", {"4100": 2_777, "2200": 556, "2300": -3_333})]
        [payment] = trade.refund_payments
        assert trade.book(payment) == [("7", {"2300": 3_333, "1100": -3_333})]

    def test_money_that_settled_nothing_leaves_prepayments(self, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(300), 300))
        id_ = trade.on("9").refund(payment)
        assert trade.book(id_) == [("9", {"2100": 700, "2300": -700})]
        assert len(trade.book(payment)) == 1
        assert "2100" not in trade.balances()

    def test_cancelled_today_by_a_linked_mirror(self, trade: Trade) -> None:
        id_ = trade.refund(trade.paid())
        trade.on("9").cancel_refund(id_)
        assert trade.book(id_)[1:] == [("9", {"4100": -8_333, "2200": -1_667, "2300": 10_000})]
        assert links(trade, id_) == [None, 0]

    def test_an_invoice_refund_has_a_description_and_a_reference(self, trade: Trade) -> None:
        first = trade.refund(trade.paid(), external_id="r", reference_number="n")
        second = trade.refund(trade.paid(), external_id="r2")
        entries = [trade.posted(first)[0], trade.posted(second)[0]]
        assert {each.description for each in entries} == {"Refund to Acme Ltd"}
        assert [each.reference for each in entries] == ["n", "r2"]
        assert (entries[0].source_type, entries[0].source_id) == ("refund", first)


class TestRefundPayment:
    @pytest.mark.parametrize(
        ("how", "account"),
        [
            ({}, "1100"),
            ({"method": "ach"}, "1100"),
            ({"method": "cash"}, "1000"),
            ({"method": "paypal"}, "1150"),
            ({"method": "cash", "processor": "adyen"}, "1150"),
        ],
    )
    def test_the_money_account_pays(self, trade: Trade, how: dict[str, str], account: str) -> None:
        refund = trade.refund(trade.paid())
        payment = trade.pay_refund(refund, 3_333, **how)
        assert trade.book(payment) == [("5", {"2300": 3_333, account: -3_333})]
        control = trade.posted(payment)[0].lines[0]
        assert control.settles == refund
        assert control.split == ((part_on("4100"), 2_777), (part_on("2200"), 556))

    def test_a_fee_of_a_refund_payment_is_a_separate_entry_on_its_day(self, trade: Trade) -> None:
        refund, on = trade.refund(trade.paid(1_000)), moment("12")
        payment = trade.on("20").pay_refund(refund, completed_at=on, external_id="p", fee=7)
        assert trade.book(payment) == [
            ("12", {"2300": 1_000, "1100": -1_000}),
            ("12", {"6100": 7, "1100": -7}),
        ]
        entries = trade.posted(payment)
        titles = ["Refund payment to Acme Ltd", "Fee of refund payment to Acme Ltd"]
        assert [each.description for each in entries] == titles
        assert {(each.source_type, each.reference) for each in entries} == {("refund_payment", "p")}

    def test_on_the_day_it_moved_also_before_the_refund(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(1_000))
        early = trade.pay_refund(refund, 400, completed_at=moment("2"))
        late = trade.on("9").pay_refund(refund)
        assert trade.book(early) == [("2", {"2300": 400, "1100": -400})]
        assert trade.book(late) == [("9", {"2300": 600, "1100": -600})]

    def test_cancelled_today_by_linked_mirrors(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid(1_000), fee=7)
        payment = trade.pay_refund(refund, method="stripe")
        trade.on("9").cancel_refund_payment(payment)
        assert trade.book(payment)[2:] == [
            ("9", {"2300": -1_000, "1150": 1_000}),
            ("9", {"6100": -7, "1150": 7}),
        ]
        assert links(trade, payment) == [None, None, 0, 1]

    def test_a_refund_in_two_payments_one_cancelled_and_paid_again(self, trade: Trade) -> None:
        refund = trade.refund(trade.paid())
        first, _ = trade.pay_refund(refund, 3_333), trade.pay_refund(refund)
        trade.on("9").cancel_refund_payment(first)
        assert trade.balances()["2300"] == -3_333
        again = trade.on("02-10", lock="31").pay_refund(refund)
        assert trade.book(again) == [("2-10", {"2300": 3_333, "1100": -3_333})]
        assert trade.balances() == {"4000": -8_333, "4100": 8_333}


class TestAccountsOfACredit:
    @pytest.mark.parametrize(
        ("side", "posted", "title", "source"),
        [
            (
                *(RECEIVABLE, {"4100": 1_000, "4500": 500, "2200": 225, "2250": -1_725}),
                *("Credit note to Acme Ltd", "customer_credit"),
            ),
            (
                *(PAYABLE, {"1260": 1_725, "5100": -1_000, "4500": -500, "1300": -225}),
                *("Credit from Acme Ltd", "vendor_credit"),
            ),
        ],
    )
    def test_each_account_and_the_tax_go_to_the_credit(
        self, side: Side, trade: Trade, posted: dict[str, int], title: str, source: str
    ) -> None:
        lines = [credit_line(1_000, 200), credit_line(500, 25, "4500")]
        id_ = trade.credit(*lines, opened_at=moment("3"), external_id="c")
        trade.apply(id_, (trade.document(5), 5))
        assert trade.book(id_)[0] == ("3", posted)
        entries = trade.posted(id_)
        assert [each.description for each in entries] == [title, f"{title}, applied"]
        assert {(each.source_type, each.source_id) for each in entries} == {(source, id_)}
        assert {each.reference for each in entries} == {PendingNumber(side.credit_series)}


@BOTH_SIDES
class TestCredit:
    def test_a_draft_posts_nothing_until_it_is_sent(self, trade: Trade) -> None:
        id_ = trade.credit(1_000, opened_at=None)
        assert trade.book(id_) == []
        trade.change_credit(id_, opened_at=moment("8"))
        posted = {"credit_line_default": 1_000, "credits": -1_000}
        assert trade.booked(id_) == [("8", posted)]

    def test_applied_on_create_it_is_dated_with_the_credit(self, side: Side, trade: Trade) -> None:
        document, lines = trade.on("2").document(TAXED), credit_line(900, 100)
        id_ = trade.on("5").credit(lines, to=[(document, 333)], opened_at=moment("3"))
        assert trade.booked(id_)[1:] == [("3", {"credits": 333, "control": -333})]
        splits = {each.settles: each.split for each in trade.posted(id_)[1].lines}
        roles = side.line_default, side.tax, side.credit_line_default
        net, tax, returns = (Part(ROLES[each]) for each in roles)
        assert {of: times_sign(split, side.sign) for of, split in splits.items()} == {
            id_: ((returns, 300), (tax, 33)),
            document: ((net, -277), (tax, -56)),
        }

    def test_applied_later_and_released_today(self, trade: Trade) -> None:
        document, id_ = trade.on("2").document(1_000), trade.credit(1_000)
        trade.on("9").apply(id_, (document, 400))
        trade.on("14").apply(id_)
        assert trade.booked(id_)[1:] == [
            ("9", {"credits": 400, "control": -400}),
            ("14", {"credits": -400, "control": 400}),
        ]

    def test_in_advance_it_waits_until_the_document_opens(self, trade: Trade) -> None:
        document = trade.document(1_000, **trade.dated("15"))
        id_ = trade.credit(1_000, to=[(document, 1_000)])
        assert trade.booked(id_)[1:] == [("15", {"credits": 1_000, "control": -1_000})]
        assert trade.documents[document].paid_on == day("15")
        trade.on("9").apply(id_)
        assert trade.booked(id_)[2:] == [("15", {"credits": -1_000, "control": 1_000})]

    def test_a_changed_application_settles_the_difference(self, side: Side, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        id_ = trade.credit(1_000, to=[(first, 500), (second, 100)])
        trade.on("12").apply(id_, (first, 300), (second, 100))
        assert trade.booked(id_)[2:] == [("12", {"credits": -200, "control": 200})]
        changed = {each.settles: each.amount * side.sign for each in trade.posted(id_)[2].lines}
        assert changed == {first: 200, id_: -200}

    def test_today_inside_the_lock_counts_as_the_day_after_it(self, trade: Trade) -> None:
        document, id_ = trade.document(500), trade.credit(500)
        trade.on("10", lock="31").apply(id_, (document, 500))
        assert trade.booked(id_)[1:] == [("2-1", {"credits": 500, "control": -500})]
        assert trade.documents[document].paid_on == day("02-01")

    @pytest.mark.parametrize(
        ("at", "lock", "on"),
        [(None, None, "9"), ("7", None, "7"), ("2", None, "5"), (None, "31", "2-1")],
    )
    def test_a_void_is_a_linked_mirror(
        self, trade: Trade, at: str | None, lock: str | None, on: str
    ) -> None:
        id_ = trade.credit(credit_line(1_000, 200))
        trade.on("9", lock=lock).void_credit(id_, at)
        back = {"credit_line_default": -1_000, "tax": -200, "credits": 1_200}
        assert trade.booked(id_)[1:] == [(on, back)]
        assert links(trade, id_) == [None, 0]

    def test_voided_after_it_was_applied_and_released(self, side: Side, trade: Trade) -> None:
        id_ = trade.credit(500, to=[(trade.document(500), 500)])
        trade.on("9").apply(id_)
        trade.void_credit(id_)
        assert links(trade, id_) == [None, None, None, 0]
        standing = {code_of(ROLES[each]) for each in (side.control, side.line_default)}
        assert set(trade.balances()) == standing


class TestTakenBackAndMovedAtOnce:
    def test_only_the_taking_back_is_a_mirror(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.on("9").change(payment, status="cancelled", payment_date=day("7"))
        assert trade.book(payment)[1:] == [
            ("5", {"1100": -1_000, "2100": 1_000}),
            ("7", {"1100": 1_000, "2100": -1_000}),
            ("9", {"1100": -1_000, "2100": 1_000}),
        ]
        assert links(trade, payment) == [None, None, None, 0]

    def test_entries_that_cancel_out_on_other_days_are_not_mirrored(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        for trade.today, status in [("9", "failed"), ("12", "completed"), ("15", "cancelled")]:
            trade.change(payment, status=status)
        assert [on for on, _ in trade.book(payment)] == ["5", "9", "12", "15"]
        assert links(trade, payment) == [None, None, None, 2]


class TestPaidOn:
    def test_a_credit_or_write_off_settled_later_than_a_payment(self, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        payment = trade.pay(600, (first, 300), (second, 300))
        trade.on("9").credit(200, to=[(first, 200)])
        trade.write_off(second)
        trade.change(payment, payment_date=day("7"))
        assert {trade.documents[each].paid_on for each in (first, second)} == {day("9")}
        trade.change(payment, payment_date=day("12"))
        assert {trade.documents[each].paid_on for each in (first, second)} == {day("12")}

    def test_paid_on_moves_out_of_a_later_lock(self, trade: Trade) -> None:
        invoice, payment = trade.paid_document(500)
        trade.on("02-10", lock="31").change(payment, payment_date=day("02-04"))
        assert trade.documents[invoice].paid_on == day("02-04")

    def test_a_reversed_write_off_or_released_credit_takes_it_back(self, trade: Trade) -> None:
        first, second, third = (trade.document(500) for _ in range(3))
        write_off = trade.write_off(first)
        credit = trade.credit(500, to=[(second, 500)])
        payment = trade.pay(500, (third, 500))
        trade.reverse(write_off)
        trade.apply(credit)
        trade.change(payment, allocations=())
        assert {each.paid_on for each in trade.documents.values()} == {None}
