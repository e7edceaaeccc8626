"""Bank rules: kept, changed and deleted; and what they make of lines that are imported."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BOOKED, LINES, RULES, Bank, left, made_rule, open_account
from tests.builders.trade import Record
from tests.partner import Business

CHART = "general-ledger/chart-of-accounts/"


@pytest.fixture(scope="module")
def bank(shop: Business) -> Bank:
    return Bank(shop, open_account(shop))


def imported(bank: Bank, description: str, amount: int = 850, **facts: Any) -> Record:
    """Import a line of money that went out; return its result."""
    line = {
        "date": BOOKED,
        "amount_cents": amount,
        "direction": "debit",
        "description": description,
        **facts,
    }
    body = {"bank_account_id": bank.account["id"], "transactions": [line]}
    answer = bank.shop.api.post(LINES, json=body)
    assert answer.status_code == 200, answer.text
    result: Record = answer.json()["results"][0]
    return result


def told(result: Record) -> tuple[str | None, str | None]:
    return result["suggested_by_rule_id"], result["categorized_by_rule_id"]


class TestCreateBankRule:
    def test_a_rule_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        conditions = {
            "text": "Charge",
            "direction": "debit",
            "min_amount_cents": 1,
            "max_amount_cents": 5_000,
            "bank_account_id": bank.account["id"],
        }
        result = {"account": "6300", "vendor_id": vendor["id"], "memo": "Fee"}
        body = {
            "name": "Charges",
            "priority": 7,
            "conditions": conditions,
            "result": result,
            "apply": "automatic",
        }
        rule = shop.made(RULES, body)
        assert (rule["name"], rule["priority"], rule["apply"]) == ("Charges", 7, "automatic")
        assert rule["conditions"] == conditions
        assert rule["result"]["account"]["name"] == "Bank charges"
        assert rule["result"]["customer_id"] is None
        assert (rule["result"]["vendor_id"], rule["result"]["memo"]) == (vendor["id"], "Fee")
        assert shop.api.get(f"{RULES}{rule['id']}/").json() == rule

    def test_absent_fields_of_a_rule_have_defaults(self, shop: Business, ledger: Ledger) -> None:
        rule = made_rule(shop, "defaulted")
        assert (rule["priority"], rule["apply"]) == (100, "suggest")
        assert rule["conditions"]["direction"] is None

    def test_a_rule_with_unknown_references_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        nobody = shop.partner.business().customer()["id"]
        for conditions, result, code in (
            ({"text": "a"}, {"account": "9999"}, "reference_not_found"),
            ({"text": "a"}, {"account": "1200"}, "control_account"),
            ({"bank_account_id": nobody}, {"account": "6300"}, "reference_not_found"),
            ({"text": "a"}, {"account": "6300", "customer_id": nobody}, "reference_not_found"),
            ({"text": "a"}, {"account": "6300", "vendor_id": nobody}, "reference_not_found"),
        ):
            body = {"name": "n", "conditions": conditions, "result": result}
            assert ledger.refused("POST", RULES, json=body) == (422, code)

    def test_an_archived_account_is_refused(self, shop: Business, ledger: Ledger) -> None:
        facts = {"account_type": "expense", "account_subtype": "operating_expenses"}
        shop.made(CHART, {"code": "6911", "name": "Gone", **facts})
        shop.api.delete(f"{CHART}6911/")
        body = {"name": "n", "conditions": {"text": "a"}, "result": {"account": "6911"}}
        assert ledger.refused("POST", RULES, json=body) == (409, "account_archived")

    @pytest.mark.parametrize(
        "changes",
        [
            {"conditions": {}},
            {"conditions": {"text": " "}},
            {"conditions": {"text": None}},
            {"result": {}},
            {"apply": "always"},
            {"priority": -1},
        ],
    )
    def test_a_rule_without_condition_or_result_is_refused(
        self, shop: Business, ledger: Ledger, changes: Record
    ) -> None:
        body = {"name": "n", "conditions": {"text": "a"}, "result": {"account": "6300"}}
        refused = ledger.refused("POST", RULES, json={**body, **changes})
        assert refused == (400, "validation_error")

    def test_a_line_is_of_a_customer_or_of_a_vendor(
        self, shop: Business, ledger: Ledger, buyer: Record, vendor: Record
    ) -> None:
        result = {"account": "6300", "customer_id": buyer["id"], "vendor_id": vendor["id"]}
        body = {"name": "n", "conditions": {"text": "a"}, "result": result}
        assert ledger.refused("POST", RULES, json=body) == (400, "validation_error")


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
    def test_an_update_changes_the_given_fields(self, shop: Business, ledger: Ledger) -> None:
        rule = made_rule(shop, "before", priority=3)
        path, body = f"{RULES}{rule['id']}/", {"apply": "automatic", "conditions": {"text": "x"}}
        changed = shop.api.patch(path, json=body).json()
        assert (changed["apply"], changed["conditions"]["text"]) == ("automatic", "x")
        assert (changed["name"], changed["priority"]) == ("before", 3)
        assert shop.api.get(path).json() == changed

    def test_an_update_changes_the_account(self, shop: Business, ledger: Ledger) -> None:
        path = f"{RULES}{made_rule(shop, 'moved')['id']}/"
        changed = shop.api.patch(path, json={"result": {"account": "6000"}}).json()
        assert changed["result"]["account"]["code"] == "6000"

    def test_an_update_changes_the_bank_account_and_the_party(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        path = f"{RULES}{made_rule(shop, 'whose')['id']}/"
        body = {
            "conditions": {"bank_account_id": bank.account["id"]},
            "result": {"account": "6300", "customer_id": buyer["id"]},
        }
        changed = shop.api.patch(path, json=body).json()
        assert changed["conditions"]["bank_account_id"] == bank.account["id"]
        assert (changed["conditions"]["text"], changed["result"]["customer_id"]) == (
            None,
            buyer["id"],
        )
        shop.api.delete(path)

    def test_an_equal_update_changes_nothing(self, shop: Business, ledger: Ledger) -> None:
        rule = made_rule(shop, "same")
        with ledger.untouched():
            answer = shop.api.patch(f"{RULES}{rule['id']}/", json={"name": "same"})
        assert answer.json() == rule

    def test_an_old_version_is_refused(self, shop: Business, ledger: Ledger) -> None:
        path = f"{RULES}{made_rule(shop, 'stale')['id']}/"
        seen = {"If-Match": shop.api.get(path).headers["ETag"]}
        shop.api.patch(path, json={"name": "newer"})
        answer = shop.api.patch(path, json={"name": "late"}, headers=seen)
        assert answer.status_code == 412
        assert shop.api.delete(path, headers=seen).status_code == 412


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
        assert told(imported(bank, "ANOTHER PASSING FEE")) == (None, None)


class TestImportBankTransactions:
    def test_an_automatic_rule_categorizes_and_is_named(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        result = {"account": "6300", "vendor_id": vendor["id"], "memo": "Monthly"}
        rule = made_rule(shop, "monthly fee", apply="automatic", result=result)
        with ledger.moving() as moves:
            fate = imported(bank, "YOUR MONTHLY FEE")
        assert (moves, told(fate)) == ({"6300": 850, bank.code: -850}, (None, rule["id"]))
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
        assert (moves, told(fate)) == ({}, (rule["id"], None))
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

    def test_the_first_that_fits_decides(self, shop: Business, ledger: Ledger, bank: Bank) -> None:
        made_rule(shop, "ordered", apply="automatic", priority=50)
        first = made_rule(shop, "ordered", priority=40)
        assert told(imported(bank, "ORDERED")) == (first["id"], None)

    def test_lines_of_one_request_each_find_their_rule(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        fee, rent = (
            made_rule(shop, text, account, apply="automatic")
            for text, account in (("batch fee", "6300"), ("batch rent", "6000"))
        )
        facts = {"date": BOOKED, "amount_cents": 10, "direction": "debit"}
        lines = [
            {**facts, "description": text}
            for text in ("Batch fee", "Batch rent", "neither of them", "Batch fee")
        ]
        body = {"bank_account_id": bank.account["id"], "transactions": lines}
        with ledger.moving() as moves:
            results = shop.api.post(LINES, json=body).json()["results"]
        assert [told(each)[1] for each in results] == [fee["id"], rent["id"], None, fee["id"]]
        assert moves == {"6300": 20, "6000": 10, bank.code: -30}
        # What is there already is not tried again.
        again = shop.api.post(LINES, json=body).json()
        assert (again["skipped"], {told(each) for each in again["results"]}) == (4, {(None, None)})

    def test_inside_the_lock_it_is_suggested(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        rule = made_rule(shop, "locked fee", apply="automatic")
        with ledger.locked(BOOKED):
            fate = imported(bank, "LOCKED FEE")
        assert told(fate) == (rule["id"], None)

    def test_an_account_archived_since_is_suggested(
        self, shop: Business, ledger: Ledger, bank: Bank
    ) -> None:
        facts = {"account_type": "expense", "account_subtype": "operating_expenses"}
        shop.made(CHART, {"code": "6912", "name": "Closing", **facts})
        rule = made_rule(shop, "closing fee", "6912", apply="automatic")
        shop.api.delete(f"{CHART}6912/")
        assert told(imported(bank, "CLOSING FEE")) == (rule["id"], None)
