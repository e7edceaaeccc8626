"""`accounting verify`: a check over HTTP of a deployment against the contract that it serves."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import typer

from tools.verify.report import Check, Report
from tools.verify.run import CannotVerify, Options, verify


def verify_deployment(asked: Options, junit: Path | None, *, as_json: bool) -> int:
    """Verify a deployment, print the results and return the exit code: 1 if a check fails.

    Raises CannotVerify if it cannot start.
    """
    if asked.examples and find_spec("schemathesis") is None:
        raise CannotVerify(
            "What makes up requests from the contract is not installed: "
            "pip install 'accounting-platform[verify]', or give --quick."
        )
    report = verify(asked, (lambda _check: None) if as_json else tell)
    if junit is not None:
        junit.write_bytes(report.junit())
    for warning in report.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(json.dumps(report.shape(), indent=2) if as_json else summary(report))
    return 1 if report.failed else 0


def key_from(file: Path | None, given: str | None) -> str:
    """Return the API key from a file, from standard input (-) or from the environment.

    Raises CannotVerify if there is no key.
    """
    if file is None:
        key = given or ""
    else:
        key = sys.stdin.readline() if str(file) == "-" else file.read_text("utf-8", "replace")
    if not key.strip():
        raise CannotVerify("An API key is needed: ACCOUNTING_API_KEY or --api-key-file.")
    return key.strip()


def tell(check: Check) -> None:
    """Print a check and its faults."""
    typer.echo(f"{'ok    ' if check.ok else 'FAILED'}  {check.journey}: {check.name}")
    for fault in check.faults:
        for line in fault.lines():
            typer.echo(f"        {line}")


def summary(report: Report) -> str:
    """Return the results as text: `All 51 checks hold (4.2 s).`"""
    seconds = sum(check.seconds for check in report.checks)
    of_all = f"{len(report.checks)} checks"
    found = f"{len(report.failed)} of {of_all} failed" if report.failed else f"All {of_all} hold"
    return f"{found} ({seconds:.1f} s). Made for this: {', '.join(report.business_ids)}."
