"""The settings of the embedded server: the durable ones, and a fast set for tests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Time-outs of locks and of idle transactions belong to the roles: migrations set them there.
SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "listen_addresses": "",  # The unix socket is the only way in.
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
        # An error is told to the client that made it. Repeating it here, with the values of
        # somebody's invoice, would only let the log grow.
        "log_min_messages": "log",
        "log_checkpoints": "off",
    }
)

# For data that nobody misses after a power cut: nothing waits for the disk.
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
    r"""Write settings as the text of a configuration file, every value quoted.

    {"search_path": "it's"} becomes ``search_path = 'it''s'``; a backslash is doubled as well.
    """
    return "".join(f"{name} = {_quote(value)}\n" for name, value in settings.items())


def _quote(value: str) -> str:
    if "\n" in value or "\0" in value:
        raise ValueError(f"a setting of PostgreSQL is one line: {value!r}")
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
