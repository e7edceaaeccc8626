"""The errors whose messages an operator sees."""

import subprocess
import sys
from importlib import import_module

import pytest

from accounting.errors import Unavailable
from cli.failures import MENDABLE, mendable, names_of
from persistence.engine.database_errors import DatabaseAway, UnusableDatabase


class TestMendable:
    @pytest.mark.parametrize("name", sorted(MENDABLE))
    def test_each_name_is_that_of_an_error(self, name: str) -> None:
        module, _, last = name.rpartition(".")
        error = getattr(import_module(module), last)
        assert issubclass(error, Exception)
        assert f"{error.__module__}.{error.__qualname__}" == name

    def test_a_more_special_error_is_one_too(self) -> None:
        error = DatabaseAway("away")
        assert mendable(error) is error
        assert {"builtins.Exception"} < names_of(error)

    def test_an_api_error_is_told_by_its_cause(self) -> None:
        error = Unavailable("service_unavailable", "Later.", retry_after_seconds=1)
        error.__cause__ = UnusableDatabase("no such database")
        assert mendable(error) is error

    def test_a_defect_is_none(self) -> None:
        assert mendable(ValueError("ours")) is None

    def test_no_module_is_loaded_for_it(self) -> None:
        code = (
            "import sys; from cli.failures import mendable; before = set(sys.modules);"
            " mendable(ValueError()); print(len(set(sys.modules) - before))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout.strip() == b"0"
