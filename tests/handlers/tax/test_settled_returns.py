"""file_tax_return: the declared tax moves to VAT due, with one entry that no return counts."""

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.journal_entries import credit, debit, marked, taxed
from tests.builders.tax_returns import (
    ON,
    boxes,
    drawn_up,
    filed,
    sale,
    superseding,
)
from tests.builders.taxed_quarters import (
    bought,
    british_quarter,
    german_quarter,
    of,
    paid,
    sold,
)
from tests.builders.trade import Record
from tests.partner import Business, Partner

TAX = ("1300", "1310", "2200", "2210", "2230", "6400")


def held(books: Business) -> dict[str, int]:
    """Return the balances of the tax accounts without zeros, credits above zero."""
    path = "general-ledger/chart-of-accounts/"
    chart = books.api.get(path, params={"page_size": 100}).json()["results"]
    sign = {"asset": -1, "expense": -1}
    found = {
        each["code"]: sign.get(each["account_type"], 1) * each["current_balance"] for each in chart
    }
    return {code: found[code] for code in TAX if found.get(code)}


def settlements(books: Business) -> list[Record]:
    """Return the entries that settle returns, oldest first, with their lines."""
    path = "general-ledger/journal-entries/"
    listed = books.api.get(path, params={"page_size": 100}).json()["results"]
    own = [each for each in listed if each["source_type"] == "tax_return"]
    return [books.api.get(f"{path}{each['id']}/").json() for each in reversed(own)]


def lines_of(entry: Record) -> dict[str, int]:
    """Return the lines of an entry by account, debits above zero."""
    return {
        each["account_code"]: each["debit_amount"] - each["credit_amount"]
        for each in entry["lines"]
    }


class TestFileTaxReturn:
    def test_the_declared_tax_moves_to_vat_due_on_the_last_day(self, books: Business) -> None:
        sold(books, "2025-01-10", of("S20", 10_000))
        bought(books, "2025-02-10", of("P20", 6_000))
        done = filed(books, drawn_up(books), reference="VAT-1")
        [entry] = settlements(books)
        assert (entry["entry_date"], entry["reference"]) == (ON, "VAT-1")
        assert (entry["source_id"], entry["posting_rule"]) == (done["id"], "tax_return_settled")
        assert entry["document_url"].endswith(f"/tax-returns/{done['id']}/")
        assert lines_of(entry) == {"2200": 2_000, "1300": -1_200, "2230": -800}
        assert held(books) == {"2230": 800}

    def test_a_recoverable_balance_is_on_vat_due_too(self, books: Business) -> None:
        bought(books, "2025-02-10", of("P20", 6_000), of("PA20", 1_000))
        filed(books, drawn_up(books))
        assert held(books) == {"2230": -1_200}

    def test_nothing_is_posted_without_settle_or_without_tax(self, books: Business) -> None:
        filed(books, drawn_up(books, 1))
        sold(books, "2025-05-10", of("S20", 10_000))
        filed(books, drawn_up(books, 2), settle=False)
        assert settlements(books) == []
        assert held(books) == {"2200": 2_000}

    def test_a_settlement_is_in_no_return(self, books: Business) -> None:
        sold(books, "2025-01-10", of("S20", 10_000))
        filed(books, drawn_up(books, 1))
        second = drawn_up(books, 2)
        assert (second["codes"], second["late"], second["uncoded"]) == ([], [], [])
        summary = books.api.get(
            "reports/vat-summary/", params={"start_date": "2025-01-01", "end_date": ON}
        ).json()
        assert summary["uncoded"] == []
        assert summary["tax_due_cents"] == 2_000
        filed(books, second)
        assert held(books) == {"2230": 2_000}

    def test_a_settlement_is_no_uncoded_tax_once_it_is_rolled_up(self, books: Business) -> None:
        sold(books, "2025-01-10", of("S20", 10_000))
        filed(books, drawn_up(books, 1))
        for _ in range(101):  # As many entries as advance the sums by month.
            sold(books, "2025-05-10", of("SO", 100))
        summary = books.api.get(
            "reports/vat-summary/", params={"start_date": "2025-01-01", "end_date": ON}
        ).json()
        assert summary["uncoded"] == []

    def test_tax_without_a_code_stays(self, books: Business) -> None:
        sale(books)
        plain = {"lines": [debit("6000", 70), credit("2200", 70)], "post": True}
        books.made("general-ledger/journal-entries/", {"entry_date": ON, **plain})
        filed(books, drawn_up(books))
        assert held(books) == {"2200": 70, "2230": 2_000}

    def test_tax_leaves_the_account_that_it_is_on(self, books: Business) -> None:
        other = books.made(
            "general-ledger/chart-of-accounts/",
            {
                "code": "2205",
                "name": "VAT of the shop",
                "account_type": "liability",
                "account_subtype": "current_liabilities",
            },
        )
        tax = marked("2205", -2_000, "S20", "output")
        taxed(books, ON, credit("4000", 10_000, tax_code="S20"), tax)
        filed(books, drawn_up(books))
        path = f"general-ledger/chart-of-accounts/{other['id']}/"
        assert books.api.get(path).json()["current_balance"] == 0
        assert held(books) == {"2230": 2_000}

    def test_withheld_tax_moves_too(self, acme: Partner) -> None:
        shop = acme.business(country="ES", entity_type="sl")
        line = {**of("S21", 100_000), "withholding_code": "SW15"}
        sold(shop, "2025-01-10", line)
        filed(shop, drawn_up(shop))
        [entry] = settlements(shop)
        assert lines_of(entry) == {"2200": 21_000, "1310": -15_000, "2230": -6_000}
        assert held(shop) == {"2230": 6_000}

    def test_cash_takes_only_what_was_paid(self, books: Business) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000))
        paid(books, invoice, 6_000, "2025-02-01")
        filed(books, drawn_up(books, 1, "cash"))
        assert held(books) == {"2200": 1_000, "2230": 1_000}
        paid(books, invoice, 6_000, "2025-05-01")
        filed(books, drawn_up(books, 2, "cash"))
        assert held(books) == {"2230": 2_000}

    @pytest.mark.parametrize("scheme", ["accrual", "cash"])
    def test_a_quarter_of_every_kind_leaves_box_5_on_vat_due(
        self, books: Business, scheme: str
    ) -> None:
        british_quarter(books)
        before = held(books)
        done = filed(books, drawn_up(books, 1, scheme))
        after = held(books)
        assert after["2230"] == boxes(done)["5"] == done["tax_due_cents"]
        assert sum(before.values()) == sum(after.values())
        if scheme == "accrual":
            assert after == {"2230": boxes(done)["5"]}

    def test_a_change_to_accrual_settles_its_transition(self, books: Business) -> None:
        invoice = sold(books, "2025-01-10", of("S20", 10_000))
        paid(books, invoice, 6_000, "2025-02-01")
        filed(books, drawn_up(books, 1, "cash"))
        filed(books, drawn_up(books, 2, "accrual"))
        assert held(books) == {"2230": 2_000}
        paid(books, invoice, 6_000, "2025-08-01")
        filed(books, drawn_up(books, 3, "accrual"))
        assert held(books) == {"2230": 2_000}

    def test_tax_of_opening_documents_leaves_the_account_that_was_opened(
        self, books: Business
    ) -> None:
        party = books.customer()
        opened = books.made(
            "opening-balances/",
            {
                "date": "2024-12-31",
                "accounts": [{"account": "2200", "credit_amount": 2_000}],
                "invoices": [
                    {
                        "customer_id": party["id"],
                        "invoice_number": "A-1",
                        "issue_date": "2024-12-01",
                        "outstanding_amount_cents": 12_000,
                        "tax": [{"tax_code": "S20", "net_cents": 10_000, "tax_cents": 2_000}],
                    }
                ],
            },
        )
        invoice = books.api.get(f"invoices/{opened['invoices'][0]['id']}/").json()
        paid(books, invoice, 6_000, "2025-02-01")
        filed(books, drawn_up(books, 1, "cash"))
        assert held(books) == {"2200": 1_000, "2230": 1_000}

    def test_the_period_locks_after_the_settlement(self, books: Business) -> None:
        sale(books)
        filed(books, drawn_up(books), lock=True)
        assert [each["entry_date"] for each in settlements(books)] == [ON]

    def test_a_locked_period_settles_on_the_day_after_the_lock(
        self, books: Business, acme: Partner
    ) -> None:
        sale(books)
        acme.api.patch(f"/v1/platform/businesses/{books.id}/", json={"lock_date": "2025-04-30"})
        filed(books, drawn_up(books))
        assert [each["entry_date"] for each in settlements(books)] == ["2025-05-01"]
        assert drawn_up(books, 2)["uncoded"] == []

    def test_the_payment_to_the_authority_clears_vat_due(self, books: Business) -> None:
        sale(books)
        filed(books, drawn_up(books))
        account = books.made("bank-accounts/", {"display_name": "Bank", "currency": "GBP"})
        line = {
            "date": "2025-05-07",
            "amount_cents": 2_000,
            "direction": "debit",
            "description": "HMRC VAT",
        }
        answer = books.api.post(
            "bank-transactions/",
            json={"bank_account_id": account["id"], "transactions": [line]},
        )
        [imported] = answer.json()["results"]
        path = f"bank-transactions/{imported['id']}/categorize/"
        assert books.api.post(path, json={"account": "2230"}).status_code == 200
        assert held(books) == {}

    @pytest.mark.parametrize(
        ("scheme", "due", "rounded"), [("accrual", 10_130, 10), ("cash", 1_830, 5)]
    )
    def test_what_the_german_form_rounds_goes_to_rounding(
        self, acme: Partner, api_server: ApiServer, scheme: str, due: int, rounded: int
    ) -> None:
        shop = acme.business(country="DE", entity_type="gmbh")
        german_quarter(shop)
        done = filed(shop, drawn_up(shop, 1, scheme))
        assert boxes(done)["83"] == due == done["tax_due_cents"] - rounded
        [entry] = settlements(shop)
        assert lines_of(entry)["2230"] == -due
        assert lines_of(entry)["6400"] == -rounded
        Ledger(api_server, shop).audit()


class TestSupersedeTaxReturn:
    def test_a_superseding_return_settles_the_difference(self, books: Business) -> None:
        sale(books)
        old = filed(books, drawn_up(books))
        sale(books, net=700)
        done = filed(books, superseding(books, old))
        first, second = settlements(books)
        assert lines_of(first) == {"2200": 2_000, "2230": -2_000}
        assert lines_of(second) == {"2200": 140, "2230": -140}
        assert (second["source_id"], second["entry_date"]) == (done["id"], ON)
        assert held(books) == {"2230": 2_140}
        again = filed(books, superseding(books, done))
        assert len(settlements(books)) == 2
        tax = marked("2200", 10, "S20", "output")
        taxed(books, ON, debit("4000", 50, tax_code="S20"), tax)
        filed(books, superseding(books, again))
        assert lines_of(settlements(books)[2]) == {"2200": -10, "2230": 10}

    def test_what_no_earlier_version_settled_is_settled(self, books: Business) -> None:
        sale(books)
        old = filed(books, drawn_up(books))
        sale(books, net=700)
        unsettled = filed(books, superseding(books, old), settle=False)
        assert held(books) == {"2200": 140, "2230": 2_000}
        filed(books, superseding(books, unsettled))
        assert held(books) == {"2230": 2_140}

    def test_an_unsettled_return_is_settled_by_its_successor(self, books: Business) -> None:
        sale(books)
        old = filed(books, drawn_up(books), settle=False)
        filed(books, superseding(books, old))
        assert held(books) == {"2230": 2_000}


class TestAccount:
    @pytest.mark.parametrize(
        ("language", "name"),
        [
            ("en", "VAT due"),
            ("de", "Umsatzsteuerzahllast"),
            ("nl", "Te betalen btw volgens aangifte"),
            ("fr", "TVA à décaisser"),
            ("es", "IVA por liquidar"),
        ],
    )
    def test_a_new_business_has_vat_due(self, acme: Partner, language: str, name: str) -> None:
        shop = acme.business(coa_language=language)
        found = shop.api.get("general-ledger/chart-of-accounts/", params={"search": "2230"})
        [account] = found.json()["results"]
        assert (account["name"], account["account_subtype"]) == (name, "current_liabilities")

    def test_a_business_from_before_gets_it_with_the_next_free_code(
        self, api_server: ApiServer, acme: Partner
    ) -> None:
        shop = acme.business(coa_language="nl")
        api_server.watcher.execute(
            "UPDATE account SET role = NULL, name = 'Own', version = version + 1"
            " WHERE business_id = %s AND role = 'tax_due'",
            (shop.id,),
        )
        for quarter, day in ((1, ON), (2, "2025-06-30")):
            sale(shop, day)
            filed(shop, drawn_up(shop, quarter))
            [entry, *_] = reversed(settlements(shop))
            assert lines_of(entry) == {"2200": 2_000, "2231": -2_000}
        found = shop.api.get("general-ledger/chart-of-accounts/", params={"search": "2231"})
        [account] = found.json()["results"]
        assert (account["name"], account["current_balance"]) == (
            "Te betalen btw volgens aangifte",
            4_000,
        )
        Ledger(api_server, shop).audit()
