from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.cli.desk import Desk
from tests.house import House

TOKEN = "/v1/platform/oauth2/token/"
BUSINESSES = "/v1/platform/businesses/"


@dataclass
class Visitor:
    """A partner at the door of the house, with its key."""

    house: House
    partner_id: str
    api_key: str

    @property
    def key_id(self) -> str:
        return self.api_key.rpartition("_")[2][:8]

    def ask_token(self) -> httpx.Response:
        grant = {"grant_type": "client_credentials"}
        auth = (self.partner_id, self.api_key)
        return httpx.post(self.house.url + TOKEN, data=grant, auth=auth)

    def token(self) -> str:
        return str(self.ask_token().json()["access_token"])

    def enter(self, token: str) -> int:
        bearer = {"Authorization": f"Bearer {token}"}
        return httpx.get(self.house.url + BUSINESSES, headers=bearer).status_code


@pytest.fixture
def visitor(premises: House) -> Visitor:
    partner = premises.partner("Visitor")
    return Visitor(premises, str(partner.partner_id), partner.api_key)


def visiting(house: House, facts: dict[str, Any]) -> Visitor:
    return Visitor(house, facts["partner_id"], facts["api_key"])


class TestCreate:
    def test_prints_the_id_and_the_key_as_json(self, desk: Desk, premises: House) -> None:
        facts = desk.did("partner", "create", "Ledger Loft", "--json").facts
        assert set(facts) == {"partner_id", "api_key", "key_id"}
        assert facts["api_key"].startswith("apk_live_")
        assert visiting(premises, facts).ask_token().status_code == 200

    def test_prints_them_to_people_and_says_that_it_does_so_once(self, desk: Desk) -> None:
        told = desk.did("partner", "create", "Ledger Loft", "--test")
        assert "api_key: apk_test_" in told.out
        assert "shown this once" in told.err


class TestList:
    def test_shows_partners_with_their_keys_and_no_secret(
        self, desk: Desk, visitor: Visitor
    ) -> None:
        told = desk.did("partner", "list")
        [line] = [line for line in told.out.splitlines() if visitor.partner_id in line]
        assert "Visitor" in line
        assert visitor.key_id in line
        assert visitor.api_key not in told.out


class TestRotateKey:
    def test_both_keys_work_until_the_old_one_is_revoked(
        self, desk: Desk, visitor: Visitor, premises: House
    ) -> None:
        facts = desk.did("partner", "rotate-key", visitor.partner_id, "--json").facts
        second = visiting(premises, facts)
        assert facts["active_keys"] == [visitor.key_id, second.key_id]
        assert visitor.ask_token().status_code == 200
        token = second.token()
        desk.did("partner", "revoke-key", visitor.partner_id, visitor.key_id)
        assert visitor.ask_token().status_code == 401
        assert visitor.enter(token) == 401  # Nobody can tell which key a stolen token came from.
        assert visitor.enter(second.token()) == 200

    def test_a_third_key_is_refused(self, desk: Desk, visitor: Visitor) -> None:
        desk.did("partner", "rotate-key", visitor.partner_id)
        told = desk.run("partner", "rotate-key", visitor.partner_id)
        assert told.code == 2
        assert told.err.startswith("accounting: Two keys are active already")


class TestRevokeTokens:
    def test_tokens_of_before_are_refused_and_new_ones_are_not(
        self, desk: Desk, visitor: Visitor
    ) -> None:
        token = visitor.token()
        assert visitor.enter(token) == 200
        desk.did("partner", "revoke-tokens", visitor.partner_id)
        assert visitor.enter(token) == 401
        assert visitor.enter(visitor.token()) == 200


class TestDisable:
    def test_neither_key_nor_token_lets_in(self, desk: Desk, visitor: Visitor) -> None:
        token = visitor.token()
        desk.did("partner", "disable", visitor.partner_id)
        assert visitor.ask_token().status_code == 401
        assert visitor.enter(token) == 401


class TestUnknownPartner:
    @pytest.mark.parametrize("command", ["rotate-key", "revoke-tokens", "disable"])
    def test_is_told_without_a_traceback(self, desk: Desk, command: str) -> None:
        nobody = "01a1f737-0000-7000-8000-000000000000"
        told = desk.run("partner", command, nobody)
        assert (told.code, told.err) == (2, "accounting: There is no such partner.\n")
