from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from accounting.absent import ABSENT
from accounting.books.accounts import AccountReference, BookAccounts
from accounting.errors import Conflict
from accounting.trade import write_offs
from accounting.trade.commands import TaxGiven, WriteOffDocument
from accounting.trade.documents import left, outstanding
from accounting.trade.sides import RECEIVABLE
from tests.accounting.samples import (
    ARCHIVED,
    ROLES,
    account,
    account_id,
    by_code,
    day,
    moment,
    named,
    no_move,
    refusal_of,
    refused,
)
from tests.accounting.trade.business import TAXED, Trade, line


class TestWriteOff:
    def test_all_that_is_left_unless_it_says_less(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        trade.pay(300, (invoice, 300))
        trade.pay(100, (invoice, 100), status="pending")
        part = trade.write_offs[trade.write_off(invoice, 50)]
        rest = trade.write_offs[trade.write_off(invoice)]
        document = trade.documents[invoice]
        assert (part.amount, rest.amount) == (50, 550)
        assert (document.written_off, outstanding(document), left(document)) == (600, 100, 0)
        assert trade.status(invoice) == "partially_written_off"

    def test_a_write_off_keeps_the_given_facts(self, trade: Trade) -> None:
        invoice = trade.document(1_000, number="2026/7")
        trade.today = "9"
        said = {"external_id": "w", "memo": "m", "tags": (("reason", "insolvent"),)}
        write_off = trade.write_offs[trade.write_off(invoice, **said)]
        assert {name: getattr(write_off, name) for name in said} == said
        assert (write_off.document_id, write_off.document_number) == (invoice, "2026/7")
        assert (write_off.write_off_at, write_off.reversed_at) == (moment("9"), None)
        assert write_off.account_id == account_id("6200")
        assert trade.documents[invoice].updated_at == moment("9")

    def test_the_unpaid_rest_is_written_off(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        trade.pay(300, (invoice, 300))
        trade.write_off(invoice, write_off_at=moment("8"))
        assert trade.status(invoice) == "written_off"
        assert trade.documents[invoice].paid_on == day("8")

    def test_a_write_off_is_split_over_the_open_parts(self, trade: Trade) -> None:
        invoice = trade.document(TAXED)
        first, last = trade.write_off(invoice, 3_333), trade.write_off(invoice)
        splits = [by_code(trade.write_offs[each].split) for each in (first, last)]
        assert splits == [{"4000": 2_777, "2200": 556}, {"4000": 5_556, "2200": 1_111}]

    def test_an_archived_customer_may_still_not_pay(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        trade.documents[invoice] = replace(trade.documents[invoice], party=ARCHIVED)
        assert trade.write_offs[trade.write_off(invoice)].amount == 1_000

    @pytest.mark.parametrize(("state", "shown"), [("draft", "draft"), ("void", "voided")])
    def test_a_document_not_open_is_refused(self, trade: Trade, state: str, shown: str) -> None:
        invoice = trade.document(1_000)
        trade.documents[invoice] = replace(trade.documents[invoice], state=state)
        refusal = refused(trade.write_off, invoice)
        assert (type(refusal), refusal.code) == (Conflict, "invoice_not_open")
        assert refusal.detail == {"current_state": shown, "invoice_id": str(invoice)}

    @pytest.mark.parametrize(("amount", "counted", "rest"), [(601, 601, 600), (ABSENT, 0, 0)])
    def test_an_amount_over_the_rest_is_refused(
        self, trade: Trade, amount: Any, counted: int, rest: int
    ) -> None:
        invoice = trade.document(1_000)
        trade.pay(1_000, (invoice, 1_000 - rest), status="pending")
        balances = {"left": rest, "outstanding_balance": 1_000, "reserved": 1_000 - rest}
        assert refusal_of(trade.write_off, invoice, amount) == (
            "allocation_exceeds_outstanding",
            {**balances, "amount": counted, "invoice_id": str(invoice)},
        )

    def test_a_given_day_inside_the_lock_is_refused(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        write_off = trade.on("9", lock="9").write_off
        refusal = refusal_of(write_off, invoice, write_off_at=moment("9"))
        locked = {"date": "2026-01-09", "lock_date": "2026-01-09"}
        assert refusal == ("period_locked", locked)

    def test_without_a_day_it_is_posted_after_the_lock(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        write_off = trade.on("9", lock="9").write_off(invoice)
        assert trade.book(write_off) == [("10", {"6200": 1_000, "1200": -1_000})]
        assert trade.documents[invoice].paid_on == day("10")

    @pytest.mark.parametrize(
        ("reference", "code"),
        [
            (named("1200"), "control_account"),
            (named("9999"), "reference_not_found"),
            (AccountReference("id", UUID(int=9_999)), "reference_not_found"),
        ],
    )
    def test_the_account_is_usable(
        self, trade: Trade, reference: AccountReference, code: str
    ) -> None:
        invoice = trade.document(1_000)
        assert refused(trade.write_off, invoice, account=reference).code == code
        assert trade.documents[invoice].written_off == 0

    def test_an_archived_account_takes_nothing(self, trade: Trade) -> None:
        document = trade.documents[trade.document(1_000)]
        command = WriteOffDocument(account=named("6000"))
        archived = BookAccounts(
            ROLES, {AccountReference("code", "6000"): account("6000", archived=True)}
        )
        given = (RECEIVABLE, document, command, archived, trade.context())
        refusal = refused(write_offs.write_off, *given)
        assert (refusal.code, refusal.detail["account_code"]) == ("account_archived", "6000")

    def test_a_named_account_is_loaded_first(self) -> None:
        command = WriteOffDocument(account=named("6000"))
        assert write_offs.account_references(command) == {named("6000")}
        assert write_offs.account_references(WriteOffDocument()) == frozenset()


class TestReverse:
    def test_the_invoice_is_owed_again(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        id_ = trade.write_off(invoice)
        trade.on("9").reverse(id_)
        document = trade.documents[invoice]
        assert (document.written_off, document.paid_on, document.settled) == (0, None, ())
        assert outstanding(document) == 1_000
        assert trade.write_offs[id_].reversed_at == document.updated_at == moment("9")

    def test_a_reversal_restores_the_parts_of_the_write_off(self, trade: Trade) -> None:
        invoice = trade.document(line(600), line(600, taxes=(TaxGiven(200),)))
        first, second = trade.write_off(invoice, 701), trade.write_off(invoice, 501)
        trade.reverse(first)
        document = trade.documents[invoice]
        assert by_code(document.settled) == by_code(trade.write_offs[second].split)

    def test_a_write_off_is_reversed_once(self, trade: Trade) -> None:
        id_ = trade.write_off(trade.document(1_000))
        trade.reverse(id_)
        assert refusal_of(trade.reverse, id_) == no_move("reversed")

    def test_the_invoice_may_be_voided_after_it_and_not_before(self, trade: Trade) -> None:
        invoice = trade.document(1_000)
        id_ = trade.write_off(invoice, 1)
        assert refused(trade.void, invoice).code == "invoice_has_allocations"
        trade.reverse(id_)
        trade.void(invoice)
        assert trade.balances() == {}


class TestElsewhere:
    def test_an_external_id_of_another_invoices_write_off_is_taken(self, trade: Trade) -> None:
        first, second = trade.document(5), trade.document(5)
        known = trade.write_offs[trade.write_off(first, external_id="w")]
        write_offs.refuse_elsewhere(RECEIVABLE, trade.documents[first], known)
        holder = {"external_id": "w", "id": str(known.id), "invoice_id": str(first)}
        other = trade.documents[second]
        refusal = refusal_of(write_offs.refuse_elsewhere, RECEIVABLE, other, known)
        assert refusal == ("duplicate_external_id", holder)
