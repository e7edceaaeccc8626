"""Parsing of each setting, with a list of all faults, for `server/config/settings.py`."""

import base64
import re
import ssl
from collections.abc import Mapping
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from access.master_secrets import MasterSecret, refuse_unsound_ring
from libraries.outbound.proxies import Proxy, parse_proxy
from persistence.files.blobs import BlobStorage, Folder
from persistence.files.buckets import Bucket
from server.config import development_secrets
from server.config.client_addresses import Network, is_loopback
from server.config.settings_table import TABLE, WHOLE_NUMBERS

LogFormat = Literal["json", "text"]
LogLevel = Literal["debug", "info", "warning", "error"]

_ORIGIN: Final = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")
_WHOLE_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_HOW_TO_MAKE_A_SECRET: Final = (
    "make one with: python3 -c \"import secrets; print('a:' + secrets.token_urlsafe(32))\""
)


def _is_host(text: str) -> bool:
    """Return whether a host of an address has a valid port, or none."""
    try:
        return urlsplit(f"//{text}").port != 0
    except ValueError:
        return False


class Environment:
    """A reader of the environment that collects faults instead of stopping at the first."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.faults: list[str] = []
        self._environ = environ
        names = [setting.name for setting in TABLE]
        # A misspelt setting would otherwise be ignored silently.
        for name in environ:
            if name.startswith("ACCOUNTING_") and name not in names:
                for meant in get_close_matches(name, names, n=1, cutoff=0.85):
                    self.faults.append(f"{name} is no setting; {meant} is.")

    def whole_number(self, name: str) -> int:
        """Return the value of an integer setting."""
        return self._whole_number(name, *WHOLE_NUMBERS[name])

    def database_urls(self) -> tuple[str | None, str | None]:
        """Return the server's and the administrator's URL; None for embedded PostgreSQL."""
        url = self._database_url("DATABASE_URL")
        admin_url = self._database_url("ACCOUNTING_ADMIN_DATABASE_URL")
        if admin_url is not None and url is None:
            self.faults.append("ACCOUNTING_ADMIN_DATABASE_URL is of no use without DATABASE_URL.")
        return url, admin_url or url

    def read_database_url(self) -> str | None:
        """Return the URL of the standby for reads; None if there is none."""
        url = self._database_url("ACCOUNTING_READ_DATABASE_URL")
        if url is not None and not self._text("DATABASE_URL"):
            self.faults.append("ACCOUNTING_READ_DATABASE_URL is of no use without DATABASE_URL.")
        return url

    def data_dir(self) -> Path:
        """Return the data folder, absolute; it need not exist yet."""
        given = self._text("ACCOUNTING_DATA_DIR")
        if given:
            folder = Path(given).absolute()
        else:
            # The XDG specification requires that a relative XDG_DATA_HOME is ignored.
            shared = Path(self._text("XDG_DATA_HOME"))
            home = Path(self._text("HOME") or Path.home())
            base = shared if shared.is_absolute() else home / ".local" / "share"
            folder = base / "accounting-platform"
        self._check_folder("ACCOUNTING_DATA_DIR", folder)
        return folder

    def documents(self, data_dir: Path) -> BlobStorage:
        """Return the storage of files: a bucket if one is named, else a folder."""
        bucket = self._text("ACCOUNTING_S3_BUCKET")
        if bucket:
            return self._bucket(bucket)
        for name in ("ENDPOINT", "REGION", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            if self._text(f"ACCOUNTING_S3_{name}"):
                self.faults.append(f"ACCOUNTING_S3_{name} is of no use without its BUCKET.")
        given = self._text("ACCOUNTING_DOCUMENTS_DIR")
        folder = Path(given).absolute() if given else data_dir / "documents"
        self._check_folder("ACCOUNTING_DOCUMENTS_DIR", folder)
        return Folder(folder)

    def public_url(self) -> str:
        """Return the base address of links; empty if they are relative."""
        address = self._address("ACCOUNTING_PUBLIC_URL")
        host = urlsplit(address).hostname or ""
        if address.startswith("http://") and not is_loopback((host, None)):
            self.faults.append(f"ACCOUNTING_PUBLIC_URL: {address!r} must be https.")
        return address

    def leaving_seconds(self, *, behind_proxy: bool) -> int:
        """Return the number of seconds for which a stopping server serves on as not ready."""
        default = "5" if behind_proxy else "0"
        return self._whole_number("ACCOUNTING_LEAVING_SECONDS", default, range(61))

    def log_format(self) -> LogFormat | None:
        """Return the format of the log; None to decide by the terminal."""
        match self._text("ACCOUNTING_LOG_FORMAT"):
            case "":
                return None
            case ("json" | "text") as given:
                return given
            case other:
                self.faults.append(f"ACCOUNTING_LOG_FORMAT: {other!r} is neither json nor text.")
                return None

    def log_level(self) -> LogLevel:
        """Return the minimum level of the log."""
        match self._text("ACCOUNTING_LOG_LEVEL"):
            case "":
                return "info"
            case ("debug" | "info" | "warning" | "error") as given:
                return given
            case other:
                self.faults.append(
                    f"ACCOUNTING_LOG_LEVEL: {other!r} is none of debug, info, warning and error."
                )
                return "info"

    def metrics_at(self) -> tuple[str, int] | None:
        """Return the host and port of the metrics endpoint; None if it is off."""
        port = self._text("ACCOUNTING_METRICS_PORT")
        host = self._text("ACCOUNTING_METRICS_HOST")
        if not port:
            if host:
                self.faults.append("ACCOUNTING_METRICS_HOST is of no use without its PORT.")
            return None
        number = self._whole_number("ACCOUNTING_METRICS_PORT", "", range(1, 65_536))
        return host or "127.0.0.1", number

    def traced(self) -> bool:
        """Return whether traces are exported; OpenTelemetry reads its other settings."""
        return bool(self._text("OTEL_EXPORTER_OTLP_ENDPOINT"))

    def secrets(self, data_dir: Path, development: bool) -> tuple[MasterSecret, ...]:
        """Return the ring of token secrets, newest first; in development a secret is created."""
        name = "ACCOUNTING_SECRET_KEYS"
        parts = self._list(name)
        if parts:
            return self._ring(name, parts)
        if not development:
            self.faults.append(
                f"{name} is required, except with --development; {_HOW_TO_MAKE_A_SECRET}."
            )
            return ()
        try:
            kept = development_secrets.read_or_make(data_dir)
        except OSError as fault:
            self.faults.append(
                "ACCOUNTING_DATA_DIR: the development secret cannot be kept in "
                f"{data_dir}: {fault}."
            )
            return ()
        path = development_secrets.path_in(data_dir)
        return self._ring(f"The development secret (remove {path} to get a new one)", [kept])

    def origins(self) -> frozenset[str]:
        """Return the origins whose pages may read answers, as browsers write them."""
        name = "ACCOUNTING_ALLOWED_ORIGINS"
        origins = self._list(name)
        for origin in origins:
            shape = _ORIGIN.fullmatch(origin)
            if shape is None or int(shape["port"] or 1) > 65535:
                self.faults.append(
                    f"{name}: {origin!r} is no origin. Write it as a browser does, in lower case "
                    "and without a path: https://app.example.com."
                )
            elif (shape["scheme"], shape["port"]) in (("https", "443"), ("http", "80")):
                self.faults.append(f"{name}: browsers leave out the port of {origin!r}; do so.")
            elif shape["scheme"] == "http" and not is_loopback((shape["host"].strip("[]"), None)):
                self.faults.append(f"{name}: {origin!r} must be https.")
        return frozenset(origins)

    def proxies(self) -> tuple[Network, ...]:
        """Return the networks of trusted proxies."""
        name = "ACCOUNTING_FORWARDED_ALLOW_IPS"
        networks = []
        for part in self._list(name):
            try:
                network = ip_network(part)
            except ValueError:
                self.faults.append(f"{name}: {part!r} is neither an address nor a network.")
                continue
            if network.prefixlen == 0:
                self.faults.append(f"{name}: {part!r} would believe everybody; name the proxies.")
            networks.append(network)
        return tuple(networks)

    def webhook_proxy(self) -> Proxy | None:
        """Return the proxy through which webhooks are sent; None if they are sent directly."""
        name = "ACCOUNTING_WEBHOOK_PROXY"
        given = self._text(name)
        try:
            return parse_proxy(given) if given else None
        except ValueError:  # The value is not repeated, since it may contain a password.
            self.faults.append(f"{name} must look like http://user:password@host:port.")
            return None

    def check_tls(self, certificate: Path | None, key: Path | None) -> None:
        """Load certificate and key, to find a mismatch at start-up."""
        if certificate is None and key is None:
            return
        if certificate is None or key is None:
            self.faults.append("--tls-cert and --tls-key go together.")
            return
        try:
            # An empty passphrase, since a server that restarts cannot prompt for it.
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key, password="")
        except OSError as fault:
            self.faults.append(f"--tls-cert and --tls-key cannot be used: {fault}.")

    def check_numbers(self, *, port: int, workers: int) -> None:
        """Check the numbers of the command line."""
        if not 0 <= port <= 65535:
            self.faults.append("--port must be between 0 and 65535.")
        if workers < 1:
            self.faults.append("--workers must be 1 or more.")

    def exposure(self, host: str, *, development: bool, encrypted: bool) -> tuple[str, ...]:
        """Check whether the server may listen on this address; return warnings for its log."""
        loopback = is_loopback((host, None))
        if development and not loopback:
            self.faults.append(f"--development serves this machine only; --host {host} does not.")
        elif development and not encrypted:
            return ("Serving plain HTTP, because this is a development server on loopback.",)
        elif not encrypted and loopback:
            # This is harmless, and an operator can see the error on the machine itself.
            return (
                "Every request will be refused with https_required: there is neither --tls-cert "
                "nor ACCOUNTING_FORWARDED_ALLOW_IPS.",
            )
        elif not encrypted:
            # It would answer 403 to all requests, while partners send their keys in clear text.
            # It is safer not to start.
            self.faults.append(
                f"--host {host} is reached from outside: give --tls-cert and --tls-key, or name "
                "the proxy that ends https in ACCOUNTING_FORWARDED_ALLOW_IPS."
            )
        return ()

    def _check_folder(self, name: str, folder: Path) -> None:
        """Check an existing folder; a missing folder is created later."""
        try:
            if folder.exists() and not folder.is_dir():
                self.faults.append(f"{name}: {folder} is not a folder.")
        except OSError as fault:
            self.faults.append(f"{name}: {folder} cannot be used: {fault.strerror}.")

    def _text(self, name: str) -> str:
        return self._environ.get(name, "").strip()

    def _whole_number(self, name: str, default: str, allowed: range) -> int:
        given = self._text(name) or default
        if _WHOLE_NUMBER.fullmatch(given) is None or int(given) not in allowed:
            self.faults.append(
                f"{name}: {given!r} is no whole number from {allowed[0]} to {allowed[-1]}."
            )
            return 0
        return int(given)

    def _list(self, name: str) -> list[str]:
        return [part.strip() for part in self._text(name).split(",") if part.strip()]

    def _database_url(self, name: str) -> str | None:
        url = self._text(name)
        if not url:
            return None
        scheme, _, rest = url.partition("://")
        hosts = re.split("[/?#]", rest, maxsplit=1)[0].rpartition("@")[2].split(",")
        if scheme not in ("postgresql", "postgres") or not all(map(_is_host, hosts)):
            # The value is not repeated, since it may contain a password.
            self.faults.append(f"{name} must look like postgresql://user:password@host:port/name.")
        return url

    def _bucket(self, name: str) -> Bucket:
        if self._text("ACCOUNTING_DOCUMENTS_DIR"):
            self.faults.append(
                "ACCOUNTING_DOCUMENTS_DIR and ACCOUNTING_S3_BUCKET are two places; name one."
            )
        if _BUCKET.fullmatch(name) is None:
            self.faults.append(f"ACCOUNTING_S3_BUCKET: {name!r} is no name of a bucket.")
        keys = {}
        for key in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            keys[key.lower()] = self._text(f"ACCOUNTING_S3_{key}")
            if not keys[key.lower()]:
                self.faults.append(f"ACCOUNTING_S3_{key} is required beside ACCOUNTING_S3_BUCKET.")
        region = self._text("ACCOUNTING_S3_REGION") or "us-east-1"
        endpoint = self._address("ACCOUNTING_S3_ENDPOINT")
        return Bucket(
            name=name,
            endpoint=endpoint or f"https://s3.{region}.amazonaws.com",
            region=region,
            **keys,
        )

    def _address(self, name: str) -> str:
        """Return an address without its trailing slash."""
        address = self._text(name).rstrip("/")
        if not address:
            return ""
        try:
            parts = urlsplit(address)
            good = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
            bare = not (parts.query or parts.fragment or parts.username)
        except ValueError:
            good = bare = False
        if good and bare:
            return address
        self.faults.append(f"{name} must look like https://host.example.com.")
        return ""

    def _ring(self, label: str, parts: list[str]) -> tuple[MasterSecret, ...]:
        """Parse a ring. Messages never repeat a secret, not even an invalid one."""
        ring = []
        for position, part in enumerate(parts, 1):
            try:
                ring.append(_secret(part))
            except ValueError as fault:
                self.faults.append(f"{label}, number {position}: {fault}; {_HOW_TO_MAKE_A_SECRET}.")
        if len(ring) == len(parts):
            try:
                refuse_unsound_ring(ring)
            except ValueError as fault:
                self.faults.append(f"{label}: {fault}.")
        return tuple(ring)


def _secret(part: str) -> MasterSecret:
    name, _, encoded = part.partition(":")
    bare = encoded.rstrip("=")
    # A length of 4n + 1 characters encodes no whole bytes: the secret was truncated.
    if _BASE64URL.fullmatch(bare) is None or len(bare) % 4 == 1:
        raise ValueError("it must be written name:base64url")
    return MasterSecret(name, base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
