"""create_invoice_payment and create_bill_payment: what they take, show and post."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import NOBODY, PAID, PURCHASES, SALES, Record, Trade, line
from tests.partner import Business

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
"""What one side alone takes."""
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
"""What one side alone shows, of a payment of 1,500 less 40 that settles 1,200."""
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
"""Where the money of each method is."""


def settled(trade: Trade, document: Record, amount: int, status: str, left: int) -> Record:
    """How an allocation of that amount is shown, with what it leaves of its document."""
    number = f"{trade.noun}_number"
    shown = trade.part(document, amount, allocation_date=PAID, **{number: document[number]})
    if trade is PURCHASES:
        shown |= {"bill_status": status, "bill_outstanding_balance_cents": left}
    return shown


class Creating:
    def test_a_payment_shows_all_given_fields(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        first, second = trade.open(shop, party, 1_000), trade.open(shop, party, 500)
        given = {
            **trade.payment_body(party, 1_500, external_id="pay-1", processing_fee_cents=40),
            **{"payment_reference": "ours", trade.note: "kept", "transaction_tags": ["a", "b"]},
            **{"metadata": {"deep": {"er": [1]}}, **OWN[trade]},
        }
        told = [{}, {}] if trade is SALES else [{"description": "half"}, {"description": None}]
        parts = [trade.part(first, 1_000, **told[0]), trade.part(second, 200)]
        body, key = {**given, "allocations": parts}, {"Idempotency-Key": f"a {trade.noun}"}
        answer = shop.api.post(trade.payments, json=body, headers=key)
        assert answer.status_code == 201, answer.text
        payment = answer.json()["payment"]
        shown = {
            **given,
            **{"business_id": shop.id, "status": "completed", "idempotency_key": f"a {trade.noun}"},
            **{"allocated_amount_cents": 1_200, "is_fully_allocated": False},
            **{"refund_allocations": [], "reconciled_bank_transactions": [], **SHOWN[trade]},
        }
        assert {name: payment[name] for name in shown} == shown
        assert payment[trade.party]["id"] == party["id"]
        assert payment[trade.party]["name"] == party["company_name"]
        assert payment["allocations"] == [
            {**settled(trade, first, 1_000, "paid", 0), **told[0]},
            {**settled(trade, second, 200, "partially_paid", 300), **told[1]},
        ]
        assert answer.headers["location"].endswith(f"/{trade.of_payment(payment)}")
        read = shop.api.get(trade.of_payment(payment))
        assert (read.json(), read.headers["etag"]) == (payment, '"1"')

    def test_a_payment_settles_documents_and_its_rest_is_an_advance(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second = trade.open(shop, party, 1_000), trade.open(shop, party, 500)
        parts = trade.part(first, 1_000), trade.part(second, 200)
        named: Record = {"external_id": "fee-1", "processing_fee_cents": 15}
        money, fee = ledger.entries(trade.pay(shop, party, 2_000, *parts, **named))
        assert (money.on, money.amounts) == (PAID, trade.posted_payment(2_000, 1_200))
        assert (fee.on, fee.amounts) == (PAID, {trade.fee: 15, "1100": -15})
        source = "payment" if trade is SALES else "bill_payment"
        title = f"Payment {'from' if trade is SALES else 'to'}"
        for entry, told in ((money, title), (fee, f"Fee of {title.lower()}")):
            assert (entry.source_type, entry.reference) == (source, "fee-1")
            assert entry.description == f"{told} {party['company_name']}"
        assert trade.status_of(shop, first) == ("paid", 0)
        assert trade.status_of(shop, second) == ("partially_paid", 300)
        assert trade.read(shop, first)["paid_at"] == f"{PAID}T00:00:00Z"

    def test_the_method_finds_the_account_of_the_money(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for account, methods in ACCOUNTS[trade].items():
            for method in methods.split():
                payment = trade.pay(shop, party, 7, payment_method=method, processing_fee_cents=1)
                assert ledger.postings(payment) == [
                    (PAID, trade.posted_payment(7, account=account)),
                    (PAID, {trade.fee: 1, account: -1}),
                ]

    def test_money_in_advance_is_applied_on_the_documents_day(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        day = "2025-03-25"
        document = trade.open(shop, party, 400, **trade.on(day))
        payment = trade.pay(shop, party, 400, trade.part(document, 400))
        assert ledger.postings(payment) == [
            (PAID, trade.posted_payment(400)),
            (day, trade.posted_payment(0, 400)),
        ]
        assert {entry.reference for entry in ledger.entries(payment)} == {None}
        assert payment["allocations"][0]["allocation_date"] == day
        assert trade.read(shop, document)["paid_at"] == f"{day}T00:00:00Z"

    @pytest.mark.parametrize("status", ["pending", "processing"])
    def test_a_pending_payment_reserves_and_posts_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record, status: str
    ) -> None:
        document = trade.open(shop, party, 1_000)
        payment = trade.pay(shop, party, 700, trade.part(document, 600), status=status)
        assert ledger.entries(payment) == []
        assert (payment["status"], payment["allocated_amount_cents"]) == (status, 600)
        assert payment[trade.remaining] == 100
        assert payment["allocations"][0]["allocation_date"] is None
        assert trade.status_of(shop, document) == (trade.opened, 1_000)
        more = trade.payment_body(party, 401, allocations=[trade.part(document, 401)])
        with ledger.untouched():
            answer = shop.api.post(trade.payments, json=more)
        assert answer.json()["error_code"] == "allocation_exceeds_outstanding"
        assert answer.json()["detail"]["left"] == 400

    def test_a_payment_that_is_not_live_reserves_and_posts_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for status in trade.not_live:
            payment = trade.pay(shop, party, 700, status=status)
            assert (payment["status"], payment["allocations"]) == (status, [])
            assert (payment[trade.remaining], ledger.entries(payment)) == (700, [])

    def test_each_step_settles_net_and_tax_in_proportion(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        # 83.33 net and 16.67 of tax: 33.33 takes 27.77 and 5.56, 66.67 the rest exactly.
        taxed = line(8_333, sales_taxes=[{"amount": 1_667}])
        document = trade.open(shop, party, line_items=[taxed])
        for amount in (3_333, 6_667):
            trade.pay(shop, party, amount, trade.part(document, amount))
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id = %(id)s ORDER BY l.debit + l.credit",
            id=document["id"],
        )
        assert [sorted(-trade.sign * amount for _, amount in split) for (split,) in splits] == [
            [556, 2_777],
            [1_111, 5_556],
        ]

    def test_a_known_external_id_answers_the_payment_unchanged(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        known: Record = {"external_id": "known"}
        document = trade.open(shop, party, 100)
        first = trade.pay(shop, party, 60, trade.part(document, 60), **known)
        for body in (
            trade.payment_body(party, 999, **known),
            trade.payment_body({"id": NOBODY}, 60, **known),
            trade.payment_body(party, 60, **known, allocations=[trade.part({"id": NOBODY}, 1)]),
        ):
            with ledger.untouched():
                again = shop.api.post(trade.payments, json=body)
            assert (again.status_code, again.json()["payment"]) == (200, first)

    def test_an_unknown_party_is_made_on_the_way(self, shop: Business, trade: Trade) -> None:
        id_, named = f"{trade.party}_id", {f"{trade.party}_external_id": "walk-in"}
        body = trade.payment_body({"id": None}, 5, **named)
        del body[id_]
        payment = shop.made(trade.payments, body)["payment"]
        assert payment[trade.party]["name"] == payment[trade.party]["external_id"] == "walk-in"
        assert payment["idempotency_key"] is None
        assert shop.made(trade.payments, body)["payment"][id_] == payment[id_]

    def test_a_preview_shows_the_same(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        body = trade.payment_body(party, 100, allocations=[trade.part(document, 100)])
        with ledger.untouched():
            seen = shop.api.post(f"{trade.payments}?preview=true", json=body).json()
        made = shop.made(trade.payments, body)["payment"]
        moving = {name: seen["payment"][name] for name in ("id", "created_at", "updated_at")}
        assert seen["payment"] == {**made, **moving}
        [entry] = seen["journal_entries"]
        assert entry["source_id"] == seen["payment"]["id"]
        accounts = [each["account_code"] for each in entry["lines"]]
        assert accounts == list(trade.posted_payment(100, 100))


class TestCreateInvoicePayment(Creating):
    trade = SALES

    def test_money_at_a_processor_is_in_clearing_whatever_the_method(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        for method, given, shown in (
            ("bank_transfer", {"payment_processor": "GoCardless"}, "GoCardless"),
            ("cash", {"payment_processor": "sumup"}, "sumup"),
            ("paypal", {}, "paypal"),
            ("stripe", {}, "stripe"),
            ("credit_card", {}, None),
        ):
            payment = SALES.pay(shop, buyer, 7, payment_method=method, **given)
            assert payment["payment_processor"] == shown
            assert ledger.postings(payment) == [(PAID, SALES.posted_payment(7, account="1150"))]

    @pytest.mark.parametrize(
        ("said", "applied", "status"),
        [("completed", 600, "partially_paid"), ("pending", 0, "sent"), ("processing", 0, "sent")],
    )
    def test_a_payment_shows_the_invoices_that_it_settles(
        self, shop: Business, buyer: Record, said: str, applied: int, status: str
    ) -> None:
        invoice = SALES.open(shop, buyer, 1_000)
        payment = SALES.pay(shop, buyer, 700, SALES.part(invoice, 600), status=said)
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


class TestCreateBillPayment(Creating):
    trade = PURCHASES
