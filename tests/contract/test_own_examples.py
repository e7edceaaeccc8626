"""The derived examples of errors have the server's own texts."""

from typing import Any

import pytest

from tests.contract.document import document_with_own_examples, named
from tests.contract.valid_requests import JSON, Story
from tests.partner import Partner

OWN = document_with_own_examples()


def shown(name: str) -> dict[str, Any]:
    """Return the example of an invalid request."""
    operation = named(name)
    answer = OWN["paths"][operation.path][operation.method]["responses"]["400"]
    value: dict[str, Any] = answer["content"][JSON]["examples"]["validation_error"]["value"]
    return value


def facts(value: dict[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name != "request_id"}


@pytest.fixture(scope="module")
def story(acme: Partner) -> Story:
    return Story.begin(acme)


class TestOwnExample:
    @pytest.mark.parametrize(
        ("name", "left_out"),
        [
            ("create_invoice", "customer_id"),
            ("create_bill", "vendor_id"),
            ("create_journal_entry", "entry_date"),
            ("create_document", "file"),
        ],
    )
    def test_is_what_a_body_without_a_field_gets(
        self, name: str, left_out: str, story: Story
    ) -> None:
        request = story.request(named(name))
        del request.body[left_out]
        assert facts(request.send().json()) == facts(shown(name))

    @pytest.mark.parametrize(
        ("name", "parameter"), [("list_invoices", "status"), ("list_customers", "status")]
    )
    def test_is_what_a_wrong_filter_gets(self, name: str, parameter: str, story: Story) -> None:
        answer = story.request(named(name)).send(params={parameter: "?"})
        assert facts(answer.json()) == facts(shown(name))

    def test_is_what_a_wrong_id_gets(self, story: Story) -> None:
        answer = story.request(named("get_invoice"), invoice_id="%3F").send()
        assert facts(answer.json()) == facts(shown("get_invoice"))
