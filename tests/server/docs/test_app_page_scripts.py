"""The scripts of the page for people, without a page."""

import base64
import json
from importlib.resources import files
from typing import Any

from tests.server.docs import node

FOLDER = files("server.docs.app_page")
# Reads calls of functions by module, name and arguments; writes the result of each.
ASK = """
import { readFileSync } from "node:fs";
const returned = [];
for (const [module, name, ...given] of JSON.parse(readFileSync(0))) {
  returned.push((await import(`${FOLDER}/${module}.js`))[name](...given) ?? null);
}
console.log(JSON.stringify(returned));
"""
TODAY = "2026-11-24"
TO_DECEMBER = "2000-12-31"


def returned(module: str, name: str, *given: list[Any]) -> Any:
    code = f"const FOLDER = {json.dumps(f'file://{FOLDER}')};{ASK}"
    return node.run(code, [[module, name, *each] for each in given], "--input-type=module")


def token(claims: Any) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"e30.{payload}.c2ln"


def spans(today: str, year_end: str, *periods: str) -> list[str]:
    asked = [[{"period": period}, today, year_end] for period in periods]
    return [f"{each['from']} {each['to']}" for each in returned("periods", "spanOf", *asked)]


pytestmark = node.needs_node


class TestToken:
    def test_a_business_token_names_its_business_and_its_end(self) -> None:
        claims = {"business_id": "b~ü?", "exp": 1795600000}
        found = returned(
            "token",
            "claimsOf",
            [token({**claims, "scope": "business_access", "sub": "p"})],
            [token({"sub": "p", "type": "partner", "exp": 1795600000})],
            [token(["b"])],
            ["no token"],
            [""],
        )
        assert found[0]["exp"] == claims["exp"]
        assert found[1:] == [None, None, None, None]


class TestAddress:
    def test_a_token_is_read_apart_from_the_place(self) -> None:
        [found] = returned("address", "read", ["#token=a.b.c&view=bank&basis=cash"])
        assert found["token"] == "a.b.c"
        assert (found["place"]["view"], found["place"]["basis"]) == ("bank", "cash")
        assert "token" not in found["place"]

    def test_an_unknown_part_of_an_address_is_ignored(self) -> None:
        hostile = "#view=constructor&basis=x&from=1&of=//elsewhere.example&language=<b>&__proto__=a"
        [found, bare] = returned("address", "read", [hostile], [""])
        assert found == bare

    def test_a_written_address_is_read_as_the_same_place(self) -> None:
        place = {"view": "lines", "period": "own", "from": "2026-01-01", "to": "2026-01-31"}
        place |= {"basis": "cash", "compare": "none", "of": "/v1/platform/businesses/b/x/?a=1&b=2"}
        [written] = returned("address", "written", [place])
        assert returned("address", "read", [written]) == [{"place": place}]

    def test_a_change_of_view_keeps_period_and_basis_and_drops_the_object(self) -> None:
        place = {"view": "entry", "of": "/v1/", "basis": "cash", "period": "this-year"}
        found = returned(
            "address", "moved", [place, {"view": "bank"}], [place, {"basis": "accrual"}]
        )
        assert found[0] == {"view": "bank", "basis": "cash", "period": "this-year"}
        assert found[1] == {**place, "basis": "accrual"}


class TestPeriods:
    def test_a_current_period_ends_today(self) -> None:
        names = ("twelve-months", "this-month", "this-quarter", "this-year")
        starts = ["2025-12-01", "2026-11-01", "2026-10-01", "2026-01-01"]
        assert spans(TODAY, TO_DECEMBER, *names) == [f"{start} {TODAY}" for start in starts]

    def test_a_past_period_is_whole(self) -> None:
        assert spans(TODAY, TO_DECEMBER, "last-month", "last-quarter", "last-year") == [
            "2026-10-01 2026-10-31",
            "2026-07-01 2026-09-30",
            "2025-01-01 2025-12-31",
        ]

    def test_years_and_quarters_are_those_of_the_business(self) -> None:
        assert spans("2026-02-10", "2000-03-31", "this-quarter", "last-quarter", "last-year") == [
            "2026-01-01 2026-02-10",
            "2025-10-01 2025-12-31",
            "2024-04-01 2025-03-31",
        ]
        # Tax years in Great Britain end on the fifth of April.
        assert spans("2026-04-06", "2000-04-05", "this-year", "last-year", "last-quarter") == [
            "2026-04-06 2026-04-06",
            "2025-04-06 2026-04-05",
            "2026-01-06 2026-04-05",
        ]

    def test_a_year_that_ends_with_february_ends_with_it_in_leap_years_too(self) -> None:
        assert spans("2028-05-01", "2000-02-29", "last-year") == ["2027-03-01 2028-02-29"]
        assert spans("2027-05-01", "2000-02-29", "last-year") == ["2026-03-01 2027-02-28"]

    def test_days_of_ones_own_are_never_the_wrong_way_round(self) -> None:
        own = {"period": "own", "from": "2026-03-02", "to": "2026-03-01"}
        [found] = returned("periods", "spanOf", [own, TODAY, TO_DECEMBER])
        assert found == {"from": "2026-03-02", "to": "2026-03-02"}


class TestFormats:
    def test_minor_units_keep_every_digit(self) -> None:
        asked = [[0, 2], [-5, 2], [123456, 2], [9007199254740991, 2], [1500, 0], [-1500, 3]]
        assert returned("formats", "decimal", *asked) == [
            "0.00", "-0.05", "1234.56", "90071992547409.91", "1500", "-1.500",
        ]  # fmt: skip

    def test_the_language_is_the_first_that_there_is(self) -> None:
        asked = [["fr", ["de-AT"]], [None, ["sv", "nl-BE", "en"]], ["xx", ["sv"]]]
        assert returned("formats", "languageOf", *asked) == ["fr", "nl", "en"]
        asked = [["en", ["sv", "en-GB"]], ["es", ["en-GB"]]]
        assert returned("formats", "localeOf", *asked) == ["en-GB", "es"]


class TestChart:
    def test_a_scale_has_round_marks_around_all_values(self) -> None:
        found = returned("chart", "marks", [[310000, 615000, -100000]], [[0, 0]], [[-30, -10]])
        assert found[0] == [-200000, 0, 200000, 400000, 600000, 800000]
        assert found[1] == [0, 25]
        assert found[2] == [-30, -20, -10, 0]
