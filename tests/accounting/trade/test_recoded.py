"""Lines of documents and credits that get other accounts, open and settled."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounting.books.ledger import Split
from accounting.trade import credits, documents
from accounting.trade.moved_parts import Step, moves, split_again
from accounting.trade.sides import PAYABLE, Side
from tests.accounting.samples import (
    ACME,
    amounts,
    code_of,
    day,
    moment,
    named,
    part_on,
    refusal_of,
    refused,
    written,
)
from tests.accounting.trade.business import BOTH_SIDES, Trade, line
from tests.accounting.trade.invariants import cash_by_entry, on_cash
from tests.accounting.trade.purchases import BILL, Purchases, returned
from tests.accounting.trade.test_coded_documents import CODES, coded

A, B = "4000", "4600"


def shown(split: Split) -> dict[str, int]:
    return {code_of(part.account_id): amount for part, amount in split}


def cash_of(trade: Trade, id_: UUID) -> list[tuple[str, dict[str, int]]]:
    """Return what each entry of a record counts on cash, with its day."""
    of_all = zip(trade.entries(), cash_by_entry(trade), strict=True)
    return [
        (written(entry.entry_date), {code: n for code, n in counted.items() if n})
        for entry, counted in of_all
        if entry.source_id == id_
    ]


class TestMoves:
    def test_a_part_that_stays_is_left_out(self) -> None:
        assert moves([("a", "a", 3), ("b", "c", 4)]) == {"b": {"c": 4}}

    def test_steps_take_what_the_earlier_ones_have_left(self) -> None:
        moved = moves([("a", "b", 2), ("a", "a", 1), ("a", "c", 0)])
        steps = [Step(UUID(int=n), day(str(9 - n)), (("a", 1),), live=True) for n in (1, 2, 3)]
        again = split_again(moved, steps)
        # The earliest is the third: 1 of 2 and 1 is 0.67 and 0.33.
        assert [again[UUID(int=n)] for n in (3, 2, 1)] == [(("b", 1),), (("b", 1),), (("a", 1),)]

    def test_parts_below_zero_are_split_too(self) -> None:
        moved = moves([("a", "b", -2), ("a", "a", -1)])
        steps = [Step(UUID(int=1), day("1"), (("a", -3),), live=True)]
        assert split_again(moved, steps) == {UUID(int=1): (("b", -2), ("a", -1))}

    def test_an_ended_step_takes_nothing_and_one_of_other_parts_stays(self) -> None:
        moved = moves([("a", "b", 2)])
        ended = [Step(UUID(int=n), day("1"), (("a", n),), live=False) for n in (1, 2, 3)]
        live = Step(UUID(int=4), day("2"), (("a", 2),), live=True)
        again = split_again(moved, [*ended, live])
        assert [again[UUID(int=n)] for n in (1, 2, 3, 4)] == [
            *((("b", 1),), (("b", 2),), (("a", 3),), (("b", 2),)),
        ]


@BOTH_SIDES
class TestDocument:
    def test_an_open_one_posts_the_difference_on_its_day(self, side: Side) -> None:
        trade = Trade("9", side=side)
        id_ = trade.document(line(1_000, account=named(A)), issue_date=day("3"))
        trade.recode(id_, {0: B})
        assert trade.book(id_)[1:] == [("3", {A: side.sign * 1_000, B: -side.sign * 1_000})]
        trade.recode(id_, {0: B})
        assert len(trade.book(id_)) == 2

    def test_inside_the_lock_it_posts_on_the_day_after_it(self, side: Side) -> None:
        trade = Trade("5", side=side)
        id_, payment = trade.paid_document(line(1_000, account=named(A)))
        trade.on("9", lock="7").recode(id_, {0: B})
        moved = ("8", {A: side.sign * 1_000, B: -side.sign * 1_000})
        assert trade.book(id_)[1:] == [moved]
        assert cash_of(trade, payment)[1:] == [moved]

    def test_each_settlement_is_split_again_on_its_own_day(self, side: Side) -> None:
        trade = Trade("2", side=side)
        taxed = line(600, account=named(A), tax_rate="20")
        id_ = trade.document(taxed, line(280, account=named(A)), issue_date=day("2"))
        first = trade.on("5").pay(500, (id_, 500))
        second = trade.on("7").pay(300, (id_, 300))
        lost = trade.on("8").write_off(id_, 200)
        before = trade.documents[id_]
        accrual, cash = trade.balances(), on_cash(trade)
        trade.on("9").recode(id_, {1: B})
        after = trade.documents[id_]
        assert documents.parts(after)[part_on(B)] == 280
        assert sum(shown(after.settled).values()) == sum(shown(before.settled).values()) == 1_000
        # All that is settled of a part of 880 is 280 of the moved line and 600 of the other.
        assert (shown(after.settled)[A], shown(after.settled)[B]) == (600, 280)
        now = trade.balances()
        assert {code: now[code] - accrual.get(code, 0) for code in (A, B)} == {
            A: side.sign * 280,
            B: -side.sign * 280,
        }
        for payment, on in ((first, "5"), (second, "7")):
            [change] = cash_of(trade, payment)[1:]
            assert (change[0], sum(change[1].values())) == (on, 0)
            assert set(change[1]) == {A, B}
        tax = code_of(trade.documents[id_].lines[0].taxes[0].account_id)
        assert on_cash(trade)[tax] == cash[tax]
        assert sum(shown(trade.write_offs[lost].split).values()) == 200

    def test_a_settlement_that_ended_is_split_again_while_it_stood(self, side: Side) -> None:
        trade = Trade("2", side=side)
        id_, payment = trade.paid_document(line(1_000, account=named(A)))
        trade.on("5").change(payment, status="failed")
        trade.on("9").recode(id_, {0: B})
        moved = {A: side.sign * 1_000, B: -side.sign * 1_000}
        back = {code: -n for code, n in moved.items()}
        assert cash_of(trade, payment)[2:] == [("2", moved), ("5", back)]

    def test_credits_settle_the_new_accounts_and_keep_their_own(self, side: Side) -> None:
        trade = Trade("2", side=side)
        id_ = trade.document(line(1_000, account=named(A)))
        credit = trade.on("5").credit(400, to=[(id_, 400)])
        own = trade.credits[credit].allocations[0].own_split
        trade.on("9").recode(id_, {0: B})
        [allocation] = trade.credits[credit].allocations
        assert (shown(allocation.split), allocation.own_split) == ({B: 400}, own)

    def test_a_void_one_and_another_line_are_refused(self, side: Side) -> None:
        trade = Trade("2", side=side)
        id_, other = trade.document(100), trade.document(100)
        trade.void(id_)
        assert refused(trade.recode, id_, {0: B}).code == "invalid_state_transition"
        for code, error in (("1200", "control_account"), ("9999", "reference_not_found")):
            assert refusal_of(trade.recode, other, {0: code})[0] == error

    def test_what_is_no_money_changes_also_when_settled(self, side: Side) -> None:
        trade = Trade("2", side=side)
        id_, _ = trade.paid_document(1_000)
        said: dict[str, Any] = {"external_id": "x", "memo": "m", "transaction_tags": ("t",)}
        said |= {"metadata": {"k": 1}, "due_at": moment("9"), "terms": "net 7"}
        trade.on("9").recode(id_, {}, **said)
        after = trade.documents[id_]
        assert {name: getattr(after, name) for name in said} == said
        assert after.updated_at == moment("9")
        assert len(trade.book(id_)) == 1
        trade.recode(id_, {}, due_at=None)
        assert trade.documents[id_].due_at is None

    def test_an_equal_change_returns_the_same_document(self, side: Side) -> None:
        trade = Trade("2", side=side)
        id_ = trade.document(line(1_000, account=named(A)), memo="m")
        before = trade.documents[id_]
        trade.on("9").recode(id_, {0: A}, memo="m")
        assert trade.documents[id_].updated_at == before.updated_at


@BOTH_SIDES
class TestCredit:
    def test_its_uses_are_split_again_on_their_own_days(self, side: Side) -> None:
        trade = Trade("2", side=side)
        document = trade.document(1_000)
        credit = trade.on("3").credit(600, 300, to=[(document, 500)])
        account = code_of(trade.credits[credit].lines[0].account_id)
        trade.on("9").recode(credit, {1: B})
        after = trade.credits[credit]
        assert shown(after.settled) == {account: 333, B: 167}
        assert shown(after.allocations[0].own_split) == {account: 333, B: 167}
        assert credits.parts(after)[part_on(B)] == 300
        *_, (own, on_accrual), (applied, _) = trade.book(credit)
        assert (own, applied) == ("3", "3")
        assert on_accrual == {account: -side.sign * 300, B: side.sign * 300}

    def test_a_void_one_is_refused(self, side: Side) -> None:
        trade = Trade("2", side=side)
        credit = trade.credit(600)
        trade.void_credit(credit)
        assert refused(trade.recode, credit, {0: B}).code == "invalid_state_transition"


class TestRefunds:
    def test_a_credit_that_is_paid_out_moves_with_its_refund(self) -> None:
        trade = Trade("2")
        credit = trade.credit(600)
        refund = trade.on("4").refund(credit, completed_at=moment("4"))
        trade.on("9").recode(credit, {0: B})
        assert shown(trade.refunds[refund].allocations[0].split) == {B: 600}
        assert shown(trade.refunds[refund].settled) == {B: 600}
        [payment] = trade.refund_payments
        assert cash_of(trade, payment)[1:] == [("4", {"4100": -600, B: 600})]

    def test_what_a_vendor_refunds_of_a_bill_moves_with_it(self) -> None:
        trade = Purchases("2")
        taxed = line(1_000, account=named("6000"), tax_rate="20")
        bill, _ = trade.paid_document(taxed, line(500, account=named("6000")))
        refund = trade.on("4").agree(600, returned(BILL, 600, bill))
        payment = trade.complete(refund)
        trade.on("9").recode(bill, {0: "5000"})
        [allocation] = trade.refunds[refund].allocations
        assert sum(shown(allocation.split).values()) == 600
        assert allocation.split == trade.documents[bill].returned
        [paid] = trade.refund_payments[payment].splits
        assert shown(paid) == shown(trade.refunds[refund].settled) == shown(allocation.split)
        whole = shown(allocation.split)
        # 6000 had 1500 of 1700, of which the refund took 529; two thirds of these move.
        assert (whole["5000"], whole["6000"]) == (353, 176)
        assert trade.book(refund)[-1] == ("4", {"6000": 353, "5000": -353})
        assert cash_of(trade, payment)[-1] == ("4", {"6000": 353, "5000": -353})

    def test_released_money_is_applied_again_on_the_new_account(self) -> None:
        trade = Purchases("2")
        bill, payment = trade.paid_document(line(1_000, account=named("6000")))
        refund = trade.on("4").agree(1_000, returned("payment", 1_000, payment))
        trade.on("6").recode(bill, {0: "5000"})
        first, *_ = trade.payments_of(refund)
        trade.on("9").move(first.id, "cancelled")
        assert shown(trade.documents[bill].settled) == {"5000": 1_000}


class TestTaxes:
    def test_tax_that_is_not_recovered_moves_with_its_line_and_no_code_does(self) -> None:
        trade = Trade("2", side=PAYABLE, codes=CODES)
        id_, _ = trade.paid_document(coded(1_000, "PH"), coded(500, "PR60"))
        by_code = {
            (each.tax.code_id, each.tax.part): n
            for each, n in documents.parts(trade.documents[id_]).items()
            if each.tax is not None
        }
        trade.on("9").recode(id_, {0: "5000", 1: "5000"})
        after = trade.documents[id_]
        parts = documents.parts(after)
        assert {
            (each.tax.code_id, each.tax.part): n
            for each, n in parts.items()
            if each.tax is not None
        } == by_code
        codes = {code_of(each.account_id) for each in parts}
        assert codes == {"5000", "1300"}
        assessed = [code_of(part.account_id) for part, _ in after.lines[1].assessed]
        assert "6000" not in assessed
        assert "5000" in assessed
        assert trade.balances().get("6000") is None
        assert on_cash(trade).get("6000") is None


def test_terms_decide_the_due_moment_again() -> None:
    trade = Trade("2")
    id_ = trade.document(100, due_at=moment("9"))
    assert isinstance(trade.documents[id_].due_at, datetime)
    assert amounts(trade.posted(id_)[0]) == {"1200": 100, "4000": -100}
    assert ACME.payment_terms_days is None
    trade.recode(id_, {}, due_at=None)
    assert trade.documents[id_].due_at is None
