from collections.abc import Mapping
from typing import Any

import pytest

from tests.journeys.mistakes import INVOICE, LINE, MISTAKES, PAYMENT, PAYMENTS, Mistake
from tests.partner import Business, Partner


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def names(acme: Partner, shop: Business) -> Mapping[str, str]:
    """What the texts in braces stand for."""

    def invoiced(customer: Any, **changes: Any) -> Any:
        body = {**INVOICE, "customer_id": customer["id"], **changes}
        return shop.api.post("invoices/", json=body).raise_for_status().json()

    customer, other = shop.customer(), shop.customer()
    invoice = invoiced(customer, sent_at="2026-07-01T09:00:00Z", line_items=[LINE])
    part = {"invoice_id": invoice["id"], "amount_cents": 400}
    paying = {**PAYMENT, "customer_id": customer["id"], "allocations": [part]}
    shop.api.post(PAYMENTS, json=paying).raise_for_status()
    return {
        "customer": customer["id"],
        "invoice": invoice["id"],
        "number": invoice["invoice_number"],
        "draft": invoiced(customer)["id"],
        "foreign": invoiced(other, sent_at="2026-07-01T09:00:00Z")["id"],
        "key": acme.api_key,
    }


def named(node: Any, names: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {key: named(value, names) for key, value in node.items()}
    if isinstance(node, list):
        return [named(item, names) for item in node]
    return node.format(**names) if isinstance(node, str) else node


class TestMistake:
    @pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
    def test_is_told_what_is_wrong_and_what_to_do(
        self, shop: Business, names: Mapping[str, str], mistake: Mistake
    ) -> None:
        body = {"content": mistake.content} if mistake.json is None else {"json": mistake.json}
        if "json" in body:
            body["json"] = named(body["json"], names)
        answer = shop.api.request(
            mistake.method,
            mistake.path.format(**names),
            headers=named(mistake.headers, names),
            **body,
        )
        told = answer.json()
        assert (answer.status_code, told["error_code"]) == (mistake.status, mistake.code), told
        assert mistake.told in told["message"]
        assert len(mistake.told.split()) > 2
