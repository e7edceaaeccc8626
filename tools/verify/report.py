"""The report of a run: checks with their faults, as text, as JSON and as JUnit XML."""

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Final
from xml.etree import ElementTree

# XML 1.0 does not allow these characters, not even escaped.
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed expectation, with the request and the answer that it is about."""

    what: str
    request: str = ""
    answer: str = ""

    def lines(self) -> list[str]:
        """Return the fault as lines of text."""
        told = (("", self.what), ("request: ", self.request), ("answer:  ", self.answer))
        return [f"{head}{line}" for head, text in told if text for line in text.splitlines()]


@dataclass(frozen=True, slots=True)
class Check:
    """A check of one journey, with its faults."""

    journey: str
    name: str
    seconds: float
    faults: tuple[Fault, ...]

    @property
    def ok(self) -> bool:
        """Return whether there are no faults."""
        return not self.faults


@dataclass(slots=True)
class Report:
    """The checks of a run; `tell` is called with each check when it ends."""

    url: str
    version: str
    tool_version: str
    tell: Callable[[Check], object]
    checks: list[Check] = field(default_factory=list)
    business_ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, check: Check) -> None:
        """Add a check, and call `tell` with it."""
        self.checks.append(check)
        self.tell(check)

    @property
    def failed(self) -> list[Check]:
        """The checks with faults."""
        return [check for check in self.checks if not check.ok]

    def shape(self) -> dict[str, Any]:
        """Serialize the report for JSON."""
        return {
            "url": self.url,
            "status": "red" if self.failed else "green",
            "contract_version": self.version,
            "tool_version": self.tool_version,
            "business_ids": self.business_ids,
            "warnings": self.warnings,
            "checks": [{"ok": check.ok, **asdict(check)} for check in self.checks],
        }

    def junit(self) -> bytes:
        """Return the report as JUnit XML, with a suite for each journey."""
        root = ElementTree.Element(
            "testsuites", {"name": "accounting verify", **_counts(self.checks)}
        )
        for journey in dict.fromkeys(check.journey for check in self.checks):
            checks = [check for check in self.checks if check.journey == journey]
            suite = ElementTree.SubElement(root, "testsuite", {"name": journey, **_counts(checks)})
            for check in checks:
                _write(suite, check)
        written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
        return written


def _counts(checks: list[Check]) -> dict[str, str]:
    return {
        "tests": str(len(checks)),
        "failures": str(sum(not check.ok for check in checks)),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }


def _write(suite: ElementTree.Element, check: Check) -> None:
    facts = {"classname": check.journey, "name": check.name, "time": f"{check.seconds:.3f}"}
    case = ElementTree.SubElement(suite, "testcase", facts)
    if check.faults:
        message = _printable(check.faults[0].what)
        failure = ElementTree.SubElement(case, "failure", message=message)
        failure.text = _printable("\n\n".join("\n".join(fault.lines()) for fault in check.faults))


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
