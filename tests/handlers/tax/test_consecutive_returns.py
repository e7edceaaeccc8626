"""Returns of consecutive periods: together they say what moved on the accounts for tax, once."""

from random import Random

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import credit, marked, moved, taxed
from tests.builders.openings import opened
from tests.builders.tax_returns import codes, drawn_up, filed, superseding
from tests.builders.taxed_quarters import bought, credited, of, sold
from tests.builders.trade import Record
from tests.partner import Business

CODES = ("S20", "S5", "S0")
BOUGHT = ("P20", "P5", "PA20", "PG20")


def trade(books: Business, lots: Random) -> None:
    """Sell, buy, credit, or write an entry, on any day of three quarters."""
    on = f"2025-0{lots.randint(1, 9)}-{lots.randint(1, 28):02d}"
    net = lots.randint(1_000, 99_999)
    match lots.randrange(4):
        case 0:
            sold(books, on, of(lots.choice(CODES), net), of(lots.choice(CODES), 777))
        case 1:
            bought(books, on, of(lots.choice(BOUGHT), net))
        case 2:
            credited(books, sold(books, on, of("S20", net)), net // 3, on)
        case _:
            entry = taxed(books, on, marked("2200", -net, "S20", "output"))
            if lots.random() < 0.5:
                moved(books, entry, "reverse", json={"entry_date": on})


def moved_on_tax_accounts(ledger: Ledger) -> int:
    [(amount,)] = ledger.ask(
        "SELECT coalesce(sum(credit - debit), 0)::bigint FROM journal_line"
        " WHERE business_id = %(business)s AND tax_part IN ('output', 'input', 'relief')"
    )
    return int(amount)


class TestFileTaxReturn:
    @pytest.mark.parametrize("seed", range(4))
    def test_all_of_them_say_what_moved_on_the_accounts_for_tax(
        self, books: Business, api_server: ApiServer, seed: int
    ) -> None:
        lots, ledger = Random(seed), Ledger(api_server, books)
        returns: list[Record] = []
        for quarter in (1, 2, 3):
            for _ in range(6):
                trade(books, lots)
            returns.append(filed(books, drawn_up(books, quarter)))
        for _ in range(3):
            trade(books, lots)
        place = lots.randrange(3)
        returns[place] = filed(books, superseding(books, returns[place]))
        trade(books, lots)
        returns.append(drawn_up(books, 4))
        declared = sum(each["tax_due_cents"] for each in returns)
        assert declared == moved_on_tax_accounts(ledger)
        ledger.audit()

    def test_the_entry_that_opens_the_books_is_in_none(self, books: Business) -> None:
        opened(books, date="2025-01-01")
        draft = drawn_up(books)
        assert (codes(draft["codes"]), draft["uncoded"]) == ({}, [])
        net = credit("4000", 500, tax_code="S20")
        taxed(books, "2025-01-01", net)
        assert codes(drawn_up(books)["codes"]) == {"S20": {"net": 500}}
