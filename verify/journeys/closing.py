"""The end of a run: a month is closed, then the business itself."""

from functools import partial

from verify.journeys.facts import DAY, invoice
from verify.story import Caller, Story, same


def close(story: Story, business_id: str, neighbour_id: str) -> None:
    """Close the books, and archive what was made for this run."""
    check, books, partner = partial(story.check, "closing"), story.books, story.partner
    with check("nothing is posted into a locked period"):
        path = f"businesses/{business_id}/"
        partner.call("PATCH", path, expected=200, json={"lock_date": DAY})
        customer = books.post("customers/", {"company_name": "Too Late Ltd"})
        late = invoice(customer["id"], 100)
        books.refused("POST", "invoices/", 409, "period_locked", json=late)
    with check("an archived business is read, and not written to"):
        _archive(partner, business_id)
        wanted = {"company_name": "Much Too Late Ltd"}
        books.refused("POST", "customers/", 409, "business_archived", json=wanted)
        same("id", books.get(f"customers/{customer['id']}/")["id"], customer["id"])
    with check("the business beside it is archived, too"):
        _archive(partner, neighbour_id)


def _archive(partner: Caller, business_id: str) -> None:
    answer = partner.post(f"businesses/{business_id}/archive/", expected=200)
    same("is_active", answer["is_active"], False)
