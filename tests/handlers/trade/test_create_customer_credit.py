"""create_customer_credit: what a credit comes to, when it is posted, and what it settles."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import credit_body, credited, invoice_body, sent, share
from tests.builders.trade import CREDITED, NOBODY, SENT, Record, line
from tests.handlers.promises import keeps_its_key
from tests.partner import Business, Partner

CREDITS = "customer-credits/"
AT = f"{CREDITED}T09:00:00Z"
CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


class TestCreateCustomerCredit:
    def test_it_shows_everything_that_was_given(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 5_000)
        returns = shop.api.get(f"{CHART}4100/").json()["id"]
        first = {
            "amount": 3_000,
            "tax_amount_cents": 600,
            "revenue_account_identifier": {"type": "AccountId", "id": returns},
            "memo": "House blend",
            "tags": ["returns"],
            "metadata": {"bags": [1, 2]},
        }
        given = {
            "external_id": "credit-1",
            "credit_note_number": "Gutschrift 7",
            "sent_at": AT,
            "source_invoice_id": invoice["id"],
            "currency": "GBP",
            "memo": "Three bags sent back",
            "tags": ["wholesale", "north"],
            "metadata": {"deep": {"er": [1]}},
        }
        body = credit_body(buyer, first, {"amount": 400}, **given)
        answer = shop.api.post(CREDITS, json={**body, "allocations": [share(invoice, 1_500)]})
        credit = answer.json()
        assert answer.status_code == 201, answer.text
        assert {name: credit[name] for name in given} == given
        assert credit["business_id"] == shop.id
        assert credit["customer_id"] == credit["customer"]["id"] == buyer["id"]
        assert credit["customer"]["name"] == "Blue Door Bakery"
        shown, plain = credit["line_items"]
        assert shown == {**first, "id": shown["id"]}
        assert plain == {
            "id": plain["id"],
            "amount": 400,
            "tax_amount_cents": 0,
            "revenue_account_identifier": {"type": "AccountId", "id": returns},
            "memo": None,
            "tags": [],
            "metadata": None,
        }
        amounts = {
            "tax_total": 600,
            "total_amount": 4_000,
            "applied_amount": 1_500,
            "unapplied_amount": 2_500,
            "status": "partially_applied",
            "voided_at": None,
            "document": None,
        }
        assert {name: credit[name] for name in amounts} == amounts
        assert credit["allocations"] == [
            {
                "invoice_id": invoice["id"],
                "invoice_number": invoice["invoice_number"],
                "amount_cents": 1_500,
                "invoice_outstanding_balance_cents": 3_500,
                "applied_at": f"{CREDITED}T00:00:00Z",
            }
        ]
        assert answer.headers["location"].endswith(f"/{CREDITS}{credit['id']}/")
        read = shop.api.get(f"{CREDITS}{credit['id']}/")
        assert (read.json(), read.headers["etag"]) == (credit, answer.headers["etag"])

    def test_it_takes_back_the_accounts_of_its_lines_and_the_tax(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        sales = shop.api.get(f"{CHART}4000/").json()["id"]
        lines = (
            {"amount": 1_000, "tax_amount_cents": 200},
            {
                "amount": 300,
                "revenue_account_identifier": {"type": "AccountId", "id": sales},
                "tax_amount_cents": 60,
            },
            {"amount": 50, "revenue_account_identifier": account("4500")},
            {"amount": 7, "revenue_account_identifier": account("4100")},
        )
        credit = shop.made(CREDITS, credit_body(buyer, *lines, sent_at=AT))
        assert (credit["tax_total"], credit["total_amount"]) == (260, 1_617)
        [entry] = ledger.entries(credit)
        assert dict(entry.lines) == {
            "4100": 1_007,
            "4000": 300,
            "4500": 50,
            "2200": 260,
            "2250": -1_617,
        }
        assert len(entry.lines) == 5
        assert (entry.on, entry.source_type) == (CREDITED, "customer_credit")
        assert (entry.reference, entry.reversal_of) == (credit["credit_note_number"], None)
        assert entry.description == "Credit note to Blue Door Bakery"

    def test_a_draft_has_no_number_and_is_not_in_the_ledger(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = len(ledger.entries())
        draft = shop.made(CREDITS, credit_body(buyer, allocations=[]))
        assert (draft["status"], draft["sent_at"], draft["credit_note_number"]) == (
            "draft",
            None,
            None,
        )
        assert (draft["applied_amount"], draft["unapplied_amount"]) == (0, 0)
        assert len(ledger.entries()) == before
        named = shop.made(CREDITS, credit_body(buyer, credit_note_number="Mine-1"))
        assert (named["status"], named["credit_note_number"]) == ("draft", "Mine-1")

    def test_numbers_run_and_one_in_the_series_own_form_moves_them(self, acme: Partner) -> None:
        shop = acme.business()
        buyer = shop.customer()

        def number(**facts: str) -> str:
            made: str = credited(shop, buyer, 10, **facts)["credit_note_number"]
            return made

        assert [number(), number()] == ["CN-000001", "CN-000002"]
        assert number(credit_note_number="CN-000007") == "CN-000007"
        assert number(credit_note_number="2025/9") == "2025/9"
        assert number() == "CN-000008"
        shop.made(CREDITS, credit_body(buyer, credit_note_number="CN-000010"))
        assert [number(), number(credit_note_number="CN-000009")] == ["CN-000011", "CN-000009"]
        assert number() == "CN-000012"
        assert sent(shop, buyer)["invoice_number"] == "INV-000001"

    @pytest.mark.parametrize(
        ("amount", "status", "left"),
        [(0, "sent", 900), (300, "partially_applied", 600), (900, "applied", 0)],
    )
    def test_what_it_settles_decides_its_status(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        amount: int,
        status: str,
        left: int,
    ) -> None:
        shares = [share(sent(shop, buyer, 1_000), amount)] if amount else []
        credit = credited(shop, buyer, 900, *shares)
        assert (credit["status"], credit["applied_amount"]) == (status, amount)
        assert credit["unapplied_amount"] == left

    def test_what_it_settles_is_an_entry_of_its_own_on_its_day(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first, second = sent(shop, buyer, 1_000), sent(shop, buyer, 500)
        credit = credited(shop, buyer, 1_200, share(first, 600), share(second, 500))
        main, applied = ledger.entries(credit)
        assert (main.on, main.amounts) == (CREDITED, {"4100": 1_200, "2250": -1_200})
        assert (applied.on, applied.amounts) == (CREDITED, {"2250": 1_100, "1200": -1_100})
        assert applied.description == "Credit note to Blue Door Bakery, applied"
        assert applied.reference == credit["credit_note_number"]
        assert sorted(applied.lines) == [("1200", -600), ("1200", -500), ("2250", 1_100)]
        shown = shop.api.get(f"invoices/{second['id']}/").json()
        assert (shown["status"], shown["outstanding_balance"]) == ("paid", 0)
        assert shown["paid_at"] == f"{CREDITED}T00:00:00Z"
        assert shown["credit_allocations"] == [
            {
                "credit_note_id": credit["id"],
                "applied_at": f"{CREDITED}T00:00:00Z",
                "amount_cents": 500,
            }
        ]

    def test_it_settles_no_invoice_before_the_invoice_is_there(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        later = sent(shop, buyer, 300, sent_at="2025-04-02T09:00:00Z")
        credit = credited(shop, buyer, 300, share(sent(shop, buyer, 100), 100), share(later, 200))
        assert ledger.postings(credit) == [
            (CREDITED, {"4100": 300, "2250": -300}),
            (CREDITED, {"2250": 100, "1200": -100}),
            ("2025-04-02", {"2250": 200, "1200": -200}),
        ]
        days = [each["applied_at"][:10] for each in credit["allocations"]]
        assert days == [CREDITED, "2025-04-02"]

    def test_a_moment_is_told_by_its_day_in_utc(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        credit = credited(shop, buyer, 5, sent_at="2025-03-06T01:30:00+02:00")
        assert credit["sent_at"] == "2025-03-05T23:30:00Z"
        assert [entry.on for entry in ledger.entries(credit)] == [CREDITED]

    def test_it_settles_parts_of_both_in_proportion(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        invoice = shop.made("invoices/", invoice_body(buyer, taxed, sent_at=SENT))
        body = credit_body(buyer, {"amount": 600, "tax_amount_cents": 120}, sent_at=AT)
        credit = shop.made(CREDITS, {**body, "allocations": [share(invoice, 333)]})
        splits = ledger.ask(
            "SELECT l.settles_id::text, l.split FROM journal_line l"
            " WHERE l.business_id = %(business)s AND l.settles_id IN (%(invoice)s, %(credit)s)",
            invoice=invoice["id"],
            credit=credit["id"],
        )
        held = {id_: sorted(amount for _, amount in split) for id_, split in splits}
        # Of 8333 and 1667, 333 takes 277 and 56; of 600 and 120 it takes 278 and 55.
        assert held == {invoice["id"]: [-277, -56], credit["id"]: [55, 278]}

    def test_its_source_tells_where_it_comes_from_and_settles_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 500)
        credit = credited(shop, buyer, 500, source_invoice_id=invoice["id"])
        assert (credit["source_invoice_id"], credit["allocations"]) == (invoice["id"], [])
        assert shop.api.get(f"invoices/{invoice['id']}/").json() == invoice

    def test_a_draft_invoice_that_it_names_is_not_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        draft = shop.made("invoices/", invoice_body(buyer))
        credited(shop, buyer, 5, source_invoice_id=draft["id"])
        with ledger.untouched():
            answer = shop.api.delete(f"invoices/{draft['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "invoice_has_allocations")

    def test_an_unknown_customer_is_made_on_the_way(self, shop: Business, ledger: Ledger) -> None:
        body = credit_body({"id": None}, sent_at=AT, customer_external_id="sent-it-back")
        del body["customer_id"]
        first, second = shop.made(CREDITS, body), shop.made(CREDITS, body)
        assert first["customer"]["name"] == first["customer"]["external_id"] == "sent-it-back"
        assert second["customer_id"] == first["customer_id"]
        both = {**body, "customer_id": first["customer_id"]}
        assert shop.made(CREDITS, both)["customer_id"] == first["customer_id"]

    def test_a_known_external_id_answers_the_credit_unchanged(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        first = credited(shop, buyer, 90, share(invoice, 60), external_id="known")
        for body in (
            credit_body(buyer, external_id="known"),
            credit_body(buyer, external_id="known", customer_id=NOBODY, sent_at=AT),
            credit_body(buyer, external_id="known", allocations=[share({"id": NOBODY}, 1)]),
            credit_body(buyer, external_id="known", source_invoice_id=NOBODY),
        ):
            with ledger.untouched():
                again = shop.api.post(CREDITS, json=body)
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_the_same_key_answers_the_same_bytes(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        keeps_its_key(shop, ledger, CREDITS, credit_body(buyer, sent_at=AT), memo="x")

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        body = credit_body(buyer, sent_at=AT, allocations=[share(invoice, 70)])
        with ledger.untouched():
            seen = shop.api.post(f"{CREDITS}?preview=true", json=body)
        made, shown = shop.made(CREDITS, body), seen.json()
        assert (seen.status_code, "location" in seen.headers) == (200, False)
        moving = {"id", "line_items", "created_at", "updated_at", "credit_note_number"}
        main, applied = shown.pop("journal_entries")
        assert {name: shown[name] for name in set(made) - moving} == {
            name: made[name] for name in set(made) - moving
        }
        assert shown["credit_note_number"] is None
        assert {main["source_id"], applied["source_id"]} == {shown["id"]}
        assert (main["sequence_number"], applied["sequence_number"]) == (None, None)
        codes = [[each["account_code"] for each in entry["lines"]] for entry in (main, applied)]
        assert codes == [["4100", "2250"], ["2250", "1200"]]

    def test_a_preview_makes_no_customer_either(self, shop: Business, ledger: Ledger) -> None:
        body = credit_body({"id": None}, sent_at=AT, customer_external_id="only-looking")
        del body["customer_id"]
        with ledger.untouched():
            seen = shop.api.post(f"{CREDITS}?preview=true", json=body).json()
        assert seen["customer"]["external_id"] == "only-looking"

    def test_an_archived_account_of_a_draft_is_active_again_when_it_is_sent(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        new = {"code": "4190", "name": "Old returns", "account_type": "revenue"}
        shop.made(CHART, {**new, "account_subtype": "revenue"})
        named = {"amount": 20, "revenue_account_identifier": account("4190")}
        draft = shop.made(CREDITS, credit_body(buyer, named))
        assert shop.api.delete(f"{CHART}4190/").status_code == 200
        shop.api.put(f"{CREDITS}{draft['id']}/", json={"sent_at": AT})
        assert shop.api.get(f"{CHART}4190/").json()["is_active"] is True
        assert ledger.postings(draft) == [(CREDITED, {"4190": 20, "2250": -20})]


class TestRefusalsOfCreateCustomerCredit:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"line_items": []}, "line_items"),
            ({"line_items": [{"amount": 0}]}, "line_items.0.amount"),
            ({"line_items": [{"amount": -1}]}, "line_items.0.amount"),
            ({"line_items": [{"amount": 1.5}]}, "line_items.0.amount"),
            ({"line_items": [{}]}, "line_items.0.amount"),
            ({"line_items": [{"amount": 1, "tax_amount_cents": -1}]},
             "line_items.0.tax_amount_cents"),
            ({"line_items": [{"amount": 1, "quantity": 1}]}, "line_items.0.quantity"),
            ({"line_items": [{"amount": 1, "revenue_account_identifier": {"type": "AccountId"}}]},
             "line_items.0.revenue_account_identifier.type"),
            ({"line_items": [{"amount": 1}] * 501}, "line_items"),
            ({"customer_id": None}, "customer_id"),
            ({"customer_id": "seven"}, "customer_id"),
            ({"sent_at": "2025-03-05"}, "sent_at"),
            ({"currency": "XXX"}, "currency"),
            ({"external_id": ""}, "external_id"),
            ({"external_id": "x" * 256}, "external_id"),
            ({"credit_note_number": ""}, "credit_note_number"),
            ({"allocations": [{"invoice_id": NOBODY, "amount": 0}]}, "allocations.0.amount"),
            ({"allocations": [{"invoice_id": NOBODY, "amount_cents": 1}]},
             "allocations.0.amount_cents"),
            ({"status": "sent"}, "status"),
            ({"total_amount": 1_000}, "total_amount"),
        ],
    )  # fmt: skip
    def test_what_the_request_alone_shows_to_be_wrong(
        self, shop: Business, ledger: Ledger, buyer: Record, facts: Record, field: str
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(CREDITS, json={**credit_body(buyer, sent_at=AT), **facts})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert field in answer.json()["detail"]["field_errors"]

    def test_neither_name_of_a_customer_is_refused(self, shop: Business, ledger: Ledger) -> None:
        with ledger.untouched():
            answer = shop.api.post(CREDITS, json={"line_items": [{"amount": 1}]})
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == ["customer_id"]

    @pytest.mark.parametrize("given", [{}, {"sent_at": AT}])
    def test_a_number_is_taken_once(
        self, shop: Business, ledger: Ledger, buyer: Record, given: Record
    ) -> None:
        number = f"Taken-{uuid4()}"
        shop.made(CREDITS, credit_body(buyer, credit_note_number=number))
        with ledger.untouched():
            body = credit_body(buyer, credit_note_number=number, **given)
            answer = shop.api.post(CREDITS, json=body)
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "duplicate_credit_note_number"
