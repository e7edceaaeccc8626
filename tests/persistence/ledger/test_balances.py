"""Balances by month agree with the lines after any postings."""

import asyncio
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounting.books.periods import EVER, Period
from persistence.books import Books
from persistence.engine.ids import new_id
from persistence.engine.pages import PageRequest
from persistence.engine.pool import Pool
from persistence.ledger.account_entries import NETS
from persistence.ledger.accounts import CHART, FAMILY, AccountState
from persistence.ledger.balances import period_parameters
from persistence.ledger.rebuild import rebuild
from tests.api_server import ApiServer
from tests.partner import Partner
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.ledger.journal_writer import STEP, JournalWriter, Posting

DAYS = st.dates(date(2024, 11, 20), date(2026, 2, 10))
PERIODS = st.one_of(st.just(EVER), st.builds(Period, DAYS, DAYS))


@st.composite
def postings(draw: st.DrawFn) -> Posting:
    places = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    amounts = [
        (place, draw(st.integers(1, 10**9)) * draw(st.sampled_from([1, -1]))) for place in places
    ]
    rest = -sum(amount for _, amount in amounts)
    balanced = (*amounts, (0, rest)) if rest else (*amounts, (0, 7), (1, -7))
    return Posting(draw(DAYS), balanced)


HISTORIES = st.lists(st.lists(postings(), min_size=1, max_size=7), max_size=8)


def sums(states: list[AccountState], *, of_period: bool) -> dict[object, tuple[int, ...]]:
    if of_period:
        moved = {each.id: (each.period_debits, each.period_credits) for each in states}
    else:
        moved = {
            each.id: (each.debits, each.credits, each.debit_count, each.credit_count)
            for each in states
        }
    return {id_: amounts for id_, amounts in moved.items() if any(amounts)}


def total(states: list[AccountState]) -> int:
    return sum(each.debits - each.credits for each in states)


class TestAnyHistory:
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HISTORIES, PERIODS)
    def test_balances_are_the_sums_of_the_lines_and_sum_to_zero(
        self, own_server: ApiServer, partner: Partner, history: list[list[Posting]], period: Period
    ) -> None:
        journal = JournalWriter(own_server, partner.business())
        journal.post(*history)
        states = journal.chart(period)
        assert total(states) == 0
        assert sum(each.period_debits - each.period_credits for each in states) == 0
        assert sums(states, of_period=False) == journal.by_lines(EVER)
        within = {id_: each[:2] for id_, each in journal.by_lines(period).items()}
        assert sums(states, of_period=True) == within
        # Every complete step is rolled up, and no other entry.
        for rolled, last in journal.rolled_up().values():
            assert last - rolled < STEP
            assert rolled == 0 or last >= STEP
        assert journal.roll_ups_hold()

    @settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HISTORIES)
    def test_taking_every_entry_back_restores_every_balance(
        self, own_server: ApiServer, partner: Partner, history: list[list[Posting]]
    ) -> None:
        journal = JournalWriter(own_server, partner.business())
        journal.post(*history)
        entries = journal.reversals()
        if entries:
            journal.run(lambda pool: journal.adding(pool, entries))
        assert {each.debits - each.credits for each in journal.chart(EVER)} == {0}

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(HISTORIES, st.integers(1, 4), st.sampled_from(["entry_date", "-entry_date"]))
    def test_each_line_of_an_account_shows_the_balance_after_it(
        self,
        own_server: ApiServer,
        partner: Partner,
        history: list[list[Posting]],
        size: int,
        sort: str,
    ) -> None:
        journal = JournalWriter(own_server, partner.business())
        journal.post(*history)
        account, net, expected = journal.accounts[0], 0, []
        for id_, amount in own_server.query(
            "SELECT id, debit - credit FROM journal_line WHERE account_id = %s"
            " ORDER BY entry_date, id",
            account,
        ):
            net += amount
            expected.append((id_, net))
        if sort == "-entry_date":
            expected.reverse()
        counted: set[int | None] = set()

        async def walk(books: Books) -> tuple[list[object], list[object]]:
            by_cursor, by_number, cursor = [], [], None
            books.pin_snapshot()
            for number in range(1, len(expected) // size + 2):
                asked = PageRequest(page_size=size, sort=sort, cursor=cursor)
                shown = await books.account_entries.page(account, asked)
                by_cursor += [(each.id, each.net) for each in shown.rows]
                asked = PageRequest(page=number, page_size=size, sort=sort)
                other = await books.account_entries.page(account, asked)
                counted.update((shown.total, other.total))
                by_number += [(each.id, each.net) for each in other.rows]
                cursor = shown.next_cursor
                if cursor is None:
                    break
            return by_cursor, by_number

        assert journal.read(walk) == (expected, expected)
        assert counted == {len(expected)}


def two(amount: int, on: date = date(2026, 3, 3)) -> Posting:
    return Posting(on, ((0, amount), (1, -amount)))


class TestAdvancing:
    def test_many_entries_of_one_transaction_are_rolled_up_with_it(
        self, journal: JournalWriter
    ) -> None:
        journal.step = 500
        days = [date(2026, 1, 1) + timedelta(days=n % 300) for n in range(1_300)]
        journal.post([two(1 + n, day) for n, day in enumerate(days)])
        assert journal.rolled_up() == {"JE-2026": (1_300, 1_300)}
        assert sums(journal.chart(EVER), of_period=False) == journal.by_lines(EVER)

    def test_a_preview_rolls_nothing_up(
        self, journal: JournalWriter, own_server: ApiServer
    ) -> None:
        journal.post([two(1), two(2)])
        journal.post([two(3), two(4)], preview=True)
        assert journal.rolled_up() == {"JE-2026": (0, 2)}
        [(months,)] = own_server.query(
            "SELECT count(*) FROM account_month WHERE business_id = %s", journal.business.id
        )
        assert months == 0

    def test_years_advance_one_by_one(self, journal: JournalWriter, own_server: ApiServer) -> None:
        old, new = date(2024, 12, 31), date(2025, 1, 1)
        journal.post([two(1, old), two(2, new)], [two(3, old), two(4, old)])
        assert journal.rolled_up() == {"JE-2024": (3, 3), "JE-2025": (0, 1)}
        found = own_server.query(
            "SELECT month, debits, debit_count FROM account_month"
            " WHERE business_id = %s AND account_id = %s",
            journal.business.id,
            journal.accounts[0],
        )
        assert found == [(date(2024, 12, 1), 8, 3)]

    def test_processes_roll_up_the_postings_of_each_other(
        self, journal: JournalWriter, own_server: ApiServer
    ) -> None:
        others = [JournalWriter(own_server, journal.business) for _ in range(2)]
        processes = [journal, *others]
        for turn in range(12):
            processes[turn % 3].post([two(1 + turn)])
            [(rolled, last)] = journal.rolled_up().values()
            assert last == 1 + turn
            assert last - rolled < STEP + len(processes) - 1
        assert rolled
        assert journal.roll_ups_hold()

    def test_most_postings_send_no_statement_for_it(self, journal: JournalWriter) -> None:
        journal.step = 20
        journal.post(*[[two(1 + turn)] for turn in range(19)])
        assert journal.advances == 1  # The first roll-up, which does not know of waiting entries.
        journal.post([two(20)])
        assert journal.advances == 2
        assert journal.rolled_up() == {"JE-2026": (20, 20)}

    def test_readers_see_whole_postings_while_others_post(self, journal: JournalWriter) -> None:
        journal.step = 2
        read = 0

        async def post(pool: Pool, turn: int) -> None:
            for n in range(12):
                year = 2025 + (n + turn) % 2
                await journal.posting(pool, [two(10 * turn + n + 1, date(year, 5, 5))])

        async def look(pool: Pool) -> None:
            nonlocal read
            for _ in range(15):
                states = await journal.reading(pool, lambda books: books.accounts.chart())
                assert total(states) == 0
                moved = states[0].debits
                assert moved >= read
                read = moved

        async def all_at_once(pool: Pool) -> None:
            await asyncio.gather(*(post(pool, turn) for turn in range(4)), look(pool))

        journal.run(all_at_once, size=16)
        assert {rolled for rolled, _ in journal.rolled_up().values()} == {24}
        assert sums(journal.chart(EVER), of_period=False) == journal.by_lines(EVER)
        assert journal.roll_ups_hold()


class TestPlan:
    @pytest.mark.parametrize("text", [CHART, FAMILY, *NETS.values()])
    def test_only_entries_that_are_not_rolled_up_are_read(
        self, journal: JournalWriter, text: str
    ) -> None:
        told = {
            "business_id": journal.business.id,
            "reference": "1200",
            "account_id": journal.accounts[0],
            **dict.fromkeys(("month", "first_date", "last_date"), date(2026, 3, 1)),
            **dict.fromkeys(("first_id", "last_id"), new_id()),
            "ids": [new_id()],
            **period_parameters(EVER),
        }
        journal.check_plan(text, told, "SET LOCAL enable_seqscan = off")


@pytest.fixture(scope="module")
def rolled(own_server: ApiServer, partner: Partner) -> JournalWriter:
    journal = JournalWriter(own_server, partner.business())
    journal.post([two(n, date(2026, month, 3)) for month in (1, 2, 3) for n in (1, 2, 3, 4)])
    journal.post([two(100)])
    assert journal.rolled_up() == {"JE-2026": (12, 13)}
    return journal


FAULTS = {
    "a month says more than was posted": (
        "UPDATE account_month SET debits = debits + 1 WHERE business_id = %s AND debits > 0"
    ),
    "a month counts a line too many": (
        "UPDATE account_month SET credit_count = credit_count + 1 WHERE business_id = %s"
    ),
    "a month is missing": (
        "DELETE FROM account_month WHERE business_id = %s AND month = '2026-02-01'"
    ),
    "a month stands on another one's place": (
        "UPDATE account_month SET month = '2026-07-01' WHERE business_id = %s"
        " AND month = '2026-02-01'"
    ),
    "an entry counts as rolled up that is not": (
        "UPDATE number_series SET rolled_up = last WHERE business_id = %s AND series = 'JE-2026'"
    ),
    "an entry is rolled up and counted again": (
        "UPDATE number_series SET rolled_up = 11 WHERE business_id = %s AND series = 'JE-2026'"
    ),
    "a line that was rolled up is changed": (
        "UPDATE journal_line SET debit = debit + 1 WHERE business_id = %s AND debit = 4"
    ),
}


class TestRollUpsAreProven:
    def test_correct_roll_ups_pass_the_check(
        self, own_server: ApiServer, kept: JournalWriter
    ) -> None:
        assert kept.roll_ups_hold()

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_planted_fault_is_found_and_a_rebuilding_mends_it(
        self, own_server: ApiServer, kept: JournalWriter, fault: str
    ) -> None:
        tamper(own_server, FAULTS[fault], kept.business.id)
        assert "roll_ups" in faults_in(own_server, kept.business)
        kept.run(lambda pool: rebuild(pool, kept.writer.business_id))
        assert kept.roll_ups_hold()
        assert kept.rolled_up() == {"JE-2026": (13, 13)}
        assert sums(kept.chart(EVER), of_period=False) == kept.by_lines(EVER)


class TestRebuilding:
    def test_a_rebuild_and_concurrent_postings_wait_for_each_other(
        self, journal: JournalWriter
    ) -> None:
        journal.step = 4

        async def post(pool: Pool) -> None:
            for n in range(1, 16):
                await journal.posting(pool, [two(n)])

        async def again(pool: Pool) -> None:
            for _ in range(6):
                await rebuild(pool, journal.writer.business_id)

        async def all_at_once(pool: Pool) -> None:
            await asyncio.gather(post(pool), post(pool), again(pool))

        journal.run(all_at_once, size=16)
        assert sums(journal.chart(EVER), of_period=False) == journal.by_lines(EVER)
        assert journal.roll_ups_hold()

    def test_a_rebuild_returns_the_number_of_months(self, kept: JournalWriter) -> None:
        assert kept.run(lambda pool: rebuild(pool, kept.writer.business_id)) == 6
