"""A sample call in curl, in Python with httpx, and in TypeScript with fetch.

Values that differ between callers are environment variables: tokens, keys and the ids of the path.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from server.docs.reference.calls import FORM, JSON, MULTIPART, VARIABLE, Call

HOST: Final = "https://api.accounting.example"
INDENT: Final = "    "


def curl(call: Call) -> str:
    """Return a call as a command line."""
    return " \\\n  ".join(curl_parts(call))


def curl_parts(call: Call) -> Iterator[str]:
    """Yield the parts of the command, a line each."""
    yield "curl" if call.method == "GET" else f"curl -X {call.method}"
    if call.token:
        yield f'-H "Authorization: Bearer ${call.token}"'
    elif call.scheme:
        yield '-u "$PARTNER_ID:$API_KEY"'
    if call.repeatable:
        yield '-H "Idempotency-Key: $(uuidgen)"'
    if call.media_type == JSON:
        yield "-H 'Content-Type: application/json'"
        yield f"-d {quoted(json.dumps(call.body, indent=2, ensure_ascii=False))}"
    elif call.media_type == FORM:
        yield from (f"-d {quoted(f'{name}={value}')}" for name, value in call.parts())
    elif call.media_type == MULTIPART:
        yield from (f"-F {quoted(f'{name}={value}')}" for name, value in call.parts())
        yield from (f"-F {name}=@{name}.pdf" for name in call.files)
    yield f'"{HOST}{filled(call.path, "${}")}"'


def quoted(text: str) -> str:
    """Quote a text for a shell."""
    return "'{}'".format(text.replace("'", "'\\''"))


def python(call: Call) -> str:
    """Return a call with httpx."""
    url = filled(call.path, "{{os.environ['{}']}}")
    imports = ["import os"]
    if call.files:
        imports.append("from pathlib import Path")
    if call.repeatable:
        imports.append("from uuid import uuid4")
    arguments = [f'{"f" if "{" in url else ""}"{HOST}{url}"', *python_arguments(call)]
    listed = "".join(f"{INDENT}{argument},\n" for argument in arguments)
    shown = "answer.json()" if call.answers_json else "answer.text"
    return (
        "\n".join(imports) + "\n\nimport httpx\n\n"
        f"answer = httpx.{call.method.lower()}(\n{listed})\n"
        f"answer.raise_for_status()\nprint({shown})"
    )


def python_arguments(call: Call) -> Iterator[str]:
    """Yield the arguments after the URL."""
    headers = {}
    if call.token:
        headers["Authorization"] = f"f\"Bearer {{os.environ['{call.token}']}}\""
    elif call.scheme:
        yield 'auth=(os.environ["PARTNER_ID"], os.environ["API_KEY"])'
    if call.repeatable:
        headers["Idempotency-Key"] = "str(uuid4())"
    if headers:
        lines = "".join(f'{INDENT * 2}"{name}": {value},\n' for name, value in headers.items())
        yield f"headers={{\n{lines}{INDENT}}}"
    if call.media_type == JSON:
        yield f"json={literal(call.body, INDENT)}"
    elif call.media_type is not None:
        yield f"data={literal(gathered(call), INDENT)}"
    if call.media_type == MULTIPART:
        for name in call.files:
            yield f'files={{"{name}": ("{name}.pdf", Path("{name}.pdf").read_bytes())}}'


def gathered(call: Call) -> dict[str, str | list[str]]:
    """Return the fields of a form by name, as httpx accepts them."""
    fields: dict[str, list[str]] = {}
    for name, value in call.parts():
        fields.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in fields.items()}


def literal(value: Any, indent: str) -> str:
    """Return a value as a Python literal, over several lines."""
    inner = indent + INDENT
    if isinstance(value, Mapping) and value:
        lines = (
            f"{inner}{written(name)}: {literal(each, inner)},\n" for name, each in value.items()
        )
        return f"{{\n{''.join(lines)}{indent}}}"
    if isinstance(value, list) and value:
        lines = (f"{inner}{literal(each, inner)},\n" for each in value)
        return f"[\n{''.join(lines)}{indent}]"
    return written(value) if isinstance(value, str) else repr(value)


def written(text: str) -> str:
    """Quote a text in double quotes, as in JSON, Python and TypeScript."""
    return json.dumps(text, ensure_ascii=False)


def typescript(call: Call) -> str:
    """Return a call with fetch."""
    url = filled(call.path, "${{process.env.{}}}")
    options = "".join(f"  {line},\n" for line in typescript_options(call))
    shown = "answer.json()" if call.answers_json else "answer.text()"
    return (
        f"{typescript_form(call)}const answer = await fetch(`{HOST}{url}`, {{\n{options}}});\n"
        f"if (!answer.ok) throw new Error(await answer.text());\nconsole.log(await {shown});"
    )


def typescript_form(call: Call) -> str:
    """Return the code that builds a form, if the body is a multipart form."""
    if call.media_type != MULTIPART:
        return ""
    lines = ['import { openAsBlob } from "node:fs";\n', "const form = new FormData();"]
    lines += [f"form.append({written(name)}, {written(value)});" for name, value in call.parts()]
    lines += [
        f'form.append("{name}", await openAsBlob("{name}.pdf"), "{name}.pdf");'
        for name in call.files
    ]
    return "\n".join([*lines, ""])


def typescript_options(call: Call) -> Iterator[str]:
    """Yield the options after the URL."""
    yield f'method: "{call.method}"'
    headers = {}
    if call.token:
        headers["Authorization"] = f"`Bearer ${{process.env.{call.token}}}`"
    elif call.scheme:
        key = "btoa(`${process.env.PARTNER_ID}:${process.env.API_KEY}`)"
        headers["Authorization"] = f'"Basic " + {key}'
    if call.repeatable:
        headers["Idempotency-Key"] = "crypto.randomUUID()"
    if call.media_type == JSON:
        headers["Content-Type"] = '"application/json"'
    if headers:
        lines = "".join(f'    "{name}": {value},\n' for name, value in headers.items())
        yield f"headers: {{\n{lines}  }}"
    if call.media_type == JSON:
        body = json.dumps(call.body, indent=2, ensure_ascii=False).replace("\n", "\n  ")
        yield f"body: JSON.stringify({body})"
    elif call.media_type == FORM:
        fields = json.dumps(dict(call.parts()), ensure_ascii=False)
        yield f"body: new URLSearchParams({fields})"
    elif call.media_type == MULTIPART:
        yield "body: form"


def filled(path: str, variable: str) -> str:
    """Replace the parameters of a path by variables of the language with the same names."""
    return VARIABLE.sub(lambda match: variable.format(match.group(1).upper()), path)
