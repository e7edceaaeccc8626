"""The documented answers that no test produced in a whole run. There must be none."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.contract.document import operations
from tests.contract.responses import seen
from tests.in_turn import only
from tools.verify.answers import TRANSPORT_STATUSES

Answered = tuple[str, int]
OUTPUT = "answers_seen"
# Statuses under `default` are the same for every operation: one answer in the run is enough.
ANYWHERE = TRANSPORT_STATUSES | {500}


class CoverageTable:
    """A plugin that compares the answers that all workers saw with the contract."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.gathered: set[Answered] = set()
        self.missing: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add the answers of a worker of xdist; a crashed worker has none."""
        output = getattr(node, "workeroutput", {})
        self.gathered |= {(name, status) for name, status in output.get(OUTPUT, ())}

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send the answers to the controller, or check them there before the summary is printed."""
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput[OUTPUT] = sorted(seen())
            return
        if is_whole(self.config):
            self.missing = holes(self.gathered | seen())
        if self.missing and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the missing answers."""
        if self.missing:
            terminalreporter.section("documented answers that no test has produced")
            for line in self.missing:
                terminalreporter.write_line(line, red=True)


def is_whole(config: pytest.Config) -> bool:
    """Return whether a run has all tests."""
    option = config.option
    narrowed = option.keyword or only or option.markexpr or option.deselect or option.ignore
    narrowed = narrowed or config.getoption("--operation", default=False)
    source = pytest.Config.ArgsSource
    everything = config.args_source in (source.TESTPATHS, source.INVOCATION_DIR)
    return everything and not (narrowed or option.collectonly or option.maxfail)


def holes(answered: Iterable[Answered]) -> list[str]:
    """Return a table of the documented (operation, status) pairs that are not in `answered`."""
    found = set(answered)
    lines = []
    for operation in operations():
        documented = [int(status) for status in operation.node["responses"] if status.isdigit()]
        missing = [str(each) for each in documented if (operation.name, each) not in found]
        if missing:
            lines.append(f"{operation.name:<32} {' '.join(missing)}")
    unseen = sorted(ANYWHERE - {status for _, status in found})
    if unseen:
        lines.append(f"{'default (anywhere)':<32} {' '.join(map(str, unseen))}")
    return lines
