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

from libraries.embedded import binaries, identity, places, reaper, users, wire
from libraries.embedded.errors import EmbeddedError
from libraries.embedded.settings import SETTINGS, render

START_LIMIT_SECONDS: Final = 300.0  # A large ledger may need minutes to recover from a crash.
LOOK_SECONDS: Final = 0.01
LOG_LIMIT_BYTES: Final = 8 * 2**20
NOT_YET: Final = "57P03"  # SQLSTATE: starting up, recovering or shutting down.
DUPLICATES: Final = frozenset({"42P04", "23505"})  # The second with two simultaneous creators.


class EmbeddedPostgres:
    """The PostgreSQL below `home`, a folder that is used for nothing else.

    `settings` override the durable settings, and only have effect in the process that starts the
    server. An object belongs to one process and is not thread-safe.
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
        """The server's log; a start renames one over LOG_LIMIT_BYTES to `postgres.log.1`."""
        return self.home / "postgres.log"

    @property
    def has_data(self) -> bool:
        """Return whether a data folder exists, of any version; True where it cannot be read."""
        try:
            os.listdir(self.home)
        except FileNotFoundError:
            return False
        except OSError:  # `start` reports it.
            return True
        return bool(_majors(self.home))

    def url(self, database: str = "accounting") -> str:
        """Return the libpq URL of a database; the server need not run yet.

        The port is explicit, because a client would otherwise take it from PGPORT.
        """
        folder = quote(str(places.socket_folder(self.home)))
        name = quote(database, safe="")
        return f"postgresql://{places.SUPERUSER}@/{name}?host={folder}&port=5432"

    def start(self) -> Self:
        """Register this process as a user, and return when the server answers.

        It uses a running server, starts a stopped one, and recovers a crashed one. It can be called
        again to restart a killed server. Raises EmbeddedError.
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
        """End the use by this process; if it was the last user, stop the server and wait until it
        is down.
        """
        if self._hold is None:
            return
        self._hold.release()
        self._hold = None
        users_lock = places.users_lock(self.home)
        try:
            with places.locked(users_lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
                reaper.stop_server(self.home)
        except BlockingIOError:
            # There are other users, or the reaper was quicker; then wait until it is done.
            with places.locked(users_lock, fcntl.LOCK_SH):
                pass

    def create_database(self, name: str = "accounting") -> None:
        """Create an empty UTF-8 database unless it exists; several processes may try at the same
        time.
        """
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
        """Wait until the server answers; launch it once if none of its processes is alive."""
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
            return refusal.code != NOT_YET  # A server without a free connection also runs.
        except OSError:  # It does not listen yet, or no longer.
            return False
        return True

    def _launch(self, starting: int, server: int) -> None:
        """Start the server, which inherits the lock `server`; no process of an earlier one is
        alive.
        """
        programs = self._programs or binaries.find_programs(_majors(self.home))
        data = self.home / f"pg{programs.major}"
        if data.exists():
            _refuse_strangers(data)
        runner = identity.choose_identity(self.home, programs, self._use_namespaces)
        if not data.exists():
            self._initialise(runner, data, starting)
        _give(data, runner)
        self._prepare_socket_folder(runner)
        # The number in an old pid file may belong to another process by now.
        for stale in (data / "postmaster.pid", *_socket_files(self.home)):
            stale.unlink(missing_ok=True)
        self._write_settings(data, runner)
        self._run_server(runner, data, server)

    def _run_server(self, runner: identity.Identity, data: Path, server: int) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_name("postgres.log.1"))
        with self.log.open("ab") as log:
            # The shell exits immediately, so that the server is not a child of this process.
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
        """Create the data directory; it gets its name last, so an incomplete one never has it.

        initdb inherits `starting`: if this process is killed, the next starter waits until initdb
        ends. initdb has its own session, so that Ctrl-C does not interrupt it.
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
    # PostgreSQL's own collation: an upgrade of the system's library cannot corrupt an index.
    return [*arguments, "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]


def _majors(home: Path) -> frozenset[int]:
    """Return the major versions of existing data: {18} if `pg18` exists."""
    names = (path.parent.name.removeprefix("pg") for path in home.glob("pg*/PG_VERSION"))
    return frozenset(int(name) for name in names if name.isdigit())


def _socket_files(home: Path) -> tuple[Path, Path]:
    path = places.socket_path(home)
    return path, path.with_name(path.name + ".lock")


def _refuse_strangers(path: Path) -> None:
    """Raise EmbeddedError if another user owns a folder, or it is a link."""
    state = path.lstat()
    if not stat.S_ISDIR(state.st_mode) or state.st_uid not in identity.possible_owners():
        raise EmbeddedError(
            f"{path} belongs to user id {state.st_uid}, this process runs as {os.geteuid()}:"
            " run as its owner, choose another folder, or set DATABASE_URL"
        )


def _give(data: Path, runner: identity.Identity) -> None:
    """Make `runner` the owner of the data, if root runs PostgreSQL in another way than before."""
    if data.stat().st_uid == runner.owner:
        return
    for path in [data, *data.rglob("*")]:
        os.chown(path, runner.owner, runner.group, follow_symlinks=False)
