"""The contents of stored documents, behind signed links: the only route without authentication.

An answer of the API contains the link, which opens one document for a quarter of an hour and
carries its own signature. The content is sent as an attachment and never displayed: it comes from
users, and its scripts must not run on our origin.
"""

from urllib.parse import quote

import structlog
from starlette.types import Scope

from access.links import LINKS_PATH, ExpiredLinkError, LinkError, LinkSigner, SignedLink
from accounting.errors import NotAllowed
from accounting.files.uploads import download_name
from persistence.files.blobs import key_in
from persistence.files.stored_files import StoredFile, linked_file
from persistence.resources import Resources
from persistence.store import not_found
from server.clock import Clock
from server.http.errors import Answer, Headers


class Downloads:
    """The answers to signed links."""

    def __init__(self, resources: Resources, signer: LinkSigner, clock: Clock) -> None:
        self._resources = resources
        self._signer = signer
        self._clock = clock

    async def answer(self, scope: Scope) -> Answer:
        """Answer a request for a document; the edge in front converts exceptions to answers."""
        link = self._read(scope)
        document = await linked_file(self._resources.pool, link)
        content = await self._content(link, document)
        return Answer(200, headers_of(document, content), content)

    def _read(self, scope: Scope) -> SignedLink:
        query = scope["query_string"].decode("latin-1")
        try:
            return self._signer.read(scope["path"], query, self._clock())
        except ExpiredLinkError:
            raise NotAllowed(
                "permission_denied",
                "This link has expired. Read the document again to get a new link.",
            ) from None
        except LinkError:
            raise NotAllowed(
                "permission_denied", "This link is not valid. Use it exactly as it was issued."
            ) from None

    async def _content(self, link: SignedLink, document: StoredFile) -> bytes:
        content = await self._resources.blobs.get(key_in(link.business_id, document.storage_key))
        if content is None:
            # The server never deletes the file of a record: an operator must check the storage.
            structlog.get_logger("accounting.documents").error(
                "content_missing", business_id=link.business_id, document_id=document.id
            )
            raise not_found("document")
        return content


def is_document(path: str) -> bool:
    """Return whether a path is that of a link: two parts below `/documents/`."""
    return path.startswith(LINKS_PATH) and path.rstrip("/").count("/") == 3


def headers_of(document: StoredFile, content: bytes) -> Headers:
    """Return the headers for the type of the content and for saving it (RFC 6266)."""
    return [
        (b"content-type", document.mime_type.encode("ascii")),
        (b"content-length", b"%d" % len(content)),
        (b"content-disposition", disposition(document).encode("ascii")),
    ]


def disposition(document: StoredFile) -> str:
    """Return the Content-Disposition: the file name in ASCII for old clients, and exactly."""
    name = download_name(document.file_name, document.mime_type)
    plain = "".join(letter if letter.isascii() and letter not in '"\\%' else "_" for letter in name)
    exact = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{exact}'
