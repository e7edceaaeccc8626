"""Postings of documents, their days, and their reversals.

Where both sides post alike, `booked` names each account by its role on the side.
"""

from dataclasses import replace

import pytest

from accounting.books.numbers import PendingNumber
from accounting.trade import postings
from accounting.trade.commands import TaxGiven
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from tests.accounting.samples import ROLES, code_of, day, named
from tests.accounting.trade.business import BOTH_SIDES, TAXED, Trade, line


class TestAccountsOfADocument:
    @pytest.mark.parametrize(
        ("side", "taxes", "posted"),
        [
            (
                *(RECEIVABLE, (TaxGiven(200),)),
                {"1200": 14_700, "4200": 500, "4000": -10_000, "4500": -5_000, "2200": -200},
            ),
            (
                *(PAYABLE, (TaxGiven(150), TaxGiven(50, named("2400")))),
                {"6000": 9_667, "4500": 4_833, "1300": 150, "2400": 50, "2000": -14_700},
            ),
        ],
    )
    def test_a_discount_stands_apart_in_sales_only(
        self, trade: Trade, taxes: tuple[TaxGiven, ...], posted: dict[str, int]
    ) -> None:
        discounted = line(10_000, discount_amount=1_000)
        lines = discounted, line(5_000, account=named("4500")), line(1_000, taxes=taxes)
        id_ = trade.document(*lines, additional_discount=500)
        assert trade.book(id_) == [("5", posted)]

    def test_debits_and_credits_of_one_account_stand_apart_at_first(self, trade: Trade) -> None:
        invoice = trade.document(line(2, account=named("4200")), additional_discount=1)
        [entry] = trade.posted(invoice)
        lines = [(code_of(each.account_id), each.debit, each.credit) for each in entry.lines]
        assert lines == [("1200", 1, 0), ("4200", 1, 0), ("4200", 0, 2)]

    @pytest.mark.parametrize(
        ("side", "title", "source"),
        [(RECEIVABLE, "invoice to Acme Ltd", "invoice"), (PAYABLE, "bill from Acme Ltd", "bill")],
    )
    def test_entries_are_described(self, side: Side, trade: Trade, title: str, source: str) -> None:
        id_ = trade.document(1_000)
        trade.replace(id_, 800)
        trade.void(id_)
        posted = trade.posted(id_)
        assert [each.description for each in posted] == [
            title[0].upper() + title[1:],
            f"Change of {title}",
            f"Reversal of {title}",
            f"Reversal of change of {title}",
        ]
        assert {(each.source_type, each.source_id) for each in posted} == {(source, id_)}
        assert {each.reference for each in posted} == {PendingNumber(side.series)}


@BOTH_SIDES
class TestDocument:
    def test_lines_on_one_account_are_added_up(self, trade: Trade) -> None:
        [entry] = trade.posted(trade.document(100, 200, 300))
        assert len(entry.lines) == 2
        assert trade.book(trade.document(1_000, additional_discount=1_000)) == []

    def test_a_draft_posts_nothing_until_it_opens(self, trade: Trade) -> None:
        draft = trade.document(1_000, opened_at=None)
        assert trade.book(draft) == []
        trade.on("8").open(draft)
        assert trade.booked(draft) == [("8", {"control": 1_000, "line_default": -1_000})]

    def test_an_edit_posts_the_difference_at_the_document_date(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.on("9").replace(id_, 800)
        assert trade.booked(id_)[1:] == [("5", {"control": -200, "line_default": 200})]

    def test_a_moved_date_is_taken_back_at_the_old_one(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.replace(id_, 1_000, **trade.dated("7"))
        assert trade.booked(id_)[1:] == [
            ("5", {"control": -1_000, "line_default": 1_000}),
            ("7", {"control": 1_000, "line_default": -1_000}),
        ]

    def test_a_void_mirrors_each_entry_that_stands_linked(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.replace(id_, 800)
        trade.on("12").void(id_)
        first, change, *reversals = trade.posted(id_)
        assert [each.reversal_of_id for each in reversals] == [first.id, change.id]
        assert (first.reversed, change.reversed) == (True, True)
        assert trade.booked(id_)[2:] == [
            ("12", {"control": -1_000, "line_default": 1_000}),
            ("12", {"control": 200, "line_default": -200}),
        ]

    def test_a_void_leaves_alone_what_cancels_out(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.replace(id_, 1_000, **trade.dated("7"))
        trade.void(id_, "12")
        *_, standing, reversal = trade.posted(id_)
        assert len(trade.posted(id_)) == 4
        assert reversal.reversal_of_id == standing.id

    @pytest.mark.parametrize(("at", "on"), [(None, "9"), ("7", "7"), ("2", "5")])
    def test_a_void_is_not_before_the_document(self, trade: Trade, at: str | None, on: str) -> None:
        id_ = trade.document(TAXED)
        trade.on("9").void(id_, at)
        back = {"control": -10_000, "line_default": 8_333, "tax": 1_667}
        assert trade.booked(id_)[1:] == [(on, back)]


def test_nothing_is_posted_for_a_document_whose_entries_were_not_read(trade: Trade) -> None:
    document = trade.documents[trade.document(1_000)]
    assert postings.entries_for(RECEIVABLE, document, ROLES, None) == []
    with pytest.raises(AssertionError, match="a second time"):
        postings.entries_for(RECEIVABLE, replace(document, posted=None), ROLES, None)


@BOTH_SIDES
class TestPeriodLock:
    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.on("02-10", lock="31").replace(id_, 800)
        assert trade.booked(id_)[1:] == [("2-1", {"control": -200, "line_default": 200})]

    def test_a_void_today_inside_the_lock_is_still_linked(self, trade: Trade) -> None:
        id_ = trade.document(500)
        trade.on("10", lock="31").void(id_)
        first, reversal = trade.posted(id_)
        assert (reversal.reversal_of_id, reversal.entry_date) == (first.id, day("02-01"))

    def test_a_lock_that_moves_back_moves_its_corrections_back(self, trade: Trade) -> None:
        id_ = trade.document(1_000)
        trade.on("02-10", lock="31").replace(id_, 800)
        trade.lock = None
        trade.replace(id_, 700)
        assert trade.booked(id_)[2:] == [
            ("5", {"control": -300, "line_default": 300}),
            ("2-1", {"control": 200, "line_default": -200}),
        ]
