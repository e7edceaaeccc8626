"""The feed of events, played over nothing, names the records that exist, as they are."""

from typing import Any

from tests.model.play import Play
from tests.model.records import BankLine

MOST = 500
# A write-off is shown in its document.
NOT_READ = frozenset({"write_off", "bill_write_off"})
GONE = (404, None, None)
Shown = tuple[int, int | None, str | None]
Event = dict[str, Any]
IMPORTED = "bank_transactions.imported"  # Its bank account did not change.
OPENED = "create_business"  # Its accounts and tax codes are many, and seldom change.


def compare_feed(play: Play) -> None:
    """Read the whole feed, and compare it with the records: which exist, as which version."""
    events = feed(play)
    sequences = [each["sequence"] for each in events]
    play.hold(
        "the feed has a gap:",
        dict(enumerate(sequences, start=1)),
        dict(zip(sequences, sequences, strict=True)),
    )
    last = {each["object"]["id"]: each for each in events if each["type"] != IMPORTED}
    there = {id_ for id_, each in last.items() if each["change"] != "deleted"}
    named = existing(play)
    play.hold(
        "records that exist have no event:",
        dict.fromkeys(named, True),
        {id_: id_ in there for id_ in named},
    )
    urls = {each["object"]["id"]: url for each in events if (url := each["object"]["url"])}
    read = {
        id_: shown_at(play, urls[id_])
        for id_, each in last.items()
        if id_ in urls
        and each["object"]["type"] not in NOT_READ
        and each["cause"]["operation"] != OPENED
    }
    told = {id_: told_as(last[id_], read[id_]) for id_ in read}
    play.hold("records are not as the feed tells them:", told, read)
    play.counts.note("feed replayed")
    if GONE in told.values():
        play.counts.note("deletion replayed")


def existing(play: Play) -> set[str]:
    """Return the ids of the records that exist: those of the model, and all posted entries.

    A line of a bank has no event of its own until it changes.
    """
    ids = {each.id for each in play.records if not isinstance(each, BankLine)}
    cursor: str | None = ""
    while cursor is not None:
        asked = {"page_size": 100, **({"cursor": cursor} if cursor else {})}
        page = play.caller.get("general-ledger/journal-entries/", **asked).json()
        ids |= {each["id"] for each in page["results"]}
        cursor = page["page_info"]["next_cursor"]
    return ids


def feed(play: Play) -> list[Event]:
    """Return all events of the business, page by page."""
    events: list[Event] = []
    while True:
        after = events[-1]["sequence"] if events else 0
        page = play.caller.get("events/", after=after, page_size=MOST).json()
        events += page["results"]
        if not page["has_more"]:
            return events


def told_as(event: Event, read: Shown) -> Shown:
    """Return answer, version and status of a record as its last event tells them."""
    if event["change"] == "deleted":
        return GONE
    _, version, _ = read
    return 200, None if version is None else event["object"]["version"], event["status"]


def shown_at(play: Play, url: str) -> Shown:
    """Return the same of the record as it is read."""
    answer = play.caller.client.get(url)
    if answer.status_code == 404:
        return GONE
    shown = answer.json()
    tag = answer.headers.get("etag")
    version = None if tag is None else int(tag.strip('"'))
    return answer.status_code, version, shown.get("payment", shown).get("status")
