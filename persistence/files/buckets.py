"""Contents of stored documents in an object store that speaks S3.

The library's blocking calls are used, in threads of our own: its asynchronous ones call back into
Python from threads of theirs, and a process that ends meanwhile is aborted (docs/decisions/0009).
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from accounting.values import dataclass
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
    """A bucket; addresses are path-style, which every store that speaks S3 takes."""

    name: str
    endpoint: str
    region: str
    access_key_id: str
    secret_access_key: str = field(repr=False)

    @property
    def place(self) -> str:
        """Where it is."""
        return f"the bucket {self.name} at {self.endpoint}"

    def seems_writable(self) -> None:
        """Leave it open: each question would be a request that is billed.

        And an outage of a store that all servers share would take every one of them out of service,
        though only requests with files need it.
        """

    def put(self, key: str, content: bytes) -> None:
        """Send a content; the store's answer means that it is kept."""
        import obstore

        reach(lambda: obstore.put(self._store, key, content, use_multipart=False))

    def get(self, key: str) -> bytes | None:
        """Fetch a content."""
        import obstore

        try:
            return reach(lambda: obstore.get(self._store, key).bytes().to_bytes())
        except FileNotFoundError:
            return None

    def delete(self, key: str) -> None:
        """Take a content away."""
        import obstore

        try:
            reach(lambda: obstore.delete(self._store, key))
        except FileNotFoundError:
            return

    def under(self, prefix: str) -> Iterator[tuple[str, datetime]]:
        """List keys, a thousand to a request."""
        import obstore

        batches = iter(obstore.list(self._store, prefix))
        while batch := reach(lambda: next(batches, None)):
            for each in batch:
                yield each["path"], each["last_modified"]

    @cached_property
    def _store(self) -> "S3Store":
        """Loaded by whoever needs it: a server that keeps files in a folder does without."""
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
    """Hide AWS_ variables from the library, which believes some of them more than its arguments.

    What the settings say counts, and nothing else: a session's token or another endpoint that the
    machine happens to have would send files elsewhere.
    """
    with _BUILDING:
        hidden = {name: os.environ.pop(name) for name in list(os.environ) if name[:4] == "AWS_"}
        try:
            yield
        finally:
            os.environ.update(hidden)


def reach(fetch: Callable[[], T]) -> T:
    """Ask the store; raises FileNotFoundError, and StorageUnavailable for whatever else it says."""
    from obstore.exceptions import BaseError

    try:
        return fetch()
    except FileNotFoundError:
        raise
    except (BaseError, OSError, ValueError) as error:
        # The rest of the text is the library's own view of its insides.
        raise StorageUnavailable(str(error).partition("\n")[0]) from error
