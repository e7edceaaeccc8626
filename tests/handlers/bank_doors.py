"""The operations that match bank lines, each with a request that it would serve."""

from tests.handlers.bank_lines import LINES
from tests.handlers.doors import Door

_LINE, _NONE = LINES + "{}/", "bank_transaction_not_found"

BANK_DOORS = (
    Door("match_bank_transaction", "POST", f"{_LINE}match/", "match", "bank_transaction", _NONE),
    Door("unmatch_bank_transaction", "POST", f"{_LINE}unmatch/", "unmatch", "linked_line", _NONE),
    Door(
        "categorize_bank_transaction",
        "POST",
        f"{_LINE}categorize/",
        {"account": "6300"},
        "bank_transaction",
        _NONE,
    ),
    Door(
        "uncategorize_bank_transaction",
        "POST",
        f"{_LINE}uncategorize/",
        None,
        "bank_transaction",
        _NONE,
    ),
)
BANK_READS = (
    Door("suggest_matches", "GET", f"{_LINE}suggestions/", None, "bank_transaction", _NONE),
)
