"""The payments of a refund: made, listed, read and taken back."""

from collections import Counter
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import invoice_body, paid, part, refund_paid, refunded, settled
from tests.builders.trade import NOBODY, Record, line
from tests.clock import today
from tests.partner import Business

REFUNDS = "invoices/refunds/"
ENTRIES = "general-ledger/journal-entries/"
BACK = "2025-03-20"
AT = f"{BACK}T10:00:00Z"
TODAY = str(today())


@pytest.fixture
def refund(shop: Business, buyer: Record) -> Record:
    """A refund of 1000 from before any payment in these tests."""
    owed = refunded(shop, settled(shop, buyer), completed_at="2025-03-15T10:00:00Z")
    [payment] = owed["refund_payments"]
    assert shop.api.post(f"{path_of(owed)}{payment['id']}/delete/").status_code == 200
    return read(shop, owed)


def path_of(refund: Record) -> str:
    return f"{REFUNDS}{refund['id']}/payments/"


def read(shop: Business, refund: Record) -> Record:
    shown: Record = shop.api.get(f"{REFUNDS}{refund['id']}/").json()
    return shown


def state_of(shop: Business, refund: Record) -> tuple[str, int, str | None]:
    shown = read(shop, refund)
    return shown["status"], shown["paid_amount"], shown["completed_at"]


class TestCreateInvoiceRefundPayment:
    def test_a_refund_payment_shows_all_given_fields(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        given = {
            "external_id": "refund-payment-1",
            "method": "CREDIT_CARD",
            "processor": "Adyen",
            "memo": "By card",
            "transaction_tags": {"free": ["form"]},
            "metadata": [1, "two"],
            "completed_at": AT,
        }
        body = {**given, "amount_cents": 400, "refund_processing_fee_cents": 12}
        answer = shop.api.post(path_of(refund), json=body)
        payment = answer.json()
        assert {name: payment[name] for name in given} == given
        assert (payment["refunded_amount"], payment["refund_processing_fee"]) == (400, 12)
        assert (payment["refund_id"], payment["currency"]) == (refund["id"], "GBP")
        assert (payment["status"], payment["cancelled_at"]) == ("completed", None)
        assert payment["reconciled_bank_transactions"] == []
        assert answer.status_code == 201
        assert answer.headers["location"].endswith(f"/{path_of(refund)}{payment['id']}/")
        again = shop.api.get(f"{path_of(refund)}{payment['id']}/")
        assert (again.json(), again.headers["etag"]) == (payment, '"1"')
        money, fee = ledger.entries(payment)
        assert (money.on, money.amounts) == (BACK, {"2300": 400, "1150": -400})
        assert (fee.on, fee.amounts) == (BACK, {"6100": 12, "1150": -12})
        assert {money.reference, fee.reference} == {"refund-payment-1"}
        assert {money.source_type, fee.source_type} == {"refund_payment"}

    @pytest.mark.parametrize("options", [{}, {"json": {}}])
    def test_a_refund_payment_without_fields_pays_the_rest_now(
        self, shop: Business, ledger: Ledger, refund: Record, options: Record
    ) -> None:
        refund_paid(shop, refund, amount_cents=300, completed_at=AT)
        payment = shop.api.post(path_of(refund), **options).json()
        assert (payment["refunded_amount"], payment["completed_at"][:10]) == (700, TODAY)
        assert (payment["method"], payment["processor"]) == ("BANK_TRANSFER", None)
        assert ledger.postings(payment) == [(TODAY, {"2300": 700, "1100": -700})]
        assert state_of(shop, refund) == ("paid", 1_000, payment["completed_at"])

    def test_the_status_follows_what_is_paid(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        assert state_of(shop, refund) == ("pending", 0, None)
        refund_paid(shop, refund, amount_cents=999, completed_at="2025-03-28T10:00:00Z")
        assert state_of(shop, refund) == ("processing", 999, None)
        refund_paid(shop, refund, amount_cents=1, completed_at=AT)
        assert state_of(shop, refund) == ("paid", 1_000, AT)

    def test_a_refund_payment_has_the_method_of_the_refund_and_its_fee_once(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        means = {"method": "OTHER", "processor": "SumUp", "refund_processing_fee_cents": 7}
        refund = refunded(shop, settled(shop, buyer), **means)
        first, second, third, fourth = (
            refund_paid(shop, refund, amount_cents=100, **facts)
            for facts in ({}, {}, {"method": "CASH"}, {"method": "PAYPAL"})
        )
        shown = [
            (each["method"], each["processor"], each["refund_processing_fee"])
            for each in (first, second, third, fourth)
        ]
        assert shown == [
            ("OTHER", "SumUp", 7),
            ("OTHER", "SumUp", 0),
            ("CASH", None, 0),
            ("PAYPAL", "paypal", 0),
        ]
        assert ledger.entries(first)[1].amounts == {"6100": 7, "1150": -7}
        assert ledger.postings(third) == [(TODAY, {"2300": 100, "1000": -100})]
        own = refund_paid(shop, refund, amount_cents=100, refund_processing_fee_cents=4)
        assert own["refund_processing_fee"] == 4

    def test_no_fee_can_be_said_against_that_of_the_refund(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), refund_processing_fee_cents=7)
        payment = refund_paid(shop, refund, refund_processing_fee_cents=0)
        assert (payment["refund_processing_fee"], len(ledger.entries(payment))) == (0, 1)

    def test_a_refund_payment_may_be_dated_before_its_refund(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        payment = refund_paid(shop, refund, completed_at="2025-03-12T10:00:00Z")
        assert [entry.on for entry in ledger.entries(payment)] == ["2025-03-12"]
        [owed] = {entry.on for entry in ledger.entries(refund)}
        assert owed == "2025-03-15"
        assert payment["completed_at"] == "2025-03-12T10:00:00Z"

    def test_steps_settle_the_parts_of_the_refund_and_close_exactly(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        other = {"amount": 200, "tax_account": {"type": "AccountCode", "code": "2400"}}
        taxed = line(600, sales_taxes=[{"amount": 600}, other])
        body = invoice_body(buyer, taxed, sent_at="2025-03-01T00:00:00Z")
        invoice = shop.made("invoices/", body)
        paid(shop, buyer, 1_400, part(invoice, 1_400))
        refund = refunded(shop, invoice)
        for amount in (1, 1, 1, 397, 3, 997):
            refund_paid(shop, refund, amount_cents=amount)
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id = %(id)s",
            id=refund["id"],
        )
        settled_parts = Counter[str]()
        for (split,) in splits:
            settled_parts.update(dict(split))
        assert sorted(settled_parts.values()) == [200, 600, 600]

    def test_a_refund_of_an_unapplied_payment_is_paid(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, paid(shop, buyer, 90))
        payment = refund_paid(shop, refund, completed_at=f"{TODAY}T00:00:00Z", method="CHECK")
        assert ledger.postings(payment) == [(TODAY, {"2300": 90, "1100": -90})]

    def test_a_known_external_id_answers_the_payment_unchanged(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        first = refund_paid(shop, refund, amount_cents=50, external_id="known-payment")
        for body in ({"amount_cents": 50}, {"amount_cents": 99_999}, {"completed_at": AT}):
            with ledger.untouched():
                again = shop.api.post(
                    path_of(refund), json={**body, "external_id": "known-payment"}
                )
            assert (again.status_code, again.json()) == (200, first)
            assert again.headers["etag"] == '"1"'

    def test_an_external_id_of_another_refund_pays_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, refund: Record
    ) -> None:
        first = refund_paid(shop, refund, amount_cents=50, external_id="spent")
        other = refunded(shop, settled(shop, buyer))
        with ledger.untouched():
            answer = shop.api.post(path_of(other), json={"external_id": "spent"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "duplicate_external_id")
        known = {"external_id": "spent", "id": first["id"], "refund_id": refund["id"]}
        assert answer.json()["detail"] == known

    def test_a_preview_shows_the_same_and_writes_nothing(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        body = {"amount_cents": 10, "completed_at": AT, "refund_processing_fee_cents": 1}
        with ledger.untouched():
            seen = shop.api.post(f"{path_of(refund)}?preview=true", json=body)
        assert (seen.status_code, seen.json()["status"]) == (200, "completed")
        money, fee = seen.json()["journal_entries"]
        assert {money["source_id"], fee["source_id"]} == {seen.json()["id"]}
        assert [each["account_code"] for each in money["lines"]] == ["2300", "1100"]
        assert (money["entry_date"], money["sequence_number"]) == (BACK, None)

    @pytest.mark.parametrize(
        "facts",
        [
            {"amount_cents": 0},
            {"amount_cents": -1},
            {"amount_cents": "1"},
            {"method": "cash"},
            {"completed_at": BACK},
            {"refund_processing_fee_cents": -1},
            {"external_id": ""},
            {"reference_number": "x"},
        ],
    )
    def test_a_malformed_refund_payment_is_400(
        self, shop: Business, ledger: Ledger, refund: Record, facts: Record
    ) -> None:
        with ledger.untouched():
            answer = shop.api.post(path_of(refund), json=facts)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == list(facts)

    def test_no_more_than_the_rest_of_the_refund(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        refund_paid(shop, refund, amount_cents=400)
        for body, amount, rest in (({"amount_cents": 601}, 601, 600), ({}, 0, 0)):
            if not rest:
                refund_paid(shop, refund)
            with ledger.untouched():
                answer = shop.api.post(path_of(refund), json=body)
            assert (answer.status_code, answer.json()["error_code"]) == (
                422,
                "refund_exceeds_refundable",
            )
            told = {"refund_id": refund["id"], "paid": 1_000 - rest}
            assert answer.json()["detail"] == {"refundable": rest, "amount": amount, **told}

    def test_a_cancelled_refund_is_not_paid(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        assert shop.api.delete(f"{REFUNDS}{refund['id']}/").status_code == 200
        with ledger.untouched():
            answer = shop.api.post(path_of(refund), json={"amount_cents": 1})
        assert (answer.status_code, answer.json()["error_code"]) == (
            409,
            "invalid_state_transition",
        )
        assert answer.json()["detail"] == {"current_state": "cancelled", "allowed_next_states": []}

    def test_not_into_a_locked_period(self, shop: Business, ledger: Ledger, refund: Record) -> None:
        with ledger.locked(BACK):
            with ledger.untouched():
                answer = shop.api.post(path_of(refund), json={"completed_at": AT})
            assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
            assert answer.json()["detail"] == {"date": BACK, "lock_date": BACK}
            payment = refund_paid(shop, refund, completed_at="2025-03-21T00:00:00Z")
        assert [entry.on for entry in ledger.entries(payment)] == ["2025-03-21"]


class TestListInvoiceRefundPayments:
    def test_refund_payments_are_filtered_paged_and_sorted(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        [first] = refund["refund_payments"]  # Cancelled, and listed all the same.
        second, third = (refund_paid(shop, refund, amount_cents=10) for _ in range(2))
        for asked, wanted in (
            ({}, [third, second, first]),
            ({"sort": "created_at"}, [first, second, third]),
            ({"sort": "-created_at", "page_size": 1, "page": 2}, [second]),
            ({"page": 2}, []),
            ({"created_at_from": third["created_at"]}, [third]),
            ({"created_at_to": first["created_at"]}, [first]),
            ({"updated_at_from": third["updated_at"]}, [third]),
        ):
            answer = shop.api.get(path_of(refund), params=asked).json()
            assert answer["results"] == wanted
        whole = shop.api.get(path_of(refund)).json()
        assert (whole["count"], whole["next"], whole["previous"]) == (3, None, None)

    @pytest.mark.parametrize("asked", ["page=0", "page_size=101", "sort=amount", "status=paid"])
    def test_an_unknown_parameter_or_value_is_400(
        self, shop: Business, refund: Record, asked: str
    ) -> None:
        assert shop.api.get(f"{path_of(refund)}?{asked}").status_code == 400


class TestGetInvoiceRefundPayment:
    def test_an_unknown_refund_payment_is_404(self, shop: Business, refund: Record) -> None:
        answer = shop.api.get(f"{path_of(refund)}{NOBODY}/")
        assert answer.status_code == 404
        assert answer.json()["error_code"] == "invoice_refund_payment_not_found"


class TestCancelInvoiceRefundPayment:
    def test_a_cancelled_refund_payment_is_reversed_today_with_a_link(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        payment = refund_paid(
            shop, refund, completed_at=AT, refund_processing_fee_cents=8, external_id="mirrored"
        )
        answer = shop.api.post(f"{path_of(refund)}{payment['id']}/delete/")
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["cancelled_at"][:10]) == ("cancelled", TODAY)
        assert (shown["completed_at"], shown["refunded_amount"]) == (AT, 1_000)
        assert shop.api.get(f"{path_of(refund)}{payment['id']}/").json() == shown
        *standing, money, fee = ledger.entries(payment)
        assert [money.reversal_of, fee.reversal_of] == [entry.id for entry in standing]
        for entry, mirror in zip(standing, (money, fee), strict=True):
            assert (mirror.on, mirror.reference) == (TODAY, "mirrored")
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
        linked = shop.api.get(f"{ENTRIES}{standing[0].id}/").json()
        assert linked["reversed_by_id"] == money.id

    def test_the_refund_is_owed_again_by_as_much(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        refund = refunded(shop, settled(shop, buyer), refund_processing_fee_cents=6)
        first = refund_paid(shop, refund, amount_cents=400, completed_at=AT)
        second = refund_paid(shop, refund, completed_at=AT)
        assert state_of(shop, refund) == ("paid", 1_000, AT)
        shop.api.post(f"{path_of(refund)}{first['id']}/delete/")
        assert state_of(shop, refund) == ("processing", 600, None)
        shop.api.post(f"{path_of(refund)}{second['id']}/delete/")
        assert state_of(shop, refund) == ("pending", 0, None)
        again = refund_paid(shop, refund)
        assert (again["refunded_amount"], again["refund_processing_fee"]) == (1_000, 6)

    def test_a_refund_payment_is_cancelled_once(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        path = f"{path_of(refund)}{refund_paid(shop, refund)['id']}/delete/"
        key = {"Idempotency-Key": str(uuid4())}
        first = shop.api.post(path, headers=key)
        with ledger.untouched():
            again, twice = shop.api.post(path, headers=key), shop.api.post(path)
        assert (again.status_code, again.content) == (200, first.content)
        assert (twice.status_code, twice.json()["error_code"]) == (409, "invalid_state_transition")
        detail = {"current_state": "cancelled", "allowed_next_states": []}
        assert twice.json()["detail"] == detail

    def test_a_refund_payment_in_a_locked_period_is_reversed_after_the_lock(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        until, after = today(), str(today() + timedelta(days=1))
        payment = refund_paid(shop, refund, completed_at=AT)
        with ledger.locked(str(until)):
            shop.api.post(f"{path_of(refund)}{payment['id']}/delete/")
        first, mirror = ledger.entries(payment)
        assert (first.on, mirror.on, mirror.reversal_of) == (BACK, after, first.id)

    def test_a_preview_takes_nothing_back(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        payment = refund_paid(shop, refund)
        with ledger.untouched():
            path = f"{path_of(refund)}{payment['id']}/delete/?preview=true"
            seen = shop.api.post(path).json()
        assert seen["status"] == "cancelled"
        [mirror] = seen["journal_entries"]
        assert mirror["reversal_of_id"] == ledger.entries(payment)[0].id
