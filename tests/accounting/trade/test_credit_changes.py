"""Credits that are created, sent, allocated and voided, and the documents they settle."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.books.ledger import Part
from accounting.books.numbers import PendingNumber
from accounting.money import MAX_AMOUNT
from accounting.trade import credit_changes, credits
from accounting.trade.commands import WriteCredit
from accounting.trade.documents import outstanding
from accounting.trade.parties import PartyNamed
from accounting.trade.sides import Side
from tests.accounting.samples import (
    ACME,
    ARCHIVED,
    OTHER,
    ROLES,
    day,
    moment,
    named,
    no_move,
    part_on,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import BOTH_SIDES, TAXED, Trade, code_on, credit_line


@BOTH_SIDES
class TestCreate:
    def test_lines_and_their_tax_make_the_total(self, side: Side, trade: Trade) -> None:
        credit = trade.credits[trade.credit(credit_line(1_000, 200, "4500"), 500)]
        assert (credit.tax_total, credit.total_amount) == (200, 1_700)
        own, returns = part_on("4500"), Part(ROLES[side.credit_line_default])
        assert [Part(each.account_id) for each in credit.lines] == [own, returns]
        assert credits.parts(credit) == {own: 1_000, returns: 500, Part(ROLES[side.tax]): 200}

    def test_a_credit_keeps_the_given_facts(self, trade: Trade) -> None:
        of_line = {"memo": "l", "tags": ("x",), "metadata": {"a": 1}}
        said: dict[str, Any] = {
            **{"external_id": "c", "source_document_id": UUID(int=7), "memo": "m"},
            **{"transaction_tags": ("t",), "metadata": [1], "number": "G-1"},
        }
        credit = trade.credits[trade.credit(credit_line(5, **of_line), **said)]
        assert {name: getattr(credit, name) for name in said} == said
        [kept] = credit.lines
        assert {name: getattr(kept, name) for name in of_line} == of_line

    def test_sent_it_has_a_number_and_a_draft_has_none(self, side: Side, trade: Trade) -> None:
        sent = trade.credits[trade.credit(5)]
        draft = trade.credits[trade.credit(5, opened_at=None)]
        assert (sent.number, sent.opened_at) == (PendingNumber(side.credit_series), moment("5"))
        assert (draft.number, draft.state, credits.unapplied(draft)) == (None, "draft", 0)

    @pytest.mark.parametrize(
        ("amount", "part", "facts", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"loaded": OTHER}, "of_another_party"),
            (500, 5, {"loaded": ARCHIVED}, "party_not_active"),
            (500, 5, {"opened_at": None}, "credit_not_sent"),
            (500, 5, {"opened_at": moment("1")}, "period_locked"),
            (500, 5, {"currency": "EUR"}, "exchange_rate_missing"),
            (500, 5, {"party": PartyNamed(external_id="other")}, "reference_mismatch"),
            (MAX_AMOUNT + 1, 5, {}, "amount_too_large"),
        ],
    )
    def test_an_invalid_credit_is_refused(
        self, side: Side, amount: int, part: int, facts: dict[str, Any], code: str
    ) -> None:
        trade = Trade("5", lock="1", side=side)
        document = trade.document(600)
        refusal = refused(trade.credit, amount, to=[(document, part)], **facts)
        assert refusal.code == code_on(side, code)
        assert trade.documents[document].credited == 0

    def test_an_invalid_draft_is_refused(self, side: Side, trade: Trade) -> None:
        refusal = refused(trade.credit, 5, loaded=ARCHIVED, opened_at=None)
        assert refusal.code == code_on(side, "party_not_active")
        refusal = refused(trade.credit, 5, to=[(trade.document(5), 5)], opened_at=None)
        assert refusal.detail == {"current_state": "draft"}

    @pytest.mark.parametrize(
        ("code", "refusal"), [("2250", "control_account"), ("9999", "reference_not_found")]
    )
    def test_the_account_of_a_line_is_usable(self, side: Side, code: str, refusal: str) -> None:
        assert refused(Trade(side=side).credit, credit_line(5, code=code)).code == refusal


@BOTH_SIDES
class TestApplied:
    def test_an_applied_credit_reduces_what_is_outstanding(self, side: Side, trade: Trade) -> None:
        document, unused = trade.document(1_000), trade.credit(1)
        id_ = trade.credit(1_000, to=[(document, 600)])
        owed, credit = trade.documents[document], trade.credits[id_]
        assert (owed.credited, outstanding(owed)) == (600, 400)
        assert (credits.applied(credit), credits.unapplied(credit)) == (600, 400)
        states = [trade.status(each) for each in (document, unused, id_)]
        assert states == ["partially_paid", side.opened_status, "partially_applied"]
        trade.on("9").apply(id_, (document, 1_000))
        assert (trade.status(id_), trade.status(document)) == ("applied", "paid")
        assert trade.documents[document].paid_on == day("9")

    def test_credit_and_documents_are_split_in_steps(self, side: Side, trade: Trade) -> None:
        first, second = trade.document(TAXED), trade.document(6_667)
        id_ = trade.credit(credit_line(8_333, 1_667), to=[(first, 3_333), (second, 6_667)])
        one, two = trade.credits[id_].allocations
        net, tax, returns = (
            Part(ROLES[each]) for each in (side.line_default, side.tax, side.credit_line_default)
        )
        assert one.own_split == ((returns, 2_777), (tax, 556))
        assert two.own_split == ((returns, 5_556), (tax, 1_111))
        assert one.split == ((net, 2_777), (tax, 556))
        assert trade.credits[id_].settled == ((returns, 8_333), (tax, 1_667))

    def test_an_unchanged_allocation_keeps_its_day_and_its_split(self, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 300), (second, 500)])
        trade.on("12").apply(id_, (second, 500), (first, 500))
        ended, kept, begun = trade.credits[id_].allocations
        assert (ended.end, kept.end, begun.start) == (day("12"), None, day("12"))
        assert sum(part for _, part in trade.credits[id_].settled) == 1_000

    def test_a_released_part_gives_both_splits_back(self, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 333), (second, 500)])
        amended = trade.apply(id_, (second, 500))
        kept = trade.credits[id_].allocations[1]
        assert trade.credits[id_].settled == kept.own_split
        assert [each.id for each in amended.changed] == [first]
        assert (trade.documents[first].settled, trade.documents[first].credited) == ((), 0)

    def test_a_released_allocation_is_returned_once(self, side: Side, trade: Trade) -> None:
        first, second = trade.document(500), trade.document(500)
        id_ = trade.credit(credit_line(900, 100), to=[(first, 333)])
        trade.apply(id_)
        trade.apply(id_, (second, 500))
        trade.apply(id_, (second, 500), (first, 500))
        returns, tax = Part(ROLES[side.credit_line_default]), Part(ROLES[side.tax])
        assert dict(trade.credits[id_].settled) == {returns: 900, tax: 100}


class TestBesideRefunds:
    def test_refunds_do_not_hold_a_credit_back(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        id_ = trade.credit(400, to=[(invoice, 400)])
        trade.pay(600, (invoice, 600))
        trade.refund(invoice, 600)
        trade.apply(id_)
        assert outstanding(trade.documents[invoice]) == 400


@BOTH_SIDES
class TestReplaced:
    def test_nothing_changed_is_the_same_object(self, trade: Trade) -> None:
        document = trade.document(600)
        id_ = trade.credit(500, to=[(document, 500)], memo="m")
        before = trade.credits[id_]
        credited = trade.apply(id_, (document, 500), memo="m", opened_at=moment("5"))
        assert credited.credit is before
        assert (credited.changed, credited.documents) == ((), trade.documents)

    def test_a_change_without_a_list_keeps_the_allocations(self, trade: Trade) -> None:
        said: dict[str, Any] = {"memo": "m", "transaction_tags": ("t",), "metadata": 1}
        id_ = trade.credit(500, to=[(trade.document(600), 500)], **said)
        trade.on("9").change_credit(id_, transaction_tags=("u",))
        credit = trade.credits[id_]
        assert (credit.memo, credit.transaction_tags, credit.metadata) == (None, ("u",), None)
        assert (credits.applied(credit), credit.updated_at) == (500, moment("9"))

    def test_a_draft_is_sent_by_a_moment_and_applied(self, side: Side, trade: Trade) -> None:
        document = trade.document(600)
        id_ = trade.credit(500, opened_at=None)
        assert refused(trade.apply, id_, (document, 5)).code == "credit_not_sent"
        trade.on("9").apply(id_, (document, 100), opened_at=moment("7"))
        credit = trade.credits[id_]
        assert (credit.number, credit.opened_at) == (PendingNumber(side.credit_series), moment("7"))
        assert credit.allocations[0].start == day("9")

    @pytest.mark.parametrize(
        ("party", "lock", "code"),
        [(ARCHIVED, None, "party_not_active"), (ACME, "5", "period_locked")],
    )
    def test_sending_is_refused_as_on_create(
        self, side: Side, trade: Trade, party: Any, lock: str | None, code: str
    ) -> None:
        id_ = trade.credit(500, opened_at=None)
        trade.credits[id_] = replace(trade.credits[id_], party=party)
        trade.lock = lock
        assert refused(trade.change_credit, id_, opened_at=moment("5")).code == code_on(side, code)

    def test_the_moment_it_was_sent_does_not_change(self, side: Side, trade: Trade) -> None:
        refusal = refusal_of(trade.change_credit, trade.credit(500), opened_at=moment("6"))
        assert refusal == ("immutable_field", {"field": side.names.opened_at})

    def test_a_void_credit_stays_as_it_is(self, trade: Trade) -> None:
        id_ = trade.void_credit(trade.credit(500))
        assert refusal_of(trade.change_credit, id_, memo="m") == no_move("void")

    def test_a_credit_of_an_inactive_party_may_be_used_up(self, trade: Trade) -> None:
        document, id_ = trade.document(600), trade.credit(500)
        trade.credits[id_] = replace(trade.credits[id_], party=ARCHIVED)
        trade.apply(id_, (document, 500))
        assert trade.status(id_) == "applied"


@BOTH_SIDES
class TestVoid:
    def test_a_void_credit_is_worth_nothing(self, trade: Trade) -> None:
        id_ = trade.credit(500)
        trade.on("9").void_credit(id_)
        credit = trade.credits[id_]
        assert (trade.status(id_), credits.unapplied(credit)) == ("void", 0)
        assert credit.voided_at == credit.updated_at == moment("9")

    def test_an_applied_credit_is_released_before_a_void(self, side: Side, trade: Trade) -> None:
        document = trade.document(600)
        id_ = trade.credit(500, to=[(document, 300)])
        used = {"applied_amount": 300, "refunded_amount": 0}
        named = {f"{side.names.document_id}s": [str(document)]}
        assert refusal_of(trade.void_credit, id_) == ("credit_applied", {**used, **named})
        trade.apply(id_)
        trade.void_credit(id_)
        assert trade.status(id_) == "void"

    def test_only_a_sent_credit_is_voided(self, side: Side, trade: Trade) -> None:
        draft, void = trade.credit(500, opened_at=None), trade.void_credit(trade.credit(500))
        assert refusal_of(trade.void_credit, draft) == no_move("draft", side.opened_status)
        assert refusal_of(trade.void_credit, void) == no_move("void")

    def test_a_given_day_inside_the_lock_is_refused(self, trade: Trade) -> None:
        id_ = trade.credit(500)
        assert refused(trade.on("20", lock="9").void_credit, id_, "9").code == "period_locked"


class TestNeeded:
    def test_accounts_are_named_so_that_they_can_be_loaded(self) -> None:
        lines = credit_line(5), credit_line(5, code="4500")
        command = WriteCredit(party=PartyNamed(), lines=lines)
        assert credit_changes.account_references(command) == {named("4500")}

    def test_a_draft_has_no_opening_day(self, trade: Trade) -> None:
        draft = trade.credits[trade.credit(5, opened_at=None)]
        with pytest.raises(ValueError, match="no opening day"):
            credits.opened_on(draft)
