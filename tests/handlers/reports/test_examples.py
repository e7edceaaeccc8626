"""Examples of reports in the contract, compared with a server's reports of the same month."""

import re
from typing import Any

import pytest

from tests.builders.reports import booked
from tests.builders.sales import sent
from tests.builders.trade import line
from tests.contract.document import follow, operations
from tests.partner import Business, Partner

JULY = {"start_date": "2026-07-01", "end_date": "2026-07-31"}
END = {"as_of_date": "2026-07-31"}
QUERIES = {
    "get_profit_and_loss": JULY,
    "get_balance_sheet": END,
    "get_cash_flow": JULY,
    "get_trial_balance": END,
    "get_general_ledger": {**JULY, "account": "1200"},
    "get_vat_summary": JULY,
    "get_financial_summary": JULY,
    "get_expense_breakdown": JULY,
}
SHOWN = {each.name: each for each in operations() if each.name in QUERIES}
# Ids differ in each business, and posting times in each run.
OWN = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    """An invoice of 100.00 with a tax of a fifth, and expenses of 45.00 not billed yet."""
    shop = acme.business()
    buyer = shop.customer(company_name="Blue Door Cafe Ltd")
    taxed = line(10_000, tax_rate=20)
    sent(shop, buyer, line_items=[taxed], sent_at="2026-07-01T08:10:00Z")
    booked(shop, "2026-07-31", "6000", "2400", 4_500)
    return shop


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_of_a_report_is_what_a_server_says(shop: Business, name: str, kind: str) -> None:
    operation = SHOWN[name]
    path = operation.path.partition("{business_id}/")[2]
    answer = shop.api.get(path, params=QUERIES[name], headers={"Accept": kind})
    [example] = operation.node["responses"]["200"]["content"][kind]["examples"].values()
    shown = follow(example)["value"]
    if kind == "text/csv":
        assert answer.text == shown
    else:
        assert without_own(answer.json()) == without_own(shown)


def without_own(value: Any) -> Any:
    """Return a value without the ids and times of its business."""
    if isinstance(value, dict):
        return {name: without_own(each) for name, each in value.items()}
    if isinstance(value, list):
        return [without_own(each) for each in value]
    return OWN.sub("own", value) if isinstance(value, str) else value
