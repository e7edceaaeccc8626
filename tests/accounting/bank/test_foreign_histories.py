"""Random histories of base lines and foreign money: linked in parts, unlinked, bounced."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from accounting.bank import bank_links, bank_matches, bank_postings, bank_transactions
from accounting.bank.bank_links import Link
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import LinkTransaction
from accounting.books.exchange_rates import KnownRates
from accounting.books.foreign import ForeignAmount, in_base
from accounting.books.ledger import PostedEntry
from accounting.errors import ApiError
from accounting.trade.holds import on_money_account
from accounting.trade.payments import Payment
from accounting.trade.sides import RECEIVABLE
from tests.accounting.bank.foreign import at, rate
from tests.accounting.bank.statements import SAVINGS, line, target
from tests.accounting.samples import ROLES, account_id, posted_after
from tests.accounting.trade.business import Trade

STEPS = st.tuples(
    st.sampled_from(["link", "link", "link", "unlink", "turn", "correct"]),
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(1, 40),
    st.integers(1, 7),
)
RATES = st.sampled_from(["0.01", "0.3333", "0.91234", "12.7"])
GAINS_AND_LOSSES = {account_id("4650"), account_id("7050")}


@settings(max_examples=50, deadline=None)
@given(st.lists(STEPS, max_size=20), st.lists(RATES, min_size=3, max_size=3))
def test_lines_show_what_foreign_money_moved_and_post_the_rest(
    steps: list[tuple[str, int, int, int, int]], rates: list[str]
) -> None:
    books = ForeignStatement(rates)
    for what, *given_step in steps:
        with suppress(ApiError):
            getattr(books, what)(*given_step)
        books.check()


class ForeignStatement:
    """Three lines in base and three payments in dollars, and the changes made to them."""

    def __init__(self, rates: list[str]) -> None:
        self.trade = Trade("10", rates=KnownRates())
        self.payments = [
            self.trade.pay(total, fee=fee, status=status, **at(each))
            for (total, fee, status), each in zip(
                ((3, 0, "completed"), (10, 3, "completed"), (7, 0, "pending")), rates, strict=True
            )
        ]
        made = [line(amount) for amount in (60, 100, 150)]
        self.lines = {each.id: each for each in made}
        self.links: list[Link] = []

    def put(self, transaction: BankTransaction) -> None:
        entries = bank_postings.entries_for(transaction, ROLES, None)
        posted = posted_after(transaction.posted, entries, self.trade.identify)
        self.lines[transaction.id] = replace(transaction, posted=posted)

    def link(self, place: int, other: int, amount: int, own: int) -> None:
        id_, transaction = self.payments[other], list(self.lines.values())[place]
        command = LinkTransaction(
            target_type="any", target_id=id_, amount=amount, target_amount=own
        )
        given_facts = target(self.trade, id_), transaction, command, ROLES, self.trade.context()
        done = bank_matches.match(*given_facts)
        assert isinstance(done.target, Payment)
        self.trade.keep(done.target)
        self.put(done.transaction)
        self.links.append(done.link)

    def unlink(self, place: int, *_: int) -> None:
        if self.links:
            link = self.links.pop(place % len(self.links))
            given_facts = target(self.trade, link.target_id), self.lines[link.transaction_id], link
            done = bank_matches.unmatch(*given_facts, self.trade.context())
            assert isinstance(done.target, Payment)
            self.trade.keep(done.target)
            self.put(done.transaction)

    def turn(self, _place: int, other: int, amount: int, _own: int) -> None:
        statuses = ("completed", "pending", "failed")
        self.trade.change(self.payments[other], status=statuses[amount % 3])

    def correct(self, _place: int, other: int, amount: int, _own: int) -> None:
        self.trade.change(self.payments[other], worth=rate(f"0.{amount}"))

    def check(self) -> None:
        for id_ in self.payments:
            self.check_money(self.trade.payments[id_])
        for transaction in self.lines.values():
            of_line = [each for each in self.links if each.transaction_id == transaction.id]
            assert transaction.linked == sum(each.amount for each in of_line)
            assert bank_transactions.remaining(transaction) >= 0
            more = sum(each.difference for each in of_line)
            assert sum(on_savings(transaction.posted)) == more
            about = {e.about for entry in transaction.posted for e in entry.lines if is_exchange(e)}
            assert about <= {*self.payments}

    def check_money(self, payment: Payment) -> None:
        links = [each for each in self.links if each.target_id == payment.id]
        whole = on_money_account(RECEIVABLE, payment)
        assert payment.linked == sum(each.of_target for each in links)
        assert in_base(payment.linked) == sum(in_base(each.of_target) for each in links)
        assert (payment.linked > 0) == (payment.money_account_id == SAVINGS)
        if links and bank_links.rest(RECEIVABLE, payment) == 0:
            assert isinstance(whole, ForeignAmount)
            assert in_base(payment.linked) == whole.base * (payment.linked // whole)


def on_savings(posted: tuple[PostedEntry, ...]) -> list[int]:
    lines = [each for entry in posted for each in entry.lines]
    return [each.amount for each in lines if each.account_id == SAVINGS]


def is_exchange(posted: Any) -> bool:
    return posted.account_id in GAINS_AND_LOSSES
