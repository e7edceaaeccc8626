"""A real server that speaks S3 and checks signatures: rclone over a folder."""

import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from persistence.files.buckets import Bucket
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port

RCLONE = Path(sys.executable).with_name("rclone")
KEY_ID, SECRET = "tests", "not a secret"


class ObjectStore:
    """A server with one bucket; it can be stopped and started at the same address."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="object-store-"))
        self.folder = self.home / "documents"
        self.folder.mkdir()
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.home)

    def start(self) -> Self:
        """Start the server and wait until it listens."""
        words = ["serve", "s3", "--config", "/dev/null", "--addr", f"127.0.0.1:{self.port}"]
        words += ["--auth-key", f"{KEY_ID},{SECRET}", "--dir-cache-time", "0s", str(self.home)]
        self.process = subprocess.Popen(
            [RCLONE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert within(PATIENCE_SECONDS, self.answers), "the object store failed to start"
        return self

    def answers(self) -> bool:
        """Return whether the server listens."""
        assert self.process is not None
        assert self.process.poll() is None, "the object store has ended"
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """Stop the server immediately."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def bucket(self, **changes: Any) -> Bucket:
        """Return the settings of the bucket."""
        told: dict[str, Any] = {
            "name": "documents",
            "endpoint": f"http://127.0.0.1:{self.port}",
            "region": "eu-west-1",
            "access_key_id": KEY_ID,
            "secret_access_key": SECRET,
        }
        return Bucket(**{**told, **changes})

    @property
    def keys(self) -> set[str]:
        """The keys of the stored objects."""
        return {
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        }
