"""The environment, read once into a frozen value; no other file reads it.

One message lists all faults, and a server that could not serve safely does not start.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

from access.master_secrets import MasterSecret
from libraries.outbound.proxies import Proxy
from persistence.files.blobs import BlobStorage
from server.config.client_addresses import Network
from server.config.environment import Environment, LogFormat, LogLevel


class SettingsError(Exception):
    """A fault in the settings; the message lists every fault, several of them one per line."""

    def __init__(self, faults: list[str]) -> None:
        listed = f" {faults[0]}" if len(faults) == 1 else "".join(f"\n- {f}" for f in faults)
        super().__init__(f"The settings cannot be used:{listed}")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """The locations of the data: all that commands other than `serve` need.

    A `database_url` of None means the embedded PostgreSQL.
    """

    database_url: str | None = field(repr=False)  # It may contain a password.
    admin_database_url: str | None = field(repr=False)
    data_dir: Path
    documents: BlobStorage
    log_format: LogFormat | None
    log_level: LogLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(StoreSettings):
    """The settings of a server. `warnings` are sentences for its log."""

    host: str
    port: int
    workers: int
    development: bool
    tls_cert: Path | None
    tls_key: Path | None
    secrets: tuple[MasterSecret, ...]
    allowed_origins: frozenset[str]
    public_url: str
    answer_seconds: float
    leaving_seconds: int
    connections_per_address: int
    requests_per_minute_partner: int
    requests_per_minute_business: int
    database_connections: int
    read_database_url: str | None = field(repr=False)
    read_lag_seconds: int
    upkeep_seconds: int
    slow_seconds: float
    metrics_at: tuple[str, int] | None
    traced: bool
    forwarded_allow: tuple[Network, ...]
    webhook_proxy: Proxy | None
    warnings: tuple[str, ...]

    @property
    def pages_folder(self) -> Path:
        """Return the folder for the rendered documentation pages."""
        return self.data_dir / "pages"


def load_stores(environ: Mapping[str, str] | None = None) -> StoreSettings:
    """Load the settings of commands other than `serve`; SettingsError lists all faults."""
    reading = _reading(environ)
    stores = _stores(reading)
    _refuse(reading.faults)
    return stores


def load(
    environ: Mapping[str, str] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    development: bool = False,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
) -> Settings:
    """Load all settings of a server; SettingsError lists all faults.

    In development without ACCOUNTING_SECRET_KEYS a secret is created and kept in the data folder.
    """
    reading = _reading(environ)
    stores = _stores(reading)
    whole = reading.whole_number
    proxies = reading.proxies()
    encrypted = tls_cert is not None or bool(proxies)
    reading.check_tls(tls_cert, tls_key)
    reading.check_numbers(port=port, workers=workers)
    settings = Settings(
        **{each.name: getattr(stores, each.name) for each in fields(stores)},
        host=host,
        port=port,
        workers=workers,
        development=development,
        tls_cert=tls_cert,
        tls_key=tls_key,
        secrets=reading.secrets(stores.data_dir, development),
        allowed_origins=reading.origins(),
        public_url=reading.public_url(),
        answer_seconds=whole("ACCOUNTING_ANSWER_SECONDS"),
        leaving_seconds=reading.leaving_seconds(behind_proxy=bool(proxies)),
        connections_per_address=whole("ACCOUNTING_CONNECTIONS_PER_ADDRESS"),
        requests_per_minute_partner=whole("ACCOUNTING_REQUESTS_PER_MINUTE_PARTNER"),
        requests_per_minute_business=whole("ACCOUNTING_REQUESTS_PER_MINUTE_BUSINESS"),
        database_connections=whole("ACCOUNTING_DATABASE_CONNECTIONS"),
        read_database_url=reading.read_database_url(),
        read_lag_seconds=whole("ACCOUNTING_READ_LAG_SECONDS"),
        upkeep_seconds=whole("ACCOUNTING_UPKEEP_SECONDS"),
        slow_seconds=whole("ACCOUNTING_SLOW_MS") / 1000,
        metrics_at=reading.metrics_at(),
        traced=reading.traced(),
        forwarded_allow=proxies,
        webhook_proxy=reading.webhook_proxy(),
        warnings=reading.exposure(host, development=development, encrypted=encrypted),
    )
    _refuse(reading.faults)
    return settings


def reader(settings: Settings) -> Callable[[], Settings]:
    """Return a function that reloads the settings for the same command line; it holds no secret."""
    return partial(
        load,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        development=settings.development,
        tls_cert=settings.tls_cert,
        tls_key=settings.tls_key,
    )


def _reading(environ: Mapping[str, str] | None) -> Environment:
    return Environment(os.environ if environ is None else environ)


def _stores(reading: Environment) -> StoreSettings:
    url, admin_url = reading.database_urls()
    data_dir = reading.data_dir()
    return StoreSettings(
        database_url=url,
        admin_database_url=admin_url,
        data_dir=data_dir,
        documents=reading.documents(data_dir),
        log_format=reading.log_format(),
        log_level=reading.log_level(),
    )


def _refuse(faults: list[str]) -> None:
    if faults:
        raise SettingsError(faults)
