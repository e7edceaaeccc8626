"""Reports, computed from the model's balances and compared at the end of a run.

The model dates no postings: it has the sums of all years. Single years are compared with other
reports: columns with their sum, and retained earnings with the years before.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from tests.model.books import Body, Books, of
from tests.model.ledger import balances, on_cash
from tests.model.play import Play
from tests.model.records import Party

Balances = Mapping[str, int]
Sections = dict[str, dict[str, int]]

FIRST, LAST, FAR = "2020-01-01", "2026-12-31", "2099-06-30"
"""The first and last day of a run, by fiscal years, and a day of a later one."""
SUBTYPES = (
    *(("16", "non_current_assets"), ("1", "current_assets")),
    *(("25", "non_current_liabilities"), ("2", "current_liabilities")),
    *(("30", "share_capital"), ("31", "share_premium"), ("32", "reserves")),
    ("33", "retained_earnings"),
    *(("45", "other_operating_income"), ("46", "finance_income"), ("4", "revenue")),
    *(("5", "direct_costs"), ("6", "operating_expenses"), ("7", "finance_costs")),
    ("8", "income_tax"),
)
"""The subtypes of the first chart by the beginning of account codes; the first that fits counts."""
EARNED = ("revenue", "other_operating_income", "finance_income")
SPENT = ("direct_costs", "operating_expenses", "finance_costs", "income_tax")
ASSETS = ("non_current_assets", "current_assets")
LIABILITIES = ("current_liabilities", "non_current_liabilities")
EQUITY = ("share_capital", "share_premium", "reserves", "retained_earnings")
OF_DEBITS = (*ASSETS, *SPENT)
FLOWS = ("operating", "investing", "financing", "non_cash", "cash")
UNPAID = ("sent", "received", "overdue", "partially_paid", "partially_written_off")
COMPUTED = ""
"""The key of lines without an account."""


def compare_reports(play: Play) -> None:
    """Compare every report on both bases, and the open amounts of each party."""
    for basis, held in (("accrual", balances(play.books)), ("cash", on_cash(play.books))):
        BasisReports(play, basis, held).compare()
    compare_aging(play)
    compare_counts(play)
    for party in play.books.parties.values():
        compare_statement(play, party)
    play.counts.note("reports compared")


@dataclass(frozen=True)
class BasisReports:
    """The reports of one basis, and the balances on it: debits above zero."""

    play: Play
    basis: str
    held: Balances

    def compare(self) -> None:
        """Compare the statements with the balances, and with each other."""
        years = self.profit_and_loss()
        self.balance_sheet(years)
        self.trial_balance(LAST, years[-1], sum(profit_of(each) for each in years[:-1]))
        self.trial_balance(FAR, {}, profit_of(self.held))
        self.cash_flow()

    def get(self, name: str, **query: str) -> httpx.Response:
        return self.play.caller.get(f"reports/{name}/", basis=self.basis, **query)

    def hold(self, what: str, expected: object, shown: object, answer: httpx.Response) -> None:
        """Raise a divergence where a report differs."""
        told = f"{what} on {self.basis} should be {expected}, and is {shown}"
        hold(self.play, told, expected, shown, answer)

    def profit_and_loss(self) -> list[Balances]:
        """Compare profit and loss of all years; return its columns, one for each year."""
        days = {"start_date": FIRST, "end_date": LAST, "interval": "year"}
        answer = self.get("profit-and-loss", **days, detail_level="detailed")
        body, names = answer.json(), (*EARNED, *SPENT)
        expected = sections(self.held, names)
        self.hold("profit and loss", expected, self.read(names, answer), answer)
        self.hold("its summary", earnings(expected), body["summary"], answer)
        years: list[Balances] = []
        for place, column in enumerate(body["columns"]):
            year = {
                each["account_code"]: turned(name, each["column_values"][place])
                for name in names
                for each in body[name]["line_items"]
            }
            told = earnings(sections(year, names))
            self.hold(f"column {place}", told, column["summary"], answer)
            years.append({code: amount for code, amount in year.items() if amount})
        whole: Counter[str] = Counter()
        for each in years:
            whole.update(each)
        expected = sections(whole, names)
        self.hold("the sum of columns", sections(self.held, names), expected, answer)
        return years

    def balance_sheet(self, years: list[Balances]) -> None:
        """Compare the balance sheet, and its computed earnings of earlier years and of this one."""
        answer = self.get("balance-sheet", as_of_date=LAST, detail_level="detailed")
        names = (*ASSETS, *LIABILITIES, *EQUITY)
        expected = sections(self.held, names)
        own = sum(expected["retained_earnings"].values())
        earned = profit_of(self.held)
        if earned:
            expected["retained_earnings"][COMPUTED] = earned
        self.hold("the balance sheet", expected, self.read(names, answer), answer)
        lines = answer.json()["retained_earnings"]["line_items"]
        computed = [each["value_cents"] for each in lines if each["account_id"] is None]
        by_year = sum(profit_of(each) for each in years[:-1]), profit_of(years[-1])
        self.hold("earnings", [each for each in by_year if each], computed, answer)
        sums = {name: sum(each.values()) for name, each in expected.items()}
        assets, owed = sum_of(sums, ASSETS), sum_of(sums, LIABILITIES)
        equity = sum_of(sums, EQUITY[:-1]) + own + earned
        summary = {f"total_{name}_cents": sums[name] for name in (*ASSETS, *LIABILITIES)}
        summary |= {"total_assets_cents": assets, "total_liabilities_cents": owed}
        summary |= {"total_equity_cents": equity, "net_assets_cents": assets - owed}
        self.hold("its summary", summary, answer.json()["summary"], answer)
        self.hold("net assets", equity, assets - owed, answer)

    def trial_balance(self, day: str, of_year: Balances, before: int) -> None:
        """Compare all balances on a day; the profit of earlier years is a row."""
        answer = self.get("trial-balance", as_of_date=day)
        earned = (*EARNED, *SPENT)
        standing = {c: n for c, n in self.held.items() if subtype_of(c) not in earned}
        expected = {**standing, **of_year, **({COMPUTED: -before} if before else {})}
        rows = answer.json()["accounts"]
        shown = {
            each["account_code"] or COMPUTED: each["debit_cents"] - each["credit_cents"]
            for each in rows
        }
        self.hold(f"the trial balance of {day}", expected, shown, answer)
        subtypes = {e["account_code"]: e["account_subtype"] for e in rows if e["account_id"]}
        self.hold("subtypes", {code: subtype_of(code) for code in subtypes}, subtypes, answer)
        debits = sum(each for each in expected.values() if each > 0)
        names = ("total_debits_cents", "total_credits_cents")
        totals = tuple(answer.json()[name] for name in names)
        self.hold("its totals", (debits, debits), totals, answer)

    def cash_flow(self) -> None:
        """Compare the cash flow of all years, and check that it reconciles."""
        answer = self.get("cash-flow", start_date=FIRST, end_date=LAST, detail_level="detailed")
        body = answer.json()
        operating = body["operating_activities"]
        shown = {
            "operating": self.of_section(
                "working capital", operating["working_capital_changes"], answer
            ),
            "non_cash": self.of_section("non-cash", operating["non_cash_adjustments"], answer),
            "investing": self.of_section("investing", body["investing_activities"], answer),
            "financing": self.of_section("financing", body["financing_activities"], answer),
        }
        expected: Sections = {flow: {} for flow in FLOWS}
        for code, amount in self.held.items():
            if subtype_of(code) not in (*EARNED, *SPENT):
                expected[flow_of(self.play.books, code)][code] = -amount
        cash = -sum(expected.pop("cash").values())
        self.hold("the cash flow", expected, shown, answer)
        earned = profit_of(self.held)
        self.hold("its net profit", earned, operating["net_profit_cents"], answer)
        sums = {name: sum(each.values()) for name, each in expected.items()}
        summary = {
            "net_cash_from_operating_cents": earned + sums["operating"] + sums["non_cash"],
            "net_cash_from_investing_cents": sums["investing"],
            "net_cash_from_financing_cents": sums["financing"],
            "net_change_in_cash_cents": cash,
            "opening_cash_cents": 0,
            "closing_cash_cents": cash,
        }
        self.hold("its summary", summary, body["summary"], answer)
        reconciled = {
            "opening_cash_cents": 0,
            "net_change_cents": cash,
            "calculated_closing_cents": cash,
            "actual_closing_cents": cash,
            "reconciles": True,
        }
        self.hold("its reconciliation", reconciled, body["cash_reconciliation"], answer)

    def read(self, names: tuple[str, ...], answer: httpx.Response) -> Sections:
        """Read sections, and check their totals."""
        body = answer.json()
        return {name: self.of_section(name, body[name], answer) for name in names}

    def of_section(self, name: str, shown: Body, answer: httpx.Response) -> dict[str, int]:
        """Read a section, with computed lines as one; a line must not be zero in all columns."""
        lines: Counter[str] = Counter()
        for each in shown["line_items"]:
            lines[each["account_code"] or COMPUTED] += each["value_cents"]
            holds = any([each["value_cents"], *each["column_values"]])
            self.hold(f"whether {each['account_name']} holds something", True, holds, answer)
        self.hold(f"the total of {name}", sum(lines.values()), shown["total_cents"], answer)
        return {code: amount for code, amount in lines.items() if amount}


def subtype_of(code: str) -> str:
    """Return the subtype of an account."""
    return next(subtype for begin, subtype in SUBTYPES if code.startswith(begin))


def turned(subtype: str, amount: int) -> int:
    """Return debits in the sign of a subtype, or an amount of the subtype as debits."""
    return amount if subtype in OF_DEBITS else -amount


def sections(held: Balances, names: tuple[str, ...]) -> Sections:
    """Return balances by subtype, each in the sign of its type."""
    found: Sections = {name: {} for name in names}
    for code, amount in held.items():
        subtype = subtype_of(code)
        if subtype in found and amount:
            found[subtype][code] = turned(subtype, amount)
    return found


def sum_of(sums: Mapping[str, int], names: tuple[str, ...]) -> int:
    return sum(sums[name] for name in names)


def profit_of(held: Balances) -> int:
    """Return income less expenses."""
    return -sum(n for code, n in held.items() if subtype_of(code) in (*EARNED, *SPENT))


def earnings(expected: Sections) -> dict[str, int]:
    """Return the summary of profit and loss."""
    of = {name: sum(each.values()) for name, each in expected.items()}
    income = of["revenue"] + of["other_operating_income"]
    gross = income - of["direct_costs"]
    operating = gross - of["operating_expenses"]
    before_tax = operating + of["finance_income"] - of["finance_costs"]
    return {
        "net_revenue_cents": of["revenue"],
        "total_operating_income_cents": income,
        "gross_profit_cents": gross,
        "total_operating_expenses_cents": of["operating_expenses"],
        "operating_profit_cents": operating,
        "profit_before_tax_cents": before_tax,
        "net_profit_cents": before_tax - of["income_tax"],
    }


def flow_of(books: Books, code: str) -> str:
    """Return the section of the cash flow for an account of the balance sheet."""
    banks = {each.code for each in books.bank_accounts.values()}
    if code in {"1000", "1100"} | banks:
        return "cash"
    if code == "1650":
        return "non_cash"
    subtype = subtype_of(code)
    if subtype == "non_current_assets":
        return "investing"
    return "operating" if subtype in ("current_assets", "current_liabilities") else "financing"


# Open amounts of parties.


def compare_aging(play: Play) -> None:
    """Compare the open amounts of each party today, by how late they are."""
    books, party = play.books, play.books.side.party
    report = "ar-aging" if books.side.sign > 0 else "ap-aging"
    answer = play.caller.get(f"insights/{report}/", as_of_date=books.today.isoformat())
    body = answer.json()
    rows = {each.id: aged(books, each) for each in books.parties.values()}
    expected = {id: row for id, row in rows.items() if any(row.values())}
    shown = {each[f"{party}_id"]: read_aging(each) for each in body[f"{party}s"]}
    shown = {id: row for id, row in shown.items() if any(row.values())}
    hold(play, f"the {report} should be {expected}, and is {shown}", expected, shown, answer)
    whole: Counter[str] = Counter(dict.fromkeys(next(iter(rows.values())), 0))
    for row in rows.values():
        whole.update(row)
    total = read_aging({**body, "aging_buckets": body["total_aging_buckets"]})
    hold(play, f"the {report} should come to {dict(whole)}", dict(whole), total, answer)
    totals = [each["total_outstanding_cents"] for each in body[f"{party}s"]]
    falling = sorted(totals, reverse=True)
    hold(play, "the largest comes first", falling, totals, answer)


def aged(books: Books, party: Party) -> dict[str, int]:
    """Return the open amounts of a party by how late they are, and its unapplied amount."""
    row = dict.fromkeys(
        ("current", "days_1_30", "days_31_60", "days_61_90", "over_90_days", "total"), 0
    )
    for document in of(party, books.documents):
        if document.state == "open":
            row[bucket(books.days_late(document))] += books.outstanding(document)
            row["total"] += books.outstanding(document)
    return {**row, "unapplied": free(books, party)}


def bucket(late: int) -> str:
    """Return the aging bucket of a document that is a number of days late."""
    if late <= 0:
        return "current"
    limits = ((30, "days_1_30"), (60, "days_31_60"), (90, "days_61_90"))
    return next((name for most, name in limits if late <= most), "over_90_days")


def free(books: Books, party: Party) -> int:
    """Return the unapplied amount of the prepayments and credits of a party."""
    money = of(party, books.payments)
    paid = sum(books.remaining(each) for each in money if each.status == "completed")
    bounced = sum(books.refunded(each) for each in money if each.status != "completed")
    return paid - bounced + sum(books.unapplied(each) for each in of(party, books.credits))


def read_aging(shown: Body) -> dict[str, int]:
    """Read a row of aging, whose numbers have two names."""
    buckets = shown["aging_buckets"]
    for name in ("1_30_days", "31_60_days", "61_90_days"):
        assert buckets[name] == buckets[f"days_{name.removesuffix('_days')}"]
    names = ("current", "days_1_30", "days_31_60", "days_61_90", "over_90_days")
    found = {name: int(buckets[name]) for name in names}
    whole = {"total": shown["total_outstanding_cents"], "unapplied": shown["unapplied_cents"]}
    return {**found, **whole}


def compare_counts(play: Play) -> None:
    """Compare the numbers of documents and credits by status."""
    books, side = play.books, play.books.side
    statuses = Counter(books.status(each) for each in books.documents.values())
    credits = Counter(books.credit_status(each) for each in books.credits.values())
    documents = {
        "all": statuses.total(),
        "unpaid": sum(statuses[each] for each in UNPAID),
        "paid": statuses["paid"],
        "outstanding_cents": sum(books.owed_by(each) for each in books.parties.values()),
    }
    if side.sign > 0:
        path, name = "ar/stats/", "credit_notes"
        words = ("draft", "sent", "applied", "partially_applied", "void")
        counted = {"all": credits.total(), **{each: credits[each] for each in words}}
    else:
        path, name = "ap/stats/", "vendor_credits"
        unapplied = credits["received"] + credits["partially_applied"]
        counted = {"all": credits.total(), "unapplied": unapplied, "applied": credits["applied"]}
    answer = play.caller.get(path)
    shown = {each: answer.json()[each] for each in (f"{side.noun}s", name)}
    expected = {f"{side.noun}s": documents, name: counted}
    hold(play, f"there should be {expected}, and are {shown}", expected, shown, answer)


def compare_statement(play: Play, party: Party) -> None:
    """Compare the balances of the statement of a party."""
    books = play.books
    path = f"{books.side.parties}{party.id}/statement/"
    answer = play.caller.get(path, start_date=FIRST, end_date=books.today.isoformat())
    body = answer.json()
    names = ("opening_balance_cents", "closing_balance_cents", "unapplied_cents")
    expected = 0, books.owed_by(party), free(books, party)
    shown = tuple(body[name] for name in names)
    hold(play, f"{names} should be {expected}, and are {shown}", expected, shown, answer)
    balance = 0
    for line in body["lines"]:
        balance += line["amount_cents"]
        hold(play, f"the balance should be {balance}", balance, line["balance_cents"], answer)
    hold(play, f"lines should come to {expected[1]}", expected[1], balance, answer)


def hold(play: Play, what: str, expected: Any, shown: Any, answer: httpx.Response) -> None:
    """Raise a divergence where an answer differs."""
    if shown != expected:
        play.diverge(what, answer)
