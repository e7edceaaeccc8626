"""The environment, read once into one frozen value; no other file looks at it.

Everything wrong is told in one message, and a server that could not serve safely does not start.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from access.master_secrets import MasterSecret
from persistence.files.blobs import BlobStorage
from server.environment import Environment, LogFormat, LogLevel
from server.requests.addresses import Network


class Setting(NamedTuple):
    """One line of the table of settings."""

    name: str
    meaning: str
    default: str


TABLE = (
    Setting(
        "DATABASE_URL",
        "PostgreSQL, 15 or newer, that the server uses, as "
        "postgresql://user:password@host:port/database; several hosts with commas between them.",
        "the PostgreSQL that comes along, kept in the data folder",
    ),
    Setting(
        "ACCOUNTING_ADMIN_DATABASE_URL",
        "The same database with the login that owns the schema, past any pooler; migrations use "
        "it.",
        "DATABASE_URL",
    ),
    Setting(
        "ACCOUNTING_READ_DATABASE_URL",
        "A standby of that database, with the same login: reports, exports, and lists with "
        "consistency=eventual read it.",
        "none: all is read from DATABASE_URL",
    ),
    Setting(
        "ACCOUNTING_READ_LAG_SECONDS",
        "How far the standby may be behind; one that is more is not read. From 1 to 3600.",
        "10",
    ),
    Setting(
        "ACCOUNTING_DATA_DIR",
        "Folder for the PostgreSQL that comes along, stored documents and development secrets.",
        "accounting-platform in XDG_DATA_HOME, or in ~/.local/share",
    ),
    Setting(
        "ACCOUNTING_SECRET_KEYS",
        "Secrets that sign tokens: 1 to 3, newest first, separated by commas, each as "
        "name:base64url of 32 random bytes or more. To rotate, put a new one in front and drop "
        "the old one two hours later. API keys do not depend on them.",
        "none: required, except in development, where one is made and kept in the data folder",
    ),
    Setting(
        "ACCOUNTING_ALLOWED_ORIGINS",
        "Origins of web pages that may read answers, separated by commas, each as "
        "https://app.example.com; plain http for loopback only.",
        "none; in development every loopback origin as well",
    ),
    Setting(
        "ACCOUNTING_FORWARDED_ALLOW_IPS",
        "Addresses or networks, separated by commas, of the proxies whose X-Forwarded-Proto and "
        "X-Forwarded-For are believed.",
        "none",
    ),
    Setting(
        "ACCOUNTING_PUBLIC_URL",
        "Address that partners reach the server at, as https://api.example.com; links to stored "
        "documents begin with it.",
        "none: links are relative, like those to the next page",
    ),
    Setting(
        "ACCOUNTING_DOCUMENTS_DIR",
        "Folder for the files of stored documents; several machines must share it.",
        "documents in the data folder",
    ),
    Setting(
        "ACCOUNTING_S3_BUCKET",
        "Bucket for the files of stored documents in place of a folder, in any store that speaks "
        "S3.",
        "none: a folder",
    ),
    Setting(
        "ACCOUNTING_S3_ENDPOINT",
        "Address of that store, as https://storage.example.com.",
        "Amazon's in the region",
    ),
    Setting("ACCOUNTING_S3_REGION", "Region of the bucket.", "us-east-1"),
    Setting(
        "ACCOUNTING_S3_ACCESS_KEY_ID",
        "Name of the key to the bucket; it reads, writes, deletes and lists.",
        "none: required beside a bucket",
    ),
    Setting(
        "ACCOUNTING_S3_SECRET_ACCESS_KEY",
        "The key to the bucket.",
        "none: required beside a bucket",
    ),
    Setting(
        "ACCOUNTING_ANSWER_SECONDS",
        "How long a request may take until its answer begins, without the time that its body takes"
        " to arrive; then it is 503. From 1 to 300.",
        "15",
    ),
    Setting(
        "ACCOUNTING_CONNECTIONS_PER_ADDRESS",
        "How many connections one address (of IPv6 a /64) may have open to each worker; what comes "
        "beyond is 429. 0 for any number, which named proxies always have.",
        "500",
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_PARTNER",
        "How many requests a partner may make in a minute, to all servers on one database together;"
        " what comes beyond is 429. 0 for any number.",
        "60000",
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_BUSINESS",
        "How many of them may be about one business. 0 for any number.",
        "30000",
    ),
    Setting(
        "ACCOUNTING_DATABASE_CONNECTIONS",
        "How many connections to the database each worker may have; one business uses half of them"
        " at most. From 2 to 100.",
        "8",
    ),
    Setting(
        "ACCOUNTING_LEAVING_SECONDS",
        "How long a server that is told to stop serves on while /health/ready answers 503, so that"
        " a load balancer takes it out first. From 0 to 60.",
        "5 where a proxy is named, else 0",
    ),
    Setting(
        "ACCOUNTING_UPKEEP_SECONDS",
        "How long after one round of upkeep the next one begins, of all servers together: old"
        " answers and files that no record names go, and audit trails are sealed. 0 for never; then"
        " run accounting sweep-documents by a timer. From 0 to 604800.",
        "3600",
    ),
    Setting(
        "ACCOUNTING_LOG_FORMAT",
        "text for lines that people read, json for one JSON object per line.",
        "text on a terminal, json elsewhere",
    ),
    Setting(
        "ACCOUNTING_LOG_LEVEL",
        "From which level on is logged: debug (each round trip to the database, with the text of "
        "its statements and no value), info (a line for each request), warning (slow and failed "
        "ones) or error.",
        "info",
    ),
    Setting(
        "ACCOUNTING_SLOW_MS",
        "From how many milliseconds on a request is slow: its line is a warning. From 1 to 300000.",
        "1000",
    ),
    Setting(
        "ACCOUNTING_METRICS_PORT",
        "Port of a listener of its own that answers /metrics to Prometheus, for all workers "
        "together, in plain HTTP and without credentials.",
        "none: nothing is counted",
    ),
    Setting(
        "ACCOUNTING_METRICS_HOST",
        "Address of that listener; what it tells names no business and no partner, and is still "
        "for the operator's network alone.",
        "127.0.0.1",
    ),
    Setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "Where traces are sent to, as http://127.0.0.1:4318; the other settings of OpenTelemetry "
        "hold as well. The server must be installed with its extra `traces`.",
        "none: nothing is traced",
    ),
)


class SettingsError(Exception):
    """The settings cannot be used; the message lists every fault, several of them one per line."""

    def __init__(self, faults: list[str]) -> None:
        listed = f" {faults[0]}" if len(faults) == 1 else "".join(f"\n- {f}" for f in faults)
        super().__init__(f"The settings cannot be used:{listed}")
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreSettings:
    """Where the data is: all that commands other than `serve` need.

    A `database_url` of None means the PostgreSQL that comes along.
    """

    database_url: str | None = field(repr=False)  # It may carry a password.
    admin_database_url: str | None = field(repr=False)
    data_dir: Path
    documents: BlobStorage
    log_format: LogFormat | None
    log_level: LogLevel


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(StoreSettings):
    """Everything a server is started with. `warnings` are sentences for its log."""

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
    warnings: tuple[str, ...]


def load_stores(environ: Mapping[str, str] | None = None) -> StoreSettings:
    """Read what commands other than `serve` need; SettingsError lists all that is wrong."""
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
    """Read everything a server needs; SettingsError lists all that is wrong at once.

    In development without ACCOUNTING_SECRET_KEYS a secret is made and kept in the data folder.
    """
    reading = _reading(environ)
    stores = _stores(reading)
    origins = reading.origins()
    proxies = reading.proxies()
    public_url = reading.public_url()
    answer_seconds = reading.answer_seconds()
    leaving_seconds = reading.leaving_seconds(behind_proxy=bool(proxies))
    connections_per_address = reading.connections_per_address()
    requests_per_minute_partner = reading.requests_per_minute("PARTNER", "60000")
    requests_per_minute_business = reading.requests_per_minute("BUSINESS", "30000")
    database_connections = reading.database_connections()
    read_database_url = reading.read_database_url()
    read_lag_seconds = reading.read_lag_seconds()
    upkeep_seconds = reading.upkeep_seconds()
    slow_seconds = reading.slow_seconds()
    metrics_at = reading.metrics_at()
    traced = reading.traced()
    reading.check_tls(tls_cert, tls_key)
    reading.check_numbers(port=port, workers=workers)
    encrypted = tls_cert is not None or bool(proxies)
    warnings = reading.exposure(host, development=development, encrypted=encrypted)
    secrets = reading.secrets(stores.data_dir, development)
    _refuse(reading.faults)
    return Settings(
        database_url=stores.database_url,
        admin_database_url=stores.admin_database_url,
        data_dir=stores.data_dir,
        documents=stores.documents,
        log_format=stores.log_format,
        log_level=stores.log_level,
        host=host,
        port=port,
        workers=workers,
        development=development,
        tls_cert=tls_cert,
        tls_key=tls_key,
        secrets=secrets,
        allowed_origins=origins,
        public_url=public_url,
        answer_seconds=answer_seconds,
        leaving_seconds=leaving_seconds,
        connections_per_address=connections_per_address,
        requests_per_minute_partner=requests_per_minute_partner,
        requests_per_minute_business=requests_per_minute_business,
        database_connections=database_connections,
        read_database_url=read_database_url,
        read_lag_seconds=read_lag_seconds,
        upkeep_seconds=upkeep_seconds,
        slow_seconds=slow_seconds,
        metrics_at=metrics_at,
        traced=traced,
        forwarded_allow=proxies,
        warnings=warnings,
    )


def reader(settings: Settings) -> Callable[[], Settings]:
    """Return what reads everything anew for the same command line; it carries no secret."""
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
    names = [setting.name for setting in TABLE]
    return Environment(os.environ if environ is None else environ, names)


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
