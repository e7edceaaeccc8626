"""What makes two requests the same request, whatever their bytes look like."""

from hashlib import sha256
from typing import Any

import orjson
from starlette.types import Scope

from server.requests.validation import Call

_SORTED = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS


def of(scope: Scope, call: Call) -> bytes:
    """Digest the operation, its address and its values as they were understood (32 bytes).

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
