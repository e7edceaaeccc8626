"""A whole run fails when a documented answer was never seen; a run of some tests does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.coverage_table import ANYWHERE, holes
from tests.contract.document import operations

CONFTEST = """
from tests.contract.coverage_table import CoverageTable

def pytest_configure(config):
    config.pluginmanager.register(CoverageTable(config))
"""
TESTS = """
from tests.contract.responses import seen
from tests.contract.test_coverage_table import everything

def test_one():
    seen().update(each for each in everything() if "customer" in each[0])

def test_two():
    seen().update(each for each in everything() if "customer" not in each[0])
"""


def everything() -> set[tuple[str, int]]:
    documented = {
        (operation.name, int(status))
        for operation in operations()
        for status in operation.node["responses"]
        if status.isdigit()
    }
    return documented | {("", status) for status in ANYWHERE}


class TestHoles:
    def test_names_what_was_never_answered(self) -> None:
        assert holes(everything()) == []
        table = holes(everything() - {("get_customer", 404), ("", 431)})
        assert [line.split() for line in table] == [
            ["get_customer", "404"],
            ["default", "(anywhere)", "431"],
        ]


class TestCoverageTable:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = checks\n")
        checks = tmp_path / "checks"
        checks.mkdir()
        (checks / "conftest.py").write_text(CONFTEST)
        (checks / "test_answers.py").write_text(TESTS)
        return tmp_path

    def run(self, project: Path, *options: str) -> subprocess.CompletedProcess[str]:
        api_server = str(Path(__file__).parents[2])
        plugins = ["-p", "no:cacheprovider", "-p", "xdist.plugin"]
        command = [sys.executable, "-m", "pytest", "-q", *plugins, *options]
        return subprocess.run(
            command,
            cwd=project,
            env={"PYTHONPATH": api_server, "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    def test_a_whole_run_brings_together_what_all_workers_saw(self, project: Path) -> None:
        assert self.run(project, "-n", "2").returncode == 0

    def test_a_whole_run_with_a_hole_fails_and_shows_it(self, project: Path) -> None:
        answers = project / "checks" / "test_answers.py"
        answers.write_text(TESTS.replace("not in each[0]", "not in each[0] and each[1] != 412"))
        ran = self.run(project)
        assert ran.returncode == 1
        assert "2 passed" in ran.stdout
        assert "update_business                  412" in ran.stdout

    def test_a_run_of_some_tests_is_not_judged(self, project: Path) -> None:
        assert self.run(project, "-k", "one").returncode == 0
