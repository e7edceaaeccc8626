"""Folders and processes for the tests of the embedded server."""

import contextlib
import json
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from libraries.embedded import places, reaper

ROOT = Path(__file__).parents[3]


PATIENCE_SECONDS = 60.0  # Enough for a busy machine, which may pause for a while.


def wait_until(what, seconds=PATIENCE_SECONDS):
    """Return whether `what()` became true within so many seconds."""
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def within():
    return wait_until


@pytest.fixture
def ask():
    def run(url, statement, *values):
        with psycopg.connect(url, connect_timeout=60) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchone() if cursor.description else None

    return run


def make_folder():
    """Create a folder that every user of the machine may pass through, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-"))
    folder.chmod(0o755)
    return folder


def clear(home):
    """Stop the server below a home folder, even if a failed test still counts as its user."""
    reaper.stop_server(home)
    if places.socket_folder(home) != home:
        shutil.rmtree(places.socket_folder(home), ignore_errors=True)


@pytest.fixture
def open_folder():
    folder = make_folder()
    yield folder
    for lock in folder.rglob("server.lock"):
        clear(lock.parent)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def shared_home():
    folder = make_folder()
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture
def home(shared_home):
    """A stopped home that earlier tests have used; creating one takes half a second."""
    yield shared_home
    clear(shared_home)


@pytest.fixture
def empty_home(open_folder):
    """The path of a home that does not exist yet."""
    return open_folder / "home"


@pytest.fixture
def processes():
    """A function that starts one of our programs and reads its report; it is killed at the end."""
    started = []

    def start(program, *words, interpreter=sys.executable, wait=True, **options):
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        options.setdefault("env", {**os.environ, "PYTHONPATH": path})
        process = subprocess.Popen(
            [interpreter, str(program), *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )
        started.append(process)
        if wait:
            report = select.poll()
            report.register(process.stdout, select.POLLIN)
            assert report.poll(PATIENCE_SECONDS * 1_000), "the process never reported"
            line = process.stdout.readline()
            assert line, "the process ended without a report"
            return process, json.loads(line)
        return process, None

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)
        process.stdin.close()
        process.stdout.close()


@pytest.fixture
def nobody():
    return pwd.getpwnam("nobody")


@pytest.fixture
def as_root():
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
