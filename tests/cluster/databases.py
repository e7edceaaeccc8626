"""Databases of a run on a Citus cluster, created on every machine, migrated and distributed."""

import fcntl
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from persistence.database.distribution import distribute
from persistence.database.migrate import migrate

CLUSTER = "TEST_CLUSTER_URL"  # The variable with the address of the cluster.


class ClusterDatabases:
    """Databases on the machines that the cluster's own database lists."""

    def __init__(self, url: str) -> None:
        self.url = url

    def clone(self, name: str) -> str:
        """Return the address of a fresh database, migrated and distributed."""
        # Only one worker at a time: roles belong to all databases of a machine.
        with Path(tempfile.gettempdir(), "accounting-cluster.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            url = self.empty(name)
            migrate(url)
            distribute(url, lambda _: None, dry_run=False)
        return url

    def empty(self, name: str) -> str:
        """Return the address of an empty database on all machines, which know each other."""
        for port in self._ports:
            with self._connected(port) as connection:
                connection.execute(
                    SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(Identifier(name))
                )
                connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
            with self._connected(port, name) as connection:
                connection.execute("CREATE EXTENSION citus")
        coordinator, *workers = self._ports
        with self._connected(coordinator, name) as connection:
            connection.execute("SELECT citus_set_coordinator_host('127.0.0.1', %s)", (coordinator,))
            for worker in workers:
                connection.execute("SELECT citus_add_node('127.0.0.1', %s)", (worker,))
            connection.execute(
                "SELECT citus_set_node_property('127.0.0.1', %s, 'shouldhaveshards', false)",
                (coordinator,),
            )
        told = conninfo_to_dict(self.url)
        return f"postgresql://{told['user']}@{told['host']}:{coordinator}/{name}"

    @cached_property
    def _ports(self) -> Sequence[int]:
        """The coordinator's port, then those of the other machines."""
        with psycopg.connect(self.url) as connection:
            found = connection.execute("SELECT nodeport FROM pg_dist_node ORDER BY groupid")
            return [port for (port,) in found]

    def _connected(self, port: int, name: str = "postgres") -> psycopg.Connection:
        return psycopg.connect(
            make_conninfo(self.url, port=str(port), dbname=name), autocommit=True
        )
