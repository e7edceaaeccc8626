"""Customers and vendors that a request names by an unknown external id, on every operation."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tests.contract.document import Node, Operation, bodies, follow, operations
from tests.contract.valid_requests import JSON, Request, Story

SIDES = ("customer", "vendor")
# Records of another customer or vendor, which an unknown one cannot have.
OF_THE_PARTY = ("allocations", "source_invoice_id", "source_bill_id")
# The customer of a payment is fixed; a bank rule creates nobody: `test_external_names.py`.
CREATING_NOBODY = {
    *("replace_invoice_payment", "update_invoice_payment"),
    *("create_bank_rule", "update_bank_rule"),
}
_numbers = count(1)


def names_parties(node: Node) -> bool:
    """Return whether a schema has the external id of a customer or vendor, at any depth."""
    schema = follow(node)
    parts = [*schema.get("properties", {}).values(), schema.get("items", {})]
    parts += schema.get("allOf", [])
    named = {f"{side}_external_id" for side in SIDES} & schema.get("properties", {}).keys()
    return bool(named) or any(names_parties(part) for part in parts if part)


NAMING = [
    each
    for each in operations()
    if each.name not in CREATING_NOBODY
    and JSON in bodies(each)
    and names_parties(bodies(each)[JSON]["schema"])
]
each_naming = pytest.mark.parametrize("operation", NAMING, ids=lambda each: each.name)


def renamed(node: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Name each party of a body by an unknown external id; yield its kind, that id and its path."""
    for place, part in enumerate(node) if isinstance(node, list) else list(node.items()):
        if isinstance(part, dict | list):
            yield from renamed(part, f"{path}{place}.")
    for side in SIDES if isinstance(node, dict) else ():
        if {f"{side}_id", f"{side}_external_id"} & node.keys():
            node.pop(f"{side}_id", None)
            named = node[f"{side}_external_id"] = f'new "{side}" {next(_numbers)}'
            yield side, named, f"{path}{side}_external_id"


def named_anew(story: Story, operation: Operation) -> tuple[Request, list[tuple[str, str, str]]]:
    """Return a valid request whose parties are all unknown, and what it names."""
    request = story.request(operation)
    for name in OF_THE_PARTY:
        request.body.pop(name, None)
    own = follow(bodies(operation)[JSON]["schema"])["properties"]
    for side in SIDES:  # The body of a replacement need not name the party.
        if f"{side}_external_id" in own:
            request.body[f"{side}_external_id"] = ""
    named = [*renamed(request.body)]
    assert named
    return request, named


def warnings_of(answer: Any) -> list[Node]:
    shown = answer.json()
    found: list[Node] = shown["warnings"] if "warnings" in shown else shown["payment"]["warnings"]
    return found


def field_of(warning: Node) -> str:
    return str(warning["field"])


class TestUnknownParty:
    def test_is_created_by_these_operations(self) -> None:
        assert len(NAMING) >= 9

    @each_naming
    def test_is_created_and_named_in_the_warnings(
        self, operation: Operation, own_story: Story
    ) -> None:
        request, named = named_anew(own_story, operation)
        told = [
            {"field": path, "message": f'is unknown: the {side} "{external_id}" is created'}
            for side, external_id, path in named
        ]
        preview = request.send(params={"preview": "true"})
        assert preview.status_code == 200, preview.text
        answer = request.send()
        assert answer.status_code in (200, 201), answer.text
        for shown in map(warnings_of, (preview, answer)):
            found = [each for each in shown if "unknown" in each["message"]]
            assert sorted(found, key=field_of) == sorted(told, key=field_of)
        for side, external_id, _ in named:
            listed = own_story.business.api.get(f"{side}s/", params={"external_id": external_id})
            assert listed.json()["count"] == 1

    @each_naming
    def test_is_known_the_next_time(self, operation: Operation, own_story: Story) -> None:
        request, named = named_anew(own_story, operation)
        for side, external_id, _ in named:
            body = {"external_id": external_id, "company_name": "Known"}
            own_story.business.made(f"{side}s/", body)
        answer = request.send()
        assert answer.status_code in (200, 201), answer.text
        assert not [each for each in warnings_of(answer) if "unknown" in each["message"]]

    @each_naming
    def test_is_refused_if_the_business_says_so(
        self, operation: Operation, own_story: Story
    ) -> None:
        business, (request, named) = own_story.business, named_anew(own_story, operation)
        path = f"/v1/platform/businesses/{business.id}/"
        assert own_story.partner.api.patch(path, json={"unknown_parties": "refuse"}).is_success
        for side, external_id, _ in named:  # One after the other is created.
            for query in ({}, {"preview": "true"}):
                answer = request.send(params=query)
                assert answer.status_code == 422, answer.text
                told = answer.json()
                assert told["error_code"] == "reference_not_found"
                parties = {each: (kind, path) for kind, each, path in named}
                kind, path = parties.pop(told["detail"]["reference"])
                assert told["detail"]["resource"] == kind
                assert told["detail"]["field"] == path
                item = path.rpartition(".")[0]
                assert told["detail"].get("item", "") == item
                assert told["message"].startswith(f"{item}: No {kind}" if item else f"No {kind}")
            listed = business.api.get(f"{side}s/", params={"external_id": external_id})
            assert listed.json()["count"] == 0
            business.made(f"{side}s/", {"external_id": external_id, "company_name": "Known"})
        answer = request.send()
        assert answer.status_code in (200, 201), answer.text
        assert not [each for each in warnings_of(answer) if "unknown" in each["message"]]

    def test_beyond_twenty_is_counted(self, own_story: Story) -> None:
        invoices = [
            {
                "customer_external_id": f"brought-{place:02}",
                "invoice_number": f"brought-{place}",
                "issue_date": "2024-11-03",
                "outstanding_amount_cents": 100,
            }
            for place in range(23)
        ]
        opening = own_story.business.made(
            "opening-balances/", {"date": "2024-12-31", "invoices": invoices}
        )
        assert len(opening["warnings"]) == 20
        assert opening["warnings"][-1] == {
            "field": "invoices.19.customer_external_id",
            "message": 'is unknown: the customer "brought-19" is created, and 3 more customers and'
            " vendors",
        }
