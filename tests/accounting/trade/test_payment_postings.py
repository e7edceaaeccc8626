"""Postings of payments, their days, and their reversals.

Where both sides post alike, `booked` names each account by its role on the side.
"""

import pytest

from accounting.books.ledger import Part, added, negative, times_sign
from accounting.trade.commands import TaxGiven
from accounting.trade.payments import applied_days, completion_days
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ROLES, by_code, day, named
from tests.accounting.trade.business import BOTH_SIDES, TAXED, Trade, items, line


class TestAccountsOfAPayment:
    @pytest.mark.parametrize(
        ("side", "method", "money", "fee"),
        [
            (RECEIVABLE, "stripe", {"1150": 500, "2100": -500}, {"6100": 7, "1150": -7}),
            (RECEIVABLE, "cash", {"1000": 500, "2100": -500}, {"6100": 7, "1000": -7}),
            (PAYABLE, "check", {"1250": 500, "1100": -500}, {"6300": 7, "1100": -7}),
            (PAYABLE, "cash", {"1250": 500, "1000": -500}, {"6300": 7, "1000": -7}),
        ],
    )
    def test_money_and_its_fee_are_entries_of_their_own_on_its_day(
        self, trade: Trade, method: str, money: dict[str, int], fee: dict[str, int]
    ) -> None:
        payment = trade.pay(500, method=method, fee=7, payment_date=day("3"))
        assert trade.book(payment) == [("3", money), ("3", fee)]

    @pytest.mark.parametrize(
        ("side", "title", "source"),
        [
            (RECEIVABLE, "payment from Acme Ltd", "payment"),
            (PAYABLE, "payment to Acme Ltd", "bill_payment"),
        ],
    )
    def test_payments_and_fees_are_described(self, trade: Trade, title: str, source: str) -> None:
        entries = trade.posted(trade.pay(500, fee=7, external_id="p"))
        titles = [title.replace("p", "P", 1), f"Fee of {title}"]
        assert [each.description for each in entries] == titles
        assert {(each.source_type, each.reference) for each in entries} == {(source, "p")}

    @pytest.mark.parametrize(
        ("side", "posted"),
        [
            (RECEIVABLE, {"1000": 5_000, "1200": -3_333, "2100": -1_667}),
            (PAYABLE, {"2000": 3_333, "1250": 1_667, "1000": -5_000}),
        ],
    )
    def test_money_beyond_what_is_owed_waits(self, trade: Trade, posted: dict[str, int]) -> None:
        payment = trade.pay(5_000, (trade.document(TAXED), 3_333), method="cash")
        assert trade.book(payment) == [("5", posted)]


@BOTH_SIDES
class TestPayment:
    def test_the_control_line_has_its_document_and_split(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(TAXED)
        payment = trade.on("10").pay(3_333, (id_, 3_333))
        [entry] = trade.posted(payment)
        [control] = [each for each in entry.lines if each.settles]
        assert (control.settles, control.amount) == (id_, -3_333 * side.sign)
        net, tax = Part(ROLES[side.line_default]), Part(ROLES[side.tax])
        assert times_sign(control.split, side.sign) == ((net, -2_777), (tax, -556))
        assert entry.entry_date == day("10")

    @pytest.mark.parametrize("before", ["pending", "processing"])
    def test_money_on_its_way_posts_nothing_until_it_comes(self, trade: Trade, before: str) -> None:
        id_ = trade.on("3").document(1_000)
        payment = trade.pay(1_000, (id_, 1_000), status=before, payment_date=day("5"))
        assert (trade.book(payment), trade.documents[id_].reserved) == ([], 1_000)
        trade.on("10").change(payment, status="completed")
        assert trade.booked(payment) == [("5", {"bank": 1_000, "control": -1_000})]
        assert trade.documents[id_].paid_on == day("5")

    def test_a_failure_and_its_repair_are_posted_today(self, side: Side, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(1_000), 1_000), fee=20)
        trade.on("10").change(payment, status="failed")
        trade.on("20").change(payment, status="completed")
        fee = 20 * side.sign
        assert trade.booked(payment) == [
            ("5", {"bank": 1_000, "control": -1_000}),
            ("5", {"fee": fee, "bank": -fee}),
            ("10", {"bank": -1_000, "control": 1_000}),
            ("10", {"fee": -fee, "bank": fee}),
            ("20", {"bank": 1_000, "prepayments": -1_000}),
            ("20", {"fee": fee, "bank": -fee}),
        ]

    def test_an_application_and_its_release_are_posted_today(self, trade: Trade) -> None:
        id_, payment = trade.document(1_000), trade.pay(1_000)
        trade.on("12").change(payment, allocations=items((id_, 400)))
        trade.on("14").change(payment, allocations=())
        assert trade.booked(payment)[1:] == [
            ("12", {"prepayments": 400, "control": -400}),
            ("14", {"prepayments": -400, "control": 400}),
        ]

    def test_a_new_list_keeps_what_is_unchanged(self, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        payment = trade.pay(1_000, (first, 300), (second, 500))
        trade.on("12").change(payment, allocations=items((first, 500), (second, 500)))
        assert trade.booked(payment)[1:] == [("12", {"control": -200, "prepayments": 200})]
        ended, kept, begun = trade.payments[payment].allocations
        assert (ended.end, kept.end, begun.start) == (day("12"), None, day("12"))

    def test_a_moved_payment_date_takes_its_allocations_along(self, trade: Trade) -> None:
        id_, payment = trade.paid_document(1_000)
        trade.on("20").change(payment, payment_date=day("8"))
        assert trade.booked(payment)[1:] == [
            ("5", {"bank": -1_000, "control": 1_000}),
            ("8", {"bank": 1_000, "control": -1_000}),
        ]
        assert trade.documents[id_].paid_on == day("8")

    def test_a_corrected_total_or_method_is_posted_at_the_payment_date(self, trade: Trade) -> None:
        payment = trade.pay(1_000)
        trade.on("20").change(payment, total=1_200)
        trade.change(payment, method="cash")
        assert trade.booked(payment)[1:] == [
            ("5", {"bank": 200, "prepayments": -200}),
            ("5", {"cash": 1_200, "bank": -1_200}),
        ]

    def test_money_in_advance_waits_until_the_document_opens(self, trade: Trade) -> None:
        id_ = trade.document(1_000, **trade.dated("15"))
        payment = trade.pay(1_000, (id_, 1_000))
        assert trade.booked(payment) == [
            ("5", {"bank": 1_000, "prepayments": -1_000}),
            ("15", {"prepayments": 1_000, "control": -1_000}),
        ]
        assert trade.documents[id_].paid_on == day("15")

    def test_nothing_is_taken_back_before_the_day_it_was_posted(self, trade: Trade) -> None:
        payment = trade.on("2").pay(1_000, (trade.document(1_000), 1_000), payment_date=day("20"))
        trade.on("10").change(payment, status="failed")
        assert trade.booked(payment) == [
            ("20", {"bank": 1_000, "control": -1_000}),
            ("20", {"bank": -1_000, "control": 1_000}),
        ]

    def test_two_partial_payments_settle_every_part_exactly(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(TAXED)
        trade.pay(3_333, (id_, 3_333))
        second = trade.on("9").pay(6_667, (id_, 6_667))
        net, tax = Part(ROLES[side.line_default]), Part(ROLES[side.tax])
        assert trade.payments[second].allocations[0].split == ((net, 5_556), (tax, 1_111))
        assert trade.documents[id_].paid_on == day("9")

    def test_a_step_taken_back_gives_its_own_split_back(self, trade: Trade) -> None:
        id_ = trade.document(line(600), line(600, taxes=(TaxGiven(200),)))
        first, second = trade.pay(700, (id_, 700)), trade.pay(700, (id_, 700))
        taken = trade.payments[first].allocations[0].split
        trade.change(first, status="failed")
        settled = trade.payments[second].allocations[0].split
        assert trade.documents[id_].settled == settled
        assert trade.payments[first].allocations[0].split == taken

    def test_a_release_before_a_failure_keeps_its_day(self, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(1_000), 1_000))
        trade.on("7").change(payment, allocations=())
        trade.on("9").change(payment, status="failed")
        assert trade.booked(payment)[1:] == [
            ("7", {"control": 1_000, "prepayments": -1_000}),
            ("9", {"bank": -1_000, "prepayments": 1_000}),
        ]


class TestPaymentOfACustomer:
    """A payment from a customer, which may move from any status to any other."""

    def test_a_swap_of_two_splits_of_one_amount_is_posted_too(self, trade: Trade) -> None:
        invoice = trade.document(line(100), line(100, account=named("4500")))
        first = trade.pay(99, (invoice, 99))
        trade.on("10").change(first, allocations=())
        trade.pay(1, (invoice, 1))
        trade.change(first, allocations=items((invoice, 99)))
        before, after = [each.split for each in trade.payments[first].allocations]
        assert before != after
        trade.change(first, payment_date=day("12"))
        posted = [each.split for entry in trade.posted(first) for each in entry.lines]
        assert by_code(added(*map(negative, posted))) == by_code(after)

    def test_cancelling_a_prepayment_links_its_reversals(self, trade: Trade) -> None:
        payment = trade.pay(1_000, fee=20)
        trade.change(payment, total=1_100)
        trade.on("8").change(payment, status="cancelled")
        posted = trade.posted(payment)
        assert [each.reversal_of_id for each in posted] == [
            *(None, None, None),
            *(each.id for each in (posted[0], posted[2], posted[1])),
        ]
        assert {each.entry_date for each in posted[3:]} == {day("8")}

    def test_cancelling_one_that_settled_something_is_a_plain_entry(self, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(1_000), 1_000))
        trade.change(payment, status="cancelled")
        assert [each.reversal_of_id for each in trade.posted(payment)] == [None, None]

    def test_an_allocation_is_applied_while_its_payment_is_completed(self, trade: Trade) -> None:
        payment = trade.pay(1_000, (trade.document(1_000), 1_000))
        trade.on("10").change(payment, status="processing")
        trade.on("15").change(payment, status="completed")
        value = trade.payments[payment]
        before, after = value.allocations
        assert completion_days(value) == [(day("5"), day("10")), (day("15"), None)]
        assert applied_days(value, before) == [(day("5"), day("10"))]
        assert applied_days(value, after) == [(day("15"), None)]
        assert trade.book(payment)[1:] == [
            ("10", {"1100": -1_000, "1200": 1_000}),
            ("15", {"1100": 1_000, "1200": -1_000}),
        ]


@BOTH_SIDES
class TestPeriodLock:
    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(self, trade: Trade) -> None:
        method, dated = trade.pay(500), trade.pay(500)
        trade.on("02-10", lock="31").change(method, method="cash")
        assert trade.booked(method)[1:] == [("2-1", {"cash": 500, "bank": -500})]
        trade.change(dated, payment_date=day("02-04"))
        assert trade.booked(dated)[1:] == [
            ("2-1", {"bank": -500, "prepayments": 500}),
            ("2-4", {"bank": 500, "prepayments": -500}),
        ]

    def test_history_inside_the_lock_that_nets_to_nothing_is_left_alone(self, trade: Trade) -> None:
        payment = trade.pay(500)
        trade.on("10").change(payment, status="failed")
        trade.on("02-10", lock="31").change(payment, method="cash")
        assert len(trade.book(payment)) == 2

    def test_today_inside_the_lock_counts_as_the_day_after_it(self, trade: Trade) -> None:
        id_, payment = trade.document(500), trade.pay(500)
        trade.on("10", lock="31").change(payment, allocations=items((id_, 500)))
        assert trade.booked(payment)[1:] == [("2-1", {"prepayments": 500, "control": -500})]
        assert trade.documents[id_].paid_on == day("02-01")
