"""A sample call in curl, in Python with httpx, and in TypeScript with fetch.

Values that differ between callers are environment variables: the token, and the ids of the path and
of the body. `first_calls.py` has the commands that set the first of them.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from server.docs.reference.calls import FORM, JSON, MULTIPART, VARIABLE, Call
from server.docs.reference.smallest_bodies import UUID

# A page that a browser shows names its own origin instead.
HOST: Final = "https://api.accounting.example"
INDENT: Final = "    "
LINE_CHARACTERS: Final = 60
MARK: Final = re.compile(r"\{\{(\w+)\}\}")
MARKED_TEXT: Final = re.compile(r'"\{\{(\w+)\}\}"')
SPECIAL_IN_SHELL: Final = re.compile(r"[\\$`]")


def curl(call: Call) -> str:
    """Return a call as a command line."""
    return " \\\n  ".join(curl_parts(with_marks(call)))


def curl_parts(call: Call) -> Iterator[str]:
    """Yield the parts of the command, a line each; the body is the last."""
    implied = "GET" if call.media_type is None else "POST"
    method = "" if call.method == implied else f" -X {call.method}"
    yield f'curl{method} "{HOST}{filled(call.path, "${}")}"'
    if call.token:
        yield f'-H "Authorization: Bearer ${call.token}"'
    elif call.scheme:
        yield '-u "$PARTNER_ID:$API_KEY"'
    if call.media_type == JSON:
        yield "-H 'Content-Type: application/json'"
        yield f"-d {shell_text(json_text(call.body))}"
    elif call.media_type == FORM:
        yield from (f"-d {quoted(f'{name}={value}')}" for name, value in call.parts())
    elif call.media_type == MULTIPART:
        yield from (f"-F {quoted(f'{name}={value}')}" for name, value in call.parts())
        yield from (f"-F {name}=@{name}.pdf" for name in call.files)


def shell_text(text: str) -> str:
    """Return a text as an argument of `-d`; one with variables is read from the lines below it."""
    return f"@- <<END\n{with_variables(text)}\nEND" if MARK.search(text) else quoted(text)


def quoted(text: str) -> str:
    """Quote a text for a shell; variables are replaced only within double quotes."""
    if MARK.search(text):
        return '"{}"'.format(with_variables(text).replace('"', '\\"'))
    return "'{}'".format(text.replace("'", "'\\''"))


def with_variables(text: str) -> str:
    """Replace the marks in a text by variables of the shell, and escape its special characters."""
    return MARK.sub(r"$\1", SPECIAL_IN_SHELL.sub(r"\\\g<0>", text))


def python(call: Call) -> str:
    """Return a call with httpx."""
    call = with_marks(call)
    url = filled(call.path, "{{os.environ['{}']}}")
    imports = ["import os"]
    if call.files:
        imports.append("from pathlib import Path")
    if call.repeatable:
        imports.append("from uuid import uuid4")
    arguments = [f'{"f" if "{" in url else ""}"{HOST}{url}"', *python_arguments(call)]
    listed = "".join(f"{INDENT}{argument},\n" for argument in arguments)
    shown = "answer.json()" if call.answers_json else "answer.text"
    text = (
        "\n".join(imports) + "\n\nimport httpx\n\n"
        f"answer = httpx.{call.method.lower()}(\n{listed})\n"
        f"if answer.is_error:\n{INDENT}raise RuntimeError(answer.text)\nprint({shown})"
    )
    return MARKED_TEXT.sub(r'os.environ["\1"]', text)


def python_arguments(call: Call) -> Iterator[str]:
    """Yield the arguments after the URL."""
    headers = {}
    if call.media_type == JSON:
        yield f"json={python_text(call.body)}"
    elif fields := gathered(call) if call.media_type else {}:
        yield f"data={python_text(fields)}"
    if call.media_type == MULTIPART:
        for name in call.files:
            yield f'files={{"{name}": ("{name}.pdf", Path("{name}.pdf").read_bytes())}}'
    if call.token:
        headers["Authorization"] = f"f\"Bearer {{os.environ['{call.token}']}}\""
    elif call.scheme:
        yield 'auth=(os.environ["PARTNER_ID"], os.environ["API_KEY"])'
    if call.repeatable:
        headers["Idempotency-Key"] = "str(uuid4())"
    if headers:
        lines = "".join(f'{INDENT * 2}"{name}": {value},\n' for name, value in headers.items())
        yield f"headers={{\n{lines}{INDENT}}}"


def gathered(call: Call) -> dict[str, str | list[str]]:
    """Return the fields of a form by name, as httpx accepts them."""
    fields: dict[str, list[str]] = {}
    for name, value in call.parts():
        fields.setdefault(name, []).append(value)
    return {name: found[0] if len(found) == 1 else found for name, found in fields.items()}


def with_marks(call: Call) -> Call:
    """Replace each id in the body by a mark with the name of its field: `{{INVOICE_ID}}`."""
    return replace(call, body=marked(call.body, ""))


def marked(value: Any, name: str) -> Any:
    """Replace the ids in the value of a field; one in a list has the list's name without `s`."""
    if isinstance(value, Mapping):
        return {key: marked(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [marked(each, name.removesuffix("s")) for each in value]
    is_id = isinstance(value, str) and UUID.fullmatch(value)
    return f"{{{{{name.upper()}}}}}" if is_id else value


def json_text(value: Any) -> str:
    """Return a value as JSON, with short parts on one line."""
    return laid_out(value, written, "  ", "")


def python_text(value: Any) -> str:
    """Return a value as a Python literal within a call."""
    return laid_out(value, python_scalar, INDENT, INDENT)


def laid_out(value: Any, write: Callable[[Any], str], step: str, indent: str) -> str:
    """Return a value with objects and lists on one line where they fit, else over several."""
    if not isinstance(value, Mapping | list):
        return write(value)
    inner = indent + step
    texts = (
        [f"{write(name)}: {laid_out(each, write, step, inner)}" for name, each in value.items()]
        if isinstance(value, Mapping)
        else [laid_out(each, write, step, inner) for each in value]
    )
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    line = opening + ", ".join(texts) + closing
    if "\n" not in line and len(indent + line) <= LINE_CHARACTERS:
        return line
    lines = ",\n".join(inner + text for text in texts)
    return f"{opening}\n{lines}\n{indent}{closing}"


def python_scalar(value: Any) -> str:
    """Return a text, a number or a literal in Python."""
    return written(value) if isinstance(value, str) else repr(value)


def written(value: Any) -> str:
    """Return a text, a number or a literal in JSON; a text is quoted alike in all languages."""
    return json.dumps(value, ensure_ascii=False)


def typescript(call: Call) -> str:
    """Return a call with fetch."""
    call = with_marks(call)
    url = filled(call.path, "${{process.env.{}}}")
    options = "".join(f"  {line},\n" for line in typescript_options(call))
    shown = "answer.json()" if call.answers_json else "answer.text()"
    text = (
        f"{typescript_form(call)}const answer = await fetch(`{HOST}{url}`, {{\n{options}}});\n"
        f"if (!answer.ok) throw new Error(await answer.text());\nconsole.log(await {shown});"
    )
    return MARKED_TEXT.sub(r"process.env.\1", text)


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
    if call.media_type == JSON:
        body = json_text(call.body).replace("\n", "\n  ")
        yield f"body: JSON.stringify({body})"
    elif call.media_type == FORM:
        yield f"body: new URLSearchParams({json_text(dict(call.parts()))})"
    elif call.media_type == MULTIPART:
        yield "body: form"
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


def filled(path: str, variable: str) -> str:
    """Replace the parameters of a path by variables of the language with the same names."""
    return VARIABLE.sub(lambda match: variable.format(match.group(1).upper()), path)
