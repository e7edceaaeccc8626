"""A partner and the books of its businesses."""

from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx

from accounting_sdk.core import AuthenticatedClient
from accounting_sdk.core.api import VERSION, BusinessOperations, PartnerOperations
from accounting_sdk.core.api.access import issue_business_token, issue_partner_token
from accounting_sdk.core.models import BusinessToken, PartnerToken, TokenRequest
from accounting_sdk.pages import taken
from accounting_sdk.session import USUAL, Retries, Session
from accounting_sdk.tokens import IssuedToken, Tokens

# A server with default settings answers within 15 seconds.
ANSWER_SECONDS = 30.0


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
