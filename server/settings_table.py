"""Every setting of the environment, as documented for operators in the README and in the help."""

from typing import Final, NamedTuple


class Setting(NamedTuple):
    """A row of the table of settings; an integer setting has its allowed range."""

    name: str
    meaning: str
    default: str
    allowed: range | None = None


TABLE: Final = (
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
        range(1, 3601),
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
        range(1, 301),
    ),
    Setting(
        "ACCOUNTING_CONNECTIONS_PER_ADDRESS",
        "How many connections one address (of IPv6 a /64) may have open to each worker; what comes "
        "beyond is 429. 0 for any number, which named proxies always have.",
        "500",
        range(100_001),
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_PARTNER",
        "How many requests a partner may make in a minute, to all servers on one database together;"
        " what comes beyond is 429. 0 for any number.",
        "60000",
        range(1_000_000_000),
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_BUSINESS",
        "How many of them may be about one business. 0 for any number.",
        "30000",
        range(1_000_000_000),
    ),
    Setting(
        "ACCOUNTING_DATABASE_CONNECTIONS",
        "How many connections to the database each worker may have; one business uses half of them"
        " at most, and half of these to write. From 2 to 100.",
        "8",
        range(2, 101),
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
        range(604_801),
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
        range(1, 300_001),
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

WHOLE_NUMBERS: Final = {each.name: (each.default, each.allowed) for each in TABLE if each.allowed}
