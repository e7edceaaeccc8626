"""list_invoice_refunds and list_invoice_refund_payments: what is shown, filtered and sorted."""

from typing import Any

import pytest

from tests.builders.sales import paid, part, sent
from tests.builders.trade import NOBODY, Record
from tests.partner import Business, Partner

REFUNDS = "invoices/refunds/"
STATUSES = ("pending", "processing", "paid", "cancelled")


@pytest.fixture(scope="module")
def own_shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def every_status(own_shop: Business) -> dict[str, Record]:
    """One refund in every status: two of one invoice, one of another, one of unapplied money."""
    buyer = own_shop.customer(company_name="Tall Ship")
    other = own_shop.customer(individual_name="Ann Small")
    invoice, second = sent(own_shop, buyer, 900), sent(own_shop, other, 500, invoice_number="R/7%")
    paid(own_shop, buyer, 900, part(invoice, 900))
    paid(own_shop, other, 500, part(second, 500))
    ahead = paid(own_shop, other, 400)
    bodies: dict[str, Record] = {
        "pending": {"invoice_id": invoice["id"], "amount_cents": 100, "external_id": "fifty_%"},
        "processing": {"invoice_id": invoice["id"], "amount_cents": 300, "memo": "Torn sail"},
        "paid": {"payment_id": ahead["id"], "completed_at": "2025-04-02T10:00:00Z"},
        "cancelled": {"invoice_id": second["id"], "reference_number": "RF-17"},
    }
    made = {name: own_shop.made(REFUNDS, body) for name, body in bodies.items()}
    own_shop.made(f"{REFUNDS}{made['processing']['id']}/payments/", {"amount_cents": 120})
    assert own_shop.api.delete(f"{REFUNDS}{made['cancelled']['id']}/").status_code == 200
    return made


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [each["id"] for each in answer.json()["results"]]


def found(own_shop: Business, every_status: dict[str, Record], **filters: Any) -> set[str]:
    names = {record["id"]: name for name, record in every_status.items()}
    return {names[id_] for id_ in ids(own_shop.api.get(REFUNDS, params=filters))}


class TestListInvoiceRefunds:
    def test_the_status_shown_is_the_status_filtered_by(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        everything = own_shop.api.get(REFUNDS).json()["results"]
        shown = {each["id"]: each["status"] for each in everything}
        assert shown == {record["id"]: name for name, record in every_status.items()}
        for name in STATUSES:
            assert found(own_shop, every_status, status=name) == {name}
        assert found(own_shop, every_status, status="paid,pending") == {"paid", "pending"}

    def test_a_list_shows_what_a_single_read_shows(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        for shown in own_shop.api.get(REFUNDS).json()["results"]:
            assert own_shop.api.get(f"{REFUNDS}{shown['id']}/").json() == shown

    def test_the_newest_comes_first(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        listed = ids(own_shop.api.get(REFUNDS))
        assert listed == [record["id"] for record in reversed(every_status.values())]

    @pytest.mark.parametrize(
        ("filters", "names"),
        [
            ({"min_amount": 300}, {"processing", "paid", "cancelled"}),
            ({"max_amount": 300}, {"pending", "processing"}),
            ({"min_amount": 101, "max_amount": 400}, {"processing", "paid"}),
            ({"external_id": "fifty_%"}, {"pending"}),
            ({"external_id": "fifty"}, set()),
            ({"search": "FTY_%"}, {"pending"}),
            ({"search": "rf-1"}, {"cancelled"}),
            ({"search": "torn"}, {"processing"}),
            ({"search": "tall"}, {"pending", "processing"}),
            ({"search": "ann"}, {"paid", "cancelled"}),
            ({"search": "r/7%"}, {"cancelled"}),
            ({"search": "nothing of it"}, set()),
            ({"customer_id": NOBODY}, set()),
            ({"invoice_id": NOBODY}, set()),
            ({"payment_id": NOBODY}, set()),
            ({"updated_at_from": "2020-01-01T00:00:00Z"}, set(STATUSES)),
            ({"created_at_to": "2020-01-01T00:00:00Z"}, set()),
        ],
    )
    def test_filters_take_what_fits(
        self,
        own_shop: Business,
        every_status: dict[str, Record],
        filters: Record,
        names: set[str],
    ) -> None:
        assert found(own_shop, every_status, **filters) == names

    def test_filters_by_customer_invoice_and_payment_select_refunds(
        self, own_shop: Business, every_status: dict[str, Record]
    ) -> None:
        own = every_status["pending"]["customer_id"]
        other = every_status["paid"]["customer_id"]
        assert found(own_shop, every_status, customer_id=own) == {"pending", "processing"}
        assert found(own_shop, every_status, customer_id=f"{own},{other}") == set(STATUSES)
        invoice = every_status["pending"]["allocations"][0]["invoice_id"]
        second = every_status["cancelled"]["allocations"][0]["invoice_id"]
        payment = every_status["paid"]["allocations"][0]["payment_id"]
        assert found(own_shop, every_status, invoice_id=invoice) == {"pending", "processing"}
        assert found(own_shop, every_status, invoice_id=second) == {"cancelled"}
        assert found(own_shop, every_status, payment_id=payment) == {"paid"}
        assert found(own_shop, every_status, invoice_id=payment) == set()

    @pytest.mark.parametrize("sort", ["created_at", "amount"])
    @pytest.mark.parametrize("down", [True, False])
    def test_every_order_is_the_same_by_number_and_by_cursor(
        self, own_shop: Business, every_status: dict[str, Record], sort: str, down: bool
    ) -> None:
        field = "refunded_amount" if sort == "amount" else "created_at"
        wanted = sorted(
            every_status.values(), key=lambda each: (each[field], each["id"]), reverse=down
        )
        order = {"sort": f"-{sort}" if down else sort, "page_size": 1}
        by_number = [
            ids(own_shop.api.get(REFUNDS, params={**order, "page": n})) for n in range(1, 6)
        ]
        assert by_number == [*([each["id"]] for each in wanted), []]
        by_cursor, cursor = [], {}
        for _ in wanted:
            page = own_shop.api.get(REFUNDS, params={**order, **cursor}).json()
            by_cursor += [each["id"] for each in page["results"]]
            cursor = {"cursor": page["page_info"]["next_cursor"]}
        assert by_cursor == [each["id"] for each in wanted]
        assert cursor == {"cursor": None}


class TestListInvoiceRefundPayments:
    def test_refund_payments_are_listed_newest_first_with_cancelled_ones(
        self, own_shop: Business
    ) -> None:
        buyer = own_shop.customer()
        invoice = sent(own_shop, buyer, 600)
        paid(own_shop, buyer, 600, part(invoice, 600))
        refund = own_shop.made(REFUNDS, {"invoice_id": invoice["id"]})
        path = f"{REFUNDS}{refund['id']}/payments/"
        first, second, third = (
            own_shop.made(path, {"amount_cents": amount}) for amount in (100, 200, 250)
        )
        assert own_shop.api.post(f"{path}{second['id']}/delete/").status_code == 200
        listed = own_shop.api.get(path).json()["results"]
        assert [each["id"] for each in listed] == [third["id"], second["id"], first["id"]]
        assert [each["status"] for each in listed] == ["completed", "cancelled", "completed"]
        paged = {"page_size": 2, "page": 2}
        assert ids(own_shop.api.get(path, params=paged)) == [first["id"]]
        shown = own_shop.api.get(f"{REFUNDS}{refund['id']}/").json()
        assert [each["id"] for each in shown["refund_payments"]] == [
            each["id"] for each in (first, second, third)
        ]
        assert (shown["status"], shown["paid_amount"]) == ("processing", 350)

    def test_a_payment_is_only_found_under_its_own_refund(self, own_shop: Business) -> None:
        buyer = own_shop.customer()
        ahead = paid(own_shop, buyer, 600)
        one, other = (
            own_shop.made(REFUNDS, {"payment_id": ahead["id"], "amount_cents": amount})
            for amount in (100, 200)
        )
        payment = own_shop.made(f"{REFUNDS}{one['id']}/payments/", {})
        path = f"{REFUNDS}{other['id']}/payments/{payment['id']}/"
        for answer in (own_shop.api.get(path), own_shop.api.post(f"{path}delete/")):
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "invoice_refund_payment_not_found"
        nobodys = f"{REFUNDS}{NOBODY}/payments/"
        for answer in (
            own_shop.api.get(nobodys),
            own_shop.api.post(f"{nobodys}{payment['id']}/delete/"),
        ):
            assert answer.status_code == 404
            assert answer.json()["error_code"] == "invoice_refund_not_found"


class TestCancelInvoiceRefundPayment:
    def test_if_match_is_about_the_payment_and_not_about_its_refund(
        self, own_shop: Business
    ) -> None:
        ahead = paid(own_shop, own_shop.customer(), 600)
        refund = own_shop.made(REFUNDS, {"payment_id": ahead["id"]})
        payments = f"{REFUNDS}{refund['id']}/payments/"
        first = own_shop.made(payments, {"amount_cents": 100})
        own_shop.made(payments, {"amount_cents": 100})
        path = f"{payments}{first['id']}/"
        tags = [
            own_shop.api.get(each).headers["etag"] for each in (f"{REFUNDS}{refund['id']}/", path)
        ]
        assert len(set(tags)) == 2
        statuses = [
            own_shop.api.post(f"{path}delete/", headers={"If-Match": tag}).status_code
            for tag in tags
        ]
        assert statuses == [412, 200]
