"""Refused commands, and an unavailable storage."""

from typing import Protocol

from tests.command_line import CommandResult

AWAY = {
    "ACCOUNTING_S3_BUCKET": "documents",
    "ACCOUNTING_S3_ENDPOINT": "http://127.0.0.1:9",
    "ACCOUNTING_S3_ACCESS_KEY_ID": "a",
    "ACCOUNTING_S3_SECRET_ACCESS_KEY": "b",
}
"""The settings of a bucket without a server."""


class Commands(Protocol):
    """The command line of a deployment."""

    def run(self, *arguments: str, **environment: str) -> CommandResult: ...


def refusal(place: Commands, *arguments: str, **environment: str) -> str:
    """Run a command that must be refused without output; return the last line of its errors."""
    told = place.run(*arguments, **environment)
    assert (told.code, told.out) == (2, ""), told
    assert "Traceback" not in told.err
    reason = told.err.splitlines()[-1]
    assert reason.startswith("accounting: ")
    return reason
