"""One call of an operation, as samples show it: read from the contract, in no language yet."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.reference.fields import Describer, as_written

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
VARIABLE: Final = re.compile(r"\{(\w+)\}")
TOKENS: Final = {"BusinessToken": "BUSINESS_TOKEN", "PartnerToken": "PARTNER_TOKEN"}


@dataclass(frozen=True, slots=True)
class Call:
    """A call as samples show it: with the first credentials, content type and example."""

    method: str
    path: str
    scheme: str | None
    repeatable: bool
    media_type: str | None
    body: Any
    files: tuple[str, ...]
    answers_json: bool

    @property
    def token(self) -> str | None:
        """Name the variable that holds the token, where it is one that is sent."""
        return TOKENS.get(self.scheme or "")

    @property
    def variables(self) -> list[str]:
        """Name the variables of the path."""
        return VARIABLE.findall(self.path)

    @property
    def can_be_tried(self) -> bool:
        """Whether a page can send it as it is filled in: nothing, or JSON."""
        return self.media_type in (None, JSON)

    def parts(self) -> Iterator[tuple[str, str]]:
        """Give the fields of a form as text; a list of texts is a field that is repeated."""
        for name, value in self.body.items():
            if name not in self.files:
                for each in value if isinstance(value, list) else [value]:
                    yield name, as_written(each)


def read_call(path: str, method: str, item: Mapping[str, Any], describer: Describer) -> Call:
    """Read a call of an operation from the contract."""
    operation = item[method]
    schemes = [name for requirement in operation.get("security", ()) for name in requirement]
    parameters = describer.parameters(item, operation)
    body = describer.follow(operation.get("requestBody", {})).get("content", {})
    media_type = next(iter(body), None)  # What else it takes comes behind what it is shown with.
    content: Mapping[str, Any] = body.get(media_type, {})
    return Call(
        method=method.upper(),
        path=path,
        scheme=next(iter(schemes), None),
        repeatable="Idempotency-Key" in {each["name"] for each in parameters},
        media_type=media_type,
        body=next((value for _, value in examples(content, describer)), {}),
        files=tuple(
            name
            for name, field in describer.shape(content.get("schema", {}))["properties"].items()
            if describer.shape(field).get("format") == "binary"
        ),
        answers_json=any(
            JSON in describer.follow(answer).get("content", {})
            for status, answer in operation["responses"].items()
            if str(status).startswith("2")
        ),
    )


def examples(content: Mapping[str, Any], describer: Describer) -> Iterator[tuple[str, Any]]:
    """Give the examples of one content type by name."""
    for name, example in content.get("examples", {}).items():
        yield name, describer.follow(example).get("value")
    if "example" in content:
        yield "example", content["example"]
