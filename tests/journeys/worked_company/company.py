"""A company whose clock moves from day to day, and its postings worked out by hand."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from functools import cached_property
from typing import Any, Self

import httpx

from tests.builders.bank import Bank
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.partner import Business, Partner


class Today:
    """A clock that shows noon, UTC, of its day."""

    def __init__(self, day: str) -> None:
        self.day = day

    def __call__(self) -> datetime:
        return datetime.combine(date.fromisoformat(self.day), time(12), UTC)


class KeyBusiness(Business):
    """A business that is called by API key: a token would expire from day to day."""

    @cached_property
    def api(self) -> httpx.Client:
        credentials = (str(self.partner.partner_id), self.partner.api_key)
        return self.partner.client(self.base_url, auth=credentials)


@dataclass(frozen=True)
class Posting:
    """The postings of an event by account, worked out by hand: debits above zero, in pence."""

    on: str
    known: str
    accrual: dict[str, int]
    cash: dict[str, int]


@dataclass
class Company:
    """The books of a company, and the postings of each event worked out by hand."""

    today: Today
    shop: Business
    postings: list[Posting] = field(default_factory=list)
    kept: dict[str, Record] = field(default_factory=dict)

    @classmethod
    def founded(cls, partner: Partner, today: Today, **facts: Any) -> "Company":
        """Open the books of a company whose fiscal year ends in September."""
        shop = partner.business(fiscal_year_end="2025-09-30", **facts)
        return cls(today, KeyBusiness(partner, shop.record))

    @cached_property
    def bank(self) -> Bank:
        """The bank account on ledger account 1100."""
        account = {"display_name": "Current account", "currency": "GBP"}
        return Bank(self.shop, self.shop.made("bank-accounts/", account))

    @property
    def at(self) -> str:
        return f"{self.today.day}T09:00:00Z"

    def on(self, day: str) -> Self:
        """Move the clock to a day."""
        self.today.day = day
        return self

    # ── The books by hand ──────────────────────────────────────────────────────────────────────

    def accrual(self, cash: dict[str, int] | None = None, on: str = "", **amounts: int) -> None:
        """Record the postings of an event; on cash there are none, unless they are given."""
        lines = by_code(amounts)
        assert sum(lines.values()) == sum((cash or {}).values()) == 0, (self.today.day, lines, cash)
        self.postings.append(Posting(on or self.today.day, self.today.day, lines, cash or {}))

    def both(self, on: str = "", **amounts: int) -> None:
        """Record the postings of an event, the same on both bases."""
        self.accrual(by_code(amounts), on, **amounts)

    def balances(self, basis: str, first: str, last: str, known: str = "9999") -> Counter[str]:
        """Return the balances by hand over some days, from the postings known on a day."""
        total: Counter[str] = Counter()
        for each in self.postings:
            if first <= each.on <= last and each.known <= known:
                total.update(each.accrual if basis == "accrual" else each.cash)
        return Counter({code: amount for code, amount in total.items() if amount})

    # ── What happens ───────────────────────────────────────────────────────────────────────────

    def by_hand(self, dated: str = "", **amounts: int) -> Record:
        """Post a manual entry, which counts on both bases."""
        lines = [
            debit(code, amount) if amount > 0 else credit(code, -amount)
            for code, amount in by_code(amounts).items()
        ]
        self.both(dated, **amounts)
        body = {"entry_date": dated or self.today.day, "lines": lines, "post": True}
        return self.shop.made(ENTRIES, body)

    def sells(self, buyer: Record, *lines: Record, **facts: Any) -> Record:
        """Send an invoice."""
        return self.shop.made(
            SALES.path, SALES.body(buyer, *lines, **{"sent_at": self.at, **facts})
        )

    def buys(self, vendor: Record, *lines: Record, **facts: Any) -> Record:
        """Receive a bill."""
        dated = {"bill_date": self.today.day, "received_at": self.at}
        return self.shop.made(PURCHASES.path, PURCHASES.body(vendor, *lines, **{**dated, **facts}))

    def is_paid(self, invoice: Record, amount: int, **parts: int) -> Record:
        """Record a customer's transfer; on cash it is split into `parts` of the invoice."""
        self.accrual(cash(on_1100=amount, **parts), on_1100=amount, on_1200=-amount)
        return self.pay(SALES, invoice, amount)

    def pays(self, bill: Record, amount: int, **parts: int) -> Record:
        """Pay a vendor by transfer; on cash the payment is split into `parts` of the bill."""
        self.accrual(cash(on_1100=-amount, **parts), on_2000=amount, on_1100=-amount)
        return self.pay(PURCHASES, bill, amount)

    def pay(self, side: Trade, document: Record, amount: int, **facts: Any) -> Record:
        """Record a payment of today, without postings by hand."""
        part = side.part(document, amount)
        party = document[side.party]
        return side.pay(self.shop, party, amount, part, payment_date=self.today.day, **facts)

    def applies(self, side: Trade, credit: Record, document: Record, amount: int) -> None:
        """Apply a credit to a document."""
        self.asks("PUT", side.of_credit(credit), {"allocations": [side.share(document, amount)]})

    def asks(self, method: str, path: str, body: Record) -> Record:
        """Send a change, and return the body of the answer."""
        answer = self.shop.api.request(method, path, json=body)
        assert answer.status_code in (200, 201), answer.text
        changed: Record = answer.json()
        return changed

    def shows(self, path: str, **asked: Any) -> Record:
        """Return a report."""
        answer = self.shop.api.get(path, params=asked)
        assert answer.status_code == 200, answer.text
        shown: Record = answer.json()
        return shown


def by_code(amounts: dict[str, int]) -> dict[str, int]:
    """Return amounts by account from names such as `on_4000`."""
    return {name.removeprefix("on_"): amount for name, amount in amounts.items()}


def cash(**amounts: int) -> dict[str, int]:
    """Return the postings of an event on the cash basis, by account."""
    return by_code(amounts)
