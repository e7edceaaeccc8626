"""Manual journal entries: 6000 against 2400 on 31 March unless other facts are given."""

from typing import Any

from tests.builders.trade import Record
from tests.partner import Business

ENTRIES = "general-ledger/journal-entries/"
ON = "2025-03-31"


def debit(account: str, amount: int, **facts: Any) -> Record:
    return {"account": account, "debit_amount": amount, **facts}


def credit(account: str, amount: int, **facts: Any) -> Record:
    return {"account": account, "credit_amount": amount, **facts}


def entry_body(amount: int = 100, **facts: Any) -> Record:
    lines = [debit("6000", amount), credit("2400", amount)]
    return {"entry_date": ON, "lines": lines, **facts}


def drafted(shop: Business, amount: int = 100, **facts: Any) -> Record:
    """Create a draft."""
    return shop.made(ENTRIES, entry_body(amount, **facts))


def posted(shop: Business, amount: int = 100, **facts: Any) -> Record:
    """Create and post an entry."""
    return shop.made(ENTRIES, entry_body(amount, post=True, **facts))


def moved(shop: Business, entry: Record, move: str, **options: Any) -> Record:
    """Approve, reject or reverse an entry."""
    answer = shop.api.post(f"{ENTRIES}{entry['id']}/{move}/", **options)
    assert answer.status_code in (200, 201), answer.text
    made: Record = answer.json()
    return made


def marked(account: str, amount: int, code: str, part: str) -> Record:
    """Return a line for a tax return: a debit above zero, a credit below."""
    side = debit if amount > 0 else credit
    return side(account, abs(amount), tax_code=code, tax_part=part)


def taxed(shop: Business, on: str, *lines: Record) -> Record:
    """Post an entry of these lines, balanced by a line at the bank."""
    rest = sum(each.get("debit_amount", 0) - each.get("credit_amount", 0) for each in lines)
    bank = [credit("1100", rest) if rest > 0 else debit("1100", -rest)] if rest else []
    return shop.made(ENTRIES, {"entry_date": on, "lines": [*lines, *bank], "post": True})
