"""Bank lines categorized in parts."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import PAYMENT, Bank, left, splits
from tests.builders.sales import paid
from tests.builders.trade import Record
from tests.partner import Business


class TestCategorizeBankTransaction:
    def test_each_part_has_its_account_and_its_memo(self, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(-100)
        parts = [
            {"account": "6300", "amount_cents": 12, "memo": "Fee"},
            {"account": "6000", "amount_cents": 88},
        ]
        with ledger.moving() as moves:
            done = bank.done(line, "categorize", {"splits": parts})
        assert moves == {"6300": 12, "6000": 88, bank.code: -100}
        assert (left(done), done["category"]) == ((0, 100, 0), None)
        fee, rest = done["splits"]
        assert (fee["account"]["name"], fee["amount_cents"]) == ("Bank charges", 12)
        assert fee["memo"] == "Fee"
        assert (rest["account"]["code"], rest["amount_cents"], rest["memo"]) == ("6000", 88, None)
        assert bank.read(line) == done

    def test_a_single_account_is_a_single_part(self, bank: Bank) -> None:
        done = bank.categorize(bank.line(-30), "6300", memo="Fee")
        [part] = done["splits"]
        untaxed = {"tax_code_id": None, "tax_cents": 0, "tags": []}
        assert part == {**done["category"], **untaxed, "customer_id": None, "vendor_id": None}
        alone = bank.split(bank.line(-31), _6300=31)
        assert alone["category"]["amount_cents"] == 31

    def test_parts_take_the_rest_beside_links(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(100)
        bank.match(line, PAYMENT, paid(shop, buyer, 60))
        assert left(bank.split(line, _4500=30, _4600=10)) == (60, 40, 0)

    @pytest.mark.parametrize("parts", [{"_6300": 99}, {"_6300": 50, "_6000": 51}])
    def test_parts_that_do_not_add_up_are_refused(
        self, ledger: Ledger, bank: Bank, parts: dict[str, int]
    ) -> None:
        line = bank.line(-100)
        with ledger.untouched():
            answer = bank.ask(line, "categorize", {"splits": splits(**parts)})
        assert (answer.status_code, answer.json()["error_code"]) == (422, "splits_mismatch")
        assert answer.json()["detail"] == {
            "splits_total_cents": sum(parts.values()),
            "remaining_amount_cents": 100,
        }

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"memo": "only"},
            {"account": "6300", "splits": splits(_6300=100)},
            {"memo": "m", "splits": splits(_6300=100)},
            {"splits": []},
        ],
    )
    def test_a_body_with_neither_or_both_of_account_and_parts_is_refused(
        self, ledger: Ledger, bank: Bank, body: Record
    ) -> None:
        line = bank.line(-100)
        with ledger.untouched():
            assert bank.refused(line, "categorize", body) == (400, "validation_error")


class TestUncategorizeBankTransaction:
    def test_an_uncategorized_line_reverses_all_parts(self, ledger: Ledger, bank: Bank) -> None:
        line = bank.line(-100)
        bank.split(line, _6300=12, _6000=88)
        with ledger.moving() as moves:
            free = bank.uncategorize(line)
        assert moves == {"6300": -12, "6000": -88, bank.code: 100}
        assert (left(free), free["splits"], free["category"]) == ((0, 0, 100), [], None)
        posted, back = ledger.entries(line)
        assert back.reversal_of == posted.id

    def test_a_single_part_is_stored_as_in_the_previous_release(
        self, ledger: Ledger, bank: Bank
    ) -> None:
        """Store a single part without `parts`, as the previous release reads and writes it."""
        line = bank.line(-15)
        bank.split(line, _6300=15)
        [(parts, code)] = ledger.ask(
            "SELECT t.parts, a.code FROM bank_transaction t JOIN account a"
            " ON a.business_id = t.business_id AND a.id = t.category_account_id"
            " WHERE t.business_id = %(business)s AND t.id = %(id)s",
            id=line["id"],
        )
        assert (parts, code) == (None, "6300")
        assert left(bank.uncategorize(line)) == (0, 0, 15)
        assert ledger.entries(line)[-1].amounts == {"6300": -15, bank.code: 15}
