"""The meaning of deprecated requests, and the headers of their answers."""

from datetime import date
from typing import Any

import pytest

from accounting.errors import ValidationError
from server.contract.document import Contract, ContractError, Deprecation, parse
from server.http.validation import compile_checks, lines_of
from tests.server.http.contract_chain import Chain

CONTRACT = """
openapi: 3.0.3
info: {title: Old and new names, version: 1.0.0}
paths:
  /things/:
    get:
      tags: [Things]
      operationId: list_things
      parameters:
        - {name: day_from, in: query, schema: {type: string, format: date, default: '2020-01-01'}}
        - name: since
          in: query
          deprecated: true
          x-deprecated: {since: '2026-01-02', until: '2027-01-01', instead: day_from}
          schema: {type: string, format: date, default: '2020-01-01'}
        - name: after
          in: query
          deprecated: true
          x-deprecated: {since: '2026-01-02', instead: day_from}
          schema: {type: string, format: date}
        - name: colour
          in: query
          deprecated: true
          x-deprecated: {since: '2026-01-01'}
          schema: {type: string, default: blue}
        - name: X-Old
          in: header
          deprecated: true
          x-deprecated: {since: '2025-01-01'}
          schema: {type: string}
      responses: {'200': {description: Things.}}
    post:
      tags: [Things]
      operationId: make_thing
      deprecated: true
      x-deprecated: {since: '2026-01-01', until: '2026-07-01', instead: create_thing}
      responses: {'200': {description: A thing.}}
"""
ANYTHING_ELSE = {"day_from": date(2020, 1, 1), "colour": "blue"}


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain(parse(CONTRACT.encode()))


def deprecation(chain: Chain) -> Any:
    return dict(chain.scopes[-1].get("deprecation", ()))


class TestOldName:
    @pytest.mark.parametrize("query", ["since=2026-05-06", "since=2026-05-06&day_from=2026-05-06"])
    def test_an_old_name_is_passed_on_as_the_new_name(self, chain: Chain, query: str) -> None:
        found = chain.ask("GET", f"/things/?{query}").query
        assert found == {**ANYTHING_ELSE, "day_from": date(2026, 5, 6)}

    def test_old_and_new_name_may_not_differ(self, chain: Chain) -> None:
        with pytest.raises(ValidationError) as caught:
            chain.ask("GET", "/things/?since=2026-05-06&day_from=2026-05-07")
        assert caught.value.detail["field_errors"] == {
            "since": ["must have the same value as day_from, its new name"],
            "day_from": ["must have the same value as since, its old name"],
        }

    def test_two_old_names_may_not_differ(self, chain: Chain) -> None:
        with pytest.raises(ValidationError) as caught:
            chain.ask("GET", "/things/?since=2026-05-06&after=2026-05-07")
        assert set(caught.value.detail["field_errors"]) == {"after", "day_from"}

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("since=x&day_from=2026-05-07", "since"),
            ("since=2026-05-07&day_from=x", "day_from"),
        ],
    )
    def test_a_fault_of_an_old_name_has_the_old_name(
        self, chain: Chain, query: str, field: str
    ) -> None:
        with pytest.raises(ValidationError) as caught:
            chain.ask("GET", f"/things/?{query}")
        assert list(caught.value.detail["field_errors"]) == [field]

    def test_an_old_name_without_a_new_one_keeps_its_name(self, chain: Chain) -> None:
        assert chain.ask("GET", "/things/?colour=red").query == {**ANYTHING_ELSE, "colour": "red"}

    def test_an_old_name_is_never_suggested(self, chain: Chain) -> None:
        with pytest.raises(ValidationError) as caught:
            chain.ask("GET", "/things/?sinc=2026-05-06&dayfrom=x")
        assert caught.value.detail["field_errors"] == {
            "sinc": ["is not a known parameter"],
            "dayfrom": ["is not a known parameter; did you mean day_from?"],
        }


class TestHeaders:
    def test_a_request_without_a_deprecated_part_has_no_headers(self, chain: Chain) -> None:
        chain.ask("GET", "/things/?day_from=2026-05-06")
        assert "deprecation" not in chain.scopes[-1]

    def test_a_deprecated_parameter_has_headers(self, chain: Chain) -> None:
        chain.ask("GET", "/things/?since=2026-05-06")
        assert deprecation(chain) == {
            b"deprecation": b"@1767312000",
            b"sunset": b"Fri, 01 Jan 2027 00:00:00 GMT",
        }

    def test_a_deprecated_header_has_headers(self, chain: Chain) -> None:
        chain.ask("GET", "/things/", headers=((b"x-old", b"1"),))
        assert deprecation(chain) == {b"deprecation": b"@1735689600"}

    def test_a_deprecated_operation_has_headers(self, chain: Chain) -> None:
        chain.ask("POST", "/things/")
        assert deprecation(chain) == {
            b"deprecation": b"@1767225600",
            b"sunset": b"Wed, 01 Jul 2026 00:00:00 GMT",
        }

    def test_headers_of_several_deprecations_have_the_first_beginning_and_the_first_end(
        self,
    ) -> None:
        days = [date(2026, 1, 1), date(2026, 2, 1), date(2027, 1, 1), date(2027, 2, 1)]
        used = [
            Deprecation(days[1], days[2], None),
            Deprecation(days[0], days[3], None),
            Deprecation(days[1], None, None),
        ]
        assert dict(lines_of(used)) == {
            b"deprecation": b"@1767225600",
            b"sunset": b"Fri, 01 Jan 2027 00:00:00 GMT",
        }


class TestContract:
    @pytest.mark.parametrize(
        "line", ["deprecated: true", "x-deprecated: {since: '2026-01-02', until: '2027-01-01', i"]
    )
    def test_with_half_of_a_deprecation_is_not_served(self, line: str) -> None:
        at = CONTRACT.index(line)
        without = CONTRACT[:at].rstrip() + CONTRACT[CONTRACT.index("\n", at) :]
        with pytest.raises(ContractError, match="since needs both"):
            Contract(parse(without.encode()))

    def test_whose_new_name_is_not_there_is_not_served(self) -> None:
        with pytest.raises(ContractError, match="instead of since there is no a_from"):
            compile_checks(
                Contract(parse(CONTRACT.replace("instead: day_", "instead: a_").encode()))
            )
