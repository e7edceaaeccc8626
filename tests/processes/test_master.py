"""The work that the master does once for all of its workers."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from server.contract import document
from server.docs import rendered_pages
from server.docs.page_file import PageFile, Pages
from server.process import master
from server.process.master import hold_contract, refuse_broken_contract
from tests.partner import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]


# Prints the loaded modules when the contract is read, when its stack is built, and at the end.
PRELOADING = """
import gc, sys
from server.contract import document as contract

def read(source, parse=contract.parse):
    print(*sys.modules)
    return parse(source)

def collect(collect=gc.collect):
    print(*sys.modules)
    return collect()

contract.parse, gc.collect = read, collect
import server.process.preloaded
"""


@pytest.fixture(scope="module")
def preloading() -> list[set[str]]:
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELOADING],
        check=True, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    return [set(line.split()) for line in ran.stdout.splitlines()]


class TestPreloaded:
    """The order of loading saves memory, which no other test shows."""

    def test_the_contract_is_read_before_anything_large_is_loaded(
        self, preloading: list[set[str]]
    ) -> None:
        # Later modules then use the memory that reading the contract released.
        read, _built, loaded = preloading
        large = {"connexion", "psycopg", "sqlalchemy"}
        assert not read & large
        assert large < loaded

    def test_what_the_stack_has_no_part_in_is_loaded_when_its_document_is_gone(
        self, preloading: list[set[str]]
    ) -> None:
        _read, built, loaded = preloading
        rest = {"server.app", "uvicorn", "uvloop"}
        assert not built & rest
        assert rest < loaded

    def test_no_worker_loads_by_itself_what_it_starts_with(
        self, preloading: list[set[str]]
    ) -> None:
        *_, loaded = preloading
        lifespan, forked = "uvicorn.lifespan.on", "multiprocessing.popen_forkserver"
        assert {"libraries.embedded.users", lifespan, forked} < loaded


class TestHoldContract:
    def test_a_valid_contract_and_its_pages_are_there_for_all_workers(self, tmp_path: Path) -> None:
        assert PageFile(tmp_path).read() is None
        hold_contract(tmp_path)
        pages = PageFile(tmp_path).read()
        assert pages is not None
        assert {"/", "/docs/", "/openapi.json", "/openapi.yaml"} < set(pages)

    def test_a_later_start_uses_the_pages_of_an_earlier_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rendered: list[bytes] = []

        def render(source: bytes, _contract: object) -> Pages:
            rendered.append(source)
            return {}

        monkeypatch.setattr(rendered_pages, "RenderedPages", render)
        hold_contract(tmp_path)
        hold_contract(tmp_path)
        assert rendered == [document.read_source()]

    def test_a_folder_that_cannot_be_written_only_costs_the_stored_pages(
        self, tmp_path: Path
    ) -> None:
        folder = tmp_path / "file"
        folder.touch()
        hold_contract(folder)
        assert PageFile(tmp_path).read() is None

    def test_an_invalid_contract_is_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken = b"openapi: 3.0.3\ninfo: {title: Books}\npaths: {}\n"
        monkeypatch.setattr(document, "read_source", lambda: broken)
        with pytest.raises(OpenAPIValidationError, match="version"):
            hold_contract(tmp_path)
        assert not PageFile(tmp_path).exists


class TestRefuseBrokenContract:
    def test_a_server_that_is_told_to_stop_does_not_wait_for_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(master, "hold_contract", sleep_in)
        stopping, began = threading.Event(), time.monotonic()
        stopping.set()
        refuse_broken_contract(tmp_path, stopping)
        assert time.monotonic() - began < PATIENCE_SECONDS / 2


def sleep_in(_folder: Path) -> None:
    time.sleep(PATIENCE_SECONDS)
