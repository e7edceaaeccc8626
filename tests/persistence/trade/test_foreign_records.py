"""Records in a foreign currency: stored, loaded and proven with both amounts.

No operation takes a foreign currency yet, so these tests apply the rules to the stores.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest

from accounting.books.accounts import BookAccounts
from accounting.books.businesses import Context
from accounting.books.exchange_rates import KnownRates
from accounting.books.record_rates import GivenWorth
from accounting.tax.codes import TaxCodes
from accounting.tax.day_codes import TaxReferences
from accounting.trade import (
    credit_changes,
    document_changes,
    documents,
    invoice_refund_changes,
    payment_changes,
    postings,
    write_offs,
)
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import (
    AgreeRefund,
    ChangePayment,
    CreditLineGiven,
    DocumentLine,
    PayRefund,
    RecordPayment,
    TaxGiven,
    WriteCredit,
    WriteDocument,
    WriteOffDocument,
)
from accounting.trade.parties import PartyNamed
from handlers.shared.posting import save_and_post
from persistence.books import Books, Trade
from persistence.engine.caches import Caches
from persistence.engine.sessions import WriteSession
from persistence.engine.tenants import BusinessTenant
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.engine.test_transaction import Writer
from tests.persistence.integrity.book_faults import faults_in

Step = Callable[[Trade, Context, TaxReferences], Awaitable[Any]]
ON = date(2026, 6, 1)
AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


def at(rate: str, currency: str = "USD") -> dict[str, Any]:
    """Return the currency and the rate of a record."""
    return {"currency": currency, "worth": GivenWorth(exchange_rate=Decimal(rate))}


class ForeignTrade:
    """Both sides of a business, to which each step applies a rule in a transaction of its own."""

    def __init__(self, api_server: ApiServer, business: Business, *, sales: bool) -> None:
        self.api_server, self.business, self.sales = api_server, business, sales
        self.writer, self.memory = Writer(api_server, business), Caches()
        party = business.customer() if sales else business.vendor()
        self.party = PartyNamed(UUID(party["id"]))

    def do(self, step: Step) -> Any:
        """Apply a step; return its result."""
        results = []

        async def handle(session: WriteSession) -> None:
            assert isinstance(session.tenant, BusinessTenant)
            books = Books(session, session.tenant, datetime.now(UTC), self.memory)
            trade = books.sales if self.sales else books.purchases
            await books.learn_facts()
            context = replace(books.context, rates=KnownRates(), own_accounts={})
            accounts = BookAccounts(await books.roles(), {})
            results.append(await step(trade, context, TaxReferences(accounts, TaxCodes(()))))
            books.finish()

        self.writer.write(handle)
        assert faults_in(self.api_server, self.business) == set()
        return results[-1]

    def document(self, *lines: DocumentLine, **facts: Any) -> UUID:
        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> UUID:
            command = WriteDocument(party=self.party, lines=lines, opened_at=AT, **facts)
            party = (await trade.parties.party(self.party).later())()
            made = document_changes.create(trade.side, command, party, referenced, context)
            await save_and_post(trade, made)
            return made.id

        made: UUID = self.do(step)
        return made

    def pay(self, total: int, *items: AllocationItem, **facts: Any) -> UUID:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> UUID:
            command = RecordPayment(
                party=self.party,
                total=total,
                payment_date=ON,
                method="bank_transfer",
                allocations=items,
                **facts,
            )
            party = (await trade.parties.party(self.party).later())()
            held = await trade.documents.lock_all({each.document_id for each in items})
            made = payment_changes.record(trade.side, command, party, held, context)
            await save_and_post(trade, made.payment, affected=made.changed)
            return made.payment.id

        paid: UUID = self.do(step)
        return paid

    def change(self, id_: UUID, **facts: Any) -> None:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> None:
            payment = await trade.payments.lock(id_)
            held = await trade.documents.lock_all({e.document_id for e in payment.allocations})
            command = ChangePayment(**facts)
            after = payment_changes.amend(trade.side, payment, held, command, context)
            await save_and_post(trade, after.payment, affected=after.changed)

        self.do(step)

    def credit(self, amount: int, *items: AllocationItem, **facts: Any) -> UUID:
        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> UUID:
            lines = (CreditLineGiven(place="lines.0", amount=amount),)
            command = WriteCredit(
                party=self.party, lines=lines, opened_at=AT, allocations=items, **facts
            )
            party = (await trade.parties.party(self.party).later())()
            held = await trade.documents.lock_all({each.document_id for each in items})
            made = credit_changes.create(trade.side, command, party, referenced, held, context)
            await save_and_post(trade, made.credit, affected=made.changed)
            return made.credit.id

        credited: UUID = self.do(step)
        return credited

    def write_off(self, id_: UUID, amount: int) -> None:
        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> None:
            document = await trade.documents.lock(id_)
            command = WriteOffDocument(amount=amount)
            after, given_up = write_offs.write_off(
                trade.side, document, command, referenced.accounts, context
            )
            await save_and_post(trade, given_up, affected=[after])

        self.do(step)

    def refund(self, id_: UUID, amount: int, **facts: Any) -> UUID:
        """Refund unapplied money of a payment."""

        async def step(trade: Trade, context: Context, referenced: TaxReferences) -> UUID:
            target = await trade.payments.lock(id_)
            command = AgreeRefund(amount=amount, **facts)
            agreed = invoice_refund_changes.agree(command, target, referenced.roles, context)
            await save_and_post(trade, agreed.refund, affected=[agreed.target])
            return agreed.refund.id

        agreed: UUID = self.do(step)
        return agreed

    def pay_refund(self, id_: UUID, **facts: Any) -> None:
        async def step(trade: Trade, context: Context, _: TaxReferences) -> None:
            refund = await trade.refunds.lock(id_)
            after, payment = invoice_refund_changes.pay(refund, PayRefund(**facts), context)
            await save_and_post(trade, after, payment)

        self.do(step)

    def load_all(self) -> dict[UUID, Any]:
        """Return the stored records by id, and check that nothing is left to post for them."""

        async def step(
            trade: Trade, context: Context, referenced: TaxReferences
        ) -> dict[UUID, Any]:
            found: dict[UUID, Any] = {}
            for store in trade.stores:
                if store.noun == "write-off":
                    continue
                rows = self.api_server.query(
                    f"SELECT id FROM {store.table.name} WHERE business_id = %s", self.business.id
                )
                for (id_,) in rows:
                    [found[id_]] = [await store.get(id_)]
            for each in found.values():
                side, lock = trade.side, context.lock_date
                assert postings.entries_for(side, each, referenced.roles, lock) == []
            return found

        loaded: dict[UUID, Any] = self.do(step)
        return loaded


def line(price: int, *taxes: int) -> DocumentLine:
    given = tuple(TaxGiven(each) for each in taxes)
    return DocumentLine(place="lines.0", quantity=Decimal(1), unit_price=price, taxes=given)


@pytest.fixture(params=[True, False], ids=["sales", "purchases"])
def trade(request: pytest.FixtureRequest, own_server: ApiServer, partner: Partner) -> ForeignTrade:
    return ForeignTrade(own_server, partner.business(), sales=request.param)


class TestForeignRecords:
    def test_a_year_of_them_is_stored_with_both_amounts(self, trade: ForeignTrade) -> None:
        first = trade.document(line(10_000, 2_000), line(333), **at("0.91234"))
        second = trade.document(line(5_000), **at("0.0874", "SEK"))
        third = trade.document(line(9_000))
        paid = trade.pay(6_000, AllocationItem(first, 5_000), **at("0.95"))
        across = AllocationItem(first, 11_000, document_amount=1_000)
        other = AllocationItem(second, 2_500)
        trade.pay(20_000, across, other, **at("0.0874", "SEK"))
        trade.pay(400, AllocationItem(third, 400, document_amount=300), **at("0.76"))
        trade.pay(300, AllocationItem(second, 300, document_amount=2_000), currency="GBP")
        credit = trade.credit(1_500, AllocationItem(first, 900), **at("0.88"))
        trade.write_off(first, 700)
        trade.change(paid, worth=GivenWorth(base_amount=5_777))
        trade.change(paid, status="failed")
        loaded = trade.load_all()
        document = loaded[first]
        assert documents.outstanding(document) == 12_333 - 1_000 - 900 - 700
        assert document.worth.base_total == 11_252
        assert loaded[paid].whole.base == 5_777
        assert [each.amount.base for each in loaded[paid].allocations] == [4_814]
        assert loaded[credit].worth.base_total == 1_320

    def test_refunds_of_foreign_money(self, trade: ForeignTrade) -> None:
        if not trade.sales:
            pytest.skip("a vendor refund has its own operations")
        payment = trade.pay(10_000, **at("0.95"))
        refund = trade.refund(payment, 4_000)
        trade.pay_refund(refund, amount=1_500, fee=100, **{"worth": at("0.98")["worth"]})
        loaded = trade.load_all()
        assert loaded[payment].refunded.base == 3_800
        assert loaded[refund].is_foreign

    def test_a_rate_with_more_digits_than_an_integer_of_json(self, trade: ForeignTrade) -> None:
        document = trade.document(line(10_000_000_000), **at("0.00000000123456789013"))
        worth = trade.load_all()[document].worth
        assert (worth.rate, worth.base_total) == (Fraction(Decimal("0.00000000123456789013")), 12)

    def test_amounts_so_small_that_their_base_is_zero(self, trade: ForeignTrade) -> None:
        document = trade.document(line(5), **at("0.0874", "SEK"))
        trade.pay(5, AllocationItem(document, 5), **at("0.2", "SEK"))
        trade.load_all()
