"""Failures are ignored only if the values are valid as texts."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.fuzz.forms import FORM, MULTIPART, is_right_as_text, leave_out_nulls

JSON = "application/json"


def wrong(place: str = "/properties/reason", became: str = "boolean", **other: Any) -> Any:
    said = {"keywords": ("type",), "original_value": "string", "where": "BODY", **other}
    location = SimpleNamespace(name=said.pop("where"))
    return SimpleNamespace(
        schema_pointer=place, new_value=became, parameter_location=location, **said
    )


def case(media_type: str, *mutations: Any) -> Any:
    data = SimpleNamespace(mutations=mutations)
    return SimpleNamespace(
        media_type=media_type, meta=SimpleNamespace(phase=SimpleNamespace(data=data))
    )


class TestIsRightAsText:
    def test_a_boolean_in_place_of_a_text_is_right(self) -> None:
        of_a_list = wrong("/properties/document_tags/items")
        assert is_right_as_text(case(MULTIPART, of_a_list, wrong()))
        assert is_right_as_text(case(FORM, wrong(original_value=["string", "null"])))

    @pytest.mark.parametrize(
        "other",
        [
            wrong(became="array"),
            wrong("/properties/metadata/properties/name"),
            wrong(keywords=("maxLength",)),
            wrong(original_value="integer"),
            wrong(where="QUERY"),
        ],
        ids=["a list", "in JSON", "too long", "a number", "in the query"],
    )
    def test_what_else_is_wrong_is_not(self, other: Any) -> None:
        assert not is_right_as_text(case(MULTIPART, wrong(), other))

    def test_in_json_it_is_wrong_and_nothing_wrong_is_no_excuse(self) -> None:
        assert not is_right_as_text(case(JSON, wrong()))
        assert not is_right_as_text(case(MULTIPART))


class TestLeaveOutNulls:
    def test_a_form_has_no_null(self) -> None:
        body = {"bank_account_id": None, "note": "null", "fee": 0}
        leave_out_nulls(body)
        assert body == {"note": "null", "fee": 0}
