"""Revocation of one token or of all of a business, on every server from the next request."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from access.tokens import CLOCK_LEEWAY_SECONDS, TOKEN_LIFETIME_SECONDS, Keyring, token_id
from persistence.integrity.trail import PARTNER_CHECKS
from tests import clock
from tests.api_server import SECRET, ApiServer
from tests.builders.files import follow, upload
from tests.partner import Business, Partner

REVOKE = "/v1/platform/oauth2/revoke/"
TOKEN = "/v1/platform/oauth2/token/"
BUSINESSES = "/v1/platform/businesses/"
FORM = {"grant_type": "client_credentials"}
KEYRING = Keyring([SECRET])
REVOKED = {"revoked": True}


def partner_token(partner: Partner, seconds: int) -> str:
    """Return a token issued some seconds from now: tokens of the same second are equal."""
    issued = clock.now() + timedelta(seconds=seconds)
    return KEYRING.issue_partner_token(partner.partner_id, issued)


def business_token(business: Business, seconds: int) -> str:
    issued = clock.now() + timedelta(seconds=seconds)
    return KEYRING.issue_business_token(business.partner.partner_id, UUID(business.id), issued)


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def listed(business: Business, token: str, server: ApiServer | None = None) -> httpx.Response:
    url = server.url if server else business.partner.url
    path = f"{url}{BUSINESSES}{business.id}/customers/"
    return business.partner.key.get(path, headers=bearer(token), auth=None)


def is_revoked(answer: httpx.Response) -> bool:
    return (answer.status_code, answer.json()["error_code"]) == (401, "invalid_token")


@pytest.fixture
def own(acme: Partner) -> Business:
    """A business whose tokens no other test uses."""
    return acme.business()


@pytest.fixture(scope="module")
def second_server(api_server: ApiServer) -> Iterator[ApiServer]:
    """A second server on the same database."""
    with ApiServer(api_server.database_url) as server:
        yield server


class TestRevokeToken:
    @pytest.mark.parametrize("form", ["data", "json", "files"])
    def test_of_a_business_ends_it_and_no_other(
        self, form: str, acme: Partner, own: Business
    ) -> None:
        lost, kept = business_token(own, 2), business_token(own, 4)
        assert listed(own, lost).status_code == 200
        body: dict[str, Any] = {"token": lost, "token_type_hint": "access_token"}
        if form == "files":
            body = {name: (None, value) for name, value in body.items()}
        answer = acme.key.post(REVOKE, **{form: body})
        assert (answer.status_code, answer.json()) == (200, REVOKED)
        assert answer.headers["cache-control"] == "no-store"
        assert is_revoked(listed(own, lost))
        assert listed(own, kept).status_code == 200

    def test_ends_it_on_another_server_at_once(
        self, acme: Partner, own: Business, second_server: ApiServer
    ) -> None:
        lost = business_token(own, 2)
        assert listed(own, lost, second_server).status_code == 200
        acme.key.post(REVOKE, data={"token": lost})
        assert is_revoked(listed(own, lost, second_server))
        path = f"{second_server.url}{BUSINESSES}{own.id}/"
        for method, rest, body in (
            ("GET", "", None),
            ("GET", "reports/trial-balance/?as_of_date=2026-01-01", None),
            ("POST", "customers/", {"company_name": "Late"}),
        ):
            options: Any = {"json": body, "headers": bearer(lost), "auth": None}
            assert is_revoked(acme.key.request(method, path + rest, **options)), (method, rest)

    def test_of_a_partner_by_that_very_token(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Leaving")
        own = bearer(partner_token(partner, 2))
        assert partner.key.get(BUSINESSES, headers=own, auth=None).status_code == 200
        body = {"token": own["authorization"].removeprefix("Bearer ")}
        answer = partner.key.post(REVOKE, data=body, headers=own, auth=None)
        assert (answer.status_code, answer.json()) == (200, REVOKED)
        assert is_revoked(partner.key.get(BUSINESSES, headers=own, auth=None))
        again = partner.key.post(REVOKE, data=body, headers=own, auth=None)
        assert (again.status_code, again.json()["error"]) == (401, "invalid_token")

    def test_is_refused_before_the_request_is_looked_at(self, acme: Partner, own: Business) -> None:
        lost = business_token(own, 2)
        acme.api.post(REVOKE, json={"token": lost})
        path = f"{BUSINESSES}{own.id}/customers/"
        assert is_revoked(acme.key.post(path, json={}, headers=bearer(lost), auth=None))

    def test_a_second_time_is_as_the_first(
        self, api_server: ApiServer, acme: Partner, own: Business
    ) -> None:
        lost = business_token(own, 2)
        for _ in range(3):
            answer = acme.key.post(REVOKE, data={"token": lost})
            assert (answer.status_code, answer.json()) == (200, REVOKED)
        assert api_server.query(
            "SELECT object_type, change, action FROM partner_audit_record WHERE object_id = %s",
            token_id(lost),
        ) == [("token", "update", "revoke_token")]

    def test_of_another_partner_does_nothing_and_tells_nothing(
        self, api_server: ApiServer, own: Business, rival: Partner
    ) -> None:
        foreign = business_token(own, 2)
        answers = [
            rival.key.post(REVOKE, data={"token": token})
            for token in (foreign, "no token at all", partner_token(own.partner, 2))
        ]
        contents = {(each.status_code, each.content) for each in answers}
        assert contents == {(200, b'{"revoked":true}')}
        assert listed(own, foreign).status_code == 200
        kept = "SELECT id FROM revoked_token WHERE partner_id = %s"
        assert api_server.query(kept, rival.partner_id) == []

    def test_that_has_expired_is_200_and_keeps_nothing(
        self, api_server: ApiServer, acme: Partner, own: Business
    ) -> None:
        expired = business_token(own, -TOKEN_LIFETIME_SECONDS)
        answer = acme.key.post(REVOKE, data={"token": expired})
        assert (answer.status_code, answer.json()) == (200, REVOKED)
        found = "SELECT id FROM revoked_token WHERE id = %s"
        assert api_server.query(found, token_id(expired)) == []

    def test_is_kept_until_it_would_have_expired(
        self, api_server: ApiServer, acme: Partner, own: Business
    ) -> None:
        early, late = business_token(own, 2), business_token(own, 3)
        acme.key.post(REVOKE, data={"token": early})
        found = "SELECT id FROM revoked_token WHERE partner_id = %s AND id = ANY(%s)"
        kept = [token_id(early), token_id(late)]
        assert api_server.query(found, acme.partner_id, kept) == [(kept[0],)]
        ended = "UPDATE revoked_token SET expires_at = %s WHERE id = %s RETURNING id"
        past = clock.now() - timedelta(seconds=1)
        assert api_server.query(ended, past, kept[0]) == [(kept[0],)]
        acme.key.post(REVOKE, data={"token": late})
        assert api_server.query(found, acme.partner_id, kept) == [(kept[1],)]

    def test_leaves_the_trails_in_order(
        self, api_server: ApiServer, acme: Partner, own: Business
    ) -> None:
        acme.key.post(REVOKE, data={"token": business_token(own, 2)})
        acme.api.post(revocation(own))
        assert api_server.prover.faults_of(own.id) == []
        broken = "SELECT * FROM ({}) AS looked_at WHERE NOT holds"
        for check in PARTNER_CHECKS.values():
            text = broken.format(check.replace("%(partner_id)s", "%s"))
            parameters = [acme.partner_id] * text.count("%s")
            assert api_server.query(text, *parameters) == []

    def test_the_next_token_is_good_though_it_is_of_the_same_second(
        self, api_server: ApiServer, own: Business
    ) -> None:
        partner = own.partner
        path = f"/v1/platform/{own.id}/oauth2/token/"
        lost = partner.api.post(path).json()["access_token"]
        assert listed(own, lost).status_code == 200
        partner.key.post(REVOKE, data={"token": lost})
        assert is_revoked(listed(own, lost))
        assert listed(own, partner.api.post(path).json()["access_token"]).status_code == 200
        # A new partner: tokens of other tests may be of the same second.
        partner = api_server.partner("Hasty")
        lost = partner.key.post(TOKEN, data=FORM).json()["access_token"]
        partner.key.post(REVOKE, data={"token": lost})
        renewed = partner.key.post(TOKEN, data=FORM).json()["access_token"]
        for token, status in ((lost, 401), (renewed, 200)):
            answer = partner.key.get(BUSINESSES, headers=bearer(token), auth=None)
            assert answer.status_code == status

    def test_when_all_of_these_seconds_are_revoked_none_is_issued(
        self, api_server: ApiServer
    ) -> None:
        partner = api_server.partner("Impatient")
        tokens = [partner_token(partner, seconds) for seconds in range(CLOCK_LEEWAY_SECONDS)]
        for token in tokens:
            partner.key.post(REVOKE, data={"token": token})
        answer = partner.key.post(TOKEN, data=FORM)
        assert (answer.status_code, answer.json()["error"]) == (503, "server_error")
        assert answer.headers["retry-after"] == str(CLOCK_LEEWAY_SECONDS)

    def test_leaves_links_to_documents_good(self, acme: Partner, own: Business) -> None:
        made = upload(own).json()
        token = own.api.headers["authorization"].removeprefix("Bearer ")
        assert acme.key.post(REVOKE, data={"token": token}).status_code == 200
        assert is_revoked(own.api.get("documents/"))
        assert follow(own, made["url"]).status_code == 200


class TestRevokeBusinessTokens:
    @pytest.mark.parametrize("caller", ["key", "api"])
    def test_ends_all_of_that_business_and_no_other(
        self, caller: str, acme: Partner, own: Business, second_server: ApiServer
    ) -> None:
        sister = acme.business()
        lost = [business_token(own, seconds) for seconds in (0, 1)]
        assert {listed(own, each, second_server).status_code for each in lost} == {200}
        answer = getattr(acme, caller).post(revocation(own))
        assert (answer.status_code, answer.json()) == (200, REVOKED)
        for server in (None, second_server):
            assert all(is_revoked(listed(own, each, server)) for each in lost)
            path = f"{server.url if server else acme.url}{BUSINESSES}{own.id}/"
            assert is_revoked(acme.key.get(path, headers=bearer(lost[0]), auth=None))
        assert sister.api.get("customers/").status_code == 200
        assert acme.api.get(f"{BUSINESSES}{own.id}/customers/").status_code == 200

    def test_a_new_token_works_at_once(self, own: Business) -> None:
        for _ in range(2):
            assert own.partner.api.post(revocation(own)).status_code == 200
            renewed = own.partner.api.post(f"/v1/platform/{own.id}/oauth2/token/")
            assert listed(own, renewed.json()["access_token"]).status_code == 200

    def test_ends_links_to_documents(self, own: Business) -> None:
        made = upload(own).json()
        assert follow(own, made["url"]).status_code == 200
        own.partner.api.post(revocation(own))
        assert follow(own, made["url"]).status_code == 403

    def test_of_an_archived_one_too(self, own: Business) -> None:
        lost = business_token(own, 1)
        own.partner.api.post(f"{BUSINESSES}{own.id}/archive/")
        assert own.partner.api.post(revocation(own)).status_code == 200
        assert is_revoked(listed(own, lost))


def revocation(business: Business) -> str:
    return f"/v1/platform/{business.id}/oauth2/revoke/"
