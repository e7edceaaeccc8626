"""The end of a run: a period is locked, then the businesses are archived."""

from functools import partial
from typing import Final

from tools.verify.journeys.facts import DAY, invoice
from tools.verify.story import Caller, Story, same

JOURNEY: Final = "closing"


def lock(story: Story) -> None:
    """Lock a period, and check that nothing is posted into it."""
    with story.check(JOURNEY, "nothing is posted into a locked period"):
        path = f"businesses/{story.report.business_ids[0]}/"
        story.partner.call("PATCH", path, expected=200, json={"lock_date": DAY})
        customer = story.books.post("customers/", {"company_name": "Too Late Ltd"})
        late = invoice(customer["id"], 100)
        story.books.refused("POST", "invoices/", 409, "period_locked", json=late)


def archive(story: Story) -> None:
    """Archive the businesses of this run, the neighbour first."""
    check = partial(story.check, JOURNEY)
    own, neighbour = story.report.business_ids
    with check("the business beside is archived"):
        _archive(story.partner, neighbour)
    with check("an archived business is read, and not written to"):
        _archive(story.partner, own)
        wanted = {"company_name": "Much Too Late Ltd"}
        story.books.refused("POST", "customers/", 409, "business_archived", json=wanted)
        same("id", story.partner.get(f"businesses/{own}/")["id"], own)


def _archive(partner: Caller, business_id: str) -> None:
    answer = partner.post(f"businesses/{business_id}/archive/", expected=200)
    same("is_active", answer["is_active"], False)
