"""What is planted of tax returns: drafts to file and delete, and filed ones to supersede."""

from datetime import date, timedelta

from tests.builders.tax_returns import RETURNS
from tests.partner import Business

FIRST = date(2000, 1, 1)


def plant_tax_returns(pools: dict[str, list[str]], business: Business, many: int) -> None:
    """Plant returns, each of a day of its own; the pools hold the ids."""
    days = [str(FIRST + timedelta(days=n)) for n in range(2 * many)]
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
