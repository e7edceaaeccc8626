"""Open amounts of a random history on any day: each report agrees with the ledger."""

from collections import Counter
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.traded_days import MOVES, TradedDays
from tests.partner import Partner

SIDES = [(SALES, "ar", ("2100", "2250")), (PURCHASES, "ap", ("1250", "1260"))]
NEVER = "2024-12-31"


def balances_by_day(ledger: Ledger) -> dict[str, Counter[str]]:
    """Return debits less credits of each account at the end of each day with a posting."""
    moved: dict[str, Counter[str]] = {}
    for entry in ledger.entries():
        moved.setdefault(entry.on, Counter()).update(entry.amounts)
    by_day, held = {NEVER: Counter[str]()}, Counter[str]()
    for day in sorted(moved):
        held.update(moved[day])
        by_day[day] = Counter(held)
    return by_day


class History:
    """A history with its ledger, and the reports of one side."""

    def __init__(self, server: ApiServer, partner: Partner, place: int, seed: int) -> None:
        self.trade, self.insight, self.advances = SIDES[place]
        self.shop = partner.business()
        self.days = TradedDays(self.shop, self.trade, Random(seed))
        self.days.play(90)
        self.ledger = Ledger(server, self.shop)
        self.balances = balances_by_day(self.ledger)

    def read(self, path: str, **query: Any) -> Record:
        answer = self.shop.api.get(path, params=query)
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown

    def aging(self, **query: Any) -> Record:
        return self.read(f"insights/{self.insight}-aging/", **query)

    def statement(self, party_id: str, **query: Any) -> Record:
        return self.read(f"{self.trade.parties}{party_id}/statement/", **query)


@pytest.fixture(scope="module", params=[0, 1], ids=["sales", "purchases"])
def history(request: pytest.FixtureRequest, api_server: ApiServer, acme: Partner) -> History:
    return History(api_server, acme, request.param, seed=20_260 + request.param)


def rows(trade: Trade, aging: Record) -> dict[str, Record]:
    return {each[f"{trade.party}_id"]: each for each in aging[f"{trade.party}s"]}


class TestAnyDay:
    def test_the_history_has_every_kind_of_move(self, history: History) -> None:
        assert set(history.days.taken) == set(MOVES)
        assert len(history.balances) > 30
        history.ledger.audit()

    def test_an_aging_is_what_the_accounts_held(self, history: History) -> None:
        sign = history.trade.sign
        for day, held in history.balances.items():
            shown = history.aging(as_of_date=day)
            owed = sign * held[history.trade.control]
            unapplied = -sign * sum(held[code] for code in history.advances)
            assert (shown["total_outstanding_cents"], shown["unapplied_cents"]) == (owed, unapplied)
            listed = rows(history.trade, shown).values()
            assert sum(each["total_outstanding_cents"] for each in listed) == owed
            assert sum(each["unapplied_cents"] for each in listed) == unapplied
            for name, amount in shown["total_aging_buckets"].items():
                assert sum(each["aging_buckets"][name] for each in listed) == amount

    def test_a_statement_ends_with_what_the_aging_of_its_last_day_has(
        self, history: History
    ) -> None:
        for day in [*history.balances][::4]:
            listed = rows(history.trade, history.aging(as_of_date=day))
            for party in history.days.parties:
                shown = history.statement(party["id"], end_date=day)
                row = listed.get(party["id"])
                expected = (
                    (row["total_outstanding_cents"], row["unapplied_cents"]) if row else (0, 0)
                )
                assert (shown["closing_balance_cents"], shown["unapplied_cents"]) == expected

    def test_a_row_leads_to_the_documents_that_were_open(self, history: History) -> None:
        noun = history.trade.noun
        for day in [*history.balances][::4]:
            for row in rows(history.trade, history.aging(as_of_date=day)).values():
                open_: Counter[str] = Counter()
                party_id = row[f"{history.trade.party}_id"]
                for line in history.statement(party_id, end_date=day)["lines"]:
                    open_[line[f"{noun}_id"]] += line["amount_cents"]
                address = f"{history.shop.partner.url}{row['explain']}&page_size=100"
                answer = history.shop.api.get(address)
                assert answer.status_code == 200, answer.text
                listed = answer.json()
                ids = {each["id"] for each in listed["results"]}
                assert ids == {key for key, amount in open_.items() if amount}

    def test_a_statement_closes_with_what_is_outstanding(self, history: History) -> None:
        for party in history.days.parties:
            statement = history.statement(party["id"])
            shown = history.read(history.trade.of_party(party))
            assert statement["closing_balance_cents"] == shown["outstanding_balance"]
            assert (
                sum(line["amount_cents"] for line in statement["lines"])
                == shown["outstanding_balance"]
            )

    def test_statements_of_days_in_a_row_meet(self, history: History) -> None:
        middle = date(2025, 7, 1)
        for party in history.days.parties:
            whole = history.statement(party["id"])
            first = history.statement(party["id"], end_date=middle)
            then = history.statement(party["id"], start_date=middle + timedelta(days=1))
            assert first["closing_balance_cents"] == then["opening_balance_cents"]
            assert first["lines"] + then["lines"] == whole["lines"]
            assert [line["entry_date"] for line in whole["lines"]] == sorted(
                line["entry_date"] for line in whole["lines"]
            )

    def test_the_counts_are_those_of_the_lists(self, history: History) -> None:
        shown, trade = history.read(f"{history.insight}/stats/"), history.trade
        counted = shown[f"{trade.noun}s"]

        def count(path: str, *statuses: str) -> int:
            query = {"status": ",".join(statuses)} if statuses else {}
            return int(history.read(path, **query)["count"])

        documents, credits_ = trade.path, trade.credits
        assert counted["all"] == count(documents) > 0
        assert counted["unpaid"] == count(documents, "issued") > 0
        assert counted["paid"] == count(documents, "paid")
        aging = history.aging()
        assert counted["outstanding_cents"] == aging["total_outstanding_cents"]
        credits_found = shown[f"{trade.credit_noun}s"]
        left = {"unapplied": ("received", "partially_applied")} if trade is PURCHASES else {}
        assert credits_found.pop("all") == count(credits_) > 0
        for name, value in credits_found.items():
            assert value == count(credits_, *left.get(name, (name,))), name
