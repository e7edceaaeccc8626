"""Financial statements: sections, their totals, and retained earnings."""

from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from accounting.books.accounts import Account
from accounting.books.chart import STARTING_CHART
from accounting.books.periods import Period
from accounting.errors import ValidationError
from accounting.reports import balance_sheets, cash_flows, layouts, ledgers, statements, tables
from accounting.reports.layouts import CompareTo, Layout
from tests.accounting.reports.charts import ACCOUNTS, CHART, lines, posted
from tests.accounting.samples import account_id, refused

DECEMBER, MARCH = date(2000, 12, 31), date(2000, 3, 31)
YEAR = Period(date(2026, 1, 1), date(2026, 12, 31))
LAST_YEAR = Period(date(2025, 1, 1), date(2025, 12, 31))
MONTHS = layouts.of_period(
    Period(date(2026, 1, 1), date(2026, 2, 28)),
    DECEMBER,
    layouts.Interval.MONTH,
    CompareTo.PREVIOUS_PERIOD,
)
TRADE = {
    **{"4000": -1000, "4100": 50, "4500": -100, "5000": 400, "6000": 200},
    **{"4600": -10, "7000": 30, "8000": 80},
}
AMOUNTS = st.dictionaries(
    st.sampled_from([each.code for each in STARTING_CHART]), st.integers(-(10**6), 10**6)
)


def balanced(amounts: dict[str, int]) -> dict[str, int]:
    """Return the amounts, with the rest at the bank."""
    rest = sum(amounts.values()) - amounts.get("1100", 0)
    return {**amounts, "1100": -rest}


def both(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {code: one.get(code, 0) + other.get(code, 0) for code in {*one, *other}}


def account_of(code: str) -> Account:
    return next(each for each in ACCOUNTS if each.code == code)


class TestProfitAndLoss:
    def test_every_step_leads_to_the_next(self) -> None:
        found = statements.profit_and_loss(posted(TRADE))
        assert found.summary == {
            "net_revenue": (950,),
            "total_operating_income": (1050,),
            "gross_profit": (650,),
            "total_operating_expenses": (200,),
            "operating_profit": (450,),
            "profit_before_tax": (430,),
            "net_profit": (350,),
        }

    def test_a_contra_account_is_below_zero(self) -> None:
        found = statements.profit_and_loss(posted({"4000": -1000, "4100": 50, "5100": -20}))
        assert lines(found.sections["revenue"]) == {"4000": (1000,), "4100": (-50,)}
        assert lines(found.sections["direct_costs"]) == {"5100": (-20,)}

    def test_balance_behavior_of_an_account_does_not_turn_its_line(self) -> None:
        turned = [replace(each, balance_behavior="debit_positive") for each in ACCOUNTS]
        found = posted({"4000": -1000}, chart=statements.Chart(turned)).of_subtype("revenue")
        assert found.totals == (1000,)

    def test_a_line_of_zeros_is_left_out_and_a_section_never(self) -> None:
        found = statements.profit_and_loss(posted({"4000": -5, "6000": 0}, {"6300": 7}))
        assert set(found.sections) == set(statements.PROFIT_AND_LOSS)
        assert lines(found.sections["operating_expenses"]) == {"6300": (0, 7)}
        assert found.sections["income_tax"] == statements.Section((), (0, 0))

    @given(AMOUNTS, AMOUNTS)
    def test_columns_add_up_to_the_whole(self, one: dict[str, int], other: dict[str, int]) -> None:
        found = statements.profit_and_loss(posted(both(one, other), one, other))
        for amounts in [*found.summary.values(), *(s.totals for s in found.sections.values())]:
            assert amounts[0] == amounts[1] + amounts[2]

    def test_income_and_expenses_leave_the_same_profit(self) -> None:
        found = statements.income_and_expenses(posted(TRADE))
        assert found == {"revenue": (1060,), "expenses": (710,), "net_profit": (350,)}

    def test_expenses_are_broken_down_with_the_largest_first(self) -> None:
        found = statements.expenses(posted({"6000": 5, "6300": 9, "7000": 1, "4000": -3}))
        assert list(lines(found.sections["operating_expenses"])) == ["6300", "6000"]
        assert {name: each.totals for name, each in found.sections.items()} == {
            "direct_costs": (0,),
            "operating_expenses": (14,),
            "finance_costs": (1,),
            "income_tax": (0,),
        }
        assert found.summary == {"total_expenses": (15,)}


class TestBalanceSheet:
    def test_a_day_has_two_spans(self) -> None:
        on = date(2026, 2, 10)
        found = balance_sheets.periods([on], MARCH)
        assert found == [Period(last=on), Period(date(2025, 4, 1), on)]

    def test_earnings_are_retained_by_themselves(self) -> None:
        amounts = posted({"1100": 1500, "4000": -1400, "6000": 200, "3300": -300}, {"4000": -200})
        found = balance_sheets.balance_sheet(amounts, [date(2026, 5, 31)], DECEMBER)
        retained = found.sections["retained_earnings"]
        assert lines(retained) == {
            "3300": (300,),
            "Profit of earlier years": (1000,),
            "Profit of the current year": (200,),
        }
        earlier, year = (line.days for line in retained.lines[1:])
        assert earlier == Period(last=date(2025, 12, 31))
        assert year == Period(date(2026, 1, 1), date(2026, 5, 31))
        assert found.summary["total_equity"] == found.summary["net_assets"] == (1500,)

    @given(AMOUNTS, AMOUNTS)
    def test_net_assets_are_equity(self, earlier: dict[str, int], year: dict[str, int]) -> None:
        amounts = posted(both(balanced(earlier), balanced(year)), balanced(year))
        found = balance_sheets.balance_sheet(amounts, [date(2026, 5, 31)], DECEMBER)
        assert found.summary["total_equity"] == found.summary["net_assets"]


class TestCashFlow:
    def test_a_cash_flow_reads_its_periods_and_the_time_before(self) -> None:
        eve, ever = Period(last=date(2025, 12, 31)), Period(last=YEAR.last)
        assert cash_flows.periods(Layout(YEAR)) == [YEAR, eve, ever]
        compared = cash_flows.periods(Layout(YEAR, (), LAST_YEAR))
        assert compared == [YEAR, LAST_YEAR, eve, Period(last=date(2024, 12, 31)), ever]

    def test_columns_open_with_what_those_before_have_moved(self) -> None:
        moved = [{"1100": each, "4000": -each} for each in (30, 10, 20, 7)]
        held = [{"1100": each} for each in (40, 33, 70)]
        found = cash_flows.cash_flow(posted(*moved, *held), MONTHS)
        assert found.statement.summary["opening_cash"] == (40, 40, 50, 33)
        assert found.statement.summary["closing_cash"] == (70, 50, 70, 40)
        assert found.reconciles

    def test_all_that_is_not_cash_says_what_moved_it(self) -> None:
        within = {"1100": 900, "1200": 700, "2200": -200, "1600": 600, "1650": -50, "2500": -1000}
        within |= {"4000": -1000, "6000": 50}
        before = {"1000": 40, "3000": -40}
        found = cash_flows.cash_flow(posted(within, before, both(before, within)), Layout(YEAR))
        assert found.net_profit == (950,)
        assert found.statement.summary == {
            "net_cash_from_operating": (500,),
            "net_cash_from_investing": (-600,),
            "net_cash_from_financing": (1000,),
            "net_change_in_cash": (900,),
            "opening_cash": (40,),
            "closing_cash": (940,),
        }
        assert found.actual_closing == 940
        assert lines(found.statement.sections["non_cash_adjustments"]) == {"1650": (50,)}
        assert lines(found.statement.sections["working_capital_changes"]) == {
            "1200": (-700,),
            "2200": (200,),
        }

    def test_an_account_under_the_bank_is_cash(self) -> None:
        others = [each for each in ACCOUNTS if each.code != "1400"]
        child = replace(account_of("1400"), parent_id=account_id("1100"))
        chart = statements.Chart([child, *others])
        moved = posted({"1400": 10, "4000": -10}, {}, {"1400": 10}, chart=chart)
        found = cash_flows.cash_flow(moved, Layout(YEAR))
        assert found.statement.summary["net_change_in_cash"] == (10,)
        assert found.actual_closing == 10

    @given(AMOUNTS, AMOUNTS)
    def test_a_cash_flow_reconciles(self, before: dict[str, int], within: dict[str, int]) -> None:
        before, within = balanced(before), balanced(within)
        ever = both(before, within)
        assert cash_flows.cash_flow(posted(within, before, ever), Layout(YEAR)).reconciles


class TestTrialBalance:
    DAY = date(2026, 6, 30)

    def test_profit_of_earlier_years_is_a_row(self) -> None:
        year = Period(date(2026, 4, 1), self.DAY)
        assert ledgers.trial_spans(self.DAY, MARCH) == [Period(last=self.DAY), year]
        amounts = posted({"1100": 1200, "4000": -1200}, {"1100": 200, "4000": -200})
        rows = ledgers.trial_balance(amounts, self.DAY, DECEMBER)
        assert [(row.name, row.debit, row.credit) for row in rows] == [
            ("Business bank account", 1200, 0),
            ("Sales", 0, 200),
            ("Profit of earlier years", 0, 1000),
        ]
        assert rows[-1].days == Period(last=date(2025, 12, 31))
        assert ledgers.totals(rows) == (1200, 1200)

    @given(AMOUNTS, AMOUNTS)
    def test_debits_and_credits_agree(self, earlier: dict[str, int], year: dict[str, int]) -> None:
        amounts = posted(both(balanced(earlier), balanced(year)), balanced(year))
        debits, credits_ = ledgers.totals(ledgers.trial_balance(amounts, self.DAY, DECEMBER))
        assert debits == credits_


class TestGeneralLedger:
    def test_profit_and_loss_opens_with_its_year(self) -> None:
        eve, june = date(2026, 5, 31), Period(date(2026, 6, 1), date(2026, 6, 30))
        spans = [Period(last=eve), Period(date(2026, 4, 1), eve), june]
        assert ledgers.ledger_spans(june, MARCH) == spans
        before, year = {"1100": 500, "4000": -500}, {"1100": 30, "4000": -30}
        rows = ledgers.general_ledger(posted(before, year, {"1100": 200, "4000": -200}))
        sums = {r.account.code: (r.opening, r.debits, r.credits, r.closing) for r in rows}
        assert sums == {"1100": (500, 200, 0, 700), "4000": (30, 0, 200, 230)}

    def test_a_single_account_is_reported_without_movements(self) -> None:
        bank = account_of("1100")
        [row] = ledgers.general_ledger(posted({}, {}, {}), bank)
        assert (row.account, row.opening, row.closing) == (bank, 0, 0)


class TestLayout:
    def test_figures_are_read_by_their_places(self) -> None:
        starts = [str(each.first) for each in MONTHS.periods]
        assert starts == ["2026-01-01", "2026-01-01", "2026-02-01", "2025-11-01"]
        told = MONTHS.told((30, 10, 20, 25))
        assert (told.value, told.columns, told.previous, told.difference) == (30, (10, 20), 25, 5)
        told = Layout(YEAR).told((30,))
        assert (told.columns, told.previous, told.difference) == ((), None, None)

    def test_days_begin_with_the_fiscal_year_of_the_last(self) -> None:
        tenth = date(2026, 5, 10)
        assert layouts.days(None, tenth, MARCH) == Period(date(2026, 4, 1), tenth)
        refusal = refused(layouts.days, date(2026, 5, 11), tenth, MARCH)
        assert isinstance(refusal, ValidationError)
        assert "end_date" in refusal.detail["field_errors"]


class TestChart:
    def test_an_account_is_found_by_id_code_and_external_id(self) -> None:
        bank = account_of("1100")
        chart = statements.Chart([replace(bank, external_id="house-bank")])
        for reference in (str(bank.id).upper(), "1100", "house-bank"):
            found = chart.find(reference)
            assert found is not None
            assert found.code == "1100"
        assert CHART.find("nothing") is None


class TestTables:
    def test_a_statement_has_a_row_for_each_line_and_sum(self) -> None:
        layout = replace(MONTHS, previous=None)
        found = statements.profit_and_loss(
            posted({"4000": -30, "4100": 5}, {"4000": -10}, {"4000": -20, "4100": 5})
        )
        table = tables.of_statement(found, layout, detailed=True)
        assert table.header == (
            *("row", "section", "account_code", "account_name", "value_cents"),
            *("2026-01-01/2026-01-31", "2026-02-01/2026-02-28"),
        )
        assert table.rows[:3] == (
            ("line", "revenue", "4000", "Sales", 30, 10, 20),
            ("line", "revenue", "4100", "Sales returns and refunds", -5, 0, -5),
            ("total", "revenue", None, None, 25, 10, 15),
        )
        assert table.rows[-1] == ("summary", "net_profit", None, None, 25, 10, 15)
        assert all(len(row) == len(table.header) for row in table.rows)

    def test_a_summary_has_no_lines(self) -> None:
        found = statements.profit_and_loss(posted({"4000": -30}, {"4000": -10}))
        table = tables.of_statement(found, Layout(YEAR, (), LAST_YEAR), detailed=False)
        assert table.header[-3:] == ("value_cents", "previous_cents", "difference_cents")
        assert table.rows[0] == ("total", "revenue", None, None, 30, 10, 20)

    def test_trends_have_a_row_each(self) -> None:
        january = Period(date(2026, 1, 1), date(2026, 1, 31))
        table = tables.of_trends(Layout(YEAR, (january,)), {"revenue": (100, 60)})
        assert table.header == ("start_date", "end_date", "revenue_cents")
        assert table.rows == ((january.first, january.last, 60),)
