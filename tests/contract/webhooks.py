"""Requests of webhooks, compared with the contract."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from server.docs.profiles import for_receivers
from tests.contract.document import document


def check_webhook(headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
    """Check that a request has the documented headers and body of its webhook."""
    webhook = receivers()["webhooks"]["ping" if body["type"] == "ping" else "event"]["post"]
    for parameter in webhook["parameters"]:
        check(parameter["schema"], headers[parameter["name"]])
    check(webhook["requestBody"]["content"]["application/json"]["schema"], body)


def check(schema: Mapping[str, Any], value: Any) -> None:
    whole = {**schema, "components": receivers()["components"]}
    Draft202012Validator(whole, format_checker=FormatChecker()).validate(value)


@cache
def receivers() -> dict[str, Any]:
    """Return the document of webhooks."""
    return for_receivers(document())
