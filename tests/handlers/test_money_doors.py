"""What every operation on money refuses in one way: each documented status at each of its doors."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.bookkeeping import Ledger
from tests.handlers.bank_doors import BANK_DOORS, BANK_READS
from tests.handlers.bank_lines import PAYMENT, Bank, matching, open_account
from tests.handlers.bodies import (
    NOBODY,
    SENT,
    credit_body,
    credited,
    invoice_body,
    paid,
    payment_body,
    sent,
)
from tests.handlers.buying import bill_body, outlay_body, paid_out, received, return_body, returned
from tests.handlers.doors import ACCOUNTS, Door
from tests.handlers.doors import DOORS as SALES_DOORS
from tests.handlers.doors import READS as SALES_READS
from tests.handlers.entry_doors import ENTRY_DOORS
from tests.handlers.purchase_doors import PURCHASE_DOORS, PURCHASE_READS
from tests.handlers.vendor_refund_doors import VENDOR_REFUND_DOORS, VENDOR_REFUND_READS
from tests.handlers.vendor_refunding import agreed, refund_body, whole_refund_body
from tests.handlers.writing import drafted, posted
from tests.house import House
from tests.partnership import Business, Partnership

DOORS = (*SALES_DOORS, *PURCHASE_DOORS, *VENDOR_REFUND_DOORS, *ENTRY_DOORS, *BANK_DOORS)
READS = (*SALES_READS, *PURCHASE_READS, *VENDOR_REFUND_READS, *BANK_READS)
EVERY = DOORS + READS


class Premises:
    """A business with one of everything that a path can name."""

    def __init__(self, house: House, partner: Partnership) -> None:
        self.shop = partner.business()
        self.ledger = Ledger(house, self.shop)
        self.buyer = self.shop.customer()
        self.vendor = self.shop.vendor()
        claim = agreed(self.shop, self.vendor, 10)
        refund = self.shop.refund(paid(self.shop, self.buyer, 10), amount_cents=2)
        written_off = self.shop.write_off(sent(self.shop, self.buyer))
        bank = Bank(self.shop, open_account(self.shop))
        linked = bank.match(bank.line(10), PAYMENT, paid(self.shop, self.buyer, 10))
        self.link_id = linked["links"][0]["reconciliation_link_id"]
        self.ids = {
            "written_off": written_off["id"],
            "write_off": written_off["write_offs"][0]["id"],
            "credit": credited(self.shop, self.buyer, 10)["id"],
            "draft": self.shop.made("invoices/", invoice_body(self.buyer))["id"],
            "invoice": sent(self.shop, self.buyer)["id"],
            "payment": paid(self.shop, self.buyer, 10)["id"],
            "pending": paid(self.shop, self.buyer, 10, status="pending")["id"],
            "refund": refund["id"],
            "refund_payment": self.shop.refund_payment(refund, amount_cents=1)["id"],
            "vendor": self.vendor["id"],
            "draft_bill": self.shop.made("bills/", bill_body(self.vendor))["id"],
            "bill": received(self.shop, self.vendor)["id"],
            "bill_payment": paid_out(self.shop, self.vendor, 10)["id"],
            "pending_bill_payment": paid_out(self.shop, self.vendor, 10, status="pending")["id"],
            "vendor_credit": returned(self.shop, self.vendor, 10)["id"],
            "vendor_refund": claim["refund"]["id"],
            "vendor_refund_payment": claim["payment"]["id"],
            "account": self.shop.api.get(f"{ACCOUNTS}1500/").json()["id"],
            "entry": self.ledger.entries()[0].id,
            "draft_entry": drafted(self.shop)["id"],
            "manual_entry": posted(self.shop)["id"],
            "bank_transaction": bank.line(10)["id"],
            "linked_line": linked["id"],
        }

    def body(self, door: Door) -> Any:
        bodies = {
            "invoice": lambda: invoice_body(self.buyer, sent_at=SENT),
            "payment": lambda: payment_body(self.buyer),
            "refund": lambda: {"payment_id": self.ids["payment"]},
            "credit": lambda: credit_body(self.buyer, sent_at=SENT),
            "bill": lambda: bill_body(self.vendor),
            "bill_payment": lambda: outlay_body(self.vendor),
            "vendor_credit": lambda: return_body(self.vendor),
            "vendor_refund": lambda: whole_refund_body(self.vendor, 10),
            "vendor_refund_payment": lambda: refund_body(self.vendor, 10),
            "match": lambda: matching(PAYMENT, {"id": self.ids["payment"]}),
            "unmatch": lambda: {"reconciliation_link_id": self.link_id},
        }
        return bodies[door.body]() if isinstance(door.body, str) else door.body

    def path_to(self, door: Door, id_: str | None = None) -> str:
        return door.path.format(id_ or self.ids.get(door.target or ""), **self.ids)

    def knock(
        self, door: Door, client: httpx.Client | None = None, **options: Any
    ) -> httpx.Response:
        """Send the request of a door; `id_` replaces what its path names."""
        path = self.path_to(door, options.pop("id_", None))
        if "content" not in options and door.body is not None:
            options.setdefault("json", self.body(door))
        params = options.pop("params", None)
        return (client or self.shop.api).request(door.method, path, params=params, **options)


@pytest.fixture(scope="module")
def premises(house: House, acme: Partnership) -> Premises:
    return Premises(house, acme)


@pytest.fixture(scope="module")
def closed(house: House, acme: Partnership) -> Premises:
    premises = Premises(house, acme)
    path = f"/v1/platform/businesses/{premises.shop.id}/archive/"
    assert acme.api.post(path).status_code == 200
    return premises


@pytest.fixture
def undisturbed(premises: Premises) -> Iterator[None]:
    with premises.ledger.untouched():
        yield


def said(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error_code"]


@pytest.mark.usefixtures("undisturbed")
class TestDoors:
    @pytest.mark.parametrize("door", EVERY, ids=str)
    def test_nobody_enters_without_credentials(self, premises: Premises, door: Door) -> None:
        stranger = premises.shop.partner.client(premises.shop.base_url)
        assert said(premises.knock(door, stranger)) == (401, "authentication_required")

    @pytest.mark.parametrize("door", EVERY, ids=str)
    def test_nobody_enters_another_business(
        self, premises: Premises, door: Door, rival: Partnership
    ) -> None:
        path = f"/v1/platform/businesses/{premises.shop.id}/{premises.path_to(door)}"
        body = {} if door.body is None else {"json": premises.body(door)}
        answer = rival.api.request(door.method, path, **body)
        assert said(answer) == (403, "permission_denied")

    @pytest.mark.parametrize("door", EVERY, ids=str)
    def test_an_unknown_query_parameter_is_refused(self, premises: Premises, door: Door) -> None:
        answer = premises.knock(door, params={"colour": "blue"})
        assert said(answer) == (400, "validation_error")

    @pytest.mark.parametrize("door", [each for each in EVERY if each.target], ids=str)
    def test_what_is_not_there_is_not_found(
        self, premises: Premises, door: Door, rival: Partnership
    ) -> None:
        assert said(premises.knock(door, id_=NOBODY)) == (404, door.missing)

    @pytest.mark.parametrize(
        "door",
        [each for each in EVERY if each.target not in (None, "account")],
        ids=str,
    )
    def test_a_malformed_id_is_refused(self, premises: Premises, door: Door) -> None:
        assert said(premises.knock(door, id_="seven")) == (400, "validation_error")

    @pytest.mark.parametrize("door", [each for each in DOORS if each.body is not None], ids=str)
    def test_another_content_type_is_refused(self, premises: Premises, door: Door) -> None:
        answer = premises.knock(door, content=b"<a/>", headers={"Content-Type": "text/xml"})
        assert said(answer) == (415, "unsupported_media_type")

    @pytest.mark.parametrize("door", [each for each in DOORS if each.body is not None], ids=str)
    def test_what_is_not_json_is_refused(self, premises: Premises, door: Door) -> None:
        json_type = {"Content-Type": "application/json"}
        assert said(premises.knock(door, content=b"{", headers=json_type)) == (
            400,
            "malformed_json",
        )

    @pytest.mark.parametrize(
        "door", [each for each in DOORS if each.target and each.matched], ids=str
    )
    def test_a_stale_version_is_refused(self, premises: Premises, door: Door) -> None:
        answer = premises.knock(door, headers={"If-Match": '"999"'})
        assert said(answer) == (412, "precondition_failed")

    @pytest.mark.parametrize("door", [each for each in DOORS if each.keyed], ids=str)
    def test_a_key_that_is_none_is_refused(self, premises: Premises, door: Door) -> None:
        answer = premises.knock(door, headers={"Idempotency-Key": "x" * 256})
        assert said(answer) == (400, "validation_error")

    @pytest.mark.parametrize("door", [each for each in DOORS if each.keyed], ids=str)
    def test_a_key_of_another_request_is_refused(self, premises: Premises, door: Door) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        first = replace(door, path="invoices/{}/void/", body=None, method="POST")
        assert premises.knock(first, id_=NOBODY, headers=key).status_code == 404
        assert said(premises.knock(door, headers=key)) == (422, "idempotency_key_reused")


class TestArchivedBusiness:
    @pytest.mark.parametrize("door", DOORS, ids=str)
    def test_it_takes_no_changes(self, closed: Premises, door: Door) -> None:
        with closed.ledger.untouched():
            assert said(closed.knock(door)) == (409, "business_archived")

    @pytest.mark.parametrize("door", READS, ids=str)
    def test_it_is_read_as_before(self, closed: Premises, door: Door) -> None:
        assert closed.knock(door).status_code == 200


class TestCredentials:
    @pytest.mark.parametrize("door", READS, ids=str)
    def test_a_partner_reads_its_business_with_key_and_token(
        self, premises: Premises, door: Door
    ) -> None:
        shop: Business = premises.shop
        path = f"/v1/platform/businesses/{shop.id}/{premises.path_to(door)}"
        own = premises.knock(door).text
        for client in (shop.partner.key, shop.partner.api):
            answer = client.get(path)
            assert (answer.status_code, answer.text) == (200, own)
