"""Request bodies converted to commands of the rules."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from accounting.absent import ABSENT, RequestObject, said
from accounting.bank.line_identities import Line
from accounting.books.accounts import AccountReference
from accounting.files.uploads import Upload
from accounting.trade.commands import (
    AgreeRefund,
    InitialPayment,
    OpenDocument,
    PaymentDetails,
    PayRefund,
    RefundItem,
    TaxGiven,
    VendorPaymentDetails,
    WriteOffDocument,
)
from accounting.trade.parties import PartyNamed
from handlers.bank import bank_commands
from handlers.bank.bank_commands import ImportFile, ImportLines
from handlers.books import journal_commands
from handlers.platform import business_commands
from handlers.shared import account_commands
from handlers.trade import credit_commands, document_commands, payment_commands

FIRST, SECOND = UUID(int=1), UUID(int=2)
DAY, MOMENT = date(2026, 1, 5), datetime(2026, 1, 5, 12, tzinfo=UTC)


def body(**given: Any) -> Any:
    """Return a body as handlers receive it: a field that was not sent is ABSENT."""
    return sent(given)


def sent(value: Any) -> Any:
    if isinstance(value, dict):
        return RequestObject({name: sent(each) for name, each in value.items()})
    return [sent(each) for each in value] if isinstance(value, list) else value


def line(**facts: Any) -> dict[str, Any]:
    return {"quantity": Decimal(1), "unit_price": 5, **facts}


def invoice_lines(*lines: dict[str, Any]) -> Any:
    return document_commands.create_invoice(body(line_items=list(lines))).lines


class TestDocuments:
    @pytest.mark.parametrize("quantity", [1.5, "1.5", Decimal("1.50")])
    def test_a_quantity_and_a_rate_are_decimals_in_any_form(self, quantity: Any) -> None:
        [only] = invoice_lines(line(quantity=quantity, tax_rate=quantity))
        assert (only.quantity, only.tax_rate) == (Decimal("1.5"), Decimal("1.5"))
        assert invoice_lines(line())[0].tax_rate is None

    def test_a_line_knows_its_place_its_accounts_and_its_taxes(self) -> None:
        by_id = {"type": "AccountId", "id": FIRST}
        by_code = {"type": "AccountCode", "code": "2400"}
        taxes = [{"amount": 7}, {"amount": 3, "tax_account": by_code}]
        plain, named = invoice_lines(line(), line(account_identifier=by_id, sales_taxes=taxes))
        assert (plain.place, named.place) == ("line_items.0", "line_items.1")
        assert (plain.account, plain.taxes) == (None, ())
        assert named.account == AccountReference("id", FIRST)
        assert named.taxes == (TaxGiven(7), TaxGiven(3, AccountReference("code", "2400")))

    def test_tags_are_tuples(self) -> None:
        given = body(line_items=[line(tags=["a"])], transaction_tags=["t", "u"])
        for command in (document_commands.create_invoice(given), document_commands.bill(given)):
            assert (command.transaction_tags, command.lines[0].tags) == (("t", "u"), ("a",))

    @pytest.mark.parametrize(
        ("read", "names"),
        [
            (
                document_commands.create_invoice,
                ("customer_id", "customer_external_id", "invoice_number", "sent_at", "issue_date"),
            ),
            (
                document_commands.bill,
                ("vendor_id", "vendor_external_id", "bill_number", "received_at", "bill_date"),
            ),
        ],
    )
    def test_each_side_has_its_own_names(
        self, read: Callable[[Any], Any], names: tuple[str, ...]
    ) -> None:
        values = (FIRST, "x", "A1", MOMENT, DAY)
        command = read(body(line_items=[line()], **dict(zip(names, values, strict=True))))
        assert command.party == PartyNamed(FIRST, "x")
        assert (command.number, command.opened_at, command.issue_date) == ("A1", MOMENT, DAY)

    def test_a_clearable_field_of_a_bill_is_absent_null_or_given(self) -> None:
        for given, number in (({}, ABSENT), ({"vendor_bill_number": None}, None)):
            assert document_commands.bill(body(line_items=[], **given)).party_number is number
        assert document_commands.bill(body(line_items=[], bill_date=None)).issue_date is None

    def test_payments_that_come_with_an_invoice(self) -> None:
        given = {"payment_method": "cash", "total_amount_cents": 5, "processing_fee_cents": 1}
        plain = {"payment_method": "cash"}
        command = document_commands.create_invoice(body(line_items=[], payments=[given, plain]))
        assert command.payments == (
            InitialPayment(method="cash", total=5, fee=1),
            InitialPayment(method="cash", total=ABSENT, payment_date=ABSENT),
        )
        assert document_commands.replace_invoice(body(line_items=[])).payments == ()

    def test_no_body_opens_or_writes_off_or_voids_by_default(self) -> None:
        assert document_commands.send_invoice(None) == OpenDocument()
        assert document_commands.receive_bill(None) == OpenDocument()
        assert document_commands.receive_bill(body(received_at=MOMENT)) == OpenDocument(MOMENT)
        assert document_commands.write_off(None) == WriteOffDocument()
        assert document_commands.voided_at(None) is None
        assert document_commands.voided_at(body(voided_at=MOMENT)) == MOMENT

    def test_tags_of_a_write_off_are_pairs(self) -> None:
        tags = [{"key": "reason", "value": "insolvent"}]
        account = {"type": "AccountCode", "code": "6000"}
        given = body(amount_cents=5, tags=tags, destination_account=account)
        assert document_commands.write_off(given) == WriteOffDocument(
            amount=5, account=AccountReference("code", "6000"), tags=(("reason", "insolvent"),)
        )


class TestAllocations:
    @pytest.mark.parametrize(
        ("read", "name", "amount"),
        [
            (payment_commands.create_invoice_payment, "invoice_id", "amount_cents"),
            (payment_commands.change_invoice_payment, "invoice_id", "amount_cents"),
            (payment_commands.create_bill_payment, "bill_id", "amount_cents"),
            (payment_commands.change_bill_payment, "bill_id", "amount_cents"),
            (credit_commands.create_customer_credit, "invoice_id", "amount"),
            (credit_commands.replace_customer_credit, "invoice_id", "amount"),
            (credit_commands.create_vendor_credit, "bill_id", "amount"),
            (credit_commands.replace_vendor_credit, "bill_id", "amount"),
        ],
    )
    def test_each_knows_its_place_in_the_body(
        self, read: Callable[[Any], Any], name: str, amount: str
    ) -> None:
        given = [{name: id_, amount: 5} for id_ in (FIRST, SECOND, FIRST)]
        items = read(body(allocations=given, line_items=[])).allocations
        assert [each.place for each in items] == [f"allocations.{at}.{name}" for at in range(3)]
        assert [(each.document_id, each.amount) for each in items][:2] == [(FIRST, 5), (SECOND, 5)]

    def test_left_out_there_are_none_at_first_and_later_they_stay(self) -> None:
        for create, change in (
            (payment_commands.create_invoice_payment, payment_commands.change_invoice_payment),
            (payment_commands.create_bill_payment, payment_commands.change_bill_payment),
            (credit_commands.create_customer_credit, credit_commands.replace_customer_credit),
            (credit_commands.create_vendor_credit, credit_commands.replace_vendor_credit),
        ):
            assert create(body(line_items=[])).allocations == ()
            assert change(body()).allocations is ABSENT
            assert change(body(allocations=[])).allocations == ()

    def test_those_of_a_bill_payment_may_be_described(self) -> None:
        given = {"bill_id": FIRST, "amount_cents": 5, "description": "half"}
        [item] = payment_commands.create_bill_payment(body(allocations=[given])).allocations
        assert item.description == "half"


class TestPayments:
    @pytest.mark.parametrize(
        ("given", "note"),
        [
            ({"note": "a", "notes": "b"}, "a"),
            ({"note": "a", "notes": None}, "a"),
            ({"note": None, "notes": "b"}, "b"),
            ({"notes": "b"}, "b"),
            ({"note": None}, None),
            ({"notes": None}, None),
            ({}, ABSENT),
        ],
    )
    def test_note_wins_over_notes_its_older_name(self, given: dict[str, Any], note: Any) -> None:
        for read in (
            payment_commands.create_invoice_payment,
            payment_commands.change_invoice_payment,
        ):
            assert read(body(**given)).details.note == note

    def test_the_memo_of_a_bill_payment_is_its_note(self) -> None:
        assert payment_commands.create_bill_payment(body(memo="m")).details.note == "m"
        assert payment_commands.change_bill_payment(body(memo=None)).details.note is None

    def test_absent_fields_of_a_payment_have_defaults(self) -> None:
        for create in (
            payment_commands.create_invoice_payment,
            payment_commands.create_bill_payment,
        ):
            command = create(body(), "k")
            assert (command.fee, command.status, command.processor) == (0, "completed", None)
            assert command.idempotency_key == "k"
            assert command.details == PaymentDetails()

    def test_absent_null_and_given_are_kept_apart_in_changes(self) -> None:
        given = body(bank_reference=None, payment_processor=None, transaction_tags=["t"])
        command = payment_commands.change_invoice_payment(given, whole=True)
        assert (command.details.bank_reference, command.processor) == (None, None)
        assert (command.details.payment_reference, command.total) == (ABSENT, ABSENT)
        assert (command.details.transaction_tags, command.whole) == (("t",), True)
        assert payment_commands.change_invoice_payment(body()).processor is ABSENT

    def test_each_side_has_its_own_names(self) -> None:
        sold = payment_commands.create_invoice_payment(
            body(customer_id=FIRST, customer_external_id="x", total_amount_cents=5)
        )
        bought = payment_commands.create_bill_payment(
            body(vendor_id=FIRST, vendor_external_id="x", amount_cents=5, check_number="7")
        )
        assert sold.party == bought.party == PartyNamed(FIRST, "x")
        assert sold.total == bought.total == 5
        assert bought.details.check_number == "7"


class TestCredits:
    @pytest.mark.parametrize(
        ("read", "names", "account"),
        [
            (
                credit_commands.create_customer_credit,
                ("customer_id", "credit_note_number", "sent_at", "source_invoice_id"),
                "revenue_account_identifier",
            ),
            (
                credit_commands.create_vendor_credit,
                ("vendor_id", "vendor_credit_number", "received_at", "source_bill_id"),
                "expense_account_identifier",
            ),
        ],
    )
    def test_each_side_has_its_own_names(
        self, read: Callable[[Any], Any], names: tuple[str, ...], account: str
    ) -> None:
        values = (FIRST, "C1", MOMENT, SECOND)
        item = {"amount": 5, account: {"type": "AccountCode", "code": "4500"}, "tags": ["x"]}
        given = dict(zip(names, values, strict=True))
        command = read(body(line_items=[item, {"amount": 1}], tags=["t"], **given))
        assert command.party == PartyNamed(FIRST)
        assert (command.number, command.opened_at) == ("C1", MOMENT)
        assert (command.source_document_id, command.transaction_tags) == (SECOND, ("t",))
        named, plain = command.lines
        assert (named.account, named.tags) == (AccountReference("code", "4500"), ("x",))
        assert (plain.account, plain.tax_amount, plain.tags) == (None, None, ())

    def test_the_tax_of_a_credit_line_has_two_names(self) -> None:
        items = [{"amount": 50, name: 7} for name in ("tax_amount", "tax_amount_cents")]
        command = credit_commands.create_vendor_credit(body(line_items=items, vendor_id=FIRST))
        assert [line.tax_amount for line in command.lines] == [7, 7]


class TestRefunds:
    def test_a_method_is_a_word_in_capitals(self) -> None:
        assert payment_commands.agree_refund(body(method="CREDIT_CARD")).method == "credit_card"
        assert payment_commands.pay_refund(body(method="CASH")).method == "cash"

    def test_absent_fields_of_a_refund_have_defaults(self) -> None:
        assert payment_commands.agree_refund(body()) == AgreeRefund()
        assert (
            payment_commands.pay_refund(body()) == payment_commands.pay_refund(None) == PayRefund()
        )
        vendor = payment_commands.agree_vendor_refund(
            body(vendor_id=FIRST, total_refunded_amount=7)
        )
        assert (vendor.refund_type, vendor.payments, vendor.allocations) == ("overpayment", (), ())

    def test_a_refunded_amount_has_two_names(self) -> None:
        for name in ("total_refunded_amount", "total_refunded_amount_cents"):
            assert payment_commands.agree_vendor_refund(body(**{name: 7})).amount == 7

    def test_parts_of_a_vendors_refund_know_their_kind_and_their_place(self) -> None:
        given = [
            {"allocation_type": "bill", "bill_id": FIRST, "amount_cents": 1},
            {"allocation_type": "payment", "bill_payment_id": SECOND, "amount_cents": 2},
            {"allocation_type": "credit", "amount_cents": 3, "description": "d", "metadata": 1},
        ]
        expected = (
            RefundItem(kind="document", target_id=FIRST, amount=1, place="allocations.0.bill_id"),
            RefundItem(
                kind="payment", target_id=SECOND, amount=2, place="allocations.1.bill_payment_id"
            ),
            RefundItem(
                kind="credit",
                target_id=None,
                amount=3,
                place="allocations.2",
                description="d",
                metadata=1,
            ),
        )
        for read in (
            payment_commands.agree_vendor_refund,
            payment_commands.agree_vendor_refund_payment,
            payment_commands.change_vendor_refund_payment,
        ):
            command = read(body(allocations=given, total_refunded_amount=6))
            assert command.allocations == expected
        assert payment_commands.change_vendor_refund_payment(body()).allocations is ABSENT

    def test_payments_are_announced_with_a_refund_or_alone(self) -> None:
        payments = [{"amount_cents": 3, "payment_method": "cash", "memo": None}, {}]
        given = body(payments=payments, total_refunded_amount=6)
        first, second = payment_commands.agree_vendor_refund(given).payments
        assert (first.amount, first.method, first.details.memo) == (3, "cash", None)
        assert (second.amount, second.method, second.fee) == (ABSENT, "bank_transfer", 0)
        assert second.details == VendorPaymentDetails()
        alone = payment_commands.agree_vendor_refund_payment(
            body(total_amount_cents=5, processing_fee_cents=1, memo="m")
        )
        [payment] = alone.payments
        assert (alone.amount, payment.amount, payment.fee) == (5, ABSENT, 1)
        assert (payment.details.memo, alone.details.memo) == ("m", "m")


class TestParties:
    @pytest.mark.parametrize(
        ("given", "limit"),
        [
            ({"credit_limit": 5}, 5),
            ({"credit_limit_cents": 5}, 5),
            ({"credit_limit": 5, "credit_limit_cents": 7}, 7),
            ({"credit_limit": 5, "credit_limit_cents": None}, None),
            ({}, ABSENT),
        ],
    )
    def test_the_two_names_of_the_credit_limit_mean_the_same_amount(
        self, given: dict[str, Any], limit: Any
    ) -> None:
        assert document_commands.customer(body(**given)).credit_limit_cents == limit

    @pytest.mark.parametrize(
        "read",
        [
            document_commands.customer,
            document_commands.create_vendor,
            document_commands.change_vendor,
        ],
    )
    def test_absent_null_and_given_are_kept_apart(self, read: Callable[[Any], Any]) -> None:
        details = read(body(company_name="Acme", email=None, transaction_tags=["t"]))
        told = {"company_name": "Acme", "email": None, "transaction_tags": ("t",)}
        assert said(details) == told

    def test_the_status_that_a_vendor_is_set_to_is_its_standing(self) -> None:
        assert document_commands.change_vendor(body(status="BLOCKED")).standing == "BLOCKED"


class TestBooks:
    def test_a_line_by_hand_is_its_debit_less_its_credit(self) -> None:
        lines = [
            {"account": "6000", "debit_amount": 5},
            {"account": "2400", "credit_amount": 3, "description": "d"},
            {"account": "2400", "debit_amount": 1, "credit_amount": 3},
        ]
        command = journal_commands.create_entry(body(entry_date=DAY, lines=lines))
        assert [each.amount for each in command.lines] == [5, -3, -2]
        assert command.lines[1].account == AccountReference("any", "2400")
        assert command.lines[1].description == "d"
        assert (command.author, command.post) == ("manual", False)

    def test_who_wrote_an_entry_and_whether_it_is_posted(self) -> None:
        command = journal_commands.create_entry(
            body(entry_date=DAY, lines=[], created_by="ai", post=True)
        )
        assert (command.author, command.post) == ("ai", True)
        assert journal_commands.reversed_on(None) is None
        assert journal_commands.reversed_on(body(entry_date=DAY)) == DAY

    def test_an_account_that_is_made_inactive(self) -> None:
        assert account_commands.change_account(body(is_active=False)).active is False
        assert account_commands.change_account(body()).active is ABSENT
        details = account_commands.change_account(body(iban=None)).details
        assert (details.iban, details.description) == (None, ABSENT)

    def test_a_business_is_opened_with_defaults_and_changed_with_none(self) -> None:
        names = ("external_id", "legal_name", "entity_type", "email")
        opened = business_commands.open_business(body(**dict.fromkeys(names, "x")))
        assert (opened.accounting_method, opened.coa_language) == ("accrual", "en")
        assert (opened.fiscal_year_end.month, opened.fiscal_year_end.day) == (12, 31)
        changed = business_commands.change_business(body(lock_date=None))
        assert (changed.lock_date, changed.country) == (None, ABSENT)


class TestBank:
    def test_a_statement_is_lines_or_a_file(self) -> None:
        item = {"date": DAY, "amount_cents": 5, "direction": "credit"}
        lines = bank_commands.import_statement(body(bank_account_id=FIRST, transactions=[item]))
        assert lines == ImportLines(FIRST, (Line(booked_on=DAY, amount=5, direction="credit"),))
        upload = Upload("statement.csv", "text/csv", b"a,b\n")
        file = bank_commands.import_statement(body(bank_account_id=FIRST, file=upload))
        assert file == ImportFile(FIRST, b"a,b\n", None, None)

    def test_given_fields_of_a_payout_are_in_its_command(self) -> None:
        given = body(processor="stripe", paid_out_amount_cents=5, payment_ids=[FIRST], memo=None)
        command = bank_commands.save_payout(given)
        assert (command.payment_ids, command.refund_payment_ids) == ((FIRST,), ABSENT)
        assert (command.memo, command.reference_number, command.fee) == (None, ABSENT, ABSENT)

    def test_a_bank_account_may_name_an_account_of_the_chart(self) -> None:
        plain = bank_commands.create_bank_account(body(display_name="Current"))
        named = bank_commands.create_bank_account(body(display_name="Current", account="1110"))
        assert (plain.account, named.account) == (None, AccountReference("any", "1110"))
        assert plain.details.iban is ABSENT
