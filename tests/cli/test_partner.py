import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from accounting.errors import ValidationError
from persistence.engine.admission import KEPT_SECONDS
from tests.api_server import ApiServer
from tests.cli.refusals import refusal
from tests.command_line import ACCOUNTING, CommandLine
from tests.partner import NOBODY, PATIENCE_SECONDS, within
from tests.terminal import terminal

TOKEN = "/v1/platform/oauth2/token/"
BUSINESSES = "/v1/platform/businesses/"


@dataclass
class Visitor:
    """A partner with its key, and its requests to the server."""

    api_server: ApiServer
    partner_id: str
    api_key: str

    @property
    def key_id(self) -> str:
        return self.api_key.rpartition("_")[2][:8]

    def ask_token(self) -> httpx.Response:
        grant = {"grant_type": "client_credentials"}
        auth = (self.partner_id, self.api_key)
        return httpx.post(self.api_server.url + TOKEN, data=grant, auth=auth, verify=NOBODY)

    def token(self) -> str:
        return str(self.ask_token().json()["access_token"])

    def enter(self, token: str) -> int:
        bearer = {"Authorization": f"Bearer {token}"}
        url = self.api_server.url + BUSINESSES
        return httpx.get(url, headers=bearer, verify=NOBODY).status_code


@pytest.fixture
def visitor(own_server: ApiServer) -> Visitor:
    partner = own_server.partner("Visitor")
    return Visitor(own_server, str(partner.partner_id), partner.api_key)


def visiting(api_server: ApiServer, facts: dict[str, Any]) -> Visitor:
    return Visitor(api_server, facts["partner_id"], facts["api_key"])


class TestCreate:
    def test_prints_the_id_and_the_key_as_json(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        facts = command_line.did("partner", "create", "Ledger Loft", "--json").facts
        assert set(facts) == {"partner_id", "api_key", "key_id"}
        assert facts["api_key"].startswith("apk_live_")
        assert visiting(own_server, facts).ask_token().status_code == 200

    def test_a_blank_name_is_refused(self, command_line: CommandLine) -> None:
        reason = refusal(command_line, "partner", "create", "  ")
        assert reason.startswith("accounting: NAME '  ' is refused: one line of text is needed, ")

    @pytest.mark.parametrize("name", ["", " \t ", "two\nlines", "a\x1b[2Jb", "\udcff"])
    def test_a_name_that_is_no_line_of_text_is_refused(
        self, own_server: ApiServer, name: str
    ) -> None:
        before = own_server.query("SELECT count(*) FROM partner")
        with pytest.raises(ValidationError, match="one line of text"):
            own_server.partner(name)
        assert own_server.query("SELECT count(*) FROM partner") == before

    def test_prints_them_to_people_and_says_that_it_does_so_once(
        self, command_line: CommandLine
    ) -> None:
        told = command_line.did("partner", "create", "Ledger Loft", "--test")
        assert "api_key: apk_test_" in told.out
        assert "shown this once" in told.err


class TestList:
    def test_shows_partners_with_their_keys_and_no_secret(
        self, command_line: CommandLine, visitor: Visitor
    ) -> None:
        told = command_line.did("partner", "list")
        [line] = [line for line in told.out.splitlines() if visitor.partner_id in line]
        assert "Visitor" in line
        assert visitor.key_id in line
        assert visitor.api_key not in told.out

    def test_cuts_nothing_on_a_narrow_terminal(
        self, command_line: CommandLine, visitor: Visitor
    ) -> None:
        environment = command_line.environment(COLUMNS="40")
        with terminal([ACCOUNTING, "partner", "list"], environment) as opened:
            assert opened.end() == 0
        [line] = [line for line in opened.shown.splitlines() if visitor.partner_id in line]
        assert visitor.key_id in line
        assert line.endswith("Visitor")

    def test_shows_them_to_programs(self, command_line: CommandLine, visitor: Visitor) -> None:
        listed = json.loads(command_line.did("partner", "list", "--json").out)
        [partner] = [each for each in listed if each["partner_id"] == visitor.partner_id]
        assert partner["name"] == "Visitor"
        assert partner["active_keys"] == [visitor.key_id]
        assert partner["disabled_at"] is None
        created = datetime.fromisoformat(partner["created_at"])
        assert timedelta(0) <= datetime.now(UTC) - created < timedelta(hours=1)
        assert visitor.api_key not in repr(listed)


class TestRotateKey:
    def test_both_keys_work_until_the_old_one_is_revoked(
        self, command_line: CommandLine, visitor: Visitor, own_server: ApiServer
    ) -> None:
        facts = command_line.did("partner", "rotate-key", visitor.partner_id, "--json").facts
        second = visiting(own_server, facts)
        assert facts["active_keys"] == [visitor.key_id, second.key_id]
        assert visitor.ask_token().status_code == 200
        token = second.token()
        told = command_line.did(
            "partner", "revoke-key", visitor.partner_id, visitor.key_id, "--yes"
        )
        assert told.out.startswith(f"The key {visitor.key_id} and all tokens")
        assert visitor.ask_token().status_code == 401
        assert visitor.enter(token) == 401  # A token does not show from which key it was issued.
        assert visitor.enter(second.token()) == 200

    def test_a_third_key_is_refused(self, command_line: CommandLine, visitor: Visitor) -> None:
        command_line.did("partner", "rotate-key", visitor.partner_id)
        reason = refusal(command_line, "partner", "rotate-key", visitor.partner_id)
        assert reason.startswith("accounting: Two keys are active already")


class TestRevokeTokens:
    def test_earlier_tokens_are_refused_and_new_ones_are_not(
        self, command_line: CommandLine, visitor: Visitor
    ) -> None:
        token = visitor.token()
        assert visitor.enter(token) == 200
        command_line.did("partner", "revoke-tokens", visitor.partner_id, "--yes")
        assert visitor.enter(token) == 401
        assert visitor.enter(visitor.token()) == 200


class TestRevokeBusinessTokens:
    def test_tokens_of_the_business_are_refused_and_new_ones_are_not(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        business = own_server.partner("Landlord").business()
        assert business.api.get("customers/").status_code == 200
        words = ("business", "revoke-tokens", business.id, "--yes")
        facts = command_line.did(*words, "--json").facts
        assert (facts["business_id"], facts["name"]) == (business.id, business.record["name"])
        assert business.api.get("customers/").status_code == 401
        del business.api
        assert business.api.get("customers/").status_code == 200
        told = command_line.did(*words)
        assert told.out == (
            "All tokens and links of the business issued so far are refused from now on.\n"
        )
        assert business.api.get("customers/").status_code == 401

    def test_asks_by_the_name_of_the_business(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        business = own_server.partner("Landlord").business()
        assert business.api.get("customers/").status_code == 200
        command = [sys.executable, "-c", "from cli.main import main; main()"]
        words = [*command, "business", "revoke-tokens", business.id]
        with terminal(words, command_line.environment()) as opened:
            opened.wait_for("[y/N]: ")
            assert f"{business.record['name']} ({business.id}): " in opened.shown
            opened.type("n")
            assert opened.end() == 1, opened.shown
        assert business.api.get("customers/").status_code == 200


class TestDisable:
    def test_neither_key_nor_token_lets_in_until_it_is_enabled(
        self, command_line: CommandLine, visitor: Visitor
    ) -> None:
        token = visitor.token()
        disabled = command_line.did(
            "partner", "disable", visitor.partner_id, "--yes", "--json"
        ).facts
        assert disabled["disabled_at"] is not None
        assert visitor.ask_token().status_code == 401
        assert visitor.enter(token) == 401
        enabled = command_line.did("partner", "enable", visitor.partner_id, "--json").facts
        assert (enabled["partner_id"], enabled["disabled_at"]) == (visitor.partner_id, None)
        assert within(KEPT_SECONDS + PATIENCE_SECONDS, lambda: visitor.ask_token().is_success)
        assert visitor.enter(visitor.token()) == 200
        assert visitor.enter(token) == 401

    def test_one_that_is_enabled_may_be_enabled(
        self, command_line: CommandLine, visitor: Visitor
    ) -> None:
        told = command_line.did("partner", "enable", visitor.partner_id)
        assert told.out == "The partner is let in again, by its keys, within five seconds.\n"
        assert visitor.ask_token().status_code == 200


ASKED = {
    "disable": [],
    "revoke-tokens": [],
    "revoke-key": ["key_id"],
}


class TestConfirmation:
    def words(self, command: str, visitor: Visitor) -> list[str]:
        more = [getattr(visitor, name) for name in ASKED[command]]
        return ["partner", command, visitor.partner_id, *more]

    @pytest.mark.parametrize("command", ASKED)
    def test_nothing_is_done_where_nobody_can_be_asked(
        self, command_line: CommandLine, visitor: Visitor, command: str
    ) -> None:
        token = visitor.token()
        assert refusal(command_line, *self.words(command, visitor)) == (
            "accounting: This asks before it is done, and there is no terminal: give --yes."
        )
        assert visitor.enter(token) == 200
        assert visitor.ask_token().status_code == 200

    @pytest.mark.parametrize(
        ("command", "typed", "code", "status"),
        [*((command, "y", 0, 401) for command in ASKED), ("disable", "n", 1, 200)],
    )
    def test_a_person_is_asked_by_the_partners_name(
        self,
        command_line: CommandLine,
        visitor: Visitor,
        command: str,
        typed: str,
        code: int,
        status: int,
    ) -> None:
        token = visitor.token()
        words = [ACCOUNTING, *self.words(command, visitor)]
        with terminal(words, command_line.environment()) as opened:
            opened.wait_for("[y/N]: ")
            assert f"Visitor ({visitor.partner_id}): " in opened.shown
            opened.type(typed)
            assert opened.end() == code, opened.shown
        assert visitor.enter(token) == status
