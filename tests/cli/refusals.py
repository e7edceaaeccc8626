"""Commands that are refused, and a storage that is not there."""

from typing import Protocol

from tests.command_line import Told

AWAY = {
    "ACCOUNTING_S3_BUCKET": "documents",
    "ACCOUNTING_S3_ENDPOINT": "http://127.0.0.1:9",
    "ACCOUNTING_S3_ACCESS_KEY_ID": "a",
    "ACCOUNTING_S3_SECRET_ACCESS_KEY": "b",
}
"""The settings of a bucket that nobody serves."""


class Commands(Protocol):
    """A command line over some deployment."""

    def run(self, *arguments: str, **environment: str) -> Told: ...


def refusal(place: Commands, *arguments: str, **environment: str) -> str:
    """Run a command that must be refused without any result; return the reason, its last line."""
    told = place.run(*arguments, **environment)
    assert (told.code, told.out) == (2, ""), told
    assert "Traceback" not in told.err
    reason = told.err.splitlines()[-1]
    assert reason.startswith("accounting: ")
    return reason
