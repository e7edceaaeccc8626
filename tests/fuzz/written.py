"""What is planted of entries that are written by hand: drafts to decide on, and posted ones."""

from typing import Any

from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
ENTRIES = "general-ledger/journal-entries/"
ACCOUNTS = ["1150", "1400", "2400", "6000", "6400"]
AUTHORS = ("manual", "ai", "import")


def plant_written(pools: Pools, business: Business, many: int) -> None:
    """Plant entries; the pools hold the ids, and the accounts that take such entries."""
    drafts = [write(business, n, created_by=AUTHORS[n % 3]) for n in range(3 * many)]
    posted = [write(business, n, post=True) for n in range(many)]
    pools |= {
        "entry_accounts": ACCOUNTS,
        "changed_entries": drafts[:many],
        "approved_entries": drafts[many : 2 * many],
        "rejected_entries": drafts[2 * many :],
        "reversed_entries": posted,
        "written_entries": [*drafts[:5], *posted[:5]],
    }


def write(business: Business, n: int, **facts: Any) -> str:
    """Write an entry of an amount of its own."""
    lines = [
        {"account": "6000", "debit_amount": 100 + n},
        {"account": "2400", "credit_amount": 100 + n},
    ]
    body: Record = {"entry_date": f"2026-07-{n % 28 + 1:02}", "lines": lines, **facts}
    return str(business.made(ENTRIES, body)["id"])
