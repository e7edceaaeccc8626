"""Settings of the embedded server: a durable set, and a fast set for tests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Migrations set the time-outs of locks and of idle transactions, on the roles.
SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "listen_addresses": "",  # Connections only through the unix socket.
        "unix_socket_permissions": "0700",
        "port": "5432",
        "max_connections": "100",
        "fsync": "on",
        "full_page_writes": "on",
        "synchronous_commit": "on",
        "wal_compression": "pglz",  # The wheel has neither lz4 nor zstd.
        "shared_buffers": "256MB",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "jit": "off",
        "random_page_cost": "1.1",
        "autovacuum_naptime": "15s",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
        # An error is reported to its client. Logging it as well would only make the log grow, and
        # write data of invoices to it.
        "log_min_messages": "log",
        "log_checkpoints": "off",
    }
)

# For data that may be lost in a power failure: no write waits for the disk.
TEST_SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "wal_compression": "off",
        "shared_buffers": "128MB",
        "max_wal_size": "1GB",
        "checkpoint_timeout": "60min",
        "autovacuum": "off",
    }
)


def render(settings: Mapping[str, str]) -> str:
    r"""Return settings as the text of a configuration file, with every value quoted.

    {"search_path": "it's"} becomes ``search_path = 'it''s'``; a backslash is doubled as well.
    """
    return "".join(f"{name} = {_quote(value)}\n" for name, value in settings.items())


def _quote(value: str) -> str:
    if "\n" in value or "\0" in value:
        raise ValueError(f"a setting of PostgreSQL is one line: {value!r}")
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
