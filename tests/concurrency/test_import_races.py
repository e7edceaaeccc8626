"""Concurrent imports of one statement, and concurrent creations of bank accounts."""

from functools import partial

from tests.concurrency.races import race_for_one_name, statuses, together
from tests.partner import Business

LINES = "bank-transactions/"
COUNTED = ("imported", "skipped", "failed")


class TestSendingAStatement:
    def test_a_statement_is_imported_once(self, shop: Business) -> None:
        bank = shop.made("bank-accounts/", {"display_name": "Raced"})
        coffee = {"date": "2026-07-15", "amount_cents": 320, "direction": "debit"}
        lines = [*({**coffee, "external_id": f"line {n}"} for n in range(20)), coffee, coffee]
        body = {"bank_account_id": bank["id"], "transactions": lines}
        ran = together([partial(shop.api.post, LINES, json=body)] * 10)
        assert statuses(ran) == {200: 10}
        told = sorted(tuple(each.answer.json()[name] for name in COUNTED) for each in ran)
        assert told == [*[(0, 22, 0)] * 9, (22, 0, 0)]
        found = shop.api.get(f"{LINES}?bank_account_id={bank['id']}&page_size=100").json()
        assert found["count"] == 22


class TestMakingBankAccounts:
    def test_bank_accounts_each_get_an_account_of_their_own(self, shop: Business) -> None:
        bodies = [{"display_name": f"Bank {n}"} for n in range(10)]
        ran = together([partial(shop.api.post, "bank-accounts/", json=body) for body in bodies])
        assert statuses(ran) == {201: 10}
        codes = sorted(each.answer.json()["account"]["code"] for each in ran)
        assert codes == [str(1100 + n) for n in range(10)]

    def test_an_account_is_taken_once(self, shop: Business) -> None:
        body = {"display_name": "Till", "account": "1000"}
        ran = together([partial(shop.api.post, "bank-accounts/", json=body)] * 8)
        assert statuses(ran) == {201: 1, 409: 7}
        assert {each.code for each in ran} == {None, "account_taken"}

    def test_an_external_id_is_created_once(self, shop: Business) -> None:
        race_for_one_name(shop, "bank-accounts/", {"display_name": "Once"})
