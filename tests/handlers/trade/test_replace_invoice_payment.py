"""replace_invoice_payment, and the three kinds of bodies that PUT and PATCH accept."""

import json
from itertools import product
from typing import Any

import httpx
import pytest

from tests.builders.sales import part
from tests.builders.trade import NOBODY, PAID, SALES, Record
from tests.clock import today
from tests.handlers.trade.side import Side

FULL: Record = {
    "note": "a note",
    "payment_reference": "ours",
    "processor_reference": "theirs",
    "bank_reference": "the bank's",
    "references": {"till": "7"},
    "transaction_tags": ["one", "two"],
    "metadata": {"nested": {"list": [1, None, "x"]}},
}
CLEARED: Record = {
    **dict.fromkeys(FULL),
    **{"references": {}, "transaction_tags": [], "metadata": {}},
}


def as_json(side: Side, method: str, payment: Record, body: Record) -> httpx.Response:
    return side.api.request(method, side.trade.of_payment(payment), json=body)


def in_fields(body: Record) -> dict[str, Any]:
    """Return a body as form fields: nested values as JSON text, tags repeated."""
    return {
        name: json.dumps(value) if name in ("allocations", "references", "metadata") else value
        for name, value in body.items()
    }


def as_form(side: Side, method: str, payment: Record, body: Record) -> httpx.Response:
    return side.api.request(method, side.trade.of_payment(payment), data=in_fields(body))


def as_multipart(side: Side, method: str, payment: Record, body: Record) -> httpx.Response:
    fields = [
        (name, (None, str(each)))
        for name, value in in_fields(body).items()
        for each in (value if isinstance(value, list) else [value])
    ]
    return side.api.request(method, side.trade.of_payment(payment), files=fields)


KINDS = (as_json, as_form, as_multipart)
METHODS = ("PUT", "PATCH")


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=KINDS)
def send(request: pytest.FixtureRequest) -> Any:
    """A function that sends a body of one kind."""
    return request.param


class TestBodiesOfChanges:
    trade = SALES

    def test_json_form_and_multipart_come_to_the_same(self, side: Side) -> None:
        results = []
        for method, send in product(METHODS, KINDS):
            first, second = side.open(100), side.open(100)
            payment = side.pay(150, part(first, 20), status="pending")
            body = {
                **FULL,
                "total_amount_cents": 190,
                "processing_fee_cents": 4,
                "payment_date": "2025-03-12",
                "payment_method": "credit_card",
                "status": "completed",
                "allocations": [part(first, 100), part(second, 80)],
            }
            answer = send(side, method, payment, body)
            assert answer.status_code == 200, answer.text
            shown = answer.json()["payment"]
            assert {name: shown[name] for name in FULL} == FULL
            results.append((facts_of(shown), side.ledger.postings(payment)))
            ids = [each["invoice_id"] for each in shown["allocations"]]
            assert ids == [first["id"], second["id"]]
        assert all(each == results[0] for each in results)
        assert results[0][1] == [
            ("2025-03-12", {"1150": 190, "2100": -190}),
            ("2025-03-12", {"6100": 4, "1150": -4}),
            (str(today()), {"2100": 180, "1200": -180}),
        ]

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
        self, side: Side, method: str, send: Any, body: Record, field: str
    ) -> None:
        payment = side.pay(10)
        with side.ledger.untouched():
            answer = send(side, method, payment, body)
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    def test_each_kind_releases_with_an_empty_list(
        self, side: Side, method: str, send: Any
    ) -> None:
        payment = side.pay(10, part(side.open(10), 10))
        answer = send(side, method, payment, {"allocations": []})
        assert answer.json()["payment"]["allocations"] == []

    def test_each_kind_clears_or_keeps_what_it_leaves_out(
        self, side: Side, method: str, send: Any
    ) -> None:
        before = side.pay(100, **FULL)
        fixed = {"customer_id": side.counterparty["id"], "currency": "GBP"}
        body = {"notes": "older", "note": "another", "status": "failed", **fixed}
        answer = send(side, method, before, body)
        described = FULL if method == "PATCH" else CLEARED
        after = answer.json()["payment"]
        moved = {"status": "failed", "notes": "another", "updated_at": after["updated_at"]}
        assert after == {**before, **described, **moved, "note": "another"}

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
        self, side: Side, method: str, send: Any, body: Record, status: int, code: str
    ) -> None:
        invoice = side.open(200)
        payment = side.pay(100, part(invoice, 100))
        if "allocations" in body:
            body = {**body, "allocations": [part(invoice, body["allocations"]["of"])]}
        with side.ledger.locked("2025-03-05"), side.ledger.untouched():
            answer = send(side, method, payment, body)
            assert (answer.status_code, answer.json()["error_code"]) == (status, code)

    def test_a_key_knows_a_request_again_in_another_kind(self, side: Side, method: str) -> None:
        path = side.trade.of_payment(side.pay(100))
        body = {"total_amount_cents": 120, "transaction_tags": ["a"], "references": {"till": "7"}}
        headers = {"Idempotency-Key": f"kinds of {method}"}
        first = side.api.request(method, path, json=body, headers=headers)
        assert (first.status_code, first.headers["etag"]) == (200, '"2"')
        with side.ledger.untouched():
            again = side.api.request(method, path, data=in_fields(body), headers=headers)
        assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")


def facts_of(payment: Record) -> Record:
    """Return the fields that are equal in two payments after the same change."""
    own = {"id", "created_at", "updated_at", "applied_invoices", "allocations"}
    shared = {name: value for name, value in payment.items() if name not in own}
    shared["applied"] = [each["applied_amount_cents"] for each in payment["applied_invoices"]]
    shared["allocated"] = [each["amount_cents"] for each in payment["allocations"]]
    return shared


class TestReplaceInvoicePayment:
    trade = SALES

    def test_a_replacement_clears_descriptions_and_keeps_other_fields(self, side: Side) -> None:
        invoice = side.open(100)
        before = side.pay(
            150,
            part(invoice, 100),
            **{**FULL, "external_id": "put-1", "payment_method": "credit_card"},
            **{"payment_processor": "adyen", "processing_fee_cents": 3},
        )
        answer = side.api.put(side.trade.of_payment(before), json={})
        after = answer.json()["payment"]
        assert after == {**before, **CLEARED, "notes": None, "updated_at": after["updated_at"]}
        assert answer.headers["etag"] == '"2"'
        assert len(side.ledger.entries(before)) == 2
        assert side.api.get(side.trade.of_payment(before)).json() == after

    def test_a_replacement_takes_every_changeable_field(self, side: Side) -> None:
        payment = side.pay(100, part(side.open(100), 50), note="gone")
        invoice = side.open(80)
        body = {
            **{"total_amount_cents": 80, "payment_date": "2025-03-11", "payment_method": "cash"},
            **{"external_id": "put-2", "bank_reference": "B"},
        }
        allocations = {"allocations": [part(invoice, 80)]}
        answer = side.api.put(side.trade.of_payment(payment), json={**body, **allocations})
        after = answer.json()["payment"]
        assert {name: after[name] for name in body} == body
        assert (after["note"], after["is_fully_allocated"]) == (None, True)
        assert side.ledger.postings(payment)[1:] == [
            (PAID, {"1100": -100, "2100": 50, "1200": 50}),
            ("2025-03-11", {"1000": 80, "2100": -30, "1200": -50}),
            (str(today()), {"2100": 30, "1200": -30}),
        ]
