"""Requests that set and read exchange rates."""

from datetime import date
from typing import Any

import httpx

from tests.builders.trade import Record
from tests.partner import Business, Partner

RATES = "exchange-rates/"
OF_PARTNER = f"/v1/platform/{RATES}"


def table_body(day: date | str, **facts: Any) -> Record:
    """Return the body of a table in euros."""
    rates = {"USD": 1.1172, "GBP": 0.8338}
    return {"date": str(day), "reference_currency": "EUR", "rates": rates, **facts}


def put(owner: Partner | Business, body: Record) -> httpx.Response:
    """Send a table of a partner or of a business."""
    path = OF_PARTNER if isinstance(owner, Partner) else RATES
    return owner.api.put(path, json=body)


def table_set(owner: Partner | Business, day: date | str, **facts: Any) -> Record:
    """Set the table of a day and return it."""
    answer = put(owner, table_body(day, **facts))
    assert answer.status_code == 200, answer.text
    table: Record = answer.json()
    return table


def converted(business: Business, currency: str, day: date | str | None = None) -> httpx.Response:
    """Read the rate of a currency on a day."""
    asked = {"currency": currency, **({"date": str(day)} if day else {})}
    return business.api.get(f"{RATES}convert/", params=asked)
