"""Readers that follow a feed of events while the server is killed, and keep what they have read."""

import threading
from typing import Any

import httpx

from tests.partner import Business, Partner, client

Event = dict[str, Any]
WAIT_SECONDS = 2  # How long the server may hold an answer.


class FeedReader(threading.Thread):
    """A client that reads a feed page by page, from its beginning to its end after `finish`."""

    path: str
    cursor: str  # The field of an answer that the next request sends as `after`.

    def __init__(self, url: str, authorization: str) -> None:
        super().__init__(daemon=True)
        self.url = url
        self.headers = {"Authorization": authorization}
        self.finished = threading.Event()
        self.events: list[Event] = []
        self.after: Any = None
        self.pages = self.unanswered = 0
        self.fault: Exception | None = None
        self.start()

    def finish(self) -> list[Event]:
        """Read up to the end of the feed, and return all events in the order of reading."""
        self.finished.set()
        self.join()
        assert self.fault is None, self.fault
        return self.events

    def run(self) -> None:
        while True:
            try:
                with client(self.url, headers=self.headers) as api:
                    self.follow(api)
                return
            except httpx.TransportError:
                self.unanswered += 1
                self.finished.wait(0.1)
            except Exception as error:  # Unexpected answers, too.
                self.fault = error
                return

    def follow(self, api: httpx.Client) -> None:
        """Read pages until the feed ends; nothing is written any more when `finished` is set."""
        while True:
            is_last = self.finished.is_set()
            found = self.page(api, 0 if is_last else WAIT_SECONDS)
            if found is not None and is_last and not found["results"] and not found["has_more"]:
                return

    def page(self, api: httpx.Client, wait: int) -> dict[str, Any] | None:
        """Read a page and keep its events; None if the server was not ready."""
        after = {} if self.after is None else {"after": self.after}
        answer = api.get(self.path, params={"page_size": 500, "wait": wait, **after})
        if answer.status_code == 503:
            self.unanswered += 1
            self.finished.wait(0.1)
            return None
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        self.events += found["results"]
        self.after = found[self.cursor]
        self.pages += 1
        return found


class BusinessFeedReader(FeedReader):
    """A reader of the feed of a business."""

    path, cursor = "events/", "last_sequence"

    def __init__(self, business: Business) -> None:
        super().__init__(business.base_url, business.api.headers["Authorization"])


class PartnerFeedReader(FeedReader):
    """A reader of the feed of a partner."""

    path, cursor = "/v1/platform/events/", "next_cursor"

    def __init__(self, partner: Partner) -> None:
        super().__init__(partner.url, partner.api.headers["Authorization"])
