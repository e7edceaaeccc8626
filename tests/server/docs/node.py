"""Scripts of the pages, run by Node."""

import json
import shutil
import subprocess
from typing import Any

import pytest

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="There is no Node here.")


def run(code: str, given: Any, *options: str) -> Any:
    """Run JavaScript that reads a JSON value and writes another."""
    process = subprocess.run(
        ["node", *options, "-e", code],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(process.stdout)
