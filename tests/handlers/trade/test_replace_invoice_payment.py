"""replace_invoice_payment, and the three kinds of bodies that PUT and PATCH take alike."""

import json
from itertools import product
from typing import Any

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import PAYMENTS, paid, part, sent
from tests.builders.trade import NOBODY, PAID, Record
from tests.clock import today
from tests.partner import Business

FULL: Record = {
    "note": "a note",
    "payment_reference": "ours",
    "processor_reference": "theirs",
    "bank_reference": "the bank's",
    "references": {"till": "7"},
    "transaction_tags": ["one", "two"],
    "metadata": {"nested": {"list": [1, None, "x"]}},
}


def as_json(shop: Business, method: str, path: str, body: Record) -> httpx.Response:
    return shop.api.request(method, path, json=body)


def in_fields(body: Record) -> dict[str, Any]:
    """Nested values as JSON text, tags as a repeated field."""
    return {
        name: json.dumps(value) if name in ("allocations", "references", "metadata") else value
        for name, value in body.items()
    }


def as_form(shop: Business, method: str, path: str, body: Record) -> httpx.Response:
    return shop.api.request(method, path, data=in_fields(body))


def as_multipart(shop: Business, method: str, path: str, body: Record) -> httpx.Response:
    fields = [
        (name, (None, str(each)))
        for name, value in in_fields(body).items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return shop.api.request(method, path, files=fields)


class TestBodiesOfChanges:
    def test_json_form_and_multipart_come_to_the_same(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        results = []
        for method, send in product(("PUT", "PATCH"), (as_json, as_form, as_multipart)):
            first, second = sent(shop, buyer, 100), sent(shop, buyer, 100)
            payment = paid(shop, buyer, 150, part(first, 20), status="pending")
            body = {
                **FULL,
                "total_amount_cents": 190,
                "processing_fee_cents": 4,
                "payment_date": "2025-03-12",
                "payment_method": "credit_card",
                "status": "completed",
                "allocations": [part(first, 100), part(second, 80)],
            }
            answer = send(shop, method, f"{PAYMENTS}{payment['id']}/", body)
            assert answer.status_code == 200, answer.text
            shown = answer.json()["payment"]
            assert {name: shown[name] for name in FULL} == FULL
            results.append((facts_of(shown), ledger.postings(payment)))
            assert [each["invoice_id"] for each in shown["allocations"]] == [
                first["id"],
                second["id"],
            ]
        assert len(results) == 6
        assert all(each == results[0] for each in results)
        assert results[0][1] == [
            ("2025-03-12", {"1150": 190, "2100": -190}),
            ("2025-03-12", {"6100": 4, "1150": -4}),
            (str(today()), {"2100": 180, "1200": -180}),
        ]

    @pytest.mark.parametrize("send", [as_json, as_form, as_multipart])
    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"total_amount_cents": "ten"}, "total_amount_cents"),
            ({"allocations": [{"invoice_id": "x", "amount_cents": 1}]}, "allocations.0.invoice_id"),
            ({"references": {"till": 7}}, "references.till"),
            ({"references": {"k" * 16_384: "7"}}, "references"),
            ({"unheard_of": "1"}, "unheard_of"),
        ],
    )
    def test_each_kind_names_the_same_faulty_field(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        method: str,
        send: Any,
        body: Record,
        field: str,
    ) -> None:
        payment = paid(shop, buyer, 10)
        with ledger.untouched():
            answer = send(shop, method, f"{PAYMENTS}{payment['id']}/", body)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    @pytest.mark.parametrize("send", [as_json, as_form, as_multipart])
    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_each_kind_releases_with_an_empty_list(
        self, shop: Business, buyer: Record, method: str, send: Any
    ) -> None:
        payment = paid(shop, buyer, 10, part(sent(shop, buyer, 10), 10))
        answer = send(shop, method, f"{PAYMENTS}{payment['id']}/", {"allocations": []})
        assert answer.json()["payment"]["allocations"] == []

    @pytest.mark.parametrize("send", [as_json, as_form, as_multipart])
    @pytest.mark.parametrize(
        ("method", "kept"), [("PUT", {}), ("PATCH", {**FULL, "note": "another"})]
    )
    def test_each_kind_clears_or_keeps_what_it_leaves_out(
        self, shop: Business, buyer: Record, method: str, kept: Record, send: Any
    ) -> None:
        before = paid(shop, buyer, 100, **FULL)
        fixed = {"customer_id": buyer["id"], "currency": "GBP"}
        body = {"notes": "older", "note": "another", "status": "failed", **fixed}
        answer = send(shop, method, f"{PAYMENTS}{before['id']}/", body)
        cleared = {"transaction_tags": [], "metadata": {}, "references": {}}
        described = {**dict.fromkeys(FULL), **cleared, "note": "another", **kept}
        after = answer.json()["payment"]
        moved = {"status": "failed", "notes": "another", "updated_at": after["updated_at"]}
        assert after == {**before, **described, **moved}

    @pytest.mark.parametrize("send", [as_json, as_form, as_multipart])
    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"total_amount_cents": 99}, 422, "total_below_allocated"),
            ({"allocations": {"of": 101}}, 422, "allocation_exceeds_total"),
            ({"allocations": {"of": 201}, "total_amount_cents": 300}, 422,
             "allocation_exceeds_outstanding"),
            ({"allocations": {"of": 1}, "status": "cancelled"}, 409, "payment_not_live"),
            ({"customer_id": NOBODY}, 422, "immutable_field"),
            ({"currency": "EUR"}, 422, "immutable_field"),
            ({"payment_date": "2025-03-05"}, 409, "period_locked"),
        ],
    )  # fmt: skip
    def test_each_kind_is_refused_alike_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        method: str,
        send: Any,
        body: Record,
        status: int,
        code: str,
    ) -> None:
        invoice = sent(shop, buyer, 200)
        payment = paid(shop, buyer, 100, part(invoice, 100))
        if "allocations" in body:
            body = {**body, "allocations": [part(invoice, body["allocations"]["of"])]}
        with ledger.locked("2025-03-05"), ledger.untouched():
            answer = send(shop, method, f"{PAYMENTS}{payment['id']}/", body)
            assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_a_key_knows_a_request_again_in_another_kind(
        self, shop: Business, ledger: Ledger, buyer: Record, method: str
    ) -> None:
        path = f"{PAYMENTS}{paid(shop, buyer, 100)['id']}/"
        body = {"total_amount_cents": 120, "transaction_tags": ["a"], "references": {"till": "7"}}
        headers = {"Idempotency-Key": f"kinds of {method}"}
        first = shop.api.request(method, path, json=body, headers=headers)
        assert (first.status_code, first.headers["etag"]) == (200, '"2"')
        with ledger.untouched():
            again = shop.api.request(method, path, data=in_fields(body), headers=headers)
        assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")


def facts_of(payment: Record) -> Record:
    """What two payments that were changed alike have in common."""
    own = {"id", "created_at", "updated_at", "applied_invoices", "allocations"}
    shared = {name: value for name, value in payment.items() if name not in own}
    for name, amount in (
        ("applied_invoices", "applied_amount_cents"),
        ("allocations", "amount_cents"),
    ):
        shared[name] = [each[amount] for each in payment[name]]
    return shared


class TestReplaceInvoicePayment:
    def test_a_replacement_clears_descriptions_and_keeps_other_fields(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        before = paid(
            shop,
            buyer,
            150,
            part(invoice, 100),
            **FULL,
            external_id="put-1",
            payment_method="credit_card",
            payment_processor="adyen",
            processing_fee_cents=3,
        )
        answer = shop.api.put(f"{PAYMENTS}{before['id']}/", json={})
        after = answer.json()["payment"]
        cleared = {
            "note": None,
            "notes": None,
            "payment_reference": None,
            "processor_reference": None,
            "bank_reference": None,
            "references": {},
            "transaction_tags": [],
            "metadata": {},
        }
        assert after == {**before, **cleared, "updated_at": after["updated_at"]}
        assert answer.headers["etag"] == '"2"'
        assert len(ledger.entries(before)) == 2
        assert shop.api.get(f"{PAYMENTS}{before['id']}/").json() == after

    def test_a_replacement_takes_every_changeable_field(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100, part(sent(shop, buyer, 100), 50), note="gone")
        invoice = sent(shop, buyer, 80)
        body = {
            "total_amount_cents": 80,
            "allocations": [part(invoice, 80)],
            "payment_date": "2025-03-11",
            "payment_method": "cash",
            "external_id": "put-2",
            "bank_reference": "B",
        }
        after = shop.api.put(f"{PAYMENTS}{payment['id']}/", json=body).json()["payment"]
        same = set(body) - {"allocations"}
        assert {name: after[name] for name in same} == {name: body[name] for name in same}
        assert (after["note"], after["is_fully_allocated"]) == (None, True)
        assert ledger.postings(payment)[1:] == [
            (PAID, {"1100": -100, "2100": 50, "1200": 50}),
            ("2025-03-11", {"1000": 80, "2100": -30, "1200": -50}),
            (str(today()), {"2100": 30, "1200": -30}),
        ]

    def test_a_preview_clears_nothing(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        payment = paid(shop, buyer, 100, note="kept")
        with ledger.untouched():
            seen = shop.api.put(f"{PAYMENTS}{payment['id']}/?preview=true", json={}).json()
        assert (seen["payment"]["note"], seen["journal_entries"]) == (None, [])
        assert seen["payment"]["payment_date"] == PAID
