"""Creations that are answered with what exists: each tells which fields of its body differ."""

import base64
from collections.abc import Callable
from copy import deepcopy
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.api_server import ApiServer
from tests.builders.files import PDF
from tests.contract.document import Node, Operation, bodies, follow, named, operations
from tests.contract.valid_requests import JSON, Request, Story

SENT = "2026-03-02T09:00:00Z"
# A payout with a known external id is updated, so no field differs.
UPDATES = {"create_payout"}
# A refund shows its sums, and not the parts of its lines; fee and rate are those of its payment.
NOT_SHOWN = {
    ("create_invoice_refund", each)
    for each in ("lines", "refund_processing_fee_cents", "exchange_rate")
}
# Two fields that a body may not have together.
INSTEAD = {
    "invoice_id": ("payment_id", "credit_id"),
    "payment_id": ("invoice_id", "credit_id"),
    "credit_id": ("invoice_id", "payment_id"),
    "invoice_external_id": ("payment_id", "credit_id"),
    "payment_external_id": ("invoice_id", "credit_id"),
    "credit_external_id": ("invoice_id", "payment_id"),
    "total_refunded_amount_cents": ("total_refunded_amount",),
}
# Fields that change together.
WITH = {"account_type": {"account_subtype": "current_liabilities"}}
# Values that a schema alone does not give.
GIVEN = {
    "country": "SE",
    "iban": "DE89370400440532013000",
    "email": "other@harbour.example.com",
    "timezone": "Asia/Singapore",
    "account": "1000",
    "parent_id": "1000",
    "account_type": "liability",
    "account_subtype": "non_current_assets",
    "tax_code": "Z0",
    "withholding_code": "Z0",
    "document": {"file": base64.b64encode(PDF + b"%").decode(), "file_name": "other.pdf"},
    "destination_account": {"type": "AccountCode", "code": "1000"},
    "lines": [{"line_id": str(uuid4()), "amount_cents": 1}],
    "tags": None,
    "exchange_rate": 0.5,
}


def takes_external_id(operation: Operation) -> bool:
    if operation.method != "post" or not {"200", "201"} <= operation.node["responses"].keys():
        return False
    return "external_id" in fields_of(operation)


def fields_of(operation: Operation) -> dict[str, Node]:
    schema = follow(bodies(operation).get(JSON, {}).get("schema", {}))
    found: dict[str, Node] = schema.get("properties", {})
    return found


REPEATABLE = [each for each in operations() if takes_external_id(each) and each.name not in UPDATES]
each_repeatable = pytest.mark.parametrize("operation", REPEATABLE, ids=lambda each: each.name)


def next_day(value: str | None, _node: Node) -> str:
    return str(date.fromisoformat((value or "2026-03-03")[:10]) + timedelta(days=1))


OF_KIND: dict[str, Callable[[Any, Node], Any]] = {
    "integer": lambda value, _: value - 1 if value else 1,
    "boolean": lambda value, _: not value,
    "string": lambda value, node: f"{value or ''}x"[-node.get("maxLength", 99) :],
    "uuid": lambda _, _node: str(uuid4()),
    "date": next_day,
    "date-time": lambda value, node: f"{next_day(value, node)}T09:00:00Z",
    "decimal": lambda _, _node: "0.5",
}
"""Another value of a format, or of a type, than the sent one."""


def another(name: str, node: Node, value: Any, shown: Any = None) -> Any:
    """Return another valid value of a field than the sent one, and than the one that is shown."""
    node = follow(node)
    if GIVEN.get(name) is not None:
        return GIVEN[name]
    if "enum" in node:
        return next(each for each in node["enum"] if each not in (value, shown))
    if node.get("type") == "array":
        return another_list(node["items"], value)
    make = OF_KIND.get(node.get("format", "")) or OF_KIND.get(node.get("type", ""))
    return make(value, node) if make else {"other": "1"}


def another_list(node: Node, value: Any) -> Any:
    """Return another valid list: with another first item, or one more text."""
    if follow(node).get("type") == "string":
        return [*(value or []), "other"]
    parts = follow(node)["properties"]
    if value:
        name = next(
            each
            for each in ("quantity", "amount", "amount_cents", "total_amount_cents", "value")
            if each in value[0]
        )
        first = {**value[0], name: 7 if name != "value" else "other"}
        return [first, *value[1:]]
    wanted = {*follow(node).get("required", ())} or {"total_amount_cents"} & parts.keys()
    return [{each: another(each, parts[each], None) for each in wanted}]


def differing(answer: Any) -> set[str]:
    """Return the fields of the body that an answer says differ."""
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    found = shown.get("warnings") or shown.get("payment", {}).get("warnings", [])
    return {each["field"] for each in found if "differs" in each["message"]}


def named_in(node: Any) -> set[str]:
    """Return the fields that a condition of a schema names."""
    if isinstance(node, list):
        return {
            name for each in node for name in ({each} if isinstance(each, str) else named_in(each))
        }
    return {name for each in node.values() for name in named_in(each)} if node else set()


def created(story: Story, operation: Operation) -> tuple[Request, Node]:
    """Create the record of the first example, with an external id; return the answer too."""
    request = story.request(operation)
    request.body.setdefault("external_id", f"repeated-{uuid4()}")
    answer = request.send()
    assert answer.status_code == 201, answer.text
    shown = answer.json()
    return request, shown.get("payment", {}) | shown.get("refund", shown.get("payment", shown))


class TestRepeat:
    def test_is_of_these_operations(self) -> None:
        assert len(REPEATABLE) >= 17

    @each_repeatable
    def test_of_the_same_body_differs_in_nothing(
        self, operation: Operation, own_story: Story
    ) -> None:
        request, _ = created(own_story, operation)
        assert differing(request.send()) == set()
        schema = follow(bodies(operation)[JSON]["schema"])
        needed = {*schema.get("required", ()), *named_in(schema.get("not"))}
        only = {
            name: value
            for name, value in request.body.items()
            if name in needed or name.endswith(("_id", "_name"))
        }
        assert differing(request.send(json=only)) == set()

    @each_repeatable
    def test_names_each_field_that_differs(self, operation: Operation, own_story: Story) -> None:
        request, shown = created(own_story, operation)
        missed = {}
        for name, node in fields_of(operation).items():
            if name == "external_id" or (operation.name, name) in NOT_SHOWN:
                continue
            body = deepcopy(request.body)
            for other in INSTEAD.get(name, ()):
                body.pop(other, None)
            changed = {name: another(name, node, body.get(name), shown.get(name))}
            changed |= WITH.get(name, {})
            answer = request.send(json={**body, **changed})
            found = {each.partition(".")[0] for each in differing(answer)}
            if found != changed.keys():
                missed[name] = found, request.body.get(name), changed
        assert not missed

    def test_names_fields_of_lines(self, own_story: Story) -> None:
        business = own_story.business
        accounts, code = own_story.accounts, "4000"
        line = {
            "quantity": "2.50",
            "unit_price": 1000,
            "tax_code": "S20",
            "account_identifier": {"type": "AccountCode", "code": code},
            "tags": ["north"],
            "metadata": {"sku": 7, "tax_code": "other"},
        }
        body = {
            "external_id": "with-lines",
            "customer_external_id": "somebody",
            "sent_at": "2026-03-02T10:00:00+01:00",
            "line_items": [line, {"quantity": 1, "unit_price_decimal": "0.50"}],
        }
        business.made("invoices/", body)
        same = {
            **line,
            "quantity": 2.5,
            "tax_rate": 20,
            "account_identifier": {"type": "AccountId", "id": accounts[code].upper()},
        }
        told = {**body, "sent_at": "2026-03-02T09:00:00Z"}
        told["line_items"] = [same, {"quantity": 1, "unit_price_decimal": "0.5"}]
        assert differing(business.api.post("invoices/", json=told)) == set()
        other = {
            **same,
            "quantity": 3,
            "tax_code": "Z0",
            "account_identifier": {"type": "AccountCode", "code": "9999"},
            "tags": ["south"],
            "metadata": {"sku": 8},
        }
        told["line_items"] = [other, {"quantity": 1, "unit_price": 7}]
        paths = {f"line_items.0.{name}" for name in other if name not in ("unit_price", "tax_rate")}
        found = business.api.post("invoices/", json=told)
        assert differing(found) == {*paths, "line_items.1.unit_price"}
        fields = [each["field"] for each in found.json()["warnings"]]
        assert fields[:6] == sorted(fields[:6])
        told["line_items"] = [same]
        assert differing(business.api.post("invoices/", json=told)) == {"line_items"}

    def test_spells_values_as_they_are_stored(self, own_story: Story) -> None:
        business = own_story.business
        customer = {"external_id": "spelt", "company_name": "Spelt", "country": "se"}
        customer["metadata"] = {"orders": 1, "listed": True}
        business.made("customers/", customer)
        assert differing(business.api.post("customers/", json=customer)) == set()
        other = {**customer, "metadata": {"orders": True, "listed": True}}
        assert differing(business.api.post("customers/", json=other)) == {"metadata"}
        bank = {"external_id": "spelt", "display_name": "Till", "account": "1000"}
        bank |= {"currency": "GBP", "iban": "gb33 bukb 2020 1555 5555 55"}
        business.made("bank-accounts/", bank)
        assert differing(business.api.post("bank-accounts/", json=bank)) == set()

    def test_counts_fields_beyond_twenty(self, own_story: Story) -> None:
        lines = [{"quantity": 1, "unit_price": 100} for _ in range(23)]
        body = {"external_id": "long", "customer_external_id": "long", "line_items": lines}
        own_story.business.made("invoices/", body)
        told = {**body, "line_items": [{"quantity": 1, "unit_price": 99} for _ in range(23)]}
        answer = own_story.business.api.post("invoices/", json=told).json()
        assert len(answer["warnings"]) == 20
        last = "differs from the existing record, which is unchanged; so do 3 more fields"
        assert answer["warnings"][-1]["message"] == last

    def test_changes_nothing_and_is_a_preview_alike(
        self, own_story: Story, api_server: ApiServer
    ) -> None:
        request, _ = created(own_story, named("create_invoice"))
        body, before = {**request.body, "memo": "Another memo"}, api_server.stored()
        answers = [request.send(json=body, params=query) for query in ({}, {"preview": "true"})]
        assert [differing(each) for each in answers] == [{"memo"}, {"memo"}]
        assert api_server.stored() == before

    def test_matches_allocations_and_payments_in_any_order(self, own_story: Story) -> None:
        business = own_story.business
        customer = {"customer_external_id": "often"}
        line = [{"quantity": 1, "unit_price": 1_000}]
        invoices = [
            business.made("invoices/", {**customer, "sent_at": SENT, "line_items": line})
            for _ in range(2)
        ]
        parts = [{"invoice_id": each["id"], "amount_cents": 100} for each in invoices]
        body = {**customer, "external_id": "split", "total_amount_cents": 1_000}
        body |= {"currency": "GBP", "payment_date": "2026-03-03", "payment_method": "cash"}
        business.made("invoices/payments/", {**body, "allocations": parts})

        def repeated(*allocations: Node) -> set[str]:
            told = {**body, "allocations": allocations}
            return differing(business.api.post("invoices/payments/", json=told))

        assert repeated(*parts) == repeated(*parts[::-1]) == set()
        assert repeated(parts[0]) == {"allocations"}
        assert repeated(parts[1], {**parts[0], "amount_cents": 90}) != set()
