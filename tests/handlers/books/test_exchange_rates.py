"""Exchange rates over HTTP: tables of partners and businesses, their lists, and conversion."""

import json
from datetime import date, timedelta
from typing import Any

import httpx
import pytest

from tests import clock
from tests.api_server import ApiServer
from tests.builders.exchange_rates import (
    OF_PARTNER,
    RATES,
    converted,
    put,
    table_body,
    table_set,
)
from tests.contract.refusals import is_as_shown
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in

DAY = date(2026, 3, 31)
BOTH = pytest.mark.parametrize("owner", ["partner", "business"], indirect=True)


@pytest.fixture
def partner(api_server: ApiServer) -> Partner:
    """A partner without tables."""
    return api_server.partner("Owner of rates")


@pytest.fixture
def business(partner: Partner) -> Business:
    return partner.business()


@pytest.fixture
def owner(
    request: pytest.FixtureRequest, partner: Partner, business: Business
) -> Partner | Business:
    return partner if request.param == "partner" else business


def listed(owner: Partner | Business, **asked: Any) -> list[dict[str, Any]]:
    path = OF_PARTNER if isinstance(owner, Partner) else RATES
    answer = owner.api.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def faults(answer: httpx.Response) -> dict[str, list[str]]:
    assert answer.status_code == 400, answer.text
    found: dict[str, list[str]] = answer.json()["detail"]["field_errors"]
    return found


def put_number(business: Business, number: str) -> httpx.Response:
    """Send a table with a JSON number as it is written."""
    text = json.dumps(table_body(DAY, rates={"USD": "?"})).replace('"?"', number)
    return business.api.put(RATES, content=text, headers={"Content-Type": "application/json"})


class TestSetPartnerExchangeRates:
    def test_a_token_of_a_business_may_not_use_them(self, business: Business) -> None:
        token = {"Authorization": business.api.headers["Authorization"]}
        with business.partner.client(business.partner.url, headers=token) as client:
            answers = [client.put(OF_PARTNER, json=table_body(DAY)), client.get(OF_PARTNER)]
        assert [each.status_code for each in answers] == [403, 403]

    def test_each_change_is_in_the_trail_of_the_partner(
        self, api_server: ApiServer, partner: Partner
    ) -> None:
        made = table_set(partner, DAY)
        table_set(partner, DAY)
        table_set(partner, DAY, rates={"USD": 1.2})
        trail = api_server.query(
            "SELECT change, action FROM partner_audit_record WHERE object_id = %s ORDER BY id",
            made["id"],
        )
        action = "set_partner_exchange_rates"
        assert trail == [("insert", action), ("update", action)]

    def test_other_partners_neither_see_nor_change_it(
        self, rival: Partner, partner: Partner
    ) -> None:
        made = table_set(partner, DAY)
        theirs = table_set(rival, DAY, rates={"USD": 1.5, "GBP": 1})
        assert listed(partner) == [made]
        assert made["id"] not in [each["id"] for each in listed(rival)]
        assert converted(rival.business(), "USD", DAY).json()["table_id"] == theirs["id"]


class TestSetExchangeRates:
    @BOTH
    def test_answers_the_table_without_the_reference(self, owner: Partner | Business) -> None:
        body = table_body(DAY, rates={"USD": "1.08430", "ISK": 136, "EUR": 1, "SGD": 0.000001})
        answer = put(owner, body)
        made = answer.json()
        assert answer.status_code == 200
        assert made == {
            **{name: made[name] for name in ("id", "created_at", "updated_at")},
            "date": "2026-03-31",
            "reference_currency": "EUR",
            "rates": {"ISK": 136, "SGD": 0.000001, "USD": 1.0843},
        }
        assert listed(owner) == [made]

    @BOTH
    def test_replaces_the_whole_table_of_the_day(self, owner: Partner | Business) -> None:
        first = table_set(owner, DAY)
        other = table_set(owner, DAY - timedelta(days=1))
        after = table_set(owner, DAY, reference_currency="GBP", rates={"SEK": "13.17"})
        assert (after["id"], after["created_at"]) == (first["id"], first["created_at"])
        assert (after["reference_currency"], after["rates"]) == ("GBP", {"SEK": 13.17})
        assert after["updated_at"] > first["updated_at"]
        assert listed(owner) == [after, other]

    @BOTH
    def test_the_same_table_again_changes_nothing(self, owner: Partner | Business) -> None:
        assert table_set(owner, DAY) == table_set(
            owner, DAY, rates={"GBP": "0.8338", "USD": "1.1172"}
        )

    def test_what_is_answered_can_be_sent_again(self, business: Business) -> None:
        made = table_set(business, DAY, rates={"USD": 0.000001, "GBP": "123456.789012"})
        again = {name: made[name] for name in ("date", "reference_currency", "rates")}
        assert put(business, again).json() == made

    @BOTH
    @pytest.mark.parametrize(
        ("rate", "reason"),
        [
            (0, "at least 0.000001"),
            (-1.08, "at least 0.000001"),
            (1_000_000, "at most 999999.999999"),
            (True, "number"),
            (None, "number"),
            ([1], "number"),
            *(
                (text, "must be a number from 0.000001 to 999999.999999, without an exponent")
                for text in (
                    *("0", "-1", "+1", "1e0", "1E2", "1,08", "01.5", ".5", "1.", " 1", "", "NaN"),
                    *("0.0000001", "1000000", "\u0661"),
                )
            ),
        ],
    )
    def test_a_rate_that_is_none_is_400_with_its_field_and_reason(
        self, owner: Partner | Business, rate: Any, reason: str
    ) -> None:
        found = faults(put(owner, table_body(DAY, rates={"USD": rate})))
        assert list(found) == ["rates.USD"]
        assert reason in " ".join(found["rates.USD"])
        assert listed(owner) == []

    def test_a_rate_beyond_all_numbers_is_400_with_its_field(self, business: Business) -> None:
        for number in ("1e400", "1" * 40, "-1e400"):
            assert "rates.USD" in faults(put_number(business, number))
        found = faults(put(business, table_body(DAY, rates={"USD": "1" * 40})))
        assert list(found) == ["rates.USD"]
        answer = put_number(business, "1." + "123" * 13)
        assert (answer.status_code, answer.json()["detail"]) == (422, {"field": "rates.USD"})

    def test_a_json_number_with_an_exponent_is_the_number_that_it_means(
        self, business: Business
    ) -> None:
        shown = [put_number(business, each).json()["rates"] for each in ("1.0843e2", "5e-6")]
        assert shown == [{"USD": 108.43}, {"USD": 0.000005}]

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"rates": {}}, "rates"),
            ({"rates": {"usd": 1.08}}, "rates.usd"),
            ({"rates": {"CHF": 0.93}}, "rates.CHF"),
            ({"rates": None}, "rates"),
            ({"reference_currency": "eur"}, "reference_currency"),
            ({"reference_currency": "CHF"}, "reference_currency"),
            ({"date": "2026-02-30"}, "date"),
            ({"date": "31.03.2026"}, "date"),
            ({"source": "ECB"}, "source"),
        ],
    )
    def test_a_body_that_is_wrong_is_400_with_its_field(
        self, business: Business, facts: dict[str, Any], field: str
    ) -> None:
        assert list(faults(put(business, {**table_body(DAY), **facts}))) == [field]

    @BOTH
    @pytest.mark.parametrize(
        ("rates", "field"),
        [
            ({"USD": 1.234567890123}, "rates.USD"),
            ({"USD": "123456.1234567"}, "rates.USD"),
            ({"USD": 1.08, "EUR": 1.5}, "rates.EUR"),
            ({"EUR": 1}, "rates"),
        ],
    )
    def test_rates_that_break_a_rule_are_422_with_their_field(
        self, owner: Partner | Business, rates: dict[str, Any], field: str
    ) -> None:
        table_set(owner, DAY)
        answer = put(owner, table_body(DAY, rates=rates))
        refused = answer.json()
        assert (answer.status_code, refused["error_code"]) == (422, "exchange_rate_invalid")
        assert refused["detail"] == {"field": field}
        assert refused["message"].startswith(field)
        assert listed(owner)[0]["rates"] == {"GBP": 0.8338, "USD": 1.1172}

    def test_too_many_digits_are_refused_in_the_words_of_the_contract(
        self, business: Business
    ) -> None:
        answer = put(business, table_body(DAY, rates={"USD": 1.234567890123}))
        assert is_as_shown("ExchangeRateInvalid", answer)

    def test_each_change_is_in_the_trail_and_makes_no_event(
        self, api_server: ApiServer, business: Business
    ) -> None:
        head = business.api.get("events/").json()["head_sequence"]
        made = table_set(business, DAY)
        table_set(business, DAY)
        table_set(business, DAY, rates={"USD": 1.2})
        trail = business.api.get("audit/", params={"object_type": "exchange_rate_table"})
        shown = [
            (each["object_id"], each["change"], each["action"]) for each in trail.json()["results"]
        ]
        action = "set_exchange_rates"
        assert shown == [(made["id"], "update", action), (made["id"], "insert", action)]
        assert business.api.get("events/").json()["head_sequence"] == head
        assert faults_in(api_server, business) == set()

    def test_a_batch_sets_the_rates_of_many_days(self, business: Business) -> None:
        items = [
            {
                "key": str(n),
                "operation": "set_exchange_rates",
                "body": table_body(DAY - timedelta(n)),
            }
            for n in range(3)
        ]
        answer = business.api.post("batch/", json={"mode": "atomic", "items": items})
        assert answer.json()["succeeded"] == 3
        assert [each["date"] for each in listed(business)] == [
            "2026-03-31",
            "2026-03-30",
            "2026-03-29",
        ]

    def test_an_archived_business_keeps_its_tables(self, partner: Partner) -> None:
        business = partner.business()
        table_set(business, DAY)
        partner.api.post(f"{business.base_url}/archive/")
        assert put(business, table_body(DAY)).json()["error_code"] == "business_archived"
        assert converted(business, "USD", DAY).status_code == 200

    def test_another_business_neither_sees_nor_changes_it(
        self, partner: Partner, business: Business
    ) -> None:
        made = table_set(business, DAY)
        other = partner.business()
        assert listed(other) == listed(partner) == []
        assert converted(other, "USD", DAY).status_code == 422
        table_set(other, DAY, rates={"USD": 2})
        assert listed(business) == [made]

    def test_a_token_of_another_business_is_refused(
        self, business: Business, rival: Partner
    ) -> None:
        for stranger in (rival, rival.business()):
            path = f"{business.base_url}/{RATES}"
            answers = [
                stranger.api.put(path, json=table_body(DAY)),
                stranger.api.get(path),
                stranger.api.get(f"{path}convert/", params={"currency": "USD"}),
            ]
            assert [each.status_code for each in answers] == [403, 403, 403]


class TestListExchangeRates:
    @BOTH
    def test_by_days_and_by_currency(self, owner: Partner | Business) -> None:
        for days, currency in enumerate(("USD", "SEK", "USD")):
            table_set(owner, DAY - timedelta(days), rates={currency: 2})
        table_set(owner, DAY + timedelta(1), reference_currency="USD", rates={"SEK": 9.5})

        def days_of(**asked: Any) -> list[str]:
            return [each["date"][-2:] for each in listed(owner, **asked)]

        assert days_of() == ["01", "31", "30", "29"]
        assert days_of(date_from="2026-03-30", date_to="2026-03-31") == ["31", "30"]
        assert days_of(currency="USD") == ["01", "31", "29"]
        assert days_of(currency="SEK", sort="date") == ["30", "01"]
        assert days_of(currency="EUR") == ["31", "30", "29"]
        assert days_of(currency="GBP") == []


class TestGetExchangeRate:
    def test_is_that_of_the_newest_table_of_the_partner(
        self, partner: Partner, business: Business
    ) -> None:
        made = table_set(partner, DAY)
        table_set(partner, DAY - timedelta(1), rates={"USD": 3, "GBP": 2})
        for days in range(8):
            answer = converted(business, "USD", DAY + timedelta(days))
            assert answer.json() == {
                "currency": "USD",
                "base_currency": "GBP",
                "date": str(DAY + timedelta(days)),
                "exchange_rate": 0.746330110992,
                "source": "partner",
                "table_id": made["id"],
                "table_date": "2026-03-31",
            }
        answer = converted(business, "USD", DAY + timedelta(8))
        assert (answer.status_code, answer.json()["error_code"]) == (422, "exchange_rate_missing")
        assert answer.json()["detail"] == {"currency": "USD", "day": "2026-04-08"}

    def test_a_table_of_the_business_goes_first_also_if_it_is_older(
        self, partner: Partner, business: Business
    ) -> None:
        table_set(partner, DAY)
        own = table_set(business, DAY - timedelta(3), reference_currency="GBP", rates={"USD": 1.25})
        shown = converted(business, "USD", DAY).json()
        assert (shown["exchange_rate"], shown["source"]) == (0.8, "business")
        assert (shown["table_id"], shown["table_date"]) == (own["id"], "2026-03-28")
        assert converted(business, "EUR", DAY).json()["source"] == "partner"
        assert converted(partner.business(), "USD", DAY).json()["source"] == "partner"

    def test_a_day_to_come_and_no_day_count_as_today(self, business: Business) -> None:
        today = clock.today()
        table_set(business, today, rates={"USD": 2, "GBP": 1})
        table_set(business, today + timedelta(5), rates={"USD": 4, "GBP": 1})
        for day in (None, today, today + timedelta(5), "2199-12-31"):
            shown = converted(business, "USD", day).json()
            assert (shown["date"], shown["exchange_rate"]) == (str(today), 0.5)

    def test_today_is_that_of_the_business(self, partner: Partner) -> None:
        zones = ("Pacific/Kiritimati", "Pacific/Pago_Pago")  # Their days always differ.
        shown = {converted(partner.business(timezone=zone), "GBP").json()["date"] for zone in zones}
        assert len(shown) == 2

    @pytest.mark.parametrize("query", ["currency=GBP&", ""])
    def test_the_base_currency_is_1_without_a_table(self, business: Business, query: str) -> None:
        shown = business.api.get(f"{RATES}convert/?{query}date={DAY}").json()
        assert (shown["currency"], shown["date"]) == ("GBP", str(DAY))
        assert (shown["exchange_rate"], shown["source"]) == (1, "base_currency")
        assert (shown["table_id"], shown["table_date"]) == (None, None)

    @pytest.mark.parametrize("asked", [{"currency": "usd"}, {"currency": "CHF"}])
    def test_a_currency_that_is_not_known_is_400(
        self, business: Business, asked: dict[str, str]
    ) -> None:
        assert list(faults(business.api.get(f"{RATES}convert/", params=asked))) == ["currency"]

    def test_a_token_that_only_reads_reads_it(self, partner: Partner, business: Business) -> None:
        table_set(business, DAY)
        path = f"/v1/platform/{business.id}/oauth2/token/"
        token = partner.api.post(path, data={"access": "read"}).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        answer = business.api.get(f"{RATES}convert/?currency=USD&date={DAY}", headers=headers)
        assert answer.status_code == 200
        refused = business.api.put(RATES, json=table_body(DAY), headers=headers)
        assert refused.status_code == 403
