"""The list that explains a figure of a report adds up to the figure."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.builders.reports import booked, report, table, worked_march
from tests.builders.trade import SALES, Record
from tests.handlers.reports.histories import History
from tests.partner import Business, Partner

BASES = ("accrual", "cash")
DAYS = {"start_date": "2025-01-10", "end_date": "2025-05-20"}
MARCH = {"start_date": "2025-03-01", "end_date": "2025-03-31"}


@pytest.fixture(scope="module")
def history(acme: Partner) -> History:
    history = History(acme, 3)
    history.play(45)
    return history


def followed(shop: Business, address: str) -> Record:
    assert address.startswith(f"/v1/platform/businesses/{shop.id}/")
    answer = shop.api.get(f"{shop.partner.url}{address}")
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


def net(shop: Business, address: str) -> int:
    """Return debits less credits of all lines in the list at an address."""
    found = followed(shop, f"{address}&page_size=100")
    assert found["next"] is None
    return sum(each["debit_amount"] - each["credit_amount"] for each in found["results"])


def lines_of(found: Record) -> Iterator[Record]:
    """Yield the lines of all sections and their subsections."""
    for each in found.values():
        if isinstance(each, dict):
            yield from each.get("line_items", [])
            yield from lines_of(each)


@pytest.fixture(scope="module")
def tagged(acme: Partner) -> Business:
    """A business of invoices with two tags, with either tag and with none; two of them are paid."""
    shop = acme.business()
    buyer = shop.customer()
    sent = {
        amount: SALES.open(shop, buyer, amount, transaction_tags=tags)
        for amount, tags in ((100, ["a", "b"]), (20, ["a"]), (3, ["b"]), (4000, []))
    }
    for amount in (20, 4000):
        SALES.pay(shop, buyer, amount, SALES.part(sent[amount], amount))
    return shop


class TestExplain:
    @pytest.mark.parametrize("basis", BASES)
    @pytest.mark.parametrize("name", ["profit-and-loss", "cash-flow", "balance-sheet"])
    def test_listed_entries_add_up_to_the_figure(
        self, history: History, name: str, basis: str
    ) -> None:
        days = {"as_of_date": DAYS["end_date"]} if name == "balance-sheet" else DAYS
        found = report(history.shop, f"reports/{name}", **days, basis=basis)
        lines = list(lines_of(found))
        assert len(lines) > 3
        for each in lines:
            if each["account_id"] is None:
                profit = followed(history.shop, each["explain"])
                assert profit["basis"] == basis
                assert profit["summary"]["net_profit_cents"] == each["value_cents"]
            else:
                listed = net(history.shop, each["explain"])
                assert listed in (each["value_cents"], -each["value_cents"]), each

    @pytest.mark.parametrize("basis", BASES)
    def test_of_trial_balance_and_general_ledger_too(self, history: History, basis: str) -> None:
        shop = history.shop
        found = report(shop, "reports/trial-balance", as_of_date=DAYS["end_date"], basis=basis)
        for each in found["accounts"]:
            held = each["debit_cents"] - each["credit_cents"]
            if each["account_id"] is None:
                profit = followed(shop, each["explain"])["summary"]["net_profit_cents"]
                assert profit == -held
            else:
                assert net(shop, each["explain"]) == held, each
        for each in report(shop, "reports/general-ledger", **DAYS, basis=basis)["accounts"]:
            moved = each["debits_cents"] - each["credits_cents"]
            assert net(shop, each["explain"]) == moved, each

    @pytest.mark.parametrize("basis", BASES)
    def test_of_expenses_and_of_the_profit_that_cash_begins_with(
        self, history: History, basis: str
    ) -> None:
        shop = history.shop
        found = report(shop, "insights/expense-breakdown", **DAYS, basis=basis)
        accounts = [each for kind in found["categories"] for each in kind["accounts"]]
        assert accounts
        for each in accounts:
            assert net(shop, each["explain"]) == each["amount_cents"]
        operating = report(shop, "reports/cash-flow", **DAYS, basis=basis)["operating_activities"]
        profit = followed(shop, operating["explain"])["summary"]["net_profit_cents"]
        assert profit == operating["net_profit_cents"]

    def test_the_lines_of_the_general_ledger_are_those_that_it_leads_to(
        self, history: History
    ) -> None:
        for basis in BASES:
            asked = {**DAYS, "basis": basis, "account": "1200", "page_size": 100}
            found = report(history.shop, "reports/general-ledger", **asked)
            [row] = found["accounts"]
            led_to = followed(history.shop, f"{row['explain']}&page_size=100")
            assert found["lines"]["results"] == led_to["results"]


class TestKnownAt:
    def test_a_report_has_the_figures_of_an_earlier_time(self, acme: Partner) -> None:
        shop = acme.business()
        first = booked(shop, "2026-03-01", "1100", "4000", 100)
        days = {"start_date": "2026-03-01", "end_date": "2026-03-31"}
        then = {**days, "known_at": first["posted_at"]}
        booked(shop, "2026-03-02", "1100", "4000", 20)
        now = report(shop, "reports/profit-and-loss", **days)
        assert now["summary"]["net_profit_cents"] == 120
        found = report(shop, "reports/profit-and-loss", **then)
        assert found["summary"]["net_profit_cents"] == 100
        assert found["known_at"] == first["posted_at"]
        [sales] = found["revenue"]["line_items"]
        query = parse_qs(urlsplit(sales["explain"]).query)
        assert query["known_at"] == [first["posted_at"]]
        assert net(shop, sales["explain"]) == -100
        sheet = {"as_of_date": "2026-03-31", "known_at": first["posted_at"]}
        found = report(shop, "reports/balance-sheet", **sheet)
        assert found["summary"]["net_assets_cents"] == 100
        [profit] = found["retained_earnings"]["line_items"]
        led_to = followed(shop, profit["explain"])
        assert led_to["summary"]["net_profit_cents"] == profit["value_cents"] == 100

    def test_of_a_moment_before_all_is_nothing(self, acme: Partner) -> None:
        shop = acme.business()
        worked_march(shop)
        found = report(shop, "reports/trial-balance", known_at="2020-01-01T00:00:00Z")
        assert (found["accounts"], found["total_debits_cents"]) == ([], 0)


class TestTags:
    def earned(self, tagged: Business, **asked: object) -> int:
        found = report(tagged, "reports/profit-and-loss", **MARCH, **asked)
        for each in found["revenue"]["line_items"]:
            assert net(tagged, each["explain"]) == -each["value_cents"]
        return int(found["summary"]["net_revenue_cents"])

    @pytest.mark.parametrize(
        ("cut", "accrual", "cash"),
        [
            ({}, 4123, 4020),
            ({"tag": "a"}, 120, 20),
            ({"tag": "b"}, 103, 0),
            ({"tag": "nobody's"}, 0, 0),
            ({"untagged": True}, 4000, 4000),
        ],
    )
    def test_count_the_amounts_of_their_documents(
        self, tagged: Business, cut: Record, accrual: int, cash: int
    ) -> None:
        assert self.earned(tagged, **cut) == accrual
        assert self.earned(tagged, basis="cash", **cut) == cash

    def test_overlap_where_a_document_has_two(self, tagged: Business) -> None:
        name = "reports/profit-and-loss"
        assert report(tagged, name, **MARCH)["tags_overlap"] is None
        assert report(tagged, name, **MARCH, tag="a")["tags_overlap"] is True
        # The invoice with two tags is not paid yet.
        assert report(tagged, name, **MARCH, tag="a", basis="cash")["tags_overlap"] is False
        april = {"start_date": "2025-04-01", "end_date": "2025-04-30"}
        for each in (name, "insights/expense-breakdown", "reports/general-ledger"):
            assert report(tagged, each, **MARCH, untagged=True)["tags_overlap"] is True
            assert report(tagged, each, **april, untagged=True)["tags_overlap"] is False

    def test_are_shown_by_the_report(self, tagged: Business) -> None:
        for name in ("reports/profit-and-loss", "reports/general-ledger"):
            for cut in ({"tag": "a", "untagged": False}, {"tag": None, "untagged": True}):
                query = {key: value for key, value in cut.items() if value}
                found = report(tagged, name, **MARCH, **query)
                assert {key: found[key] for key in cut} == cut

    def test_cut_the_general_ledger_and_its_lines(self, tagged: Business) -> None:
        found = report(tagged, "reports/general-ledger", **MARCH, tag="a", account="4000")
        [sales] = found["accounts"]
        assert (sales["credits_cents"], sales["closing_cents"]) == (120, 120)
        assert sorted(each["credit_amount"] for each in found["lines"]["results"]) == [20, 100]
        rows = table(tagged, "reports/general-ledger", **MARCH, tag="a")
        assert {row["account_code"]: row["debits_cents"] for row in rows}["1200"] == "120"
