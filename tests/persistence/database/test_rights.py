"""Roles, grants and settings that a migration creates, and restores where they are missing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from persistence.database import migrate as migrations
from persistence.database import rights
from persistence.database.checks import refuse_unusable
from persistence.database.revisions import HEAD
from persistence.engine.connections import LIMITS, SERVER_ROLE
from persistence.engine.database_errors import UnsafeDatabase, UnusableDatabase
from tests.api_server import Databases
from tests.command_line import CommandLine

OWNER, LOGIN, MEMBER = "rights_owner", "rights_server", "rights_member"
SETTINGS = {"role", *LIMITS}


@pytest.fixture
def url(own_databases: Databases) -> str:
    return own_databases.clone("rights")


@pytest.fixture
def owner(url: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection
        for login in (LOGIN, MEMBER, OWNER):
            connection.execute(f"DROP ROLE IF EXISTS {login}")


def settings_of(connection: psycopg.Connection[Any], login: str) -> dict[str, str]:
    found = connection.execute(
        "SELECT unnest(setconfig) FROM pg_db_role_setting WHERE setrole = to_regrole(%s)", (login,)
    )
    return dict(each.split("=", 1) for (each,) in found)


def as_login(url: str, login: str) -> str:
    return url.replace("//accounting@", f"//{login}@")


def steps_of(url: str) -> list[str]:
    """Migrate a database; return the messages."""
    messages: list[str] = []
    assert migrations.migrate(url, messages.append) == HEAD
    return messages


class TestMigrations:
    def test_migrations_leave_no_right_to_repair(
        self, own_databases: Databases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own_databases.postgres.create_database("unrepaired")
        granted: list[str] = []

        def grant(connection: psycopg.Connection[Any], _: object) -> None:
            steps = [*rights.steps_left(connection), *rights.surplus(connection)]
            granted.extend(step.words for step in steps)

        monkeypatch.setattr(migrations, "grant", grant)
        migrations.migrate(own_databases.postgres.url("unrepaired"))
        assert granted == []


class TestRights:
    @pytest.mark.parametrize(
        ("spoil", "words"),
        [
            ("REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}", "may not read them"),
            ("REVOKE INSERT ON journal_line FROM {role}", 'grant INSERT on "journal_line"'),
            ("REVOKE USAGE ON SCHEMA public FROM {role}, PUBLIC", "may not read them"),
            ("REVOKE EXECUTE ON FUNCTION audit_business FROM {role}", "audit_business(uuid)"),
            ("GRANT EXECUTE ON FUNCTION audit_business TO PUBLIC", "from everybody"),
            ("GRANT EXECUTE ON FUNCTION row_digest TO PUBLIC", "from everybody"),
            ("ALTER TABLE invoice DISABLE ROW LEVEL SECURITY", "row security of invoice"),
            ("DROP POLICY one_business ON invoice", "show of invoice only rows of one"),
        ],
    )
    def test_missing_rights_are_reported_at_a_start_and_made_by_a_migration(
        self, url: str, owner: psycopg.Connection[Any], spoil: str, words: str
    ) -> None:
        owner.execute(spoil.format(role=SERVER_ROLE).encode())
        with pytest.raises(UnusableDatabase, match="run `accounting migrate`") as told:
            refuse_unusable(url, durable=False)
        assert words in str(told.value)
        assert steps_of(url) == []
        refuse_unusable(url, durable=False)

    @pytest.mark.parametrize("table", ["journal_line", "audit_record"])
    def test_excessive_rights_are_revoked_by_a_migration(
        self, url: str, owner: psycopg.Connection[Any], table: str
    ) -> None:
        owner.execute(f"GRANT UPDATE, DELETE ON {table} TO {SERVER_ROLE}".encode())
        with pytest.raises(UnsafeDatabase, match="run `accounting migrate` first"):
            refuse_unusable(url, durable=False)
        migrations.migrate(url)
        refuse_unusable(url, durable=False)


class TestLogins:
    def test_logins_of_the_server_get_the_settings_for_a_pooler(
        self, url: str, owner: psycopg.Connection[Any]
    ) -> None:
        owner.execute(f"CREATE ROLE {LOGIN} LOGIN IN ROLE {SERVER_ROLE}")
        owner.execute(f"CREATE ROLE {MEMBER} IN ROLE {SERVER_ROLE}")
        owner.execute(f"CREATE ROLE {OWNER} LOGIN IN ROLE {SERVER_ROLE}")
        owner.execute(f"CREATE DATABASE of_another OWNER {OWNER}")
        owner.execute(f"ALTER ROLE {LOGIN} SET lock_timeout = '1s'")
        told = steps_of(url)
        assert {*told} == {f"set {name} of {LOGIN}" for name in SETTINGS - {"lock_timeout"}}
        found = settings_of(owner, LOGIN)
        assert set(found) == SETTINGS
        assert (found["role"], found["lock_timeout"]) == (SERVER_ROLE, "1s")
        assert steps_of(url) == []
        owner.execute("DROP DATABASE of_another")

    def test_logins_that_may_not_be_changed_are_left_to_an_administrator(
        self, url: str, owner: psycopg.Connection[Any]
    ) -> None:
        for login in (OWNER, LOGIN):
            owner.execute(f"CREATE ROLE {login} LOGIN IN ROLE {SERVER_ROLE}")
        self.hand_over(owner)
        [told] = steps_of(as_login(url, OWNER))
        assert "`accounting migrate --print-roles` prints how" in told
        assert settings_of(owner, LOGIN) == {}
        assert settings_of(owner, OWNER) == {}
        refuse_unusable(as_login(url, LOGIN), durable=False)
        self.take_over(owner)

    def test_a_login_that_owns_the_schema_and_makes_roles_can_serve(
        self, url: str, owner: psycopg.Connection[Any]
    ) -> None:
        owner.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
        owner.execute(f"GRANT {SERVER_ROLE} TO {OWNER} WITH ADMIN OPTION")
        # Since 16 the role that creates another one is granted it in this way.
        if owner.info.server_version >= 160000:
            owner.execute(f"GRANT {SERVER_ROLE} TO {OWNER} WITH SET FALSE, INHERIT FALSE")
        self.hand_over(owner)
        steps_of(as_login(url, OWNER))
        refuse_unusable(as_login(url, OWNER), durable=False)
        assert settings_of(owner, OWNER) == {}
        self.take_over(owner)

    def hand_over(self, owner: psycopg.Connection[Any]) -> None:
        owner.execute(f"GRANT CREATE, USAGE ON SCHEMA public TO {OWNER}")
        for kind, name in self.objects(owner):
            owner.execute(f"ALTER {kind} {name} OWNER TO {OWNER}".encode())

    def take_over(self, owner: psycopg.Connection[Any]) -> None:
        owner.execute(f"REASSIGN OWNED BY {OWNER} TO accounting")
        owner.execute(f"DROP OWNED BY {OWNER}")

    def objects(self, owner: psycopg.Connection[Any]) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = owner.execute(
            "SELECT 'TABLE', oid::regclass::text FROM pg_class"
            " WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
            " UNION ALL SELECT 'FUNCTION', oid::regprocedure::text FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace"
        ).fetchall()
        return found


class TestPrintedRoles:
    def test_printed_roles_can_be_made_twice(
        self, url: str, owner: psycopg.Connection[Any], tmp_path: Path
    ) -> None:
        owner.execute(f"CREATE ROLE {OWNER} LOGIN")
        command_line = CommandLine(tmp_path, as_login(url, LOGIN))
        named = {"ACCOUNTING_ADMIN_DATABASE_URL": as_login(url, OWNER)}
        told = command_line.did("migrate", "--print-roles", **named)
        for _ in range(2):
            owner.execute(told.out.encode())
        assert set(settings_of(owner, LOGIN)) == SETTINGS
        assert set(settings_of(owner, SERVER_ROLE)) == SETTINGS - {"role"}
        assert settings_of(owner, OWNER) == {}
        for login in (LOGIN, OWNER):
            member = owner.execute("SELECT pg_has_role(%s, %s, 'MEMBER')", (login, SERVER_ROLE))
            assert member.fetchone() == (True,)
        refuse_unusable(as_login(url, LOGIN), durable=False)

    def test_roles_are_printed_only_for_a_database_of_the_operator(self, tmp_path: Path) -> None:
        told = CommandLine(tmp_path).run("migrate", "--print-roles")
        assert (told.code, told.out) == (2, "")
        assert "needs no roles from an administrator" in told.err
