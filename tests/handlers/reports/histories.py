"""A history of random sales, purchases, payments, credits, write-offs and entries by hand."""

import random
from datetime import date, timedelta

from tests.builders.reports import booked
from tests.builders.trade import PURCHASES, SALES, Record, Trade, line
from tests.partner import Partner

FIRST = date(2024, 11, 1)
DAYS = 240
BY_HAND = (
    *("1000", "1100", "1101", "1110", "1150", "1400", "1600", "1610", "1650", "2400", "2500"),
    *("3000", "3300", "4000", "4500", "4600", "5000", "6000", "7000", "8000"),
)
YEAR_ENDS = ("2000-12-31", "2000-03-31", "2000-02-29", "2000-01-14")


class History:
    """A business to which things happen at random, one day after another."""

    def __init__(self, partner: Partner, seed: int) -> None:
        self.chance = random.Random(seed)
        self.shop = partner.business(fiscal_year_end=self.chance.choice(YEAR_ENDS))
        for code, subtype in (("1110", "current_assets"), ("1610", "non_current_assets")):
            parent = "1100" if code == "1110" else "1600"
            body = {"code": code, "name": code, "account_subtype": subtype}
            self.shop.made(f"general-ledger/chart-of-accounts/{parent}/children/", body)
        for name in ("Current account", "Savings"):  # The second one stands on 1101.
            self.shop.made("bank-accounts/", {"display_name": name, "currency": "GBP"})
        self.parties = {SALES: self.shop.customer(), PURCHASES: self.shop.vendor()}
        self.open: dict[Trade, list[Record]] = {SALES: [], PURCHASES: []}
        self.day = FIRST

    def play(self, steps: int) -> None:
        moves = (self.document, self.document, self.payment, self.payment, self.credit, self.entry)
        for _ in range(steps):
            self.day += timedelta(days=self.chance.randint(0, 2 * DAYS // steps))
            self.chance.choice(moves)()
        for trade in (SALES, PURCHASES):
            for document in self.open[trade][:3]:
                if trade.status_of(self.shop, document)[1]:
                    trade.write_off(self.shop, document)

    def document(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        lines = [line(self.amount(), tax_rate=self.chance.choice((0, 5, 20))) for _ in "ab"]
        facts = {trade.moment: f"{self.day}T09:00:00Z", **trade.on(str(self.day))}
        body = trade.body(self.parties[trade], *lines, **facts)
        self.open[trade].append(self.shop.made(trade.path, body))

    def payment(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        parts = []
        for document in self.chance.sample(self.open[trade], min(2, len(self.open[trade]))):
            _, left = trade.status_of(self.shop, document)
            if left:
                parts.append(trade.part(document, self.chance.randint(1, left)))
        total = sum(each["amount_cents"] for each in parts) + self.chance.choice((0, 700))
        if total:
            facts = {"payment_date": str(self.day)}
            trade.pay(self.shop, self.parties[trade], total, *parts, **facts)

    def credit(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        amount = self.amount()
        shares = []
        for document in self.open[trade][-1:]:
            _, left = trade.status_of(self.shop, document)
            if left:
                shares.append(trade.share(document, min(left, amount)))
        opened = {trade.moment: f"{self.day}T09:00:00Z"}
        trade.credit(self.shop, self.parties[trade], amount, *shares, **opened)

    def entry(self) -> None:
        taken, given = self.chance.sample(BY_HAND, 2)
        booked(self.shop, str(self.day), taken, given, self.amount())

    def amount(self) -> int:
        return self.chance.randint(1, 99_999)

    def some_days(self, count: int) -> list[str]:
        last = (self.day - FIRST).days
        return sorted(str(FIRST + timedelta(self.chance.randint(0, last))) for _ in range(count))
