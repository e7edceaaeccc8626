"""Requests that create and read tax codes."""

from typing import Any

from tests.builders.trade import Record
from tests.partner import Business

CODES = "tax-codes/"
TWENTY = [{"rate": 20}]


def code_body(code: str, **facts: Any) -> Record:
    kind = {"direction": "sales", "treatment": "standard", "rates": TWENTY}
    return {"code": code, "name": f"Code {code}", **kind, **facts}


def codes_of(business: Business, **asked: Any) -> dict[str, Record]:
    answer = business.api.get(CODES, params={"page_size": 100, **asked})
    assert answer.status_code == 200, answer.text
    return {each["code"]: each for each in answer.json()["results"]}
