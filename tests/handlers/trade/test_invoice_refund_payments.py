"""The payments of a refund: created, listed, read and cancelled."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import REFUNDS, paid, refund_paid, refunded, settled
from tests.builders.trade import Record, unwarned
from tests.clock import today
from tests.partner import Business

ENTRIES = "general-ledger/journal-entries/"
BACK = "2025-03-20"
AT = f"{BACK}T10:00:00Z"
TODAY = str(today())


@pytest.fixture
def refund(shop: Business, buyer: Record) -> Record:
    """A refund of 1,000, dated before the payments of these tests; its first one is cancelled."""
    owed = refunded(shop, settled(shop, buyer), completed_at="2025-03-15T10:00:00Z")
    [payment] = owed["refund_payments"]
    assert shop.api.post(f"{path_of(owed, payment)}delete/").status_code == 200
    return read(shop, owed)


def path_of(refund: Record, payment: Record | None = None) -> str:
    return f"{REFUNDS}{refund['id']}/payments/" + (f"{payment['id']}/" if payment else "")


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
        payment = shop.made(path_of(refund), body)
        assert {name: payment[name] for name in given} == given
        assert (payment["refunded_amount"], payment["refund_processing_fee"]) == (400, 12)
        assert (payment["refund_id"], payment["currency"]) == (refund["id"], "GBP")
        assert (payment["status"], payment["cancelled_at"]) == ("completed", None)
        assert payment["reconciled_bank_transactions"] == []
        assert shop.api.get(path_of(refund, payment)).json() == payment
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

    def test_the_status_follows_what_is_paid(self, shop: Business, refund: Record) -> None:
        assert state_of(shop, refund) == ("pending", 0, None)
        refund_paid(shop, refund, amount_cents=999, completed_at="2025-03-28T10:00:00Z")
        assert state_of(shop, refund) == ("processing", 999, None)
        refund_paid(shop, refund, amount_cents=1, completed_at=AT)
        assert state_of(shop, refund) == ("paid", 1_000, AT)

    def test_a_refund_payment_has_the_method_of_the_refund_and_its_fee_once(
        self, shop: Business, buyer: Record
    ) -> None:
        means = {"method": "OTHER", "processor": "SumUp", "refund_processing_fee_cents": 7}
        refund = refunded(shop, settled(shop, buyer), **means)
        for facts, shown in (
            ({}, ("OTHER", "SumUp", 7)),
            ({}, ("OTHER", "SumUp", 0)),
            ({"method": "CASH"}, ("CASH", None, 0)),
            ({"method": "PAYPAL"}, ("PAYPAL", "paypal", 0)),
            ({"refund_processing_fee_cents": 4}, ("OTHER", "SumUp", 4)),
        ):
            payment = refund_paid(shop, refund, amount_cents=100, **facts)
            names = ("method", "processor", "refund_processing_fee")
            assert tuple(payment[name] for name in names) == shown

    def test_a_known_external_id_answers_the_payment_unchanged(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        first = refund_paid(shop, refund, amount_cents=50, external_id="known-payment")
        body = {"amount_cents": 99_999, "external_id": "known-payment"}
        with ledger.untouched():
            again = shop.api.post(path_of(refund), json=body)
        assert (again.status_code, unwarned(again.json())) == (200, first)

    def test_an_external_id_of_another_refund_pays_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record, refund: Record
    ) -> None:
        refund_paid(shop, refund, amount_cents=50, external_id="spent")
        other = refunded(shop, settled(shop, buyer))
        refusal = ledger.refused("POST", path_of(other), json={"external_id": "spent"})
        assert refusal == (409, "duplicate_external_id")


class TestListInvoiceRefundPayments:
    def test_refund_payments_are_listed_newest_first_with_cancelled_ones(
        self, shop: Business, refund: Record
    ) -> None:
        [first] = refund["refund_payments"]
        assert first["status"] == "cancelled"
        second, third = (refund_paid(shop, refund, amount_cents=10) for _ in range(2))
        queries: tuple[tuple[Record, list[Record]], ...] = (
            ({}, [third, second, first]),
            ({"sort": "created_at"}, [first, second, third]),
            ({"sort": "-created_at", "page_size": 1, "page": 2}, [second]),
            ({"created_at_from": third["created_at"]}, [third]),
            ({"created_at_to": first["created_at"]}, [first]),
            ({"updated_at_from": third["updated_at"]}, [third]),
        )
        for query, wanted in queries:
            assert shop.api.get(path_of(refund), params=query).json()["results"] == wanted
        assert read(shop, refund)["refund_payments"] == [first, second, third]


class TestGetInvoiceRefundPayment:
    def test_a_payment_is_only_found_under_its_own_refund(
        self, shop: Business, buyer: Record, refund: Record
    ) -> None:
        [payment] = refund["refund_payments"]
        other = path_of(refunded(shop, paid(shop, buyer, 600)), payment)
        for method, path in (("GET", other), ("POST", f"{other}delete/")):
            answer = shop.api.request(method, path)
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "invoice_refund_payment_not_found"


class TestCancelInvoiceRefundPayment:
    def test_a_cancelled_refund_payment_is_reversed_today_with_a_link(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        facts = {"refund_processing_fee_cents": 8, "external_id": "mirrored"}
        payment = refund_paid(shop, refund, completed_at=AT, **facts)
        answer = shop.api.post(f"{path_of(refund, payment)}delete/")
        shown = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["cancelled_at"][:10]) == ("cancelled", TODAY)
        assert (shown["completed_at"], shown["refunded_amount"]) == (AT, 1_000)
        assert shop.api.get(path_of(refund, payment)).json() == shown
        *originals, money, fee = ledger.entries(payment)
        assert [money.reversal_of, fee.reversal_of] == [entry.id for entry in originals]
        for entry, mirror in zip(originals, (money, fee), strict=True):
            assert (mirror.on, mirror.reference) == (TODAY, "mirrored")
            assert mirror.lines == tuple((code, -amount) for code, amount in entry.lines)
        linked = shop.api.get(f"{ENTRIES}{originals[0].id}/").json()
        assert linked["reversed_by_id"] == money.id

    def test_a_refund_payment_that_comes_back_is_reversed_on_its_day(
        self, shop: Business, ledger: Ledger, refund: Record
    ) -> None:
        payment = refund_paid(shop, refund, completed_at=AT)
        delete = f"{path_of(refund, payment)}delete/"
        refusal = shop.api.post(delete, json={"status_date": "2025-03-19"}).json()
        assert (refusal["error_code"], refusal["detail"]["earliest"]) == ("date_out_of_order", BACK)
        shown = shop.api.post(delete, json={"status_date": "2025-03-24"}).json()
        assert (shown["status"], shown["cancelled_at"][:10]) == ("cancelled", "2025-03-24")
        assert [entry.on for entry in ledger.entries(payment)] == [BACK, "2025-03-24"]

    def test_the_refund_is_owed_again_by_as_much(self, shop: Business, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer), refund_processing_fee_cents=6)
        first = refund_paid(shop, refund, amount_cents=400, completed_at=AT)
        second = refund_paid(shop, refund, completed_at=AT)
        assert state_of(shop, refund) == ("paid", 1_000, AT)
        shop.api.post(f"{path_of(refund, first)}delete/")
        assert state_of(shop, refund) == ("processing", 600, None)
        shop.api.post(f"{path_of(refund, second)}delete/")
        assert state_of(shop, refund) == ("pending", 0, None)
        again = refund_paid(shop, refund)
        assert (again["refunded_amount"], again["refund_processing_fee"]) == (1_000, 6)

    def test_if_match_is_about_the_payment_and_not_about_its_refund(
        self, shop: Business, refund: Record
    ) -> None:
        first, _ = (refund_paid(shop, refund, amount_cents=100) for _ in range(2))
        path = path_of(refund, first)
        tags = [shop.api.get(each).headers["etag"] for each in (f"{REFUNDS}{refund['id']}/", path)]
        assert len(set(tags)) == 2
        statuses = [
            shop.api.post(f"{path}delete/", headers={"If-Match": tag}).status_code for tag in tags
        ]
        assert statuses == [412, 200]
