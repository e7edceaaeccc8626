"""One private PostgreSQL per run, one migrated database and one real HTTP server per worker."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from libraries.embedded import binaries
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from tests import in_turn
from tests.api_server import ApiServer, Databases
from tests.cluster.databases import CLUSTER, ClusterDatabases
from tests.cluster.statement_plans import heard, scattered
from tests.contract.coverage_table import CoverageTable
from tests.partner import Partner
from tests.poolers.pgbouncer import pooling_all

PROGRAMS = "TEST_POSTGRES"  # The setting that names a folder with another PostgreSQL's programs.
# What has servers as processes or a PostgreSQL of its own, migrations, the commands of operators
# and the tools of `make bench`. `make operation` runs these folders, and `make test` all others.
OPERATION = frozenset(
    {
        "libraries/embedded",
        "tests/archives",
        "tests/cli",
        "tests/operations",
        "tests/poolers",
        "tests/processes",
        "tests/standbys",
        "tests/upgrade",
        "tools/bench",
        "tools/verify",
    }
)
# Their files take up to a minute each: they begin first, so that none ends alone after all others.
LONGEST = ("tests/upgrade/", "tests/operations/")
COLLECT_AFTER = 200_000  # Objects; most of what a test makes is gone without any search for it.


def pytest_addoption(parser: pytest.Parser) -> None:
    help_ = (
        "of what one test looks at in turn, the cases with this in their names; as often as told"
    )
    parser.addoption("--operation", action="store_true", help="run what `make test` leaves out")
    parser.addoption("--only", action="append", default=[], metavar="PART", help=help_)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CoverageTable(config))
    in_turn.only[:] = config.getoption("--only")
    # Who begins in the background of a script is deaf to Ctrl-C, and so is all that it starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        # The terminal's process hears of each test; a worker would keep all of its reports, too.
        config.pluginmanager.unregister(name="terminalreporter")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders of `make operation`, or all others, where no path is named."""
    top = collection_path.parent
    if top.parent != config.rootpath or top not in map(config.rootpath.joinpath, config.args):
        return None
    name = f"{top.name}/{collection_path.name}"
    return (name in OPERATION) != config.getoption("--operation") or None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what stays until the end: it took a third of the collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """Give each file to one worker."""
    return LoadFileScheduling(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Forget what was written while a test passed: the server writes a line for each request.

    Kept, all of it goes to the terminal's process three times and stays in both until the end.
    """
    report = yield
    if report.passed:
        report.sections.clear()
    if call.when == "teardown":
        item._report_sections.clear()
    return report


@pytest.fixture(scope="session")
def postgres_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # All workers of a run share one server: the folder above their own is the run's.
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "postgres"


def chosen_programs() -> binaries.Programs | None:
    """Those in the folder that a run names, so that it has another version of PostgreSQL."""
    if PROGRAMS not in os.environ:
        return None
    found = binaries.inspect(Path(os.environ[PROGRAMS]))
    assert found is not None, f"{PROGRAMS} names no folder with programs of PostgreSQL"
    return found


@pytest.fixture(scope="session")
def databases(postgres_home: Path) -> Iterator[Databases | ClusterDatabases]:
    if CLUSTER in os.environ:
        yield ClusterDatabases(os.environ[CLUSTER])
        return
    with EmbeddedPostgres(postgres_home, TEST_SETTINGS, programs=chosen_programs()) as postgres:
        databases = Databases(postgres)
        with pooling_all(postgres):
            yield databases


@pytest.fixture(scope="module")
def own_databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    """Of a PostgreSQL that no other module uses: roles belong to all databases of one."""
    home = tmp_path_factory.mktemp("own") / "postgres"
    with EmbeddedPostgres(home, TEST_SETTINGS, programs=chosen_programs()) as postgres:
        yield Databases(postgres)


@pytest.fixture(scope="session", autouse=True)
def one_shard_each(databases: Databases | ClusterDatabases) -> Iterator[None]:
    """On a cluster, no statement of a run goes to more shards than it must."""
    if isinstance(databases, Databases):
        yield
        return
    with heard() as statements:
        yield
    found = scattered(databases.clone(f"explained_{os.getpid()}"), [*statements.values()])
    assert found == {}


@pytest.fixture(scope="session")
def api_server(databases: Databases) -> Iterator[ApiServer]:
    with ApiServer(databases.clone(f"worker_{os.getpid()}")) as api_server:
        api_server.prepare_sandboxes()
        yield api_server


@pytest.fixture(scope="module")
def own_server(databases: Databases, request: pytest.FixtureRequest) -> Iterator[ApiServer]:
    """One whose database no other module sees."""
    name = request.module.__name__.removeprefix("tests.").replace(".", "_")
    with ApiServer(databases.clone(f"{name}_{os.getpid()}")) as api_server:
        yield api_server


@pytest.fixture(scope="module")
def partner(own_server: ApiServer) -> Partner:
    return own_server.partner("Owner")


@pytest.fixture
def fresh_server(databases: Databases) -> Iterator[ApiServer]:
    with ApiServer(databases.clone(f"fresh_{os.getpid()}")) as api_server:
        yield api_server


@pytest.fixture
def hurried_server(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """One where nobody waits for a new connection longer than this."""
    monkeypatch.setattr("persistence.engine.pool.CONNECT_SECONDS", 0.5)
    with ApiServer(databases.clone(f"hurried_{os.getpid()}")) as api_server:
        yield api_server


@pytest.fixture(scope="session")
def acme(api_server: ApiServer) -> Partner:
    return api_server.partner("Acme")


@pytest.fixture(scope="session")
def rival(api_server: ApiServer) -> Partner:
    return api_server.partner("Rival")
