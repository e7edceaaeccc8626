"""create_invoice_payment and create_bill_payment: accepted and shown fields, and postings."""

import pytest

from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade, line, unwarned
from tests.handlers.trade.side import Side

OWN: dict[Trade, Record] = {
    SALES: {
        "payment_processor": "Mollie",
        "processor_reference": "theirs",
        "bank_reference": "the bank's",
        "notes": "older",
        "references": {"order": "7"},
    },
    PURCHASES: {"payment_method": "check", "check_number": "000123"},
}
"""The fields that only one side accepts."""
SHOWN: dict[Trade, Record] = {
    SALES: {
        "notes": "kept",
        "applied_amount_cents": 1_200,
        "unapplied_amount_cents": 300,
        "remaining_amount_cents": 300,
        "net_amount": 1_460,
        "payouts": [],
    },
    PURCHASES: {"unallocated_amount_cents": 300, "refunded_amount_cents": 0},
}
"""The fields that only one side shows, of a payment of 1,500 less 40 that settles 1,200."""
ACCOUNTS = {
    SALES: {
        "1000": "cash",
        "1100": "bank_transfer ach check other",
        "1150": "credit_card debit_card paypal stripe",
    },
    PURCHASES: {
        "1000": "cash",
        "1100": "bank_transfer ach wire check credit_card debit_card other",
    },
}
"""The accounts of the money, each with its payment methods."""


def settled(trade: Trade, document: Record, amount: int, status: str, left: int) -> Record:
    """Return an allocation in a response, with the status and open amount of its document."""
    number = f"{trade.noun}_number"
    shown = trade.part(document, amount, allocation_date=PAID, **{number: document[number]})
    shown |= {"document_amount_cents": amount, "exchange_difference_cents": 0}
    if trade is PURCHASES:
        shown |= {"bill_status": status, "bill_outstanding_balance_cents": left}
    return shown


class Creation:
    def test_a_payment_shows_all_given_fields(self, side: Side) -> None:
        first, second = side.open(1_000), side.open(500)
        given = {
            **side.payment_body(1_500, external_id="pay-1", processing_fee_cents=40),
            **{
                "payment_reference": "ours",
                side.trade.note: "kept",
                "transaction_tags": ["a", "b"],
            },
            **{"metadata": {"deep": {"er": [1]}}, **OWN[side.trade]},
        }
        one, other = (
            ({}, {}) if side.trade is SALES else ({"description": "half"}, {"description": None})
        )
        parts = [side.trade.part(first, 1_000, **one), side.trade.part(second, 200)]
        body, key = {**given, "allocations": parts}, {"Idempotency-Key": f"a {side.trade.noun}"}
        answer = side.api.post(side.trade.payments, json=body, headers=key)
        assert answer.status_code == 201, answer.text
        payment = answer.json()["payment"]
        shown = {
            **given,
            **{
                "business_id": side.shop.id,
                "status": "completed",
                "idempotency_key": f"a {side.trade.noun}",
            },
            **{"allocated_amount_cents": 1_200, "is_fully_allocated": False},
            **{"refund_allocations": [], "reconciled_bank_transactions": [], **SHOWN[side.trade]},
        }
        assert {name: payment[name] for name in shown} == shown
        assert payment[side.trade.party]["id"] == side.counterparty["id"]
        assert payment[side.trade.party]["name"] == side.counterparty["company_name"]
        assert payment["allocations"] == [
            {**settled(side.trade, first, 1_000, "paid", 0), **one},
            {**settled(side.trade, second, 200, "partially_paid", 300), **other},
        ]
        assert answer.headers["location"].endswith(f"/{side.trade.of_payment(payment)}")
        read = side.api.get(side.trade.of_payment(payment))
        assert (read.json(), read.headers["etag"]) == (payment, '"1"')

    def test_a_payment_settles_documents_and_its_rest_is_an_advance(self, side: Side) -> None:
        first, second = side.open(1_000), side.open(500)
        parts = side.trade.part(first, 1_000), side.trade.part(second, 200)
        named: Record = {"external_id": "fee-1", "processing_fee_cents": 15}
        money, fee = side.ledger.entries(side.pay(2_000, *parts, **named))
        assert (money.on, money.amounts) == (PAID, side.trade.posted_payment(2_000, 1_200))
        assert (fee.on, fee.amounts) == (PAID, {side.trade.fee: 15, "1100": -15})
        source = "payment" if side.trade is SALES else "bill_payment"
        title = f"Payment {'from' if side.trade is SALES else 'to'}"
        for entry, text in ((money, title), (fee, f"Fee of {title.lower()}")):
            assert (entry.source_type, entry.reference) == (source, "fee-1")
            assert entry.description == f"{text} {side.counterparty['company_name']}"
        assert side.status_of(first) == ("paid", 0)
        assert side.status_of(second) == ("partially_paid", 300)
        assert side.read(first)["paid_at"] == f"{PAID}T00:00:00Z"

    def test_the_method_finds_the_account_of_the_money(self, side: Side) -> None:
        for account, methods in ACCOUNTS[side.trade].items():
            for method in methods.split():
                payment = side.pay(7, payment_method=method, processing_fee_cents=1)
                assert side.ledger.postings(payment) == [
                    (PAID, side.trade.posted_payment(7, account=account)),
                    (PAID, {side.trade.fee: 1, account: -1}),
                ]

    def test_money_in_advance_is_applied_on_the_documents_day(self, side: Side) -> None:
        day = "2025-03-25"
        document = side.open(400, **side.trade.on(day))
        payment = side.pay(400, side.trade.part(document, 400))
        assert side.ledger.postings(payment) == [
            (PAID, side.trade.posted_payment(400)),
            (day, side.trade.posted_payment(0, 400)),
        ]
        assert {entry.reference for entry in side.ledger.entries(payment)} == {None}
        assert payment["allocations"][0]["allocation_date"] == day
        assert side.read(document)["paid_at"] == f"{day}T00:00:00Z"

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_a_pending_payment_reserves_and_posts_nothing(self, side: Side, status: str) -> None:
        document = side.open(1_000)
        payment = side.pay(700, side.trade.part(document, 600), status=status)
        assert side.ledger.entries(payment) == []
        assert (payment["status"], payment["allocated_amount_cents"]) == (status, 600)
        assert payment[side.trade.remaining] == 100
        assert payment["allocations"][0]["allocation_date"] is None
        assert side.status_of(document) == (side.trade.opened, 1_000)
        more = side.payment_body(401, allocations=[side.trade.part(document, 401)])
        with side.ledger.untouched():
            answer = side.api.post(side.trade.payments, json=more)
        assert answer.json()["error_code"] == "allocation_exceeds_outstanding"
        assert answer.json()["detail"]["left"] == 400

    def test_a_payment_that_is_not_live_reserves_and_posts_nothing(self, side: Side) -> None:
        for status in side.trade.not_live:
            payment = side.pay(700, status=status)
            assert (payment["status"], payment["allocations"]) == (status, [])
            assert (payment[side.trade.remaining], side.ledger.entries(payment)) == (700, [])

    def test_each_step_settles_net_and_tax_in_proportion(self, side: Side) -> None:
        # Of 83.33 net and 16.67 tax, 33.33 are 27.77 and 5.56; 66.67 are the exact rest.
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = side.open(line_items=[taxed])
        for amount in (3_333, 6_667):
            side.pay(amount, side.trade.part(document, amount))
        splits = side.ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id = %(id)s ORDER BY l.debit + l.credit",
            id=document["id"],
        )
        assert [
            sorted(-side.trade.sign * amount for _, amount in split) for (split,) in splits
        ] == [
            [556, 2_777],
            [1_111, 5_556],
        ]

    def test_a_known_external_id_answers_the_payment_unchanged(self, side: Side) -> None:
        known: Record = {"external_id": "known"}
        document = side.open(100)
        first = side.pay(60, side.trade.part(document, 60), **known)
        for body in (
            side.payment_body(999, **known),
            side.trade.payment_body({"id": NOBODY}, 60, **known),
            side.payment_body(60, **known, allocations=[side.trade.part({"id": NOBODY}, 1)]),
        ):
            with side.ledger.untouched():
                again = side.api.post(side.trade.payments, json=body)
            assert (again.status_code, unwarned(again.json()["payment"])) == (200, first)

    def test_an_unknown_party_is_made_on_the_way(self, side: Side) -> None:
        id_, named = f"{side.trade.party}_id", {f"{side.trade.party}_external_id": "walk-in"}
        body = side.payment_body(5, **named)
        del body[id_]
        payment = side.made(side.trade.payments, body)["payment"]
        assert (
            payment[side.trade.party]["name"]
            == payment[side.trade.party]["external_id"]
            == "walk-in"
        )
        assert payment["idempotency_key"] is None
        assert side.made(side.trade.payments, body)["payment"][id_] == payment[id_]


class TestCreateInvoicePayment(Creation):
    trade = SALES

    def test_money_at_a_processor_is_in_clearing_whatever_the_method(self, side: Side) -> None:
        for method, given, shown in (
            ("bank_transfer", {"payment_processor": "GoCardless"}, "GoCardless"),
            ("cash", {"payment_processor": "sumup"}, "sumup"),
            ("paypal", {}, "paypal"),
            ("stripe", {}, "stripe"),
            ("credit_card", {}, None),
        ):
            payment = side.pay(7, payment_method=method, **given)
            assert payment["payment_processor"] == shown
            assert side.ledger.postings(payment) == [
                (PAID, side.trade.posted_payment(7, account="1150"))
            ]

    @pytest.mark.parametrize(
        ("given", "applied", "status"),
        [("completed", 600, "partially_paid"), ("pending", 0, "sent"), ("processing", 0, "sent")],
    )
    def test_a_payment_shows_the_invoices_that_it_settles(
        self, side: Side, given: str, applied: int, status: str
    ) -> None:
        invoice = side.open(1_000)
        payment = side.pay(700, side.trade.part(invoice, 600), status=given)
        shown = payment["applied_amount_cents"], payment["unapplied_amount_cents"]
        assert shown == (applied, 700 - applied)
        assert payment["applied_invoices"] == [
            {
                "id": invoice["id"],
                "invoice_number": invoice["invoice_number"],
                "applied_amount_cents": applied,
                "status": status,
                "outstanding_amount_cents": 1_000 - applied,
            }
        ]


class TestCreateBillPayment(Creation):
    trade = PURCHASES
