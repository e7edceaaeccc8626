"""Contents of stored documents in an object store with the S3 protocol.

The module uses the library's blocking calls, in threads of our own. Its asynchronous calls return
to Python from threads of the library, which aborts a process that is ending (docs/decisions/0009).
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from persistence.files.blobs import StorageUnavailable

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

CONNECT_SECONDS = 2
REQUEST_SECONDS = 8
MOST_RETRIES = 2

_BUILDING = Lock()


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """A bucket; its addresses are path-style, which every S3 store accepts."""

    name: str
    endpoint: str
    region: str
    access_key_id: str
    secret_access_key: str = field(repr=False)

    @property
    def place(self) -> str:
        """The name and the endpoint of the bucket."""
        return f"the bucket {self.name} at {self.endpoint}"

    def seems_writable(self) -> None:
        """Return None: every check would be a billed request.

        An outage of the shared store would also take all servers out of service, though only
        requests with files need it.
        """

    def put(self, key: str, content: bytes) -> None:
        """Send a content; the answer of the store confirms that it is durable."""
        import obstore

        reach(lambda: obstore.put(self._store, key, content, use_multipart=False))

    def get(self, key: str) -> bytes | None:
        """Fetch a content; None if it does not exist."""
        import obstore

        try:
            return reach(lambda: obstore.get(self._store, key).bytes().to_bytes())
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Delete a content; a missing one is no error."""
        import obstore

        try:
            reach(lambda: obstore.delete(self._store, key))
        except FileNotFoundError:
            return

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List the keys below a prefix with their times, 1,000 per request."""
        import obstore

        batches = iter(obstore.list(self._store, prefix))
        while batch := reach(lambda: next(batches, None)):
            for each in batch:
                yield each["path"], each["last_modified"]

    @cached_property
    def _store(self) -> "S3Store":
        """The client, loaded on first use: a server with files in a folder does not need it."""
        from obstore.store import S3Store

        with _no_variables_of_amazon():
            return S3Store(
                self.name,
                endpoint=self.endpoint,
                region=self.region,
                access_key_id=self.access_key_id,
                secret_access_key=self.secret_access_key,
                virtual_hosted_style_request=False,
                client_options={
                    "allow_http": self.endpoint.startswith("http://"),
                    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                    "timeout": timedelta(seconds=REQUEST_SECONDS),
                },
                retry_config={
                    "max_retries": MOST_RETRIES,
                    "retry_timeout": timedelta(seconds=REQUEST_SECONDS),
                },
            )


@contextmanager
def _no_variables_of_amazon() -> Iterator[None]:
    """Hide AWS_ variables from the library, which prefers some of them to its arguments.

    Only our settings may apply: a session token or endpoint in the environment could send files
    elsewhere.
    """
    with _BUILDING:
        hidden = {name: os.environ.pop(name) for name in list(os.environ) if name[:4] == "AWS_"}
        try:
            yield
        finally:
            os.environ.update(hidden)


def reach(fetch: Callable[[], T]) -> T:
    """Call the store; raises FileNotFoundError, and StorageUnavailable for all other errors."""
    from obstore.exceptions import BaseError

    try:
        return fetch()
    except FileNotFoundError:
        raise
    except (BaseError, OSError, ValueError) as error:
        # The further lines are internal details of the library.
        raise StorageUnavailable(str(error).partition("\n")[0]) from error
