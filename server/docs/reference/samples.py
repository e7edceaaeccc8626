"""Code samples of an operation: the call in three languages, its bodies and its responses."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from markupsafe import Markup, escape

from server.docs.reference.calls import JSON, Call, examples
from server.docs.reference.fields import Describer
from server.docs.reference.languages import curl, python, typescript
from server.docs.reference.text import pretty

LANGUAGES: Final = (("curl", curl), ("Python", python), ("TypeScript", typescript))


@dataclass(frozen=True, slots=True)
class Sample:
    """A block of code next to an operation; `shown` if it is expanded."""

    title: str
    code: Markup
    shown: bool = False


def samples(call: Call, operation: Mapping[str, Any], describer: Describer) -> Iterator[Sample]:
    """Yield the call in each language, the other example bodies, and the success responses."""
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
    """Convert the name of an example to words."""
    return name.replace("_", " ")
