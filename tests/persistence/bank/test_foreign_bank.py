"""Foreign money at the bank: stored, loaded and proven with both amounts.

No operation takes a foreign currency yet, so these tests apply the rules to the stores.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from accounting.bank import bank_accounts, bank_links, bank_postings, bank_transactions, transfers
from accounting.bank.bank_accounts import BankAccount
from accounting.bank.commands import CategoryGiven, LinkTransaction, TransferTransaction
from accounting.books.accounts import AccountReference, BookAccounts
from accounting.books.businesses import Context
from accounting.books.record_rates import GivenWorth
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from handlers.shared.posting import save_and_post, save_and_post_banked
from persistence.books import Trade
from persistence.engine.ids import new_id
from tests.api_server import ApiServer
from tests.builders.bank import Bank, open_account
from tests.partner import Partner
from tests.persistence.trade.test_foreign_records import ForeignTrade, at


class ForeignBank(ForeignTrade):
    """The sales of a business, and its bank lines."""

    def open_dollars(self) -> BankAccount:
        """Open a bank account in dollars, with a ledger account of its own."""

        async def step(trade: Trade, context: Context, _: TaxReferences) -> BankAccount:
            books = trade.books
            chart = await books.bank_accounts.chart_in_use(hold=True)
            account = bank_accounts.ledger_account_for("Dollars", chart, context, "USD")
            opened = BankAccount(
                id=new_id(),
                version=0,
                created_at=context.now,
                updated_at=context.now,
                display_name="Dollars",
                currency="USD",
                account_id=account.id,
            )
            books.save(account, opened)
            return opened

        opened: BankAccount = self.do(step)
        return opened

    def link(self, line: UUID, payment: UUID, **amounts: int) -> None:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> None:
            target = await trade.payments.lock(payment)
            record = await trade.books.bank_transactions.lock(line)
            command = LinkTransaction(target_type="invoice_payment", target_id=payment, **amounts)
            moved, held, made = bank_links.link(
                trade.side, record.transaction, target, command, context
            )
            trade.books.bank_links.save(made)
            await save_and_post(trade, held)
            await save_and_post_banked(trade.books, moved)

        self.do(step)

    def unlink(self, line: UUID, payment: UUID) -> None:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> None:
            target = await trade.payments.lock(payment)
            links = await trade.books.bank_links.of_target(payment)
            [made] = [each for each in links if each.transaction_id == line]
            record = await trade.books.bank_transactions.lock(line)
            moved, held, ended = bank_links.unlink(record.transaction, target, made, context)
            trade.books.bank_links.save(ended)
            await save_and_post(trade, held)
            await save_and_post_banked(trade.books, moved)

        self.do(step)

    def categorize(self, line: UUID, code: str, rate: GivenWorth) -> None:
        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> None:
            reference = AccountReference("code", code)
            named = await trade.books.accounts.named([reference])
            known = TaxReferences(BookAccounts(referenced.roles, named), TaxCodes(()))
            record = await trade.books.bank_transactions.lock(line)
            parts = [CategoryGiven(reference)]
            moved = bank_transactions.categorize(record.transaction, parts, known, context, rate)
            await save_and_post_banked(trade.books, moved)

        self.do(step)

    def transfer(self, line: UUID, other: UUID, **amounts: int) -> UUID:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> UUID:
            found = await trade.books.bank_transactions.lock_all({line, other})
            command = TransferTransaction(other_id=other, **amounts)
            one, two = (found[each].transaction for each in (line, other))
            moved = transfers.between(one, two, {}, command, context)
            for link in moved.links:
                trade.books.bank_links.save(link)
            await save_and_post_banked(trade.books, *moved.lines, moved.transfer)
            return moved.transfer.id

        moved: UUID = self.do(step)
        return moved

    def stored(self, kind: str, id_: UUID) -> Any:
        """Load a record, and check that nothing is left to post for it."""

        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> Any:
            record = await getattr(trade.books, kind).get(id_)
            value = getattr(record, "transaction", record)
            assert bank_postings.entries_for(value, referenced.roles, context.lock_date) == []
            return value

        return self.do(step)


@pytest.fixture
def trade(own_server: ApiServer, partner: Partner) -> ForeignBank:
    return ForeignBank(own_server, partner.business(), sales=True)


def imported(bank: Bank, *amounts: int) -> Sequence[UUID]:
    return [UUID(bank.line(amount, date="2026-06-03")["id"]) for amount in amounts]


class TestForeignBank:
    def test_a_line_in_base_shows_foreign_money(self, trade: ForeignBank) -> None:
        bank = Bank(trade.business, open_account(trade.business))
        payment = trade.pay(10_000, fee=200, **at("0.95"))
        first, second = imported(bank, 4_700, 4_559)
        trade.link(first, payment, target_amount=5_000)
        trade.link(second, payment)
        line = trade.stored("bank_transactions", second)
        assert line.exchanged == ((payment, -1),)  # USD 48.00 of 98.00 are worth 45.60.
        assert trade.load_all()[payment].linked.base == 9_310
        trade.unlink(second, payment)
        assert trade.load_all()[payment].linked.base == 4_750
        assert trade.stored("bank_transactions", second).exchanged == ()

    def test_an_account_in_dollars_has_both_amounts(self, trade: ForeignBank) -> None:
        dollars = trade.open_dollars()
        account = trade.business.api.get(f"bank-accounts/{dollars.id}/").json()
        bank = Bank(trade.business, account)
        pounds = Bank(trade.business, open_account(trade.business))
        payment = trade.pay(10_000, **at("0.95"))
        came, interest, left = imported(bank, 10_000, 333, -5_000)
        trade.link(came, payment)
        trade.categorize(interest, "4600", GivenWorth(exchange_rate=Decimal("0.91")))
        [arrived] = imported(pounds, 4_800)
        transfer = trade.stored(
            "bank_transfers", trade.transfer(left, arrived, target_amount=4_800)
        )
        assert (transfer.amount, transfer.amount.base, transfer.arrived) == (5_000, 4_800, 4_800)
        assert trade.stored("bank_transactions", interest).worth.base_total == 303
        sums = trade.api_server.query(
            "SELECT sum(debit - credit)::bigint, sum(currency_amount)::bigint FROM journal_line"
            " WHERE business_id = %s AND account_id = %s",
            trade.business.id,
            dollars.account_id,
        )
        assert sums == [(9_500 + 303 - 4_800, 10_000 + 333 - 5_000)]
