"""Requests that create, file and read tax returns."""

from collections import defaultdict
from typing import Any

import httpx

from tests.builders.journal_entries import credit, marked, taxed
from tests.builders.trade import Record
from tests.partner import Business

RETURNS = "tax-returns/"
ON = "2025-03-31"
NET = 10_000
QUARTERS = {
    1: ("2025-01-01", "2025-03-31"),
    2: ("2025-04-01", "2025-06-30"),
    3: ("2025-07-01", "2025-09-30"),
    4: ("2025-10-01", "2025-12-31"),
}


def return_body(quarter: int = 1, scheme: str = "accrual", **facts: Any) -> Record:
    start, end = QUARTERS[quarter]
    return {"start_date": start, "end_date": end, "scheme": scheme, **facts}


def drawn_up(business: Business, quarter: int = 1, scheme: str = "accrual") -> Record:
    """Create the draft return of a quarter of 2025."""
    return business.made(RETURNS, return_body(quarter, scheme))


def filed(business: Business, draft: Record, **facts: Any) -> Record:
    answer = business.api.post(f"{RETURNS}{draft['id']}/file/", json=facts)
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown


def read(business: Business, tax_return: Record) -> Record:
    answer = business.api.get(f"{RETURNS}{tax_return['id']}/")
    assert answer.status_code == 200, answer.text
    shown: Record = answer.json()
    return shown


def superseding(business: Business, old: Record, reason: str = "Forgotten") -> Record:
    """Create the draft that replaces a filed return."""
    return business.made(f"{RETURNS}{old['id']}/supersede/", {"reason": reason})


def boxes(tax_return: Record) -> dict[str, int]:
    """Return the boxes of a return that are not zero."""
    shown = {each["box"]: each["amount_cents"] for each in tax_return["boxes"]}
    return {number: amount for number, amount in shown.items() if amount}


def codes(figures: list[Record]) -> dict[str, dict[str, int]]:
    """Return the amounts of each tax code by part, without zeros."""
    parts = ("net", "output", "input", "blocked", "withheld", "relief_net", "relief")
    return {
        each["tax_code"]: {part: each[f"{part}_cents"] for part in parts if each[f"{part}_cents"]}
        for each in figures
    }


def lines(business: Business, tax_return: Record, **asked: Any) -> list[Record]:
    """Return the ledger lines behind a return."""
    answer = business.api.get(
        f"{RETURNS}{tax_return['id']}/entries/", params={"page_size": 100, **asked}
    )
    assert answer.status_code == 200, answer.text
    found: list[Record] = answer.json()["results"]
    return found


def explain_themselves(business: Business, figures: Record) -> None:
    """Check that each box and code of a return or summary equals the sum of its lines."""
    for each in figures.get("boxes", []):
        led_to = into_a_box(led(business, each))
        if each["box"] == "5" and led_to < 0:
            led_to = -led_to  # The form shows what is reclaimed without a sign.
        # Boxes of nets are cut to whole units.
        assert each["amount_cents"] in (led_to, int(led_to / 100) * 100), each
    for name in ("codes", "late", "transition"):
        for each in figures.get(name, []):
            parts: dict[str, int] = defaultdict(int)
            for share in (share for line in led(business, each) for share in line["shares"]):
                assert (share["tax_code"], share["tax_rate"]) == (
                    each["tax_code"],
                    each["tax_rate"],
                )
                parts[share["tax_part"]] += share["amount_cents"]
            [shown] = codes([each]).values()
            assert {part: amount for part, amount in parts.items() if amount} == shown, each


def into_a_box(lines: list[Record]) -> int:
    """Return what the shares of lines add to the requested box."""
    return sum(share["amount_cents"] for line in lines for share in line["shares"])


def led(business: Business, figure: Record) -> list[Record]:
    """Return the lines behind a figure."""
    address = f"{business.partner.url}{figure['explain']}&page_size=100"
    answer = business.api.get(address)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    assert found["next"] is None
    lines: list[Record] = found["results"]
    return lines


def brought(lines: list[Record]) -> int:
    """Return the debits less the credits of the tax shares of lines."""
    shares = [share for line in lines for share in line["shares"]]
    return sum(share["debit_amount"] - share["credit_amount"] for share in shares)


def sale(books: Business, on: str = ON, net: int = NET) -> Record:
    """Post a sale at 20 % by hand."""
    tax = marked("2200", -net // 5, "S20", "output")
    return taxed(books, on, credit("4000", net, tax_code="S20"), tax)


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


def ask(books: Business, tax_return: Record, move: str, **options: Any) -> httpx.Response:
    return books.api.post(f"{RETURNS}{tax_return['id']}/{move}/", **options)
