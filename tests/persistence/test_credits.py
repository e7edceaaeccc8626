"""Credits and write-offs as they are stored: what SQL works out is what the rules say."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TypeVar
from uuid import UUID

import pytest

from accounting import credits, refunds
from accounting.allocation import Allocation
from accounting.credits import Credit, CreditLine
from accounting.errors import NotFound, RuleBroken
from accounting.parties import Party
from accounting.refunds import Refund, RefundAllocation
from accounting.sides import RECEIVABLE
from accounting.writing_off import WriteOff
from persistence.accounts import RoleMemory
from persistence.books import Books, Kept
from persistence.document_shares import Shares
from persistence.identifiers import new_id
from persistence.pages import PageRequest
from persistence.pool import make_pool
from persistence.sessions import Writing
from persistence.tenants import BusinessTenant
from persistence.transaction import reading
from tests.house import House
from tests.partnership import Partnership
from tests.persistence.test_transaction import Desk

T = TypeVar("T")
NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)
OPENED = date(2026, 7, 1)


class Shop:
    """A business with one customer and one invoice, written to and read past the handlers."""

    def __init__(self, house: House, acme: Partnership) -> None:
        business = acme.business()
        buyer = business.customer(company_name="Blue Door")
        self.desk = Desk(house, business)
        self.party = Party(UUID(buyer["id"]), "Blue Door")
        self.invoice = UUID(business.invoice(buyer, 900)["id"])
        self.other_invoice = UUID(business.invoice(buyer, 900)["id"])
        [(self.account,)] = house.query(
            "SELECT id FROM account WHERE business_id = %s AND role = 'sales_returns'", business.id
        )

    def save(self, *values: Kept) -> None:
        async def handle(session: Writing) -> None:
            assert isinstance(session.tenant, BusinessTenant)
            Books(session, session.tenant, NOW, RoleMemory()).save(*values)

        self.desk.write(handle)

    def read(self, question: Callable[[Books], Awaitable[T]]) -> T:
        async def handle(session: Writing) -> None:
            raise AssertionError("nothing is written")

        async def go() -> T:
            tenant = self.desk.work(handle).tenant()
            assert isinstance(tenant, BusinessTenant)
            async with (
                make_pool(self.desk.house.database_url, size=1) as pool,
                reading(pool, tenant) as session,
            ):
                return await question(Books(session, tenant, NOW, RoleMemory()))

        return asyncio.run(go())

    def shares(self) -> Shares:
        return self.read(lambda books: books.invoices.shares(self.invoice))

    def credit(self, state: str = "open", used: int = 0, **facts: object) -> Credit:
        """A credit of 100, with 20 of tax, of which an amount settles the invoice."""
        split = ((self.account, used),)
        share = Allocation(new_id(), self.invoice, used, OPENED, None, None, split, split)
        moments = {"opened_at": None if state == "draft" else NOW}
        values = {
            "id": new_id(),
            "version": 0,
            "created_at": NOW,
            "updated_at": NOW,
            "party": self.party,
            "external_id": None,
            "number": None if state == "draft" else str(new_id()),
            "state": state,
            "currency": "GBP",
            **moments,
            "voided_at": None,
            "source_document_id": self.other_invoice,
            "lines": (CreditLine(id=new_id(), account_id=self.account, amount=80, tax_amount=20),),
            "tax_account_id": self.account,
            "tax_total": 20,
            "total_amount": 100,
            "allocations": (share,) if used else (),
            "settled": split if used else (),
        }
        return Credit(**{**values, **facts})

    def write_off(self, **facts: object) -> WriteOff:
        """A write-off of 50 of the invoice."""
        values = {
            "id": new_id(),
            "version": 0,
            "created_at": NOW,
            "updated_at": NOW,
            "document_id": self.invoice,
            "document_number": "INV-000001",
            "document_date": OPENED,
            "party": self.party,
            "external_id": None,
            "amount": 50,
            "account_id": self.account,
            "write_off_at": NOW,
            "reversed_at": None,
            "split": ((self.account, 50),),
            "memo": "Gone away",
            "tags": (("reason", "moved"),),
        }
        return WriteOff(**{**values, **facts})

    def refund(self, on: date, start: date | None) -> Refund:
        """A refund of 10 of the invoice, agreed on a day."""
        split = ((self.account, 10),)
        given = RefundAllocation(
            id=new_id(),
            kind="document",
            target_id=self.invoice,
            target_number=None,
            amount=10,
            split=split,
            start=start,
        )
        return Refund(
            id=new_id(),
            version=0,
            created_at=NOW,
            updated_at=NOW,
            party=self.party,
            external_id=None,
            amount=10,
            currency="GBP",
            agreed_on=on,
            completed_at=None,
            cancelled_at=None,
            allocations=(given,),
            method="cash",
            processor=None,
            fee=0,
            reference_number="R-1",
        )


@pytest.fixture
def shop(house: House, acme: Partnership) -> Shop:
    return Shop(house, acme)


class TestCreditStore:
    def test_the_status_filtered_by_is_the_status_of_the_rules(self, shop: Shop) -> None:
        stored = [
            shop.credit("draft"),
            shop.credit("open"),
            shop.credit("open", used=1),
            shop.credit("open", used=99),
            shop.credit("open", used=100),
            shop.credit("void"),
        ]
        shop.save(*stored)
        names = {each.id: credits.status(RECEIVABLE.opened_word, each) for each in stored}
        assert len(set(names.values())) == 5
        for name in set(names.values()):
            wanted = PageRequest(filters={"status": [name]})
            page = shop.read(lambda books, wanted=wanted: books.customer_credits.records(wanted))
            assert {each.id for each in page.rows} == {i for i, n in names.items() if n == name}

    def test_what_is_read_is_what_was_saved(self, shop: Shop) -> None:
        saved = shop.credit(used=30, external_id="mine", memo="Broken cups", metadata={"a": [1]})
        shop.save(saved)
        kept = replace(saved, version=1)
        assert shop.read(lambda books: books.customer_credits.get(saved.id)) == kept
        shown = shop.read(lambda books: books.customer_credits.shown(saved.id))
        assert (shown.credit, set(shown.documents)) == (kept, {shop.invoice})
        assert shop.read(lambda books: books.customer_credits.with_external_id("mine")) == shown
        assert shop.read(lambda books: books.customer_credits.with_external_id("none")) is None
        [listed] = shop.read(lambda books: books.customer_credits.records(PageRequest())).rows
        assert listed == shown

    def test_a_race_for_the_rest_of_a_credit_is_said_as_a_refusal(self, shop: Shop) -> None:
        with pytest.raises(RuleBroken) as refused:
            shop.save(shop.credit(used=101))
        assert refused.value.code == "allocation_exceeds_total"


class TestShares:
    @pytest.mark.parametrize("on", [date(2026, 6, 20), date(2026, 7, 5)])
    @pytest.mark.parametrize("start", [None, date(2026, 6, 25), date(2026, 7, 9)])
    def test_they_begin_on_the_days_of_the_rules(
        self, shop: Shop, on: date, start: date | None
    ) -> None:
        opened_at = datetime(on.year, on.month, on.day, 23, 30, tzinfo=UTC)
        credit = shop.credit(used=10, opened_at=opened_at)
        [share] = (replace(each, start=start) for each in credit.allocations)
        refund = shop.refund(on, start)
        shop.save(replace(credit, allocations=(share,)), refund)
        found = shop.shares()
        [credited], [refunded] = found.credits, found.refunds
        assert credited.applied_on == credits.applied_days(credit, share)[0]
        assert refunded.allocated_on == refunds.agreed_days(refund, refund.allocations[0])[0]
        assert (refunded.reference_number, refunded.amount_cents) == ("R-1", 10)

    def test_only_what_lives_is_shown(self, shop: Shop) -> None:
        credit, refund = shop.credit(used=10), shop.refund(OPENED, None)
        [share], [given] = credit.allocations, refund.allocations
        shop.save(
            replace(credit, allocations=(replace(share, end=OPENED),)),
            replace(refund, allocations=(replace(given, end=OPENED),), cancelled_at=NOW),
            shop.write_off(reversed_at=NOW),
        )
        assert shop.shares() == Shares()
        shown = shop.read(lambda books: books.invoices.shown(shop.invoice))
        assert shown.shares == Shares()

    def test_a_write_off_is_shown_as_if_it_were_read_again(self, shop: Shop) -> None:
        before, made = shop.shares(), shop.write_off(external_id="given up")
        shop.save(made)
        assert shop.shares() == before.with_write_off(made)
        assert shop.shares().with_write_off(replace(made, reversed_at=NOW)) == before


class TestWriteOffStore:
    def test_what_is_read_is_what_was_saved(self, shop: Shop) -> None:
        saved = shop.write_off(external_id="mine")
        shop.save(saved)
        kept = shop.read(lambda books: books.write_offs.get_within(shop.invoice, saved.id))
        number = kept.document_number
        assert kept == replace(saved, version=1, document_number=number)
        assert isinstance(number, str)
        assert number.startswith("INV-")
        assert shop.read(lambda books: books.write_offs.with_external_id("mine")) == kept
        assert shop.read(lambda books: books.write_offs.with_external_id("none")) is None

    def test_one_of_another_document_is_not_found(self, shop: Shop) -> None:
        saved = shop.write_off()
        shop.save(saved)
        with pytest.raises(NotFound) as refused:
            shop.read(lambda books: books.write_offs.get_within(shop.other_invoice, saved.id))
        assert refused.value.code == "write_off_not_found"
