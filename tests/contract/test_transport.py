"""Answers of the transport and of a failing server; `test_refusal_examples.py` has others."""

from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer, Databases
from tests.contract.refusals import is_as_shown
from tests.contract.responses import FAULTS_EXPECTED
from tests.contract.sockets import exchanged
from tests.minutes import with_seconds_left
from tests.partner import PATIENCE_SECONDS, Business, Partner, within

LIST = "/v1/platform/businesses/"
TOKEN = "/v1/platform/oauth2/token/"


@pytest.fixture
def business(hurried_server: ApiServer) -> Business:
    return hurried_server.partner("Acme").business()


class TestTransport:
    def test_of_a_head_that_never_ends_is_408(self, api_server: ApiServer) -> None:
        head = f"GET {LIST} HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".encode()
        answer = exchanged(httpx.URL(api_server.url + LIST), "GET", head)
        assert answer.status_code == 408
        assert is_as_shown("RequestTimeout", answer)

    def test_many_headers_are_431(self, acme: Partner) -> None:
        answer = acme.api.get(LIST, headers={f"X-More-{number}": "x" for number in range(200)})
        assert (answer.status_code, answer.json()["error_code"]) == (431, "headers_too_large")


class TestTrouble:
    def test_with_a_guesser_is_429_until_the_minute_is_over(self, fresh_server: ApiServer) -> None:
        partner = fresh_server.partner("Acme")
        other_end = "y" if partner.api_key.endswith("x") else "x"
        wrong = (str(partner.partner_id), partner.api_key[:-1] + other_end)
        with_seconds_left(20)
        answers = [partner.key.get(LIST, auth=wrong) for _ in range(101)]
        assert [answer.status_code for answer in answers[:99]] == [401] * 99
        last = answers[-1]
        at_login = partner.key.post(TOKEN, auth=wrong, data={"grant_type": "client_credentials"})
        assert (last.status_code, at_login.status_code) == (429, 429)
        assert is_as_shown("RateLimited", last)
        assert is_as_shown("TokenRateLimited", at_login)
        assert 1 < int(last.headers["retry-after"]) <= 60
        assert partner.key.get(LIST).status_code == 200

    def test_with_a_database_that_is_away_is_503_until_it_is_back(
        self, business: Business, hurried_server: ApiServer, databases: Databases
    ) -> None:
        assert business.api.get("customers/").status_code == 200
        [(name,)] = hurried_server.query("SELECT current_database()")
        with psycopg.connect(databases.postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
            )
            away = business.api.get("customers/")
            body, key = {"company_name": "Blue Door"}, {"Idempotency-Key": str(uuid4())}
            writing = business.api.post("customers/", json=body, headers=key)
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        for answer in (away, writing):
            assert answer.status_code == 503
            assert int(answer.headers["retry-after"]) >= 1
        assert is_as_shown("ServiceUnavailable", writing)
        assert away.json()["error_code"] == "service_unavailable"
        assert away.json()["message"] == "The books cannot be reached now. Repeat the request."
        assert within(PATIENCE_SECONDS, lambda: business.api.get("customers/").status_code == 200)
        assert business.api.get("customers/").json()["count"] == 0

    def test_with_a_fault_of_ours_is_500_and_tells_nothing_of_it(
        self, business: Business, hurried_server: ApiServer
    ) -> None:
        with psycopg.connect(hurried_server.database_url, autocommit=True) as connection:
            connection.execute("ALTER TABLE customer RENAME TO customer_elsewhere")
        answer = business.api.get("customers/", extensions={FAULTS_EXPECTED: True})
        assert answer.status_code == 500
        assert is_as_shown("InternalError", answer)
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
