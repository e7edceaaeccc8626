"""Chart of accounts: accounts are made, read, changed and archived."""

from typing import Any

import pytest

from accounting.books.chart import STARTING_CHART
from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, sent
from tests.builders.trade import NOBODY, SENT, Record, line
from tests.partner import Business, Partner

ACCOUNTS = "general-ledger/chart-of-accounts/"
PROFIT_AND_LOSS = ("revenue", "expense")


def account_body(code: str, **facts: Any) -> Record:
    kind = {"account_type": "asset", "account_subtype": "current_assets"}
    return {"code": code, "name": f"Account {code}", **kind, **facts}


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
        assert (made["account_type_display"], made["account_subtype_display"]) == (
            "Asset",
            "Current assets",
        )
        amounts = ("current_balance", "rollup_balance", "debit_balance", "credit_balance")
        assert {made[name] for name in (*amounts, "total_debits", "total_credits")} == {0}
        assert (made["is_active"], made["is_control_account"], made["has_children"]) == (
            True,
            False,
            False,
        )
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
        child = shop.made(ACCOUNTS, account_body(f"12.{reference}.1", parent_id=parent[reference]))
        assert (child["parent_id"], child["parent_account_code"]) == (parent["id"], parent["code"])
        assert child["hierarchy_level"] == 1
        seen = shop.api.get(f"{ACCOUNTS}{parent[reference]}/").json()
        assert (seen["has_children"], seen["sub_accounts"]) == (True, [child])

    def test_a_known_external_id_answers_the_account_unchanged(
        self, shop: Business, ledger: Ledger
    ) -> None:
        first = shop.made(ACCOUNTS, account_body("1301", external_id="same"))
        with ledger.untouched():
            again = shop.api.post(ACCOUNTS, json=account_body("1302", external_id="same"))
        assert (again.status_code, again.json()) == (200, first)

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"code": "1100"}, 409, "duplicate_account_code"),
            ({"parent_id": "no such"}, 422, "reference_not_found"),
            ({"parent_id": NOBODY}, 422, "reference_not_found"),
            ({"parent_id": "2000"}, 422, "account_type_mismatch"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"account_subtype": "current_liabilities"}, 400, "validation_error"),
            ({"account_type": "revenue"}, 400, "validation_error"),
            ({"code": "a b"}, 400, "validation_error"),
            ({"name": "  "}, 400, "validation_error"),
            ({"iban": "GB00"}, 400, "validation_error"),
            ({"role": "cash"}, 400, "validation_error"),
        ],
    )
    def test_an_invalid_account_is_refused_and_nothing_is_kept(
        self, shop: Business, ledger: Ledger, facts: Record, status: int, code: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(ACCOUNTS, json={**account_body("1399"), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_not_under_an_archived_parent(self, shop: Business, ledger: Ledger) -> None:
        parent = shop.made(ACCOUNTS, account_body("1350"))
        shop.api.delete(f"{ACCOUNTS}1350/")
        with ledger.untouched():
            for answer in (
                shop.api.post(ACCOUNTS, json=account_body("1351", parent_id="1350")),
                shop.api.post(f"{ACCOUNTS}1350/children/", json={"code": "1351", "name": "x"}),
            ):
                assert (answer.status_code, answer.json()["error_code"]) == (
                    409,
                    "account_archived",
                )
                told = {"account_id": parent["id"], "account_code": "1350"}
                assert answer.json()["detail"] == told


class TestCreateChildAccount:
    def test_a_child_inherits_type_and_subtype_of_its_parent(self, shop: Business) -> None:
        answer = shop.api.post(
            f"{ACCOUNTS}6000/children/", json={"code": "6000.1", "name": "Rent", "external_id": "r"}
        )
        made = answer.json()
        assert answer.status_code == 201
        assert (made["account_type"], made["account_subtype"]) == ("expense", "operating_expenses")
        assert made["parent_account_code"] == "6000"
        again = shop.api.post(
            f"{ACCOUNTS}6000/children/", json={"code": "6000.2", "name": "x", "external_id": "r"}
        )
        assert (again.status_code, again.json()) == (200, made)

    def test_a_child_may_have_its_own_subtype(self, shop: Business) -> None:
        body = {"code": "6000.9", "name": "Lender's", "account_subtype": "finance_costs"}
        made = shop.made(f"{ACCOUNTS}6000/children/", body)
        assert (made["account_type"], made["account_subtype"]) == ("expense", "finance_costs")

    @pytest.mark.parametrize(
        ("parent", "facts", "status", "code"),
        [
            ("6000", {"code": "1100"}, 409, "duplicate_account_code"),
            ("6000", {"account_type": "asset"}, 422, "account_type_mismatch"),
            (
                "6000",
                {"account_type": "asset", "account_subtype": "current_assets"},
                422,
                "account_type_mismatch",
            ),
            ("6000", {"account_subtype": "current_assets"}, 422, "account_type_mismatch"),
            (
                "6000",
                {"account_type": "expense", "account_subtype": "current_assets"},
                400,
                "validation_error",
            ),
            ("6000", {"currency": "EUR"}, 422, "currency_mismatch"),
            ("6000", {"parent_id": "6000"}, 400, "validation_error"),
            ("none", {}, 404, "account_not_found"),
            (NOBODY, {}, 404, "account_not_found"),
        ],
    )
    def test_an_invalid_child_is_refused_and_nothing_is_kept(
        self,
        shop: Business,
        ledger: Ledger,
        parent: str,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(
                f"{ACCOUNTS}{parent}/children/", json={"code": "6000.8", "name": "x", **facts}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_a_chart_has_twenty_levels(self, shop: Business, ledger: Ledger) -> None:
        above = "1500"
        for level in range(1, 20):
            made = shop.made(
                f"{ACCOUNTS}{above}/children/", {"code": f"1500.{level}", "name": "deeper"}
            )
            assert made["hierarchy_level"] == level
            above = made["code"]
        with ledger.untouched():
            answer = shop.api.post(
                f"{ACCOUNTS}{above}/children/", json={"code": "too-deep", "name": "x"}
            )
        assert (answer.status_code, answer.json()["error_code"]) == (422, "account_too_deep")
        assert shop.api.get(f"{ACCOUNTS}1500/").status_code == 200


class TestGetAccount:
    def test_an_account_without_external_id_is_not_found_by_the_word_none(
        self, shop: Business
    ) -> None:
        assert shop.api.get(f"{ACCOUNTS}None/").status_code == 404

    def test_an_account_shows_its_balance(self, shop: Business, buyer: Record) -> None:
        before = shop.api.get(f"{ACCOUNTS}1200/").json()
        invoice = sent(shop, buyer, 1_000)
        paid(shop, buyer, 400, part(invoice, 400), external_id="ref-400")
        after = shop.api.get(f"{ACCOUNTS}1200/").json()
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

    def test_balances_stand_on_their_natural_side_and_roll_up(
        self, shop: Business, buyer: Record
    ) -> None:
        contra = {"code": "4500.1", "name": "Turned", "balance_behavior": "debit_positive"}
        shop.made(f"{ACCOUNTS}4500/children/", contra)
        lines = [
            line(amount, account_identifier={"type": "AccountCode", "code": code})
            for code, amount in (("4500", 100), ("4500.1", 30))
        ]
        shop.made("invoices/", invoice_body(buyer, *lines, sent_at=SENT))
        parent, child = (shop.api.get(f"{ACCOUNTS}{code}/").json() for code in ("4500", "4500.1"))
        assert (parent["current_balance"], parent["rollup_balance"]) == (100, 130)
        assert (child["current_balance"], child["credit_balance"]) == (-30, 30)
        assert child["current_balance_formatted"] == "-£0.30"

    @pytest.mark.parametrize(
        ("currency", "shown"), [("ISK", "ISK"), ("EUR", "€"), ("SEK", "SEK"), ("USD", "$")]
    )
    def test_amounts_are_written_in_their_currency(
        self, acme: Partner, currency: str, shown: str
    ) -> None:
        shop = acme.business(base_currency=currency)
        sent(shop, shop.customer(), 123_456)
        account = shop.api.get(f"{ACCOUNTS}1200/").json()
        digits = "123,456" if currency == "ISK" else "1,234.56"
        assert account["currency"] == currency
        assert shown in account["current_balance_formatted"]
        assert digits in account["current_balance_formatted"]

    def test_ids_come_before_codes_and_codes_before_external_ids(self, shop: Business) -> None:
        first = shop.made(ACCOUNTS, account_body("X-1", external_id="Y-1"))
        second = shop.made(ACCOUNTS, account_body("Y-1", external_id=first["id"]))
        assert shop.api.get(f"{ACCOUNTS}{first['id'].upper()}/").json()["id"] == first["id"]
        assert shop.api.get(f"{ACCOUNTS}Y-1/").json()["id"] == second["id"]

    def test_an_account_of_another_business_is_404(self, shop: Business, rival: Partner) -> None:
        foreign = rival.business().api.get(f"{ACCOUNTS}1100/").json()
        for reference in (foreign["id"], NOBODY, "none"):
            answer = shop.api.get(f"{ACCOUNTS}{reference}/")
            assert (answer.status_code, answer.json()["error_code"]) == (404, "account_not_found")


class TestUpdateAccount:
    def test_an_update_changes_given_fields_and_null_clears(self, shop: Business) -> None:
        before = shop.made(
            ACCOUNTS, account_body("1320", external_id="e", description="d", sort_code="1")
        )
        given = {"code": "1320.n", "name": "New", "description": None, "institution_name": "B"}
        answer = shop.api.patch(f"{ACCOUNTS}1320/", json=given)
        after = answer.json()
        assert after == {**before, **given, "updated_at": after["updated_at"]}
        assert answer.headers["etag"] == '"2"'
        assert shop.api.get(f"{ACCOUNTS}{before['id']}/").json() == after

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
            ({"name": None}, 400, "validation_error"),
        ],
    )
    def test_an_invalid_update_is_refused_and_changes_nothing(
        self, shop: Business, ledger: Ledger, changes: Record, status: int, code: str
    ) -> None:
        shop.api.post(ACCOUNTS, json=account_body("1323", external_id="upd-taken"))
        shop.api.post(ACCOUNTS, json=account_body("1324", external_id="upd-free"))
        with ledger.untouched():
            answer = shop.api.patch(f"{ACCOUNTS}1324/", json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)


class TestArchiveAccount:
    def test_an_account_is_archived_once_and_stays_readable(
        self, shop: Business, ledger: Ledger
    ) -> None:
        shop.made(ACCOUNTS, account_body("1330"))
        first = shop.api.delete(f"{ACCOUNTS}1330/")
        assert (first.status_code, first.json()["is_active"]) == (200, False)
        with ledger.untouched():
            again = shop.api.delete(f"{ACCOUNTS}1330/")
        assert (again.status_code, again.json()) == (200, first.json())
        assert shop.api.get(f"{ACCOUNTS}1330/").json() == first.json()
        taken = shop.api.post(ACCOUNTS, json=account_body("1330"))
        assert taken.json()["error_code"] == "duplicate_account_code"
        assert taken.json()["detail"] == {"id": first.json()["id"]}

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
                held = shop.api.get(f"{ACCOUNTS}1200/").json()["current_balance"]
                assert answer.json()["detail"] == {"current_balance": held}

    def test_not_while_a_child_is_active(self, shop: Business, ledger: Ledger) -> None:
        shop.made(ACCOUNTS, account_body("1340"))
        child = shop.made(f"{ACCOUNTS}1340/children/", {"code": "1341", "name": "child"})
        shop.made(f"{ACCOUNTS}1340/children/", {"code": "1342", "name": "gone"})
        shop.api.delete(f"{ACCOUNTS}1342/")
        with ledger.untouched():
            answer = shop.api.delete(f"{ACCOUNTS}1340/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "account_has_children")
        named = {name: child[name] for name in ("id", "code", "name")}
        assert answer.json()["detail"] == {"active_children": 1, "children": [named]}
        shop.api.delete(f"{ACCOUNTS}1341/")
        assert shop.api.delete(f"{ACCOUNTS}1340/").json()["is_active"] is False

    def test_the_next_system_posting_brings_it_back(self, acme: Partner) -> None:
        shop = acme.business()
        for code in ("1200", "4000"):
            assert shop.api.delete(f"{ACCOUNTS}{code}/").json()["is_active"] is False
        buyer = shop.customer()
        assert shop.api.post(
            "invoices/?preview=true", json=invoice_body(buyer, sent_at=SENT)
        ).json()["journal_entries"]
        assert shop.api.get(f"{ACCOUNTS}1200/").json()["is_active"] is False
        sent(shop, buyer, 10)
        for code in ("1200", "4000"):
            answer = shop.api.get(f"{ACCOUNTS}{code}/")
            assert (answer.json()["is_active"], answer.headers["etag"]) == (True, '"3"')

    def test_every_starting_account_is_there_and_may_be_archived(self, acme: Partner) -> None:
        shop = acme.business()
        for code in ("1000", "3300", "8000"):
            assert shop.api.delete(f"{ACCOUNTS}{code}/").json()["is_active"] is False
        found = shop.api.get(ACCOUNTS, params={"page_size": 100, "include_archived": True}).json()
        assert [each["code"] for each in found["results"]] == [each.code for each in STARTING_CHART]


class TestCashFlow:
    """Where accounts of the balance sheet stand in the cash flow statement."""

    def test_a_cash_flow_class_is_given_or_derived(self, shop: Business) -> None:
        loan = shop.made(ACCOUNTS, account_body("1470", name="Loan to a director"))
        assert loan["cash_flow"] == "operating"
        for given, shown in (("investing", "investing"), (None, "operating")):
            changed = shop.api.patch(f"{ACCOUNTS}1470/", json={"cash_flow": given})
            assert (changed.status_code, changed.json()["cash_flow"]) == (200, shown)
            assert shop.api.get(f"{ACCOUNTS}1470/").json() == changed.json()

    def test_the_first_chart_has_one_where_it_is_of_the_balance_sheet(self, acme: Partner) -> None:
        found = acme.business().api.get(ACCOUNTS, params={"page_size": 100}).json()["results"]
        shown = {each["code"]: each["cash_flow"] for each in found}
        of_profit = {each["code"] for each in found if each["account_type"] in PROFIT_AND_LOSS}
        assert {code for code, word in shown.items() if word is None} == of_profit
        by_word: dict[str, set[str]] = {}
        for code, word in shown.items():
            by_word.setdefault(word, set()).add(code)
        assert by_word["cash"] == {"1000", "1100"}
        assert by_word["investing"] == {"1600"}
        assert by_word["non_cash"] == {"1650"}
        assert by_word["financing"] == {"2500", "3000", "3100", "3200", "3290", "3300"}

    def test_accounts_of_bank_accounts_and_their_children_are_cash(self, acme: Partner) -> None:
        shop = acme.business()
        shop.made(ACCOUNTS, account_body("1480"))
        pot = {"code": "1481", "name": "Pot"}
        assert shop.made(f"{ACCOUNTS}1480/children/", pot)["cash_flow"] == "operating"
        shop.made("bank-accounts/", {"display_name": "Savings", "account": "1480"})
        assert shop.api.get(f"{ACCOUNTS}1480/").json()["cash_flow"] == "cash"
        assert shop.api.get(f"{ACCOUNTS}1481/").json()["cash_flow"] == "cash"
        deeper = shop.made(f"{ACCOUNTS}1481/children/", {"code": "1482", "name": "Deep pot"})
        assert deeper["cash_flow"] == "cash"

    def test_of_profit_and_loss_there_is_none(self, shop: Business, ledger: Ledger) -> None:
        kind = {"account_type": "revenue", "account_subtype": "revenue"}
        given = account_body("4490", cash_flow="operating", **kind)
        child = {"code": "4490", "name": "Child", "cash_flow": "operating"}
        with ledger.untouched():
            for answer in (
                shop.api.post(ACCOUNTS, json=given),
                shop.api.post(f"{ACCOUNTS}4000/children/", json=child),
                shop.api.patch(f"{ACCOUNTS}4000/", json={"cash_flow": "operating"}),
                shop.api.patch(f"{ACCOUNTS}1400/", json={"cash_flow": "sideways"}),
            ):
                assert answer.status_code == 400
                assert list(answer.json()["detail"]["field_errors"]) == ["cash_flow"]
        assert shop.api.patch(f"{ACCOUNTS}4000/", json={"cash_flow": None}).status_code == 200
