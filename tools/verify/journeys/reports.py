"""Reports: their totals agree with the documents, and their entries explain each figure."""

from dataclasses import replace
from functools import partial
from typing import Any, Final

import httpx

from tools.verify.contract import Node
from tools.verify.journeys.facts import payment
from tools.verify.story import Story, same

# A separate month, in which no other journey posts.
FIRST: Final = "2025-04-01"
DAY: Final = "2025-04-10"
LAST: Final = "2025-04-30"
MOMENT: Final = f"{DAY}T09:00:00Z"
# 1,000.00 plus 20 % tax is invoiced, half of the 1,200.00 is paid; a bill has 300.00.
PROFIT: Final = {"accrual": (100_000, 70_000), "cash": (50_000, 50_000)}


def tell(story: Story) -> None:
    """Invoice, record a part payment and a bill, and check the reports on both bases."""
    check = partial(story.check, "reports")
    with check("profit and loss tells what is invoiced and billed, or what of it is paid"):
        _trade(story)
        read = partial(reported, story, "profit-and-loss", start_date=FIRST, end_date=LAST)
        earned = {basis: read(basis=basis) for basis in PROFIT}
        for basis, expected in PROFIT.items():
            summary = earned[basis]["summary"]
            found = summary["net_revenue_cents"], summary["net_profit_cents"]
            same(f"revenue and profit on {basis}", found, expected)
    with check("the entries behind each line come to its figure"):
        for statement in earned.values():
            for line in _lines(statement):
                name = f"value_cents of {line['account_name']} on {statement['basis']}"
                same(name, abs(line["value_cents"]), abs(_explained(story, line)))
    with check("assets less liabilities are equity"):
        for basis in PROFIT:
            sheet = reported(story, "balance-sheet", basis=basis, as_of_date=LAST)["summary"]
            left = sheet["total_assets_cents"] - sheet["total_liabilities_cents"]
            same(f"total_equity_cents on {basis}", sheet["total_equity_cents"], left)
    with check("the trial balance is even"):
        for basis in PROFIT:
            trial = reported(story, "trial-balance", basis=basis, as_of_date=LAST)
            debits, credits = (
                sum(row[f"{side}_cents"] for row in trial["accounts"])
                for side in ("debit", "credit")
            )
            same(f"debits less credits on {basis}", debits - credits, 0)


def reported(story: Story, name: str, **query: Any) -> Node:
    """Read a report that includes everything posted."""
    return story.books.get(f"reports/{name}/", consistency="strong", **query)


def _trade(story: Story) -> None:
    """Create an invoice that is half paid, and an unpaid bill."""
    books = story.books
    customer = books.post("customers/", {"company_name": "Reported On Ltd"})
    sold = {"description": "Logo", "quantity": 1, "unit_price": 100_000, "tax_rate": 20}
    order = {"customer_id": customer["id"], "sent_at": MOMENT, "line_items": [sold]}
    part = {"invoice_id": books.post("invoices/", order)["id"], "amount_cents": 60_000}
    half = payment(customer["id"], 60_000, allocations=[part], payment_date=DAY)
    books.post("invoices/payments/", half)
    vendor = books.post("vendors/", {"company_name": "Paper Traders"})
    bought = {"description": "Paper", "quantity": 1, "unit_price": 30_000}
    days = {"bill_date": DAY, "received_at": MOMENT}
    books.post("bills/", {"vendor_id": vendor["id"], "line_items": [bought], **days})


def _lines(statement: Node) -> list[Node]:
    """Return all lines of all sections."""
    sections = [each for each in statement.values() if isinstance(each, dict)]
    return [line for each in sections for line in each.get("line_items", ())]


def _explained(story: Story, line: Node) -> int:
    """Return the sum of the entries at the address in a line, which is relative to the host."""
    address = httpx.URL(line["explain"])
    entries = replace(story.books, base="").walk(address.path, **dict(address.params))
    return sum(entry["debit_amount"] - entry["credit_amount"] for entry in entries)
