"""Pairs of changes of receivables that exclude each other, sent at the same moment."""

from functools import partial

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import (
    CREDITS,
    PAYMENTS,
    REFUNDS,
    credit_body,
    invoice_body,
    paid,
    part,
    payment_body,
    refund_paid,
    refunded,
    sent,
    settled,
    share,
)
from tests.builders.trade import SENT, Record, line
from tests.concurrency.races import Call, Ran, moving_lock_date, statuses, together
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")

ACCOUNTS = "general-ledger/chart-of-accounts/"
PAIRS = 6


def cross(*pairs: tuple[Call, ...]) -> list[tuple[Ran, ...]]:
    """Make all calls at the same moment; return the answers of each pair, none of them a 5xx."""
    ran = iter(together([call for pair in pairs for call in pair]))
    answered = [tuple(next(ran) for _ in pair) for pair in pairs]
    assert {each.status for pair in answered for each in pair} <= {200, 201, 409, 422}
    return answered


def read(shop: Business, path: str) -> Record:
    answer = shop.api.get(path)
    assert answer.status_code == 200
    shown: Record = answer.json()
    return shown


def pay(shop: Business, buyer: Record, invoice: Record, amount: int) -> Call:
    body = payment_body(buyer, amount, allocations=[part(invoice, amount)])
    return partial(shop.api.post, PAYMENTS, json=body)


def changing(shop: Business, payment: Record, **changes: object) -> Call:
    return partial(shop.api.patch, f"{PAYMENTS}{payment['id']}/", json=changes)


class TestOneInvoice:
    def test_an_invoice_is_voided_or_settled(self, shop: Business, buyer: Record) -> None:
        invoices = [sent(shop, buyer, 100) for _ in range(PAIRS)]
        calls = []
        for place, invoice in enumerate(invoices):
            path = f"invoices/{invoice['id']}/"
            credit = credit_body(buyer, {"amount": 60}, sent_at=SENT)
            credit["allocations"] = [share(invoice, 60)]
            settle: Call = (
                pay(shop, buyer, invoice, 60),
                partial(shop.api.post, CREDITS, json=credit),
                partial(shop.api.post, f"{path}write-offs/", json={"amount_cents": 60}),
            )[place % 3]
            calls.append((settle, partial(shop.api.post, f"{path}void/")))
        for invoice, (settling, voiding) in zip(invoices, cross(*calls), strict=True):
            assert sorted((settling.status // 100, voiding.status // 100)) == [2, 4]
            left = read(shop, f"invoices/{invoice['id']}/")
            voided = voiding.status == 200
            assert (left["status"] == "voided") is voided
            assert left["outstanding_balance"] == (0 if voided else 40)

    def test_an_invoice_is_replaced_before_its_payment_or_not_at_all(
        self, shop: Business, buyer: Record
    ) -> None:
        invoices = [sent(shop, buyer, 100) for _ in range(PAIRS)]
        totals = [50, 80] * (PAIRS // 2)
        calls = []
        for invoice, total in zip(invoices, totals, strict=True):
            new = {"line_items": [line(total)]}
            replace = partial(shop.api.put, f"invoices/{invoice['id']}/", json=new)
            calls.append((pay(shop, buyer, invoice, 60), replace))
        for place, (paying, replacing) in enumerate(cross(*calls)):
            shown = read(shop, f"invoices/{invoices[place]['id']}/")
            total = totals[place] if replacing.status == 200 else 100
            assert replacing.code in (None, "invoice_has_allocations")
            assert paying.code in (None, "allocation_exceeds_outstanding")
            assert paying.status == 201 or (replacing.status, total) == (200, 50)
            owed = total - (60 if paying.status == 201 else 0)
            assert (shown["total_amount"], shown["outstanding_balance"]) == (total, owed)
            assert owed >= 0

    def test_a_draft_is_sent_replaced_or_deleted(self, shop: Business, buyer: Record) -> None:
        drafts = [shop.made("invoices/", invoice_body(buyer)) for _ in range(PAIRS)]
        calls: list[Call] = []
        for each in drafts:
            path = f"invoices/{each['id']}/"
            new = {"line_items": [line(70)], "sent_at": SENT}
            calls += [
                partial(shop.api.post, f"{path}send/"),
                partial(shop.api.put, path, json=new),
                partial(shop.api.delete, path),
                partial(
                    shop.api.post, CREDITS, json=credit_body(buyer, source_invoice_id=each["id"])
                ),
            ]
        ran = together(calls)
        assert {each.status for each in ran} <= {200, 201, 404, 409, 422}
        for place, each in enumerate(drafts):
            _, _, deleting, crediting = ran[place * 4 : place * 4 + 4]
            gone = shop.api.get(f"invoices/{each['id']}/").status_code == 404
            assert gone is (deleting.status == 200)
            # A credit keeps its source from deletion, and no credit names a deleted source.
            assert not (gone and crediting.status == 201)

    def test_a_payment_bounces_while_its_invoice_is_refunded(
        self, shop: Business, buyer: Record
    ) -> None:
        calls = []
        for _ in range(PAIRS):
            invoice = sent(shop, buyer, 100)
            payment = paid(shop, buyer, 100, part(invoice, 100))
            refund = {"invoice_id": invoice["id"], "amount_cents": 30}
            bounce = changing(shop, payment, status="failed")
            calls.append((partial(shop.api.post, REFUNDS, json=refund), bounce))
        for refunding, bouncing in cross(*calls):
            assert bouncing.status == 200  # The earlier refund is owed again.
            assert refunding.code in (None, "refund_exceeds_refundable")


class TestMoneyNotApplied:
    def test_a_payment_is_refunded_or_applied(self, shop: Business, buyer: Record) -> None:
        calls, payments = [], []
        for _ in range(PAIRS):
            invoice, payment = sent(shop, buyer, 100), paid(shop, buyer, 100)
            refund = {"payment_id": payment["id"], "amount_cents": 60}
            apply = changing(shop, payment, allocations=[part(invoice, 70)])
            calls.append((partial(shop.api.post, REFUNDS, json=refund), apply))
            payments.append(payment)
        for payment, pair in zip(payments, cross(*calls), strict=True):
            assert sorted(each.status // 100 for each in pair) == [2, 4]
            left = read(shop, f"{PAYMENTS}{payment['id']}/")["remaining_amount_cents"]
            assert left == (40 if pair[0].status == 201 else 30)

    def test_a_payment_is_applied_while_its_refund_is_cancelled(
        self, shop: Business, buyer: Record
    ) -> None:
        calls = []
        for _ in range(PAIRS):
            invoice, payment = sent(shop, buyer, 100), paid(shop, buyer, 100)
            refund = refunded(shop, payment, amount_cents=60)
            apply = changing(shop, payment, allocations=[part(invoice, 70)])
            calls.append((partial(shop.api.delete, f"{REFUNDS}{refund['id']}/"), apply))
        for cancelling, applying in cross(*calls):
            assert cancelling.status == 200
            assert applying.status in (200, 422)


class TestOneRefund:
    @pytest.mark.usefixtures("rounds")
    def test_a_refund_is_cancelled_after_its_payment(self, shop: Business, buyer: Record) -> None:
        calls, refunds = [], []
        for _ in range(PAIRS):
            refund = refunded(shop, settled(shop, buyer, 100), amount_cents=60)
            path = f"{REFUNDS}{refund['id']}/"
            made = refund_paid(shop, refund, amount_cents=20)
            calls.append(
                (
                    partial(shop.api.post, f"{path}payments/{made['id']}/delete/"),
                    partial(shop.api.delete, path),
                    partial(shop.api.post, f"{path}payments/", json={"amount_cents": 50}),
                )
            )
            refunds.append(path)
        for path, (back, cancelling, paying) in zip(refunds, cross(*calls), strict=True):
            shown = read(shop, path)
            assert back.status == 200
            assert (shown["status"] == "cancelled") is (cancelling.status == 200)
            assert shown["paid_amount"] == (50 if paying.status == 201 else 0)
            assert not (cancelling.status == 200 and paying.status == 201)

    def test_a_refund_is_paid_once_in_full(self, shop: Business, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer, 100), amount_cents=60)
        ran = together([partial(shop.api.post, f"{REFUNDS}{refund['id']}/payments/")] * 10)
        assert statuses(ran) in ({201: 1, 422: 9}, {201: 1, 409: 9})
        assert read(shop, f"{REFUNDS}{refund['id']}/")["paid_amount"] == 60


class TestArchiving:
    def test_an_archived_customer_takes_no_document(self, shop: Business) -> None:
        buyers = [shop.customer() for _ in range(PAIRS)]
        bodies = (
            ("invoices/", lambda buyer: invoice_body(buyer, sent_at=SENT)),
            (PAYMENTS, payment_body),
            (CREDITS, lambda buyer: credit_body(buyer, sent_at=SENT)),
        )
        calls = []
        for place, buyer in enumerate(buyers):
            path, body = bodies[place % 3]
            archive = partial(shop.api.post, f"customers/{buyer['id']}/archive/")
            calls.append((partial(shop.api.post, path, json=body(buyer)), archive))
        for place, (posting, archiving) in enumerate(cross(*calls)):
            assert posting.code in (None, "customer_archived")
            assert (posting.status, archiving.status) in ((201, 409), (409, 200))
            assert read(shop, f"customers/{buyers[place]['id']}/")["is_archived"] is (
                archiving.status == 200
            )

    @pytest.mark.usefixtures("rounds")
    def test_an_account_is_archived_empty_or_not_at_all(
        self, shop: Business, buyer: Record
    ) -> None:
        kinds = {
            "4901": {"account_type": "revenue", "account_subtype": "revenue"},
            "6901": {"account_type": "expense", "account_subtype": "operating_expenses"},
        }
        for code, kind in kinds.items():
            shop.made(ACCOUNTS, {"code": code, "name": "Raced", **kind})
        revenue, expense = ({"type": "AccountCode", "code": code} for code in kinds)
        credit = credit_body(buyer, {"amount": 10, "revenue_account_identifier": revenue})
        given_up = {"amount_cents": 10, "destination_account": expense}
        crediting = partial(shop.api.post, CREDITS, json={**credit, "sent_at": SENT})
        paths = [f"invoices/{sent(shop, buyer, 100)['id']}/write-offs/" for _ in range(4)]
        posting = [(crediting, partial(shop.api.post, path, json=given_up)) for path in paths]
        archiving = tuple(partial(shop.api.delete, f"{ACCOUNTS}{code}/") for code in kinds)
        *posted, archived = cross(*posting, archiving)
        for place, code in enumerate(kinds):
            account = read(shop, f"{ACCOUNTS}{code}/")
            assert {pair[place].code for pair in posted} <= {None, "account_archived"}
            assert account["is_active"] is (archived[place].status == 409)
            assert (account["current_balance"] == 0) is (archived[place].status == 200)


class TestLockDate:
    def test_the_lock_date_moves_while_receivables_are_posted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        calls: list[tuple[Call, ...]] = []
        for _ in range(4):
            invoice, other = settled(shop, buyer, 100), sent(shop, buyer, 100)
            payment = paid(shop, buyer, 50)
            calls.append(
                (
                    partial(shop.api.post, REFUNDS, json={"invoice_id": invoice["id"]}),
                    changing(shop, payment, allocations=[part(other, 30)]),
                    partial(shop.api.post, f"invoices/{other['id']}/write-offs/"),
                    pay(shop, buyer, other, 20),
                    partial(shop.api.post, CREDITS, json=credit_body(buyer, sent_at=SENT)),
                )
            )
        days = ("2025-04-30", None, "2025-04-30", None)
        locks = tuple(moving_lock_date(shop, day) for day in days)
        *_, moved = cross(*calls, locks)
        assert {each.status for each in moved} == {200}
        ledger.lock(None)
