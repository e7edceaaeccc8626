"""A real Prometheus that scrapes a server, with the rules of this tree."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from tests.operations.watching_files import RULES
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port

PROMETHEUS = shutil.which("prometheus")


class Prometheus:
    """A Prometheus that scrapes a server every second."""

    def __init__(self, metrics_port: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="prometheus-"))
        self.port = free_port()
        told = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {
                    "job_name": "accounting",
                    "static_configs": [{"targets": [f"127.0.0.1:{metrics_port}"]}],
                }
            ],
        }
        (self.folder / "prometheus.yml").write_text(json.dumps(told))  # JSON is YAML.

    def __enter__(self) -> Self:
        assert PROMETHEUS is not None
        self.log = (self.folder / "log").open("wb")
        self.process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={self.folder}/prometheus.yml",
                f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--log.level=warn",
            ],
            stdout=self.log,
            stderr=self.log,
        )
        assert within(PATIENCE_SECONDS, self.answers), (self.folder / "log").read_text()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def answers(self) -> bool:
        """Return whether it is ready."""
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/-/ready").status_code == 200
        except httpx.TransportError:
            return False

    def asked(self, path: str, **parameters: str) -> Any:
        """Send a request to its API; return the data."""
        answer = httpx.get(f"http://127.0.0.1:{self.port}/api/v1/{path}", params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def found(self, expression: str) -> list[Any]:
        """Return the result of an expression."""
        result: list[Any] = self.asked("query", query=expression)["result"]
        return result
