"""create_vendor_credit: what a credit comes to, when it is posted, and what it settles."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    bill_body,
    received,
    share,
    status_of,
    vendor_credit_body,
    vendor_credited,
)
from tests.builders.sales import credited
from tests.builders.trade import CREDITED, CREDITED_AT, NOBODY, RECEIVED, Record, line, read
from tests.handlers.promises import keeps_its_key
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


class TestCreateVendorCredit:
    def test_it_shows_everything_that_was_given(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 5_000)
        returns = shop.api.get(f"{CHART}5100/").json()["id"]
        first = {
            "amount": 3_000,
            "tax_amount_cents": 600,
            "expense_account_identifier": {"type": "AccountId", "id": returns},
            "memo": "Two bags",
            "tags": ["returns"],
            "metadata": {"bags": [1, 2]},
        }
        given = {
            "external_id": "credit-1",
            "vendor_credit_number": "Gutschrift 7",
            "received_at": CREDITED_AT,
            "source_bill_id": bill["id"],
            "currency": "GBP",
            "memo": "Wet",
            "tags": ["wholesale", "north"],
            "metadata": {"deep": {"er": [1]}},
        }
        body = vendor_credit_body(vendor, first, {"amount": 400}, **given)
        answer = shop.api.post(CREDITS, json={**body, "allocations": [share(bill, 1_500)]})
        credit = answer.json()
        assert answer.status_code == 201, answer.text
        assert {name: credit[name] for name in given} == given
        assert credit["vendor_id"] == credit["vendor"]["id"] == vendor["id"]
        shown, plain = credit["line_items"]
        assert shown == {**first, "id": shown["id"]}
        assert plain["expense_account_identifier"] == {"type": "AccountId", "id": returns}
        amounts = {
            "business_id": shop.id,
            "tax_total": 600,
            "total_amount": 4_000,
            "applied_amount": 1_500,
            "unapplied_amount": 2_500,
            "status": "partially_applied",
            "source_refund_id": None,
            "voided_at": None,
            "document": None,
        }
        assert {name: credit[name] for name in amounts} == amounts
        assert credit["allocations"] == [
            {
                "bill_id": bill["id"],
                "bill_number": bill["bill_number"],
                "amount_cents": 1_500,
                "bill_outstanding_balance_cents": 3_500,
                "applied_at": f"{CREDITED}T00:00:00Z",
            }
        ]
        assert answer.headers["location"].endswith(f"/{CREDITS}{credit['id']}/")
        assert read(shop, CREDITS, credit) == credit

    def test_it_takes_back_the_accounts_of_its_lines_and_the_tax(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        lines = (
            {"amount": 1_000, "tax_amount_cents": 200},
            {"amount": 300, "expense_account_identifier": account("6000"), "tax_amount_cents": 60},
            {"amount": 7, "expense_account_identifier": account("5100")},
        )
        credit = shop.made(CREDITS, vendor_credit_body(vendor, *lines, received_at=CREDITED_AT))
        assert (credit["tax_total"], credit["total_amount"]) == (260, 1_567)
        [entry] = ledger.entries(credit)
        assert dict(entry.lines) == {"1260": 1_567, "5100": -1_007, "6000": -300, "1300": -260}
        assert (entry.on, entry.source_type) == (CREDITED, "vendor_credit")
        assert entry.reference == credit["vendor_credit_number"]
        assert entry.description == "Credit from Raw Coffee Traders"

    def test_a_draft_has_no_number_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft = shop.made(CREDITS, vendor_credit_body(vendor, allocations=[]))
        nothing = ("received_at", "vendor_credit_number", "voided_at")
        assert (draft["status"], [draft[name] for name in nothing]) == ("draft", [None] * 3)
        assert (draft["applied_amount"], draft["unapplied_amount"]) == (0, 0)
        assert ledger.entries(draft) == []

    def test_numbers_run_and_one_in_the_series_own_form_moves_them(self, acme: Partner) -> None:
        shop = acme.business()
        vendor = shop.vendor()

        def number(**facts: Any) -> str:
            made: str = vendor_credited(shop, vendor, 10, **facts)["vendor_credit_number"]
            return made

        assert [number(), number()] == ["VC-000001", "VC-000002"]
        assert number(vendor_credit_number="VC-000007") == "VC-000007"
        assert number(vendor_credit_number="2025/9") == "2025/9"
        assert number() == "VC-000008"
        assert received(shop, vendor)["bill_number"] == "BILL-000001"
        assert credited(shop, shop.customer(), 5)["credit_note_number"] == "CN-000001"

    @pytest.mark.parametrize(
        ("amount", "status", "left"),
        [(0, "received", 900), (300, "partially_applied", 600), (900, "applied", 0)],
    )
    def test_what_it_settles_decides_its_status(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        amount: int,
        status: str,
        left: int,
    ) -> None:
        shares = [share(received(shop, vendor, 1_000), amount)] if amount else []
        credit = vendor_credited(shop, vendor, 900, *shares)
        assert (credit["status"], credit["applied_amount"]) == (status, amount)
        assert credit["unapplied_amount"] == left

    def test_what_it_settles_is_an_entry_of_its_own_on_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first, second = received(shop, vendor, 1_000), received(shop, vendor, 500)
        credit = vendor_credited(shop, vendor, 1_200, share(first, 600), share(second, 500))
        main, applied = ledger.entries(credit)
        assert (main.on, main.amounts) == (CREDITED, {"1260": 1_200, "5100": -1_200})
        assert (applied.on, applied.amounts) == (CREDITED, {"2000": 1_100, "1260": -1_100})
        assert applied.description == "Credit from Raw Coffee Traders, applied"
        assert sorted(applied.lines) == [("1260", -1_100), ("2000", 500), ("2000", 600)]
        assert status_of(shop, first) == ("partially_paid", 400)
        assert status_of(shop, second) == ("paid", 0)
        assert read(shop, BILLS, second)["paid_at"] == f"{CREDITED}T00:00:00Z"

    def test_it_settles_no_bill_before_its_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        later = received(shop, vendor, 300, bill_date="2025-04-02")
        shares = share(received(shop, vendor, 100), 100), share(later, 200)
        credit = vendor_credited(shop, vendor, 300, *shares)
        assert ledger.postings(credit) == [
            (CREDITED, {"1260": 300, "5100": -300}),
            (CREDITED, {"2000": 100, "1260": -100}),
            ("2025-04-02", {"2000": 200, "1260": -200}),
        ]
        days = [each["applied_at"][:10] for each in credit["allocations"]]
        assert days == [CREDITED, "2025-04-02"]

    def test_it_settles_parts_of_both_in_proportion(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        bill = shop.made(BILLS, bill_body(vendor, taxed, received_at=RECEIVED))
        body = vendor_credit_body(
            vendor, {"amount": 600, "tax_amount_cents": 120}, received_at=CREDITED_AT
        )
        credit = shop.made(CREDITS, {**body, "allocations": [share(bill, 333)]})
        splits = ledger.ask(
            "SELECT l.settles_id::text, l.split FROM journal_line l"
            " WHERE l.business_id = %(business)s AND l.settles_id IN (%(bill)s, %(credit)s)",
            bill=bill["id"],
            credit=credit["id"],
        )
        held = {id_: sorted(amount for _, amount in split) for id_, split in splits}
        # Of 8333 and 1667, 333 takes 277 and 56; of 600 and 120 it takes 278 and 55.
        assert held == {bill["id"]: [56, 277], credit["id"]: [-278, -55]}

    def test_its_source_tells_where_it_comes_from_and_settles_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 500)
        credit = vendor_credited(shop, vendor, 500, source_bill_id=bill["id"])
        assert (credit["source_bill_id"], credit["allocations"]) == (bill["id"], [])
        assert read(shop, BILLS, bill) == bill

    def test_an_unknown_vendor_is_made_on_the_way(self, shop: Business, ledger: Ledger) -> None:
        body = vendor_credit_body(
            {"id": None}, received_at=CREDITED_AT, vendor_external_id="took-it-back"
        )
        del body["vendor_id"]
        first, second = shop.made(CREDITS, body), shop.made(CREDITS, body)
        assert first["vendor"]["name"] == first["vendor"]["external_id"] == "took-it-back"
        assert second["vendor_id"] == first["vendor_id"]

    def test_a_known_external_id_answers_the_credit_unchanged(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        first = vendor_credited(shop, vendor, 90, share(bill, 60), external_id="known")
        for body in (
            vendor_credit_body(vendor, external_id="known"),
            vendor_credit_body(vendor, external_id="known", vendor_id=NOBODY),
            vendor_credit_body(vendor, external_id="known", allocations=[share({"id": NOBODY}, 1)]),
            vendor_credit_body(vendor, external_id="known", source_bill_id=NOBODY),
        ):
            with ledger.untouched():
                again = shop.api.post(CREDITS, json=body)
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_the_same_key_answers_the_same_bytes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        body = vendor_credit_body(vendor, received_at=CREDITED_AT)
        keeps_its_key(shop, ledger, CREDITS, body, memo="x")

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        body = vendor_credit_body(vendor, received_at=CREDITED_AT, allocations=[share(bill, 70)])
        with ledger.untouched():
            seen = shop.api.post(f"{CREDITS}?preview=true", json=body)
        made, shown = shop.made(CREDITS, body), seen.json()
        main, applied = shown.pop("journal_entries")
        moving = {"id", "line_items", "created_at", "updated_at", "vendor_credit_number"}
        assert seen.status_code == 200
        assert {name: shown[name] for name in set(made) - moving} == {
            name: made[name] for name in set(made) - moving
        }
        assert shown["vendor_credit_number"] is None
        codes = [[each["account_code"] for each in entry["lines"]] for entry in (main, applied)]
        assert codes == [["1260", "5100"], ["2000", "1260"]]


class TestRefusalsOfCreateVendorCredit:
    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"line_items": []}, 400, "validation_error"),
            ({"line_items": [{"amount": 0}]}, 400, "validation_error"),
            ({"sent_at": CREDITED_AT}, 400, "validation_error"),
            ({"vendor_id": None}, 400, "validation_error"),
            ({"vendor_id": NOBODY}, 422, "reference_not_found"),
            ({"vendor_external_id": "somebody else"}, 422, "reference_mismatch"),
            ({"source_bill_id": NOBODY}, 422, "reference_not_found"),
            ({"allocations": [share({"id": NOBODY}, 1)]}, 422, "reference_not_found"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"line_items": [{"amount": 1, "expense_account_identifier": account("1260")}]},
             422, "control_account"),
            ({"line_items": [{"amount": 1, "expense_account_identifier": account("9999")}]},
             422, "reference_not_found"),
        ],
    )  # fmt: skip
    def test_it_refuses_and_keeps_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        body = {**vendor_credit_body(vendor, received_at=CREDITED_AT), **facts}
        with ledger.untouched():
            answer = shop.api.post(CREDITS, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_a_number_is_taken_once(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        vendor_credited(shop, vendor, 5, vendor_credit_number="A-1")
        body = vendor_credit_body(shop.vendor(), vendor_credit_number="A-1")
        with ledger.untouched():
            answer = shop.api.post(CREDITS, json=body)
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "duplicate_vendor_credit_number"

    def test_allocations_stay_within_both_sides(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        void, foreign = received(shop, vendor, 10), received(shop, shop.vendor(), 10)
        shop.api.post(f"{BILLS}{void['id']}/void/")
        bill, draft = received(shop, vendor, 100), shop.made(BILLS, bill_body(vendor))
        for shares, status, code in (
            ([share(bill, 101)], 422, "allocation_exceeds_outstanding"),
            ([share(bill, 100), share(received(shop, vendor, 1_000), 901)], 422,
             "allocation_exceeds_total"),
            ([share(bill, 1), share(bill, 1)], 400, "validation_error"),
            ([share(foreign, 1)], 422, "bill_vendor_mismatch"),
            ([share(void, 1)], 409, "bill_not_open"),
            ([share(draft, 1)], 409, "bill_not_open"),
        ):  # fmt: skip
            body = vendor_credit_body(vendor, received_at=CREDITED_AT, allocations=shares)
            with ledger.untouched():
                answer = shop.api.post(CREDITS, json=body)
            assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_a_draft_settles_nothing(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        body = vendor_credit_body(vendor, allocations=[share(received(shop, vendor), 1)])
        with ledger.untouched():
            answer = shop.api.post(CREDITS, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_not_sent")

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        with ledger.locked("2025-03-31"), ledger.untouched():
            answer = shop.api.post(
                CREDITS, json=vendor_credit_body(vendor, received_at=CREDITED_AT)
            )
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
