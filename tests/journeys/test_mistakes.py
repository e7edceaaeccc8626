from collections.abc import Mapping
from typing import Any

import pytest

from tests.builders.sales import paid, part, sent
from tests.journeys.mistakes import LINE, MISTAKES, Mistake
from tests.partner import Business, Partner


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def names(acme: Partner, shop: Business) -> Mapping[str, str]:
    """The values that replace the texts in braces."""
    customer = shop.customer()
    invoice = sent(shop, customer, line_items=[LINE])
    paid(shop, customer, 400, part(invoice, 400))
    token = acme.api.post(f"/v1/platform/{shop.id}/oauth2/token/", json={"access": "read"})
    return {
        "customer": customer["id"],
        "invoice": invoice["id"],
        "key": acme.api_key,
        "reader": token.json()["access_token"],
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
        root = shop.partner.url if mistake.path.startswith("/") else ""
        answer = shop.api.request(
            mistake.method,
            root + mistake.path.format(**names),
            headers=named(mistake.headers, names),
            **body,
        )
        error = answer.json()
        assert (answer.status_code, error["error_code"]) == (mistake.status, mistake.code), error
        assert mistake.message in error["message"]
