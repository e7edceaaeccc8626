"""Bodies that may be valid although a field has a value that its schema does not accept.

In a new object null omits an optional field, and blank omits a parameter of OAuth 2.0. The guide
"Request format" says so, and a schema cannot.
"""

from typing import Any


def may_omit_fields(path: str, body: Any) -> bool:
    """Return whether a body has a value, at any depth, by which a request may omit a field."""
    if body is None or (body == "" and "/oauth2/" in path):
        return True
    items = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return any(may_omit_fields(path, item) for item in items)
