"""Payouts as they are announced, changed and deleted, and what they hold meanwhile."""

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
    def test_a_payout_is_paid_now_by_default(self) -> None:
        trade = CardSales("20")
        payout = trade.payouts[trade.pay_out(0)]
        assert (payout.status, payout.completed_at) == ("paid", moment("20"))
        assert (payout.completions, payout.currency) == ((Span(),), "GBP")
        waiting = trade.payouts[trade.pay_out(0, status="pending")]
        assert (waiting.status, waiting.completed_at, waiting.completions) == ("pending", None, ())

    def test_a_payout_keeps_the_given_facts(self) -> None:
        trade = CardSales("20")
        facts = {
            **{"processor_payout_id": "po_1", "reference_number": "R", "memo": "m"},
            **{"metadata": {"a": 1}, "imported_at": moment("19"), "external_id": "x"},
            **{"fee": 3, "additional_refunds": 4, "processor": "adyen"},
        }
        payout = trade.payouts[trade.pay_out(-5, **facts)]
        assert payout.paid_out == -5
        assert {name: getattr(payout, name) for name in facts} == facts

    def test_a_payout_holds_its_items(self) -> None:
        trade = CardSales("20")
        items = trade.card(100, fee=3), trade.give_back(20, fee=1)
        made = trade.pay_out(76, *items)
        assert [trade.payout_of(each) for each in items] == [made, made]
        payout = trade.payouts[made]
        assert [each.money_id for each in listed(payout)] == list(items)
        assert (payout.gross_payments, payout.total_refunds) == (100, 20)
        assert all(each.updated_at == moment("20") for each in trade.payments.values())

    def test_without_a_fee_it_costs_what_its_items_cost(self) -> None:
        trade = CardSales("20")
        items = trade.card(100, fee=3), trade.give_back(20, fee=1)
        payout = trade.payouts[trade.pay_out(76, *items)]
        assert (payout.fee, payouts.item_fees(payout), payouts.variance(payout)) == (4, 4, 0)

    def test_an_item_named_twice_is_listed_once(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        assert len(trade.payouts[trade.pay_out(100, payment, payment)].items) == 1

    def test_a_failed_payout_lists_items_without_holding_them(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        payout = trade.payouts[trade.pay_out(100, payment, status="failed")]
        assert [each.money_id for each in listed(payout)] == [payment]
        assert trade.payout_of(payment) is None
        assert payout.gross_payments == 100

    def test_an_item_is_completed_and_with_the_processor_and_in_no_other_payout(self) -> None:
        trade = CardSales("20")
        waiting, cash = trade.card(status="pending"), trade.card(method="cash")
        at_bank = trade.pay(100)
        assert code(refused(trade.pay_out, 1, waiting)) == (Conflict, "item_not_completed")
        assert code(refused(trade.pay_out, 1, at_bank)) == (RuleViolation, "item_not_in_clearing")
        holder = trade.pay_out(1, cash)
        refusal = refused(trade.pay_out, 1, cash)
        assert code(refusal) == (Conflict, "already_in_payout")
        assert refusal.detail == {"item_id": str(cash), "payout_id": str(holder)}

    def test_an_item_that_bank_lines_show_is_not_with_the_processor(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        at_bank = replace(trade.payments[payment], linked=100, money_account_id=UUID(int=1100))
        trade.payments[payment] = at_bank
        assert code(refused(trade.pay_out, 1, payment)) == (RuleViolation, "item_not_in_clearing")

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
        self, processor: str | None, method: str, paid_out_by: str, fits: bool
    ) -> None:
        trade = CardSales("20")
        payment = trade.card(processor=processor, method=method)
        if fits:
            assert trade.pay_out(100, payment, processor=paid_out_by)
        else:
            refusal = refused(trade.pay_out, 100, payment, processor=paid_out_by)
            assert code(refusal) == (RuleViolation, "processor_mismatch")

    def test_no_day_inside_the_lock_and_no_other_currency(self) -> None:
        trade = CardSales("20", lock="10")
        refusal = refused(trade.pay_out, 1, completed_at=moment("10"))
        assert code(refusal) == (Conflict, "period_locked")
        assert trade.pay_out(1, completed_at=moment("10"), status="pending")
        assert trade.pay_out(1, completed_at=moment("11"))
        assert code(refused(trade.pay_out, 1, currency="EUR")) == (
            RuleViolation,
            "currency_mismatch",
        )


class TestUpdate:
    def test_nothing_changes_where_nothing_is_new(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        made = trade.pay_out(100, payment, memo="m")
        before = trade.payouts[made]
        trade.today = "25"
        unchanged = trade.update(made, payment_ids=(payment,), memo="m")
        assert unchanged.payout is before
        assert unchanged.moved == ()

    def test_absent_facts_stay_and_null_clears_descriptions(self) -> None:
        trade = CardSales("20")
        payment = trade.card(100, fee=3)
        made = trade.pay_out(100, payment, memo="m", reference_number="R", fee=9)
        trade.today = "25"
        payout = trade.update(made, paid_out=90, memo=None).payout
        assert (payout.paid_out, payout.memo, payout.reference_number) == (90, None, "R")
        assert (payout.fee, payout.completed_at, payout.updated_at) == (
            9,
            moment("20"),
            moment("25"),
        )
        assert trade.payout_of(payment) == made

    def test_a_list_of_items_replaces_the_one_of_its_kind(self) -> None:
        trade = CardSales("20")
        first, second, back = trade.card(100, fee=3), trade.card(50, fee=2), trade.give_back(20)
        made = trade.pay_out(80, first, back)
        payout = trade.update(made, payment_ids=(second,)).payout
        assert [trade.payout_of(each) for each in (first, second, back)] == [None, made, made]
        assert (payout.gross_payments, payout.total_refunds) == (50, 20)
        assert (payouts.item_fees(payout), payout.fee) == (2, 3)
        assert {each.money_id for each in listed(payout)} == {second, back}

    def test_a_removed_item_returns_to_its_old_position(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        made = trade.pay_out(100, payment)
        trade.update(made, payment_ids=())
        payout = trade.update(made, payment_ids=(payment,)).payout
        assert [(each.money_id, each.listed) for each in payout.items] == [(payment, True)]
        assert trade.payout_of(payment) == made

    def test_a_removed_item_is_free_for_another_payout(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        made = trade.pay_out(100, payment)
        trade.update(made, payment_ids=())
        other = trade.pay_out(100, payment)
        assert trade.payout_of(payment) == other
        assert code(refused(trade.update, made, payment_ids=(payment,))) == (
            Conflict,
            "already_in_payout",
        )

    def test_a_payout_may_hold_a_failed_payment(self) -> None:
        trade = CardSales("20")
        first, second = trade.card(100, fee=3), trade.card(50)
        made = trade.pay_out(147, first)
        trade.move(first, "failed")
        payout = trade.update(made, payment_ids=(first, second)).payout
        assert (payout.gross_payments, payouts.item_fees(payout)) == (50, 0)

    def test_a_new_processor_must_be_the_processor_of_the_items(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(100, trade.card())
        assert code(refused(trade.update, made, processor="adyen")) == (
            RuleViolation,
            "processor_mismatch",
        )
        assert trade.update(made, processor="other").payout.processor == "other"

    def test_a_failed_payout_releases_its_items_and_holds_them_again_once_live(self) -> None:
        trade = CardSales("20")
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        trade.today = "22"
        failed = trade.update(made, status="failed").payout
        assert failed.completions == (Span(None, day("22")),)
        assert trade.payout_of(payment) is None
        trade.change(payment, fee=5)
        trade.today = "25"
        again = trade.update(made, status="paid").payout
        assert again.completions == (Span(None, day("22")), Span(day("25")))
        assert (trade.payout_of(payment), again.fee_steps) == (made, (FeeStep(day("20"), 5),))

    def test_going_live_again_looks_at_its_items_anew(self) -> None:
        trade = CardSales("20")
        taken, bounced = trade.card(), trade.card()
        first = trade.pay_out(100, taken, status="failed")
        second = trade.pay_out(100, bounced, status="cancelled")
        trade.pay_out(100, taken)
        trade.change(bounced, status="failed")
        assert code(refused(trade.update, first, status="paid")) == (Conflict, "already_in_payout")
        refusal = refused(trade.update, second, status="pending")
        assert code(refusal) == (Conflict, "item_not_completed")

    def test_a_pending_payout_holds_its_items_and_is_paid_on_the_given_day(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        made = trade.pay_out(100, payment, status="pending")
        assert trade.payout_of(payment) == made
        trade.today = "25"
        payout = trade.update(made, status="paid", completed_at=moment("23")).payout
        assert (payout.completed_at, payout.completions) == (moment("23"), (Span(),))

    def test_no_other_day_inside_the_lock(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(100, completed_at=moment("5"))
        trade.lock = "10"
        assert trade.update(made, paid_out=90).payout.paid_out == 90
        refusal = refused(trade.update, made, completed_at=moment("6"))
        assert code(refusal) == (Conflict, "period_locked")
        later = trade.update(made, completed_at=moment("5").replace(hour=18)).payout
        assert later.completed_at == moment("5").replace(hour=18)
        assert trade.update(made, completed_at=moment("12")).payout.completed_at == moment("12")

    def test_once_a_bank_line_is_linked_nothing_of_it_changes(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(100)
        linked = replace(trade.payouts[made], linked=40, money_account_id=UUID(int=1100))
        trade.payouts[made] = linked
        assert trade.update(made, paid_out=100).payout is linked
        refusal = refused(trade.update, made, memo="new")
        assert code(refusal) == (Conflict, "payout_reconciled")
        assert refusal.detail == {"linked_amount_cents": 40}


class TestDelete:
    def test_a_deleted_payout_releases_its_items_and_external_id(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        made = trade.pay_out(100, payment, external_id="x")
        trade.today = "25"
        trade.delete(made)
        payout = trade.payouts[made]
        assert (payout.external_id, payout.deleted_at) == (None, moment("25"))
        assert (payout.status, payout.completions) == ("cancelled", (Span(None, day("25")),))
        assert trade.payout_of(payment) is None

    def test_a_deleted_payout_releases_only_items_that_it_holds(self) -> None:
        trade = CardSales("20")
        payment = trade.card()
        first = trade.pay_out(100, payment, status="failed")
        second = trade.pay_out(100, payment)
        trade.delete(first)
        assert trade.payout_of(payment) == second

    def test_a_payout_with_a_bank_line_is_not_deleted(self) -> None:
        trade = CardSales("20")
        made = trade.pay_out(100)
        linked = replace(trade.payouts[made], linked=100, money_account_id=UUID(int=1100))
        trade.payouts[made] = linked
        assert code(refused(trade.delete, made)) == (Conflict, "payout_reconciled")


class TestItemMoved:
    def test_a_failed_item_counts_zero_and_its_fee_passes_to_the_payout_today(self) -> None:
        trade = CardSales("20")
        items = trade.card(100, fee=3), trade.card(50, fee=1)
        made = trade.pay_out(146, *items)
        trade.today = "24"
        trade.move(items[0], "failed")
        payout = trade.payouts[made]
        assert (payout.gross_payments, payouts.item_fees(payout), payout.fee) == (50, 1, 4)
        assert payout.fee_steps == (FeeStep(day("20"), 4), FeeStep(day("24"), -3))
        assert payouts.variance(payout) == 100
        assert len(listed(payout)) == 2

    def test_a_completed_item_counts_again(self) -> None:
        trade = CardSales("20")
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        trade.today = "24"
        trade.move(payment, "failed")
        trade.today = "26"
        trade.move(payment, "completed")
        payout = trade.payouts[made]
        assert (payout.gross_payments, payouts.item_fees(payout)) == (100, 3)
        assert payouts.variance(payout) == 0

    def test_a_new_date_of_an_item_moves_its_fee(self) -> None:
        trade = CardSales("20")
        payment = trade.card(100, fee=3)
        made = trade.pay_out(97, payment)
        trade.move(payment, "completed", payment_date=day("23"))
        assert trade.payouts[made].fee_steps == (FeeStep(day("23"), 3),)

    def test_nothing_else_of_an_item_counts(self) -> None:
        trade = CardSales("20")
        payment = trade.card(100, fee=3)
        trade.pay_out(97, payment)
        before = trade.payments[payment]
        assert not payout_changes.counts_otherwise(before, replace(before, note="Late"))
        trade.move(payment, "failed")
        bounced = trade.payments[payment]
        assert not payout_changes.counts_otherwise(bounced, replace(bounced, status="cancelled"))


class TestReportedPaid:
    def test_a_reported_payout_is_paid_on_its_own_day_or_the_day_of_the_bank_line(self) -> None:
        trade = CardSales("20")
        made = trade.payouts[trade.pay_out(100, status="pending")]
        paid = payout_changes.reported_paid(made, day("18"), trade.context())
        assert (paid.status, paid.completions) == ("paid", (Span(),))
        assert paid.completed_at == moment("18").replace(hour=0)
        dated = replace(made, completed_at=moment("15"))
        assert payout_changes.reported_paid(
            dated, day("18"), trade.context()
        ).completed_at == moment("15")

    def test_not_on_a_day_inside_the_lock(self) -> None:
        trade = CardSales("20")
        made = trade.payouts[trade.pay_out(100, status="pending")]
        trade.lock = "18"
        refusal = refused(payout_changes.reported_paid, made, day("18"), trade.context())
        assert code(refusal) == (Conflict, "period_locked")
        dated = replace(made, completed_at=moment("15"))
        refusal = refused(payout_changes.reported_paid, dated, day("19"), trade.context())
        assert code(refusal) == (Conflict, "period_locked")

    def test_a_paid_payout_keeps_its_day(self) -> None:
        trade = CardSales("20")
        made = trade.payouts[trade.pay_out(100)]
        paid = payout_changes.reported_paid(made, day("21"), trade.context())
        assert (paid.completed_at, paid.completions) == (moment("20"), (Span(),))


class TestMoneyAffected:
    def test_the_affected_money_is_the_listed_and_the_wanted_money(self) -> None:
        trade = CardSales("20")
        first, second, back = trade.card(), trade.card(), trade.give_back()
        payout = trade.payouts[trade.pay_out(100, first, back)]
        command = SavePayout(processor="stripe", paid_out=100, payment_ids=(second,))
        affected = payout_changes.money_affected(payout, command)
        assert affected == ({first, second}, {back})
        assert payout_changes.money_affected(None) == (set(), set())
