"""Bank rules, and their effect on imported lines."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, LINES, RULES, Bank, left, made_rule
from tests.builders.trade import NOBODY, Record
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


def debited(description: str, amount: int = 850, **facts: Any) -> Record:
    """Return a line of money out."""
    line = {"date": BOOKED, "amount_cents": amount, "direction": "debit"}
    return {**line, "description": description, **facts}


def imported(bank: Bank, description: str, **facts: Any) -> Record:
    """Import a line of money out; return its result."""
    lines = [debited(description, **facts)]
    body = {"bank_account_id": bank.account["id"], "transactions": lines}
    answer = bank.shop.api.post(LINES, json=body)
    assert answer.status_code == 200, answer.text
    result: Record = answer.json()["results"][0]
    return result


def rules_of(result: Record) -> tuple[str | None, str | None]:
    return result["suggested_by_rule_id"], result["categorized_by_rule_id"]


class TestCreateBankRule:
    def test_a_rule_shows_all_given_fields(
        self, shop: Business, vendor: Record, bank: Bank
    ) -> None:
        conditions = {
            "text": "Charge",
            "direction": "debit",
            "min_amount_cents": 1,
            "max_amount_cents": 5_000,
            "bank_account_id": bank.account["id"],
        }
        result = {"account": "6300", "vendor_id": vendor["id"], "memo": "Fee"}
        facts = {"name": "Charges", "priority": 7, "apply": "automatic", "conditions": conditions}
        rule = shop.made(RULES, {**facts, "result": result})
        assert {name: rule[name] for name in facts} == facts
        assert rule["result"]["account"]["name"] == "Bank charges"
        assert rule["result"]["customer_id"] is None
        assert (rule["result"]["vendor_id"], rule["result"]["memo"]) == (vendor["id"], "Fee")
        assert shop.api.get(f"{RULES}{rule['id']}/").json() == rule

    def test_a_rule_with_unusable_references_is_refused(
        self, shop: Business, ledger: Ledger
    ) -> None:
        shop.api.delete(f"{CHART}1500/")
        nobody = shop.partner.business().customer()["id"]
        text = {"text": "a"}
        for conditions, result, refusal in (
            (text, {"account": "9999"}, (422, "reference_not_found")),
            (text, {"account": "1200"}, (422, "control_account")),
            (text, {"account": "1500"}, (409, "account_archived")),
            ({"bank_account_id": nobody}, {"account": "6300"}, (422, "reference_not_found")),
            (text, {"account": "6300", "customer_id": nobody}, (422, "reference_not_found")),
            (text, {"account": "6300", "vendor_id": nobody}, (422, "reference_not_found")),
        ):
            body = {"name": "n", "conditions": conditions, "result": result}
            assert ledger.refused("POST", RULES, json=body) == refusal

    @pytest.mark.parametrize(
        "changes",
        [
            {"conditions": {}},
            {"conditions": {"text": " "}},
            {"conditions": {"text": None}},
            {"result": {"account": "6300", "customer_id": NOBODY, "vendor_id": NOBODY}},
        ],
    )
    def test_a_rule_without_a_condition_or_of_two_parties_is_refused(
        self, ledger: Ledger, changes: Record
    ) -> None:
        body = {"name": "n", "conditions": {"text": "a"}, "result": {"account": "6300"}}
        refused = ledger.refused("POST", RULES, json={**body, **changes})
        assert refused == (400, "validation_error")


class TestListBankRules:
    def test_rules_are_listed_in_the_order_of_their_application(self, own_shop: Business) -> None:
        last, first, second = (
            made_rule(own_shop, name, priority=priority, apply=apply)
            for name, priority, apply in (
                ("last", 9, "suggest"),
                ("first", 1, "automatic"),
                ("second", 1, "suggest"),
            )
        )

        def listed(**query: str) -> list[str]:
            found = own_shop.api.get(RULES, params=query).json()["results"]
            return [each["id"] for each in found]

        assert listed() == [first["id"], second["id"], last["id"]]
        assert listed(sort="-created_at") == [second["id"], first["id"], last["id"]]
        assert listed(apply="automatic") == [first["id"]]
        assert listed(search="SECO") == [second["id"]]


class TestUpdateBankRule:
    def test_an_update_changes_the_given_fields(self, shop: Business) -> None:
        rule = made_rule(shop, "before", priority=3)
        path, body = f"{RULES}{rule['id']}/", {"apply": "automatic", "conditions": {"text": "x"}}
        changed = shop.api.patch(path, json=body).json()
        assert (changed["apply"], changed["conditions"]["text"]) == ("automatic", "x")
        assert (changed["name"], changed["priority"]) == ("before", 3)
        assert shop.api.get(path).json() == changed

    def test_an_update_changes_the_bank_account_and_the_result(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        path = f"{RULES}{made_rule(shop, 'whose')['id']}/"
        conditions = {"bank_account_id": bank.account["id"]}
        result = {"account": "6000", "customer_id": buyer["id"]}
        body = {"conditions": conditions, "result": result}
        changed = shop.api.patch(path, json=body).json()
        assert changed["conditions"]["bank_account_id"] == bank.account["id"]
        assert changed["conditions"]["text"] is None
        assert changed["result"]["account"]["code"] == "6000"
        assert changed["result"]["customer_id"] == buyer["id"]
        shop.api.delete(path)

    def test_an_equal_update_changes_nothing(self, shop: Business, ledger: Ledger) -> None:
        rule = made_rule(shop, "same")
        with ledger.untouched():
            answer = shop.api.patch(f"{RULES}{rule['id']}/", json={"name": "same"})
        assert answer.json() == rule


class TestDeleteBankRule:
    def test_lines_of_a_deleted_rule_keep_their_category_and_its_name(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        rule = made_rule(shop, "passing fee", apply="automatic")
        line = bank.read(imported(bank, "A PASSING FEE"))
        answer = shop.api.delete(f"{RULES}{rule['id']}/")
        assert (answer.status_code, answer.json()) == (200, {"deleted": True})
        assert bank.read(line) == line
        assert line["categorized_by_rule_id"] == rule["id"]
        for method in ("GET", "PATCH", "DELETE"):
            options = {"json": {"name": "n"}} if method == "PATCH" else {}
            refused = ledger.refused(method, f"{RULES}{rule['id']}/", **options)
            assert refused == (404, "bank_rule_not_found")
        assert rules_of(imported(bank, "ANOTHER PASSING FEE")) == (None, None)


class TestImportBankTransactions:
    def test_an_automatic_rule_categorizes_and_is_named(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        result = {"account": "6300", "vendor_id": vendor["id"], "memo": "Monthly"}
        rule = made_rule(shop, "monthly fee", apply="automatic", result=result)
        with ledger.moving() as moves:
            fate = imported(bank, "YOUR MONTHLY FEE")
        assert (moves, rules_of(fate)) == ({"6300": 850, bank.code: -850}, (None, rule["id"]))
        line = bank.read(fate)
        assert (left(line), line["categorized_by_rule_id"]) == ((0, 850, 0), rule["id"])
        [part] = line["splits"]
        assert (part["vendor_id"], part["memo"]) == (vendor["id"], "Monthly")
        assert bank.uncategorize(line)["categorized_by_rule_id"] is None

    def test_a_rule_suggests_and_posts_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        result = {"account": "4600", "customer_id": buyer["id"], "memo": "Interest"}
        rule = made_rule(shop, "yield", result=result)
        with ledger.moving() as moves:
            fate = imported(bank, "", direction="credit", counterparty_name="Yield Fund")
        assert (moves, rules_of(fate)) == ({}, (rule["id"], None))
        account = shop.api.get(f"{CHART}4600/").json()
        assert bank.suggestions(fate)["rule"] == {
            "rule_id": rule["id"],
            "name": "yield",
            "account": {"id": account["id"], "code": "4600", "name": account["name"]},
            "amount_cents": 850,
            "customer_id": buyer["id"],
            "vendor_id": None,
            "memo": "Interest",
        }
        line = bank.categorize(fate, "4600")
        assert line["categorized_by_rule_id"] is None
        assert bank.suggestions(line)["rule"] is None

    def test_the_first_that_fits_decides(self, shop: Business, bank: Bank) -> None:
        made_rule(shop, "ordered", apply="automatic", priority=50)
        first = made_rule(shop, "ordered", priority=40)
        assert rules_of(imported(bank, "ORDERED")) == (first["id"], None)

    def test_lines_of_one_request_each_find_their_rule(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        fee, rent = (
            made_rule(shop, text, account, apply="automatic")
            for text, account in (("batch fee", "6300"), ("batch rent", "6000"))
        )
        texts = ("Batch fee", "Batch rent", "neither of them", "Batch fee")
        lines = [debited(text, 10) for text in texts]
        body = {"bank_account_id": bank.account["id"], "transactions": lines}
        with ledger.moving() as moves:
            results = shop.api.post(LINES, json=body).json()["results"]
        assert [rules_of(each)[1] for each in results] == [fee["id"], rent["id"], None, fee["id"]]
        assert moves == {"6300": 20, "6000": 10, bank.code: -30}
        # Rules are not applied to an existing line again.
        again = shop.api.post(LINES, json=body).json()
        assert again["skipped"] == 4
        assert {rules_of(each) for each in again["results"]} == {(None, None)}

    def test_inside_the_lock_it_is_suggested(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        rule = made_rule(shop, "locked fee", apply="automatic")
        with ledger.locked(BOOKED):
            fate = imported(bank, "LOCKED FEE")
        assert rules_of(fate) == (rule["id"], None)
