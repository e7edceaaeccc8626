"""What the master has done for all of its workers, once."""

import threading
import time
from functools import partial

import pytest
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from server import contract
from server.process import master, preloaded
from server.process.master import hold_contract, refuse_broken_contract
from tests.partner import PATIENCE_SECONDS


class TestHoldContract:
    def test_it_keeps_openapis_rules_and_its_pages_are_there_for_all_workers(self) -> None:
        assert preloaded.pages.read() is None
        hold_contract()
        pages = preloaded.pages.read()
        assert pages is not None
        assert {"/", "/docs/", "/openapi.json", "/openapi.yaml"} < set(pages)

    def test_one_that_breaks_them_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = b"openapi: 3.0.3\ninfo: {title: Books}\npaths: {}\n"
        monkeypatch.setattr(contract, "read_source", lambda: broken)
        with pytest.raises(OpenAPIValidationError, match="version"):
            hold_contract()


class TestRefuseBrokenContract:
    def test_a_server_that_is_told_to_stop_does_not_wait_for_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(master, "hold_contract", partial(time.sleep, PATIENCE_SECONDS))
        stopping, began = threading.Event(), time.monotonic()
        stopping.set()
        refuse_broken_contract(stopping)
        assert time.monotonic() - began < PATIENCE_SECONDS / 2
