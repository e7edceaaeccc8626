from typing import Any

from server.docs.reference.codes import codes_of, codes_of_any, error_codes
from server.docs.reference.fields import Describer
from tests.server.docs.small_contract import CODES, DOCUMENT

OPERATION: dict[str, Any] = DOCUMENT["paths"]["/v1/things/{thing_id}/"]["post"]


def named(text: str = "", **parameter: str) -> list[str]:
    """Return the codes of the operation with another text."""
    operation = {**OPERATION, "description": text}
    found = codes_of(operation, [parameter], error_codes(DOCUMENT), Describer(DOCUMENT))
    return [code.name for code in found]


class TestErrorCodes:
    def test_each_is_told_as_in_the_contract(self) -> None:
        codes = error_codes(DOCUMENT)
        assert list(codes) == list(CODES)
        stuck = codes["thing_is_stuck"]
        assert (stuck.status, stuck.when, stuck.do) == (409, "The thing is stuck.", "Wait.")
        assert stuck.detail == (("stuck_since", "When it got stuck."),)

    def test_the_first_example_of_a_code_is_its_own(self) -> None:
        codes = error_codes(DOCUMENT)
        assert codes["thing_is_stuck"].example["message"] == "It is stuck."
        assert codes["thing_is_old"].example is None


class TestCodesOf:
    def test_codes_come_from_the_text_of_an_operation_and_its_answers(self) -> None:
        assert named("Not `thing_is_odd`.") == ["thing_not_found", "thing_is_odd"]

    def test_codes_come_from_the_text_of_a_parameter(self) -> None:
        assert named(description="Never `thing_is_old`.") == ["thing_not_found", "thing_is_old"]

    def test_a_shared_answer_adds_no_code_that_operations_name_themselves(self) -> None:
        assert "thing_is_big" not in named()

    def test_codes_of_any_operation_are_listed_apart(self) -> None:
        codes = error_codes(DOCUMENT)
        found = codes_of_any(DOCUMENT, codes, Describer(DOCUMENT))
        assert [code.name for code in found] == ["thing_is_broken"]
        assert "thing_is_broken" not in named()
