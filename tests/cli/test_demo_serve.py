"""`make run`: the bundled PostgreSQL, the demo and the server, for the first time and again."""

import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.demo.access import Access
from tests.command_line import ACCOUNTING, CommandLine
from tests.partner import NOBODY, PATIENCE_SECONDS, within
from tests.ports import free_port, is_free
from tests.terminal import terminal

SERVING = "until Ctrl-C."
STEPS = [
    "Starting PostgreSQL ...",
    "Bringing the database to the newest schema ...",
    "Looking for the demo business ...",
    "Loading the API ...",
    "Filling the demo business with a year of trade ...",
    "Starting the server ...",
]


def words(port: int) -> list[str]:
    return ["demo", "--serve", "--port", str(port)]


@dataclass
class ServedDemo:
    """A served demo in a fresh folder; it can be inspected while it is filled."""

    folder: Path

    def __post_init__(self) -> None:
        self.command_line = CommandLine(self.folder / "data")
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.told = ""
        self.err_path = self.folder / "err"
        with self.err_path.open("wb") as errors:
            self.process = subprocess.Popen(
                [ACCOUNTING, *words(self.port)],
                env=self.command_line.environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def wait_until_it_serves(self) -> None:
        assert self.process.stdout is not None
        while SERVING not in self.told:
            line = self.process.stdout.readline()
            assert line, self.err
            self.told += line

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode

    @property
    def err(self) -> str:
        return self.err_path.read_text()

    @property
    def credentials(self) -> tuple[str, str]:
        _, partner_id, _, _, key = self.told.split()[:5]
        return partner_id, key


def interrupted(command_line: CommandLine, moment: str) -> bool | None:
    """Start a demo and press Ctrl-C at a moment.

    Return whether the saved demo is finished, or None if there is none.
    """
    with terminal([ACCOUNTING, *words(free_port())], command_line.environment()) as opened:
        opened.wait_for(moment)
        opened.interrupt()
        assert opened.end() == 0, opened.shown
    for word in ("Serving on", "Traceback", "accounting: "):
        assert word not in opened.shown
    kept = Access.kept_in(command_line.folder)
    return kept and kept.finished


@pytest.fixture
def started(tmp_path: Path) -> Iterator[ServedDemo]:
    """A demo that continues after Ctrl-C."""
    assert interrupted(CommandLine(tmp_path / "data"), "Filling the demo") is False
    started = ServedDemo(tmp_path)
    yield started
    assert started.stop() == 0


def fetched(url: str, **options: Any) -> httpx.Response:
    return httpx.get(url, timeout=PATIENCE_SECONDS, verify=NOBODY, **options).raise_for_status()


def is_written(page: str) -> bool:
    """Return whether a page is written; on a busy machine that may take longer than the start."""
    return httpx.get(page, timeout=PATIENCE_SECONDS, verify=NOBODY).status_code == 200


def assert_the_demo_is_served(url: str, credentials: tuple[str, str]) -> str:
    """Check that a demo answers as soon as it reports that it serves.

    Return the address of the business.
    """
    answer = fetched(f"{url}/v1/platform/businesses/", auth=credentials).json()
    [business] = answer["results"]
    assert business["name"] == "Tidewater Roasters"
    home = f"{url}/v1/platform/businesses/{business['id']}"
    [document] = fetched(f"{home}/documents/", auth=credentials).json()["results"]
    file = fetched(url + document["url"])
    assert file.content.startswith(b"%PDF-")
    assert len(file.content) == document["file_size"]
    return f"{home}/"


def assert_the_page_is_opened(told: str, home: str) -> None:
    """Check that the printed address opens the page with the demo's books."""
    [address] = [line.split()[1] for line in told.splitlines() if line.startswith("Page ")]
    page, _, token = address.partition("#token=")
    assert within(PATIENCE_SECONDS, lambda: is_written(page))
    assert b"/app/main.js" in fetched(page).content
    bearer = {"Authorization": f"Bearer {token}"}
    assert fetched(home, headers=bearer).json()["name"] == "Tidewater Roasters"
    sent = {"json": {"company_name": "Harbour Inn"}, "headers": bearer}
    answer = httpx.post(f"{home}customers/", timeout=PATIENCE_SECONDS, verify=NOBODY, **sent)
    assert (answer.status_code, "only reads" in answer.text) == (403, True)


class TestDemoServe:
    def test_it_takes_its_port_goes_on_filling_serves_and_another_time_only_serves(
        self, started: ServedDemo
    ) -> None:
        assert within(PATIENCE_SECONDS, lambda: not is_free(started.port))
        late = CommandLine(started.folder / "late").run(*words(started.port))
        assert started.told == ""
        assert (late.code, late.out) == (2, "")
        assert late.err.splitlines()[-1] == (
            f"accounting: Cannot listen on 127.0.0.1 port {started.port}: the port is in use; name"
            " another one with --port, or with PORT= for make."
        )
        assert not (started.folder / "late" / "postgres").exists()

        started.wait_until_it_serves()
        home = assert_the_demo_is_served(started.url, started.credentials)
        assert_the_page_is_opened(started.told, home)
        assert started.told.startswith("Partner ")
        assert started.told.endswith(f"Serving on {started.url} {SERVING}\n")
        steps = [line for line in started.err.splitlines() if line in STEPS]
        assert steps == STEPS
        assert "create_invoice" not in started.err  # The log has no filling requests.

        port = free_port()  # A second server on the same data.
        url = f"http://127.0.0.1:{port}"
        with terminal([ACCOUNTING, *words(port)], started.command_line.environment()) as again:
            again.wait_for(SERVING)
            assert_the_demo_is_served(url, started.credentials)
            assert_the_page_is_opened(again.shown, f"{url}{home.removeprefix(started.url)}")
            for line in started.told.replace(started.url, url).splitlines():
                assert line in again.shown or line.startswith("Page ")  # With a token of its own.
            assert "Loading the API" not in again.shown
            assert "Starting the server ... " in again.shown
            assert '{"' not in again.shown.partition("Partner ")[0]  # Its log is text, too.
            again.interrupt()
            assert again.end() == 0
            assert "Traceback" not in again.shown

    def test_ctrl_c_before_anything_is_made_leaves_nothing_to_go_on_with(
        self, bare_command_line: CommandLine
    ) -> None:
        assert interrupted(bare_command_line, "Starting PostgreSQL") is None
