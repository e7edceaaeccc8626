"""A partner and the books of its businesses."""

from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx

from accounting_sdk.bulk import MOST_ITEMS, PATIENT, Bulk, BulkReport, Items
from accounting_sdk.core import AuthenticatedClient
from accounting_sdk.core.api import VERSION, BusinessOperations, PartnerOperations
from accounting_sdk.core.api.access import issue_business_token, issue_partner_token
from accounting_sdk.core.models import (
    BusinessToken,
    Event,
    EventFeed,
    EventTypeFilter,
    PartnerEventFeed,
    PartnerToken,
    TokenRequest,
)
from accounting_sdk.core.types import UNSET, Unset
from accounting_sdk.pages import follow, taken
from accounting_sdk.session import USUAL, Retries, Session
from accounting_sdk.tokens import IssuedToken, Tokens

# A server with default settings answers within 15 seconds.
ANSWER_SECONDS = 30.0
# The longest time for which the server waits for an event.
WAIT_SECONDS = 20


class Accounting(PartnerOperations):
    """A partner's session: it manages businesses, and `business` opens the books of one.

    `options` are arguments of httpx.Client, such as timeout, verify, proxy and transport. Threads
    can share an instance. A call that does not succeed raises AccountingError.
    """

    def __init__(
        self,
        base_url: str,
        partner_id: UUID | str,
        api_key: str,
        *,
        retries: Retries = USUAL,
        **options: Any,
    ) -> None:
        self._http = Session(
            retries,
            base_url=base_url,
            auth=Tokens(httpx.BasicAuth(str(partner_id), api_key), self._issue),
            **{"timeout": ANSWER_SECONDS, **options},
        )
        self._http.headers["User-Agent"] = f"accounting-sdk/{VERSION}"
        # The client's own token is never sent: Tokens sets the header of each request.
        self.core = AuthenticatedClient(base_url, token="").set_httpx_client(self._http)

    def business(self, business_id: UUID | str) -> "Books":
        """Return the books of a business; its calls use a token for this business only."""
        return Books(self.core, UUID(str(business_id)))

    def event_pages(
        self,
        after: str | Unset = UNSET,
        *,
        types: list[EventTypeFilter] | Unset = UNSET,
        wait: int = WAIT_SECONDS,
        page_size: int = 100,
    ) -> Iterator[PartnerEventFeed]:
        """Yield the events of all businesses after a cursor, in pages, and then each new one.

        Store `next_cursor` of each page that you have handled, and begin with it next time. The
        events of a business are in their order. With `wait=0` it ends with the newest event.
        """
        seconds = answered_within(self.core, wait)

        def feed(after: str | Unset) -> PartnerEventFeed:
            return self.list_partner_events(
                after=after, types=types, wait=seconds, page_size=page_size
            )

        return follow(feed, after, lambda page: page.next_cursor, endless=wait > 0)

    def close(self) -> None:
        """Close all connections, including those of the businesses."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _issue(self, business_id: str | None) -> IssuedToken:
        if business_id is None:
            grant = TokenRequest(grant_type="client_credentials")
            return taken(PartnerToken, issue_partner_token.sync(client=self.core, body=grant))
        answer = issue_business_token.sync(UUID(business_id), client=self.core)
        return taken(BusinessToken, answer)


class Books(BusinessOperations):
    """The books of one business; it uses the connections of its `Accounting`."""

    def __init__(self, core: AuthenticatedClient, business_id: UUID) -> None:
        self.core = core
        self.business_id = business_id

    def events(
        self,
        after: int = 0,
        *,
        types: list[EventTypeFilter] | Unset = UNSET,
        object_id: UUID | Unset = UNSET,
        wait: int = WAIT_SECONDS,
        page_size: int = 100,
    ) -> Iterator[Event]:
        """Yield the events after a sequence in their order, and then each new one, without end.

        Store `sequence` of each event that you have handled, and begin with it next time. `types`
        are such as "invoice.paid" and "invoice.*". With `wait=0` it ends with the newest event.
        """
        seconds = answered_within(self.core, wait)

        def feed(after: int) -> EventFeed:
            return self.list_events(
                after=after, types=types, object_id=object_id, wait=seconds, page_size=page_size
            )

        pages = follow(feed, after, lambda page: page.last_sequence, endless=wait > 0)
        return chain.from_iterable(page.results for page in pages)

    def bulk(
        self,
        items: Items,
        *,
        progress: Callable[[BulkReport], object] | None = None,
        state: Path | str | None = None,
        name: str = "",
        size: int = MOST_ITEMS,
        retries: Retries = PATIENT,
    ) -> BulkReport:
        """Send any number of writes in batches; return the result of each.

        An item is a body to create a record with, such as InvoiceCreate, or a tuple (operation,
        body, path). Items are saved in their order, each alone: one that is refused is in
        `failures`, and the others go on. Give each record an `external_id`. After a kill, call it
        again with the same items in the same order: what is saved is found and not saved again.

        `progress` is called after each batch. `state` is a file that keeps which batches are done,
        so that a repeat skips them. Within 30 days the same items have the same results: with
        another `name`, items that were refused are tried again. Raises AccountingError if a batch
        as a whole fails, also after `retries`.
        """
        bulk = Bulk(self.core.get_httpx_client(), self.business_id, name, retries, size)
        return bulk.run(items, progress, state)


def answered_within(core: AuthenticatedClient, wait: int) -> int:
    """Return the seconds to wait for an event: the answer must come before the client's timeout."""
    timeout = core.get_httpx_client().timeout.read
    return wait if timeout is None else min(wait, int(timeout * 2 / 3))
