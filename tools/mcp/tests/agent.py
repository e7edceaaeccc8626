"""An agent: the library's own client in memory, connected to the tools of one business."""

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client

from tests.contract.responses import check_response
from tests.partner import Business
from tools.mcp.client import Access, BusinessClient
from tools.mcp.previews import Previews
from tools.mcp.server import AgentServer


async def check_answer(response: httpx.Response) -> None:
    """Check an answer against the contract."""
    await response.aread()
    check_response(response)


def token_of(business: Business, access: str) -> str:
    """Return a new token of a business; `access` is full or read."""
    path = f"/v1/platform/{business.id}/oauth2/token/"
    answer = business.partner.api.post(path, json={"access": access})
    return str(answer.json()["access_token"])


def with_token(business: Business, access: str = "full", **more: Any) -> Access:
    """Return access by a token of a business."""
    return Access(business.partner.url, token=token_of(business, access), **more)


def with_key(business: Business, **more: Any) -> Access:
    """Return access by the credentials of the partner."""
    partner = business.partner
    given = {"partner_id": str(partner.partner_id), "api_key": partner.api_key, **more}
    return Access(partner.url, business_id=business.id, **given)


@dataclass(frozen=True)
class Outcome:
    """The result of a tool: its text, and whether it is an error."""

    text: str
    is_error: bool

    @property
    def value(self) -> Any:
        assert not self.is_error, self.text
        return json.loads(self.text)

    @property
    def refusal(self) -> str:
        assert self.is_error, self.text
        return self.text


class Agent:
    """A client that calls tools one after the other; `now` is the clock of the previews."""

    def __init__(self, access: Access, **options: Any) -> None:
        self.api = BusinessClient(access)
        self.api._http.event_hooks = {"response": [check_answer]}
        self.server = AgentServer(self.api, Previews(**options))

    def __enter__(self) -> Self:
        self._starting = start_blocking_portal()
        self._portal: BlockingPortal = self._starting.__enter__()
        self._opened = self._portal.wrap_async_context_manager(Client(self.server.server))
        self.client = self._opened.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        # A failed test ends both as a passed one does: with its error, the client would wait.
        self._portal.call(self.api.aclose)
        self._opened.__exit__(None, None, None)
        self._starting.__exit__(None, None, None)

    def tools(self) -> dict[str, Any]:
        """Return the definitions by name."""
        return {tool.name: tool for tool in self._portal.call(self.client.list_tools).tools}

    def call(self, name: str, **arguments: Any) -> Outcome:
        result = self._portal.call(self.client.call_tool, name, arguments)
        [content] = result.content
        return Outcome(content.text, bool(result.is_error))

    def read(self, name: str, **arguments: Any) -> Any:
        """Return the answer of a tool that must succeed."""
        return self.call(name, **arguments).value

    def saved(self, subject: str, **arguments: Any) -> Any:
        """Preview a write, commit it, and return the answer of the commit."""
        preview = self.read(f"preview_{subject}", **arguments)
        committed = self.read(f"commit_{subject}", preview_id=preview["preview_id"])
        assert committed["digest"] == preview["digest"]
        return committed
