"""The journey that each client makes: the expected output of its steps, and lost responses.

The connection breaks after the server has created the first invoice. For a client that repeats by
itself more responses are lost, and its tokens expire on the way.
"""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from tests import clock
from tests.api_server import ApiServer
from tools.clients.tests.answer_server import Between, ReceivedRequest
from tools.clients.tests.generators import ClientError

STEPS: Final[tuple[dict[str, Any], ...]] = (
    {"step": "business", "name": "Harbour Coffee Ltd", "currency": "GBP"},
    {"step": "customer", "name": "Blue Door Bakery"},
    {"step": "preview", "number": None, "total": 20_880},
    {
        "step": "invoice",
        "number": "INV-000001",
        "total": 20_880,
        "currency": "GBP",
        "status": "sent",
    },
    {"step": "walk", "seen": 5, "total": 104_400},
    {"step": "payment", "applied": 20_880, "remaining": 0},
    {"step": "paid", "status": "paid", "left": 0, "unpaid": 4},
    {"step": "refund", "status": "paid", "paid": 880},
    {"step": "payout", "expected": 19_700, "variance": 0},
    {"step": "document", "name": "order.csv", "size": 22},
    {"step": "bill", "vendor": "Raw Coffee Traders", "total": 9_000, "status": "received"},
    {"step": "bill payment", "allocated": 9_000},
    {"step": "bill paid", "status": "paid", "left": 0},
    {"step": "bank account", "account": "1100"},
    {"step": "statement", "imported": 1},
    {"step": "match", "amount": 19_700, "reconciled": True},
    {"step": "entry", "status": "approved", "debits": [1_200, 0]},
    {"step": "account", "name": "Payment processor clearing", "balance": 0},
    # The net of five invoices and of a refund; from it go 300 of fee, 9,000 to the vendor and 1,200
    # to the bank.
    {"step": "report", "revenue": [87_000, -733], "profit": 75_767},
    {"step": "export", "columns": 14},
    {"step": "integrity", "status": "green"},
    {"step": "missing", "status": 404, "code": "invoice_not_found", "fields": []},
    {"step": "invalid", "status": 400, "code": "validation_error", "fields": ["customer_id"]},
    {"step": "reused", "status": 422, "code": "idempotency_key_reused", "fields": []},
    {"step": "conflict", "status": 409, "code": "invoice_has_allocations", "fields": []},
)

# The first answer to each of these is lost. A lost write is sent again with its key.
LOST: Final = frozenset({"POST invoices"})
LOST_WRITES: Final = LOST | {"POST payments", "POST documents", "POST match"}
LOST_READS: Final = frozenset({"GET invoices", "GET chart-of-accounts", "POST token"})
# Two hours pass after this call, so that the token of the next one has expired.
AGEING: Final = "GET export"
FIRST_AFTER: Final = "GET integrity"


class BadLuck:
    """Loses answers of the server, and advances the time where `ageing` is set."""

    def __init__(self, losing: frozenset[str], *, ageing: bool) -> None:
        self.losing = set(losing)
        self.ageing = ageing

    def __call__(self, asked: ReceivedRequest) -> bool:
        call = name(asked)
        if self.ageing and call == AGEING:
            clock.SHIFT -= timedelta(hours=2)
        if call not in self.losing:
            return False
        self.losing.remove(call)
        return True


def travel(api_server: ApiServer, make: Callable[[list[str]], str], *, repeats: bool) -> int:
    """Run the journey of a client; return how many calls the server answered.

    `make` is called with an address, a partner and its key, and returns the client's output;
    `repeats` means that the client repeats calls and renews tokens by itself. Raises ClientError
    where a step had another result, or a lost write was not sent again with its key.
    """
    writes = LOST_WRITES if repeats else LOST
    luck = BadLuck(writes | LOST_READS if repeats else writes, ageing=repeats)
    partner = api_server.partner("Acme")
    with Between(api_server.url, luck) as between:
        compare(make([between.url, str(partner.partner_id), partner.api_key]))
    answers = [(name(asked), answer) for asked, answer in between.answers]
    replayed = [call for call, answer in answers if "idempotent-replayed" in answer.headers]
    expired = [call for call, answer in answers if answer.status == 401]
    if luck.losing or sorted(replayed) != sorted(writes):
        raise ClientError(f"not asked for: {sorted(luck.losing)}; replayed: {replayed}")
    if (FIRST_AFTER in expired) != repeats:
        raise ClientError(f"tokens that expired: {expired}")
    return len(answers)


def compare(said: str) -> None:
    """Raise ClientError unless the output of each step is the expected one."""
    steps = [json.loads(line) for line in said.splitlines()]
    wrong = [
        f"{step}\nnot {expected}"
        for step, expected in zip(steps, STEPS, strict=False)
        if step != expected
    ]
    if wrong or len(steps) != len(STEPS):
        raise ClientError("\n".join([f"{len(steps)} steps of {len(STEPS)}", *wrong]))


def name(asked: ReceivedRequest) -> str:
    """Return the method and the last word of the path of a call; a preview has its own name."""
    path, _, query = asked.path.partition("?")
    kind = "preview" if "preview=true" in query else asked.method
    words = [word for word in path.split("/") if re.fullmatch("[a-z-]+", word)]
    return f"{kind} {words[-1]}"
