"""Random histories of sales and of purchases keep the books in order."""

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.trade import credits, documents, payments, refunds
from tests.accounting.samples import ROLES, code_of
from tests.accounting.trade.business import Trade
from tests.accounting.trade.history import History, Sales
from tests.accounting.trade.invariants import (
    check_cash,
    check_credits,
    check_documents,
    check_parts,
    check_payments,
    check_postings,
    check_refunds,
    check_targets,
    mirrored,
    on_cash,
    payments_of,
)
from tests.accounting.trade.purchase_history import PurchaseHistory
from tests.accounting.trade.purchases import Purchases


def check_accounts(trade: Trade, *given_up: str) -> None:
    """Check the accounts of a side and of money against the documents and payments."""
    side, balances = trade.side, trade.balances()

    def held(*codes: str) -> int:
        return side.sign * sum(balances.get(code, 0) for code in codes)

    owed = [each for each in trade.documents.values() if each.state == "open"]
    done = [each for each in trade.payments.values() if each.status == "completed"]
    gone = [each for each in trade.payments.values() if each.status != "completed"]
    live = [each for each in trade.refunds.values() if each.cancelled_at is None]
    back = [each for each in trade.refund_payments.values() if each.status == "completed"]
    unused = sum(map(payments.remaining, done)) - sum(each.refunded for each in gone)
    assert held(code_of(ROLES[side.control])) == sum(map(documents.outstanding, owed))
    assert -held(code_of(ROLES[side.prepayments])) == unused
    unapplied = sum(map(credits.unapplied, trade.credits.values()))
    assert -held(code_of(ROLES[side.credits])) == unapplied
    assert -held(code_of(ROLES[side.refunds])) == sum(map(refunds.rest, live))
    fees = side.sign * sum(each.fee for each in [*done, *back])
    assert held(code_of(ROLES[side.fee])) == fees
    moved = sum(each.total for each in done) - sum(each.amount for each in back)
    assert held("1000", "1100", "1150") == moved - fees
    written_off = [each for each in trade.write_offs.values() if each.reversed_at is None]
    assert held(*given_up) == sum(each.amount for each in written_off)
    assert sum(balances.values()) == 0


def check_vendor_refunds(trade: Purchases) -> None:
    """Check that payments add up to their refund, and that each credit is part of a live refund."""
    kept: dict[UUID, int] = {}
    waiting = 0
    for refund in trade.refunds.values():
        made = payments_of(trade, refund)
        if refund.cancelled_at is None:
            assert sum(each.amount for each in made) == refunds.cash(refund)
            waiting += refunds.unallocated(refund)
        assert all(0 <= each.fee <= each.amount for each in made)
        assert (refund.cancelled_at is None) == any(e.status != "cancelled" for e in made)
        assert refunds.allocated(refund) <= refund.amount
        live = refunds.live_allocations(refund)
        assert refund.cancelled_at is None or not live
        kept |= {each.target_id: each.amount for each in live if each.kind == "credit"}
    of_refunds = [each for each in trade.credits.values() if each.refund_id is not None]
    open_credits = {each.id: each.total_amount for each in of_refunds if each.state == "open"}
    assert open_credits == kept
    assert -trade.balances().get("1900", 0) == waiting


def check(history: History) -> None:
    trade = history.trade
    check_postings(trade, history.locks_move)
    check_documents(trade)
    check_credits(trade)
    check_refunds(trade)
    check_payments(trade)
    check_cash(trade)
    if isinstance(trade, Purchases):
        check_parts(trade, "6000", "5100", "4500", "2200", "1300")
        check_accounts(trade, "6200", "6400")
        check_vendor_refunds(trade)
        check_targets(trade)
    else:
        check_parts(trade, "4000", "4100", "4200", "4500", "2200")
        check_accounts(trade, "6000", "6200")


@pytest.mark.parametrize("side", [Sales, PurchaseHistory])
class TestHistories:
    @settings(max_examples=40, deadline=None)
    @given(st.data())
    def test_books_stay_in_order(self, side: type[History], data: st.DataObject) -> None:
        history = side(data)
        for _ in range(16):
            history.step()
            check(history)

    @settings(max_examples=30, deadline=None)
    @given(st.data())
    def test_everything_can_be_taken_back(self, side: type[History], data: st.DataObject) -> None:
        history = side(data)
        for _ in range(16):
            history.step()
        history.take_everything_back()
        check(history)
        trade = history.trade
        assert trade.balances() == {}
        assert on_cash(trade) == {}
        assert all(not each.settled and not each.returned for each in trade.documents.values())
        assert all(each.refunded == 0 for each in trade.payments.values())
        if side is Sales:
            whole = [*trade.write_offs.values(), *trade.refunds.values()]
            assert history.locks_move or mirrored([*whole, *trade.refund_payments.values()])
