"""Matching of the demo's bank lines with payments, and posting of the bank's fee."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

Answer = dict[str, Any]
Call = Callable[[str, str, str, Answer | None], Awaitable[Answer]]

CERTAIN = {"amount", "reference"}
CHARGES = "6300"


async def reconcile(call: Call, lines: Iterable[Answer], results: Iterable[Answer]) -> None:
    """Match bank lines with certain suggestions, and post the last line, the bank's fee.

    The line before the fee stays unmatched, for people who try the demo. A matched line has no
    suggestions, so repeating this has no effect.
    """
    *most, _, fee = zip(lines, results, strict=True)
    for line, result in most:
        path = f"bank-transactions/{result['id']}/"
        found = await call("GET", f"{path}suggestions/", "", None)
        sure = [each for each in found["results"] if set(each["reasons"]) >= CERTAIN]
        if sure:
            chosen = {name: sure[0][name] for name in ("target_type", "target_id")}
            await call("POST", f"{path}match/", f"match {line['external_id']}", chosen)
    line, result = fee
    path = f"bank-transactions/{result['id']}/categorize/"
    await call("POST", path, f"categorize {line['external_id']}", {"account": CHARGES})
