"""Forms, in which all values are texts: an invalid value may be valid on the wire."""

import json
import re
from typing import Any

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
LISTS_OF_TEXTS = {"tags", "document_tags"}
FIELD = re.compile(r"/properties/\w+(/items)?")
WRITTEN_AS_TEXT = {"boolean", "integer", "number"}


def read_as_texts(body: dict[str, Any]) -> None:
    """Replace lists of texts by their form on the wire: a repeated field of texts.

    Schemathesis counts a number in such a list as invalid, and the server cannot see that. A single
    text could be JSON for a whole list, so none may begin like one.
    """
    for name in LISTS_OF_TEXTS & body.keys():
        parts = body[name] if isinstance(body[name], list) else [body[name]]
        texts = [part if isinstance(part, str) else json.dumps(part) for part in parts]
        body[name] = [f"x{text}" if text.lstrip().startswith("[") else text for text in texts]


def leave_out_nulls(body: dict[str, Any]) -> None:
    """Remove fields of null from a valid form, which has no null: the text null is no id."""
    for name in [name for name, value in body.items() if value is None]:
        del body[name]


def is_right_as_text(case: Any) -> bool:
    """Return whether the only faults of a form are numbers or booleans in place of texts.

    The server reads the text true where Schemathesis wrote a boolean.
    """
    if case.media_type not in (FORM, MULTIPART) or case.meta is None:
        return False
    made_wrong = getattr(case.meta.phase.data, "mutations", ())
    return bool(made_wrong) and all(_is_of_a_text(each) for each in made_wrong)


def _is_of_a_text(mutation: Any) -> bool:
    return (
        mutation.parameter_location.name == "BODY"
        and tuple(mutation.keywords) == ("type",)
        and FIELD.fullmatch(mutation.schema_pointer or "") is not None
        and "string" in _names(mutation.original_value)
        and _names(mutation.new_value) <= WRITTEN_AS_TEXT
    )


def _names(types: Any) -> set[str]:
    return set(types) if isinstance(types, list) else {str(types)}
