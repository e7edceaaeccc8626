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


KEY = "apk_live_" + "a1B2" * 9
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTk3In0.c2lnbmF0dXJl"
ID = "0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"


class TestSecrets:
    @pytest.mark.parametrize(
        ("path", "shown"),
        [
            (f"/v1/platform/{KEY}/oauth2/token/", "/v1/platform/[hidden]/oauth2/token/"),
            (f"/v1/{KEY[:20]}", "/v1/[hidden]"),
            (f"/v1/key={KEY}&x=1", "/v1/key=[hidden]&x=1"),
            (f"/v1/Bearer%20{TOKEN}", "/v1/[hidden]"),
            (f"/documents/{ID}/{TOKEN[:30]}", f"/documents/{ID}/[hidden]"),
            (f"/v1/{'x' * 43}/", "/v1/[hidden]/"),
            (f"/v1/{ID}0/", "/v1/[hidden]/"),
            (
                f"/v1/platform/businesses/{ID}/general-ledger/chart-of-accounts/1200/entries/",
                f"/v1/platform/businesses/{ID}/general-ledger/chart-of-accounts/1200/entries/",
            ),
        ],
    )
    def test_in_a_path_are_hidden(self, path: str, shown: str) -> None:
        code = CODE.replace('method="GET"', f"path={path!r}")
        done = subprocess.run(
            [*words("json")[:4], code, "json"], capture_output=True, text=True, check=True
        )
        assert json.loads(done.stderr.splitlines()[0])["path"] == shown


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
