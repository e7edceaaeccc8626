"""The SDK for Python, from the wheel that partners install: its types, its retries, its calls."""

import re
import sys
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Final

from tests import clock
from tests.api_server import ApiServer
from tests.clients.answering import Asked, Between
from tests.clients.generators import GENERATED, Failed, PythonClient, run

README: Final = Path("clients/python/README.md")
SDK: Final = PythonClient(
    name="the SDK for Python",
    package="accounting_sdk",
    calls="sdk",
    known=(),
    words=(
        *("pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"),
        *("--find-links", "dist/sdk", "--target", "{folder}", "accounting-sdk"),
    ),
    strict=True,
)
SAID: Final = {
    *("businesses: [True]", "previewed: True", "INV-000001: 20880 GBP sent", "walked: 5"),
    *("filtered: 0", "paid: paid", "refunded: paid", "paid out, unexplained: 0", "bill: paid"),
    *("reconciled: True", "accounts: True, clearing: 0", "entries: 12", "exported: True"),
    *("filed: order.csv", "documents: 1"),
    *("books: green", "404 invoice_not_found", "400 ['customer_id', 'line_items']"),
    *("422 idempotency_key_reused sixth", "409 invoice_has_allocations, told: True"),
}
# The first answer to each of these never arrives.
LOST_WRITES: Final = frozenset({"POST invoices", "POST payments", "POST documents", "POST match"})
LOST: Final = LOST_WRITES | {"preview invoices", "GET invoices", "GET accounts", "POST token"}
AGEING: Final = "GET export"


class BadLuck:
    """Loses answers that the server has given, and lets two hours pass, in which tokens expire."""

    def __init__(self) -> None:
        self.lost: set[str] = set()

    def __call__(self, asked: Asked) -> bool:
        call = name(asked)
        if call == AGEING:
            clock.SHIFT -= timedelta(hours=2)
        if call not in LOST - self.lost:
            return False
        self.lost.add(call)
        return True


def name(asked: Asked) -> str:
    """Name a call by its method and the last word of its path; a preview is one of its own."""
    path, _, query = asked.path.partition("?")
    kind = "preview" if "preview=true" in query else asked.method
    return f"{kind} {re.findall(r'[a-z]+', path)[-1]}"


def check(programs: Path) -> int:
    """Install the wheel, check all its types, and its retries; return how many modules it has."""
    SDK.generate(programs)
    modules = SDK.check(programs)
    words = ("-m", "pytest", "-q", "tests/clients/check_sdk.py")
    run(sys.executable, *words, modules=GENERATED / SDK.calls)
    return modules


def call(programs: Path, api_server: ApiServer, caller: list[str]) -> str:
    """Let it make its calls with bad luck; return what it said.

    Raises Failed where the luck was good, or a write was done twice or not at all.
    """
    luck = BadLuck()
    with Between(api_server.url, luck) as between:
        said = SDK.call(programs, [between.url, *caller[1:]])
    answers = Counter((name(asked), answer.status) for asked, answer in between.answers)
    replayed = [
        name(asked) for asked, answer in between.answers if "idempotent-replayed" in answer.headers
    ]
    if luck.lost != LOST:
        raise Failed(f"not asked for: {sorted(LOST - luck.lost)}")
    if sorted(replayed) != sorted(LOST_WRITES):
        raise Failed(f"replayed: {replayed}")
    if not answers["GET integrity", 401]:
        raise Failed("no token expired")
    return said


def send_first_invoice(programs: Path, caller: list[str]) -> None:
    """Run what the README shows first; raise Failed unless it sends an invoice."""
    block = shown(README)
    given = "import sys; BASE_URL, PARTNER_ID, API_KEY = sys.argv[1:]\n"
    words = ("-c", given + block, *caller)
    said = run(programs / "python", *words, modules=GENERATED / SDK.calls)
    if said != "INV-000001 144000\n":
        raise Failed(f"{README} says {said}")


def shown(readme: Path) -> str:
    """Return what a README shows first of the SDK."""
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    return next(block for block in blocks if "accounting_sdk" in block)
