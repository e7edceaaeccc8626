"""Payouts that are announced, changed and deleted, and the money that they hold."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import payout_changes, payouts
from accounting.bank.commands import SavePayout
from accounting.bank.payouts import FeeStep, listed
from accounting.books.ledger import Span
from accounting.errors import Conflict, RuleViolation
from tests.accounting.bank.card_sales import CardSales
from tests.accounting.samples import day, moment, refused


def code(refusal: Any) -> tuple[type, str]:
    return type(refusal), refusal.code


class TestAnnounce:
    def test_a_payout_is_paid_now_by_default(self, trade: CardSales) -> None:
        payout = trade.payouts[trade.pay_out(0)]
        assert (payout.status, payout.completed_at) == ("paid", moment("20"))
        assert (payout.completions, payout.currency) == ((Span(),), "GBP")
        waiting = trade.payouts[trade.pay_out(0, status="pending")]
        assert (waiting.status, waiting.completed_at, waiting.completions) == ("pending", None, ())

    def test_a_payout_keeps_the_given_facts(self, trade: CardSales) -> None:
        facts = {
            **{"processor_payout_id": "po_1", "reference_number": "R", "memo": "m"},
            **{"metadata": {"a": 1}, "imported_at": moment("19"), "external_id": "x"},
            **{"fee": 3, "additional_refunds": 4, "processor": "adyen"},
        }
        payout = trade.payouts[trade.pay_out(-5, **facts)]
        assert payout.paid_out == -5
        assert {name: getattr(payout, name) for name in facts} == facts

    def test_a_payout_holds_its_items_and_costs_their_fees(self, trade: CardSales) -> None:
        items = trade.card(100, fee=3), trade.give_back(20, fee=1)
        made = trade.pay_out(76, *items)
        assert [trade.payout_of(each) for each in items] == [made, made]
        payout = trade.payouts[made]
        assert [each.money_id for each in listed(payout)] == list(items)
        assert (payout.gross_payments, payout.total_refunds) == (100, 20)
        assert (payout.fee, payouts.item_fees(payout), payouts.variance(payout)) == (4, 4, 0)
        assert all(each.updated_at == moment("20") for each in trade.payments.values())

    def test_an_item_named_twice_is_listed_once(self, trade: CardSales) -> None:
        payment = trade.card()
        assert len(trade.payouts[trade.pay_out(100, payment, payment)].items) == 1

    def test_a_failed_payout_lists_items_without_holding_them(self, trade: CardSales) -> None:
        payment = trade.card()
        payout = trade.payouts[trade.pay_out(100, payment, status="failed")]
        assert [each.money_id for each in listed(payout)] == [payment]
        assert trade.payout_of(payment) is None
        assert payout.gross_payments == 100

    def test_an_item_is_completed_in_clearing_and_in_no_payout(self, trade: CardSales) -> None:
        waiting, cash = trade.card(status="pending"), trade.card(method="cash")
        at_bank, shown = trade.pay(100), trade.card()
        linked = replace(trade.payments[shown], linked=100, money_account_id=UUID(int=1100))
        trade.payments[shown] = linked
        assert code(refused(trade.pay_out, 1, waiting)) == (Conflict, "item_not_completed")
        for id_ in (at_bank, shown):
            assert code(refused(trade.pay_out, 1, id_)) == (RuleViolation, "item_not_in_clearing")
        holder = trade.pay_out(1, cash)
        refusal = refused(trade.pay_out, 1, cash)
        assert code(refusal) == (Conflict, "already_in_payout")
        assert refusal.detail == {"item_id": str(cash), "payout_id": str(holder)}

    @pytest.mark.parametrize(
        ("processor", "method", "paid_out_by", "fits"),
        [
            ("Stripe", "bank_transfer", "stripe", True),
            ("adyen", "credit_card", "stripe", False),
            ("adyen", "credit_card", "other", True),
            (None, "credit_card", "stripe", True),
            (None, "paypal", "stripe", False),
            (None, "paypal", "paypal", True),
        ],
    )
    def test_an_item_is_of_the_same_processor_or_of_none(
        self, trade: CardSales, processor: Any, method: str, paid_out_by: str, fits: bool
    ) -> None:
        payment = trade.card(processor=processor, method=method)
        if fits:
            assert trade.pay_out(100, payment, processor=paid_out_by)
        else:
            refusal = refused(trade.pay_out, 100, payment, processor=paid_out_by)
            assert code(refusal) == (RuleViolation, "processor_mismatch")

    def test_no_day_inside_the_lock_and_no_other_currency(self, trade: CardSales) -> None:
        trade.lock = "10"
        refusal = refused(trade.pay_out, 1, completed_at=moment("10"))
        assert code(refusal) == (Conflict, "period_locked")
        assert trade.pay_out(1, completed_at=moment("10"), status="pending")
        assert trade.pay_out(1, completed_at=moment("11"))
        refusal = refused(trade.pay_out, 1, currency="EUR")
        assert code(refusal) == (RuleViolation, "exchange_rate_missing")


class TestUpdate:
    def test_nothing_changes_where_nothing_is_new(self, trade: CardSales) -> None:
        payment = trade.card()
        made = trade.pay_out(100, payment, memo="m")
        before = trade.payouts[made]
        unchanged = trade.on("25").update(made, payment_ids=(payment,), memo="m")
        assert unchanged.payout is before
        assert unchanged.moved == ()

    def test_absent_facts_stay_and_null_clears_descriptions(self, trade: CardSales) -> None:
        payment = trade.card(100, fee=3)
        made = trade.pay_out(100, payment, memo="m", reference_number="R", fee=9)
        payout = trade.on("25").update(made, paid_out=90, memo=None).payout
        assert (payout.paid_out, payout.memo, payout.reference_number) == (90, None, "R")
        assert (payout.fee, payout.completed_at) == (9, moment("20"))
        assert payout.updated_at == moment("25")
        assert trade.payout_of(payment) == made

    def test_a_list_of_items_replaces_the_one_of_its_kind(self, trade: CardSales) -> None:
        first, second, back = trade.card(100, fee=3), trade.card(50, fee=2), trade.give_back(20)
        made = trade.pay_out(80, first, back)
        payout = trade.update(made, payment_ids=(second,)).payout
        assert [trade.payout_of(each) for each in (first, second, back)] == [None, made, made]
        assert (payout.gross_payments, payout.total_refunds) == (50, 20)
        assert (payouts.item_fees(payout), payout.fee) == (2, 3)
        assert {each.money_id for each in listed(payout)} == {second, back}

    def test_a_removed_item_returns_or_is_free_for_another_payout(self, trade: CardSales) -> None:
        payment = trade.card()
        made = trade.pay_out(100, payment)
        trade.update(made, payment_ids=())
        payout = trade.update(made, payment_ids=(payment,)).payout
        assert [(each.money_id, each.listed) for each in payout.items] == [(payment, True)]
        assert trade.payout_of(payment) == made
        trade.update(made, payment_ids=())
        assert trade.payout_of(payment) is None
        other = trade.pay_out(100, payment)
        assert trade.payout_of(payment) == other
        refusal = refused(trade.update, made, payment_ids=(payment,))
        assert code(refusal) == (Conflict, "already_in_payout")

    def test_a_payout_may_hold_a_failed_payment(self, trade: CardSales) -> None:
        first, second = trade.card(100, fee=3), trade.card(50)
        made = trade.pay_out(147, first)
        trade.move(first, "failed")
        payout = trade.update(made, payment_ids=(first, second)).payout
        assert (payout.gross_payments, payouts.item_fees(payout)) == (50, 0)

    def test_a_new_processor_must_be_the_processor_of_the_items(self, trade: CardSales) -> None:
        made = trade.pay_out(100, trade.card())
        refusal = refused(trade.update, made, processor="adyen")
        assert code(refusal) == (RuleViolation, "processor_mismatch")
        assert trade.update(made, processor="other").payout.processor == "other"

    def test_a_failed_payout_releases_its_items_until_it_is_live(self, trade: CardSales) -> None:
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        failed = trade.on("22").update(made, status="failed").payout
        assert failed.completions == (Span(None, day("22")),)
        assert trade.payout_of(payment) is None
        trade.change(payment, fee=5)
        again = trade.on("25").update(made, status="paid").payout
        assert again.completions == (Span(None, day("22")), Span(day("25")))
        assert (trade.payout_of(payment), again.fee_steps) == (made, (FeeStep(day("20"), 5),))

    def test_going_live_again_looks_at_its_items_anew(self, trade: CardSales) -> None:
        taken, bounced = trade.card(), trade.card()
        first = trade.pay_out(100, taken, status="failed")
        second = trade.pay_out(100, bounced, status="cancelled")
        trade.pay_out(100, taken)
        trade.change(bounced, status="failed")
        assert code(refused(trade.update, first, status="paid")) == (Conflict, "already_in_payout")
        refusal = refused(trade.update, second, status="pending")
        assert code(refusal) == (Conflict, "item_not_completed")

    def test_a_pending_payout_holds_its_items_until_it_is_paid(self, trade: CardSales) -> None:
        payment = trade.card()
        made = trade.pay_out(100, payment, status="pending")
        assert trade.payout_of(payment) == made
        payout = trade.on("25").update(made, status="paid", completed_at=moment("23")).payout
        assert (payout.completed_at, payout.completions) == (moment("23"), (Span(),))

    def test_no_other_day_inside_the_lock(self, trade: CardSales) -> None:
        made = trade.pay_out(100, completed_at=moment("5"))
        trade.lock = "10"
        assert trade.update(made, paid_out=90).payout.paid_out == 90
        refusal = refused(trade.update, made, completed_at=moment("6"))
        assert code(refusal) == (Conflict, "period_locked")
        for at in (moment("5").replace(hour=18), moment("12")):
            assert trade.update(made, completed_at=at).payout.completed_at == at

    def test_once_a_bank_line_is_linked_nothing_of_it_changes(self, trade: CardSales) -> None:
        made = trade.pay_out(100)
        linked = replace(trade.payouts[made], linked=40, money_account_id=UUID(int=1100))
        trade.payouts[made] = linked
        assert trade.update(made, paid_out=100).payout is linked
        refusal = refused(trade.update, made, memo="new")
        assert code(refusal) == (Conflict, "payout_reconciled")
        assert refusal.detail == {"linked_amount_cents": 40}


class TestDelete:
    def test_a_deleted_payout_releases_its_items_and_external_id(self, trade: CardSales) -> None:
        payment = trade.card()
        made = trade.pay_out(100, payment, external_id="x")
        trade.on("25").delete(made)
        payout = trade.payouts[made]
        assert (payout.external_id, payout.deleted_at) == (None, moment("25"))
        assert (payout.status, payout.completions) == ("cancelled", (Span(None, day("25")),))
        assert trade.payout_of(payment) is None

    def test_a_deleted_payout_releases_only_items_that_it_holds(self, trade: CardSales) -> None:
        payment = trade.card()
        first = trade.pay_out(100, payment, status="failed")
        second = trade.pay_out(100, payment)
        trade.delete(first)
        assert trade.payout_of(payment) == second

    def test_a_payout_with_a_bank_line_is_not_deleted(self, trade: CardSales) -> None:
        made = trade.pay_out(100)
        trade.payouts[made] = replace(trade.payouts[made], linked=100)
        assert code(refused(trade.delete, made)) == (Conflict, "payout_reconciled")


class TestItemMoved:
    def test_a_failed_item_counts_zero_and_its_fee_stays(self, trade: CardSales) -> None:
        items = trade.card(100, fee=3), trade.card(50, fee=1)
        made = trade.pay_out(146, *items)
        trade.on("24").move(items[0], "failed")
        payout = trade.payouts[made]
        assert (payout.gross_payments, payouts.item_fees(payout), payout.fee) == (50, 1, 4)
        assert payout.fee_steps == (FeeStep(day("20"), 4), FeeStep(day("24"), -3))
        assert payouts.variance(payout) == 100
        assert len(listed(payout)) == 2

    def test_a_completed_item_counts_again(self, trade: CardSales) -> None:
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        trade.on("24").move(payment, "failed")
        trade.on("26").move(payment, "completed")
        payout = trade.payouts[made]
        assert (payout.gross_payments, payouts.item_fees(payout)) == (100, 3)
        assert payouts.variance(payout) == 0

    def test_a_new_date_of_an_item_moves_its_fee(self, trade: CardSales) -> None:
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        trade.move(payment, "completed", payment_date=day("23"))
        assert trade.payouts[made].fee_steps == (FeeStep(day("23"), 3),)

    def test_nothing_else_of_an_item_counts(self, trade: CardSales) -> None:
        payment = trade.card(100, fee=3)
        trade.pay_out(97, payment)
        before = trade.payments[payment]
        assert not payout_changes.counts_otherwise(before, replace(before, note="Late"))
        trade.move(payment, "failed")
        bounced = trade.payments[payment]
        assert not payout_changes.counts_otherwise(bounced, replace(bounced, status="cancelled"))


class TestReportedPaid:
    def test_a_reported_payout_is_paid_on_its_day_or_the_lines(self, trade: CardSales) -> None:
        made = trade.payouts[trade.pay_out(100, status="pending")]
        paid = payout_changes.reported_paid(made, day("18"), trade.context())
        assert (paid.status, paid.completions) == ("paid", (Span(),))
        assert paid.completed_at == moment("18").replace(hour=0)
        dated = replace(made, completed_at=moment("15"))
        paid = payout_changes.reported_paid(dated, day("18"), trade.context())
        assert paid.completed_at == moment("15")
        trade.lock = "18"
        for payout, on in ((made, "18"), (dated, "19")):
            refusal = refused(payout_changes.reported_paid, payout, day(on), trade.context())
            assert code(refusal) == (Conflict, "period_locked")

    def test_a_paid_payout_keeps_its_day(self, trade: CardSales) -> None:
        made = trade.payouts[trade.pay_out(100)]
        paid = payout_changes.reported_paid(made, day("21"), trade.context())
        assert (paid.completed_at, paid.completions) == (moment("20"), (Span(),))


class TestTimeZones:
    """A payout of 23:30 UTC on the 20th is of the 21st in Amsterdam, and stays so."""

    def test_a_payout_has_the_day_of_its_moment_in_the_zone(self, trade: CardSales) -> None:
        trade.timezone = "Europe/Amsterdam"
        now, given = trade.on("20T23:30").pay_out(100), moment("18T23:30")
        earlier = trade.pay_out(100, completed_at=given)
        assert [on for each in (now, earlier) for on, _ in trade.paid_out(each)] == ["21", "19"]
        trade.lock = "19"
        refusal = refused(trade.pay_out, 100, completed_at=given)
        assert code(refusal) == (Conflict, "period_locked")

    def test_a_moment_that_stays_keeps_its_day(self, trade: CardSales) -> None:
        at = moment("20T23:30")
        made = trade.on("22").pay_out(100, completed_at=at)
        trade.timezone = "Europe/Amsterdam"
        trade.update(made, completed_at=at, memo="again")
        assert [on for on, _ in trade.paid_out(made)] == ["20"]
        trade.update(made, completed_at=moment("21T23:30"))
        assert [on for on, _ in trade.paid_out(made)] == ["20", "20", "22"]

    def test_a_payout_that_a_line_reports_begins_that_day(self, trade: CardSales) -> None:
        trade.timezone = "Pacific/Pago_Pago"
        made = trade.payouts[trade.pay_out(100, status="pending")]
        paid = payout_changes.reported_paid(made, day("18"), trade.context())
        assert paid.completed_at == moment("18T11:00")
        assert payouts.completed_on(paid) == day("18")


class TestMoneyAffected:
    def test_the_affected_money_is_the_listed_and_the_wanted_money(self, trade: CardSales) -> None:
        first, second, back = trade.card(), trade.card(), trade.give_back()
        payout = trade.payouts[trade.pay_out(100, first, back)]
        command = SavePayout(processor="stripe", paid_out=100, payment_ids=(second,))
        affected = payout_changes.money_affected(payout, command)
        assert affected == ({first, second}, {back})
        assert payout_changes.money_affected(None) == (set(), set())
