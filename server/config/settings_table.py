"""Every setting of the environment, as documented in docs/settings.md and in the help."""

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
        "The database: PostgreSQL 15 or newer, as postgresql://user:password@host:port/database; "
        "several hosts are separated by commas.",
        "the bundled PostgreSQL (the extra embedded), in the data folder",
    ),
    Setting(
        "ACCOUNTING_ADMIN_DATABASE_URL",
        "The same database with the login that owns the schema, not through a pooler; migrations "
        "use it.",
        "DATABASE_URL",
    ),
    Setting(
        "ACCOUNTING_READ_DATABASE_URL",
        "A standby of the database, with the same login. Reports, exports, and lists with "
        "consistency=eventual read from it.",
        "none: everything is read from DATABASE_URL",
    ),
    Setting(
        "ACCOUNTING_READ_LAG_SECONDS",
        "The largest lag in seconds at which the standby is read. From 1 to 3600.",
        "10",
        range(1, 3601),
    ),
    Setting(
        "ACCOUNTING_DATA_DIR",
        "Folder for the bundled PostgreSQL, documents, documentation pages, development secrets.",
        "accounting-platform in XDG_DATA_HOME, or in ~/.local/share",
    ),
    Setting(
        "ACCOUNTING_SECRET_KEYS",
        "Secrets that sign tokens: 1 to 3, newest first, separated by commas, each as "
        "name:base64url of 32 random bytes or more. To rotate, add a new one at the end and "
        "restart all servers; then put it in front and restart them again; remove the old one two "
        "hours later, once `accounting_webhook_secrets` has no value for it. API keys do not "
        "depend on them; secrets of webhook endpoints are encrypted under them, and under the "
        "newest again within a minute.",
        "none: required; in development one is created in the data folder",
    ),
    Setting(
        "ACCOUNTING_ALLOWED_ORIGINS",
        "Origins of web pages that may read answers (CORS), separated by commas, each as "
        "https://app.example.com; plain http for loopback only.",
        "none; in development every loopback origin as well",
    ),
    Setting(
        "ACCOUNTING_FORWARDED_ALLOW_IPS",
        "Addresses or networks, separated by commas, of the proxies whose X-Forwarded-Proto and "
        "X-Forwarded-For are trusted.",
        "none",
    ),
    Setting(
        "ACCOUNTING_PUBLIC_URL",
        "Public address of the server, as https://api.example.com; links to stored documents "
        "begin with it.",
        "none: links are relative",
    ),
    Setting(
        "ACCOUNTING_DOCUMENTS_DIR",
        "Folder for the files of stored documents; all servers must share it.",
        "documents in the data folder",
    ),
    Setting(
        "ACCOUNTING_S3_BUCKET",
        "Bucket for the files of stored documents, instead of a folder; any store with the S3 "
        "protocol.",
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
        "Id of the access key of the bucket; it must read, write, delete and list.",
        "none: required with a bucket",
    ),
    Setting(
        "ACCOUNTING_S3_SECRET_ACCESS_KEY",
        "The secret access key of the bucket.",
        "none: required with a bucket",
    ),
    Setting(
        "ACCOUNTING_ANSWER_SECONDS",
        "The longest time in seconds until an answer begins, not counting the arrival of the body;"
        " after it the answer is 503. From 1 to 300.",
        "15",
        range(1, 301),
    ),
    Setting(
        "ACCOUNTING_CONNECTIONS_PER_ADDRESS",
        "The most connections of one address (for IPv6, of a /64 network) to each worker; beyond "
        "it the answer is 429. 0 for no limit. Named proxies have no limit.",
        "500",
        range(100_001),
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_PARTNER",
        "The most requests of one partner in a minute, to all servers on one database together;"
        " beyond it the answer is 429. 0 for no limit.",
        "60000",
        range(1_000_000_000),
    ),
    Setting(
        "ACCOUNTING_REQUESTS_PER_MINUTE_BUSINESS",
        "The most requests about one business in a minute, counted alike. 0 for no limit.",
        "30000",
        range(1_000_000_000),
    ),
    Setting(
        "ACCOUNTING_DATABASE_CONNECTIONS",
        "The most database connections of each worker. One business uses at most half of them, and"
        " half of these for writes. From 2 to 100.",
        "8",
        range(2, 101),
    ),
    Setting(
        "ACCOUNTING_LEAVING_SECONDS",
        "The seconds for which a server that is stopping still serves while /health/ready answers"
        " 503, so that a load balancer removes it first. From 0 to 60.",
        "5 if a proxy is named, else 0",
    ),
    Setting(
        "ACCOUNTING_UPKEEP_SECONDS",
        "The seconds between two rounds of upkeep, which one server does for all: it writes the"
        " events of overdue documents, removes old answers, old deliveries of webhooks and files"
        " that no record names, and seals audit trails. 0 for never; then run accounting"
        " sweep-documents by a timer. From 0 to 604800.",
        "3600",
        range(604_801),
    ),
    Setting(
        "ACCOUNTING_WEBHOOK_PROXY",
        "HTTP proxy through which webhooks are sent, as http://user:password@host:port. The server "
        "resolves and checks each host itself, and asks the proxy for a tunnel (CONNECT) to the "
        "checked address. The settings HTTP_PROXY and alike have no effect on webhooks.",
        "none: webhooks are sent directly",
    ),
    Setting(
        "ACCOUNTING_LOG_FORMAT",
        "Format of the log: text for people, or json for one JSON object per line.",
        "text on a terminal, json elsewhere",
    ),
    Setting(
        "ACCOUNTING_LOG_LEVEL",
        "The lowest level that is logged: debug (each round trip to the database, with the text of "
        "its statements and no values), info (a line for each request), warning (slow and failed "
        "requests) or error.",
        "info",
    ),
    Setting(
        "ACCOUNTING_SLOW_MS",
        "Requests that take so many milliseconds or more are warnings. From 1 to 300000.",
        "1000",
        range(1, 300_001),
    ),
    Setting(
        "ACCOUNTING_METRICS_PORT",
        "Port of a separate listener that answers /metrics to Prometheus for all workers, in plain "
        "HTTP and without credentials.",
        "none: no metrics",
    ),
    Setting(
        "ACCOUNTING_METRICS_HOST",
        "Address of that listener. Metrics name no business and no partner, but belong to the "
        "operator's own network.",
        "127.0.0.1",
    ),
    Setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "Address to which traces are sent, as http://127.0.0.1:4318. The other settings of "
        "OpenTelemetry apply, too. The server must be installed with the extra `traces`.",
        "none: no traces",
    ),
)

WHOLE_NUMBERS: Final = {each.name: (each.default, each.allowed) for each in TABLE if each.allowed}
