"""The feed of events: what has changed, in the order of the changes."""

from collections.abc import Mapping
from typing import Any

from handlers.results import Reply
from handlers.shared import event_responses
from persistence.books import Books
from persistence.feed.events import WantedEvents, events
from persistence.partners.event_feed import Place, partner_events
from persistence.partners.registry import Registry


async def list_events(books: Books, query: Mapping[str, Any]) -> Reply:
    """List the events of the business after a sequence."""
    types, groups = types_and_groups(query)
    wanted = WantedEvents(
        after=query["after"],
        most=query["page_size"],
        types=types,
        groups=groups,
        object_id=query.get("object_id"),
    )
    [page] = await books.fetch(events(books, wanted))
    facts = books.facts
    told = {"business_external_id": facts["external_id"], "is_sandbox": facts["is_sandbox"]}
    return {
        "results": [event_responses.serialize(each, **told) for each in page.events],
        "last_sequence": page.events[-1].sequence if page.events else wanted.after,
        "head_sequence": page.head,
        "has_more": page.has_more,
    }


async def list_partner_events(registry: Registry, query: Mapping[str, Any]) -> Reply:
    """List the events of all businesses of the partner after a cursor."""
    after, most = Place.parse(query.get("after")), query["page_size"]
    page = await partner_events(registry, after, most, *types_and_groups(query))
    return {
        "results": [
            event_responses.serialize(
                each.event,
                business_external_id=each.business_external_id,
                is_sandbox=each.is_sandbox,
            )
            for each in page.events
        ],
        "next_cursor": str(page.place),
        "has_more": page.has_more,
    }


def types_and_groups(query: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the types of events that a request names, and the kinds of records (`invoice.*`)."""
    types = query.get("types", ())
    groups = [each.removesuffix(".*") for each in types if each.endswith(".*")]
    return [each for each in types if not each.endswith(".*")], groups
