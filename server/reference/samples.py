"""What a call looks like: a command to try, what is sent, what comes back."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup, escape

from server.reference.fields import Describer, as_written
from server.reference.text import pretty

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"
PARAMETER: Final = re.compile(r"\{(\w+)\}")
CREDENTIALS: Final = {
    "BusinessToken": '-H "Authorization: Bearer $BUSINESS_TOKEN"',
    "PartnerToken": '-H "Authorization: Bearer $PARTNER_TOKEN"',
    "PartnerKey": '-u "$PARTNER_ID:$API_KEY"',
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One block of code beside an operation."""

    title: str
    code: Markup


def samples(
    path: str, method: str, operation: Mapping[str, Any], describer: Describer
) -> Iterator[Sample]:
    """Give the command, the bodies it may send and the good answers."""
    body = describer.follow(operation.get("requestBody", {})).get("content", {})
    yield Sample("curl", escape(command(path, method, operation, body, describer)))
    sent = {repr(value): (name, value) for name, value in examples(body.get(JSON, {}), describer)}
    for name, value in sent.values():
        yield Sample(f"Request: {words(name)}" if len(sent) > 1 else "Request", pretty(value))
    for status, reference in operation["responses"].items():
        if str(status).startswith("2"):
            content = describer.follow(reference).get("content", {}).get(JSON, {})
            shown = list(examples(content, describer))
            for name, value in shown:
                title = f"{status}: {words(name)}" if len(shown) > 1 else str(status)
                yield Sample(title, pretty(value))


def command(
    path: str,
    method: str,
    operation: Mapping[str, Any],
    body: Mapping[str, Any],
    describer: Describer,
) -> str:
    """Write a call as a command line, with shell variables for what differs."""
    lines = ["curl" if method == "get" else f"curl -X {method.upper()}"]
    schemes = [name for requirement in operation.get("security", ()) for name in requirement]
    lines += [CREDENTIALS[scheme] for scheme in schemes[:1] if scheme in CREDENTIALS]
    names = [describer.follow(parameter)["name"] for parameter in operation.get("parameters", ())]
    if "Idempotency-Key" in names:
        lines.append('-H "Idempotency-Key: $(uuidgen)"')
    media_type = next(iter(body), None)  # What else it takes comes behind what it is shown with.
    if media_type == FORM:
        lines += fields(body[FORM], describer)
    elif media_type == JSON:
        lines += ["-H 'Content-Type: application/json'", "-d @request.json"]
    elif media_type == MULTIPART:
        lines += parts(body[MULTIPART], describer)
    variable = PARAMETER.sub(lambda match: f"${match.group(1).upper()}", path)
    return " \\\n  ".join([*lines, f'"https://api.accounting.example{variable}"'])


def fields(content: Mapping[str, Any], describer: Describer) -> Iterator[str]:
    """Write the fields of the first example of a form."""
    _, example = next(examples(content, describer))
    for name, value in example.items():
        yield f"-d {name}={value}"


def parts(content: Mapping[str, Any], describer: Describer) -> Iterator[str]:
    """Write the parts of a multipart example, a file as one that lies beside the caller."""
    fields = describer.follow(content.get("schema", {})).get("properties", {})
    for _, example in examples(content, describer):
        for name, value in example.items():
            is_file = describer.follow(fields.get(name, {})).get("format") == "binary"
            yield f"-F {name}=@{name}.pdf" if is_file else f"-F '{name}={as_written(value)}'"
        return


def examples(content: Mapping[str, Any], describer: Describer) -> Iterator[tuple[str, Any]]:
    """Give the examples of one content type by name."""
    for name, example in content.get("examples", {}).items():
        yield name, describer.follow(example).get("value")
    if "example" in content:
        yield "example", content["example"]


def words(name: str) -> str:
    """Turn the name of an example into words."""
    return name.replace("_", " ")
