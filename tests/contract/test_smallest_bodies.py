"""The smallest bodies, which the reference shows first, are accepted by a server."""

from dataclasses import replace
from typing import Any

import pytest

from server.docs.reference.smallest_bodies import SmallestBodies, reduced
from tests.contract.document import Operation, bodies, document, follow, named, operations
from tests.contract.valid_requests import JSON, MULTIPART, Story

SENT = [(each, content_type) for each in operations() for content_type in bodies(each)]
OPTIONAL = [
    each for each in operations() if bodies(each) and not each.node["requestBody"].get("required")
]


@pytest.fixture(scope="module")
def smallest() -> SmallestBodies:
    return SmallestBodies(document())


def body_of(smallest: SmallestBodies, operation: Operation, content_type: str = JSON) -> Any:
    """Return the smallest body of an operation, with the ids of the examples."""
    content = bodies(operation)[content_type]
    examples = {name: follow(each)["value"] for name, each in content["examples"].items()}
    return smallest.of(operation.method, content["schema"], examples)


class TestSmallestBody:
    @pytest.mark.parametrize(
        ("operation", "content_type"), SENT, ids=[f"{each.name}-{kind}" for each, kind in SENT]
    )
    def test_is_accepted(
        self, operation: Operation, content_type: str, own_story: Story, smallest: SmallestBodies
    ) -> None:
        request = own_story.request(operation)
        body = own_story.retold(body_of(smallest, operation, content_type))
        answer = replace(request, body=body, content_type=content_type).send()
        assert answer.is_success, answer.text
        assert not answer.json().get("failed"), answer.text  # A line of a bank file.

    @pytest.mark.parametrize("operation", OPTIONAL, ids=lambda each: each.name)
    def test_that_is_empty_may_be_left_out(
        self, operation: Operation, own_story: Story, smallest: SmallestBodies
    ) -> None:
        assert body_of(smallest, operation) == {}
        answer = replace(own_story.request(operation), body=None).send()
        assert answer.is_success, answer.text

    @pytest.mark.parametrize(
        ("name", "body"),
        [
            ("create_customer", {"company_name": "Blue Door Cafe Ltd"}),
            ("create_bank_account", {"display_name": "Current account"}),
            ("update_business", {"name": "Harbour Coffee"}),
            # A change of the status would be more than a reader may want.
            ("update_bill_payment", {"memo": "Came back, the account is closed"}),
            (
                "create_invoice_refund",
                {"invoice_id": "0197f0c8-62f4-7b9c-9d37-1a2b3c4d5e04"},
            ),
        ],
    )
    def test_has_what_is_required_and_no_more(
        self, name: str, body: Any, smallest: SmallestBodies
    ) -> None:
        assert body_of(smallest, named(name)) == body

    def test_leaves_out_two_fields_that_need_one_another(self, smallest: SmallestBodies) -> None:
        found = body_of(smallest, named("create_document"), MULTIPART)
        assert found.keys() == {"file"}

    def test_names_records_by_external_ids_where_it_can(self, smallest: SmallestBodies) -> None:
        for name in ("create_invoice", "create_bill", "create_invoice_payment"):
            assert any(field.endswith("_external_id") for field in body_of(smallest, named(name)))

    def test_keeps_one_item_of_a_list_and_the_fields_that_it_needs(self) -> None:
        lines = [{"amount": 1, "memo": "a"}, {"amount": 2}]
        kept = reduced({"lines": lines, "tags": ["a"]}, lambda body: bool(body.get("lines")))
        assert kept == {"lines": [{}]}
