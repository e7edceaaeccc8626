"""Fingerprints of requests: equal for requests with the same meaning."""

from hashlib import sha256
from typing import Any

import orjson
from starlette.types import Scope

from server.requests.validation import Call

_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def of(scope: Scope, call: Call) -> bytes:
    """Compute the digest (32 bytes) of the operation, its address and its decoded values.

    Two spellings of one body (spaces, order of keys, JSON or form) have the same fingerprint; a
    file counts by its name and its content.
    """
    files = {
        name: [upload.file_name, sha256(upload.content).hexdigest()]
        for name, upload in call.files.items()
    }
    parts = [call.operation_id, scope["path_params"], call.query, call.body, files]
    return sha256(orjson.dumps(parts, default=_plain, option=_SORTED)).digest()


def _plain(value: Any) -> str:
    return sha256(value).hexdigest() if isinstance(value, bytes) else str(value)
