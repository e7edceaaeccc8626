"""The tools that credentials open, their definitions, and what a server says that is not there."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.partner import Business, Partner
from tests.ports import free_port
from tools.mcp.client import Access, BusinessClient, CannotStart
from tools.mcp.definitions import READING, TOOLS
from tools.mcp.tests.agent import Agent, token_of, with_key, with_token

MOST_TOKENS = 12_000
CHARACTERS_A_TOKEN = 4


class TestDefinitions:
    def test_are_few_and_short(self, agent: Agent) -> None:
        tools = agent.tools()
        assert 20 <= len(tools) <= 25
        size = sum(len(tool.model_dump_json(exclude_none=True)) for tool in tools.values())
        assert size <= MOST_TOKENS * CHARACTERS_A_TOKEN

    def test_say_which_tools_change_something(self, agent: Agent) -> None:
        changing = {
            name for name, tool in agent.tools().items() if not tool.annotations.read_only_hint
        }
        assert changing == {name for name in TOOLS if name.startswith("commit_")}

    def test_each_preview_has_its_commit(self) -> None:
        names = [name for name in TOOLS if name.startswith("preview_")]
        assert len(names) == 6
        for name in names:
            commit = TOOLS[name.replace("preview_", "commit_")]
            assert [*commit.properties] == ["preview_id"]
            assert commit.name in TOOLS[name].description

    def test_every_argument_is_typed_and_no_other_is_taken(self) -> None:
        for tool in TOOLS.values():
            assert tool.schema["additionalProperties"] is False
            assert {*tool.required} <= tool.properties.keys()
            assert all("type" in schema for schema in tool.properties.values()), tool.name

    def test_an_unknown_tool_is_refused_with_the_known_ones(self, agent: Agent) -> None:
        refusal = agent.call("delete_everything").refusal
        assert refusal.startswith("The tool delete_everything does not exist. There are: business")


class TestReadOnly:
    @pytest.mark.parametrize("make", [with_token, with_key])
    def test_by_request_of_the_operator_has_the_reading_tools(
        self, shop: Business, books: SimpleNamespace, make: object
    ) -> None:
        with Agent(make(shop, read_only=True)) as agent:
            assert [*agent.tools()] == [tool.name for tool in READING]
            assert agent.read("show", kind="invoice", id=books.invoice["id"])

    def test_by_its_token_has_the_reading_tools(self, reader: Agent) -> None:
        assert [*reader.tools()] == [tool.name for tool in READING]

    def test_by_a_partner_s_key_uses_a_token_that_reads(self, shop: Business) -> None:
        with Agent(with_key(shop, read_only=True)) as agent:
            agent.read("list_tax_codes")
            headers = {"Authorization": f"Bearer {agent.api._token}"}
            body = {"company_name": "Late"}
            assert shop.api.post("customers/", json=body, headers=headers).status_code == 403


class TestKey:
    def test_of_a_partner_writes(self, shop: Business, books: SimpleNamespace) -> None:
        with Agent(with_key(shop)) as agent:
            items = [{"quantity": 1, "unit_price": 100}]
            saved = agent.saved("invoice", customer_id=books.buyer["id"], line_items=items)
            assert saved["record"]["status"] == "draft"

    def test_gets_a_new_token_for_one_that_was_refused(self, acme: Partner) -> None:
        business = acme.business()
        with Agent(with_key(business)) as agent:
            agent.read("list_tax_codes")
            first = agent.api._token
            acme.api.post(f"/v1/platform/{business.id}/oauth2/revoke/")
            agent.read("list_tax_codes")
            assert agent.api._token != first

    def test_that_is_wrong_is_told_with_its_remedy(self, shop: Business) -> None:
        with Agent(replace(with_key(shop), api_key="wrong")) as agent:
            refusal = agent.call("business").refusal
        assert "401 invalid_credentials" in refusal
        assert "What to do: Check both" in refusal


class TestToken:
    def test_that_was_revoked_asks_the_operator_for_another(self, acme: Partner) -> None:
        business = acme.business()
        with Agent(with_token(business)) as agent:
            acme.api.post(f"/v1/platform/{business.id}/oauth2/revoke/")
            refusal = agent.call("business").refusal
        assert "401 invalid_token" in refusal
        assert "What to do: Ask the operator to start these tools with a new" in refusal

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({}, "Set ACCOUNTING_TOKEN to a token"),
            ({"partner_id": "p", "api_key": "k"}, "ACCOUNTING_BUSINESS_ID"),
            ({"token": "abc"}, "not a token of a business"),
            ({"token": "a.b.c"}, "not a token of a business"),
            ({"token": "a.e30.c"}, "not a token of a business"),
        ],
    )
    def test_that_opens_no_business_starts_nothing(
        self, changes: dict[str, str], reason: str
    ) -> None:
        with pytest.raises(CannotStart, match=reason):
            BusinessClient(Access("http://127.0.0.1", **changes))

    def test_beside_other_credentials_starts_nothing(self, shop: Business) -> None:
        token = token_of(shop, "full")
        for more in ({"partner_id": "p"}, {"api_key": "k"}):
            with pytest.raises(CannotStart, match="not both"):
                BusinessClient(Access("http://127.0.0.1", token=token, **more))
        with pytest.raises(CannotStart, match="another business"):
            BusinessClient(Access("http://127.0.0.1", token=token, business_id="b"))


class TestUnreachable:
    def test_is_told_with_what_to_check(self, shop: Business) -> None:
        host = f"http://127.0.0.1:{free_port()}"
        with Agent(replace(with_token(shop), host=host)) as agent:
            refusal = agent.call("business").refusal
        assert refusal.startswith(f"No answer from {host} (ConnectError")
        assert "ACCOUNTING_URL" in refusal
