"""Accounts of the chart are created, read, changed and archived."""

from typing import Any

import pytest

from accounting.books.chart import STARTING_CHART
from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, sent
from tests.builders.trade import SENT, Record, line
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
ASSET = {"account_type": "asset", "account_subtype": "current_assets"}


def account_body(code: str, **facts: Any) -> Record:
    return {"code": code, "name": f"Account {code}", **ASSET, **facts}


def child(shop: Business, parent: str, code: str, **facts: Any) -> Record:
    """Create an account below another one."""
    return shop.made(f"{ACCOUNTS}{parent}/children/", {"code": code, "name": "Child", **facts})


def account_of(shop: Business, reference: str) -> Record:
    account: Record = shop.api.get(f"{ACCOUNTS}{reference}/").json()
    return account


def archived(shop: Business, code: str) -> Record:
    answer = shop.api.delete(f"{ACCOUNTS}{code}/")
    assert answer.status_code == 200, answer.text
    account: Record = answer.json()
    assert account["is_active"] is False
    return account


class TestCreateAccount:
    def test_an_account_shows_all_given_fields(self, shop: Business) -> None:
        given = account_body(
            "1111",
            external_id="savings",
            description="Rainy days",
            balance_behavior="credit_positive",
            cash_flow="investing",
            currency="GBP",
            institution_name="The Bank",
            iban="GB82WEST12345698765432",
            sort_code="12-34-56",
            account_number_mask="****5432",
        )
        answer = shop.api.post(ACCOUNTS, json=given)
        made = answer.json()
        assert answer.status_code == 201
        assert {name: made[name] for name in given} == given
        assert made["account_type_display"] == "Asset"
        assert made["account_subtype_display"] == "Current assets"
        amounts = ("current_balance", "rollup_balance", "debit_balance", "credit_balance")
        assert {made[name] for name in (*amounts, "total_debits", "total_credits")} == {0}
        assert made["is_active"] is True
        assert made["is_control_account"] is made["has_children"] is False
        assert (made["hierarchy_level"], made["sub_accounts"]) == (0, [])
        assert made["last_entry_date"] is made["last_entry_reference"] is None
        assert answer.headers["location"].endswith(f"/{made['id']}/")
        read = shop.api.get(f"{ACCOUNTS}{made['id']}/")
        assert (read.json(), read.headers["etag"]) == (made, '"1"')

    @pytest.mark.parametrize("reference", ["id", "code", "external_id"])
    def test_an_account_is_below_its_parent_by_any_reference(
        self, shop: Business, reference: str
    ) -> None:
        parent = shop.made(ACCOUNTS, account_body(f"12.{reference}", external_id=f"p-{reference}"))
        below = shop.made(ACCOUNTS, account_body(f"12.{reference}.1", parent_id=parent[reference]))
        assert (below["parent_id"], below["parent_account_code"]) == (parent["id"], parent["code"])
        assert below["hierarchy_level"] == 1
        seen = account_of(shop, parent[reference])
        assert (seen["has_children"], seen["sub_accounts"]) == (True, [below])

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"code": "1100"}, 409, "duplicate_account_code"),
            ({"parent_id": "no such"}, 422, "reference_not_found"),
            ({"parent_id": "2000"}, 422, "account_type_mismatch"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"account_subtype": "current_liabilities"}, 400, "validation_error"),
            ({"code": "a b"}, 400, "validation_error"),
            ({"name": "  "}, 400, "validation_error"),
            ({"iban": "GB00"}, 400, "validation_error"),
        ],
    )
    def test_an_invalid_account_is_refused_and_nothing_is_kept(
        self, ledger: Ledger, facts: Record, status: int, code: str
    ) -> None:
        body = {**account_body("1399"), **facts}
        assert ledger.refused("POST", ACCOUNTS, json=body) == (status, code)

    def test_not_under_an_archived_parent(self, shop: Business, ledger: Ledger) -> None:
        parent = shop.made(ACCOUNTS, account_body("1350"))
        archived(shop, "1350")
        with ledger.untouched():
            for answer in (
                shop.api.post(ACCOUNTS, json=account_body("1351", parent_id="1350")),
                shop.api.post(f"{ACCOUNTS}1350/children/", json={"code": "1351", "name": "x"}),
            ):
                refusal = answer.json()
                assert (answer.status_code, refusal["error_code"]) == (409, "account_archived")
                expected = {"account_id": parent["id"], "account_code": "1350"}
                assert refusal["detail"] == expected


class TestCreateChildAccount:
    @pytest.mark.parametrize(
        ("facts", "subtype"),
        [({}, "operating_expenses"), ({"account_subtype": "finance_costs"}, "finance_costs")],
    )
    def test_a_child_inherits_type_and_subtype_of_its_parent(
        self, shop: Business, facts: Record, subtype: str
    ) -> None:
        made = child(shop, "6000", f"6000.{subtype}", **facts)
        assert (made["account_type"], made["account_subtype"]) == ("expense", subtype)
        assert made["parent_account_code"] == "6000"

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"code": "1100"}, 409, "duplicate_account_code"),
            ({"account_type": "asset"}, 422, "account_type_mismatch"),
            ({**ASSET}, 422, "account_type_mismatch"),
            ({"account_subtype": "current_assets"}, 422, "account_type_mismatch"),
            ({**ASSET, "account_type": "expense"}, 400, "validation_error"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
        ],
    )
    def test_an_invalid_child_is_refused_and_nothing_is_kept(
        self, ledger: Ledger, facts: Record, status: int, code: str
    ) -> None:
        body = {"code": "6000.8", "name": "x", **facts}
        refused = ledger.refused("POST", f"{ACCOUNTS}6000/children/", json=body)
        assert refused == (status, code)

    def test_a_chart_has_twenty_levels(self, shop: Business, ledger: Ledger) -> None:
        above = "1500"
        for level in range(1, 20):
            made = child(shop, above, f"1500.{level}")
            assert made["hierarchy_level"] == level
            above = made["code"]
        body = {"code": "too-deep", "name": "x"}
        refused = ledger.refused("POST", f"{ACCOUNTS}{above}/children/", json=body)
        assert refused == (422, "account_too_deep")
        assert shop.api.get(f"{ACCOUNTS}1500/").status_code == 200


class TestGetAccount:
    def test_an_account_without_external_id_is_not_found_by_the_word_none(
        self, shop: Business
    ) -> None:
        assert shop.api.get(f"{ACCOUNTS}None/").status_code == 404

    def test_an_account_shows_its_balance(self, shop: Business, buyer: Record) -> None:
        before = account_of(shop, "1200")
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 400, part(invoice, 400), external_id="ref-400")
        after = account_of(shop, "1200")
        grown = {
            "current_balance": 600,
            "rollup_balance": 600,
            "debit_balance": 1_000,
            "credit_balance": 400,
            "total_debits": 1,
            "total_credits": 1,
        }
        assert {name: after[name] - before[name] for name in grown} == grown
        assert after["last_entry_date"] == "2025-03-10T00:00:00Z"
        assert after["last_entry_reference"] == "ref-400"
        assert after["is_control_account"] is True
        assert after["current_balance_formatted"].startswith("£")
        assert after["period_balance"] is after["period_balance_formatted"] is None

    def test_balances_are_on_their_natural_side_and_roll_up(
        self, shop: Business, buyer: Record
    ) -> None:
        child(shop, "4500", "4500.1", balance_behavior="debit_positive")
        lines = [
            line(amount, account_identifier={"type": "AccountCode", "code": code})
            for code, amount in (("4500", 100), ("4500.1", 30))
        ]
        sent(shop, buyer, line_items=lines)
        above, contra = account_of(shop, "4500"), account_of(shop, "4500.1")
        assert (above["current_balance"], above["rollup_balance"]) == (100, 130)
        assert (contra["current_balance"], contra["credit_balance"]) == (-30, 30)
        assert contra["current_balance_formatted"] == "-£0.30"

    @pytest.mark.parametrize(
        ("currency", "shown"), [("ISK", "ISK"), ("EUR", "€"), ("SEK", "SEK"), ("USD", "$")]
    )
    def test_amounts_are_written_in_their_currency(
        self, acme: Partner, currency: str, shown: str
    ) -> None:
        shop = acme.business(base_currency=currency)
        sent(shop, shop.customer(), 123_456)
        account = account_of(shop, "1200")
        digits = "123,456" if currency == "ISK" else "1,234.56"
        assert account["currency"] == currency
        assert shown in account["current_balance_formatted"]
        assert digits in account["current_balance_formatted"]

    def test_ids_come_before_codes_and_codes_before_external_ids(self, shop: Business) -> None:
        first = shop.made(ACCOUNTS, account_body("X-1", external_id="Y-1"))
        second = shop.made(ACCOUNTS, account_body("Y-1", external_id=first["id"]))
        assert account_of(shop, first["id"].upper())["id"] == first["id"]
        assert account_of(shop, "Y-1")["id"] == second["id"]


class TestUpdateAccount:
    def test_an_update_changes_given_fields_and_null_clears(self, shop: Business) -> None:
        facts = {"external_id": "e", "description": "d", "sort_code": "1"}
        before = shop.made(ACCOUNTS, account_body("1320", **facts))
        given = {"code": "1320.n", "name": "New", "description": None, "institution_name": "B"}
        answer = shop.api.patch(f"{ACCOUNTS}1320/", json=given)
        after = answer.json()
        assert after == {**before, **given, "updated_at": after["updated_at"]}
        assert answer.headers["etag"] == '"2"'
        assert account_of(shop, before["id"]) == after

    def test_the_ledger_finds_a_renamed_account(self, acme: Partner) -> None:
        shop = acme.business()
        shop.api.patch(f"{ACCOUNTS}4000/", json={"code": "S-1", "name": "Turnover"})
        sent(shop, shop.customer(), 100)
        assert shop.balance("S-1") == 100

    def test_nothing_changed_is_no_new_version(self, shop: Business, ledger: Ledger) -> None:
        before = shop.made(ACCOUNTS, account_body("1321"))
        same = {"name": before["name"], "is_active": True}
        for changes in ({}, same):
            with ledger.untouched():
                answer = shop.api.patch(f"{ACCOUNTS}1321/", json=changes)
            assert (answer.status_code, answer.json()) == (200, before)
            assert answer.headers["etag"] == '"1"'

    def test_is_active_archives_and_brings_back(self, shop: Business) -> None:
        shop.made(ACCOUNTS, account_body("1322"))
        gone = shop.api.patch(f"{ACCOUNTS}1322/", json={"is_active": False, "name": "Gone"}).json()
        assert (gone["is_active"], gone["name"]) == (False, "Gone")
        assert gone["archived_at"] is not None
        still = shop.api.patch(f"{ACCOUNTS}1322/", json={"name": "Still"}).json()
        assert (still["is_active"], still["archived_at"]) == (False, gone["archived_at"])
        back = shop.api.patch(f"{ACCOUNTS}1322/", json={"is_active": True}).json()
        assert (back["is_active"], back["archived_at"]) == (True, None)

    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"code": "1100"}, 409, "duplicate_account_code"),
            ({"external_id": "upd-taken"}, 409, "duplicate_external_id"),
            ({"account_type": "expense"}, 400, "validation_error"),
            ({"parent_id": None}, 400, "validation_error"),
        ],
    )
    def test_an_invalid_update_is_refused_and_changes_nothing(
        self, shop: Business, ledger: Ledger, changes: Record, status: int, code: str
    ) -> None:
        shop.api.post(ACCOUNTS, json=account_body("1323", external_id="upd-taken"))
        shop.api.post(ACCOUNTS, json=account_body("1324", external_id="upd-free"))
        assert ledger.refused("PATCH", f"{ACCOUNTS}1324/", json=changes) == (status, code)


class TestArchiveAccount:
    def test_an_account_is_archived_once_and_stays_readable(
        self, shop: Business, ledger: Ledger
    ) -> None:
        shop.made(ACCOUNTS, account_body("1330"))
        first = archived(shop, "1330")
        with ledger.untouched():
            assert archived(shop, "1330") == first
        assert account_of(shop, "1330") == first
        taken = shop.api.post(ACCOUNTS, json=account_body("1330")).json()
        assert taken["error_code"] == "duplicate_account_code"
        assert taken["detail"] == {"id": first["id"]}

    def test_not_while_it_holds_a_balance(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        sent(shop, buyer, 5)
        with ledger.untouched():
            for answer in (
                shop.api.delete(f"{ACCOUNTS}1200/"),
                shop.api.patch(f"{ACCOUNTS}1200/", json={"is_active": False}),
            ):
                assert answer.status_code == 409
                assert answer.json()["error_code"] == "account_has_balance"
                held = account_of(shop, "1200")["current_balance"]
                assert answer.json()["detail"] == {"current_balance": held}

    def test_not_while_a_child_is_active(self, shop: Business, ledger: Ledger) -> None:
        shop.made(ACCOUNTS, account_body("1340"))
        active = child(shop, "1340", "1341")
        child(shop, "1340", "1342")
        archived(shop, "1342")
        with ledger.untouched():
            answer = shop.api.delete(f"{ACCOUNTS}1340/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "account_has_children")
        named = {name: active[name] for name in ("id", "code", "name")}
        assert answer.json()["detail"] == {"active_children": 1, "children": [named]}
        archived(shop, "1341")
        archived(shop, "1340")

    def test_the_next_system_posting_brings_it_back(self, acme: Partner) -> None:
        shop = acme.business()
        for code in ("1200", "4000"):
            archived(shop, code)
        buyer = shop.customer()
        body = invoice_body(buyer, sent_at=SENT)
        assert shop.api.post("invoices/?preview=true", json=body).json()["journal_entries"]
        assert account_of(shop, "1200")["is_active"] is False
        sent(shop, buyer, 10)
        for code in ("1200", "4000"):
            answer = shop.api.get(f"{ACCOUNTS}{code}/")
            assert (answer.json()["is_active"], answer.headers["etag"]) == (True, '"3"')

    def test_every_starting_account_is_there_and_may_be_archived(self, acme: Partner) -> None:
        shop = acme.business()
        for code in ("1000", "3300", "8000"):
            archived(shop, code)
        found = shop.api.get(ACCOUNTS, params={"page_size": 100, "include_archived": True}).json()
        assert [each["code"] for each in found["results"]] == [each.code for each in STARTING_CHART]


class TestCashFlow:
    """The cash flow class of a balance sheet account."""

    def test_a_cash_flow_class_is_given_or_derived(self, shop: Business) -> None:
        loan = shop.made(ACCOUNTS, account_body("1470", name="Loan to a director"))
        assert loan["cash_flow"] == "operating"
        for given, shown in (("investing", "investing"), (None, "operating")):
            changed = shop.api.patch(f"{ACCOUNTS}1470/", json={"cash_flow": given})
            assert (changed.status_code, changed.json()["cash_flow"]) == (200, shown)
            assert account_of(shop, "1470") == changed.json()

    def test_accounts_of_bank_accounts_and_their_children_are_cash(self, acme: Partner) -> None:
        shop = acme.business()
        shop.made(ACCOUNTS, account_body("1480"))
        assert child(shop, "1480", "1481")["cash_flow"] == "operating"
        shop.made("bank-accounts/", {"display_name": "Savings", "account": "1480"})
        assert account_of(shop, "1480")["cash_flow"] == "cash"
        assert account_of(shop, "1481")["cash_flow"] == "cash"
        assert child(shop, "1481", "1482")["cash_flow"] == "cash"

    def test_of_profit_and_loss_there_is_none(self, shop: Business, ledger: Ledger) -> None:
        given = {"cash_flow": "operating"}
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        with ledger.untouched():
            for answer in (
                shop.api.post(ACCOUNTS, json=account_body("4490", **given, **kind)),
                shop.api.post(
                    f"{ACCOUNTS}4000/children/", json={"code": "1", "name": "x", **given}
                ),
                shop.api.patch(f"{ACCOUNTS}4000/", json=given),
            ):
                assert answer.status_code == 400
                assert list(answer.json()["detail"]["field_errors"]) == ["cash_flow"]
        assert shop.api.patch(f"{ACCOUNTS}4000/", json={"cash_flow": None}).status_code == 200
