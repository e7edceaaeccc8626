"""The master process: it starts the workers and the database, and replaces what fails."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from socket import socket

import structlog
from uvicorn import Config

from server.config.settings import Settings, SettingsError
from server.process.database import Database, GivenUp
from server.process.kept_process import KeptProcess
from server.process.uvicorn_adapter import (
    ForkedProcess,
    Process,
    Supervisor,
    start_forking,
    stop_forking,
    track_nothing,
)

LOOK_SECONDS = 0.5
FIRST_LOOK_SECONDS = 0.05  # Until the server serves: an operator waits for that.
LONGEST_PAUSE_SECONDS = 30.0
LEAVING_LOOK_SECONDS = 0.1
GIVE_UP_SECONDS = 10.0


class CannotServe(Exception):
    """The server could not start; the message says what an operator can do."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """The steps and signals of a server's start and stop.

    `probe` raises where no waiting would make the database usable; no worker starts before it.
    `work` prepares the database and the rest, and returns early when the start is given up. Then
    the master closes `held_back`, and all workers, later ones too, open the database.
    `when_serving` is called when the first worker answers. `read_settings` loads the settings that
    a new worker would use. `pages_folder` is for the documentation pages.

    The master closes `staying` when the server is about to stop, and stops it `leaving_seconds`
    later.
    """

    probe: Callable[[], None]
    work: Callable[[GivenUp], None]
    held_back: Connection
    staying: Connection
    leaving_seconds: float
    when_serving: Callable[[], None]
    read_settings: Callable[[], Settings]
    pages_folder: Path


class Master(Supervisor):
    """uvicorn's supervisor, extended by the database and the processes `beside` the workers.

    The database has a thread of its own, so that signals are handled during a long recovery.
    """

    def __init__(
        self,
        config: Config,
        sockets: list[socket],
        database: Database,
        preparation: Preparation,
        beside: Sequence[KeptProcess] = (),
    ) -> None:
        super().__init__(config, sockets)
        self.beside = beside
        self.database = database
        self.preparation = preparation
        self.log = structlog.get_logger("accounting.server")
        self.database_thread = threading.Thread(
            target=self.keep_database, name="database", daemon=True
        )
        self.probed = threading.Event()
        self.prepared = threading.Event()
        self.serving = False
        self.leaving: list[Process] = []
        self.failure: Exception | None = None

    def run(self) -> None:
        """Serve until a stop signal; raises the error that kept the server from starting.

        One worker starts alone, to have all processors; the others start when it serves.
        """
        self.database_thread.start()
        self.wait_for_probe()
        self.start_first_worker()
        while not self.should_exit.is_set():
            self.wait_for_death(LOOK_SECONDS if self.serving else FIRST_LOOK_SECONDS)
            self.handle_signals()
            self.look_after_workers()
            self.look_after_others()
        self.stop_workers()
        self.join_all()
        for worker in self.leaving:
            worker.join()
        self.end_others()
        self.database_thread.join(GIVE_UP_SECONDS)
        # Otherwise the reaper stops the database when this process ends.
        if not self.database_thread.is_alive():
            self.database.release()
        stop_forking()
        if self.failure is not None:
            raise self.failure

    def wait_for_probe(self) -> None:
        """Wait until the database is probed, while the modules of the workers are loaded.

        To start a worker takes until they are loaded, and a start that fails must end earlier.
        """
        start_forking()
        while not (self.probed.wait(FIRST_LOOK_SECONDS) or self.told_to_stop()):
            pass
        self.handle_signals()

    def start_first_worker(self) -> None:
        """Start the first worker; stop the server if no process can be started."""
        self.start_missing_workers()
        if not self.processes and not self.should_exit.is_set():
            self.give_up_on_workers()

    def give_up_on_workers(self) -> None:
        """Stop the server: the next worker would fail in the same way."""
        self.failure = CannotServe("A worker could not start; the log says why.")
        self.should_exit.set()

    def keep_database(self) -> None:
        """Prepare the database, release the workers, and revive the database when it is gone."""
        track_nothing()
        # Children of this thread inherit the mask: Ctrl-C must not end one that is starting.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self.probe()
            self.preparation.work(self.told_to_stop)
            if self.told_to_stop():
                return  # The work may be incomplete: workers must not open the database.
            self.prepared.set()
            self.preparation.held_back.close()
            refuse_broken_contract(self.preparation.pages_folder, self.should_exit)
        except Exception as error:
            self.fail(error)
            return
        pause = LOOK_SECONDS
        while not self.should_exit.wait(pause):
            try:
                self.database.revive()
                pause = LOOK_SECONDS
            except Exception as error:
                self.log.error("database_not_revived", exc_info=error)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def probe(self) -> None:
        """Check that the database may be served; the first worker may start afterwards."""
        try:
            self.preparation.probe()
        except Exception as error:
            self.fail(error)
            raise
        finally:
            self.probed.set()

    def fail(self, error: Exception) -> None:
        """Stop the server for an error, unless it only failed because it was told to stop."""
        if not self.told_to_stop():
            self.failure = error
            self.should_exit.set()

    def look_after_workers(self) -> None:
        """Replace workers that are gone or hang, and note when the first one serves."""
        for process in tuple(self.processes):
            if self.should_exit.is_set():
                return
            if not process.is_alive(self.config.timeout_worker_healthcheck):
                self.remove_worker(process)
            elif not self.serving and process.is_ready(LOOK_SECONDS):
                self.begin_serving()
        self.start_missing_workers()

    def look_after_others(self) -> None:
        """Start the processes beside the workers, again where one is gone."""
        if not self.serving or self.should_exit.is_set():
            return
        for each in self.beside:
            try:
                each.keep()
            except (EOFError, OSError) as error:
                self.log.error("process_not_started", reason=repr(error))

    def end_others(self) -> None:
        """End the processes beside the workers, all in the same time."""
        for each in self.beside:
            each.terminate()
        for each in self.beside:
            each.end()

    def remove_worker(self, process: Process) -> None:
        """End a worker that is gone or hangs, and remove it from the list.

        Before the server serves, a worker that ends with an error stops the server.
        """
        process.kill()
        process.join()
        self.processes.remove(process)
        self.log.warning("worker_gone", pid=process.pid, exit_code=process.exitcode)
        if not self.serving and (process.exitcode or 0) > 0:
            self.give_up_on_workers()  # Later, the cause may be the database, and may pass.

    def begin_serving(self) -> None:
        """Log that the first worker serves, and call `when_serving`."""
        self.serving = True
        self.log.info("serving", host=self.config.host, port=self.config.port)
        self.preparation.when_serving()

    def start_missing_workers(self) -> None:
        """Start the missing workers; after a failure, the next check tries again."""
        wanted = self.processes_num if self.serving else 1
        while len(self.processes) < wanted and not self.should_exit.is_set():
            worker = self.try_to_start()
            if worker is None:
                return
            self.processes.append(worker)

    def try_to_start(self) -> Process | None:
        """Start a worker; return it, or None if that fails."""
        try:
            return self.started_worker()
        except (EOFError, OSError) as error:
            self.log.error("worker_not_started", reason=repr(error))
            return None

    def restart_all(self) -> None:
        """Replace each worker on SIGHUP by one that has read the settings again.

        The new worker serves before the old one is told to finish its requests. Invalid settings
        change nothing.
        """
        if not self.serving:
            return
        try:
            self.preparation.read_settings()
        except SettingsError as error:
            self.log.error("settings_refused", reason=str(error))
            return
        for place, old in enumerate(self.processes):
            worker = self.try_to_start()
            if worker is None:
                return
            if not worker.wait_until_ready(
                self.config.timeout_worker_healthcheck, self.should_exit
            ):
                self.log.error("worker_not_started", pid=worker.pid)
                worker.kill()
                worker.join()
                return
            self.processes[place] = worker
            old.terminate()
            self.leaving = [old, *(each for each in self.leaving if each.exitcode is None)]
        self.end_others()  # The next ones have read the settings again.
        self.log.info("settings_read")

    def handle_term(self) -> None:
        """Notify the workers that the server is about to stop, wait, and stop it.

        A load balancer has that time to take the server out. A second signal ends the wait; Ctrl-C
        does not wait at all.
        """
        if self.serving and self.preparation.leaving_seconds:
            self.log.info("leaving", seconds=self.preparation.leaving_seconds)
            self.preparation.staying.close()
            stops_at = time.monotonic() + self.preparation.leaving_seconds
            while time.monotonic() < stops_at and not self.signal_queue:
                time.sleep(LEAVING_LOOK_SECONDS)
        super().handle_term()

    def stop_workers(self) -> None:
        """Stop the workers after their requests; before the database is ready, kill them."""
        for listener in self.sockets:
            listener.close()  # With those of the workers closed, a new connection is refused.
        for process in self.processes:
            if self.prepared.is_set():
                process.terminate()
            else:
                process.kill()


def refuse_broken_contract(pages_folder: Path, stopping: threading.Event) -> None:
    """Check the contract, which the workers have loaded unchecked; raises CannotServe.

    A process of its own does it, so that its memory is freed. If that process is killed, the
    contract counts as valid: a server that is told to stop kills it and does not wait.
    """
    process = ForkedProcess(target=hold_contract, args=(pages_folder,))
    process.start()
    while not wait([process.sentinel], FIRST_LOOK_SECONDS):
        if stopping.is_set():
            process.kill()
    process.join()
    if process.exitcode == 1:
        raise CannotServe("The contract breaks the rules of OpenAPI; the log says which.")


def hold_contract(pages_folder: Path) -> None:
    """Validate the contract, and write the documentation pages, unless an earlier start did so.

    Raises the errors of openapi-spec-validator.
    """
    from server.contract import document
    from server.docs.page_file import PageFile
    from server.docs.rendered_pages import RenderedPages

    pages = PageFile(pages_folder)
    if pages.exists:
        return
    import openapi_spec_validator

    source = document.read_source()
    contract = document.parse(source)
    openapi_spec_validator.validate(contract)
    try:
        pages.write(RenderedPages(source, lambda: contract))
    except OSError as error:  # Each worker then renders the pages that it is asked for.
        structlog.get_logger("accounting.server").warning("pages_not_stored", reason=str(error))
