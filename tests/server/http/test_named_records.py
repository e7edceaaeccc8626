from typing import Any
from uuid import UUID

import pytest

from accounting.errors import RuleViolation
from server.http.named_records import add_field

LINE = "lines.1.account"
A, B = (UUID(f"0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a0{n}") for n in "12")


def unknown(resource: str, reference: object, **detail: Any) -> RuleViolation:
    told = {"resource": resource, "reference": str(reference), **detail}
    return RuleViolation("reference_not_found", "There is none.", **told)


def field(error: RuleViolation, body: Any) -> tuple[str | None, str | None]:
    add_field(error, body)
    return error.detail.get("field"), error.detail.get("item")


class TestAddField:
    @pytest.mark.parametrize(
        ("resource", "reference", "body", "found", "item"),
        [
            ("account", "9999", {"lines": [{"account": "1"}, {"account": "9999"}]}, LINE, True),
            ("payment", B, {"payment_ids": [A, B]}, "payment_ids.1", True),
            ("customer", A, {"customer_id": A}, "customer_id", False),
            ("payment", A, {"target_type": "payment", "target_id": A}, "target_id", False),
        ],
    )
    def test_an_error_gets_the_path_of_the_field_and_of_its_item(
        self, resource: str, reference: object, body: Any, found: str, item: bool
    ) -> None:
        error = unknown(resource, reference)
        parts = found.split(".")
        listed = ".".join(parts[:2]) if item else None
        assert field(error, body) == (found, listed)
        assert error.message == f"{found}: There is none."

    def test_the_field_of_the_kind_of_record_is_chosen_among_equal_texts(self) -> None:
        line = {
            "description": "9999",
            "account_identifier": {"type": "AccountCode", "code": "9999"},
        }
        found = field(unknown("account", "9999"), {"memo": "9999", "line_items": [line]})
        assert found == ("line_items.0.account_identifier.code", "line_items.0")

    def test_free_text_and_free_json_name_no_record(self) -> None:
        body = {"memo": "9999", "metadata": {"account": "9999"}}
        error = unknown("account", "9999")
        assert field(error, body) == (None, None)
        assert error.message == "There is none."

    def test_an_error_about_an_item_is_searched_there_and_says_its_path_once(self) -> None:
        error = unknown("tax_code", "S99")
        error.tell_item("lines.1")
        body = {"lines": [{"tax_code": "S99"}, {"tax_code": "S99"}]}
        assert field(error, body) == ("lines.1.tax_code", "lines.1")
        assert error.message == "lines.1.tax_code: There is none."

    def test_an_archived_account_is_found_by_id_or_code(self) -> None:
        for named in (A, "1200"):
            error = RuleViolation("control_account", "No.", account_id=str(A), account_code="1200")
            assert field(error, {"account": named}) == ("account", None)

    @pytest.mark.parametrize("body", [None, [], {}, {"memo": "x"}])
    def test_an_error_of_another_kind_or_without_a_field_stays_as_it_is(self, body: Any) -> None:
        assert field(unknown("account", "9999"), body) == (None, None)
        assert field(RuleViolation("entry_not_balanced", "No."), {"account": "9999"}) == (
            None,
            None,
        )
