"""A random history of trade, vendor refunds and manual entries."""

import random
from collections import Counter
from datetime import date, timedelta

from tests.builders.reports import booked
from tests.builders.trade import PURCHASES, SALES, Record, Trade, line
from tests.builders.vendor_refunds import (
    REFUNDS,
    changed,
    of_bill,
    of_credit,
    of_payment,
    whole_refund_body,
)
from tests.partner import Partner

FIRST = date(2024, 11, 1)
DAYS = 240
BY_HAND = (
    *("1000", "1100", "1101", "1110", "1150", "1400", "1600", "1610", "1650", "2400", "2500"),
    *("3000", "3300", "4000", "4500", "4600", "5000", "6000", "7000", "8000"),
)
TAGS = ("north", "south", "west")
YEAR_ENDS = ("2000-12-31", "2000-03-31", "2000-02-29", "2000-01-14")


class History:
    """A business with random events, one day after another."""

    def __init__(self, partner: Partner, seed: int) -> None:
        self.chance = random.Random(seed)
        self.shop = partner.business(fiscal_year_end=self.chance.choice(YEAR_ENDS))
        for code, subtype in (("1110", "current_assets"), ("1610", "non_current_assets")):
            parent = "1100" if code == "1110" else "1600"
            body = {"code": code, "name": code, "account_subtype": subtype}
            self.shop.made(f"general-ledger/chart-of-accounts/{parent}/children/", body)
        for name in ("Current account", "Savings"):  # The second one is over account 1101.
            self.shop.made("bank-accounts/", {"display_name": name, "currency": "GBP"})
        self.parties = {SALES: self.shop.customer(), PURCHASES: self.shop.vendor()}
        self.open: dict[Trade, list[Record]] = {SALES: [], PURCHASES: []}
        self.given: dict[str, Record] = {}  # Refundable items by their ids,
        self.rest: Counter[str] = Counter()  # and their refundable amounts.
        self.announced: list[Record] = []
        self.day = FIRST

    def play(self, steps: int) -> None:
        moves = (
            *(self.document, self.document, self.payment, self.payment, self.credit, self.entry),
            *(self.money, self.money, self.money),
        )
        for step in range(steps):
            self.day += timedelta(days=self.chance.randint(0, 2 * DAYS // steps))
            self.chance.choice(moves)()
            if step % 10 == 9:
                self.refund()
        for trade in (SALES, PURCHASES):
            for document in self.open[trade][:3]:
                if trade.status_of(self.shop, document)[1]:
                    trade.write_off(self.shop, document)

    def document(self, trade: Trade | None = None) -> None:
        trade = trade or self.chance.choice((SALES, PURCHASES))
        lines = [line(self.amount(), tax_rate=self.chance.choice((0, 5, 20))) for _ in "ab"]
        facts = {trade.moment: f"{self.day}T09:00:00Z", **trade.on(str(self.day)), **self.tagged()}
        body = trade.body(self.parties[trade], *lines, **facts)
        self.open[trade].append(self.shop.made(trade.path, body))

    def payment(self, trade: Trade | None = None) -> None:
        trade = trade or self.chance.choice((SALES, PURCHASES))
        parts = []
        for document in self.chance.sample(self.open[trade], min(2, len(self.open[trade]))):
            _, left = trade.status_of(self.shop, document)
            if left:
                parts.append(trade.part(document, self.chance.randint(1, left)))
        total = sum(each["amount_cents"] for each in parts) + self.chance.choice((0, 700))
        if total:
            facts = {"payment_date": str(self.day), **self.tagged()}
            payment = trade.pay(self.shop, self.parties[trade], total, *parts, **facts)
            if trade is PURCHASES:
                applied = sum(each["amount_cents"] for each in parts)
                self.may_return(of_payment(payment, total - applied))
                for each in parts:
                    self.may_return(of_bill({"id": each["bill_id"]}, each["amount_cents"]))

    def credit(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        amount = self.amount()
        shares = []
        for document in self.open[trade][-1:]:
            _, left = trade.status_of(self.shop, document)
            if left:
                shares.append(trade.share(document, min(left, amount)))
        opened = {trade.moment: f"{self.day}T09:00:00Z"}
        tags = self.tagged()["transaction_tags"]
        party = self.parties[trade]
        credit = trade.credit(self.shop, party, amount, *shares, **opened, tags=tags)
        if trade is PURCHASES:
            self.may_return(of_credit(credit, amount - sum(e["amount"] for e in shares)))

    def refund(self) -> None:
        """Create a vendor refund of several items, in two payments."""
        self.document(PURCHASES)
        self.payment(PURCHASES)
        items = self.returns()
        total = sum(each["amount_cents"] for each in items) + self.chance.choice((2, 500))
        first = self.chance.randint(1, total - 1)
        amounts = (first, total - first)
        payments = [{"amount_cents": amount, **self.tagged()} for amount in amounts]
        facts = {"refund_date": str(self.day), "payments": payments}
        body = whole_refund_body(self.parties[PURCHASES], total, *items, **facts)
        self.announced += self.shop.made(REFUNDS, body)["vendor_refund_payments"]

    def returns(self) -> list[Record]:
        """Choose items of a refund, and refund a part of each refundable amount."""
        items = []
        for id_ in self.chance.sample(sorted(+self.rest), min(4, len(+self.rest))):
            amount = self.chance.randint(1, self.rest[id_])
            self.rest[id_] -= amount
            items.append({**self.given[id_], "amount_cents": amount})
        return items

    def may_return(self, item: Record) -> None:
        """Remember a refundable item."""
        [id_] = (str(value) for name, value in item.items() if name.endswith("_id"))
        self.given[id_] = item
        self.rest[id_] += item["amount_cents"]

    def money(self) -> None:
        """Complete or fail a payment of a refund, or clear its allocations."""
        if not self.announced:
            return
        payment = self.chance.choice(self.announced)
        come = changed(self.shop, payment)["payment"]["status"] == "completed"
        if come and self.chance.random() < 0.5:
            changed(self.shop, payment, allocations=[])  # The refund then has no target.
        else:
            dated = {} if come else {"payment_date": str(self.day)}
            changed(self.shop, payment, status="failed" if come else "completed", **dated)

    def tagged(self) -> Record:
        """Return the field of one random tag, or of none."""
        return {"transaction_tags": self.chance.choice([[], *([tag] for tag in TAGS)])}

    def entry(self) -> None:
        taken, given = self.chance.sample(BY_HAND, 2)
        booked(self.shop, str(self.day), taken, given, self.amount())

    def amount(self) -> int:
        return self.chance.randint(1, 99_999)

    def some_days(self, count: int) -> list[str]:
        last = (self.day - FIRST).days
        return sorted(str(FIRST + timedelta(self.chance.randint(0, last))) for _ in range(count))
