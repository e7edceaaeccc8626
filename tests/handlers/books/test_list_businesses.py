"""list_businesses: only the partner's, by default the active ones, and every filter."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.partner import Partner

BUSINESSES = "/v1/platform/businesses/"


@pytest.fixture(scope="module")
def lister(api_server: ApiServer) -> Partner:
    partner = api_server.partner("Lister")
    facts = {"email": "books@example.com"}
    partner.business(external_id="a-1", legal_name="Alpha 100% Ltd", **facts)
    partner.business(
        external_id="b-2",
        legal_name="Beta GmbH",
        name="Kaffee_Haus",
        country="de",
        entity_type="GmbH",
        vat_number="DE136695976",
        company_number="HRB 4711",
        tin="12/345",
        **facts,
    )
    gone = partner.business(external_id="c-3", legal_name="Gamma Ltd", **facts)
    partner.api.post(f"{BUSINESSES}{gone.id}/archive/")
    return partner


def external_ids(partner: Partner, **filters: Any) -> list[str]:
    answer = partner.api.get(BUSINESSES, params={"sort": "created_at", **filters})
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    assert shown["count"] == len(shown["results"])
    return [each["external_id"] for each in shown["results"]]


class TestListBusinesses:
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({}, ["a-1", "b-2"]),
            ({"is_archived": "false"}, ["a-1", "b-2"]),
            ({"is_archived": "true"}, ["c-3"]),
            ({"country": "DE"}, ["b-2"]),
            ({"country": "gb"}, ["a-1"]),
            ({"country": "FR"}, []),
            ({"entity_type": "GMBH"}, ["b-2"]),
            ({"entity_type": "gmb"}, []),
            ({"legal_name": "ALPHA"}, ["a-1"]),
            ({"legal_name": "kaffee"}, []),
            ({"legal_name": "100%"}, ["a-1"]),
            ({"legal_name": "%"}, ["a-1"]),
            ({"search": "_"}, ["b-2"]),
            ({"search": "kaffee"}, ["b-2"]),
            ({"search": "B-2"}, ["b-2"]),
            ({"search": "de1366"}, ["b-2"]),
            ({"search": "4711"}, ["b-2"]),
            ({"search": "12/345"}, []),
            ({"search": "\\"}, []),
            ({"search": "ltd", "is_archived": "true"}, ["c-3"]),
            ({"search": "ltd", "country": "DE"}, []),
        ],
        ids=str,
    )
    def test_filters_select_businesses(
        self, filters: dict[str, str], expected: list[str], lister: Partner
    ) -> None:
        assert external_ids(lister, **filters) == expected

    def test_shows_no_business_of_another_partner(self, lister: Partner, acme: Partner) -> None:
        theirs = acme.business(legal_name="Alpha of Acme").record["external_id"]
        assert external_ids(lister, search="alpha") == ["a-1"]
        assert external_ids(acme, search="alpha of acme") == [theirs]
        assert external_ids(acme, search="100%") == []

    def test_shows_what_a_list_needs(self, lister: Partner) -> None:
        [beta] = lister.api.get(BUSINESSES, params={"country": "DE"}).json()["results"]
        expected = {
            "external_id": "b-2", "name": "Kaffee_Haus", "legal_name": "Beta GmbH",
            "entity_type": "gmbh", "country": "DE", "is_active": True, "tax_id": "12/345",
            "vat_number": "DE136695976", "company_number": "HRB 4711", "currency": "EUR",
            "base_currency": "EUR", "province": None,
        }  # fmt: skip
        assert {name: beta[name] for name in expected} == expected
        whole = lister.api.get(f"{BUSINESSES}{beta['id']}/").json()
        same = (
            *("id", "activation_at", "created_at", "updated_at"),
            *("eu_nace_industry_code", "province", "base_currency"),
        )
        assert {name: beta[name] for name in same} == {name: whole[name] for name in same}

    def test_sorts_by_name_in_any_case(self, api_server: ApiServer) -> None:
        partner = api_server.partner("Sorter")
        for name in ("beta", "Alpha", "Gamma"):
            partner.business(external_id=name, legal_name=name, name=name.swapcase())
        assert external_ids(partner, sort="legal_name") == ["Alpha", "beta", "Gamma"]
        assert external_ids(partner, sort="-name") == ["Gamma", "beta", "Alpha"]
