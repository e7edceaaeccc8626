"""What a call looks like: how to make it in three languages, what is sent, what comes back."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from markupsafe import Markup, escape

from accounting.values import dataclass
from server.reference.calls import JSON, Call, examples
from server.reference.fields import Describer
from server.reference.languages import curl, python, typescript
from server.reference.text import pretty

LANGUAGES: Final = (("curl", curl), ("Python", python), ("TypeScript", typescript))


@dataclass(frozen=True, slots=True)
class Sample:
    """One block of code beside an operation; `shown` is not folded up."""

    title: str
    code: Markup
    shown: bool = False


def samples(call: Call, operation: Mapping[str, Any], describer: Describer) -> Iterator[Sample]:
    """Give the call in each language, the other bodies that it may send, and the good answers."""
    for language, write in LANGUAGES:
        yield Sample(language, escape(write(call)), shown=write is curl)
    body = describer.follow(operation.get("requestBody", {})).get("content", {})
    for name, value in examples(body.get(JSON, {}), describer):
        if value != call.body:
            yield Sample(f"Request: {words(name)}", pretty(value))
    for status, reference in operation["responses"].items():
        if str(status).startswith("2"):
            content = describer.follow(reference).get("content", {}).get(JSON, {})
            shown = list(examples(content, describer))
            for name, value in shown:
                title = f"{status}: {words(name)}" if len(shown) > 1 else str(status)
                yield Sample(title, pretty(value), shown=value is shown[0][1])


def words(name: str) -> str:
    """Turn the name of an example into words."""
    return name.replace("_", " ")
