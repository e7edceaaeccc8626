import pickle
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from server.config import settings, settings_table
from server.config.settings import SettingsError

DAY = timedelta(days=1)
SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
OTHER = "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"

DEFAULTS = {
    "allowed_origins": frozenset(),
    "answer_seconds": 15,
    "connections_per_address": 500,
    "database_connections": 8,
    "database_url": None,
    "leaving_seconds": 0,
    "log_format": None,
    "log_level": "info",
    "metrics_at": None,
    "public_url": "",
    "slow_seconds": 1.0,
    "traced": False,
}
OPTIONAL = [each.name for each in settings_table.TABLE if each.name != "ACCOUNTING_SECRET_KEYS"]
PROXY = {"ACCOUNTING_FORWARDED_ALLOW_IPS": "10.0.0.7"}
METRICS = {"ACCOUNTING_METRICS_PORT": "9464"}
READ: list[tuple[dict[str, str], dict[str, Any]]] = [
    ({}, DEFAULTS),
    (dict.fromkeys(OPTIONAL, ""), DEFAULTS),
    (dict.fromkeys(OPTIONAL, " "), DEFAULTS),
    (
        {"ACCOUNTING_ALLOWED_ORIGINS": "https://a.example, http://localhost:5173,"},
        {"allowed_origins": {"https://a.example", "http://localhost:5173"}},
    ),
    (
        {"ACCOUNTING_FORWARDED_ALLOW_IPS": "10.0.0.1, fd00::/8"},
        {"forwarded_allow": (ip_network("10.0.0.1/32"), ip_network("fd00::/8"))},
    ),
    ({"ACCOUNTING_LOG_FORMAT": "text"}, {"log_format": "text"}),
    ({"ACCOUNTING_LOG_FORMAT": "json"}, {"log_format": "json"}),
    ({"ACCOUNTING_LOG_LEVEL": "debug"}, {"log_level": "debug"}),
    (METRICS, {"metrics_at": ("127.0.0.1", 9464)}),
    ({**METRICS, "ACCOUNTING_METRICS_HOST": "0.0.0.0"}, {"metrics_at": ("0.0.0.0", 9464)}),
    ({"ACCOUNTING_SLOW_MS": "250"}, {"slow_seconds": 0.25}),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, {"traced": True}),
    ({"ACCOUNTING_ANSWER_SECONDS": "2"}, {"answer_seconds": 2}),
    ({"ACCOUNTING_ANSWER_SECONDS": "100"}, {"answer_seconds": 100}),
    ({"ACCOUNTING_DATABASE_CONNECTIONS": "2"}, {"database_connections": 2}),
    ({"ACCOUNTING_DATABASE_CONNECTIONS": "100"}, {"database_connections": 100}),
    (PROXY, {"leaving_seconds": 5}),
    ({**PROXY, "ACCOUNTING_LEAVING_SECONDS": "0"}, {"leaving_seconds": 0}),
    ({"ACCOUNTING_LEAVING_SECONDS": "60"}, {"leaving_seconds": 60}),
    ({"ACCOUNTING_CONNECTIONS_PER_ADDRESS": "0"}, {"connections_per_address": 0}),
    ({"ACCOUNTING_CONNECTIONS_PER_ADDRESS": "100000"}, {"connections_per_address": 100_000}),
    (
        {"ACCOUNTING_PUBLIC_URL": "https://api.example.com/books/"},
        {"public_url": "https://api.example.com/books"},
    ),
]
FAULTS = {
    "ACCOUNTING_SECRET_KEYS": [
        (SECRET, "name:base64url"),
        (f"a:{SECRET}+", "name:base64url"),
        ("a:", "name:base64url"),
        (f"a b:{SECRET}", "name must be"),
        (f"a:{SECRET[:-4]}", "at least 32 bytes"),
        ("a:" + "A" * 44, "random"),
        (f"a:{SECRET},a:{OTHER}", "same name"),
        (f"a:{SECRET},b:{SECRET}", "are the same"),
        (f"a:{SECRET},b:{OTHER},c:{SECRET[:-3]}abc,d:{OTHER[:-3]}abc", "1 to 3"),
    ],
    "ACCOUNTING_ALLOWED_ORIGINS": [
        ("*", "no origin"),
        ("null", "no origin"),
        ("a.example", "no origin"),
        ("https://a.example/", "no origin"),
        ("https://A.example", "no origin"),
        ("https://*.example", "no origin"),
        ("https://u@a.example", "no origin"),
        ("https://a.example:0", "no origin"),
        ("https://a.example:70000", "no origin"),
        ("https://a.example:443", "leave out the port"),
        ("http://localhost:80", "leave out the port"),
        ("http://a.example", "must be https"),
        ("http://localhost.example", "must be https"),
    ],
    "ACCOUNTING_FORWARDED_ALLOW_IPS": [
        ("*", "neither"),
        ("proxy.example", "neither"),
        ("10.0.0.1/8", "neither"),
        ("0.0.0.0/0", "everybody"),
        ("::/0", "everybody"),
    ],
    "ACCOUNTING_PUBLIC_URL": [
        ("http://api.example.com", "must be https"),
        ("api.example.com", "must look like"),
        ("https://api.example.com/?a=b", "must look like"),
        ("https://", "must look like"),
    ],
    "ACCOUNTING_LOG_LEVEL": [("loud", "'loud' is none of debug, info, warning and error")],
    "ACCOUNTING_SLOW_MS": [("0", "no whole number from 1 to 300000")],
    "ACCOUNTING_METRICS_PORT": [("65536", "no whole number from 1 to 65535")],
    "ACCOUNTING_METRICS_HOST": [("::1", "of no use without its PORT")],
}
UNUSABLE = [(name, value, fault) for name in FAULTS for value, fault in FAULTS[name]]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "ACCOUNTING_SECRET_KEYS": f"a:{SECRET}"}


@pytest.fixture(scope="session")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    make_certificate(certificate, key)
    return certificate, key


def make_certificate(certificate: Path, key: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, private.public_key(), 1, now, now + DAY)
    signed = builder.sign(private, hashes.SHA256())
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    clear = serialization.NoEncryption()
    key.write_bytes(private.private_bytes(serialization.Encoding.PEM, form, clear))


def faults(environ: Mapping[str, str], **flags: Any) -> str:
    with pytest.raises(SettingsError) as caught:
        settings.load(environ, **flags)
    return "\n".join(caught.value.faults)


class TestStores:
    def test_no_variable_is_needed(self, tmp_path: Path) -> None:
        stores = settings.load_stores({"HOME": str(tmp_path)})
        assert (stores.database_url, stores.admin_database_url) == (None, None)
        assert stores.data_dir == tmp_path / ".local/share/accounting-platform"

    def test_the_administrator_uses_the_same_login_unless_told(self) -> None:
        url = "postgresql://a:b@db/books"
        stores = settings.load_stores({"DATABASE_URL": url})
        assert (stores.database_url, stores.admin_database_url) == (url, url)

    def test_the_administrator_may_have_a_login_of_its_own(self) -> None:
        owner = "postgres://owner@db/books"
        environ = {"DATABASE_URL": "postgresql://db/books", "ACCOUNTING_ADMIN_DATABASE_URL": owner}
        assert settings.load_stores(environ).admin_database_url == owner

    @pytest.mark.parametrize(
        "url",
        [
            "postgresql://u:p@one,two:5433/books?target_session_attrs=read-write",
            "postgresql://u@[::1]:5432,[::2]/books",
            "postgresql:///books?host=/run/one,/run/two",
        ],
    )
    def test_several_hosts_are_an_address(self, url: str) -> None:
        assert settings.load_stores({"DATABASE_URL": url}).database_url == url

    def test_an_administrator_without_a_database_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="of no use without DATABASE_URL"):
            settings.load_stores({"ACCOUNTING_ADMIN_DATABASE_URL": "postgresql://db/books"})

    def test_a_standby_may_be_named_and_how_far_behind_it_may_be(
        self, environ: dict[str, str]
    ) -> None:
        assert settings.load(environ).read_database_url is None
        url, standby = "postgresql://db/books", "postgresql://other/books"
        named = {**environ, "DATABASE_URL": url, "ACCOUNTING_READ_DATABASE_URL": standby}
        loaded = settings.load(named)
        assert (loaded.read_database_url, loaded.read_lag_seconds) == (standby, 10)
        assert settings.load({**named, "ACCOUNTING_READ_LAG_SECONDS": "2"}).read_lag_seconds == 2
        assert "geheim" not in repr(
            settings.load({**named, "ACCOUNTING_READ_DATABASE_URL": "postgresql://u:geheim@db/x"})
        )

    def test_a_standby_of_no_database_is_refused(self, environ: dict[str, str]) -> None:
        told = faults({**environ, "ACCOUNTING_READ_DATABASE_URL": "postgresql://db/books"})
        assert told == "ACCOUNTING_READ_DATABASE_URL is of no use without DATABASE_URL."

    @pytest.mark.parametrize(
        "url",
        [
            "mysql://u:geheim@db/x",
            "host=db password=geheim",
            "postgresql://u:geheim@db:port/x",
            "postgresql://u:geheim@one:5432,two:port/x",
        ],
    )
    def test_a_wrong_url_is_refused_without_repeating_it(self, url: str) -> None:
        with pytest.raises(SettingsError, match="DATABASE_URL must look like") as caught:
            settings.load_stores({"DATABASE_URL": url})
        assert "geheim" not in str(caught.value)

    def test_the_password_is_not_shown(self) -> None:
        stores = settings.load_stores({"DATABASE_URL": "postgresql://u:geheim@db/x"})
        assert "geheim" not in repr(stores)

    def test_the_users_data_folder_is_respected(self, tmp_path: Path) -> None:
        stores = settings.load_stores({"XDG_DATA_HOME": str(tmp_path), "HOME": "/nowhere"})
        assert stores.data_dir == tmp_path / "accounting-platform"

    def test_a_relative_data_home_is_ignored(self, tmp_path: Path) -> None:
        stores = settings.load_stores({"XDG_DATA_HOME": "data", "HOME": str(tmp_path)})
        assert stores.data_dir == tmp_path / ".local/share/accounting-platform"

    def test_a_given_folder_becomes_absolute(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert settings.load_stores({"ACCOUNTING_DATA_DIR": "d"}).data_dir == tmp_path / "d"

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(SettingsError, match="is not a folder"):
            settings.load_stores({"ACCOUNTING_DATA_DIR": str(tmp_path / "file")})


class TestSecrets:
    def test_a_ring_is_read_newest_first(self, environ: dict[str, str]) -> None:
        environ["ACCOUNTING_SECRET_KEYS"] = f" b:{OTHER}= , a:{SECRET}"
        ring = settings.load(environ).secrets
        assert [(secret.name, secret.key) for secret in ring] == [
            ("b", bytes(range(32, 64))),
            ("a", bytes(range(32))),
        ]

    def test_production_does_not_start_without(self, environ: dict[str, str]) -> None:
        del environ["ACCOUNTING_SECRET_KEYS"]
        assert "ACCOUNTING_SECRET_KEYS is required" in faults(environ)

    def test_the_recipe_in_the_message_works(self, environ: dict[str, str]) -> None:
        del environ["ACCOUNTING_SECRET_KEYS"]
        recipe = re.search(r"make one with: (.*)\.$", faults(environ), re.MULTILINE)
        assert recipe is not None
        made = subprocess.run(recipe[1], shell=True, check=True, capture_output=True, text=True)
        environ["ACCOUNTING_SECRET_KEYS"] = made.stdout.strip()
        assert len(settings.load(environ).secrets[0].key) == 32

    def test_settings_never_show_a_secret(self, environ: dict[str, str]) -> None:
        shown = repr(settings.load(environ))
        assert SECRET not in shown
        assert repr(bytes(range(32))) not in shown


class TestExposure:
    @pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
    def test_development_serves_loopback(self, environ: dict[str, str], host: str) -> None:
        loaded = settings.load(environ, host=host, development=True)
        assert loaded.development
        assert "plain HTTP" in loaded.warnings[0]

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "books.example", ""])
    @pytest.mark.parametrize("proxies", ["", "10.0.0.1"])
    def test_development_serves_nobody_else(
        self, environ: dict[str, str], host: str, proxies: str
    ) -> None:
        environ["ACCOUNTING_FORWARDED_ALLOW_IPS"] = proxies
        assert "--development serves this machine only" in faults(
            environ, host=host, development=True
        )

    def test_production_does_not_listen_to_the_world_in_clear(
        self, environ: dict[str, str]
    ) -> None:
        assert "is reached from outside" in faults(environ, host="0.0.0.0")

    def test_production_on_loopback_only_warns(self, environ: dict[str, str]) -> None:
        assert "https_required" in settings.load(environ).warnings[0]

    def test_a_proxy_in_front_is_enough(self, environ: dict[str, str]) -> None:
        environ["ACCOUNTING_FORWARDED_ALLOW_IPS"] = "10.0.0.1"
        assert settings.load(environ, host="0.0.0.0").warnings == ()

    def test_a_certificate_is_enough(self, environ: dict[str, str], tls: tuple[Path, Path]) -> None:
        loaded = settings.load(environ, host="0.0.0.0", tls_cert=tls[0], tls_key=tls[1])
        assert (loaded.tls_cert, loaded.tls_key, loaded.warnings) == (*tls, ())


class TestTls:
    def test_a_certificate_without_its_key_or_a_key_without_its_certificate_is_refused(
        self, environ: dict[str, str], tls: tuple[Path, Path]
    ) -> None:
        assert "go together" in faults(environ, tls_cert=tls[0])
        assert "go together" in faults(environ, tls_key=tls[1])

    def test_a_missing_file_is_refused(
        self, environ: dict[str, str], tls: tuple[Path, Path]
    ) -> None:
        missing = tls[0].with_name("missing")
        assert "cannot be used" in faults(environ, tls_cert=tls[0], tls_key=missing)

    def test_a_key_of_another_certificate_is_refused(
        self, environ: dict[str, str], tls: tuple[Path, Path], tmp_path: Path
    ) -> None:
        make_certificate(tmp_path / "cert.pem", tmp_path / "key.pem")
        assert "cannot be used" in faults(environ, tls_cert=tls[0], tls_key=tmp_path / "key.pem")


class RecordingEnvironment(dict[str, str]):
    def __init__(self, content: dict[str, str]) -> None:
        super().__init__(content)
        self.asked: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


class TestLoad:
    def test_everything_wrong_is_told_at_once(self) -> None:
        told = faults(
            {
                "DATABASE_URL": "mysql://db",
                "ACCOUNTING_SECRET_KEYS": "a:short,b:shorter",
                "ACCOUNTING_ALLOWED_ORIGINS": "*",
                "ACCOUNTING_FORWARDED_ALLOW_IPS": "everywhere",
                "ACCOUNTING_LOG_FORMAT": "yaml",
                "ACCOUNTING_ANSWER_SECONDS": "1.5",
            },
            host="0.0.0.0",
            port=70000,
            workers=0,
        )
        words = ["DATABASE_URL", "number 1", "number 2", "'*'", "'everywhere'", "'yaml'", "'1.5'"]
        words += ["--port", "--workers", "--host 0.0.0.0"]
        assert [word for word in words if word not in told] == []
        assert len(told.splitlines()) == len(words)

    def test_the_message_has_a_line_for_each_fault(self) -> None:
        error = SettingsError(["One.", "Two."])
        assert str(error) == "The settings cannot be used:\n- One.\n- Two."
        assert str(SettingsError(["One."])) == "The settings cannot be used: One."

    @pytest.mark.parametrize(
        ("name", "meant"),
        [
            ("ACCOUNTING_SECRET_KEY", "ACCOUNTING_SECRET_KEYS"),
            ("ACCOUNTING_ALLOWED_ORIGIN", "ACCOUNTING_ALLOWED_ORIGINS"),
            ("ACCOUNTING_ADMIN_DB_URL", "ACCOUNTING_ADMIN_DATABASE_URL"),
        ],
    )
    def test_a_misspelt_setting_is_told(
        self, environ: dict[str, str], name: str, meant: str
    ) -> None:
        assert f"{name} is no setting; {meant} is." in faults({**environ, name: "x"})

    def test_the_variables_of_others_are_left_alone(self, environ: dict[str, str]) -> None:
        assert settings.load({**environ, "ACCOUNTING_TEST_RUN": "1", "PATH": "/bin"})

    def test_the_table_names_every_variable_that_is_read(self, environ: dict[str, str]) -> None:
        recording = RecordingEnvironment(environ)
        settings.load(recording)
        assert recording.asked - {"HOME", "XDG_DATA_HOME"} == {s.name for s in settings_table.TABLE}

    @pytest.mark.parametrize(("given", "expected"), READ)
    def test_a_setting_is_read(
        self, environ: dict[str, str], given: dict[str, str], expected: dict[str, Any]
    ) -> None:
        loaded = settings.load({**environ, **given})
        assert {name: getattr(loaded, name) for name in expected} == expected

    @pytest.mark.parametrize(("name", "value", "fault"), UNUSABLE)
    def test_an_unusable_setting_is_refused_without_repeating_a_secret(
        self, environ: dict[str, str], name: str, value: str, fault: str
    ) -> None:
        message = faults({**environ, name: value})
        assert fault in message
        assert SECRET[:12] not in message

    @pytest.mark.parametrize("given", ["0", "301", "-1", "1e1", "²"])
    def test_numbers_have_limits(self, environ: dict[str, str], given: str) -> None:
        told = faults({**environ, "ACCOUNTING_ANSWER_SECONDS": given})
        assert told == f"ACCOUNTING_ANSWER_SECONDS: {given!r} is no whole number from 1 to 300."

    def test_the_process_environment_is_the_default(
        self, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("XDG_DATA_HOME", *(setting.name for setting in settings_table.TABLE)):
            monkeypatch.delenv(name, raising=False)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        assert settings.load() == settings.load(environ)

    def test_a_worker_reads_them_anew_for_the_same_command_line(
        self, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read = pickle.dumps(settings.reader(settings.load(environ, port=8001, workers=3)))
        assert environ["ACCOUNTING_SECRET_KEYS"].encode() not in read
        changed = {**environ, "ACCOUNTING_PUBLIC_URL": "https://api.example.com"}
        for name, value in changed.items():
            monkeypatch.setenv(name, value)
        assert pickle.loads(read)() == settings.load(changed, port=8001, workers=3)
