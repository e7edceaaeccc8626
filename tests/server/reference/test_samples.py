import json
from typing import Any

import pytest

from server.contract import parse, read_source
from server.reference.fields import Describer
from server.reference.samples import samples
from tests.server.small_contract import DOCUMENT


@pytest.fixture(scope="module")
def contract() -> dict[str, Any]:
    return parse(read_source())


class TestSamples:
    def test_there_is_a_command_a_request_and_an_answer(self) -> None:
        path = "/v1/things/{thing_id}/"
        operation = DOCUMENT["paths"][path]["post"]
        shown = list(samples(path, "post", operation, Describer(DOCUMENT)))
        assert [sample.title for sample in shown] == ["curl", "Request", "200"]
        command = shown[0].code.unescape()
        assert command.startswith("curl -X POST")
        assert '-H "Authorization: Bearer $BUSINESS_TOKEN"' in command
        assert '-H "Idempotency-Key: $(uuidgen)"' in command
        assert command.endswith('"https://api.accounting.example/v1/things/$THING_ID/"')
        assert json.loads(shown[1].code.striptags()) == {"name": "a", "size": 2}

    def test_what_may_be_a_form_is_sent_as_json(self, contract: dict[str, Any]) -> None:
        path = "/v1/platform/businesses/{business_id}/invoices/payments/{payment_id}/"
        operation = contract["paths"][path]["patch"]
        sent = next(samples(path, "patch", operation, Describer(contract))).code.unescape()
        assert "-d @request.json" in sent

    def test_a_file_is_sent_as_a_part(self, contract: dict[str, Any]) -> None:
        path = "/v1/platform/businesses/{business_id}/documents/"
        operation = contract["paths"][path]["post"]
        sent = next(samples(path, "post", operation, Describer(contract))).code.unescape()
        assert "-F file=@file.pdf" in sent
        assert "-F 'linked_type=invoice_refund'" in sent
