"""Tax codes on parts of bank lines, and on other items of payouts."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import Bank, made_rule
from tests.builders.payouts import by_card, paid_out
from tests.builders.tax_codes import codes_of
from tests.builders.trade import Record
from tests.partner import Business


@pytest.fixture(scope="module")
def codes(shop: Business) -> dict[str, Record]:
    return codes_of(shop)


class TestCategorizeBankTransaction:
    def test_the_tax_in_a_part_goes_to_the_account_of_its_code(
        self, ledger: Ledger, bank: Bank, codes: dict[str, Record]
    ) -> None:
        line = bank.line(-1_500)
        parts = [
            {"account": "6300", "amount_cents": 1_200, "tax_code": "P20"},
            {"account": "6000", "amount_cents": 300},
        ]
        with ledger.moving() as moves:
            done = bank.done(line, "categorize", {"splits": parts})
        assert moves == {"6300": 1_000, "1300": 200, "6000": 300, bank.code: -1_500}
        taxed, plain = done["splits"]
        assert (taxed["tax_code_id"], taxed["tax_cents"]) == (codes["P20"]["id"], 200)
        assert (plain["tax_code_id"], plain["tax_cents"]) == (None, 0)
        assert bank.read(line) == done
        with ledger.moving() as moves:
            bank.uncategorize(line)
        assert moves == {"6300": -1_000, "1300": -200, "6000": -300, bank.code: 1_500}

    def test_money_that_comes_in_may_hold_tax_that_is_owed(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        part = {"account": "4000", "amount_cents": 600, "tax_code": "S20"}
        with ledger.moving() as moves:
            bank.done(bank.line(600), "categorize", {"splits": [part]})
        assert moves == {"4000": -500, "2200": -100, bank.code: 600}

    def test_self_assessed_tax_is_posted_outside_the_amount(
        self, ledger: Ledger, bank: Bank, codes: dict[str, Record]
    ) -> None:
        abroad = next(
            code
            for code, each in codes.items()
            if each["treatment"] == "reverse_charge" and each["direction"] == "purchases"
        )
        part = {"account": "6000", "amount_cents": 500, "tax_code": abroad}
        line = bank.line(-500)
        with ledger.moving() as moves:
            bank.done(line, "categorize", {"splits": [part]})
        assert moves == {"6000": 500, "1300": 100, "2200": -100, bank.code: -500}
        with ledger.moving() as moves:
            bank.uncategorize(line)
        assert moves == {"6000": -500, "1300": -100, "2200": 100, bank.code: 500}


class TestImportBankTransactions:
    def test_an_automatic_rule_taxes_by_its_code(
        self, shop: Business, ledger: Ledger, bank: Bank, codes: dict[str, Record]
    ) -> None:
        result = {"account": "6100", "tax_code": "P20"}
        rule = made_rule(shop, "taxed fee", result=result, apply="automatic")
        assert rule["result"]["tax_code_id"] == codes["P20"]["id"]
        with ledger.moving() as moves:
            line = bank.line(-240, description="Taxed fee of July")
        assert moves == {"6100": 200, "1300": 40, bank.code: -240}
        assert line["splits"][0]["tax_cents"] == 40


class TestCreatePayout:
    def test_an_item_may_hold_tax(
        self, shop: Business, ledger: Ledger, buyer: Record, codes: dict[str, Record]
    ) -> None:
        card = by_card(shop, buyer, 20_000)
        item = {"type": "dispute_fee", "amount_cents": -1_800, "tax_code": "P20"}
        with ledger.moving() as moves:
            payout = paid_out(shop, 18_200, card, other_items=[item])
        assert moves == {"1100": 18_200, "6100": 1_500, "1300": 300, "1150": -20_000}
        [shown] = payout["other_items"]
        assert (shown["tax_code_id"], shown["tax_cents"]) == (codes["P20"]["id"], 300)
        assert payout["amount_variance_cents"] == 0
