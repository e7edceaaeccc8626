"""Samples of the reference, pasted from its pages with the variables that `make run` prints."""

import html
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.contract.document import parse, read_source
from server.contract.published import published
from server.docs.reference.first_calls import exports
from server.docs.reference.languages import HOST
from server.docs.reference.site import place, site
from tests.contract.document import Operation, bodies, operations
from tests.contract.valid_requests import Story
from tests.partner import PATIENCE_SECONDS

# curl itself ends with 0 whatever the answer is.
STRICT_CURL = 'curl() { command curl -sS --fail-with-body "$@"; }\n'
COMMANDS = {
    "curl": lambda code: ["sh", "-c", STRICT_CURL + code],
    "Python": lambda code: [sys.executable, "-c", code],
    "TypeScript": lambda code: ["node", "--input-type=module", "-e", code],
}
NAMES = re.compile(r"(?:\$|environ\[.|process\.env\.)([A-Z_]+)")


def chosen() -> Iterator[Operation]:
    """Yield the first operation of each tag with a body, and the first read of each tag."""
    for wanted in (bodies, lambda each: each.method == "get"):
        tags: set[str] = set()
        for operation in operations():
            [tag] = operation.node["tags"]
            if wanted(operation) and tag not in tags:
                tags.add(tag)
                yield operation


CHOSEN = [*chosen()]
WRITES = [each for each in CHOSEN if bodies(each)]
# Each starts a process that takes a second.
HALF = WRITES[::2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return site(parse(published(read_source())))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the file that samples send."""
    (tmp_path / "file.pdf").write_bytes(b"%PDF-1.7\n%%EOF\n")
    return tmp_path


def sample(page: str, title: str) -> str:
    """Return the code of a sample as a browser copies it."""
    found = re.search(rf"<summary>{title}</summary><pre[^>]*><code>(.*?)</code>", page, re.DOTALL)
    assert found, title
    return html.unescape(found[1])


def variables_of(story: Story, operation: Operation, code: str) -> dict[str, str]:
    """Return the variables of a sample: those that `make run` exports, and ids of the story."""
    partner = story.partner
    line = exports(partner.url, str(partner.partner_id), partner.api_key, story.business.id)
    known = dict(each.split("=", 1) for each in line.split()[1:])
    known["TOKEN"] = partner.api.headers["Authorization"].removeprefix("Bearer ")
    in_path = {each["name"] for each in operation.parameters if each["in"] == "path"}
    for name in {each.lower() for each in NAMES.findall(code)} - {each.lower() for each in known}:
        known[name.upper()] = (
            story.id_of(operation, name) if name in in_path else in_body(story, operation, name)
        )
    return known


def in_body(story: Story, operation: Operation, name: str) -> str:
    """Return the id in a field of the first example of the body."""
    return str(story.request(operation).body[name])


def pasted(page: str, title: str, operation: Operation, story: Story, folder: Path) -> None:
    """Execute a sample as a browser copies it: with the server that serves the page."""
    code = sample(page, title).replace(HOST, story.partner.url)
    told = subprocess.run(
        COMMANDS[title](code),
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables_of(story, operation, code)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, ""), told.stdout + told.stderr
    assert '"error_code"' not in told.stdout, told.stdout


class TestPastedSample:
    def test_there_are_many(self) -> None:
        assert len(WRITES) >= 20
        assert len(CHOSEN) >= 40

    @pytest.mark.skipif(shutil.which("curl") is None, reason="There is no curl here.")
    @pytest.mark.parametrize("operation", CHOSEN, ids=lambda each: each.name)
    def test_of_curl_works(
        self, operation: Operation, pages: dict[str, str], own_story: Story, folder: Path
    ) -> None:
        page = pages[place("operations", operation.name)]
        pasted(page, "curl", operation, own_story, folder)

    @pytest.mark.parametrize("operation", HALF, ids=lambda each: each.name)
    def test_of_python_works(
        self, operation: Operation, pages: dict[str, str], own_story: Story, folder: Path
    ) -> None:
        page = pages[place("operations", operation.name)]
        pasted(page, "Python", operation, own_story, folder)

    @pytest.mark.skipif(shutil.which("node") is None, reason="There is no Node here.")
    @pytest.mark.parametrize("operation", HALF, ids=lambda each: each.name)
    def test_of_typescript_works(
        self, operation: Operation, pages: dict[str, str], own_story: Story, folder: Path
    ) -> None:
        page = pages[place("operations", operation.name)]
        pasted(page, "TypeScript", operation, own_story, folder)
