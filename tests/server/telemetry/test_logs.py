"""The log: text on a terminal, JSON elsewhere, unless a setting names the form."""

import json
import subprocess
import sys

import pytest

from tests.terminal import terminal

CODE = """
import logging, sys
from uuid import UUID
import structlog
from server.telemetry import logs

logs.configure(*sys.argv[1:])
logs.adopt()
log = structlog.get_logger("some")
log.debug("unheard")
log.info("request", method="GET", status=200, partner_id=UUID(int=7), words="a b")
with logs.quietly():
    log.info("unheard")
    log.warning("heard")
secret = "geheim"
try:
    raise RuntimeError("words")
except RuntimeError as error:
    log.error("request", exc_info=error)
logging.getLogger("library").warning("one of %s", "theirs")
"""
COLOURED = "\x1b["
REQUEST = (
    "[info     ] request method=GET status=200 partner_id=00000000-0000-0000-0000-000000000007"
)


def words(*log_format: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-c", CODE, *log_format]


def written(*log_format: str) -> str:
    done = subprocess.run(words(*log_format), capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr


def shown(*log_format: str) -> str:
    with terminal(words(*log_format)) as opened:
        assert opened.end() == 0, opened.shown
        return opened.shown


class TestForPrograms:
    @pytest.mark.parametrize("told", [written, lambda: written("json"), lambda: shown("json")])
    def test_each_line_is_an_object(self, told: object) -> None:
        assert callable(told)
        request, heard, failed, adopted = map(json.loads, told().splitlines())
        assert request["partner_id"] == "00000000-0000-0000-0000-000000000007"
        assert (request["event"], request["level"], request["status"]) == ("request", "info", 200)
        assert (heard["event"], adopted["logger"]) == ("heard", "library")
        assert failed["exception"].endswith("RuntimeError: words")


class TestLevel:
    @pytest.mark.parametrize(
        ("level", "heard"),
        [("debug", 5), ("info", 4), ("warning", 3), ("error", 1)],
    )
    def test_less_than_the_named_one_is_not_heard(self, level: str, heard: int) -> None:
        assert len(written("json", level).splitlines()) == heard


class TestRequestId:
    def test_stands_in_each_line_of_its_request(self) -> None:
        code = CODE.replace('log.debug("unheard")', 'logs.request_id.set("mine")')
        done = subprocess.run(
            [*words("json")[:4], code, "json"], capture_output=True, text=True, check=True
        )
        told = [json.loads(line) for line in done.stderr.splitlines()]
        assert [event["request_id"] for event in told] == ["mine"] * 4


class TestForPeople:
    def test_a_terminal_shows_coloured_lines(self) -> None:
        told = shown()
        assert COLOURED in told
        assert "request" in told
        assert "{" not in told

    def test_elsewhere_they_have_no_colours(self) -> None:
        told = written("text")
        first, heard, *failed, adopted = told.splitlines()
        assert first.endswith(f"{REQUEST} words='a b'")
        assert heard.endswith("heard")
        assert failed[-1] == "RuntimeError: words"
        assert "one of theirs" in adopted
        assert COLOURED not in told
        assert "unheard" not in told

    def test_a_traceback_shows_no_values(self) -> None:
        assert "geheim" not in shown("text") + written("text")
