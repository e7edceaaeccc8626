"""create_invoice: what it takes, what it makes of it, and what stands in the journal then."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.handlers.bodies import NOBODY, SENT, Record, line
from tests.handlers.bodies import invoice_body as body
from tests.partnership import Business, Partnership


class TestCreateInvoice:
    def test_a_draft_shows_what_was_given_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        given = {
            "external_id": "draft-1",
            "issue_date": "2025-03-02",
            "due_at": "2025-04-01T12:00:00Z",
            "memo": "for March",
            "transaction_tags": ["blue", "door"],
            "metadata": {"any": [1, {"thing": None}]},
        }
        told = line(
            description="Beans",
            product="arabica",
            external_id="line-1",
            memo="whole",
            tags=["fresh"],
            metadata=[1],
        )
        answer = shop.api.post("invoices/", json=body(buyer, told, **given))
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in given} == given
        assert made["tags"] == ["blue", "door"]
        assert (made["type"], made["status"]) == ("Invoice", "draft")
        assert made["business_id"] == shop.id
        assert made["currency"] == "GBP"
        assert made["invoice_number"] is made["sent_at"] is made["paid_at"] is None
        assert made["customer_id"] == made["customer"]["id"] == buyer["id"]
        assert made["customer"]["name"] == "Blue Door Bakery"
        [shown] = made["line_items"]
        assert {name: shown[name] for name in told} == told
        assert answer.headers["location"].endswith(f"/invoices/{made['id']}/")
        assert ledger.entries(made) == []
        assert shop.api.get(f"invoices/{made['id']}/").json() == made

    def test_a_sent_one_takes_a_number_and_is_posted_on_its_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = shop.invoice(buyer, 10_000, sent_at="2025-03-01T23:30:00-05:00")
        assert made["status"] == "sent"
        assert made["sent_at"] == "2025-03-02T04:30:00Z"
        assert made["outstanding_balance"] == made["total_amount"] == 10_000
        assert made["invoice_number"].startswith("INV-0000")
        [entry] = ledger.entries(made)
        assert (entry.on, entry.amounts) == ("2025-03-02", {"1200": 10_000, "4000": -10_000})
        assert (entry.source_type, entry.reference) == ("invoice", made["invoice_number"])

    def test_taxes_and_discounts_come_to_the_cent(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        # Two at 10.00 less 1.00 and three thirds of 3.33; 0.90 off the whole, 20 % on the rest.
        lines = (
            line(1_000, 2, discount_amount=100, tax_rate=20),
            line(333, "1.5", tax_rate="20"),
            line(500, sales_taxes=[{"amount": 25}]),
        )
        made = shop.made("invoices/", body(buyer, *lines, additional_discount=90, sent_at=SENT))
        assert [each["subtotal"] for each in made["line_items"]] == [1_900, 500, 500]
        # 90 over 1900, 500, 500 is 58.97, 15.52, 15.52; the tax is 20 % of 2400 - 75 = 465.
        assert [each["sales_taxes_total"] for each in made["line_items"]] == [368, 97, 25]
        assert [each["total_amount"] for each in made["line_items"]] == [2_268, 597, 525]
        assert made["subtotal"] == 2_900
        assert made["discount_total"] == 190
        assert made["tax_total"] == made["additional_sales_taxes_total"] == 490
        assert made["total_amount"] == 2_900 - 90 + 490
        [entry] = ledger.entries(made)
        assert entry.amounts == {"1200": 3_300, "4200": 90, "4000": -2_900, "2200": -490}

    @pytest.mark.parametrize(
        ("quantity", "unit_price", "subtotal"),
        [
            (0.5, 5, 3),
            ("0.5", 5, 3),
            (0.000001, 1_000_000, 1),
            ("0.000001", 499_999, 0),
            (1.1, 100, 110),
            (3, 333, 999),
            ("999999999.999999", 99_999, 99_999_000_000_000),
        ],
    )
    def test_a_quantity_is_exact_and_half_a_cent_goes_up(
        self, shop: Business, buyer: Record, quantity: Any, unit_price: int, subtotal: int
    ) -> None:
        made = shop.made("invoices/", body(buyer, line(unit_price, quantity)))
        assert made["line_items"][0]["subtotal"] == made["total_amount"] == subtotal

    def test_lines_go_to_the_accounts_they_name(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        other_income = shop.api.get("general-ledger/chart-of-accounts/4500/").json()
        lines = (
            line(100, account_identifier={"type": "AccountId", "id": other_income["id"]}),
            line(200, account_identifier={"type": "AccountCode", "code": "4600"}),
            line(
                400,
                sales_taxes=[
                    {"amount": 7, "tax_account": {"type": "AccountCode", "code": "2400"}},
                    {"amount": 8},
                ],
            ),
        )
        made = shop.made("invoices/", body(buyer, *lines, sent_at=SENT))
        assert made["line_items"][0]["account_identifier"]["id"] == other_income["id"]
        [entry] = ledger.entries(made)
        assert entry.amounts == {
            **{"1200": 715, "4500": -100, "4600": -200},
            **{"4000": -400, "2400": -7, "2200": -8},
        }

    def test_lines_of_one_account_are_added_up_and_zero_is_left_out(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = shop.made("invoices/", body(buyer, line(5), line(0), line(6), sent_at=SENT))
        [entry] = ledger.entries(made)
        assert entry.lines == (("1200", 11), ("4000", -11))

    def test_five_hundred_lines_are_one_invoice_and_one_more_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        lines = [line(place, tax_rate=20) for place in range(1, 501)]
        made = shop.made("invoices/", body(buyer, *lines, sent_at=SENT))
        assert made["total_amount"] == 125_250 + 25_050
        assert sum(each["sales_taxes_total"] for each in made["line_items"]) == 25_050
        [entry] = ledger.entries(made)
        assert entry.amounts == {"1200": 150_300, "4000": -125_250, "2200": -25_050}
        with ledger.untouched():
            answer = shop.api.post("invoices/", json=body(buyer, *lines, line(1)))
        assert answer.status_code == 400

    def test_a_total_of_nothing_posts_nothing_and_is_paid_when_sent(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        made = shop.made("invoices/", body(buyer, line(700), additional_discount=700, sent_at=SENT))
        assert (made["status"], made["total_amount"]) == ("paid", 0)
        assert made["paid_at"] == "2025-03-01T00:00:00Z"
        assert ledger.entries(made) == []

    def test_it_is_due_after_the_customers_terms_unless_it_says_when(self, shop: Business) -> None:
        patient = shop.customer(payment_terms_days=30)
        assert shop.invoice(patient, sent_at=SENT)["due_at"] == "2025-03-31T09:00:00Z"
        told = shop.invoice(patient, sent_at=SENT, due_at="2025-03-05T00:00:00Z")
        assert told["due_at"] == "2025-03-05T00:00:00Z"
        assert (told["status"], told["is_overdue"]) == ("overdue", True)

    def test_a_known_external_id_answers_the_invoice_unchanged(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first = shop.invoice(buyer, 300, external_id="order-7", sent_at=SENT)
        with ledger.untouched():
            again = shop.api.post(
                "invoices/", json=body(buyer, line(999), external_id="order-7", memo="other")
            )
        assert again.status_code == 200
        assert again.json() == first
        assert again.headers["etag"] == '"1"'

    @pytest.mark.parametrize(
        "wrong",
        [
            {"customer_id": NOBODY},
            {"customer_id": None, "customer_external_id": "never seen before"},
            {"currency": "EUR"},
        ],
    )
    def test_a_repeat_writes_nothing_whatever_else_it_says(
        self, shop: Business, ledger: Ledger, buyer: Record, wrong: Record
    ) -> None:
        name = f"order-{sorted(wrong)}"
        first = shop.invoice(buyer, 300, external_id=name, sent_at=SENT)
        given = {**body(buyer, external_id=name), **wrong}
        with ledger.untouched():
            again = shop.api.post(
                "invoices/", json={name: value for name, value in given.items() if value}
            )
        assert (again.status_code, again.json()) == (200, first)

    def test_an_unknown_customer_is_made_on_the_way(self, shop: Business, ledger: Ledger) -> None:
        made = shop.made("invoices/", {"customer_external_id": "cust-77", "line_items": [line()]})
        assert made["customer"]["external_id"] == made["customer"]["name"] == "cust-77"
        again = shop.made("invoices/", {"customer_external_id": "cust-77", "line_items": [line()]})
        assert again["customer_id"] == made["customer_id"]
        both = {"customer_id": made["customer_id"], "customer_external_id": "cust-77"}
        assert (
            shop.made("invoices/", {**both, "line_items": [line()]})["customer"] == made["customer"]
        )

    def test_a_number_of_the_callers_own_is_kept(self, shop: Business, buyer: Record) -> None:
        made = shop.made("invoices/", body(buyer, invoice_number="2025/17"))
        assert made["invoice_number"] == "2025/17"

    def test_a_number_in_the_series_own_form_moves_the_series(self, acme: Partnership) -> None:
        shop = acme.business()
        buyer = shop.customer()
        assert shop.invoice(buyer)["invoice_number"] == "INV-000001"
        assert shop.invoice(buyer, invoice_number="INV-000005")["invoice_number"] == "INV-000005"
        assert shop.invoice(buyer)["invoice_number"] == "INV-000006"
        # Behind the series, or written in another way, it moves nothing.
        shop.invoice(buyer, invoice_number="INV-000003")
        shop.invoice(buyer, invoice_number="INV-99")
        shop.made("invoices/", body(buyer, invoice_number="INV-000008"))
        assert shop.invoice(buyer)["invoice_number"] == "INV-000009"


class TestRefusalsOfCreateInvoice:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"line_items": []}, "line_items"),
            ({"line_items": [line(quantity=0)]}, "line_items.0.quantity"),
            ({"line_items": [line(quantity=-1)]}, "line_items.0.quantity"),
            ({"line_items": [line(quantity="1.0000001")]}, "line_items.0.quantity"),
            ({"line_items": [line(discount_amount=-1)]}, "line_items.0.discount_amount"),
            ({"line_items": [line(tax_rate=101)]}, "line_items.0.tax_rate"),
            (
                {"line_items": [line(tax_rate=20, sales_taxes=[{"amount": 1}])]},
                "line_items.0.tax_rate",
            ),
            (
                {"line_items": [line(), line(sales_taxes=[{"amount": -1}])]},
                "line_items.1.sales_taxes.0.amount",
            ),
            ({"additional_discount": -1}, "additional_discount"),
            ({"customer_id": "7"}, "customer_id"),
            ({"customer_id": None}, "customer_id"),
            ({"sent_at": "yesterday"}, "sent_at"),
            ({"status": "paid"}, "status"),
        ],
    )
    def test_a_malformed_body_names_its_fields(
        self, shop: Business, ledger: Ledger, buyer: Record, facts: Record, field: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post("invoices/", json={**body(buyer), **facts})
        assert answer.status_code == 400
        assert answer.json()["error_code"] == "validation_error"
        assert field in answer.json()["detail"]["field_errors"]

    def test_neither_name_of_a_customer_is_refused(self, shop: Business, ledger: Ledger) -> None:
        with ledger.untouched():
            answer = shop.api.post("invoices/", json={"line_items": [line()]})
        assert answer.status_code == 400
        assert "customer_id" in answer.json()["detail"]["field_errors"]

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"currency": "EUR"}, "currency_mismatch"),
            ({"line_items": [line(100, discount_amount=101)]}, "negative_amount"),
            ({"line_items": [line(-1)]}, "negative_amount"),
            ({"additional_discount": 1_001}, "negative_amount"),
            ({"line_items": [line(99_999_999_999_999, 2)]}, "amount_too_large"),
            ({"line_items": [line(99_999_999_999_999), line(1)]}, "amount_too_large"),
            ({"line_items": [line(99_999_999_999_999, tax_rate=1)]}, "amount_too_large"),
            ({"customer_id": NOBODY}, "reference_not_found"),
            ({"customer_external_id": "somebody else"}, "reference_mismatch"),
            (
                {"line_items": [line(account_identifier={"type": "AccountCode", "code": "1200"})]},
                "control_account",
            ),
            (
                {"line_items": [line(account_identifier={"type": "AccountCode", "code": "9999"})]},
                "reference_not_found",
            ),
            (
                {
                    "line_items": [
                        line(
                            sales_taxes=[
                                {
                                    "amount": 1,
                                    "tax_account": {"type": "AccountCode", "code": "2000"},
                                }
                            ]
                        )
                    ]
                },
                "control_account",
            ),
        ],
    )
    def test_a_broken_rule_is_refused_and_nothing_is_kept(
        self, shop: Business, ledger: Ledger, buyer: Record, facts: Record, code: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post("invoices/", json={**body(buyer, sent_at=SENT), **facts})
        assert answer.status_code == 422
        assert answer.json()["error_code"] == code

    def test_a_customer_of_another_business_does_not_exist_here(
        self, shop: Business, ledger: Ledger, rival: Partnership
    ) -> None:
        foreign = rival.business().customer()
        with ledger.untouched():
            answer = shop.api.post("invoices/", json=body(foreign))
        assert answer.status_code == 422
        assert answer.json()["error_code"] == "reference_not_found"

    def test_an_archived_customer_takes_no_invoice(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        with ledger.untouched():
            answer = shop.api.post("invoices/", json=body(gone))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "customer_archived")

    def test_an_archived_account_takes_no_line(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        shop.made(
            "general-ledger/chart-of-accounts/",
            {
                "code": "4990",
                "name": "Old income",
                "account_type": "revenue",
                "account_subtype": "revenue",
            },
        )
        shop.api.delete("general-ledger/chart-of-accounts/4990/")
        named = line(account_identifier={"type": "AccountCode", "code": "4990"})
        with ledger.untouched():
            answer = shop.api.post("invoices/", json=body(buyer, named))
        assert (answer.status_code, answer.json()["error_code"]) == (409, "account_archived")

    def test_a_number_is_taken_once(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        shop.made("invoices/", body(buyer, invoice_number="A-1"))
        with ledger.untouched():
            answer = shop.api.post(
                "invoices/", json=body(buyer, invoice_number="A-1", sent_at=SENT)
            )
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "duplicate_invoice_number"

    def test_nothing_is_sent_into_a_locked_period(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            with ledger.untouched():
                answer = shop.api.post(
                    "invoices/", json=body(buyer, sent_at="2025-03-31T23:59:59Z")
                )
            draft = shop.made("invoices/", body(buyer, issue_date="2025-03-31"))
            after = shop.invoice(buyer, sent_at="2025-04-01T00:00:00Z")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
        assert answer.json()["detail"]["lock_date"] == "2025-03-31"
        assert (draft["status"], after["status"]) == ("draft", "sent")
