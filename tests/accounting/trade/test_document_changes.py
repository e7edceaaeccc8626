"""Changes of an invoice or a bill: created, replaced, opened, voided, deleted."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.books.numbers import PendingNumber
from accounting.errors import Conflict
from accounting.trade.document_changes import refuse_deleting
from accounting.trade.documents import opened_on
from accounting.trade.parties import PartyNamed
from accounting.trade.payments import applied_days
from accounting.trade.sides import Side
from tests.accounting.samples import (
    ACME,
    ARCHIVED,
    OTHER,
    day,
    moment,
    no_move,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import BOTH_SIDES, Trade, code_on, line

STRANGER = PartyNamed(ACME.id, external_id="other")


@BOTH_SIDES
class TestCreate:
    def test_a_moment_opens_a_document_and_numbers_it(self, side: Side, trade: Trade) -> None:
        draft = trade.documents[trade.document(1, opened_at=None)]
        assert (draft.state, draft.number, draft.opened_at) == ("draft", None, None)
        opened = trade.documents[trade.document(1, opened_at=moment("3"))]
        assert (opened.state, opened.opened_at) == ("open", moment("3"))
        assert opened.number == PendingNumber(side.series)

    def test_a_document_keeps_the_given_facts(self, trade: Trade) -> None:
        said: dict[str, Any] = {
            **{"external_id": "x", "number": "A1", "party_number": "V1", "terms": "net 30"},
            **{"memo": "note", "transaction_tags": ("t",), "metadata": {"k": 1}},
        }
        of_line: dict[str, Any] = {
            **{"description": "Tea", "product": "P1", "external_id": "l1"},
            **{"memo": "m", "tags": ("a",), "metadata": {"l": 1}, "discount_amount": 1},
        }
        kept = trade.documents[trade.document(line(1, **of_line), **said, currency="GBP")]
        assert {name: getattr(kept, name) for name in said} == said
        assert kept.currency == "GBP"
        [only] = kept.lines
        assert {name: getattr(only, name) for name in of_line} == of_line

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"party": STRANGER}, "reference_mismatch"),
            ({"currency": "EUR"}, "exchange_rate_missing"),
            ({"loaded": ARCHIVED}, "party_not_active"),
            ({"loaded": ARCHIVED, "opened_at": None}, "party_not_active"),
            ({"opened_at": moment("7")}, "period_locked"),
        ],
    )
    def test_an_invalid_document_is_refused(self, side: Side, facts: Any, code: str) -> None:
        trade = Trade("9", lock="7", side=side)
        assert refused(trade.document, 600, **facts).code == code_on(side, code)


@BOTH_SIDES
class TestReplaced:
    def test_absent_facts_are_cleared_and_identity_stays(self, side: Side, trade: Trade) -> None:
        kept = {"external_id": "x", "opened_at": moment("3"), "party_number": "V1"}
        gone = {"memo": "m", "due_at": moment("9"), "additional_discount": 1, "terms": "net 30"}
        id_ = trade.document(1, issue_date=day("2"), **kept, **gone)
        number = trade.documents[id_].number
        trade.replace(id_, 2)
        after = trade.documents[id_]
        assert {name: getattr(after, name) for name in kept} == kept
        assert (after.number, after.total_amount) == (number, 2)
        assert {getattr(after, name) or None for name in gone} == {None}
        assert after.issue_date == day("2")

    def test_numbers_and_an_external_id_may_be_given_anew(self, trade: Trade) -> None:
        given = {"external_id": "x", "number": "A1", "party_number": "V1"}
        anew = {"external_id": "y", "number": "A2", "party_number": "V2"}
        id_ = trade.document(1, **given)
        for said, told in (({}, given), (anew, anew)):
            trade.replace(id_, 2, **said)
            assert {name: getattr(trade.documents[id_], name) for name in given} == told

    def test_null_clears_the_number_of_the_other_party_and_the_date(self, trade: Trade) -> None:
        id_ = trade.document(1, party_number="V1", issue_date=day("2"))
        trade.replace(id_, 1, party_number=None, issue_date=None)
        after = trade.documents[id_]
        assert (after.party_number, after.issue_date) == (None, None)
        assert opened_on(after) == day("5")

    def test_the_party_of_an_open_document_stays(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1)
        assert refused(trade.replace, id_, 1, party=STRANGER).code == "reference_mismatch"
        refusal = refusal_of(trade.replace, id_, 1, loaded=OTHER)
        assert refusal == ("immutable_field", {"field": side.names.party_id})

    def test_an_equal_replacement_changes_nothing(self, trade: Trade) -> None:
        id_ = trade.document(1, memo="m")
        before = trade.documents[id_]
        trade.on("9").replace(id_, 1, memo="m")
        assert trade.documents[id_] == before

    def test_a_draft_with_a_moment_opens(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1, opened_at=None)
        trade.on("9").replace(id_, 1, opened_at=moment("7"))
        after = trade.documents[id_]
        assert (after.state, after.number) == ("open", PendingNumber(side.series))
        assert after.updated_at == moment("9")

    def test_an_inactive_party_is_corrected_but_not_opened(self, side: Side, trade: Trade) -> None:
        for opened_at in (None, moment("5")):
            id_ = trade.document(1, opened_at=opened_at)
            trade.documents[id_] = replace(trade.documents[id_], party=ARCHIVED)
            trade.replace(id_, 2)
            assert trade.documents[id_].total_amount == 2
        draft = next(iter(trade.documents))
        refusal = refused(trade.replace, draft, 1, opened_at=moment("7"))
        assert refusal.code == code_on(side, "party_not_active")

    def test_a_new_party_of_a_draft_must_be_active(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1, opened_at=None)
        trade.replace(id_, 1, loaded=OTHER)
        assert trade.documents[id_].party == OTHER
        refusal = refused(trade.replace, id_, 1, loaded=ARCHIVED)
        assert refusal.code == code_on(side, "party_not_active")

    def test_a_day_in_the_lock_may_stay_and_no_other_may_come(self, trade: Trade) -> None:
        id_ = trade.on("3").document(1)
        trade.on("9", lock="7").replace(id_, 2)
        assert trade.documents[id_].total_amount == 2
        assert refused(trade.replace, id_, 2, **trade.dated("7")).code == "period_locked"

    def test_a_void_or_settled_document_stays_as_it_is(self, side: Side, trade: Trade) -> None:
        reserved, paid, credited, void = (trade.document(600) for _ in range(4))
        trade.pay(5, (reserved, 5), status="pending")
        trade.pay(5, (paid, 5))
        trade.credit(5, to=[(credited, 5)])
        for id_ in (reserved, paid, credited):
            for step in (trade.void, trade.replace):
                assert refused(step, id_).code == code_on(side, "has_allocations")
        trade.void(void)
        assert refused(trade.replace, void, 2).code == "invalid_state_transition"


@BOTH_SIDES
class TestOpen:
    def test_a_draft_opens_now_with_a_number_of_the_series(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1_000, opened_at=None)
        trade.on("7").open(id_)
        opened = trade.documents[id_]
        assert (opened.state, opened.opened_at) == ("open", moment("7"))
        assert (opened.number, opened.paid_on) == (PendingNumber(side.series), None)
        assert opened.updated_at == moment("7")

    def test_a_document_opens_once_with_its_given_number(self, side: Side, trade: Trade) -> None:
        id_ = trade.open(trade.document(1_000, opened_at=None, number="2026/7"))
        assert trade.documents[id_].number == "2026/7"
        assert refusal_of(trade.open, id_) == no_move(side.opened_status, "voided")

    def test_due_follows_from_the_terms_unless_it_is_given(self, side: Side) -> None:
        trade, terms = Trade("7", side=side), replace(ACME, payment_terms_days=14)
        for loaded, own, given, due in (
            (terms, None, None, "17"),
            (terms, None, "30", "30"),
            (terms, "20", None, "20"),
            (ACME, None, None, None),
        ):
            due_at = own and moment(own)
            id_ = trade.document(1, opened_at=None, loaded=loaded, due_at=due_at)
            trade.open(id_, "3", due_at=given and moment(given))
            assert trade.documents[id_].due_at == (due and moment(due))

    def test_a_total_of_zero_is_paid_when_it_opens(self, trade: Trade) -> None:
        id_ = trade.on("7").document(0, **trade.dated("3"))
        assert (trade.documents[id_].paid_on, trade.status(id_)) == (day("3"), "paid")
        voided = trade.documents[trade.on("9").void(id_)]
        assert (voided.paid_on, voided.updated_at) == (None, moment("9"))

    def test_a_party_that_is_not_active_gets_none(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1_000, opened_at=None)
        trade.documents[id_] = replace(trade.documents[id_], party=ARCHIVED)
        assert refused(trade.open, id_).code == code_on(side, "party_not_active")

    def test_a_day_inside_the_lock_is_refused(self, side: Side) -> None:
        trade = Trade("9", "4", side=side)
        assert refused(trade.open, trade.document(1, opened_at=None), "4").code == "period_locked"


@BOTH_SIDES
class TestDayInTheBooks:
    def test_it_is_of_its_issue(self, trade: Trade) -> None:
        id_ = trade.on("7").document(1, opened_at=None, issue_date=day("3"))
        trade.open(id_, "5")
        assert opened_on(trade.documents[id_]) == day("3")
        trade.lock = "4"
        late = trade.document(1, opened_at=None, issue_date=day("3"))
        assert refused(trade.open, late, "5").code == "period_locked"
        assert refused(trade.document, 1, issue_date=day("3")).code == "period_locked"

    def test_it_is_due_the_terms_after_its_day(self, side: Side) -> None:
        trade, terms = Trade("9", side=side), replace(ACME, payment_terms_days=30)
        dated = trade.documents[trade.document(5, loaded=terms, issue_date=day("3"))]
        assert dated.due_at == moment("02-02")

    @pytest.mark.parametrize("given", [None, "14"])
    def test_the_issue_date_may_be_absent_or_later(self, side: Side, given: str | None) -> None:
        trade = Trade("9", side=side)
        id_ = trade.document(5, issue_date=given and day(given))
        assert opened_on(trade.documents[id_]) == day(given or "9")
        assert trade.documents[id_].opened_at == moment("9")

    def test_nothing_settles_it_before_its_day(self, trade: Trade) -> None:
        id_ = trade.on("7").document(600, issue_date=day("5"), opened_at=moment("2"))
        payment = trade.pay(600, (id_, 600), payment_date=day("3"))
        [applied] = trade.payments[payment].allocations
        assert applied_days(trade.payments[payment], applied) == [(day("5"), None)]

    def test_a_new_date_of_issue_moves_it_unless_the_lock_covers_the_day(
        self, trade: Trade
    ) -> None:
        id_ = trade.on("9").document(600, issue_date=day("5"), opened_at=moment("7"))
        trade.replace(id_, 600, opened_at=moment("9"))
        assert opened_on(trade.documents[id_]) == day("5")
        trade.replace(id_, 600, issue_date=day("6"))
        assert opened_on(trade.documents[id_]) == day("6")
        trade.lock = "5"
        assert refused(trade.replace, id_, 600, issue_date=day("4")).code == "period_locked"

    def test_one_from_before_keeps_its_day_until_its_date_of_issue_changes(
        self, trade: Trade
    ) -> None:
        id_ = trade.on("9").document(600, issue_date=day("5"), opened_at=moment("7"))
        kept = replace(trade.documents[id_], dated_by_issue=False, opened_on=day("7"))
        for facts, on in (
            ({}, "7"),
            ({"issue_date": day("5")}, "7"),
            ({"opened_at": moment("8")}, "8"),
            ({"issue_date": day("6")}, "6"),
            ({"issue_date": None}, "7"),
        ):
            trade.documents[id_] = kept
            trade.replace(id_, 500, **facts)
            assert opened_on(trade.documents[id_]) == day(on)

    def test_a_draft_from_before_opens_on_its_date_of_issue(self, trade: Trade) -> None:
        id_ = trade.on("9").document(600, issue_date=day("5"), opened_at=None)
        trade.documents[id_] = replace(trade.documents[id_], dated_by_issue=False)
        trade.open(id_, "8")
        assert opened_on(trade.documents[id_]) == day("5")
        assert trade.documents[id_].dated_by_issue


@BOTH_SIDES
class TestVoidAndDelete:
    def test_an_open_document_is_voided_once(self, side: Side, trade: Trade) -> None:
        id_ = trade.document(1_000)
        voided = trade.documents[trade.on("9").void(id_)]
        assert (voided.state, voided.voided_at, voided.paid_on) == ("void", moment("9"), None)
        assert refusal_of(trade.void, id_) == no_move("voided")
        draft = trade.document(1, opened_at=None)
        assert refusal_of(trade.void, draft) == no_move("draft", side.opened_status)

    @pytest.mark.parametrize("what", ["paid", "reserved", "credited", "refunded", "written_off"])
    def test_a_settled_document_cannot_be_voided(self, side: Side, trade: Trade, what: str) -> None:
        id_ = trade.document(1_000)
        trade.documents[id_] = replace(trade.documents[id_], **{what: 1})
        nothing = dict.fromkeys(("allocated", "credited", "refunded", "written_off"), 0)
        shown = {**nothing, "allocated" if what in ("paid", "reserved") else what: 1}
        assert refusal_of(trade.void, id_) == (code_on(side, "has_allocations"), shown)

    def test_a_given_day_inside_the_lock_is_refused(self, trade: Trade) -> None:
        id_ = trade.on("9").document(1_000)
        trade.lock = "6"
        assert refused(trade.void, id_, "6").code == "period_locked"

    def test_only_a_draft_is_deleted(self, side: Side, trade: Trade) -> None:
        draft, opened = trade.document(1, opened_at=None), trade.document(1)
        refuse_deleting(side, trade.documents[draft], trade.context())
        refusal = refused(refuse_deleting, side, trade.documents[opened], trade.context())
        assert (type(refusal), refusal.code) == (Conflict, "invalid_state_transition")
