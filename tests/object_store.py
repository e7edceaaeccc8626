"""A real server that speaks S3 and checks signatures: rclone over a folder."""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from persistence.buckets import Bucket

RCLONE = Path(sys.executable).with_name("rclone")
KEY_ID, SECRET = "tests", "not a secret"


class ObjectStore:
    """One server with one bucket; it may be stopped and started again at the same address."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="object-store-"))
        self.folder = self.home / "documents"
        self.folder.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as door:
            self.port = int(door.getsockname()[1])
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.home)

    def start(self) -> Self:
        """Start it and wait until it listens."""
        address = ("127.0.0.1", self.port)
        words = ["serve", "s3", "--config", "/dev/null", "--addr", f"127.0.0.1:{self.port}"]
        words += ["--auth-key", f"{KEY_ID},{SECRET}", "--dir-cache-time", "0s", str(self.home)]
        self.process = subprocess.Popen(
            [RCLONE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(address, timeout=1).close()
                return self
            except OSError:
                assert self.process.poll() is None, "the object store failed to start"
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def stop(self) -> None:
        """Stop it at once; nobody is answered any more."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def bucket(self, **changes: Any) -> Bucket:
        """The bucket as the server is told of it."""
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
        """What lies in it."""
        return {
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        }
