"""Revaluations by the examples of the design, with the year end on 31 January; books are in GBP."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounting.books.chart import Role
from accounting.books.exchange_rates import KnownRates
from accounting.books.foreign import at_rate
from accounting.books.ledger import parts, stays
from accounting.books.record_rates import in_minor_units
from accounting.books.revaluations import BalanceKind, can_be_stale, status
from tests.accounting.books.revalued_books import Books, book, foreign
from tests.accounting.samples import ROLES, code_of, day, no_move, rates_on, refusal_of
from tests.accounting.trade.business import Trade
from tests.accounting.trade.test_foreign_settlements import at, last

CLAIMS = ("1200", "2000", "2250", "1260", "2300", "1270")
GAINED = {"1200": 700, "4660": -700}
BACK = {"1200": -700, "4660": 700}


@pytest.fixture
def books() -> Books:
    return Books()


@pytest.fixture
def trade() -> Trade:
    return Trade("5", rates=KnownRates())


class TestClaims:
    def test_the_year_has_the_change_and_the_settlement_knows_nothing_of_it(
        self, books: Books, trade: Trade
    ) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        books.entries = list(trade.entries())
        run = books.revalue("31", USD="0.97")
        assert book(run) == [("31", GAINED), ("2-1", BACK)]
        payment = trade.on("2-10").pay(10_000, (id_, 10_000), **at("0.95"))
        assert last(trade, payment) == {"1100": 9_500, "1200": -9_000, "4650": -500}
        books.entries = list(trade.entries())
        before, after = (
            -sum(books.base_of(code, on) for code in ("4650", "4660")) for on in ("31", "2-10")
        )
        assert (before, after - before) == (700, -200)

    def test_a_run_after_late_entries_posts_the_rest(self, books: Books, trade: Trade) -> None:
        id_ = trade.document(10_000, **at("0.90"))
        books.entries = list(trade.entries())
        run = books.revalue("31", USD="0.97")
        assert not books.is_stale(run)
        payment = trade.on("20").pay(4_000, (id_, 4_000), **at("0.96"))
        assert last(trade, payment) == {"1100": 3_840, "1200": -3_600, "4650": -240}
        books.entries = list(trade.entries())
        assert books.is_stale(run)
        rest = books.revalue("31", USD="0.97")
        assert book(rest) == [
            ("31", {"7060": 280, "1200": -280}),
            ("2-1", {"1200": 280, "7060": -280}),
        ]
        assert (books.base_of("1200", "31"), books.base_of("1200", "2-1")) == (5_820, 5_400)
        assert not books.is_stale(run)
        assert not books.is_stale(rest)

    def test_the_same_run_again_posts_nothing(self, books: Books) -> None:
        books.post("5", foreign("1200", 9_000, 10_000))
        books.revalue("31", USD="0.97")
        again = books.revalue("31", USD="0.97")
        assert (again.posts, again.posted) == (False, ())
        [item] = again.items
        assert (item.own, item.base, item.difference) == (10_000, 9_700, 0)

    @pytest.mark.parametrize("code", CLAIMS)
    def test_claims_are_not_counted_on_cash(self, books: Books, code: str) -> None:
        books.post("5", foreign(code, 9_000, 10_000))
        for entry in books.revalue("31", USD="0.97").posted:
            assert not entry.in_cash
            assert not any(stays(entry, line) or parts(entry, line) for line in entry.lines)

    def test_what_is_owed_is_a_loss(self, books: Books) -> None:
        books.post("5", foreign("2000", -9_000, -10_000))
        run = books.revalue("31", USD="0.97")
        assert book(run)[0] == ("31", {"7060": 700, "2000": -700})

    def test_its_line_has_the_currency_and_an_own_amount_of_zero(self, books: Books) -> None:
        books.post("5", foreign("1200", 9_000, 10_000))
        for entry in books.revalue("31", USD="0.97").posted:
            own = {code_of(e.account_id): (e.currency, e.currency_amount) for e in entry.lines}
            assert own == {"1200": ("USD", 0), "4660": (None, None)}


class TestMoney:
    def test_a_bank_account_goes_on_from_its_new_value(self, books: Books) -> None:
        books.post("5", foreign("1101", 9_000, 10_000))
        run = books.revalue("31", USD="0.97")
        assert book(run) == [("31", {"1101": 700, "4660": -700})]
        assert all(entry.in_cash for entry in run.posted)
        books.post("2-5", foreign("1101", -9_500, -10_000))
        assert books.base_of("1101", "2-5") == 200
        emptied = books.revalue("2-10")
        assert book(emptied) == [("2-10", {"7060": 200, "1101": -200})]
        [item] = emptied.items
        assert (item.own, item.base, item.exchange_rate) == (0, 200, None)
        assert books.base_of("1101", "2-10") == 0

    def test_the_reserve_has_no_mirror_and_clearing_has_one(self, books: Books) -> None:
        books.post("5", foreign("1150", 9_000, 10_000), foreign("1160", 900, 1_000))
        run = books.revalue("31", USD="0.97")
        assert book(run) == [
            ("31", {"1150": 700, "4660": -700}),
            ("31", {"1160": 70, "4660": -70}),
            ("2-1", {"1150": -700, "4660": 700}),
        ]
        assert all(entry.in_cash for entry in run.posted)

    @pytest.mark.parametrize("code", ["2100", "1250", "1100", "1000", "4000", "3290"])
    def test_advances_and_accounts_in_base_are_left(self, books: Books, code: str) -> None:
        books.post("5", foreign(code, 9_000, 10_000))
        run = books.revalue("31", USD="0.97")
        assert not run.posts
        [item] = run.items
        assert (item.account_id, item.currency, item.own, item.difference) == (None, "USD", 0, 0)


class TestItems:
    def test_each_account_and_currency_has_an_entry(self, books: Books) -> None:
        books.rates = rates_on("28", USD="1.25", SEK="10")
        books.post("5", foreign("1200", 1_000, 10_000, "SEK"), foreign("2000", -700, -1_000))
        books.post("5", foreign("1200", 9_000, 10_000), foreign("1200", 10_050, 15_000, "ISK"))
        run = books.revalue("31", USD="0.97", ISK="0.007", EUR="0.85")
        found = [
            (e.account_code, e.currency, e.own, e.base, str(e.exchange_rate), e.difference)
            for e in run.items
        ]
        assert found == [
            ("1200", "ISK", 15_000, 10_050, "0.007", 450),
            ("1200", "SEK", 10_000, 1_000, "0.1", 0),
            ("1200", "USD", 10_000, 9_000, "0.97", 700),
            ("2000", "USD", -1_000, -700, "0.97", -270),
            (None, "EUR", 0, 0, "0.85", 0),
        ]
        assert [amounts for on, amounts in book(run) if on == "31"] == [
            {"1200": 450, "4660": -450},
            {"1200": 700, "4660": -700},
            {"7060": 270, "2000": -270},
        ]
        assert run.items[0].kind is BalanceKind.CLAIMS

    def test_a_half_is_rounded_away_from_zero(self, books: Books) -> None:
        books.post("5", foreign("1200", 0, 5), foreign("2000", 0, -5))
        run = books.revalue("31", USD="0.5")
        assert [each.difference for each in run.items] == [3, -3]


class TestRefusals:
    @pytest.mark.parametrize(
        ("on", "rates", "code"),
        [
            ("2-16", {"USD": "0.97"}, "date_out_of_order"),
            ("10", {"USD": "0.97"}, "period_locked"),
            ("31", {}, "exchange_rate_missing"),
            ("31", {"USD": "0.1234567890123"}, "exchange_rate_invalid"),
            ("31", {"USD": "0.97", "GBP": "2"}, "exchange_rate_not_needed"),
            ("31", {"USD": "99999999999"}, "amount_too_large"),
        ],
    )
    def test_an_invalid_run_is_refused(
        self, books: Books, on: str, rates: dict[str, str], code: str
    ) -> None:
        books.lock = "10"
        books.post("5", foreign("1200", 9_000, 10_000))
        assert refusal_of(books.revalue, on, **rates)[0] == code

    def test_a_given_rate_is_refused_with_its_place(self, books: Books) -> None:
        _, detail = refusal_of(books.revalue, "31", USD="0.1234567890123")
        assert detail["item"] == "rates.USD"

    def test_the_base_currency_at_one_is_no_item(self, books: Books) -> None:
        assert books.revalue("31", GBP="1").items == ()


class TestReverse:
    def test_all_of_it_is_taken_back_on_its_days(self, books: Books) -> None:
        books.post("5", foreign("1200", 9_000, 10_000), foreign("1101", 9_000, 10_000))
        run = books.revalue("31", USD="0.97")
        books.today = "2-20"
        after = books.reverse(run)
        assert status(after) == "reversed"
        mirrors = after.posted[len(run.posted) :]
        assert {e.reversal_of_id for e in mirrors} == {each.id for each in run.posted}
        for original, mirror in zip(run.posted, mirrors, strict=True):
            assert mirror.reversal_of_id == original.id
            assert (mirror.entry_date, mirror.in_cash) == (original.entry_date, original.in_cash)
        assert [books.base_of(code, "31") for code in ("1200", "1101", "4660")] == [9_000, 9_000, 0]
        assert not books.is_stale(after)
        assert books.revalue("31", USD="0.97").posts

    def test_not_twice_and_not_in_the_lock(self, books: Books) -> None:
        books.post("5", foreign("1200", 9_000, 10_000))
        run = books.revalue("31", USD="0.97")
        books.lock = "31"
        assert refusal_of(books.reverse, run)[0] == "period_locked"
        books.lock = "30"
        books.reverse(run)
        assert refusal_of(books.reverse, run) == no_move("reversed")


class TestIsStale:
    @pytest.fixture
    def books(self) -> Books:
        """The books with receivables of USD 100.00 worth 90.00, which are 80.00 by the table."""
        books = Books(rates=rates_on("28", USD="1.25"))
        books.post("5", foreign("1200", 9_000, 10_000))
        return books

    def test_after_a_changed_table_unless_the_rate_was_given(self, books: Books) -> None:
        by_table = books.revalue("31")
        assert not books.is_stale(by_table)
        books.rates = rates_on("30", USD="1.6")
        assert books.is_stale(by_table)
        books.reverse(by_table)
        assert not books.is_stale(books.revalue("31", USD="0.97"))

    def test_where_a_rate_is_missing_now(self, books: Books) -> None:
        run = books.revalue("31")
        books.post("10", foreign("1200", 1_000, 10_000, "SEK"))
        assert books.is_stale(run)

    def test_not_after_later_entries_nor_in_the_lock(self, books: Books) -> None:
        run = books.revalue("31")
        books.post("2-2", foreign("1200", 9_000, 10_000))
        assert not books.is_stale(run)
        books.post("10", foreign("1200", 9_000, 10_000))
        assert books.is_stale(run)
        books.lock = "31"
        assert not can_be_stale(run, books.context())
        assert not books.is_stale(run)


AMOUNTS = st.integers(-10_000_000, 10_000_000)
ENTRIES = st.lists(
    st.tuples(
        st.sampled_from([*CLAIMS, "1150", "1160", "1101", "2100"]),
        st.sampled_from(["USD", "ISK", "SEK"]),
        AMOUNTS,
        AMOUNTS,
        st.sampled_from(["5", "20", "31", "2-1"]),
    ),
    max_size=8,
)
RATES = st.decimals("0.0001", "99.9999", places=4)


@given(ENTRIES, st.tuples(RATES, RATES, RATES), st.data())
def test_after_any_run_base_is_own_at_the_rate(
    entries: Any, rates: tuple[Decimal, Decimal, Decimal], data: st.DataObject
) -> None:
    books = Books()
    given_rates = dict(zip(("USD", "ISK", "SEK"), map(str, rates), strict=True))
    for code, currency, base, own, on in entries:
        kept = "USD" if code == "1101" else currency
        books.post(on, foreign(code, base, own, kept))
        if data.draw(st.booleans()):
            books.revalue("31", **given_rates)
    before = {code: books.base_of(code, "2-1") for code in CLAIMS}
    run = books.revalue("31", **given_rates)
    for each in books.balances(day("31")):
        if each.kind is not None:
            rate = in_minor_units(Decimal(given_rates[each.currency]), each.currency, "GBP")
            assert each.base == at_rate(each.own, rate)
    assert not books.revalue("31", **given_rates).posts
    assert {code: books.base_of(code, "2-1") for code in CLAIMS} == before
    for entry in run.posted:
        assert sum(line.amount for line in entry.lines) == 0
        assert entry.entry_date - run.revalued_on in (timedelta(0), timedelta(days=1))
    if run.posts:
        after = books.reverse(run)
        roles = {ROLES[Role.UNREALISED_EXCHANGE_GAINS], ROLES[Role.UNREALISED_EXCHANGE_LOSSES]}
        lines = [line for entry in after.posted for line in entry.lines]
        assert not sum(line.amount for line in lines if line.account_id in roles)
