import re
from copy import deepcopy
from typing import Any

import pytest

from server.docs.own_examples import with_own_examples
from tests.contract.document import (
    Operation,
    document_with_own_examples,
    follow,
    operations,
)
from tests.in_turn import in_turn

JSON = "application/json"
# Their answers follow OAuth 2.0, each with its own examples.
TOKENS = {
    *("issue_partner_token", "issue_business_token"),
    *("revoke_token", "revoke_business_tokens"),
}


def refusal(code: str) -> dict[str, Any]:
    return {"value": {"error_code": code, "message": code, "detail": {}}}


def answer(text: str, *names: str) -> dict[str, Any]:
    examples = {name: {"$ref": f"#/components/examples/{name}"} for name in names}
    return {"description": text, "content": {JSON: {"schema": {}, "examples": examples}}}


def operation(name: str, text: str, **more: Any) -> dict[str, Any]:
    shared = {"400": "Bad", "404": "Missing", "409": "Conflict"}
    answers = {each: {"$ref": f"#/components/responses/{it}"} for each, it in shared.items()}
    return {"operationId": name, "tags": ["T"], "description": text, "responses": answers, **more}


BODY = {
    "content": {
        JSON: {
            "schema": {
                "type": "object",
                "required": ["name"],
                "properties": {"size": {"type": "integer"}, "name": {"type": "string"}},
            },
            "examples": {"one": {"value": {"size": 1, "name": "a"}}},
        }
    }
}
COLOUR = {"name": "colour", "in": "query", "schema": {"type": "string", "enum": ["red"]}}
SMALL: dict[str, Any] = {
    "paths": {
        "/things/": {
            "post": operation("make", "409 `stuck`, `old`, `untold`.", requestBody=BODY),
            "get": operation("list", "409 `old`.", parameters=[COLOUR]),
        }
    },
    "components": {
        "x-error-codes": {
            "old": {"status": 409, "when": "", "do": ""},
            "stuck": {"status": 409, "when": "", "do": ""},
            "untold": {"status": 409, "when": "", "do": ""},
            "missing": {"status": 404, "when": "", "do": ""},
        },
        "examples": {
            "validation_error": refusal("validation_error"),
            "Old": refusal("old"),
            "Stuck": refusal("stuck"),
            "Missing": refusal("missing"),
        },
        "responses": {
            "Bad": answer("Bad.", "validation_error"),
            "Missing": answer("`missing`", "Missing"),
            "Conflict": answer("`old`, as listed at the operation", "Stuck", "Old"),
        },
    },
}

OWN = document_with_own_examples()


def shown(changed: dict[str, Any], operation: Operation, status: str) -> dict[str, Any]:
    """Return the examples of an answer by name."""
    responses = changed["paths"][operation.path][operation.method]["responses"]
    examples = responses[status]["content"][JSON]["examples"]
    return {name: follow(each)["value"] for name, each in examples.items()}


def own(status: str) -> list[Any]:
    """Return the operations that have such an answer, with their examples of it."""
    with_status = [each for each in operations() if status in each.node["responses"]]
    return [pytest.param(each, shown(OWN, each, status), id=each.name) for each in with_status]


class TestWithOwnExamples:
    @pytest.fixture
    def changed(self) -> dict[str, Any]:
        return with_own_examples(SMALL)["paths"]["/things/"]

    def test_a_rare_code_comes_before_a_common_code(self, changed: dict[str, Any]) -> None:
        assert changed["post"]["responses"]["409"]["content"][JSON]["examples"] == {
            "stuck": {"$ref": "#/components/examples/Stuck"},
            "old": {"$ref": "#/components/examples/Old"},
        }

    def test_an_operation_shows_its_own_examples_only(self, changed: dict[str, Any]) -> None:
        examples = changed["get"]["responses"]["409"]["content"][JSON]["examples"]
        assert list(examples) == ["old"]

    def test_a_body_lacks_what_it_has_to_have(self, changed: dict[str, Any]) -> None:
        examples = changed["post"]["responses"]["400"]["content"][JSON]["examples"]
        assert examples["validation_error"]["value"] == {
            "error_code": "validation_error",
            "message": "name is required.",
            "detail": {"field_errors": {"name": ["is required"]}},
        }

    def test_without_a_body_a_parameter_is_wrong(self, changed: dict[str, Any]) -> None:
        examples = changed["get"]["responses"]["400"]["content"][JSON]["examples"]
        assert examples["validation_error"]["value"]["message"] == "colour must be red."

    def test_the_contract_stays_as_it_was(self) -> None:
        before = deepcopy(SMALL)
        with_own_examples(SMALL)
        assert before == SMALL


class TestOwnExamples:
    @in_turn(("operation", "examples"), [*own("404"), *own("409"), *own("422")])
    def test_each_code_is_one_that_the_operation_names(
        self, operation: Operation, examples: dict[str, Any]
    ) -> None:
        texts = [
            operation.node["description"],
            *(each["description"] for each in operation.parameters),
        ]
        if "404" in operation.node["responses"]:
            texts.append(follow(operation.node["responses"]["404"])["description"])
        named = set(re.findall(r"`([a-z_]+)`", " ".join(texts)))
        assert [each["error_code"] for each in examples.values()] == list(examples)
        assert examples.keys() <= named

    @in_turn(
        ("operation", "examples"),
        [each for each in own("400") if str(each.id) not in TOKENS],
    )
    def test_the_example_of_validation_error_names_a_field_of_the_operation(
        self, operation: Operation, examples: dict[str, Any]
    ) -> None:
        [field] = examples["validation_error"]["detail"]["field_errors"]
        named = {each["name"] for each in operation.parameters}
        for media in operation.node.get("requestBody", {}).get("content", {}).values():
            named |= {name for each in media["examples"].values() for name in follow(each)["value"]}
        assert field.partition(".")[0] in named
