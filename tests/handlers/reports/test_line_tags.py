"""Tags of lines of entries by hand, and of parts of bank transactions, in reports on both bases."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, Bank, open_account
from tests.builders.journal_entries import ENTRIES, credit, debit, moved
from tests.builders.reports import report
from tests.builders.trade import PURCHASES, Record
from tests.handlers.reports.test_explain import BASES, lines_of, net
from tests.partner import Business

MARCH = {"start_date": "2025-03-01", "end_date": "2025-03-31"}
Amounts = dict[str, int]


def of_tag(shop: Business, basis: str = "accrual", **cut: Any) -> Amounts:
    """Return debits less credits of each account; check the explained figures."""
    found = report(shop, "reports/profit-and-loss", **MARCH, basis=basis, **cut)
    for each in lines_of(found):
        assert abs(net(shop, each["explain"])) == abs(each["value_cents"])
    rows = report(shop, "reports/general-ledger", **MARCH, basis=basis, **cut)["accounts"]
    amounts = {e["account_code"]: e["debits_cents"] - e["credits_cents"] for e in rows}
    return {code: amount for code, amount in amounts.items() if amount}


@pytest.mark.parametrize("basis", BASES)
class TestEntriesByHand:
    def test_a_line_counts_for_its_tags(self, shop: Business, ledger: Ledger, basis: str) -> None:
        tags = {name: f"{name} {basis}" for name in ("van", "north")}
        van, north = tags["van"], tags["north"]
        lines = [
            debit("6000", 60, tags=[van, north, van]),
            debit("6000", 30, tags=[north]),
            debit("6000", 5),
            credit("2400", 95),
        ]
        before = of_tag(shop, basis, untagged=True)
        entry = shop.made(ENTRIES, {"entry_date": BOOKED, "lines": lines})
        assert [each["tags"] for each in entry["lines"]] == [[van, north, van], [north], [], []]
        assert of_tag(shop, basis, tag=north) == {}
        posted = moved(shop, entry, "approve")
        assert [each["tags"] for each in posted["lines"]] == [[van, north, van], [north], [], []]
        assert of_tag(shop, basis, tag=van) == {"6000": 60}
        assert of_tag(shop, basis, tag=north) == {"6000": 90}
        after = of_tag(shop, basis, untagged=True)
        assert after["6000"] - before.get("6000", 0) == 5
        assert after["2400"] - before.get("2400", 0) == -95
        assert report(shop, "reports/profit-and-loss", **MARCH, tag=van)["tags_overlap"] is True

    def test_a_reversal_has_the_tags_of_its_entry(
        self, shop: Business, ledger: Ledger, basis: str
    ) -> None:
        tag = f"undone {basis}"
        lines = [debit("6000", 60, tags=[tag]), credit("2400", 60)]
        entry = shop.made(ENTRIES, {"entry_date": BOOKED, "lines": lines, "post": True})
        assert of_tag(shop, basis, tag=tag) == {"6000": 60}
        reversal = moved(shop, entry, "reverse", json={"entry_date": BOOKED})
        assert [each["tags"] for each in reversal["lines"]] == [[tag], []]
        assert of_tag(shop, basis, tag=tag) == {}


@pytest.mark.parametrize("basis", BASES)
class TestPartsOfBankTransactions:
    @pytest.fixture
    def bank(self, shop: Business, ledger: Ledger) -> Bank:
        return Bank(shop, open_account(shop))

    def test_a_part_counts_for_its_tags_with_its_tax(
        self, shop: Business, bank: Bank, basis: str
    ) -> None:
        fuel, site = f"fuel {basis}", f"site {basis}"
        line = bank.line(-200)
        parts = [
            {"account": "6000", "amount_cents": 120, "tax_code": "P20", "tags": [fuel]},
            {"account": "6000", "amount_cents": 50, "tags": [site]},
            {"account": "6000", "amount_cents": 30},
        ]
        shown = bank.done(line, "categorize", {"splits": parts})
        assert [each["tags"] for each in shown["splits"]] == [[fuel], [site], []]
        assert bank.read(line)["splits"] == shown["splits"]
        assert of_tag(shop, basis, tag=fuel) == {"6000": 100, "1300": 20}
        assert of_tag(shop, basis, tag=site) == {"6000": 50}
        bank.uncategorize(line)
        assert of_tag(shop, basis, tag=fuel) == of_tag(shop, basis, tag=site) == {}

    def test_a_whole_line_is_categorized_with_tags_and_again_with_others(
        self, shop: Business, bank: Bank, basis: str
    ) -> None:
        first, second = f"first {basis}", f"second {basis}"
        line = bank.line(80)
        bank.categorize(line, "4500", tags=[first])
        assert of_tag(shop, basis, tag=first) == {"4500": -80}
        bank.uncategorize(line)
        shown = bank.categorize(line, "4500", tags=[second])
        assert shown["category"]["amount_cents"] == 80
        assert [each["tags"] for each in shown["splits"]] == [[second]]
        assert of_tag(shop, basis, tag=first) == {}
        assert of_tag(shop, basis, tag=second) == {"4500": -80}

    def test_tags_of_lines_and_of_documents_are_one(
        self, shop: Business, vendor: Record, bank: Bank, basis: str
    ) -> None:
        tag = f"both {basis}"
        PURCHASES.settle(shop, vendor, 40, transaction_tags=[tag])
        bank.categorize(bank.line(-60), "6000", tags=[tag])
        assert of_tag(shop, basis, tag=tag)["6000"] == 100


class TestRefused:
    def test_tags_beside_splits(self, shop: Business, ledger: Ledger) -> None:
        line = Bank(shop, open_account(shop)).line(5)
        body = {"splits": [{"account": "4500", "amount_cents": 5}], "tags": ["x"]}
        path = f"bank-transactions/{line['id']}/categorize/"
        assert ledger.refused("POST", path, json=body) == (400, "validation_error")
