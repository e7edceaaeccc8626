"""Seeds of the ledger: openings, manual entries, tax codes and tax returns."""

from datetime import date, timedelta
from typing import Any

from tests.builders.journal_entries import drafted
from tests.builders.openings import open_invoice, opened
from tests.builders.revaluations import revalued
from tests.builders.tax_codes import CODES, code_body, codes_of
from tests.builders.tax_returns import RETURNS
from tests.builders.trade import Record
from tests.fuzz.pools import Pools, ids
from tests.partner import Business

FIRST_DAY = date(2000, 1, 1)
FIRST_REVALUED = date(2025, 4, 1)
AUTHORS = ("manual", "ai", "import")


def plant_openings(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Create openings to read, and openings to reverse."""
    made = [
        opened(
            business,
            date=str(FIRST_DAY + timedelta(days=n)),
            accounts=[{"account": "1100", "debit_amount": 100 + n}],
            invoices=[open_invoice(customers[n % len(customers)], 50 + n, issue_date="1999-11-03")],
        )["id"]
        for n in range(10 + many)
    ]
    pools["openings"], pools["spare_openings"] = made[:10], made[10:]


def plant_revaluations(pools: Pools, business: Business, party: Record, many: int) -> None:
    """Create revaluations to read, and revaluations to reverse, each of a day of its own."""
    days = (str(FIRST_REVALUED + timedelta(days=n)) for n in range(5 + many))
    made = ids(revalued(business, party, day) for day in days)
    pools["revaluations"], pools["spare_revaluations"] = made[:5], made[5:]


def plant_entries(pools: Pools, business: Business, many: int) -> None:
    """Create entries; put the IDs into the pools, and the accounts that accept such entries."""
    drafts = [write(business, n, created_by=AUTHORS[n % 3]) for n in range(3 * many)]
    posted = [write(business, n, post=True) for n in range(many)]
    pools |= {
        "entry_accounts": ["1150", "1400", "2400", "6000", "6400"],
        "changed_entries": drafts[:many],
        "approved_entries": drafts[many : 2 * many],
        "rejected_entries": drafts[2 * many :],
        "reversed_entries": posted,
        "written_entries": [*drafts[:5], *posted[:5]],
    }


def write(business: Business, n: int, **facts: Any) -> str:
    """Create an entry with an amount of its own."""
    return str(drafted(business, 100 + n, entry_date=f"2026-07-{n % 28 + 1:02}", **facts)["id"])


def plant_tax_codes(pools: Pools, business: Business, many: int) -> None:
    """Create tax codes; put the IDs into the pools, and the accounts that accept tax."""
    own = ids(codes_of(business).values())
    spare = ids(business.made(CODES, code_body(f"V{n}")) for n in range(many))
    pools |= {
        "tax_accounts": ["1300", "2200", "2400"],
        "spare_tax_codes": spare,
        "tax_codes": [*own[:5], *spare[:5]],
    }


def plant_tax_returns(pools: Pools, business: Business, many: int) -> None:
    """Create returns, each for a day of its own; put the IDs into the pools."""
    days = [str(FIRST_DAY + timedelta(days=n)) for n in range(2 * many)]
    drafts = [draft_of(business, each) for each in days[:many]]
    filed = [draft_of(business, each) for each in days[many:]]
    for each in filed:
        assert business.api.post(f"{RETURNS}{each}/file/").status_code == 200
    pools |= {
        "draft_tax_returns": drafts,
        "filed_tax_returns": filed,
        "tax_returns": [*drafts[:5], *filed[:5]],
    }


def draft_of(business: Business, day: str) -> str:
    body = {"start_date": day, "end_date": day, "scheme": "accrual"}
    return str(business.made(RETURNS, body)["id"])
