"""What the master does for all of its workers, once."""

import pytest
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError

from server import contract
from server.process.master import check_contract


class TestCheckContract:
    def test_the_contract_keeps_openapis_rules(self) -> None:
        check_contract()

    def test_one_that_breaks_them_is_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        broken = b"openapi: 3.0.3\ninfo: {title: Books}\npaths: {}\n"
        monkeypatch.setattr(contract, "read_source", lambda: broken)
        with pytest.raises(OpenAPIValidationError, match="version"):
            check_contract()
