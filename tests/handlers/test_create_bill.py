"""create_bill: what it takes, what it makes of it, and what stands in the journal then."""

from typing import Any
from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.handlers.bodies import NOBODY, Record, line
from tests.handlers.buying import BILLED, BILLS, RECEIVED, received
from tests.handlers.buying import bill_body as body
from tests.partnership import Business, Partnership

CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


class TestCreateBill:
    def test_a_draft_shows_what_was_given_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = {
            "external_id": "draft-1",
            "vendor_bill_number": "GBI-2201",
            "bill_date": BILLED,
            "due_at": "2025-04-01T12:00:00Z",
            "terms": "30 days net",
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
        answer = shop.api.post(BILLS, json=body(vendor, told, **given))
        assert answer.status_code == 201
        made = answer.json()
        assert {name: made[name] for name in given} == given
        assert made["tags"] == ["blue", "door"]
        assert (made["type"], made["status"]) == ("Bill", "draft")
        assert (made["business_id"], made["currency"]) == (shop.id, "GBP")
        assert made["bill_number"] is made["received_at"] is made["paid_at"] is None
        assert made["vendor_id"] == made["vendor"]["id"] == vendor["id"]
        assert made["vendor"]["name"] == "Raw Coffee Traders"
        [shown] = made["line_items"]
        assert {name: shown[name] for name in told} == told
        nothing = ("bill_payment_allocations", "vendor_credit_allocations")
        assert [made[name] for name in (*nothing, "vendor_refund_allocations")] == [[], [], []]
        assert answer.headers["location"].endswith(f"/bills/{made['id']}/")
        assert ledger.entries(made) == []
        assert shop.api.get(f"{BILLS}{made['id']}/").json() == made

    def test_a_received_one_takes_a_number_and_is_posted_on_its_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = received(shop, vendor, 10_000)
        assert (made["status"], made["received_at"]) == ("received", RECEIVED)
        assert made["outstanding_balance"] == made["total_amount"] == 10_000
        assert made["bill_number"].startswith("BILL-0000")
        [entry] = ledger.entries(made)
        assert (entry.on, entry.amounts) == (BILLED, {"6000": 10_000, "2000": -10_000})
        assert (entry.source_type, entry.reference) == ("bill", made["bill_number"])
        assert entry.description == "Bill from Raw Coffee Traders"

    def test_one_without_a_date_is_posted_on_the_day_it_was_received(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        late = body(vendor, received_at="2025-03-03T23:30:00-05:00")
        made = shop.made(BILLS, late)
        assert (made["bill_date"], made["received_at"]) == (None, "2025-03-04T04:30:00Z")
        assert [entry.on for entry in ledger.entries(made)] == ["2025-03-04"]

    def test_a_date_after_its_receipt_is_its_day_all_the_same(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = received(shop, vendor, 70, bill_date="2025-03-20")
        assert [entry.on for entry in ledger.entries(made)] == ["2025-03-20"]

    def test_discounts_lessen_the_cost_and_taxes_are_recoverable(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        # As on an invoice, but that the discount on the whole has no account of its own.
        lines = (
            line(1_000, 2, discount_amount=100, tax_rate=20),
            line(333, "1.5", tax_rate="20", account_identifier=account("5000")),
            line(500, sales_taxes=[{"amount": 25}]),
        )
        given = {"additional_discount": 90, "bill_date": BILLED, "received_at": RECEIVED}
        made = shop.made(BILLS, body(vendor, *lines, **given))
        assert [each["subtotal"] for each in made["line_items"]] == [1_900, 500, 500]
        assert (made["subtotal"], made["discount_total"], made["tax_total"]) == (2_900, 190, 490)
        assert made["total_amount"] == 2_900 - 90 + 490
        [entry] = ledger.entries(made)
        # 90 over 1900, 500 and 500 is 58.97, 15.52 and 15.52: 59, 16 and 15.
        assert entry.amounts == {
            **{"6000": 1_900 - 59 + 500 - 15, "5000": 500 - 16},
            **{"1300": 490, "2000": -3_300},
        }

    def test_lines_and_taxes_go_to_the_accounts_they_name(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        inventory = shop.api.get(f"{CHART}1500/").json()
        lines = (
            line(100, account_identifier={"type": "AccountId", "id": inventory["id"]}),
            line(200, account_identifier=account("6200")),
            line(
                400,
                sales_taxes=[{"amount": 7, "tax_account": account("1400")}, {"amount": 8}],
            ),
        )
        made = shop.made(BILLS, body(vendor, *lines, received_at=RECEIVED))
        assert made["line_items"][0]["account_identifier"]["id"] == inventory["id"]
        [entry] = ledger.entries(made)
        assert entry.amounts == {
            **{"1500": 100, "6200": 200, "6000": 400},
            **{"1400": 7, "1300": 8, "2000": -715},
        }

    def test_a_total_of_nothing_posts_nothing_and_is_paid_on_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = {"bill_date": BILLED, "received_at": RECEIVED}
        made = shop.made(BILLS, body(vendor, line(700), additional_discount=700, **given))
        assert (made["status"], made["total_amount"]) == ("paid", 0)
        assert made["paid_at"] == f"{BILLED}T00:00:00Z"
        assert ledger.entries(made) == []

    def test_it_is_due_after_the_vendors_terms_unless_it_says_when(self, shop: Business) -> None:
        patient = shop.vendor(payment_terms_days=30)
        assert received(shop, patient)["due_at"] == "2025-03-31T09:00:00Z"
        undated = shop.made(BILLS, body(patient, received_at=RECEIVED))
        assert undated["due_at"] == "2025-04-02T09:00:00Z"
        told = received(shop, patient, due_at="2025-03-05T00:00:00Z")
        assert told["due_at"] == "2025-03-05T00:00:00Z"
        assert (told["status"], told["is_overdue"]) == ("overdue", True)

    @pytest.mark.parametrize(
        "wrong",
        [
            {"memo": "other", "line_items": [line(999)]},
            {"vendor_id": NOBODY},
            {"vendor_id": None, "vendor_external_id": "never seen before"},
            {"currency": "EUR"},
        ],
    )
    def test_a_known_external_id_answers_the_bill_unchanged(
        self, shop: Business, ledger: Ledger, vendor: Record, wrong: Record
    ) -> None:
        name = f"order-{sorted(wrong)}"
        first = received(shop, vendor, 300, external_id=name)
        given = {**body(vendor, external_id=name), **wrong}
        with ledger.untouched():
            again = shop.api.post(
                BILLS, json={name: value for name, value in given.items() if value}
            )
        assert (again.status_code, again.json()) == (200, first)
        assert again.headers["etag"] == '"1"'

    def test_an_unknown_vendor_is_made_on_the_way(self, shop: Business, ledger: Ledger) -> None:
        named = {"vendor_external_id": "vend-77", "line_items": [line()]}
        made = shop.made(BILLS, named)
        assert made["vendor"]["external_id"] == made["vendor"]["name"] == "vend-77"
        assert shop.made(BILLS, named)["vendor_id"] == made["vendor_id"]
        both = {**named, "vendor_id": made["vendor_id"]}
        assert shop.made(BILLS, both)["vendor"] == made["vendor"]
        assert shop.api.get(f"vendors/{made['vendor_id']}/").json()["status"] == "ACTIVE"

    def test_numbers_run_and_one_in_the_series_own_form_moves_them(self, acme: Partnership) -> None:
        shop = acme.business()
        vendor = shop.vendor()

        def number(**facts: Any) -> str:
            made: str = received(shop, vendor, **facts)["bill_number"]
            return made

        assert [number(), number()] == ["BILL-000001", "BILL-000002"]
        assert number(bill_number="BILL-000007") == "BILL-000007"
        assert number(bill_number="2025/17") == "2025/17"
        assert [number(), number(bill_number="BILL-000003")] == ["BILL-000008", "BILL-000003"]
        shop.made(BILLS, body(vendor, bill_number="BILL-000010"))
        assert number() == "BILL-000011"

    def test_the_vendor_owes_what_its_received_bills_come_to(self, shop: Business) -> None:
        other = shop.vendor()
        received(shop, other, 500)
        received(shop, other, 300)
        shop.made(BILLS, body(other))
        assert shop.api.get(f"vendors/{other['id']}/").json()["outstanding_balance"] == 800

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        given = body(vendor, bill_date=BILLED, received_at=RECEIVED)
        with ledger.untouched():
            seen = shop.api.post(f"{BILLS}?preview=true", json=given)
        made, shown = shop.made(BILLS, given), seen.json()
        [entry] = shown.pop("journal_entries")
        moving = {"id", "line_items", "created_at", "updated_at", "bill_number"}
        assert seen.status_code == 200
        assert {name: shown[name] for name in set(made) - moving} == {
            name: made[name] for name in set(made) - moving
        }
        assert (shown["bill_number"], entry["sequence_number"]) == (None, None)
        assert entry["entry_date"] == BILLED
        assert [each["account_code"] for each in entry["lines"]] == ["6000", "2000"]

    def test_the_same_key_answers_the_same_bytes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        first = shop.api.post(BILLS, json=body(vendor), headers=key)
        with ledger.untouched():
            again = shop.api.post(BILLS, json=body(vendor), headers=key)
            other = shop.api.post(BILLS, json=body(vendor, memo="x"), headers=key)
        assert (again.status_code, again.content) == (201, first.content)
        assert (other.status_code, other.json()["error_code"]) == (422, "idempotency_key_reused")


class TestRefusalsOfCreateBill:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"line_items": []}, "line_items"),
            ({"line_items": [line(quantity="1.0000001")]}, "line_items.0.quantity"),
            ({"line_items": [line(), line(discount_amount=-1)]}, "line_items.1.discount_amount"),
            ({"line_items": [line(tax_rate=20, sales_taxes=[{"amount": 1}])]},
             "line_items.0.tax_rate"),
            ({"additional_discount": -1}, "additional_discount"),
            ({"vendor_id": "7"}, "vendor_id"),
            ({"bill_date": "2025-02-30"}, "bill_date"),
            ({"received_at": "yesterday"}, "received_at"),
            ({"terms": "x" * 101}, "terms"),
            ({"vendor_bill_number": ""}, "vendor_bill_number"),
            ({"sent_at": RECEIVED}, "sent_at"),
            ({"payments": []}, "payments"),
        ],
    )  # fmt: skip
    def test_a_malformed_body_names_its_fields(
        self, shop: Business, ledger: Ledger, vendor: Record, facts: Record, field: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(BILLS, json={**body(vendor), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert field in answer.json()["detail"]["field_errors"]

    def test_neither_name_of_a_vendor_is_refused(self, shop: Business, ledger: Ledger) -> None:
        with ledger.untouched():
            answer = shop.api.post(BILLS, json={"line_items": [line()]})
        assert answer.status_code == 400
        assert "vendor_id" in answer.json()["detail"]["field_errors"]

    def test_a_bill_of_the_same_vendor_comes_once(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first = received(shop, vendor, vendor_bill_number="GBI-7")
        for given in (
            body(vendor, vendor_bill_number="GBI-7"),
            body(vendor, vendor_bill_number="GBI-7", received_at=RECEIVED),
            body(shop.vendor(), bill_number=first["bill_number"]),
        ):
            with ledger.untouched():
                answer = shop.api.post(BILLS, json=given)
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "duplicate_bill_number"
        # Another vendor may count alike, and one without a number is told by nothing.
        assert received(shop, shop.vendor(), vendor_bill_number="GBI-7")["status"] == "received"
        assert received(shop, vendor)["vendor_bill_number"] is None
        shop.api.post(f"{BILLS}{first['id']}/void/")
        assert received(shop, vendor, vendor_bill_number="GBI-7")["status"] == "received"

    def test_nothing_is_received_into_a_locked_period(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            for facts in (
                {"received_at": "2025-03-31T23:59:59Z"},
                {"received_at": "2025-04-02T09:00:00Z", "bill_date": "2025-03-31"},
            ):
                with ledger.untouched():
                    answer = shop.api.post(BILLS, json=body(vendor, **facts))
                assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
                assert answer.json()["detail"]["date"] == "2025-03-31"
            draft = shop.made(BILLS, body(vendor, bill_date="2025-03-31"))
            after = received(shop, vendor, received_at="2025-03-30T09:00:00Z",
                             bill_date="2025-04-01")  # fmt: skip
        assert (draft["status"], after["status"]) == ("draft", "received")
