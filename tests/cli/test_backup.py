"""A backup of everything, created and restored by logins that are no superusers."""

import hashlib
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.database.migrate import migrate
from persistence.database.revisions import HEAD
from persistence.files.blobs import Folder
from persistence.tables import metadata
from tests.api_server import ApiServer, Databases
from tests.builders.files import CSV, PDF, follow, upload
from tests.builders.sales import sent
from tests.cli.refusals import AWAY, refusal
from tests.command_line import CommandLine, CommandResult
from tests.object_store import KEY_ID, SECRET, ObjectStore
from tests.partner import Business, Partner, within
from tests.persistence.database.earlier_schema import migrate_to
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.integrity.traded_business import traded

PARTNER = "INSERT INTO partner VALUES (gen_random_uuid(), 'Ada', now(), NULL, now())"
BUSINESS_ID = "0197f0c4-8a20-7d3e-8c44-2e9b7f5a6b02"
ROWS = "SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {} t"


@dataclass(frozen=True)
class Place:
    """A deployment whose owner is no superuser: its server and its command line."""

    url: str
    superuser_url: str
    folder: Path
    documents: Path

    def run(self, *arguments: str, **environment: str) -> CommandResult:
        place = {"ACCOUNTING_DOCUMENTS_DIR": str(self.documents), **environment}
        return CommandLine(self.folder, self.url).run(*arguments, **place)

    def did(self, *arguments: str, **environment: str) -> str:
        told = self.run(*arguments, **environment)
        assert told.code == 0, told.err + told.out
        return told.out

    def ask(self, text: str) -> list[tuple[object, ...]]:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            return connection.execute(text.encode()).fetchall()

    def do(self, text: str) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            connection.execute(text.encode())

    def contents(self) -> dict[str, object]:
        """Return a digest of the rows of each table."""
        return {name: self.ask(ROWS.format(name)) for name in metadata.tables}


def founded(postgres: EmbeddedPostgres, name: str, folder: Path, documents: Path) -> Place:
    """Create an empty database of a login that may create roles and is no superuser."""
    owner, superuser_url = f"{name}_owner", postgres.url(name)
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(
            f"DO $$ BEGIN CREATE ROLE {owner} LOGIN NOSUPERUSER CREATEROLE;"
            " EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        )
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(
            f"CREATE DATABASE {name} OWNER {owner} TEMPLATE template0 ENCODING 'UTF8'"
        )
    url = superuser_url.replace("//accounting@", f"//{owner}@")
    return Place(url, superuser_url, folder, documents)


@pytest.fixture(scope="module")
def here(
    databases: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, ApiServer]]:
    postgres = databases.postgres
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        place = founded(postgres, "kept_here", tmp_path_factory.mktemp("here"), Path())
        connection.execute("GRANT accounting_server TO kept_here_owner")
    migrate(place.url)
    with ApiServer(place.url) as server:
        yield Place(place.url, place.superuser_url, place.folder, server.folder), server


@pytest.fixture(scope="module")
def source(here: tuple[Place, ApiServer]) -> Place:
    return here[0]


@pytest.fixture(scope="module")
def owner(here: tuple[Place, ApiServer]) -> Partner:
    return here[1].partner("Owner")


@pytest.fixture(scope="module")
def bakery(owner: Partner) -> Business:
    shop = traded(owner.business(name="Crumb Ltd"))
    upload(shop, PDF)
    upload(shop, CSV, "lines.csv")
    return shop


@pytest.fixture(scope="module")
def to_be_moved(owner: Partner) -> Business:
    shop = traded(owner.business())
    upload(shop, PDF)
    return shop


@pytest.fixture(scope="module")
def kept(source: Place, bakery: Business, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("backups") / "monday"
    source.did("check-books")  # It seals the audit trail, which then stays unchanged.
    source.did("backup", str(target))
    return target


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL without our roles."""
    with EmbeddedPostgres(tmp_path_factory.mktemp("cluster"), TEST_SETTINGS) as postgres:
        yield postgres


@pytest.fixture
def empty(cluster: EmbeddedPostgres, tmp_path: Path) -> Place:
    """A database in `cluster`, without our roles."""
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS kept_there WITH (FORCE)")
        for role in ("kept_there_owner", "kept_here_owner", "accounting_server"):
            connection.execute(f"DROP ROLE IF EXISTS {role}")
    return founded(cluster, "kept_there", tmp_path / "data", tmp_path / "documents")


class TestBackup:
    def test_tells_what_it_has_and_leaves_no_draft(
        self, source: Place, bakery: Business, tmp_path: Path
    ) -> None:
        target = tmp_path / "tuesday"
        said = source.did("backup", str(target)).splitlines()
        assert said[0].startswith(f"{target} has what there was at 20")
        assert f", 2 files of {len(PDF) + len(CSV)} bytes; " in said[1]
        assert [path.name for path in tmp_path.iterdir()] == ["tuesday"]
        manifest = json.loads((target / "manifest.json").read_text())
        [(lines,)] = source.ask("SELECT count(*) FROM journal_line")
        assert manifest["rows"]["journal_line"] == lines
        assert (manifest["missing"], manifest["changed"], manifest["files"]) == ([], [], 2)

    def test_its_digests_are_checked_without_us(self, kept: Path) -> None:
        done = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=kept, check=False
        )
        assert done.returncode == 0
        assert len((kept / "SHA256SUMS").read_text().splitlines()) == 4

    def test_nobody_else_may_read_it(self, kept: Path) -> None:
        for path in (kept, *kept.rglob("*")):
            assert path.stat().st_mode & 0o077 == 0, path

    def test_nothing_is_written_over(self, source: Place, kept: Path) -> None:
        reason = refusal(source, "backup", str(kept))
        assert reason.endswith(f"{kept} is there already: nothing is written over it.")

    @pytest.mark.parametrize("command", ["backup", f"export-business {BUSINESS_ID}"])
    @pytest.mark.parametrize(
        ("target", "told"),
        [
            ("", " is there already: nothing is written over it."),
            ("nowhere/x", "accounting: There is no folder "),
        ],
    )
    def test_a_wrong_target_is_refused_before_any_work(
        self, tmp_path: Path, command: str, target: str, told: str
    ) -> None:
        place = CommandLine(tmp_path / "data", "postgresql://nobody@127.0.0.1:1/x")
        done = place.run(*command.split(), str(tmp_path / target))
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert told in done.err
        assert not place.folder.exists()

    def test_an_empty_database_is_refused(self, empty: Place, tmp_path: Path) -> None:
        reason = refusal(empty, "backup", str(tmp_path / "x"))
        assert reason.startswith("accounting: The database is empty: ")
        assert not (tmp_path / "x").exists()

    def test_a_data_folder_without_books_is_refused_and_stays_empty(self, tmp_path: Path) -> None:
        reason = refusal(CommandLine(tmp_path / "data"), "backup", str(tmp_path / "x"))
        assert reason.startswith(f"accounting: There are no books in {tmp_path / 'data'}: ")
        assert [*tmp_path.iterdir()] == []

    def test_files_that_are_lost_or_changed_are_told_and_the_rest_is_kept(
        self, source: Place, owner: Partner, bakery: Business, tmp_path: Path
    ) -> None:
        shop = owner.business()
        for content in (PDF, CSV):
            upload(shop, content)
        lost, other = sorted((source.documents / shop.id).iterdir())
        content = other.read_bytes()
        aside = tmp_path / "aside"
        shutil.move(lost, aside)
        other.write_bytes(b"else")
        told = source.run("backup", str(tmp_path / "kept"))
        assert told.code == 1
        assert f"{shop.id}/{lost.name} is not in the storage\n" in told.out
        assert f"{shop.id}/{other.name} is not what was stored\n" in told.out
        told = source.run("restore", "--verify", str(tmp_path / "kept"))
        assert told.code == 1
        assert told.out.count("is not what its record says") == 2
        assert "The backup does not hold (" in told.out
        shutil.move(aside, lost)
        other.write_bytes(content)

    def test_one_that_fails_leaves_nothing(self, source: Place, tmp_path: Path) -> None:
        place = CommandLine(source.folder, source.url)
        assert refusal(place, "backup", str(tmp_path / "x"), **AWAY)
        assert [*tmp_path.iterdir()] == []


class TestRestore:
    def test_a_new_cluster_has_everything(
        self, source: Place, bakery: Business, kept: Path, empty: Place, cluster: EmbeddedPostgres
    ) -> None:
        told = empty.did("restore", str(kept))
        assert told.startswith("The database and its files are as they were at ")
        assert "; 2 files were put, 0 were there; " in told
        assert empty.did("check-books").startswith("The books of ")
        with ApiServer(empty.url, documents=Folder(empty.documents)) as server:
            [(partner_id,)] = source.ask("SELECT id FROM partner WHERE name = 'Owner'")
            partner = Partner(server.url, partner_id, bakery.partner.api_key)
            server.partners.append(partner)
            shop = Business(partner, bakery.record)
            documents = shop.api.get("documents/").json()["results"]
            assert {follow(shop, each["url"]).content for each in documents} == {PDF, CSV}
            sent(shop, shop.customer(), 2_500)
            assert faults_in(server, shop) == set()
        roles = empty.ask(
            "SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles"
            " WHERE rolname = 'accounting_server'"
        )
        assert roles == [(False, False, False)]
        limits = (
            "SELECT setconfig FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole"
            " WHERE rolname = 'accounting_server'"
        )
        assert empty.ask(limits) == source.ask(limits)

    def test_every_row_is_what_it_was(
        self, source: Place, bakery: Business, empty: Place, tmp_path: Path
    ) -> None:
        target = tmp_path / "now"
        source.did("backup", str(target))
        before = source.contents()
        empty.did("restore", str(target))
        assert empty.contents() == before

    def test_a_database_that_is_not_empty_is_refused(self, source: Place, kept: Path) -> None:
        before = source.contents()
        reason = refusal(source, "restore", str(kept))
        assert "The database is not empty (it has " in reason
        assert source.contents() == before

    def test_a_login_that_may_make_no_roles_is_told_who_can(self, kept: Path, empty: Place) -> None:
        empty.do("ALTER ROLE kept_there_owner NOCREATEROLE")
        reason = refusal(empty, "restore", str(kept))
        assert "let an administrator run roles.sql of the backup" in reason
        empty.do((kept / "roles.sql").read_text())
        empty.do("GRANT accounting_server TO kept_there_owner")
        empty.did("restore", str(kept))
        empty.did("check-books")

    def test_files_that_are_there_stay(self, kept: Path, empty: Place) -> None:
        shutil.copytree(kept / "documents", empty.documents)
        assert "; 0 files were put, 2 were there; " in empty.did("restore", str(kept))

    def test_another_file_of_the_same_name_is_refused(self, kept: Path, empty: Place) -> None:
        shutil.copytree(kept / "documents", empty.documents)
        [file, _] = sorted(path for path in empty.documents.rglob("*") if path.is_file())
        file.write_bytes(b"else")
        reason = refusal(empty, "restore", str(kept))
        assert f"{empty.documents} has another file as {file.parent.name}/{file.name}" in reason
        assert file.read_bytes() == b"else"
        file.unlink()  # The database is still empty, so that it can be tried again.
        assert "; 1 files were put, 1 were there; " in empty.did("restore", str(kept))

    def test_a_damaged_dump_leaves_the_database_empty(
        self, kept: Path, empty: Place, tmp_path: Path
    ) -> None:
        damaged = shutil.copytree(kept, tmp_path / "damaged")
        dump = damaged / "database.dump"
        content = bytearray(dump.read_bytes())
        content[len(content) // 2] ^= 1
        dump.write_bytes(content)
        reason = refusal(empty, "restore", str(damaged))
        assert reason.endswith(f"database.dump of {damaged} is not what was written.")
        resummed(damaged)  # Now PostgreSQL's own programs must find the damage.
        dump.write_bytes(content[: len(content) // 2])
        resummed(damaged)
        told = empty.run("restore", str(damaged))
        assert (told.code, "failed: " in told.err) == (2, True)
        assert empty.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


class TestVerify:
    def test_a_backup_that_holds(self, kept: Path, tmp_path: Path) -> None:
        told = CommandLine(tmp_path / "nowhere").did("restore", "--verify", str(kept))
        assert told.out.splitlines()[-2].startswith("The books of ")
        assert told.out.splitlines()[-1].startswith("The backup holds (")
        assert not (tmp_path / "nowhere" / "postgres").exists()

    def test_a_file_that_was_changed_since(self, kept: Path, tmp_path: Path) -> None:
        changed = shutil.copytree(kept, tmp_path / "changed")
        [file, _] = sorted(path for path in (changed / "documents").rglob("*") if path.is_file())
        file.write_bytes(b"else")
        told = CommandLine(tmp_path / "nowhere").run("restore", "--verify", str(changed))
        assert told.code == 1
        assert f"{file.parent.name}/{file.name} is not what its record says\n" in told.out

    def test_books_that_do_not_hold(
        self, here: tuple[Place, ApiServer], owner: Partner, tmp_path: Path
    ) -> None:
        place, server = here
        shop = owner.business(name="Rotten Ltd")
        named = "UPDATE customer SET company_name = %s WHERE id = %s"
        customer = shop.customer(company_name="Crumb")["id"]
        tamper(server, named, "Crust", customer, url=place.superuser_url)
        try:
            place.did("backup", str(tmp_path / "rotten"))
        finally:
            tamper(server, named, "Crumb", customer, url=place.superuser_url)
        told = place.run("restore", "--verify", str(tmp_path / "rotten"))
        assert told.code == 1
        assert f"Rotten Ltd ({shop.id})" in told.out
        assert "  audit_rows: customer " in told.out

    def test_what_is_no_backup(self, tmp_path: Path) -> None:
        reason = refusal(CommandLine(tmp_path / "nowhere"), "restore", "--verify", str(tmp_path))
        assert f"{tmp_path} is no whole backup" in reason


class TestBackupOfServersAtWork:
    def test_the_files_fit_the_dump(
        self, source: Place, bakery: Business, owner: Partner, tmp_path: Path
    ) -> None:
        shop = owner.business()
        ended, written = threading.Event(), list[str]()

        def work() -> None:
            while not ended.is_set():
                written.append(upload(shop, PDF + str(len(written)).encode()).json()["id"])

        worker = threading.Thread(target=work)
        worker.start()
        try:
            assert within(10, lambda: len(written) > 5)
            source.did("backup", str(tmp_path / "busy"))
        finally:
            ended.set()
            worker.join()
        manifest = json.loads((tmp_path / "busy" / "manifest.json").read_text())
        assert 5 < manifest["rows"]["stored_document"] < 2 + len(written)
        told = source.did("restore", "--verify", str(tmp_path / "busy"))
        assert "The backup holds (" in told


class TestRowSecurity:
    """Row security that applies to the owner, too."""

    @pytest.fixture
    def forced(self, source: Place) -> Iterator[Place]:
        """A deployment whose owner is subject to row security."""
        source.do(on_tenants("ALTER TABLE {} FORCE ROW LEVEL SECURITY"))
        source.do(on_tenants("DROP POLICY IF EXISTS every_business ON {}"))
        yield source
        source.do(on_tenants("DROP POLICY IF EXISTS every_business ON {}"))
        source.do(on_tenants("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY"))
        migrate(source.url)

    @pytest.fixture
    def with_policies(self, forced: Place) -> Place:
        """The same, with a policy by which the owner may see all rows."""
        forced.do(
            on_tenants(
                "CREATE POLICY every_business ON {} TO kept_here_owner"
                " USING (current_setting('app.every_business', true) = 'on')"
            )
        )
        return forced

    def test_is_not_passed_by_in_silence(
        self, forced: Place, bakery: Business, tmp_path: Path
    ) -> None:
        reason = refusal(forced, "backup", str(tmp_path / "less"))
        assert "accounting: Row security keeps rows of account from this login: " in reason
        assert [*tmp_path.iterdir()] == []

    def test_is_left_aside_by_an_owner_that_means_all_rows(
        self, with_policies: Place, bakery: Business, empty: Place, tmp_path: Path
    ) -> None:
        with_policies.did("backup", str(tmp_path / "all"))
        before = with_policies.contents()
        empty.did("restore", str(tmp_path / "all"))
        assert empty.contents() == before
        forces = "SELECT count(*) FROM pg_class WHERE relforcerowsecurity"
        assert empty.ask(forces) == with_policies.ask(forces)
        whose = (
            "SELECT DISTINCT polroles::regrole[]::text FROM pg_policy"
            " WHERE polname = 'every_business'"
        )
        assert with_policies.ask(whose) == [("{kept_here_owner}",)]
        assert empty.ask(whose) == [("{kept_there_owner}",)]
        assert empty.ask("SELECT rolname FROM pg_roles WHERE rolname = 'kept_here_owner'") == []
        assert "The backup holds (" in empty.did("restore", "--verify", str(tmp_path / "all"))

    def test_is_left_aside_by_a_role_that_the_owner_may_act_as(
        self, forced: Place, bakery: Business, empty: Place, tmp_path: Path
    ) -> None:
        forced.do(
            "CREATE ROLE kept_reader NOLOGIN BYPASSRLS;"
            " GRANT pg_read_all_data TO kept_reader; GRANT kept_reader TO kept_here_owner"
        )
        try:
            forced.did("backup", str(tmp_path / "all"))
        finally:
            forced.do("DROP ROLE kept_reader")
        before = forced.contents()
        empty.did("restore", str(tmp_path / "all"))
        assert empty.contents() == before

    def test_does_not_hinder_an_import(
        self, to_be_moved: Business, forced: Place, here: tuple[Place, ApiServer], tmp_path: Path
    ) -> None:
        _, server = here
        forced.did("export-business", to_be_moved.id, str(tmp_path / "shop.zip"))
        forgotten(forced, to_be_moved)
        told = forced.did("import-business", str(tmp_path / "shop.zip"))
        assert "Its books hold (" in told
        assert faults_in(server, to_be_moved) == set()


class TestBucket:
    def test_files_come_from_one_and_go_to_one(
        self, source: Place, bakery: Business, empty: Place, tmp_path: Path, kept: Path
    ) -> None:
        with ObjectStore() as store:
            bucket = {
                "ACCOUNTING_DOCUMENTS_DIR": "",
                "ACCOUNTING_S3_BUCKET": "documents",
                "ACCOUNTING_S3_ENDPOINT": f"http://127.0.0.1:{store.port}",
                "ACCOUNTING_S3_ACCESS_KEY_ID": KEY_ID,
                "ACCOUNTING_S3_SECRET_ACCESS_KEY": SECRET,
            }
            empty.did("restore", str(kept), **bucket)
            assert len(store.keys) == 2
            empty.did("backup", str(tmp_path / "again"), **bucket)
        assert digests(tmp_path / "again") == digests(kept)


class TestBundledPostgres:
    def test_the_bundled_postgresql_is_backed_up_and_restored(self, tmp_path: Path) -> None:
        first, second = CommandLine(tmp_path / "first"), CommandLine(tmp_path / "second")
        first.did("partner", "create", "Ada")
        first.did("backup", str(tmp_path / "kept"))
        second.did("restore", str(tmp_path / "kept"))
        assert "Ada" in second.did("partner", "list").out

    def test_an_older_schema_is_backed_up_and_restored_as_it_is(self, tmp_path: Path) -> None:
        first, second = CommandLine(tmp_path / "first"), CommandLine(tmp_path / "second")
        before = str(int(HEAD) - 1).zfill(4)
        with EmbeddedPostgres(first.folder / "postgres") as postgres:
            postgres.create_database()
            migrate_to(postgres.url(), before)
            with psycopg.connect(postgres.url()) as connection:
                connection.execute(PARTNER)
        first.did("backup", str(tmp_path / "kept"))
        assert json.loads((tmp_path / "kept" / "manifest.json").read_text())["revision"] == before
        with EmbeddedPostgres(first.folder / "postgres") as postgres:
            assert revision_of(postgres.url()) == before
        assert (
            f"The database stands at {before}" in second.did("restore", str(tmp_path / "kept")).out
        )
        with EmbeddedPostgres(second.folder / "postgres") as postgres:
            assert revision_of(postgres.url()) == before
        assert "Ada" in second.did("partner", "list").out
        assert "The backup holds (" in first.did("restore", "--verify", str(tmp_path / "kept")).out


def revision_of(url: str) -> str:
    with psycopg.connect(url) as connection:
        [(revision,)] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        return str(revision)


def on_tenants(statement: str) -> str:
    tenants = [name for name, table in metadata.tables.items() if table.info.get("tenant")]
    return "; ".join(map(statement.format, tenants))


def forgotten(place: Place, shop: Business) -> None:
    """Delete every row and file of a business."""
    mine = on_tenants(f"DELETE FROM {{}} WHERE business_id = '{shop.id}'")
    of_partner = f"DELETE FROM business WHERE id = '{shop.id}'"
    place.do(f"SET session_replication_role = replica; {mine}; {of_partner}")
    shutil.rmtree(place.documents / shop.id)


def digests(backup: Path) -> dict[str, str]:
    documents = backup / "documents"
    return {
        str(path.relative_to(documents)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in documents.rglob("*")
        if path.is_file()
    }


def resummed(backup: Path) -> None:
    """Write matching digests for a changed dump, as no accident does."""
    sums = backup / "SHA256SUMS"
    _, *rest = sums.read_text().splitlines(keepends=True)
    digest = hashlib.sha256((backup / "database.dump").read_bytes()).hexdigest()
    sums.write_text("".join([f"{digest}  database.dump\n", *rest]))
    manifest = json.loads((backup / "manifest.json").read_text())
    manifest["sums_sha256"] = hashlib.sha256(sums.read_bytes()).hexdigest()
    (backup / "manifest.json").write_text(json.dumps(manifest))
