"""`accounting mcp` as the host of an agent starts it, over standard input and output."""

import json
from typing import Any

import anyio
import pytest
import typer
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from cli import agents
from tests.cli.refusals import refusal
from tests.command_line import ACCOUNTING, CommandLine
from tests.partner import Business, Partner


@pytest.fixture(scope="module")
def shop(partner: Partner) -> Business:
    return partner.business()


def host(bare: CommandLine, *words: str, mode: str = "auto", **named: str) -> Client:
    """Return a client that starts the command; a `legacy` one begins with a handshake."""
    environment = bare.environment(**named)
    started = StdioServerParameters(command=ACCOUNTING, args=["mcp", *words], env=environment)
    return Client(started, mode=mode)


def value(result: CallToolResult) -> Any:
    """Return the answer of a tool that must succeed."""
    [content] = result.content
    assert not result.is_error, content.text
    return json.loads(content.text)


class TestHost:
    def test_lists_and_runs_the_tools_with_a_partner_s_key(
        self, bare_command_line: CommandLine, shop: Business
    ) -> None:
        named = {
            "ACCOUNTING_URL": shop.partner.url,
            "ACCOUNTING_PARTNER_ID": str(shop.partner.partner_id),
            "ACCOUNTING_API_KEY": shop.partner.api_key,
            "ACCOUNTING_BUSINESS_ID": shop.id,
        }
        customer = shop.customer()["id"]
        body = {"customer_id": customer, "line_items": [{"quantity": 1, "unit_price": 100}]}

        async def play() -> None:
            async with host(bare_command_line, **named) as agent:
                assert len((await agent.list_tools()).tools) == 25
                preview = value(await agent.call_tool("preview_invoice", body))
                given = {"preview_id": preview["preview_id"]}
                saved = value(await agent.call_tool("commit_invoice", given))
                shown = {"kind": "invoice", "id": saved["record"]["id"]}
                record = value(await agent.call_tool("show", shown))["record"]
                assert record["metadata"] == {"created_by": "ai"}

        anyio.run(play)

    def test_has_the_reading_tools_alone_with_read_only(
        self, bare_command_line: CommandLine, shop: Business
    ) -> None:
        path = f"/v1/platform/{shop.id}/oauth2/token/"
        token = shop.partner.api.post(path).json()["access_token"]
        named = {"ACCOUNTING_URL": shop.partner.url, "ACCOUNTING_TOKEN": token}

        async def play() -> None:
            async with host(bare_command_line, "--read-only", mode="legacy", **named) as agent:
                names = [tool.name for tool in (await agent.list_tools()).tools]
                assert len(names) == 13
                assert value(await agent.call_tool("business", {}))["access"] == "read"

        anyio.run(play)


class TestStart:
    def test_without_the_library_names_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(agents, "find_spec", lambda _name: None)
        with pytest.raises(typer.BadParameter, match=r"pip install 'accounting-platform\[mcp\]'"):
            agents.serve_tools("https://api.example.com", None, None, read_only=True)

    def test_without_credentials_names_the_settings(self, bare_command_line: CommandLine) -> None:
        told = refusal(bare_command_line, "mcp", "--url", "https://api.example.com")
        assert "Set ACCOUNTING_TOKEN to a token of the business; or" in told

    def test_sends_no_credentials_over_plain_http(self, bare_command_line: CommandLine) -> None:
        told = bare_command_line.run(
            "mcp", "--url", "http://api.example.com", ACCOUNTING_TOKEN="a.b.c"
        )
        assert told.code == 2
        assert "https only" in told.err
