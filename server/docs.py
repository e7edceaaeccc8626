"""The pages that tell what the API is: the contract itself as YAML and JSON, and the reference."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from server.contract import parse, read_source
from server.edge import Page
from server.reference.page import policy, render
from server.responses.errors import Answer

KEPT: Final = (b"cache-control", b"max-age=60")


class Documentation:
    """Serve the contract in three forms; each is written when it is first asked for."""

    def __init__(self, document: Mapping[str, Any], source: bytes) -> None:
        self.document = document
        self.source = source
        self.written: dict[str, Answer] = {}

    def pages(self) -> dict[str, Page]:
        """Give the addresses and what answers them, for `server/edge.py`."""
        return {
            "/openapi.yaml": self.as_yaml,
            "/openapi.json": self.as_json,
            "/docs/": self.as_reference,
        }

    async def as_yaml(self) -> Answer:
        """Answer the contract as it was written."""
        return answer(b"application/yaml", self.source)

    async def as_json(self) -> Answer:
        """Answer the contract as JSON."""
        if "json" not in self.written:
            self.written["json"] = answer(b"application/json", json_of(self.document))
        return self.written["json"]

    async def as_reference(self) -> Answer:
        """Answer the page for people."""
        if "html" not in self.written:
            headers = (b"content-security-policy", f"{policy()}; frame-ancestors 'none'".encode())
            content = render(self.document).encode("utf-8")
            self.written["html"] = answer(b"text/html; charset=utf-8", content, headers)
        return self.written["html"]


def answer(media_type: bytes, content: bytes, *headers: tuple[bytes, bytes]) -> Answer:
    """Make a page that may be kept for a minute."""
    lines = [
        (b"content-type", media_type),
        (b"content-length", b"%d" % len(content)),
        KEPT,
        *headers,
    ]
    return Answer(200, lines, content)


def json_of(document: Mapping[str, Any]) -> bytes:
    """Write the contract as JSON."""
    return orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)


def publish(folder: Path) -> None:
    """Write the reference and the contract into a folder, to be served as they are."""
    source = read_source()
    document = parse(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(render(document, contract="openapi"), encoding="utf-8")
    (folder / "openapi.yaml").write_bytes(source)
    (folder / "openapi.json").write_bytes(json_of(document))


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
