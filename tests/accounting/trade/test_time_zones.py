"""Days of documents, credits, refunds and write-offs in the time zones of businesses.

Each test plays the same moments in zones in which they are another day than in UTC.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from accounting.trade import postings
from accounting.trade.aging import late_moments
from tests.accounting.samples import ACME, ROLES, context_of, day, moment, refusal_of, written
from tests.accounting.trade.business import BOTH_SIDES, Trade

# A moment of 10 January or July in UTC, a zone, and its day there.
ELSEWHERE = pytest.mark.parametrize(
    ("at", "timezone", "on"),
    [
        ("10T23:30", "Europe/Amsterdam", "11"),
        ("7-10T22:00", "Europe/Amsterdam", "7-11"),
        ("10T10:00", "Pacific/Kiritimati", "11"),
        ("10T10:59", "Pacific/Pago_Pago", "9"),
        ("10T18:30", "Asia/Kolkata", "11"),
        ("10T03:29", "America/St_Johns", "9"),
    ],
)


def days_of(trade: Trade, id_: UUID) -> list[str]:
    return [written(each.entry_date) for each in trade.posted(id_)]


@pytest.fixture
def here(trade: Trade, at: str, timezone: str) -> Trade:
    """The books of a business in a zone, at the moment."""
    trade.timezone = timezone
    return trade.on(at)


def nothing_moves(trade: Trade) -> None:
    """Check that no record desires another posting in any other zone."""
    for trade.timezone in ("UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Amsterdam"):
        for subject in trade.subjects():
            assert not postings.entries_for(trade.side, subject, ROLES, None)


@ELSEWHERE
class TestDays:
    """The day of a moment in the ledger, whatever the moment is of."""

    @BOTH_SIDES
    def test_documents(self, here: Trade, on: str) -> None:
        id_ = here.document(1_000)
        assert here.documents[id_].opened_on == day(on)
        here.void(id_)
        assert days_of(here, id_) == [on, on]
        nothing_moves(here)

    @BOTH_SIDES
    def test_credits(self, here: Trade, on: str) -> None:
        applied = here.document(1_000)
        id_ = here.credit(600, to=[(applied, 100)])
        unused = here.credit(500)
        here.void_credit(unused)
        assert {*days_of(here, id_), *days_of(here, unused)} == {on}
        nothing_moves(here)

    @BOTH_SIDES
    def test_write_offs(self, here: Trade, on: str) -> None:
        id_ = here.write_off(here.document(1_000), 400)
        here.reverse(id_)
        assert days_of(here, id_) == [on, on]
        nothing_moves(here)

    def test_refunds(self, here: Trade, at: str, on: str) -> None:
        paid = here.document(1_000, opened_at=moment("1"))
        here.pay(1_000, (paid, 1_000), payment_date=day("2"))
        cancelled = here.refund(paid, 300)
        here.cancel_refund(cancelled)
        given = here.refund(paid, 200, completed_at=moment(at))
        here.pay_refund(here.refund(paid, 100), 100)
        of_all = [cancelled, given, *here.refund_payments]
        assert [each for id_ in of_all for each in days_of(here, id_)] == [on] * 5
        here.cancel_refund_payment(next(iter(here.refund_payments)))
        nothing_moves(here)

    @BOTH_SIDES
    def test_later_events_without_a_day(self, here: Trade, on: str) -> None:
        id_ = here.document(1_000, opened_at=moment("1"), issue_date=day("1"))
        payment = here.pay(1_000, payment_date=day("2"))
        here.change(payment, status="failed")
        assert days_of(here, payment) == ["2", on]
        assert here.context().today == day(on)
        assert here.status(id_) == here.side.opened_status

    def test_today_bounds_given_days(self, here: Trade, on: str) -> None:
        payment = here.pay(1_000, payment_date=day("2"))
        later = day(on) + timedelta(days=1)
        code, detail = refusal_of(here.change, payment, status="failed", status_date=later)
        assert (code, detail["today"]) == ("date_out_of_order", day(on).isoformat())

    @BOTH_SIDES
    def test_the_lock_covers_the_day_there(self, here: Trade, at: str, on: str) -> None:
        here.on(at, lock=on)
        code, detail = refusal_of(here.document, 1_000)
        assert (code, detail["date"]) == ("period_locked", day(on).isoformat())


class TestChanges:
    """Edits after the time zone of a business has changed."""

    @BOTH_SIDES
    def test_an_edited_document_keeps_the_day_of_its_moment(self, trade: Trade) -> None:
        id_ = trade.on("10T23:30").document(1_000)
        trade.timezone = "Europe/Amsterdam"
        trade.on("12").replace(id_, 1_200, memo="two more")
        assert {written(each.entry_date) for each in trade.posted(id_)} == {"10"}

    @BOTH_SIDES
    def test_another_moment_has_its_day_in_the_zone_of_now(self, trade: Trade) -> None:
        id_ = trade.on("10T23:30").document(1_000)
        trade.timezone = "Europe/Amsterdam"
        trade.on("13").replace(id_, 1_000, opened_at=moment("11T23:30"))
        assert trade.documents[id_].opened_on == day("12")

    def test_records_from_before_time_zones_have_their_day_in_utc(self, trade: Trade) -> None:
        document, credit = trade.on("10T23:30").document(1_000), trade.credit(500)
        write_off = trade.write_off(document, 400)
        trade.reverse(write_off)
        for each in (trade.void(document), trade.void_credit(credit), write_off):
            [subject] = [found for found in trade.subjects() if found.id == each]
            names = ("voided_on", "written_off_on", "reversed_on")
            old = {name: None for name in names if hasattr(subject, name)}
            assert not postings.entries_for(trade.side, replace(subject, **old), ROLES, None)


class TestDueDates:
    def test_a_term_counts_days_of_the_zone(self, trade: Trade) -> None:
        trade.timezone = "Europe/Amsterdam"
        party = replace(ACME, payment_terms_days=90)
        id_ = trade.on("10T23:30").document(1_000, loaded=party)
        # 00:30 on 11 January, and 00:30 on 11 April, when it is summer there.
        assert trade.documents[id_].due_at == moment("04-10T22:30")

    @pytest.mark.parametrize(
        ("timezone", "last"),
        [
            ("UTC", "20T23:59"),
            ("Europe/Amsterdam", "20T22:59"),
            ("Asia/Kolkata", "20T18:29"),
            ("Pacific/Kiritimati", "20T09:59"),
            ("Pacific/Pago_Pago", "21T10:59"),
        ],
    )
    def test_what_is_due_on_a_day_is_overdue_on_the_next(self, timezone: str, last: str) -> None:
        trade = Trade("5", timezone=timezone)
        id_ = trade.document(1_000, due_at=moment(last))
        assert trade.on(last).status(id_) == "sent"
        after = moment(last) + timedelta(minutes=1)
        assert trade.on(f"{after.day}T{after:%H:%M}").status(id_) == "overdue"

    def test_agings_divide_by_the_same_moments(self) -> None:
        edges = late_moments(day("04-15"), "Europe/Amsterdam")
        assert edges == [
            *(moment("14T23:00"), moment("02-13T23:00"), moment("03-15T23:00")),
            moment("04-14T22:00"),
        ]
        context = context_of("04-15", timezone="Europe/Amsterdam")
        assert edges[-1] == context.start_of(context.today)
