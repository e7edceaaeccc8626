"""A side of trade in one business, with its ledger and one customer or vendor."""

from dataclasses import dataclass, replace
from typing import Any

import httpx

from tests.bookkeeping import Ledger
from tests.builders.trade import Record, Trade
from tests.partner import Business


@dataclass(frozen=True)
class Side:
    """The builders of a trade for one business and one of its customers or vendors."""

    shop: Business
    ledger: Ledger
    trade: Trade
    counterparty: Record

    @property
    def api(self) -> httpx.Client:
        return self.shop.api

    def somebody(self, **facts: Any) -> Record:
        return self.trade.somebody(self.shop, **facts)

    def with_new_party(self, **facts: Any) -> "Side":
        """Return the same side with a new customer or vendor."""
        return replace(self, counterparty=self.somebody(**facts))

    def made(self, path: str, body: Record) -> Record:
        return self.shop.made(path, body)

    def body(self, *lines: Record, **facts: Any) -> Record:
        return self.trade.body(self.counterparty, *lines, **facts)

    def payment_body(self, total: int = 1_000, **facts: Any) -> Record:
        return self.trade.payment_body(self.counterparty, total, **facts)

    def credit_body(self, *lines: Record, **facts: Any) -> Record:
        return self.trade.credit_body(self.counterparty, *lines, **facts)

    def draft(self, *lines: Record, **facts: Any) -> Record:
        """Create a draft of a document."""
        return self.shop.made(self.trade.path, self.body(*lines, **facts))

    def open(self, total: int = 1_000, **facts: Any) -> Record:
        return self.trade.open(self.shop, self.counterparty, total, **facts)

    def pay(self, total: int, *parts: Record, **facts: Any) -> Record:
        return self.trade.pay(self.shop, self.counterparty, total, *parts, **facts)

    def change(self, payment: Record, **changes: Any) -> Record:
        return self.trade.change(self.shop, payment, **changes)

    def credit(self, total: int, *shares: Record, **facts: Any) -> Record:
        return self.trade.credit(self.shop, self.counterparty, total, *shares, **facts)

    def credit_draft(self, *lines: Record, **facts: Any) -> Record:
        return self.shop.made(self.trade.credits, self.credit_body(*lines, **facts))

    def write_off(self, document: Record, **facts: Any) -> Record:
        return self.trade.write_off(self.shop, document, **facts)

    def read(self, document: Record) -> Record:
        return self.trade.read(self.shop, document)

    def status_of(self, document: Record) -> tuple[str, int]:
        return self.trade.status_of(self.shop, document)
