"""The SDKs as partners install them: their types, their retries, their calls."""

import re
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from tests import clock
from tests.api_server import ApiServer
from tests.clients.answering import Asked, Between
from tests.clients.generators import GENERATED, Failed, PythonClient, run
from tests.partner import Partner

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
# The first answer to each of these never arrives, and those of writes are asked for again.
LOST_WRITES: Final = frozenset({"POST invoices", "POST payments", "POST documents", "POST match"})
LOST_READS: Final = frozenset({"GET invoices", "GET chart-of-accounts", "POST token"})
AGEING: Final = "GET export"

TYPESCRIPT: Final = Path("dist/sdk-typescript/source")
SAID_IN_TYPESCRIPT: Final = {
    *("INV-000001: 20880 GBP sent", "walked: 5", "paid: paid", "exported: true", "books: green"),
    *("404 invoice_not_found", "0 no_answer: a DELETE has no key"),
}
LOST_IN_TYPESCRIPT: Final = frozenset({"GET invoices", "POST token", "DELETE invoices"})


class BadLuck:
    """Loses answers that the server has given, and lets two hours pass, in which tokens expire."""

    def __init__(self, losing: frozenset[str]) -> None:
        self.losing = set(losing)

    def __call__(self, asked: Asked) -> bool:
        call = name(asked)
        if call == AGEING:
            clock.SHIFT -= timedelta(hours=2)
        if call not in self.losing:
            return False
        self.losing.remove(call)
        return True


def name(asked: Asked) -> str:
    """Name a call by its method and the last word of its path; a preview is one of its own."""
    path, _, query = asked.path.partition("?")
    kind = "preview" if "preview=true" in query else asked.method
    words = [word for word in path.split("/") if re.fullmatch("[a-z-]+", word)]
    return f"{kind} {words[-1]}"


def check(programs: Path) -> int:
    """Install the wheel, check all its types, and its retries; return how many modules it has."""
    SDK.generate(programs)
    modules = SDK.check(programs)
    words = ("-m", "pytest", "-q", "tests/clients/check_sdk.py")
    run(sys.executable, *words, modules=GENERATED / SDK.calls)
    return modules


def call(programs: Path, api_server: ApiServer, caller: list[str]) -> str:
    """Let the SDK for Python make its calls with bad luck; return what it said."""
    return unlucky(api_server, caller, LOST_WRITES, LOST_READS, partial(SDK.call, programs))


def call_typescript(api_server: ApiServer, caller: list[str]) -> str:
    """Let the SDK for TypeScript make its calls with bad luck; return what it said."""
    writes = frozenset({"POST invoices", "POST payments"})
    journey = TYPESCRIPT / "journey.js"
    return unlucky(
        api_server, caller, writes, LOST_IN_TYPESCRIPT, lambda words: run("node", journey, *words)
    )


def unlucky(
    api_server: ApiServer,
    caller: list[str],
    writes: frozenset[str],
    others: frozenset[str],
    calls: Callable[[list[str]], str],
) -> str:
    """Let a client make its calls while the first answers to some of them are lost.

    Raises Failed where one was not lost, or a lost write was not asked for again with its key.
    """
    luck = BadLuck(writes | others)
    with Between(api_server.url, luck) as between:
        said = calls([between.url, *caller[1:]])
    answers = [(name(asked), answer) for asked, answer in between.answers]
    replayed = [call for call, answer in answers if "idempotent-replayed" in answer.headers]
    expired = [call for call, answer in answers if answer.status == 401]
    if luck.losing:
        raise Failed(f"not asked for: {sorted(luck.losing)}")
    if sorted(replayed) != sorted(writes):
        raise Failed(f"replayed: {replayed}")
    if "GET integrity" not in expired:
        raise Failed("no token expired")
    return said


def send_first_invoice(programs: Path, partner: Partner) -> None:
    """Run what the README shows first; raise Failed unless it sends an invoice."""
    given = "import sys; BASE_URL, PARTNER_ID, API_KEY, BUSINESS_ID = sys.argv[1:]\n"
    business = partner.business()
    words = (partner.url, str(partner.partner_id), partner.api_key, business.id)
    block = given + shown(README)
    said = run(programs / "python", "-c", block, *words, modules=GENERATED / SDK.calls)
    if said != "INV-000001\n":
        raise Failed(f"{README} says {said}")


def shown(readme: Path) -> str:
    """Return what a README shows first of the SDK."""
    blocks = re.findall(r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.S)
    return next(block for block in blocks if "accounting_sdk" in block)
