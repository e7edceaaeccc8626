"""Random histories of lines and money: linked, unlinked, bounced, posted to an account."""

from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.bank import bank_links, bank_matches, bank_postings, bank_transactions
from accounting.bank.bank_links import Link
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import CategoryGiven
from accounting.errors import ApiError
from accounting.trade.sides import RECEIVABLE
from tests.accounting.bank.statements import SAVINGS, line, matched, target
from tests.accounting.samples import REFERENCED, ROLES, AccountReference, posted_after
from tests.accounting.trade.business import Trade

STEPS = st.tuples(
    st.sampled_from(
        ["link", "link", "link", "unlink", "categorize", "uncategorize", "turn", "fee"]
    ),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(1, 120),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_any_history_keeps_lines_and_money_in_agreement(
    steps: list[tuple[str, int, int, int]],
) -> None:
    """Check that links agree on both sides and exceed neither amount."""
    books = Statement()
    for what, place, other, amount in steps:
        with suppress(ApiError):
            getattr(books, what)(place, other, amount)
        books.check()


class Statement:
    """Three lines and three payments, and the changes made to them."""

    def __init__(self) -> None:
        self.trade = Trade("10")
        self.payments = [
            self.trade.pay(100, fee=fee, status=status)
            for fee, status in ((0, "completed"), (5, "completed"), (5, "pending"))
        ]
        made = [line(amount) for amount in (60, 100, 150)]
        self.lines = {each.id: each for each in made}
        self.links: list[Link] = []

    def line(self, place: int) -> BankTransaction:
        return list(self.lines.values())[place]

    def put(self, transaction: BankTransaction) -> None:
        entries = bank_postings.entries_for(transaction, ROLES, None)
        posted = posted_after(transaction.posted, entries, self.trade.identify)
        self.lines[transaction.id] = replace(transaction, posted=posted)

    def link(self, place: int, other: int, amount: int) -> None:
        done = matched(self.trade, self.payments[other], self.line(place), amount)
        self.put(done.transaction)
        self.links.append(done.link)

    def unlink(self, place: int, _other: int, _amount: int) -> None:
        if not self.links:
            return
        link = self.links.pop(place % len(self.links))
        found = target(self.trade, link.target_id)
        transaction = self.lines[link.transaction_id]
        done = bank_matches.unmatch(found, transaction, link, self.trade.context())
        self.put(done.transaction)
        self.trade.keep(done.target)

    def categorize(self, place: int, _other: int, _amount: int) -> None:
        given = [CategoryGiven(AccountReference("code", "4500"))]
        self.put(
            bank_transactions.categorize(self.line(place), given, REFERENCED, self.trade.context())
        )

    def uncategorize(self, place: int, _other: int, _amount: int) -> None:
        self.put(bank_transactions.uncategorize(self.line(place), self.trade.context()))

    def turn(self, _place: int, other: int, amount: int) -> None:
        """Change the status of a payment; lines lose the links that it loses."""
        statuses = ("completed", "pending", "failed")
        self.change(self.payments[other], status=statuses[amount % 3])

    def fee(self, _place: int, other: int, amount: int) -> None:
        self.change(self.payments[other], fee=amount % 60)

    def change(self, id_: UUID, **changes: Any) -> None:
        before = self.trade.payments[id_]
        self.trade.change(id_, **changes)
        if before.linked and not self.trade.payments[id_].linked:
            for link in [each for each in self.links if each.target_id == id_]:
                self.links.remove(link)
                transaction = self.lines[link.transaction_id]
                self.put(replace(transaction, linked=transaction.linked - link.amount))

    def check(self) -> None:
        for transaction in self.lines.values():
            linked = sum(
                each.amount for each in self.links if each.transaction_id == transaction.id
            )
            assert transaction.linked == linked
            assert bank_transactions.remaining(transaction) >= 0
        for id_ in self.payments:
            payment = self.trade.payments[id_]
            assert payment.linked == sum(e.amount for e in self.links if e.target_id == id_)
            assert bank_links.rest(RECEIVABLE, payment) >= 0
            assert (payment.linked > 0) == (payment.money_account_id == SAVINGS)
        self.check_books()

    def check_books(self) -> None:
        """Check that the bank's account holds the linked money and the categorized amounts."""
        came = sum(each.categorized for each in self.lines.values())
        for id_ in self.payments:
            payment = self.trade.payments[id_]
            if payment.linked and payment.status == "completed":
                came += payment.total - payment.fee
        entries = [*self.trade.entries(), *(e for t in self.lines.values() for e in t.posted)]
        held = sum(
            each.amount for entry in entries for each in entry.lines if each.account_id == SAVINGS
        )
        assert held == came
