"""Limits of requests per minute, of a partner and of a business."""

import os
import re
from collections.abc import Iterator

import httpx
import pytest

from tests.api_server import ApiServer, Databases
from tests.contract.refusals import is_as_shown
from tests.minutes import with_seconds_left
from tests.partner import Partner

BUSINESSES = "/v1/platform/businesses/"
PARTNER_LIMIT, BUSINESS_LIMIT = 40, 15
POLICY = f'"partner";q={PARTNER_LIMIT};w=60, "business";q={BUSINESS_LIMIT};w=60'
LEFT = re.compile(r'"(partner|business)";r=([0-9]+);t=([0-9]+)')


@pytest.fixture(scope="module")
def strict_server(databases: Databases) -> Iterator[ApiServer]:
    limits = {
        "requests_per_minute_partner": PARTNER_LIMIT,
        "requests_per_minute_business": BUSINESS_LIMIT,
    }
    with ApiServer(databases.clone(f"strict_{os.getpid()}"), **limits) as api_server:
        yield api_server


@pytest.fixture
def partner(strict_server: ApiServer) -> Partner:
    with_seconds_left(15)
    return strict_server.partner("Busy")


def left(answer: httpx.Response) -> dict[str, int]:
    return {name: int(rest) for name, rest, _ in LEFT.findall(answer.headers["ratelimit"])}


class TestLimits:
    def test_are_shown_by_each_answer_to_a_known_caller(self, partner: Partner) -> None:
        business = partner.business()
        known = [
            business.api.get("customers/"),
            business.api.post("customers/", json={}),
            business.api.get("customers/01a1f737-0000-7000-8000-000000000000/"),
            partner.api.get(f"{BUSINESSES}{business.id}/"),
        ]
        assert [each.status_code for each in known] == [200, 400, 404, 200]
        assert {each.headers["ratelimit-policy"] for each in known} == {POLICY}
        began = left(known[0])
        assert [left(each) for each in known] == [
            {name: rest - number for name, rest in began.items()} for number in range(4)
        ]
        for answer in (partner.key.get(BUSINESSES, auth=None), business.api.get("nothing/")):
            assert "ratelimit" not in answer.headers
        alone = partner.api.get(BUSINESSES)
        assert left(alone) == {"partner": began["partner"] - 4}

    def test_of_a_business_leave_its_partner_and_its_sisters_alone(self, partner: Partner) -> None:
        business, sister = partner.business(), partner.business()
        answers = [business.api.get("customers/") for _ in range(BUSINESS_LIMIT + 1)]
        assert [each.status_code for each in answers[:-3]] == [200] * (len(answers) - 3)
        refused = answers[-1]
        assert refused.status_code == 429
        assert refused.json()["message"].startswith(f"The business has used its {BUSINESS_LIMIT} ")
        assert left(refused)["business"] == 0
        assert sister.api.get("customers/").status_code == 200
        assert partner.api.get(BUSINESSES).status_code == 200

    def test_beyond_them_nothing_is_done_until_the_next_minute(
        self, strict_server: ApiServer, partner: Partner
    ) -> None:
        while (last := partner.key.get(BUSINESSES)).status_code == 200:
            pass
        assert is_as_shown("RequestsLimited", last)
        assert 1 <= int(last.headers["retry-after"]) <= 60
        assert f";t={last.headers['retry-after']}" in last.headers["ratelimit"]
        assert left(last) == {"partner": 0}
        body = {"external_id": "late", "legal_name": "Late Ltd", "entity_type": "limited"}
        body |= {"email": "late@example.com", "country": "GB"}
        assert partner.key.post(BUSINESSES, json=body).status_code == 429
        assert strict_server.query(
            "SELECT count(*) FROM business WHERE partner_id = %s", partner.partner_id
        ) == [(0,)]
        form = {"grant_type": "client_credentials"}
        at_login = partner.key.post("/v1/platform/oauth2/token/", data=form)
        assert (at_login.status_code, at_login.json()["error"]) == (429, "invalid_request")
        assert strict_server.partner("Calm").key.get(BUSINESSES).status_code == 200

    def test_each_item_of_a_batch_counts(self, partner: Partner) -> None:
        business = partner.business()
        create = {"operation": "create_customer", "body": {"company_name": "Counted Ltd"}}

        def run(items: int) -> httpx.Response:
            listed = [{**create, "key": str(number)} for number in range(items)]
            return business.api.post("batch/", json={"mode": "independent", "items": listed})

        assert left(run(10))["business"] == BUSINESS_LIMIT - 11  # The token was a request, too.
        refused = run(10)
        assert refused.status_code == 429
        assert refused.json()["message"].endswith("Wait until the next minute.")
        assert left(refused)["business"] == BUSINESS_LIMIT - 12
        assert run(3).status_code == 200
        assert left(business.api.get("customers/"))["business"] == 0
        # It fits into no minute, so a repeat is in vain.
        business = partner.business()
        hopeless = run(BUSINESS_LIMIT + 1)
        assert hopeless.status_code == 400
        assert "retry-after" not in hopeless.headers
        assert hopeless.json()["error_code"] == "validation_error"
        assert hopeless.json()["detail"]["field_errors"] == {
            "items": [
                "must have at most 15 items, since each is a request and the business may make 15"
                " in a minute"
            ]
        }

    def test_without_limits_none_is_shown(self, databases: Databases) -> None:
        limits = {"requests_per_minute_partner": 0, "requests_per_minute_business": 0}
        with ApiServer(databases.clone(f"free_{os.getpid()}"), **limits) as api_server:
            answer = api_server.partner("Free").key.get(BUSINESSES)
            assert answer.status_code == 200
            assert not {"ratelimit", "ratelimit-policy"} & answer.headers.keys()
