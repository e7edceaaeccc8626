"""Access: a key is exchanged for a partner token, and that for a business token; revocation."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from access import api_keys
from persistence.engine.pool import make_pool
from persistence.partners import partners
from tests import clock
from tests.api_server import ApiServer, Databases
from tests.builders.files import PDF, follow, upload
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner

TOKEN = "/v1/platform/oauth2/token/"
FORM = {"grant_type": "client_credentials"}
BUSINESSES = "/v1/platform/businesses/"
ORIGIN = "https://app.example.com"


def token_path(business: Business) -> str:
    return f"/v1/platform/{business.id}/oauth2/token/"


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def partner(api_server: ApiServer) -> Partner:
    """A new partner for each test, which may be locked out."""
    return api_server.partner("Short-lived")


def operate(api_server: ApiServer, work: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of the operator's command line."""

    async def run() -> Any:
        async with make_pool(api_server.database_url, size=1) as pool:
            return await work(pool, *arguments)

    return asyncio.run(run())


class TestIssuePartnerToken:
    def test_answers_exactly_what_oauth_promises(self, acme: Partner) -> None:
        answer = acme.key.post(TOKEN, data=FORM)
        assert answer.status_code == 200
        assert answer.json().keys() == {"access_token", "token_type", "expires_in"}
        assert (answer.json()["token_type"], answer.json()["expires_in"]) == ("Bearer", 3600)
        assert answer.headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("form", ["data", "json", "files"])
    def test_takes_a_form_json_and_multipart(self, form: str, acme: Partner) -> None:
        named = {**FORM, "client_id": str(acme.partner_id)}
        body = {name: (None, value) for name, value in named.items()} if form == "files" else named
        assert acme.key.post(TOKEN, **{form: body}).status_code == 200

    @pytest.mark.parametrize(
        ("form", "error", "field"),
        [
            ({}, "invalid_request", "body"),
            ({"grant_type": "password"}, "unsupported_grant_type", "grant_type"),
            ({"grant_type": ""}, "invalid_request", "grant_type"),
            ({**FORM, "client_secret": "apk_test_x"}, "invalid_request", "client_secret"),
        ],
    )
    def test_of_another_grant_is_400(
        self, acme: Partner, form: dict[str, str], error: str, field: str
    ) -> None:
        answer = acme.key.post(TOKEN, data=form)
        assert (answer.status_code, answer.json()["error"]) == (400, error)
        assert list(answer.json()["detail"]["field_errors"]) == [field]

    @pytest.mark.parametrize("form", ["data", "json", "files"])
    def test_ignores_blank_and_unknown_parameters(self, form: str, acme: Partner) -> None:
        # RFC 6749, 3.2; a client library sends such fields without being told to.
        more = {"scope": "accounting", "audience": "", "client_id": "", "client_secret": ""}
        sent = {**FORM, **more}
        body = {name: (None, value) for name, value in sent.items()} if form == "files" else sent
        answer = acme.key.post(TOKEN, **{form: body})
        assert answer.status_code == 200
        assert answer.json().keys() == {"access_token", "token_type", "expires_in"}

    def test_ignores_an_unknown_parameter_that_is_repeated(self, acme: Partner) -> None:
        # RFC 8707 allows that for `resource`.
        form = {**FORM, "resource": ["https://a.example", "https://b.example"]}
        assert acme.key.post(TOKEN, data=form).status_code == 200
        form = {**FORM, "client_secret": ["", "apk_test_x"]}
        assert acme.key.post(TOKEN, data=form).status_code == 400

    def test_refuses_an_unknown_parameter_of_its_address(self, acme: Partner) -> None:
        answer = acme.key.post(f"{TOKEN}?client_secret=apk_test_x", data=FORM)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")

    def test_for_another_client_is_400(self, acme: Partner, rival: Partner) -> None:
        answer = acme.key.post(TOKEN, data={**FORM, "client_id": str(rival.partner_id)})
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert list(answer.json()["detail"]["field_errors"]) == ["client_id"]

    def test_by_a_wrong_key_is_401_and_says_how_to_authenticate(self, acme: Partner) -> None:
        answer = acme.key.post(TOKEN, data=FORM, auth=(str(acme.partner_id), "wrong"))
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
        assert answer.json()["error_code"] == "invalid_credentials"
        assert answer.headers["www-authenticate"] == 'Basic realm="accounting", charset="UTF-8"'

    def test_takes_the_partner_id_in_either_case(self, acme: Partner) -> None:
        auth = (str(acme.partner_id).upper(), acme.api_key)
        assert acme.key.post(TOKEN, data=FORM, auth=auth).status_code == 200


class TestIssueBusinessToken:
    def test_answers_the_token_with_its_scope_and_business(self, shop: Business) -> None:
        answer = shop.partner.api.post(token_path(shop))
        assert answer.status_code == 200
        assert {**answer.json(), "access_token": ""} == {
            "access_token": "",
            "token_type": "Bearer",
            "expires_in": 3600,
            "scope": "business_access",
            "business_id": shop.id,
        }

    def test_that_opens_that_business_only(self, shop: Business) -> None:
        sister = shop.partner.business()
        assert shop.api.get("customers/").status_code == 200
        assert shop.api.get(f"{sister.base_url}/customers/").status_code == 403
        assert shop.api.get(f"{shop.partner.url}{BUSINESSES}").status_code == 403

    def test_of_an_archived_business_still_reads_it(self, acme: Partner) -> None:
        business = acme.business()
        acme.api.post(f"{BUSINESSES}{business.id}/archive/")
        assert acme.api.post(token_path(business)).status_code == 200
        assert business.api.get("").json()["is_active"] is False

    def test_for_a_business_of_another_partner_is_403_like_one_that_does_not_exist(
        self, shop: Business, rival: Partner
    ) -> None:
        answer = rival.api.post(token_path(shop))
        assert (answer.status_code, answer.json()["error"]) == (403, "access_denied")
        assert answer.json()["error_code"] == "permission_denied"


class TestReadToken:
    """A business token that only reads; `tests/contract` shows it at each operation."""

    @pytest.fixture
    def reader(self, shop: Business) -> Callable[..., httpx.Response]:
        """Send a request with a token for reading."""
        answer = shop.partner.api.post(token_path(shop), json={"access": "read"})
        headers = {"authorization": f"Bearer {answer.json()['access_token']}"}

        def send(method: str, path: str, **options: Any) -> httpx.Response:
            return shop.api.request(method, path, headers=headers, **options)

        return send

    @pytest.mark.parametrize("form", ["data", "json"])
    @pytest.mark.parametrize(
        ("access", "scope"), [("read", "business_access_read"), ("full", "business_access")]
    )
    def test_is_issued_where_the_request_says_so_and_names_its_scope(
        self, shop: Business, form: str, access: str, scope: str
    ) -> None:
        answer = shop.partner.api.post(token_path(shop), **{form: {"access": access}})
        assert (answer.status_code, answer.json()["scope"]) == (200, scope)
        assert answer.json().keys() >= {"access_token", "expires_in", "business_id"}

    @pytest.mark.parametrize("body", [{}, None])
    def test_is_not_issued_for_an_empty_body(self, shop: Business, body: Any) -> None:
        answer = shop.partner.api.post(token_path(shop), json=body)
        assert (answer.status_code, answer.json()["scope"]) == (200, "business_access")

    @pytest.mark.parametrize(
        "body", [{"acces": "read"}, {"scope": "business_access_read"}, {"access": "reed"}]
    )
    def test_is_not_replaced_by_one_that_writes_after_a_mistake(
        self, shop: Business, body: dict[str, str]
    ) -> None:
        answer = shop.partner.api.post(token_path(shop), data=body)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert list(answer.json()["detail"]["field_errors"]) == [*body]

    def test_of_a_body_of_another_type_is_415(self, shop: Business) -> None:
        files = {"access": (None, "read")}
        answer = shop.partner.api.post(token_path(shop), files=files)
        assert (answer.status_code, answer.json()["error"]) == (415, "invalid_request")

    def test_previews_nothing_and_a_key_opens_no_kept_answer(
        self, shop: Business, reader: Callable[..., httpx.Response]
    ) -> None:
        body = {"company_name": "Blue Door Bakery"}
        kept = {"idempotency-key": "made-before"}
        assert shop.api.post("customers/", json=body, headers=kept).status_code == 201
        token = reader("GET", "customers/").request.headers["authorization"]
        answer = shop.api.post("customers/", json=body, headers={**kept, "authorization": token})
        assert answer.status_code == 403
        assert reader("POST", "invoices/?preview=true", json={}).status_code == 403

    def test_opens_that_business_only_and_no_partner_s_work(
        self, shop: Business, reader: Callable[..., httpx.Response]
    ) -> None:
        assert reader("GET", "customers/").status_code == 200
        assert reader("HEAD", "customers/").status_code == 200
        sister = shop.partner.business()
        assert reader("GET", f"{sister.base_url}/customers/").status_code == 403
        assert reader("GET", f"{shop.partner.url}{BUSINESSES}").status_code == 403
        exchange = f"{shop.partner.url}{token_path(shop)}"
        assert reader("POST", exchange, json={"access": "full"}).status_code == 403

    def test_reads_links_that_open_files(
        self, shop: Business, reader: Callable[..., httpx.Response]
    ) -> None:
        made = upload(shop).json()
        read = reader("GET", f"documents/{made['document_id']}/").json()
        assert follow(shop, read["url"]).content == PDF

    def test_is_revoked_alone_and_with_all_of_its_business(self, acme: Partner) -> None:
        business = acme.business()
        issue = partial(acme.api.post, token_path(business))
        for path, body in (
            (f"{acme.url}/v1/platform/oauth2/revoke/", True),
            (f"/v1/platform/{business.id}/oauth2/revoke/", False),
        ):
            token = issue(json={"access": "read"}).json()["access_token"]
            headers = {"authorization": f"Bearer {token}"}
            assert business.api.get("customers/", headers=headers).status_code == 200
            acme.key.post(path, **({"data": {"token": token}} if body else {}))
            for method in ("GET", "POST"):
                answer = business.api.request(method, "customers/", headers=headers)
                assert (answer.status_code, answer.json()["error_code"]) == (401, "invalid_token")


class TestRevocation:
    def statuses(self, business: Business) -> list[int]:
        partner = business.partner
        return [
            business.api.get("customers/").status_code,
            business.api.post("customers/", json={"company_name": "Late"}).status_code,
            partner.api.get(BUSINESSES).status_code,
            partner.api.post(token_path(business)).status_code,
            partner.api.get(f"{BUSINESSES}{business.id}/").status_code,
        ]

    def test_tokens_issued_before_are_refused_at_once(
        self, api_server: ApiServer, partner: Partner
    ) -> None:
        business = partner.business()
        assert set(self.statuses(business)) <= {200, 201}
        operate(api_server, partners.revoke_tokens, partner.partner_id, clock.now())
        answer = business.api.get("customers/")
        assert (answer.status_code, answer.json()["error_code"]) == (401, "invalid_token")
        assert set(self.statuses(business)) == {401}
        assert api_server.query(
            "SELECT count(*) FROM customer WHERE business_id = %s", business.id
        ) == [(1,)]

    def test_the_key_still_gets_new_tokens(self, api_server: ApiServer, partner: Partner) -> None:
        operate(api_server, partners.revoke_tokens, partner.partner_id, clock.now())
        time.sleep(1.1 - clock.now().microsecond / 1_000_000)
        token = partner.key.post(TOKEN, data=FORM).json()["access_token"]
        renewed = {"authorization": f"Bearer {token}"}
        assert partner.key.get(BUSINESSES, headers=renewed, auth=None).status_code == 200

    def test_of_a_disabled_partner_nothing_works(
        self, api_server: ApiServer, partner: Partner
    ) -> None:
        business = partner.business()
        assert set(self.statuses(business)) <= {200, 201}
        operate(api_server, partners.disable_partner, partner.partner_id, clock.now())
        assert set(self.statuses(business)) == {401}
        assert partner.key.post(TOKEN, data=FORM).status_code == 401
        assert partner.key.get(BUSINESSES).status_code == 401

    def test_of_a_key_leaves_the_other_one_and_ends_all_tokens(
        self, api_server: ApiServer, partner: Partner
    ) -> None:
        business, second = partner.business(), api_keys.make_key("test")
        add = (partner.partner_id, second.key_id, api_keys.seal_key(second.text), clock.now())
        first, _ = operate(api_server, partners.add_key, *add)

        def statuses_of_keys() -> list[int]:
            keys = [(str(partner.partner_id), key) for key in (partner.api_key, second.text)]
            return [partner.key.get(BUSINESSES, auth=auth).status_code for auth in keys]

        assert set(self.statuses(business)) <= {200, 201}
        assert statuses_of_keys() == [200, 200]
        operate(api_server, partners.revoke_key, partner.partner_id, first, clock.now())
        assert statuses_of_keys() == [401, 200]
        assert set(self.statuses(business)) == {401}


@pytest.fixture(scope="module")
def open_server(databases: Databases) -> Iterator[ApiServer]:
    name = f"cross_origin_{os.getpid()}"
    with ApiServer(databases.clone(name), allowed_origins=frozenset({ORIGIN})) as api_server:
        yield api_server


class TestCrossOrigin:
    def test_preflights_need_no_credentials(self, open_server: ApiServer) -> None:
        headers = {
            "origin": ORIGIN,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type, idempotency-key",
        }
        answer = open_server.partner("Web").key.options(BUSINESSES, headers=headers, auth=None)
        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == ORIGIN

    def test_errors_can_be_read_by_an_allowed_origin_and_no_other(
        self, open_server: ApiServer
    ) -> None:
        caller = open_server.partner("Web").key
        for path, status in ((BUSINESSES, 401), ("/v1/nothing/", 404)):
            for origin, allowed in ((ORIGIN, ORIGIN), ("https://evil.example.com", None)):
                answer = caller.get(path, headers={"origin": origin}, auth=None)
                assert answer.status_code == status
                assert answer.headers.get("access-control-allow-origin") == allowed


class TestPlainHttp:
    def test_is_refused_where_nobody_asked_for_development(self, databases: Databases) -> None:
        with ApiServer(databases.clone(f"plain_{os.getpid()}"), development=False) as api_server:
            partner = api_server.partner("Acme")
            answer = partner.key.get(BUSINESSES)
            assert answer.status_code == 403
            assert is_as_shown("HttpsRequired", answer)
            assert partner.key.post(TOKEN, data=FORM).status_code == 403
