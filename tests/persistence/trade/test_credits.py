"""Credits and write-offs in the database: sums in SQL agree with the rules."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar
from uuid import UUID

import pytest

from accounting.books.ledger import Part
from accounting.errors import NotFound, RuleViolation
from accounting.tax.taxed_amounts import Tax
from accounting.trade import credits, refunds
from accounting.trade.allocation import Allocation
from accounting.trade.credits import Credit, CreditLine
from accounting.trade.parties import Party
from accounting.trade.postings import Subject
from accounting.trade.refunds import InvoiceRefund, Refund, RefundAllocation, VendorRefund
from accounting.trade.sides import PAYABLE, RECEIVABLE
from accounting.trade.write_offs import WriteOff
from persistence.books import Books, Trade
from persistence.engine.ids import new_id
from persistence.engine.pages import PageRequest
from persistence.engine.sessions import WriteSession
from persistence.trade.document_settlements import Settlements
from tests.api_server import ApiServer
from tests.builders.trade import PURCHASES, SALES
from tests.partner import Partner
from tests.persistence.ledger.journal_writer import JournalWriter

T = TypeVar("T")
NOW = datetime(2025, 3, 10, 12, tzinfo=UTC)
OPENED = date(2025, 3, 1)


class Shop:
    """A business with two documents of one party, which bypasses the handlers."""

    def __init__(self, api_server: ApiServer, acme: Partner, side: str) -> None:
        business = acme.business()
        self.journal = JournalWriter(api_server, business)
        self.journal.now = NOW
        self.writer = self.journal.writer
        self.side = side
        trade = SALES if side == "sales" else PURCHASES
        party = trade.somebody(business, company_name="Blue Door")
        self.party = Party(UUID(party["id"]), "Blue Door", company_name="Blue Door")
        self.document, self.other_document = (
            UUID(trade.open(business, party)["id"]) for _ in range(2)
        )
        [(self.account,)] = api_server.query(
            "SELECT id FROM account WHERE business_id = %s AND role = 'sales_returns'", business.id
        )

    def trade(self, books: Books) -> Trade:
        return books.sales if self.side == "sales" else books.purchases

    def save(self, *values: Subject) -> None:
        async def handle(session: WriteSession) -> None:
            self.trade(self.journal.books(session)).save(*values)

        self.writer.write(handle)

    def read(self, question: Callable[[Trade], Awaitable[T]]) -> T:
        return self.journal.read(lambda books: question(self.trade(books)))

    def settlements(self) -> Settlements:
        return self.read(lambda trade: trade.documents.settlements(self.document))

    def record(self) -> dict[str, Any]:
        """Return the facts of a new record of the party."""
        moments = {"created_at": NOW, "updated_at": NOW}
        return {"id": new_id(), "version": 0, **moments, "party": self.party, "external_id": None}

    def credit(self, state: str = "open", used: int = 0, **facts: object) -> Credit:
        """Create a credit of 100 with 20 of tax, of which an amount settles the document."""
        split = ((Part(self.account), used),)
        taxes = (Tax(20, self.account),)
        line = CreditLine(
            id=new_id(), account_id=self.account, amount=80, taxes=taxes, taxes_given=True
        )
        share = Allocation(new_id(), self.document, used, OPENED, None, None, split, split)
        values = {
            **self.record(),
            "number": None if state == "draft" else str(new_id()),
            "state": state,
            "currency": "GBP",
            "opened_at": None if state == "draft" else NOW,
            "voided_at": None,
            "source_document_id": self.other_document,
            "refund_id": None,
            "lines": (line,),
            "tax_account_id": self.account,
            "tax_total": 20,
            "total_amount": 100,
            "allocations": (share,) if used else (),
            "settled": split if used else (),
        }
        return Credit(**{**values, **facts})

    def write_off(self, **facts: object) -> WriteOff:
        """Create a write-off of 50 of the document."""
        values = {
            **self.record(),
            "document_id": self.document,
            "document_number": "INV-000001",
            "document_date": OPENED,
            "amount": 50,
            "account_id": self.account,
            "write_off_at": NOW,
            "reversed_at": None,
            "split": ((Part(self.account), 50),),
            "memo": "Gone away",
            "tags": (("reason", "moved"),),
        }
        return WriteOff(**{**values, **facts})

    def refund(self, on: date, start: date | None) -> Refund:
        """Create a refund of 10 of the document, agreed on a day."""
        split = ((Part(self.account), 10),)
        target: dict[str, Any] = {
            "kind": "document",
            "target_id": self.document,
            "target_number": None,
        }
        given = RefundAllocation(
            id=new_id(), **target, amount=10, split=split, start=start, created_at=NOW
        )
        facts = {
            **self.record(),
            "amount": 10,
            "currency": "GBP",
            "agreed_on": on,
            "completed_at": None,
            "cancelled_at": None,
            "allocations": (given,),
            "reference_number": "R-1",
        }
        if self.side == "purchases":
            return VendorRefund(**facts, refund_type="other")
        return InvoiceRefund(**facts, method="cash", processor=None, fee=0)


@pytest.fixture(params=["sales", "purchases"])
def shop(api_server: ApiServer, acme: Partner, request: pytest.FixtureRequest) -> Shop:
    return Shop(api_server, acme, request.param)


class TestCreditStore:
    def test_the_status_filtered_by_is_the_status_of_the_rules(self, shop: Shop) -> None:
        stored = [
            shop.credit("draft"),
            shop.credit("open"),
            shop.credit("open", used=1),
            shop.credit("open", used=99),
            shop.credit("open", used=100),
            shop.credit("open", used=99, refunded=1),
            shop.credit("open", refunded=1),
            shop.credit("void"),
        ]
        shop.save(*stored)
        side = RECEIVABLE if shop.side == "sales" else PAYABLE
        names = {each.id: credits.status(side, each) for each in stored}
        assert len(set(names.values())) == 5
        for name in set(names.values()):
            wanted = PageRequest(filters={"status": [name]})
            page = shop.read(lambda trade, wanted=wanted: trade.credits.records(wanted))
            assert {each.id for each in page.rows} == {i for i, n in names.items() if n == name}

    def test_a_saved_credit_is_read_unchanged(self, shop: Shop) -> None:
        saved = shop.credit(used=30, external_id="mine", memo="Broken cups", metadata={"a": [1]})
        shop.save(saved)
        kept = replace(saved, version=1)
        assert shop.read(lambda trade: trade.credits.get(saved.id)) == kept
        shown = shop.read(lambda trade: trade.credits.shown(saved.id))
        assert (shown.credit, set(shown.documents)) == (kept, {shop.document})
        assert shop.read(lambda trade: trade.credits.known_as("mine")) == saved.id
        assert shop.read(lambda trade: trade.credits.known_as("none")) is None
        [listed] = shop.read(lambda trade: trade.credits.records(PageRequest())).rows
        assert listed == shown

    def test_a_credit_that_is_used_beyond_its_total_is_refused(self, shop: Shop) -> None:
        with pytest.raises(RuleViolation) as refused:
            shop.save(shop.credit(used=101))
        assert refused.value.code == "allocation_exceeds_total"


class TestLocking:
    def test_locked_documents_are_in_the_order_of_their_ids(self, shop: Shop) -> None:
        ids = sorted((shop.document, shop.other_document))

        async def lock(session: WriteSession) -> None:
            trade = shop.trade(shop.journal.books(session))
            locking = trade.documents.lock_all(ids)
            turned = replace(
                locking, answer=lambda answers: locking.answer([rows[::-1] for rows in answers])
            )
            assert list(await turned) == ids

        shop.writer.write(lock)


class TestSettlements:
    @pytest.mark.parametrize("on", [date(2025, 2, 20), date(2025, 3, 5)])
    @pytest.mark.parametrize("start", [None, date(2025, 2, 25), date(2025, 3, 9)])
    def test_settlements_begin_on_the_days_of_the_rules(
        self, shop: Shop, on: date, start: date | None
    ) -> None:
        opened_at = datetime(on.year, on.month, on.day, 23, 30, tzinfo=UTC)
        credit = shop.credit(used=10, opened_at=opened_at)
        [share] = (replace(each, start=start) for each in credit.allocations)
        refund = shop.refund(on, start)
        shop.save(replace(credit, allocations=(share,)), refund)
        found = shop.settlements()
        [used], [given] = found.credits, found.refunds
        assert used.applied_on == credits.applied_days(credit, share)[0]
        assert given.allocated_on == refunds.agreed_days(refund, refund.allocations[0])[0]
        assert (given.reference_number, given.amount_cents) == ("R-1", 10)

    def test_ended_settlements_are_not_shown(self, shop: Shop) -> None:
        credit, refund = shop.credit(used=10), shop.refund(OPENED, None)
        [share], [given] = credit.allocations, refund.allocations
        shop.save(
            replace(credit, allocations=(replace(share, end=OPENED),)),
            replace(refund, allocations=(replace(given, end=OPENED),), cancelled_at=NOW),
        )
        assert shop.settlements() == Settlements()
        shown = shop.read(lambda trade: trade.documents.shown(shop.document))
        assert shown.settlements == Settlements()

    def test_a_write_off_is_shown_as_if_it_were_read_again(self, shop: Shop) -> None:
        before, made = shop.settlements(), shop.write_off(external_id="written off")
        shop.save(made)
        assert shop.settlements() == before.with_write_off(made)
        assert shop.settlements().with_write_off(replace(made, reversed_at=NOW)) == before

    def test_a_reversed_write_off_is_not_shown(self, shop: Shop) -> None:
        shop.save(shop.write_off(reversed_at=NOW))
        assert shop.settlements() == Settlements()


class TestWriteOffStore:
    def test_a_saved_write_off_is_read_unchanged(self, shop: Shop) -> None:
        saved = shop.write_off(external_id="mine")
        shop.save(saved)
        kept = shop.read(lambda trade: within(trade, shop.document, saved.id))
        number = kept.document_number
        assert kept == replace(saved, version=1, document_number=number)
        assert isinstance(number, str)
        assert number.startswith("INV-" if shop.side == "sales" else "BILL-")
        assert shop.read(lambda trade: named(trade, "mine")) == kept
        assert shop.read(lambda trade: named(trade, "none")) is None

    def test_a_write_off_of_another_document_is_not_found(self, shop: Shop) -> None:
        saved = shop.write_off()
        shop.save(saved)
        with pytest.raises(NotFound) as refused:
            shop.read(lambda trade: within(trade, shop.other_document, saved.id))
        assert refused.value.code == "write_off_not_found"


def within(trade: Trade, document_id: UUID, id_: UUID) -> Awaitable[WriteOff]:
    return trade.write_offs.get_within(document_id, id_)


def named(trade: Trade, external_id: str) -> Awaitable[WriteOff | None]:
    return trade.write_offs.with_external_id(external_id)
