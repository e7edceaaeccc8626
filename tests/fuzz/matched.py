"""What is planted to be matched: lines and payments with much left of them, and links to take back.

A link is taken back once, and a line categorized once; both are there many times over.
"""

from typing import Any

from tests.builders.sales import paid
from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
LARGE = 50_000_000
EACH_IMPORT = 500


def plant_matched(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Plant lines, the money they are, and links between them; the pools hold the ids."""
    bank = business.made("bank-accounts/", {"display_name": "Matched bank"})
    seen = [paid(business, customer, LARGE) for customer in customers]
    linked = lines(business, bank, [10] * many)
    pools |= {
        "seen_payments": [each["id"] for each in seen],
        "open_lines": lines(business, bank, [LARGE] * 12),
        "plain_lines": lines(business, bank, [1_000] * many),
        # The link of each line stands in the same place.
        "linked_lines": linked,
        "links": [link(business, line, seen[0]) for line in linked],
    }


def lines(business: Business, bank: Record, amounts: list[int]) -> list[str]:
    """Import lines of money that came in; return their ids."""
    found: list[str] = []
    for start in range(0, len(amounts), EACH_IMPORT):
        told = [
            {"date": "2026-07-12", "amount_cents": amount, "direction": "credit"}
            for amount in amounts[start : start + EACH_IMPORT]
        ]
        body = {"bank_account_id": bank["id"], "transactions": told}
        answer = business.api.post("bank-transactions/", json=body)
        assert answer.status_code == 200, answer.text
        found += [each["id"] for each in answer.json()["results"]]
    return found


def link(business: Business, line: str, payment: Record) -> str:
    """Link a line with a payment; return the id of the link."""
    body = {"target_type": "invoice_payment", "target_id": payment["id"]}
    answer = business.api.post(f"bank-transactions/{line}/match/", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["links"][0]["reconciliation_link_id"])
