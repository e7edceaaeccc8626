"""A private PostgreSQL below one folder, shared by every process that names the same folder."""

import fcntl
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from embedded import binaries, identity, places, reaper, users, wire
from embedded.errors import EmbeddedError
from embedded.settings import SETTINGS, render

START_LIMIT_SECONDS: Final = 300.0  # A great ledger may need minutes to recover from a crash.
LOOK_SECONDS: Final = 0.01
LOG_LIMIT_BYTES: Final = 8 * 2**20
NOT_YET: Final = "57P03"  # SQLSTATE: starting up, recovering or shutting down.
DUPLICATES: Final = frozenset({"42P04", "23505"})  # The second by two creators at once.


class EmbeddedPostgres:
    """The PostgreSQL below `home`, a folder that is used for nothing else.

    `settings` override the durable ones, and count only for the user who starts the server. One
    object belongs to one process; it is not for several threads at once.
    """

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, str] | None = None,
        *,
        programs: binaries.Programs | None = None,
        use_namespaces: bool = True,
    ) -> None:
        self.home = home.resolve()
        self._settings = {**SETTINGS, **(settings or {})}
        self._programs = programs
        self._use_namespaces = use_namespaces
        self._hold: users.Hold | None = None

    @property
    def log(self) -> Path:
        """What the server wrote; at a start that finds it long, it moves to `postgres.log.1`."""
        return self.home / "postgres.log"

    def url(self, database: str = "accounting") -> str:
        """The address of a database for libpq; known before the server runs.

        The port is spelled out, since a client would else take it from PGPORT.
        """
        folder = quote(str(places.socket_folder(self.home)))
        name = quote(database, safe="")
        return f"postgresql://{places.SUPERUSER}@/{name}?host={folder}&port=5432"

    def start(self) -> Self:
        """Count this process as a user and return when the server answers.

        Finds a server that runs already, starts one that does not, and recovers one that crashed;
        so it may be called again to bring a killed server back. Raises EmbeddedError.
        """
        try:
            return self._start()
        except OSError as error:
            raise EmbeddedError(
                f"PostgreSQL cannot keep its data in {self.home}: {error.strerror or error}"
            ) from error

    def _start(self) -> Self:
        self._claim_home()
        mine = self._hold is None
        if self._hold is None:
            self._hold = users.hold(self.home)
        try:
            with places.locked(places.start_lock(self.home), fcntl.LOCK_EX) as starting:
                reaper.start_reaper(self.home)
                self._bring_up(starting)
        except BaseException:
            if mine:
                self.stop()
            raise
        return self

    def stop(self) -> None:
        """Leave; the last user's leaving stops the server, and returns when it is down."""
        if self._hold is None:
            return
        self._hold.release()
        self._hold = None
        users_lock = places.users_lock(self.home)
        try:
            with places.locked(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                reaper.stop_server(self.home)
        except BlockingIOError:
            # Others use it still, or the reaper was quicker: then this waits until it is done.
            with places.locked(users_lock, fcntl.LOCK_SH):
                pass

    def create_database(self, name: str = "accounting") -> None:
        """Make an empty UTF-8 database unless it is there; several may try at once."""
        quoted = '"' + name.replace('"', '""') + '"'
        statement = f"CREATE DATABASE {quoted} TEMPLATE template0 ENCODING 'UTF8'"
        try:
            wire.run_statement(places.socket_path(self.home), statement)
        except wire.RefusalError as refusal:
            if refusal.code not in DUPLICATES:
                raise

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def _claim_home(self) -> None:
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_strangers(self.home)
        self.home.chmod(0o700)
        places.make_locks(self.home)

    def _bring_up(self, starting: int) -> None:
        """Look until the server answers; the first time that nothing of it lives, launch it."""
        deadline = time.monotonic() + START_LIMIT_SECONDS
        launched = False
        while time.monotonic() < deadline:
            try:
                server = places.take(places.server_lock(self.home), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if self._answers():
                    return
            else:
                try:
                    if launched:
                        raise EmbeddedError(f"PostgreSQL did not start:\n{self._end_of_log()}")
                    self._launch(starting, server)
                    launched = True
                finally:
                    os.close(server)
            time.sleep(LOOK_SECONDS)
        raise EmbeddedError(
            f"PostgreSQL did not answer in {START_LIMIT_SECONDS:.0f} s:\n{self._end_of_log()}"
        )

    def _answers(self) -> bool:
        try:
            wire.run_statement(places.socket_path(self.home))
        except wire.RefusalError as refusal:
            return refusal.code != NOT_YET  # A server with no connection to spare runs, too.
        except OSError:  # It does not listen yet, or listens no more.
            return False
        return True

    def _launch(self, starting: int, server: int) -> None:
        """Start the server, which inherits the lock `server`; nothing of an earlier one lives."""
        programs = self._programs or binaries.find_programs(_majors(self.home))
        data = self.home / f"pg{programs.major}"
        if data.exists():
            _refuse_strangers(data)
        runner = identity.choose_identity(self.home, programs, self._use_namespaces)
        if not data.exists():
            self._initialise(runner, data, starting)
        _give(data, runner)
        self._prepare_socket_folder(runner)
        # Whatever process has the number in the old pid file by now, it is not this server.
        for stale in (data / "postmaster.pid", *_socket_files(self.home)):
            stale.unlink(missing_ok=True)
        self._write_settings(data, runner)
        self._run_server(runner, data, server)

    def _run_server(self, runner: identity.Identity, data: Path, server: int) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_name("postgres.log.1"))
        with self.log.open("ab") as log:
            # The shell leaves at once, so that the server is nobody's child.
            subprocess.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *runner.command("postgres", "-D", str(data))],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(server,),
                **runner.options(),
            )

    def _initialise(self, runner: identity.Identity, data: Path, starting: int) -> None:
        """Make the data directory; it gets its name last, so that half of one never has it.

        initdb inherits `starting`: if we are killed, the next starter waits until it has ended. It
        has a session of its own, so that Ctrl-C does not leave it half done.
        """
        unfinished = self.home / "initdb.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        arguments = _initdb_arguments(runner.programs.major)
        if self._settings["fsync"] == "off":
            arguments.append("--no-sync")
        done = subprocess.run(
            runner.command("initdb", "-D", str(unfinished), *arguments),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(starting,),
            **runner.options(),
        )
        if done.returncode != 0:
            raise EmbeddedError(f"PostgreSQL's initdb failed: {done.stderr or done.stdout}")
        with (unfinished / "postgresql.conf").open("a") as configuration:
            configuration.write("\ninclude 'accounting.conf'\n")
        unfinished.rename(data)

    def _prepare_socket_folder(self, runner: identity.Identity) -> None:
        folder = places.socket_folder(self.home)
        if folder == self.home:
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        _refuse_strangers(folder)
        folder.chmod(0o700)
        os.chown(folder, runner.owner, runner.group)

    def _write_settings(self, data: Path, runner: identity.Identity) -> None:
        folder = places.socket_folder(self.home)
        text = render({**self._settings, "unix_socket_directories": str(folder)})
        unfinished = data / "accounting.conf.unfinished"
        unfinished.write_text(text)
        os.chown(unfinished, runner.owner, runner.group)
        unfinished.rename(data / "accounting.conf")

    def _end_of_log(self) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return text[-2000:] or "(it wrote nothing)"


def _initdb_arguments(major: int) -> list[str]:
    arguments = ["-U", places.SUPERUSER, "-A", "trust", "-E", "UTF8"]
    arguments += ["--data-checksums", "--no-instructions"]
    if major < 17:
        return [*arguments, "--locale=C.UTF-8"]
    # Sorted by PostgreSQL itself: an upgrade of the system's library cannot spoil an index.
    return [*arguments, "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]


def _majors(home: Path) -> frozenset[int]:
    """The versions that there is data of: {18} when `pg18` is there."""
    names = (path.parent.name.removeprefix("pg") for path in home.glob("pg*/PG_VERSION"))
    return frozenset(int(name) for name in names if name.isdigit())


def _socket_files(home: Path) -> tuple[Path, Path]:
    path = places.socket_path(home)
    return path, path.with_name(path.name + ".lock")


def _refuse_strangers(path: Path) -> None:
    """Raise EmbeddedError when somebody else owns a folder, or it is a link to somewhere."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid not in identity.possible_owners():
        raise EmbeddedError(
            f"{path} belongs to user id {state.st_uid}, this process runs as {os.geteuid()}:"
            " run as its owner, choose another folder, or set DATABASE_URL"
        )


def _give(data: Path, runner: identity.Identity) -> None:
    """Make `runner` the owner of the data, when root's way of running it has changed since."""
    if data.stat().st_uid == runner.owner:
        return
    for path in [data, *data.rglob("*")]:
        os.chown(path, runner.owner, runner.group, follow_symlinks=False)
